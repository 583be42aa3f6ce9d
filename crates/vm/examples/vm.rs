//! Runs a script: `cargo run -p remuda-vm --example vm -- file.py [cycles]`.

use remuda_vm::{Ending, Limits, Vm, run_script};

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap_or_default();
    let cycles = args.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000_000);
    if let Some(error) = Vm::image_error() {
        eprintln!("image: {error}");
        std::process::exit(3);
    }
    let source = std::fs::read_to_string(&file).unwrap_or_default();
    let output = run_script(&source, &file, Limits::with_cycles(cycles));
    print!("{}", output.stdout);
    match output.ending {
        Ending::Done => eprintln!("cycles: {}", output.cycles),
        Ending::Raised(raised) => {
            for (function, line) in &raised.traceback {
                eprintln!("  {file}:{line} in {function}");
            }
            eprintln!("{}: {}", raised.kind, raised.message);
            std::process::exit(1);
        }
        Ending::Stopped(fatal) => {
            eprintln!("stopped: {fatal:?} after {} cycles", output.cycles);
            std::process::exit(2);
        }
        Ending::Suspended(tokens) => eprintln!("waits for {tokens:?}"),
        Ending::Refused(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}
