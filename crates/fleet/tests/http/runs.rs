//! Runs as people see them, and runners that wait.

use crate::http::server::{Server, endpoint, hasty};
use futures::StreamExt;
use remuda_fleet::client::Client;
use remuda_fleet::id::RunId;
use remuda_fleet::lease::AttemptState;
use remuda_fleet::view::RunView;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_runner_that_waits_gets_work_when_it_comes() {
    let server = Server::open().await;
    let ask = json!({ "runner_id": "runner_a", "capabilities": [], "max_wait_seconds": 20 });
    let began = Instant::now();
    let waiting = server.ok("/internal/lease", ask);
    let submitting = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        server.submit().await
    };
    let (granted, _) = tokio::join!(waiting, submitting);
    assert_eq!(granted["type"], "LeaseGranted");
    assert!((Duration::from_millis(300)..Duration::from_secs(4)).contains(&began.elapsed()));
}

#[tokio::test]
async fn a_runner_without_work_is_told_when_its_patience_ends() {
    let server = Server::open().await;
    let ask = json!({ "runner_id": "runner_a", "capabilities": [], "max_wait_seconds": 1 });
    let began = Instant::now();
    let answer = server.ok("/internal/lease", ask).await;
    assert_eq!(answer, json!({ "type": "NoWork", "retry_after_seconds": 1 }));
    assert!(began.elapsed() >= Duration::from_secs(1));
}

/// A job that failed waits for its next attempt; nobody else comes to wake the runner then.
#[tokio::test]
async fn a_pause_ends_for_a_runner_that_waits() {
    let server = Server::with(|config| config.look_again = Duration::from_secs(60)).await;
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] },
        "retry": { "max_attempts": 2, "backoff_seconds": 1 } });
    server.ok("/runs", json!({ "jobs": [job] })).await;
    let granted = server.take("runner_a").await;
    let failed =
        json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a", "status": "FAILED" });
    server.ok("/internal/complete", failed).await;
    let ask = json!({ "runner_id": "runner_a", "capabilities": [], "max_wait_seconds": 20 });
    let began = Instant::now();
    let again = server.ok("/internal/lease", ask).await;
    assert_eq!((&again["attempt"], &again["fence"]), (&json!(2), &json!(2)));
    assert!(began.elapsed() < Duration::from_secs(10));
}

/// Fault 5.
#[tokio::test]
async fn a_runner_whose_grant_was_lost_gets_the_same_again() {
    let server = Server::open().await;
    server.submit().await;
    let ask = || json!({ "runner_id": "runner_a", "capabilities": [] });
    let first = server.ok("/internal/lease", ask()).await;
    let second = server.ok("/internal/lease", ask()).await;
    assert_eq!(first, second);
}

#[tokio::test]
async fn the_same_key_is_the_same_run() {
    let server = Server::open().await;
    let submit = async |key: &str, name: &str| {
        let job = json!({ "name": name, "job_spec": { "name": "a", "steps": ["true"] } });
        let url = format!("{}/api/v1/runs", server.url);
        let request = server.http.post(url).header("Idempotency-Key", key);
        let answer = request.body(json!({ "jobs": [job] }).to_string()).send().await.expect("sent");
        (answer.status().as_u16(), answer.json::<Value>().await.expect("JSON"))
    };
    let (status, first) = submit("k1", "a").await;
    assert_eq!((status, &first["before"]), (201, &json!(false)));
    let (status, again) = submit("k1", "a").await;
    assert_eq!((status, &again["before"]), (200, &json!(true)));
    assert_eq!(first["run_id"], again["run_id"]);
    assert_eq!(submit("k1", "b").await.0, 409);
    assert_ne!(submit("k2", "a").await.1["run_id"], first["run_id"]);
}

#[tokio::test]
async fn a_run_is_repeated_once_for_each_key() {
    let server = Server::open().await;
    let run = server.submit().await;
    let again = async |key: &str| {
        let url = format!("{}/api/v1/runs/{run}/rerun", server.url);
        let answer = server.http.post(url).header("Idempotency-Key", key).send().await;
        answer.expect("sent").json::<Value>().await.expect("JSON")["run_id"].clone()
    };
    let (first, same, other) = (again("k").await, again("k").await, again("l").await);
    assert_eq!(first, same);
    assert_ne!(first, other);
    let (_, view) = server.get(&format!("/runs/{}", first.as_str().expect("an id"))).await;
    assert_eq!(view["rerun_of"], json!(run));
}

