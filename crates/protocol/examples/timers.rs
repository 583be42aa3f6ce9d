//! What the end of a block costs with many timers: `cargo run --release --example timers -- 1000000`.
#![allow(clippy::disallowed_types, clippy::float_arithmetic, missing_docs)]

use remuda_protocol::execute::propose_block;
use remuda_protocol::params::ChainParams;
use remuda_protocol::state::View;
use remuda_protocol::timers::bench::{Plan, chain};
use std::time::Instant;

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn main() {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let get = |i: usize, default| args.get(i).copied().unwrap_or(default);
    let plan = Plan {
        pending: get(0, 1_000_000),
        due: get(1, 100_000),
        actors: get(2, 10_000),
        next: get(3, 0),
        payload_bytes: 32,
        gas_limit: get(5, 1_000),
    };
    let blocks = get(4, 100);
    let mut params = ChainParams::one_second();
    params.lane_adjustment_quotient = 8;
    let before = resident_mib();
    let start = Instant::now();
    let mut chain = chain(&plan, params).expect("a sound genesis");
    println!("{plan:?}: set up in {:.1?}, {} MiB", start.elapsed(), resident_mib() - before);
    let (mut steps, mut fired) = (Vec::new(), 0);
    for _ in 0..blocks {
        let mut draft = chain.draft();
        draft.presence = None;
        let start = Instant::now();
        let (_, outcome, _) =
            propose_block(&chain.state, &chain.params, draft, &[]).expect("a sound draft");
        steps.push(start.elapsed());
        fired += outcome.events().filter(|event| event.name() == "TimerFired").count();
        chain.state.commit(&outcome);
    }
    let first = steps[0];
    steps.sort();
    println!(
        "{blocks} blocks, {fired} fired, {} wait; first {first:.2?}, median {:.2?}, worst {:.2?}",
        chain.state.timers().waiting(),
        steps[steps.len() / 2],
        steps[steps.len() - 1],
    );
}
