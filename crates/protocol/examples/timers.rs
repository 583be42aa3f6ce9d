//! What the end of a block costs with many timers: `cargo run --release --example timers -- 1000000`.
#![allow(clippy::disallowed_types, clippy::float_arithmetic, missing_docs)]

use remuda_protocol::execute::propose_block;
use remuda_protocol::key::TimerKey;
use remuda_protocol::params::ChainParams;
use remuda_protocol::state::{View, read};
use remuda_protocol::timers::bench::{Plan, chain};
use remuda_protocol::timers::order::Lane;
use remuda_protocol::timers::record::Timer;
use std::collections::BTreeMap;
use std::time::Instant;

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// The index alone: what a block's fires cost without the state.
fn index_alone(chain: &remuda_protocol::local::LocalChain) {
    let mut index = chain.state.timers();
    let (mut spent, mut fired) = (Vec::new(), 0);
    for block in 0..20 {
        let start = Instant::now();
        let was = index.clone();
        let mut search = was.search(2_000);
        let mut counts = BTreeMap::new();
        let mut ended = Vec::new();
        let mut lane = Lane::default();
        while let Some(candidate) = search.next(lane.room()) {
            lane.consume(1_000);
            *counts.entry(candidate.entry.actor).or_insert(0) += 1;
            let timer: Timer = read(&chain.state, &TimerKey { timer: candidate.entry.id }).unwrap();
            std::hint::black_box(timer);
            ended.push(*candidate.entry);
        }
        fired += ended.len();
        let counts: Vec<_> = counts.into_iter().collect();
        index.close(&ended, &counts, &[]);
        let _ = block;
        spent.push(start.elapsed());
    }
    spent.sort();
    println!("index alone: {fired} fired in 20 blocks, median {:.2?}, least {:.2?}", spent[10], spent[0]);
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
    index_alone(&chain);
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
        "{blocks} blocks, {fired} fired, {} wait; first {first:.2?}, least {:.2?}, median {:.2?}, worst {:.2?}",
        chain.state.timers().waiting(),
        steps[0],
        steps[steps.len() / 2],
        steps[steps.len() - 1],
    );
}