#[tokio::test]
async fn the_list_of_runs_has_pages_that_miss_and_repeat_nothing() {
    let server = Server::open().await;
    let mut runs = Vec::new();
    for _ in 0..7 {
        runs.push(server.submit().await);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    runs.reverse();
    let (mut found, mut path) = (Vec::new(), "/runs?limit=3".to_owned());
    loop {
        let (status, page) = server.get(&path).await;
        assert_eq!(status, 200);
        let ids = page["runs"].as_array().expect("runs").iter();
        found.extend(ids.map(|run| run["run_id"].as_str().expect("an id").to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/runs?limit=3&before={next}");
    }
    assert_eq!(found, runs);
}

/// Reads server-sent events until the last.
async fn watch(server: &Server, run: &str) -> Vec<(String, Value)> {
    let url = format!("{}/api/v1/runs/{run}/events", server.url);
    let answer = server.http.get(url).send().await.expect("a stream");
    let mut pieces = answer.bytes_stream();
    let mut text = String::new();
    while let Some(piece) = pieces.next().await {
        text.push_str(std::str::from_utf8(&piece.expect("bytes")).expect("text"));
    }
    let events = text.split("\n\n").filter(|event| event.contains("data:"));
    let part = |event: &str, name: &str| {
        let line = event.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    events
        .map(|event| {
            let data = serde_json::from_str(&part(event, "data:")).expect("JSON");
            (part(event, "event:"), data)
        })
        .collect()
}

#[tokio::test]
async fn who_watches_a_run_sees_it_to_its_end() {
    let server = Server::open().await;
    let run = server.submit().await;
    let working = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let granted = server.take("runner_a").await;
        tokio::time::sleep(Duration::from_millis(1_300)).await;
        server.complete(&granted, "runner_a").await;
    };
    let watching = tokio::time::timeout(Duration::from_secs(20), watch(&server, &run));
    let (events, ()) = tokio::join!(watching, working);
    let events = events.expect("the stream ends with the run");
    let states: Vec<_> =
        events.iter().map(|(_, run)| run["jobs"][0]["state"].as_str().expect("a state")).collect();
    assert_eq!(states.first(), Some(&"QUEUED"));
    assert!(states.contains(&"STARTING"), "{states:?}");
    assert_eq!(states.last(), Some(&"SUCCEEDED"));
    let last = events.last().expect("an event");
    assert_eq!((last.0.as_str(), &last.1["status"]), ("end", &json!("SUCCEEDED")));
}

/// One of them looks for all: each sees the end, and nothing that was before what it has seen.
#[tokio::test]
async fn many_who_watch_a_run_see_it_to_its_end_in_order() {
    let server = Server::open().await;
    let run = server.submit().await;
    let working = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let granted = server.take("runner_a").await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        server.complete(&granted, "runner_a").await;
    };
    let watching = futures::future::join_all((0..20).map(async |n| {
        tokio::time::sleep(Duration::from_millis(5 * n)).await;
        watch(&server, &run).await
    }));
    let watching = tokio::time::timeout(Duration::from_secs(20), watching);
    let (watched, ()) = tokio::join!(watching, working);
    for events in watched.expect("the streams end with the run") {
        let states = events.iter().map(|(_, run)| run["jobs"][0]["state"].as_str());
        let order = ["QUEUED", "LEASED", "STARTING", "RUNNING", "SUCCEEDED"];
        let places = states.map(|state| order.iter().position(|at| Some(*at) == state));
        let places: Vec<_> = places.map(|place| place.expect("a state")).collect();
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(places.last(), Some(&4));
    }
}

#[tokio::test]
async fn a_log_comes_back_as_it_was_sent_and_resumes_after_a_break() {
    use data_encoding::BASE64;
    let server = Server::open().await;
    server.submit().await;
    let granted = server.take("runner_a").await;
    let chunk = |number: u64, offset: u64, data: &[u8]| {
        json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a", "number": number,
            "offset": offset, "data": BASE64.encode(data) })
    };
    let first = server.ok("/internal/log", chunk(0, 0, b"one\n")).await;
    assert_eq!((&first["accepted"], &first["next_number"]), (&json!(true), &json!(1)));
    // The answer was lost; then a piece was.
    assert_eq!(server.ok("/internal/log", chunk(0, 0, b"one\n")).await, first);
    let gap = server.ok("/internal/log", chunk(2, 8, b"three\n")).await;
    assert_eq!((&gap["accepted"], &gap["next_offset"]), (&json!(false), &json!(4)));
    server.ok("/internal/log", chunk(1, 4, b"\xfftwo\n")).await;
    let read = async |query: &str| {
        let job = granted["job_id"].as_str().expect("an id");
        let url = format!("{}/api/v1/jobs/{job}/log{query}", server.url);
        let answer = server.http.get(url).send().await.expect("sent");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
        answer.bytes().await.expect("bytes").to_vec()
    };
    assert_eq!(read("").await, b"one\n\xfftwo\n");
    assert_eq!(read("?offset=4").await, b"\xfftwo\n");
    assert_eq!(read("?offset=9").await, b"");
    let job = granted["job_id"].as_str().expect("an id");
    for (query, status, code) in [
        ("fence=2", 404, "NOT_FOUND"),
        ("fence=0", 404, "NOT_FOUND"),
        ("fence=x", 400, "BAD_QUERY"),
        ("offset=-1", 400, "BAD_QUERY"),
    ] {
        let (found, answer) = server.get(&format!("/jobs/{job}/log?{query}")).await;
        assert_eq!((found.as_u16(), &answer["error"]["code"]), (status, &json!(code)), "{query}");
    }
    let page = format!("{}/jobs/{job}/log?fence=", server.url);
    for (fence, status) in [(1, 200), (2, 404)] {
        let answer = server.http.get(format!("{page}{fence}")).send().await.expect("sent");
        assert_eq!(answer.status(), status);
    }
}

