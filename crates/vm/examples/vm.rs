//! Runs a script: `cargo run -p remuda-vm --example vm -- file.py [cycles] [--profile]`.

use remuda_vm::script::{Options, run};
use remuda_vm::{Limits, Vm};

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let profile = args.iter().any(|arg| arg == "--profile");
    args.retain(|arg| arg != "--profile");
    let file = args.first().cloned().unwrap_or_default();
    let cycles = args.get(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000_000);
    if let Some(error) = Vm::image_error() {
        eprintln!("image: {error}");
        std::process::exit(3);
    }
    let source = std::fs::read_to_string(&file).unwrap_or_default();
    let limits = Limits { cycles, heap_bytes: 256 << 20, output_bytes: 64 << 20 };
    let report = run(&source, &file, Options { limits, profile });
    print!("{}", report.stdout);
    eprint!("{}", report.stderr);
    for line in report.profile.iter().flat_map(|profile| profile.lines.iter().take(10)) {
        eprintln!("{:>12} cycles, {:>8} visits: line {}", line.cycles, line.visits, line.line);
    }
    eprintln!("cycles: {}", report.cycles);
    std::process::exit(report.exit_code);
}
