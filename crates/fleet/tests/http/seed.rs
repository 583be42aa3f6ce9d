//! Every example of the seed, sent as it stands there, with the ids of a grant in place of its own; every answer
//! with the seed's fields. `CancelRequested` is not among them: over HTTP the answer to a heartbeat says it, and the
//! message itself is looked at where it travels, in `parts::nats::seed`.

use crate::http::server::Server;
use serde_json::{Value, json};

const GRANTED: &str = include_str!("../seed/LeaseGranted.json");
const RUNNER: &str = "runner_xyz";

fn example(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The example with the ids of a grant.
fn with_ids(text: &str, granted: &Value) -> Value {
    let mut message = example(text);
    for field in ["lease_id", "job_id"] {
        if message[field].is_string() {
            message[field] = granted[field].clone();
        }
    }
    message
}

#[track_caller]
fn has_fields_of(answer: &Value, text: &str) {
    for (field, value) in example(text).as_object().expect("an object") {
        let found = &answer[field];
        let same = std::mem::discriminant(found) == std::mem::discriminant(value);
        assert!(same, "`{field}` is {found}, in the seed {value}: {answer}");
    }
}

/// A run of the seed's own job, leased to the seed's own runner.
async fn leased(server: &Server) -> Value {
    let spec = example(GRANTED)["job_spec"].clone();
    let job = json!({ "name": "unit-tests", "job_spec": spec, "max_runtime_seconds": 3600 });
    server.ok("/runs", json!({ "jobs": [job] })).await;
    let ask = json!({ "type": "LeaseRequest", "runner_id": RUNNER, "capabilities": ["os:linux"] });
    server.ok("/internal/lease", ask).await
}

#[tokio::test]
async fn the_seeds_job_goes_its_whole_way() {
    let server = Server::open().await;
    let granted = leased(&server).await;
    has_fields_of(&granted, GRANTED);
    let seed = example(GRANTED);
    for field in [
        "type",
        "lease_ttl_seconds",
        "heartbeat_interval_seconds",
        "max_runtime_seconds",
        "job_spec",
    ] {
        assert_eq!(granted[field], seed[field], "{field}");
    }
    let ack = with_ids(include_str!("../seed/AckLease.json"), &granted);
    let acked = server.ok("/internal/ack-lease", ack).await;
    assert_eq!((&acked["type"], &acked["accepted"]), (&json!("AckLeaseAck"), &json!(true)));

    let beat = with_ids(include_str!("../seed/Heartbeat.json"), &granted);
    let beaten = server.ok("/internal/heartbeat", beat).await;
    let expected = with_ids(include_str!("../seed/HeartbeatAck.json"), &granted);
    assert_eq!(beaten, expected);

    let complete = with_ids(include_str!("../seed/Complete.json"), &granted);
    let expected = with_ids(include_str!("../seed/CompleteAck.json"), &granted);
    assert_eq!(server.ok("/internal/complete", complete.clone()).await, expected);
    // Fault 4: the answer was lost, the same message comes again.
    assert_eq!(server.ok("/internal/complete", complete).await, expected);
    let (_, run) = server.get(&format!("/runs/{}", granted["run_id"].as_str().expect("id"))).await;
    assert_eq!(run["status"], "SUCCEEDED");
    assert_eq!(run["jobs"][0]["summary"], "All tests passed.");
    let (_, job) = server.get(&format!("/jobs/{}", granted["job_id"].as_str().expect("id"))).await;
    assert_eq!(job["artifacts"][1]["type"], "junit");
}

#[tokio::test]
async fn the_seeds_job_is_canceled_in_two_steps() {
    let server = Server::open().await;
    let granted = leased(&server).await;
    let ack = with_ids(include_str!("../seed/AckLease.json"), &granted);
    server.ok("/internal/ack-lease", ack).await;
    let run = granted["run_id"].as_str().expect("an id");
    server.ok(&format!("/runs/{run}/cancel"), json!({})).await;
    let beat = with_ids(include_str!("../seed/Heartbeat.json"), &granted);
    let beaten = server.ok("/internal/heartbeat", beat).await;
    assert_eq!(beaten["cancel_requested"], true);
    assert_eq!(beaten["cancel_deadline_seconds"], 30);
    let stop = with_ids(include_str!("../seed/CancelAck.json"), &granted);
    let stopped = server.ok("/internal/cancel-ack", stop.clone()).await;
    assert_eq!((&stopped["type"], &stopped["accepted"]), (&json!("CancelAckAck"), &json!(true)));
    assert_eq!(server.ok("/internal/cancel-ack", stop).await, stopped);
    assert_eq!(server.get(&format!("/runs/{run}")).await.1["status"], "CANCELED");
}

#[tokio::test]
async fn a_stale_lease_is_told_in_the_seeds_words() {
    let server = Server::open().await;
    for (path, text) in [
        ("ack-lease", include_str!("../seed/AckLease.json")),
        ("heartbeat", include_str!("../seed/Heartbeat.json")),
        ("complete", include_str!("../seed/Complete.json")),
        ("cancel-ack", include_str!("../seed/CancelAck.json")),
    ] {
        let (status, stale) = server.post(&format!("/internal/{path}"), example(text)).await;
        assert_eq!(status, 409, "{path}");
        has_fields_of(&stale, include_str!("../seed/StaleLease.json"));
        assert_eq!(stale["type"], "StaleLease");
        assert_eq!(stale["reason"], "UNKNOWN_LEASE");
        assert_eq!((&stale["stale"], &stale["extend_lease"]), (&json!(true), &json!(false)));
    }
}
