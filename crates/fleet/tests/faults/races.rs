//! Results that come at the very moment when their lease ends.

use crate::faults::peer::{Fleet, job};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// What a runner said at the end of its lease, and what it was answered.
struct Said {
    job_id: Value,
    complete: Value,
    status: u16,
    fence: u64,
}

/// Takes a job, and completes it so long after its acknowledgement.
async fn at_the_last_moment(fleet: &Fleet, runner: String, after: Duration) -> Said {
    let ask = json!({ "runner_id": runner, "capabilities": [] });
    let granted = fleet.post("/internal/lease", ask).await;
    assert_eq!(granted["type"], "LeaseGranted", "{granted}");
    let ack = json!({ "job_id": granted["job_id"], "lease_id": granted["lease_id"], "runner_id": runner });
    let sent = Instant::now();
    let acked = fleet.post("/internal/ack-lease", ack).await;
    assert_eq!(acked["accepted"], true, "{acked}");
    sleep_until(sent + after).await;
    let complete =
        json!({ "lease_id": granted["lease_id"], "runner_id": runner, "status": "SUCCEEDED" });
    let (status, answer) = fleet.answer("/internal/complete", complete.clone()).await;
    assert!(status == 200 || answer["type"] == "StaleLease", "{status} {answer}");
    Said {
        job_id: granted["job_id"].clone(),
        complete,
        status,
        fence: granted["fence"].as_u64().expect("a fence"),
    }
}

/// Fault 3: the sweeper, which runs ten times a second here, races `Complete`. The first to commit decides
/// the job's final state.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_races_the_sweeper_counts_wholly_or_not_at_all() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 1, "losses_max": 100 }));
    let (mut taken, mut late) = (0, 0);
    for round in 0..6_u64 {
        let jobs = (0..40).map(|n| job(&format!("j{n}"), "true")).collect();
        let run = fleet.submit(jobs).await;
        let racing = (0..40_u64).map(|n| {
            // From a little before the end to a little after.
            let after = Duration::from_millis(940 + n * 4);
            at_the_last_moment(&fleet, format!("runner_{round}-{n}"), after)
        });
        let said = futures::future::join_all(racing).await;
        let first = fleet.run(&run).await.expect("a run");
        // Those whose result came too late are done again, by others.
        while fleet.run(&run).await.expect("a run")["open"] != 0 {
            let ask = json!({ "runner_id": format!("runner_{round}-last"), "capabilities": [] });
            let granted = fleet.post("/internal/lease", ask).await;
            if granted["type"] != "LeaseGranted" {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
            fleet.take(&granted, &format!("runner_{round}-last")).await;
        }
        let last = fleet.run(&run).await.expect("a run");
        for said in said {
            let job = jobs_of(&last).find(|job| job["job_id"] == said.job_id).expect("a job");
            let fence = job["fence"].as_u64().expect("a fence");
            assert_eq!(job["state"], "SUCCEEDED", "{job}");
            match said.status {
                200 => assert_eq!(fence, said.fence, "it was accepted, and stands: {job}"),
                _ => assert!(fence > said.fence, "it was stale, and another did it: {job}"),
            }
            *(if said.status == 200 { &mut taken } else { &mut late }) += 1;
            // The same again gets the same answer, whatever happened since.
            let (again, _) = fleet.answer("/internal/complete", said.complete.clone()).await;
            assert_eq!(again, said.status);
        }
        for (before, after) in jobs_of(&first).zip(jobs_of(&last)) {
            let ended = !before["reason"].is_null();
            assert!(!ended || before == after, "what has ended never changes: {before} {after}");
        }
    }
    assert!(taken > 0 && late > 0, "both happened: {taken} in time, {late} too late");
}

fn jobs_of(view: &Value) -> impl Iterator<Item = &Value> {
    view["jobs"].as_array().expect("jobs").iter()
}
