//! `remuda-lab bench start`: start of a node with a chain behind it.

use super::{Output, failed, progress};
use crate::machine::{Application, Measure, measure_start};
use remuda::demo::network::free_ports;
use remuda::failure::Failure;
use serde_json::json;

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
    #[command(flatten)]
    out: Output,
}

pub(super) fn run(args: &Args) -> Result<bool, Failure> {
    let blocks = args.blocks;
    progress(&format!("making {blocks} blocks"));
    let what = Measure {
        application: Application::Idle,
        validators: 1,
        block_time_ms: 1,
        seconds: 0,
        directory: std::env::temp_dir().join(format!("remuda-bench-start-{}", std::process::id())),
        base_port: free_ports().ok_or_else(|| failed("no ports are free"))?,
    };
    let times = measure_start(&what, blocks).map_err(failed)?;
    progress("");
    let (without, with) = (times.without_index.as_millis(), times.with_index.as_millis());
    args.out
        .line(format!("start after {blocks} blocks: {with} ms, without its index {without} ms"));
    args.out.figures(&json!({
        "blocks": blocks,
        "without_index_millis": without as u64,
        "with_index_millis": with as u64,
    }))?;
    Ok(true)
}
