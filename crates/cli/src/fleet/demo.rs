//! `remuda fleet demo`: a worker dies, and its job is done once all the same.

mod report;
mod story;

use super::stage::Stage;
use crate::failure::Failure;
use crate::style::Style;
use report::Report;
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
    crate::demo::finish("fleet demo", args.json, async {
        let report = play(args.json).await?;
        Ok((report.ok(), report.json(), report.render(Style::stdout())))
    })
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
