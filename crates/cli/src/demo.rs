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
use crate::session::block_on_threads;
use crate::style::Style;
use report::Report;
use serde_json::{Value, json};
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

pub fn main(args: &Args) -> ExitCode {
    finish("demo", args.json, async {
        let report = play(args).await?;
        Ok((report.ok(), report.json(), report.render(Style::stdout())))
    })
}

/// Plays a demonstration. Prints how it ended, as an object or as text, and returns that.
pub(crate) fn finish(
    command: &str,
    json: bool,
    play: impl Future<Output = Result<(bool, Value, String), Failure>>,
) -> ExitCode {
    let (ok, object, text) = block_on_threads(play).unwrap_or_else(|failure| {
        let text = failure.render(&[]);
        let _ = writeln!(io::stderr(), "remuda {command}: {text}");
        (false, json!({ "ok": false, "error": text }), String::new())
    });
    let text = if json { format!("{object}\n") } else { text };
    // A closed pipe must not change the exit status: `| head` is a normal use.
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
