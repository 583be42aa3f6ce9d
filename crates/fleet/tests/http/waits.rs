//! Why a job is not being done, wherever somebody looks.

use crate::http::server::{Server, hasty};
use futures::StreamExt;
use remuda_fleet::lease::Policy;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn job(name: &str, more: Value) -> Value {
    let mut job = json!({ "name": name, "job_spec": { "name": name, "steps": ["true"] } });
    for (field, value) in more.as_object().expect("fields") {
        job[field] = value.clone();
    }
    job
}

async fn submit(server: &Server, run: Value) -> String {
    server.ok("/runs", run).await["run_id"].as_str().expect("an id").to_owned()
}

/// Why each job of a run waits; null if it does not.
async fn reasons(server: &Server, run: &str) -> Vec<Value> {
    let view = server.get(&format!("/runs/{run}")).await.1;
    let jobs = view["jobs"].as_array().expect("jobs").iter();
    jobs.map(|job| job["waits"]["reason"].clone()).collect()
}

async fn desired(server: &Server) -> Value {
    let desired = server.get("/workers/desired").await.1["desired"].clone();
    assert_eq!(server.get("/queue").await.1["desired_workers"], desired);
    let metrics = server.http.get(format!("{}/metrics", server.url)).send().await.expect("text");
    let metrics = metrics.text().await.expect("text");
    assert!(metrics.contains(&format!("\nfleet_workers_desired {desired}\n")), "{metrics}");
    desired
}

async fn page(server: &Server, path: &str) -> String {
    let answer = server.http.get(format!("{}{path}", server.url)).send().await.expect("a page");
    answer.text().await.expect("text")
}

#[tokio::test]
async fn a_job_that_a_labels_limit_holds_back_says_so_and_wants_no_worker() {
    let server = Server::open().await;
    server.send(Method::PUT, "/limits/deploy?limit=1", vec![]).await;
    let labels = json!({ "labels": ["deploy"] });
    let jobs = ["a", "b", "c"].map(|name| job(name, labels.clone()));
    let run = submit(&server, json!({ "jobs": jobs })).await;
    assert_eq!(desired(&server).await, 1, "there is room for one of the three");
    let granted = server.take("runner_a").await;
    let view = server.get(&format!("/runs/{run}")).await.1;
    let held = json!({ "reason": "LABEL_LIMIT", "label": "deploy", "limit": 1, "running": 1 });
    assert_eq!(view["jobs"][1]["waits"], held, "{view}");
    assert!(view["jobs"][0]["waits"].is_null(), "{view}");
    let id = view["jobs"][1]["job_id"].as_str().expect("an id");
    assert_eq!(server.get(&format!("/jobs/{id}")).await.1["waits"], held);
    assert_eq!(server.get("/queue").await.1["next"][0]["waits"], held);
    assert_eq!(desired(&server).await, 1, "more workers would not help");
    for at in [format!("/runs/{run}"), format!("/jobs/{id}"), "/queue".to_owned()] {
        let html = page(&server, &at).await;
        assert!(
            html.contains("held back by the label deploy: 1 at work, 1 allowed"),
            "{at}: {html}"
        );
    }
    server.complete(&granted, "runner_a").await;
    // Nothing of the run is at work now: the list says why.
    server.send(Method::PUT, "/limits/deploy?limit=0", vec![]).await;
    let list = server.get("/runs").await.1;
    assert_eq!(list["runs"][0]["waits"]["reason"], "LABEL_LIMIT", "{list}");
    assert_eq!(list["runs"][0]["running"], 0);
    assert!(page(&server, "/").await.contains("0 at work, 0 allowed"));
    assert_eq!(desired(&server).await, 0);
    server.send(Method::PUT, "/limits/deploy", vec![]).await;
    assert_eq!(desired(&server).await, 2);
    server.stop().await;
}

#[tokio::test]
async fn a_job_says_which_of_all_things_it_waits_for() {
    let server = Server::open().await;
    let retry = json!({ "retry": { "max_attempts": 2, "backoff_seconds": 600 } });
    let jobs = [
        job("fails", retry),
        job("first", json!({})),
        job("second", json!({})),
        job("last", json!({ "needs": ["first"] })),
    ];
    let run = submit(&server, json!({ "jobs": jobs, "max_parallel": 2 })).await;
    let none = "NO_WORKER";
    assert_eq!(reasons(&server, &run).await, [none, none, none, "NEEDS"]);
    assert_eq!(desired(&server).await, 2);
    let failing = server.take("runner_a").await;
    assert_eq!(reasons(&server, &run).await[1..], ["TURN", "TURN", "NEEDS"], "one is known");
    server.take("runner_b").await;
    let limit = "RUN_LIMIT";
    assert_eq!(
        reasons(&server, &run).await,
        [json!(null), json!(null), json!(limit), json!("NEEDS")]
    );
    let view = server.get(&format!("/runs/{run}")).await.1;
    let waits = json!({ "reason": limit, "limit": 2, "running": 2 });
    assert_eq!(view["jobs"][2]["waits"], waits, "{view}");
    assert_eq!(desired(&server).await, 2);
    let failed =
        json!({ "lease_id": failing["lease_id"], "runner_id": "runner_a", "status": "FAILED" });
    server.ok("/internal/complete", failed).await;
    let view = server.get(&format!("/runs/{run}")).await.1;
    assert_eq!(view["jobs"][0]["waits"]["reason"], "RETRY", "{view}");
    assert!(view["jobs"][0]["waits"]["until"].is_string(), "{view}");
    assert_eq!(view["jobs"][2]["waits"]["reason"], "TURN", "there is room again: {view}");
    server.stop().await;
}

/// Who watches hears of it without asking, and long before the lease ends.
#[tokio::test]
async fn a_worker_that_is_silent_is_told_of_before_its_lease_ends() {
    let policy = Policy { lease_ttl_seconds: 30, heartbeat_interval_seconds: 1, ..hasty() };
    let server = Server::with(|config| config.policy = policy).await;
    let run = server.submit().await;
    let granted = server.take("runner_a").await;
    let silence = |view: &Value| view["jobs"][0]["silence"].clone();
    let view = server.get(&format!("/runs/{run}")).await.1;
    assert!(silence(&view).is_null(), "it was just heard: {view}");
    let url = format!("{}/api/v1/runs/{run}/events", server.url);
    let mut events = server.http.get(url).send().await.expect("a stream").bytes_stream();
    let (began, mut text) = (Instant::now(), String::new());
    while !text.contains("lease_ends_in_seconds") {
        assert!(began.elapsed() < Duration::from_secs(20), "{text}");
        let piece = events.next().await.expect("an event").expect("bytes");
        text += std::str::from_utf8(&piece).expect("text");
    }
    let view = server.get(&format!("/runs/{run}")).await.1;
    let told = silence(&view);
    let (silent, left) = (told["seconds"].as_u64(), told["lease_ends_in_seconds"].as_u64());
    let (silent, left) = silent.zip(left).expect("both");
    assert!((3..20).contains(&silent) && (29..=31).contains(&(silent + left)), "{view}");
    let html = page(&server, &format!("/runs/{run}")).await;
    assert!(html.contains("no word from worker runner_a for"), "{html}");
    let beat = json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a" });
    server.ok("/internal/heartbeat", beat).await;
    let view = server.get(&format!("/runs/{run}")).await.1;
    assert!(silence(&view).is_null(), "it is back: {view}");
    drop(events);
    server.stop().await;
}
