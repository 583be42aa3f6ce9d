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
use remuda_fleet::lease::{Event, Policy};
use remuda_fleet::store::{Memory, Sqlite, Store};
use remuda_fleet::time::Millis;
use std::path::{Path, PathBuf};

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

/// Where a history takes place.
trait Place {
    type Store: Store;

    /// A new store.
    async fn open(now: Millis) -> Self::Store;

    /// The orchestrator goes away and comes back.
    async fn restart(store: Self::Store, now: Millis) -> Self::Store;
}

/// Histories for each seed, each on a store of its own.
fn histories<P: Place>(seeds: &[u64], cases: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    for seed in seeds {
        let rng_seed = RngSeed::Fixed(*seed);
        let config = Config { cases, rng_seed, failure_persistence: None, ..Config::default() };
        let outcome = TestRunner::new(config).run(&plan::history(), |ops: Vec<Op>| {
            runtime.block_on(async {
                let mut oracle = Oracle::<P>::new(policy()).await;
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

struct InMemory;

impl Place for InMemory {
    type Store = Memory;

    async fn open(_: Millis) -> Memory {
        Memory::new(policy())
    }

    async fn restart(store: Memory, now: Millis) -> Memory {
        store.handle(now, Event::Start).await.expect("started");
        store
    }
}

struct OnDisk;

impl OnDisk {
    fn path() -> PathBuf {
        let name = format!("history-{}.db", std::process::id());
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
    }
}

impl Place for OnDisk {
    type Store = Sqlite;

    async fn open(now: Millis) -> Sqlite {
        for suffix in ["", "-wal", "-shm"] {
            let mut path = Self::path().into_os_string();
            path.push(suffix);
            let _ = std::fs::remove_file(path);
        }
        Sqlite::open(&Self::path(), policy(), now).await.expect("a file")
    }

    async fn restart(store: Sqlite, now: Millis) -> Sqlite {
        store.close().await.expect("closed");
        Sqlite::open(&Self::path(), policy(), now).await.expect("a file")
    }
}

#[test]
fn in_memory_every_job_and_lease_is_accounted_for() {
    histories::<InMemory>(&seeds(12), 24);
}

#[test]
fn on_disk_every_job_and_lease_is_accounted_for() {
    histories::<OnDisk>(&seeds(3), 4);
}
