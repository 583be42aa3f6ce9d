//! Processes that do not end when they are asked to.

use crate::faults::peer::{Fleet, PATIENCE, alive, job, mark};
use serde_json::json;
use std::time::{Duration, Instant};

/// The time that workers give processes here to end by themselves.
const GRACE: Duration = Duration::from_millis(500);
/// Until a worker hears, at its next heartbeat, that it should stop; and until it has said that it did.
const HEARD_AND_SAID: Duration = Duration::from_secs(4);

/// Fault 11: a tree that ignores SIGTERM, with members in sessions of their own, below others and without
/// parents.
#[tokio::test]
async fn a_canceled_tree_that_ignores_sigterm_is_gone_when_its_job_has_ended() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
    let _worker = fleet.worker("worker");
    let mark = mark(6);
    // What is ignored stays so in whatever is started.
    let step = format!(
        "trap '' TERM; echo begun; \
         sh -c \"trap '' TERM; sleep {mark}.1 & sleep {mark}.2; true\" & \
         setsid sh -c \"trap '' TERM; sh -c 'sleep {mark}.3; true' & sleep {mark}.4; true\" & \
         (setsid sh -c 'sleep {mark}.5 & exit' &); \
         sleep {mark}.6; true"
    );
    let run = fleet.submit(vec![job("a", &step)]).await;
    // Themselves, not the shells that have their words.
    let sleeping = format!("^sleep {mark}");
    let began = Instant::now();
    while alive(&sleeping) < 6 {
        assert!(began.elapsed() < PATIENCE, "{} began", alive(&sleeping));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let asked = Instant::now();
    fleet.post(&format!("/runs/{run}/cancel"), json!({})).await;
    let view = fleet.ended(&run).await;
    let (took, left) = (asked.elapsed(), alive(&format!("sleep {mark}")));
    let job = &view["jobs"][0];
    // By its worker's word, and not because that one was too late.
    assert_eq!((&job["state"], &job["reason"]), (&json!("CANCELED"), &json!("CANCEL_ACKED")));
    assert_eq!(left, 0, "neither they nor their shells");
    assert!(took >= GRACE, "they had their time, and did not use it: {took:?}");
    assert!(took < GRACE + HEARD_AND_SAID, "{took:?}");
}
