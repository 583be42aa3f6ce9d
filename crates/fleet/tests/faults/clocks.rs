//! Workers whose clocks are wrong.

use crate::faults::peer::{Fleet, Peer};
use serde_json::{Value, json};

const HOUR_MS: i64 = 3_600_000;
const TTL_SECONDS: u32 = 3;

/// Longer than two leases last that nobody extends.
fn long_job() -> Value {
    let step = format!("pwd; sleep {}; echo done > r", 2 * TTL_SECONDS + 1);
    let spec = json!({ "name": "a", "steps": [step],
        "artifacts": [{ "type": "r", "path_glob": "r" }] });
    json!({ "name": "a", "job_spec": spec })
}

/// Starts a worker with this clock offset and gives it a job. Earlier workers are busy, so they do not take it.
async fn begin(fleet: &Fleet, name: &str, clock_offset: i64) -> (Peer, String) {
    let worker = fleet.worker_with(name, json!({ "clock_offset": clock_offset }));
    let run = fleet.submit(vec![long_job()]).await;
    fleet.begun(&run).await;
    (worker, run)
}

/// Fault 8: what a worker takes for the time decides nothing, though it signs with it.
#[tokio::test]
async fn workers_with_clocks_an_hour_ahead_and_an_hour_behind_keep_their_leases() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": TTL_SECONDS, "guarded": true }));
    let nobody = reqwest::get(format!("{}/api/v1/runs", fleet.url)).await.expect("an answer");
    assert_eq!(nobody.status(), 401, "it asks who is there");
    let clocks = [("ahead", HOUR_MS), ("behind", -HOUR_MS)];
    let mut begun = Vec::new();
    for (name, clock_offset) in clocks {
        begun.push(begin(&fleet, name, clock_offset).await);
    }
    for ((name, _), (_worker, run)) in clocks.iter().zip(&begun) {
        let view = fleet.ended(run).await;
        let job = &view["jobs"][0];
        assert_eq!(job["state"], "SUCCEEDED", "{name}: {view}");
        assert_eq!((&job["fence"], &job["losses"]), (&json!(1), &json!(0)), "{name}: {view}");
        assert_eq!(fleet.artifacts(job).await[1]["type"], "r", "{name}: {view}");
        let log = fleet.log(job).await;
        assert!(log.contains(&format!("/{name}/jobs/")), "each did its own: {log}");
    }
}
