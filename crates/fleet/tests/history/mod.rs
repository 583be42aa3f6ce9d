//! The histories, in memory and on disk.

#![allow(unreachable_pub, async_fn_in_trait, reason = "what these modules have is for tests only")]

mod http;
pub(crate) mod suite;
pub(crate) mod wire;

use remuda_fleet::lease::Event;
use remuda_fleet::store::{Memory, Sqlite, Store};
use remuda_fleet::time::Millis;
use std::path::{Path, PathBuf};
use suite::{Place, histories, policy, seeds, several};

struct InMemory;

impl Place for InMemory {
    type Store = Memory;

    async fn open(now: Millis) -> Memory {
        Self::restart(Memory::new(policy()), now).await
    }

    async fn restart(store: Memory, now: Millis) -> Memory {
        store.handle(now, Event::Start).await.expect("started");
        store
    }
}

struct OnDisk;

impl OnDisk {
    fn path() -> PathBuf {
        let name = format!("history-{}-{:?}.db", std::process::id(), std::thread::current().id());
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
    }
}

impl Place for OnDisk {
    type Store = Sqlite;

    async fn open(now: Millis) -> Sqlite {
        for suffix in ["", "-wal", "-shm", ".lock"] {
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
fn over_http_every_job_and_lease_is_accounted_for() {
    histories::<http::OverHttp>(&seeds(2), 6);
}

#[test]
fn on_disk_every_job_and_lease_is_accounted_for() {
    histories::<OnDisk>(&seeds(3), 4);
}

/// While one is written, the next are decided.
#[test]
fn on_disk_what_is_asked_together_is_accounted_for() {
    several::<OnDisk>(&seeds(3), 8, 12);
}
