//! Random histories of many runs, jobs and runners, with an oracle that accounts for every job and
//! every lease after every event. Every store goes through the same.
//!
//! A failure prints its seed; `REMUDA_SEED=<seed>` runs that one alone, `REMUDA_SEEDS=<count>` more.

pub(crate) use crate::common;
#[path = "naive.rs"]
pub mod naive;
#[path = "oracle.rs"]
mod oracle;
#[path = "plan.rs"]
mod plan;

use oracle::Oracle;
use plan::Op;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use remuda_fleet::lease::Policy;
use remuda_fleet::store::Store;
use remuda_fleet::time::Millis;

/// Small numbers, so that caps are reached.
pub fn policy() -> Policy {
    Policy {
        outage_after_seconds: 20,
        losses_max: 2,
        returns_max: 1,
        sweep_lapses_max: 3,
        uploads_max: 3,
        ..Policy::default()
    }
}

pub fn seeds(count: u64) -> Vec<u64> {
    let number = |name| std::env::var(name).ok().map(|n| n.parse().expect("a number"));
    match number("REMUDA_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("REMUDA_SEEDS").unwrap_or(count)).collect(),
    }
}

/// Where a history takes place.
pub trait Place {
    type Store: Store;
    /// Whether runs and leases have the names that the history gives them.
    const NAMES: bool = true;

    /// A new store.
    async fn open(now: Millis) -> Self::Store;

    /// The orchestrator goes away and comes back.
    async fn restart(store: Self::Store, now: Millis) -> Self::Store;

    /// The history is over.
    async fn close(_: Self::Store) {}
}

/// Histories for each seed, each on a store of its own.
pub fn histories<P: Place>(seeds: &[u64], cases: u32) {
    several::<P>(seeds, cases, 1);
}

/// The same, so many steps at the same time.
pub fn several<P: Place>(seeds: &[u64], cases: u32, together: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    for seed in seeds {
        let rng_seed = RngSeed::Fixed(*seed);
        let config = Config { cases, rng_seed, failure_persistence: None, ..Config::default() };
        let outcome = TestRunner::new(config).run(&plan::history(), |ops: Vec<Op>| {
            runtime.block_on(async {
                let mut oracle = Oracle::<P>::new(policy()).await;
                for ops in ops.chunks(together) {
                    match ops {
                        [op] => oracle.perform(op.clone()).await?,
                        ops => oracle.together(ops.to_vec()).await?,
                    }
                }
                oracle.finish().await
            })
        });
        if let Err(error) = outcome {
            panic!("{error}\nagain with REMUDA_SEED={seed}");
        }
    }
}
