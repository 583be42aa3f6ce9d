//! `remuda fleet demo`: a worker dies, and its job is done once all the same.

mod report;
mod story;

use super::stage::Stage;
use crate::failure::Failure;
use crate::style::Style;
use report::Report;
use std::io::{self, Write as _};
use std::process::ExitCode;
use story::Story;

/// Watch a fleet at work: an orchestrator, three workers, and one of them killed in the middle of a job.
///
/// All are processes on this machine that speak HTTP over loopback, and all is gone afterwards. It takes
/// about half a minute, and ends with status 0 if everything came out as it should.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda fleet demo
  $ remuda fleet demo --json | jq .checks")]
pub(super) struct Args {
    /// Print one JSON object that sums it up, instead of the story.
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let played = match runtime {
        Ok(runtime) => runtime.block_on(play(args.json)),
        Err(error) => Err(Failure::Start(error)),
    };
    let (text, ok) = match &played {
        Ok(report) if args.json => (format!("{}\n", report.json()), report.ok()),
        Ok(report) => (report.render(Style::stdout()), report.ok()),
        Err(failure) => {
            let words = failure.render(&[]);
            let _ = writeln!(io::stderr(), "remuda fleet demo: {words}");
            let error = serde_json::json!({ "ok": false, "error": words });
            (if args.json { format!("{error}\n") } else { String::new() }, false)
        }
    };
    // Whoever reads may stop at any line; how it ended does not depend on that.
    let _ = io::stdout().write_all(text.as_bytes());
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn play(json: bool) -> Result<Report, Failure> {
    let mut asked = std::pin::pin!(crate::dev::stop_asked());
    let stopped = || Err(Failure::Usage("stopped before the end"));
    let program = std::env::current_exe().map_err(Failure::Start)?;
    let start = Stage::start(program, "remuda-fleet-demo-", |text| {
        // Leases that end while somebody watches.
        text.replace("ttl_seconds = 120", "ttl_seconds = 5")
            .replace("heartbeat_seconds = 20", "heartbeat_seconds = 1")
            .replace("ack_seconds = 30", "ack_seconds = 5")
    });
    let mut stage = tokio::select! {
        stage = start => stage?,
        () = &mut asked => return stopped(),
    };
    let result = tokio::select! {
        report = Story::new(json).play(&mut stage) => report,
        () = &mut asked => stopped(),
    };
    // However it went: nothing is left.
    stage.stop().await;
    result
}
