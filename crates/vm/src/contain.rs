//! Where the machine is entered: what is wrong with it stays inside, and the thread does not matter.
//!
//! Block execution is the same everywhere, so a panic would end every validator that executes the block,
//! and again whoever replays it. A stack that is too small would end some of them. Parts of the machine
//! run in here; what they ask of the chain in between does not, as nobody could say in which state a
//! chain is that panicked.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Stack that is there for whatever runs in here. The deepest of it, containers inside each other, takes
/// a part of that.
const STACK_NEEDED: usize = 1024 * 1024;
/// The stack that is taken where a thread has less.
const STACK_BYTES: usize = 4 * 1024 * 1024;

/// Runs something with enough of a stack; None if it panicked. What it changed is not to be used then.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    // A stack that this machine cannot have is no fault of the program: that panic is not caught, as a
    // refusal of one validator alone would part it from the others.
    stacker::maybe_grow(STACK_NEEDED, STACK_BYTES, || catch_unwind(AssertUnwindSafe(run))).ok()
}

#[cfg(test)]
mod tests {
    use super::contained;
    use crate::limits::Limits;
    use crate::run::Vm;
    use crate::run::fault::Fatal;
    use crate::run::interp::Stop;

    #[test]
    fn a_panic_is_the_end_of_one_run() {
        let (one, zero) = (1_i64, std::hint::black_box(0));
        assert_eq!(contained(|| one / zero), None);
        assert_eq!(contained(|| one), Some(1));
        let mut vm = Vm::new(Limits::default());
        let ended = vm.guarded(|vm| {
            vm.stack.clear();
            panic!("a rule of our own is broken")
        });
        assert!(matches!(ended, Err(Stop::Fatal(Fatal::Internal))));
    }

    #[test]
    fn what_a_program_nests_fits_on_the_stack_of_any_thread() {
        let source = "
import json, copy
l = []
for i in range(190): l = [l]
t = ()
for i in range(190): t = (t,)
d = {}
for i in range(190): d = {1: d}
m = []
for i in range(190): m = [m]
print(len(repr(l)), len(repr(d)), l == m, l < m, hash(t) == hash(t), len(str([l, d, t])))
";
        let thread = std::thread::Builder::new().stack_size(96 * 1024);
        let run = move || crate::run_script(source, "deep.py", Limits::default());
        let output = thread.spawn(run).unwrap().join().unwrap();
        assert_eq!(output.stdout, "382 952 True False True 1912\n");
    }
}
