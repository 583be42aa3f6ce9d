//! What timers cost, and what fragments of one actor gain.
//!
//! ```text
//! cargo run --release -p remuda-protocol --example timers -- bench [pending…]   JSON
//! cargo run --release -p remuda-protocol --example timers -- quick              one small size
//! cargo run --release -p remuda-protocol --example timers -- plot               SVG
//! ```
#![allow(clippy::disallowed_types, clippy::float_arithmetic, missing_docs)]

#[path = "timers/plot.rs"]
mod plot;

use remuda_protocol::timers::bench::run::{BenchOptions, Surroundings, run};
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// This machine. Wall time: on one that does other things too, medians say more than the longest.
struct Machine {
    start: Instant,
}

impl Surroundings for Machine {
    fn nanos(&mut self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// The system counts in steps of some milliseconds; over many blocks that averages out.
    fn busy_nanos(&mut self) -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        stat.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
    }

    fn resident_bytes(&mut self) -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0)
            * 1_024
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_else(|| "bench".into());
    let numbers: Vec<u64> = args.filter_map(|arg| arg.parse().ok()).collect();
    let options = match &command[..] {
        "plot" => return println!("{}", plot::svg()),
        "quick" => {
            BenchOptions { pending: vec![100_000], blocks: 40, storm: 0, ..BenchOptions::default() }
        }
        _ if numbers.is_empty() => BenchOptions::default(),
        _ => BenchOptions { pending: numbers, ..BenchOptions::default() },
    };
    let report = run(&options, &mut Machine { start: Instant::now() }).expect("a sound genesis");
    println!("{}", serde_json::to_string_pretty(&report).expect("a report is data"));
}
