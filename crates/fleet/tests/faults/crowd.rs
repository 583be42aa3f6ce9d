//! Thousands of runners that do the same at the same moment.

use crate::faults::peer::Fleet;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

const RUNNERS: usize = 3_000;
/// Requests at the same time: each has a connection, and files are few.
const AT_ONCE: usize = 400;
/// Long enough for all of them to beat on a busy machine, and to wait for.
const TTL_SECONDS: u32 = 45;
/// They join so many at a time; then all who are there beat.
const JOIN_AT_ONCE: usize = 500;

/// One of many, with its lease.
struct Runner {
    id: String,
    granted: Value,
}

/// All of them at once, or as many as can be.
async fn all<T>(runners: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    stream::iter(runners).buffer_unordered(AT_ONCE).collect().await
}

async fn join(fleet: &Fleet, n: usize) -> Runner {
    let id = format!("runner_{n}");
    let ask = json!({ "runner_id": id, "capabilities": [] });
    let granted = fleet.post("/internal/lease", ask).await;
    assert_eq!(granted["type"], "LeaseGranted", "{granted}");
    let ack =
        json!({ "job_id": granted["job_id"], "lease_id": granted["lease_id"], "runner_id": id });
    assert_eq!(fleet.post("/internal/ack-lease", ack).await["accepted"], true);
    Runner { id, granted }
}

async fn beat(fleet: &Fleet, runner: &Runner, seq: u64) -> bool {
    let beat =
        json!({ "lease_id": runner.granted["lease_id"], "runner_id": runner.id, "seq": seq });
    fleet.post("/internal/heartbeat", beat).await["extend_lease"] == true
}

/// Fault 13: 3,000 runners send heartbeats in phase, and then two thirds of them fall silent together. The
/// others keep their leases, however many expire in the same sweeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runners_that_beat_in_phase_keep_their_leases_while_others_expire() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": TTL_SECONDS, "losses_max": 5 }));
    let mut runs = Vec::new();
    for _ in 0..RUNNERS / 1_000 {
        let jobs = (0..1_000).map(
            |n| json!({ "name": format!("j{n}"), "job_spec": { "name": "j", "steps": ["true"] } }),
        );
        runs.push(fleet.submit(jobs.collect()).await);
    }
    let (mut runners, mut seq) = (Vec::new(), 0);
    while runners.len() < RUNNERS {
        let new = runners.len()..runners.len() + JOIN_AT_ONCE;
        runners.extend(all(new.map(|n| join(&fleet, n))).await);
        seq += 1;
        let kept = all(runners.iter().map(|runner| beat(&fleet, runner, seq))).await;
        assert_eq!(kept.iter().filter(|kept| **kept).count(), runners.len(), "beat {seq}");
    }
    let (loud, silent) = runners.split_at(RUNNERS / 3);
    let began = Instant::now();
    loop {
        seq += 1;
        let round = Instant::now();
        let kept = all(loud.iter().map(|runner| beat(&fleet, runner, seq))).await;
        assert_eq!(kept.iter().filter(|kept| **kept).count(), loud.len(), "beat {seq}");
        let counts = fleet.get("/workers/desired").await;
        if counts["held"] == loud.len() {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(240), "{counts}");
        sleep_until(round + Duration::from_secs(2)).await;
    }
    // What the silent ones had waits for others, once each; the others end as they should.
    let counts = fleet.get("/workers/desired").await;
    assert_eq!(counts["waiting"], silent.len(), "{counts}");
    let done = all(loud.iter().map(|runner| async {
        let done = json!({ "lease_id": runner.granted["lease_id"], "runner_id": runner.id, "status": "SUCCEEDED" });
        fleet.post("/internal/complete", done).await["accepted"] == true
    }));
    assert!(done.await.into_iter().all(|accepted| accepted));
    let stale = all(silent.iter().map(|runner| beat(&fleet, runner, seq + 1))).await;
    assert!(stale.into_iter().all(|kept| !kept), "who was silent is told");
}