/// Faults 1 and 9, as the orchestrator sees them.
#[tokio::test]
async fn a_silent_runner_loses_its_lease_and_a_canceled_one_its_job() {
    let server = Server::with(|config| config.policy = hasty()).await;
    let run = server.submit().await;
    let lost = server.take("runner_a").await;
    let ask = json!({ "runner_id": "runner_b", "capabilities": [], "max_wait_seconds": 20 });
    let taken = server.ok("/internal/lease", ask).await;
    assert_eq!(taken["job_id"], lost["job_id"]);
    assert_eq!((&taken["attempt"], &taken["fence"]), (&json!(1), &json!(2)));
    let late =
        json!({ "lease_id": lost["lease_id"], "runner_id": "runner_a", "status": "SUCCEEDED" });
    let (status, stale) = server.post("/internal/complete", late).await;
    assert_eq!((status.as_u16(), &stale["reason"]), (409, &json!("SUPERSEDED")));
    let ack = json!({ "job_id": taken["job_id"], "lease_id": taken["lease_id"], "runner_id": "runner_b" });
    server.ok("/internal/ack-lease", ack).await;
    server.ok(&format!("/runs/{run}/cancel"), json!({})).await;
    let events = tokio::time::timeout(Duration::from_secs(20), watch(&server, &run)).await;
    let events = events.expect("forced at the deadline");
    let job = &events.last().expect("an end").1["jobs"][0];
    assert_eq!((&job["state"], &job["reason"]), (&json!("CANCELED"), &json!("CANCEL_FORCED")));
}

#[tokio::test]
async fn a_label_has_room_for_as_many_as_its_limit_says() {
    let server = Server::open().await;
    let (status, _) = server.send(Method::PUT, "/limits/deploy?limit=1", vec![]).await;
    assert_eq!(status, 200);
    let job = |name: &str| json!({ "name": name, "labels": ["deploy"], "job_spec": { "name": name, "steps": ["true"] } });
    server.ok("/runs", json!({ "jobs": [job("a"), job("b")] })).await;
    let first = server.take("runner_a").await;
    let ask = |wait: u32| json!({ "runner_id": "runner_b", "capabilities": [], "max_wait_seconds": wait });
    assert_eq!(server.ok("/internal/lease", ask(0)).await["type"], "NoWork");
    let waiting = server.ok("/internal/lease", ask(20));
    let ending = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.complete(&first, "runner_a").await;
    };
    let began = Instant::now();
    let (second, ()) = tokio::join!(waiting, ending);
    assert_eq!(second["type"], "LeaseGranted");
    assert!(began.elapsed() < Duration::from_secs(4), "woken when there was room");
}

#[tokio::test]
async fn it_ends_while_runners_wait_and_people_watch() {
    let server = Server::open().await;
    let run = server.submit().await;
    server.take("runner_a").await;
    let url = format!("{}/api/v1/runs/{run}/events", server.url);
    let watching = server.http.get(url).send().await.expect("a stream");
    let ask = json!({ "runner_id": "runner_b", "capabilities": [], "max_wait_seconds": 60 });
    let request = server.http.post(format!("{}/api/v1/internal/lease", server.url));
    let waiting = tokio::spawn(request.body(ask.to_string()).send());
    tokio::time::sleep(Duration::from_millis(200)).await;
    let began = Instant::now();
    server.stop().await;
    assert!(began.elapsed() < Duration::from_secs(5));
    let answer = waiting.await.expect("done").expect("an answer").json::<Value>().await;
    assert_eq!(answer.expect("JSON")["type"], "NoWork");
    assert!(watching.bytes().await.is_ok(), "the stream was ended, not cut");
}

