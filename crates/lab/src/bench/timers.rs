//! `remuda-lab bench timers`: what timers cost, beside a heap and a wheel.

use super::{Output, failed, progress};
use crate::machine::StateDbBench;
use remuda::demo::network::resident_bytes;
use remuda::failure::Failure;
use remuda_protocol::state::{Diff, MemoryState};
use remuda_protocol::timers::bench::run::{
    BenchOptions, Report, Spread, Surroundings, run as bench,
};
use std::time::Instant;

/// What timers cost: schedule, cancel, and blocks in which 100,000 are due and 2,000 can fire.
///
/// For each number of pending timers the scheduler runs on a chain in memory, and with --root its state
/// is kept in the validators' database too, with a root for every block. The same run measures two
/// alternatives: a binary heap that is rebuilt in every block, and a timing wheel without a market.
/// Neither of them persists its state.
///
/// 10,000,000 pending timers take some 9 GB of memory.
///
/// Example: remuda-lab bench timers --pending 10000,1000000 --blocks 100 --json
#[derive(clap::Args)]
pub(super) struct Args {
    /// Timers that are not due yet; one measurement for each.
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000])]
    pending: Vec<u64>,
    /// Timers that are due in every block.
    #[arg(long, default_value_t = 100_000)]
    due: u64,
    /// Number of blocks to measure.
    #[arg(long, default_value_t = 100)]
    blocks: u64,
    /// Timers that become due in one block, apart from the rest; 0 leaves it out.
    #[arg(long, default_value_t = 60_000)]
    storm: u64,
    /// Keep the state in the database, with its root, and wait for the disk in every block.
    #[arg(long)]
    root: bool,
    #[command(flatten)]
    out: Output,
}

struct Machine {
    start: Instant,
    root: bool,
    db: Option<StateDbBench>,
    failure: Option<String>,
}

impl Machine {
    fn new(root: bool) -> Self {
        Self { start: Instant::now(), root, db: None, failure: None }
    }
}

impl Surroundings for Machine {
    fn nanos(&mut self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn busy_nanos(&mut self) -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let busy = stat.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
        busy.unwrap_or_else(|| self.nanos())
    }

    fn resident_bytes(&mut self) -> u64 {
        resident_bytes("self")
    }

    fn store_name(&self) -> &'static str {
        if self.root { "QMDB, one root and one sync for each block" } else { "none" }
    }

    fn open_store(&mut self, state: &MemoryState) {
        if !self.root {
            return;
        }
        progress("writing the state");
        // The one before it frees its directory first.
        self.db = None;
        let name = format!("remuda-bench-timers-{}", std::process::id());
        let db = StateDbBench::open(std::env::temp_dir().join(name));
        let entries = state.entries();
        let entries = entries.iter().map(|(key, value)| (key.to_vec(), value.to_vec()));
        self.failure = db.fill(entries).err();
        self.db = Some(db);
        progress("blocks");
    }

    fn store_block(&mut self, diff: &Diff) {
        if let Some(db) = &self.db
            && let Err(error) = db.keep(diff.clone())
        {
            self.failure = Some(error);
            self.db = None;
        }
    }
}

pub(super) fn run(args: &Args) -> Result<bool, Failure> {
    let options = BenchOptions {
        pending: args.pending.clone(),
        due: args.due,
        blocks: args.blocks,
        storm: args.storm,
        ..BenchOptions::default()
    };
    let mut machine = Machine::new(args.root);
    progress("timers are scheduled");
    let report = bench(&options, &mut machine).map_err(failed)?;
    if let Some(error) = machine.failure {
        return Err(failed(error));
    }
    args.out.line(render(&report).trim_end());
    args.out.figures(&report)?;
    Ok(true)
}

fn spread(spread: &Spread) -> String {
    let ms = |us: u64| format!("{}.{:02}", us / 1_000, us % 1_000 / 10);
    format!("{:>9} {:>9} {:>9}", ms(spread.p50_us), ms(spread.p99_us), ms(spread.max_us))
}

fn render(report: &Report) -> String {
    let mut text = format!("store: {}\n", report.store);
    text += "milliseconds of a block                        p50       p99       max   fired\n";
    for row in &report.scheduler {
        let fired = row.fired_per_block;
        text += &format!(
            "{:>10} pending, block        {} {fired:>7}\n",
            row.pending,
            spread(&row.block)
        );
        text += &format!("{:>10}          state in memory{}\n", "", spread(&row.commit));
        if report.store != "none" {
            text += &format!("{:>10}          database and root{}\n", "", spread(&row.store));
        }
        text += &format!(
            "{:>10}          schedule {} ns, cancel {} ns, {} bytes a timer, {} keys and {} bytes a block\n",
            "",
            row.schedule_ns,
            row.cancel_ns,
            row.bytes_per_timer,
            row.keys_written,
            row.bytes_written
        );
    }
    text += "instead\n";
    for row in &report.instead {
        let what = format!("{} pending, {}", row.pending, row.name);
        let fired = row.fired_per_block;
        text += &format!("{what:>36} {} {fired:>7}\n", spread(&row.block));
    }
    if let Some(storm) = &report.storm {
        let ms = |us: u64| us / 1_000;
        let (block, next) = (ms(storm.block_us), ms(storm.next_us));
        text += &format!("{} due at once: {block} ms, then {next} ms\n", storm.due);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_run_has_every_figure_with_a_root() {
        let options = BenchOptions {
            pending: vec![200],
            due: 50,
            blocks: 2,
            storm: 0,
            ..BenchOptions::default()
        };
        let mut machine = Machine::new(true);
        let report = bench(&options, &mut machine).unwrap();
        assert_eq!(machine.failure, None);
        assert!(report.scheduler[0].store.max_us > 0, "the database took its time");
        assert_eq!(report.instead.len(), 2);
        let text = render(&report);
        assert!(text.contains("database and root") && text.contains("wheel"), "{text}");
    }
}
