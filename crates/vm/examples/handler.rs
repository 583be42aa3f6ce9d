//! How long a trivial handler call takes with its code loaded.

use remuda_vm::{Limits, Vm, compile};

fn main() {
    let program =
        compile("n = 0\ndef handler(x):\n    global n\n    n += x\n    return n\n", "handler.py");
    let Ok(program) = program else { return };
    let mut vm = Vm::new(Limits::with_cycles(u64::MAX / 2));
    if vm.run_module(&program).is_err() {
        return;
    }
    let calls: u32 = 1_000_000;
    let start = std::time::Instant::now();
    for _ in 0..calls {
        if vm.call_ints("handler", &[1]).is_err() {
            return;
        }
    }
    let each = start.elapsed().as_nanos() / u128::from(calls);
    println!("{each} ns for a call");
    let start = std::time::Instant::now();
    for _ in 0..100 {
        std::hint::black_box(Vm::new(Limits::default()));
    }
    println!("{} us for a new machine", start.elapsed().as_micros() / 100);
}
