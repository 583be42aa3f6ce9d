//! `remuda vm`: Python as actors run it, on this machine.

use crate::format::grouped;
use crate::session::read_input;
use clap::Subcommand;
use remuda_vm::Limits;
use remuda_vm::chain::VM_CYCLES;
use remuda_vm::script::{Options, Profile, run};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a script may print: more than anybody reads.
const OUTPUT_BYTES: usize = 64 << 20;
/// Lines and functions that a profile shows.
const DEAREST: usize = 15;

/// Run Python as the chain does: the same answer and the same cycles on every machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  $ remuda vm run fib.py
  $ remuda vm run fib.py --cycles 1000000 --profile
  $ remuda vm run fib.py --json")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a script, print what it prints, and say how many cycles it took.
    ///
    /// The exit status is the script's own: 0, 1 after an exception, what it gave to sys.exit. It is 2
    /// if the script is not one that the chain takes, or was stopped at a limit. What it prints goes to
    /// standard output, all else to standard error.
    ///
    /// Cycles are what the machine counts instead of time: every instruction has its price, and so has
    /// everything that grows with its data. One is about five nanoseconds. The number at the end is how
    /// many the script took: the same on every machine, to the last one.
    #[command(after_help = "Examples:
  $ remuda vm run fib.py
  $ remuda vm run fib.py --cycles 1000000 --profile
  $ echo 'print(6 * 7)' | remuda vm run -

Ten cycles of the machine are one of the chain's, which fees are paid for and which `remuda actor call --cycles` and
`remuda actor test` count.")]
    Run {
        /// The script; `-` for standard input.
        file: PathBuf,
        /// Cycles of the machine that it may take. One that needs more is stopped there: no `except` or
        /// `finally` runs, what it printed so far is shown, and the exit status is 2.
        #[arg(long, value_name = "N", default_value_t = 10_000_000_000)]
        cycles: u64,
        /// MiB of memory that its objects may take. An actor has ten, whatever is said here.
        #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=16_384))]
        heap: u16,
        /// Show where the cycles went.
        #[arg(long)]
        profile: bool,
        /// Print one JSON object instead.
        #[arg(long)]
        json: bool,
    },
}

pub fn main(args: &Args) -> ExitCode {
    let Command::Run { file, cycles, heap, profile, json } = &args.command;
    let heap_bytes = usize::from(*heap) << 20;
    let limits = Limits { cycles: *cycles, heap_bytes, output_bytes: OUTPUT_BYTES };
    match run_file(file, limits, *profile, *json) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("remuda vm run: {error}");
            ExitCode::from(2)
        }
    }
}

fn run_file(file: &Path, limits: Limits, profile: bool, json: bool) -> Result<ExitCode, String> {
    let bytes = read_input(file).map_err(|error| error.to_string())?;
    let name = file.display().to_string();
    let source = String::from_utf8(bytes).map_err(|_| format!("{name} is no UTF-8 text"))?;
    let report = run(&source, &name, Options { limits, profile });
    let out = match json {
        true => {
            let shown = json!({
                "stdout": report.stdout,
                "stderr": report.stderr,
                "exit_code": report.exit_code,
                "cycles": report.cycles,
                "chain_cycles": report.cycles.div_ceil(VM_CYCLES),
                "heap_bytes": report.heap_bytes,
                "lines": report.profile.as_ref().map(lines),
                "functions": report.profile.as_ref().map(functions),
            });
            format!("{shown}\n")
        }
        false => report.stdout,
    };
    let mut stdout = std::io::stdout();
    stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()).map_err(|e| e.to_string())?;
    if !json {
        eprint!("{}", report.stderr);
        let chain = report.cycles.div_ceil(VM_CYCLES);
        eprintln!(
            "{} cycles of the machine, {} of the chain's",
            grouped(report.cycles),
            grouped(chain)
        );
        if let Some(profile) = &report.profile {
            eprint!("{}", render(profile, &source));
        }
    }
    // A process has one byte for its status; what does not fit is a failure, too.
    Ok(ExitCode::from(u8::try_from(report.exit_code & 0xff).unwrap_or(1)))
}

fn lines(profile: &Profile) -> Vec<serde_json::Value> {
    let row = |it: &remuda_vm::script::LineCost| json!({ "line": it.line, "cycles": it.cycles, "visits": it.visits });
    profile.lines.iter().map(row).collect()
}

fn functions(profile: &Profile) -> Vec<serde_json::Value> {
    let row = |it: &remuda_vm::script::FunctionCost| json!({ "name": it.name, "line": it.line, "calls": it.calls, "own": it.own, "total": it.total });
    profile.functions.iter().map(row).collect()
}

fn render(profile: &Profile, source: &str) -> String {
    let text_of = |line: u32| source.lines().nth((line as usize).saturating_sub(1)).unwrap_or("");
    let percent = |cycles: u64| cycles.saturating_mul(100) / profile.cycles.max(1);
    let mut text = String::from("\n      cycles    %   visits  line\n");
    for row in profile.lines.iter().take(DEAREST) {
        let code = crate::style::clean(text_of(row.line).trim_end());
        let (cycles, share) = (grouped(row.cycles), percent(row.cycles));
        text += &format!("{cycles:>12} {share:>3}% {:>8}  {:>4} {code}\n", row.visits, row.line);
    }
    text += "\n       total          own    calls  function\n";
    for row in profile.functions.iter().take(DEAREST) {
        let (total, own) = (grouped(row.total), grouped(row.own));
        let name = crate::style::clean(&row.name);
        text += &format!("{total:>12} {own:>12} {:>8}  {name}, line {}\n", row.calls, row.line);
    }
    text
}
