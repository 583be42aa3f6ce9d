//! Random histories of many runs, jobs and runners, with an oracle that accounts for every job and
//! every lease after every event. Every store goes through the same.
//!
//! A failure prints its seed; `REMUDA_SEED=<seed>` runs that one alone, `REMUDA_SEEDS=<count>` more.

#![allow(unreachable_pub, reason = "what these modules have is for this test only")]

#[path = "../common/mod.rs"]
mod common;
mod naive;
mod oracle;
mod plan;

use oracle::Oracle;
use plan::Op;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use remuda_fleet::lease::Policy;
use remuda_fleet::store::{Memory, Store};

/// Small numbers, so that caps are reached.
fn policy() -> Policy {
    Policy { losses_max: 2, sweep_lapses_max: 3, uploads_max: 3, ..Policy::default() }
}

fn seeds(count: u64) -> Vec<u64> {
    let number = |name| std::env::var(name).ok().map(|n| n.parse().expect("a number"));
    match number("REMUDA_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("REMUDA_SEEDS").unwrap_or(count)).collect(),
    }
}

/// Histories for each seed, each on a store of its own.
fn histories<S: Store>(seeds: &[u64], cases: u32, open: impl Fn() -> S) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    for seed in seeds {
        let rng_seed = RngSeed::Fixed(*seed);
        let config = Config { cases, rng_seed, failure_persistence: None, ..Config::default() };
        let outcome = TestRunner::new(config).run(&plan::history(), |ops: Vec<Op>| {
            runtime.block_on(async {
                let mut oracle = Oracle::new(open(), policy());
                for op in ops {
                    oracle.perform(op).await?;
                }
                oracle.finish().await
            })
        });
        if let Err(error) = outcome {
            panic!("{error}\nagain with REMUDA_SEED={seed}");
        }
    }
}

#[test]
fn in_memory_every_job_and_lease_is_accounted_for() {
    histories(&seeds(12), 24, || Memory::new(policy()));
}
