//! `remuda demo`: a network at work, told line by line.
//!
//! Four validators and four runners are processes of this program, the fifth runner lives in this
//! process because it lies, and everything goes over real sockets.

mod dns;
pub mod network;
mod printer;
mod program;
mod report;
mod script;
pub mod web;
pub mod wire;

use crate::failure::Failure;
use crate::style::Style;
use report::Report;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Watch a network at work: four validators, five runners, jobs of every kind, a liar and a crash.
///
/// Everything runs on this machine and is gone afterwards: validators and runners are processes that
/// speak QUIC and HTTP over loopback, and the web and DNS servers that jobs ask are started here too.
/// It ends by itself, with status 0 if everything came out as it should.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda demo
  $ remuda demo --json | jq .jobs")]
pub struct Args {
    /// Print one JSON object that sums it up, instead of the story.
    #[arg(long)]
    json: bool,
    /// Keep the files and logs of the network here, instead of in a temporary directory.
    #[arg(long)]
    dir: Option<std::path::PathBuf>,
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let played = match runtime {
        Ok(runtime) => runtime.block_on(play(args)),
        Err(error) => Err(Failure::Start(error)),
    };
    let ok = match &played {
        Ok(report) => report.ok(),
        Err(_) => false,
    };
    let text = match (&played, args.json) {
        (Ok(report), true) => format!("{}\n", report.json()),
        (Ok(report), false) => report.render(Style::stdout()),
        (Err(failure), json) => {
            let _ = writeln!(io::stderr(), "remuda demo: {failure}");
            let error = serde_json::json!({ "ok": false, "error": failure.to_string() });
            if json { format!("{error}\n") } else { String::new() }
        }
    };
    // Whoever reads may stop at any line; how it ended does not depend on that.
    let _ = io::stdout().write_all(text.as_bytes());
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn play(args: &Args) -> Result<Report, Failure> {
    tokio::select! {
        // Children are stopped either way, when what owns them is dropped.
        report = script::play(args.json, args.dir.as_deref()) => report,
        () = crate::dev::stop_asked() => Err(Failure::Usage("stopped before the end")),
    }
}
