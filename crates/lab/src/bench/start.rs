//! `remuda-lab bench start`: start of a node with a chain behind it.

use super::chain::{free_ports, scratch};
use super::progress;
use crate::machine::{Application, Measure, measure_start};
use serde_json::json;
use std::process::ExitCode;

/// Time until a node with --blocks blocks behind it can answer, with and without its index on disk.
///
/// One validator makes the blocks as fast as it can. Without an index the node reads every block, as it
/// did before the index was on disk.
///
/// Example: remuda-lab bench start --blocks 20000
#[derive(clap::Args)]
pub(super) struct Args {
    /// Blocks behind the node.
    #[arg(long, default_value_t = 20_000)]
    blocks: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the benchmark.
pub(super) fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("remuda-lab bench start: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let blocks = args.blocks;
    progress(&format!("making {blocks} blocks"));
    let what = Measure {
        application: Application::Idle,
        validators: 1,
        block_time_ms: 1,
        seconds: 0,
        directory: scratch("start"),
        base_port: free_ports(1)?,
    };
    let times = measure_start(&what, blocks)?;
    progress("");
    let (without, with) = (times.without_index.as_millis(), times.with_index.as_millis());
    if args.json {
        let figures = json!({
            "blocks": blocks,
            "without_index_millis": without as u64,
            "with_index_millis": with as u64,
        });
        println!("{figures}");
    } else {
        println!("start after {blocks} blocks: {with} ms, without its index {without} ms");
    }
    Ok(())
}