/// Fault 10: whichever is first decides, and both are told the truth.
#[tokio::test]
async fn a_cancellation_that_races_a_result_ends_the_job_once() {
    let server = Server::open().await;
    for round in 0..30 {
        let run = server.submit().await;
        let granted = server.take("runner_a").await;
        let done = json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a", "status": "SUCCEEDED" });
        let path = format!("/runs/{run}/cancel");
        let canceling = server.post(&path, json!({}));
        let completing = server.post("/internal/complete", done);
        let (canceled, completed) = match round % 2 {
            0 => tokio::join!(canceling, completing),
            _ => {
                let (completed, canceled) = tokio::join!(completing, canceling);
                (canceled, completed)
            }
        };
        // A result inside the cancel deadline counts as it is.
        assert_eq!((canceled.0.as_u16(), completed.0.as_u16()), (200, 200));
        assert_eq!(server.get(&format!("/runs/{run}")).await.1["status"], "SUCCEEDED");
        let stop = json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a", "final_status": "CANCELED" });
        assert_eq!(server.post("/internal/cancel-ack", stop).await.0, 409);
        // One that nobody has begun never begins.
        let pending = server.submit().await;
        server.ok(&format!("/runs/{pending}/cancel"), json!({})).await;
        let ask = json!({ "runner_id": "runner_a", "capabilities": [] });
        assert_eq!(server.ok("/internal/lease", ask).await["type"], "NoWork");
    }
}

/// So a submitter that heard no answer can cancel what it may have submitted.
#[tokio::test]
async fn a_submitter_may_choose_the_runs_id() {
    let server = Server::open().await;
    let client = remuda_fleet::client::Client::new(endpoint(&server.url), None);
    let id = remuda_fleet::client::Client::new_run();
    let order = |name: &str| {
        let job = json!({ "name": name, "job_spec": { "name": "a", "steps": ["true"] } });
        let text = json!({ "jobs": [job] }).to_string();
        remuda_fleet::message::decode(text.as_bytes()).expect("a run")
    };
    client.submit_as(&id, &order("a")).await.expect("taken");
    client.submit_as(&id, &order("b")).await.expect("what was taken before stands");
    let view = client.run(&id).await.expect("a run");
    assert_eq!((view.jobs.len(), view.jobs[0].name.as_str()), (1, "a"));
    client.cancel(&id).await.expect("canceled");
}

/// A view of such a run was a hundred megabytes for each who looked, and more than any client reads.
#[tokio::test]
async fn a_large_run_is_shown_in_pages_without_what_its_jobs_left_behind() {
    const JOBS: usize = 300;
    let server = Server::open().await;
    let job = |n: usize| {
        let name = format!("job-{n}");
        json!({ "name": name, "job_spec": { "name": name, "steps": ["true"] } })
    };
    let jobs: Vec<Value> = (0..JOBS).map(job).collect();
    let run = server.ok("/runs", json!({ "jobs": jobs })).await;
    let id = RunId::new(run["run_id"].as_str().expect("an id")).expect("an id");
    let artifact = json!({ "type": "log", "uri": "x".repeat(2_000) });
    let artifacts = vec![artifact; 255];
    for _ in 0..40 {
        let granted = server.take("runner_a").await;
        let done = json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a",
            "status": "SUCCEEDED", "artifacts": artifacts, "summary": "s".repeat(4_000) });
        server.ok("/internal/complete", done).await;
    }
    let url = format!("{}/api/v1/runs/{id}", server.url);
    let bytes = server.http.get(&url).send().await.expect("an answer").bytes().await.expect("all");
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    let page: RunView = serde_json::from_slice(&bytes).expect("a run");
    let next = page.next.expect("more jobs");
    assert!(page.jobs.len() == next && next < JOBS && page.jobs[0].artifacts.is_empty());
    let client = Client::new(endpoint(&server.url), None);
    let whole = client.run(&id).await.expect("a run");
    let names: Vec<String> = whole.jobs.iter().map(|job| job.name.clone()).collect();
    assert!((0..JOBS).map(|n| format!("job-{n}")).eq(names) && whole.next.is_none());
    let alone = client.job(&whole.jobs[0].job_id).await.expect("a job");
    assert_eq!(alone.artifacts.len(), 255);
    // Watchers also see changes of jobs on the last page.
    let mut views = std::pin::pin!(client.watch(&id).await.expect("a stream"));
    let first = views.next().await.expect("a view").expect("a run");
    assert_eq!(first.jobs.len(), JOBS);
    let last = &whole.jobs[JOBS - 1].job_id;
    client.cancel_job(last).await.expect("canceled");
    loop {
        let view = views.next().await.expect("a view").expect("a run");
        if view.jobs[JOBS - 1].state == AttemptState::Canceled {
            break;
        }
    }
    let text = server.http.get(format!("{}/runs/{id}", server.url)).send().await.expect("a page");
    assert!(text.text().await.expect("text").contains("?from="));
}
