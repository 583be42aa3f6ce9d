//! Entry to the machine: catches panics, and provides the same stack on every thread.
//!
//! Consensus: a change here forks the chain.
//!
//! Block execution is deterministic, so a panic would end every validator that executes or replays the
//! block. A stack that is too small would end some of them. Host calls run outside: a chain that panicked
//! has no defined state.
//!
//! Such a panic is a bug that operators report. It is logged as an error once per place, because a program
//! can trigger it any number of times. Nothing is written to standard error.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, Once, PoisonError};

/// Stack that is there for whatever runs in here. The deepest of it, containers inside each other, takes
/// a part of that.
const STACK_NEEDED: usize = 1024 * 1024;
/// The stack that is taken where a thread has less.
const STACK_BYTES: usize = 4 * 1024 * 1024;

thread_local! {
    /// How many `contained` this thread is inside of.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Place and message of the last panic in there.
    static LAST_PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Runs something with enough of a stack; None if it panicked. What it changed is not to be used then.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(keep_quiet_inside);
    // A stack that this machine cannot have is no fault of the program: that panic is not caught, as a
    // refusal of one validator alone would part it from the others.
    let run = || {
        DEPTH.set(DEPTH.get() + 1);
        let result = catch_unwind(AssertUnwindSafe(run));
        DEPTH.set(DEPTH.get() - 1);
        result
    };
    let result = stacker::maybe_grow(STACK_NEEDED, STACK_BYTES, run).ok();
    if result.is_none() {
        let (place, panic) = LAST_PANIC.take().unwrap_or_default();
        log_panic(&place, &panic);
    }
    result
}

/// From now on panics in here are recorded; all other panics go to the previous hook.
fn keep_quiet_inside() {
    let before = take_hook();
    set_hook(Box::new(move |info| match DEPTH.get() {
        0 => before(info),
        _ => LAST_PANIC.set(Some(place_and_message(info))),
    }));
}

fn place_and_message(info: &PanicHookInfo<'_>) -> (String, String) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    (place, info.payload_as_str().unwrap_or_default().to_owned())
}

/// One error for each place; repetitions are debug messages.
fn log_panic(place: &str, panic: &str) {
    static LOGGED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let first = LOGGED.lock().unwrap_or_else(PoisonError::into_inner).insert(place.to_owned());
    match first {
        true => tracing::error!(place, panic, "VM invariant violated, call failed; please report"),
        false => tracing::debug!(place, panic, "VM invariant violated again"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use super::{contained, keep_quiet_inside};
    use crate::limits::Fatal;
    use crate::limits::Limits;
    use crate::run::Vm;
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

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_inside_is_one_error_in_the_log_and_nothing_on_standard_error() {
        const WORDS: &str = "a rule with a name";
        static PRINTED: AtomicUsize = AtomicUsize::new(0);
        // What would print, were it asked to; other tests of this process panic, too.
        std::panic::set_hook(Box::new(|info| {
            if info.payload_as_str() == Some(WORDS) {
                PRINTED.fetch_add(1, Ordering::Relaxed);
            }
        }));
        keep_quiet_inside();
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::INFO)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..3 {
                assert_eq!(contained(|| -> () { panic!("{}", WORDS) }), None);
            }
        });
        assert_eq!(PRINTED.load(Ordering::Relaxed), 0);
        let told = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.contains("ERROR") && told.contains(WORDS), "{told}");
        assert!(told.contains("contain.rs"), "{told}");
        // Outside all is as it was.
        let outside = std::panic::catch_unwind(|| panic!("{}", WORDS));
        assert!(outside.is_err());
        assert_eq!(PRINTED.load(Ordering::Relaxed), 1);
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
