//! A bucket that takes connections and does not answer.

use super::server::{Server, endpoint, hasty};
use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, put};
use remuda_fleet::client::{Client, ClientError};
use remuda_fleet::http::Trust;
use remuda_fleet::id::RunId;
use remuda_fleet::message::{RunSubmission, decode};
use remuda_fleet::object::BucketConfig;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_secs(20);

/// What stores say of every object.
const ABOUT: [(&str, &str); 2] =
    [("etag", "\"1\""), ("last-modified", "Thu, 19 Nov 2026 12:00:00 GMT")];

struct Bucket {
    config: BucketConfig,
    /// How often somebody wanted a list.
    lists: Arc<AtomicU32>,
}

/// Takes objects, shows one for every name, and never lists any.
async fn bucket() -> Bucket {
    let [times, lists] = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
    let kept = move |_: HeaderMap| {
        // The first is there, and the second is told so.
        let status = match times.fetch_add(1, Ordering::SeqCst) {
            0 => StatusCode::OK,
            _ => StatusCode::PRECONDITION_FAILED,
        };
        std::future::ready((status, ABOUT))
    };
    let listed = lists.clone();
    let list = move || {
        listed.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<StatusCode>()
    };
    let object = put(kept).get(async || (ABOUT, "kept")).delete(async || StatusCode::NO_CONTENT);
    let router = Router::new()
        .route("/fleet", get(list.clone()))
        .route("/fleet/", get(list))
        .route("/fleet/{*name}", object);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let config = BucketConfig {
        endpoint,
        bucket: "fleet".to_owned(),
        region: "us-east-1".to_owned(),
        access_key: "name".to_owned(),
        secret_key: "key".to_owned(),
        prefix: String::new(),
        trust: Trust::default(),
    };
    Bucket { config, lists }
}

/// An orchestrator that keeps runs for a second.
async fn serve(bucket: &Bucket) -> Server {
    let config = bucket.config.clone();
    Server::with(|settings| {
        settings.policy = hasty();
        settings.keep_seconds = 1;
        settings.bucket = Some(config);
    })
    .await
}

fn order() -> RunSubmission {
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } });
    decode(json!({ "jobs": [job] }).to_string().as_bytes()).expect("a run")
}

/// Ends a job that leaves an object behind, and says whose it was.
async fn leave_an_object(server: &Server) -> RunId {
    let granted = server.take("runner_a").await;
    let ask = json!({ "lease_id": granted["lease_id"], "runner_id": "runner_a", "name": "a", "bytes": 0 });
    server.ok("/internal/upload", ask).await;
    server.complete(&granted, "runner_a").await;
    RunId::new(granted["run_id"].as_str().expect("an id")).expect("an id")
}

async fn forgotten(server: &Server, run: &RunId) {
    let began = Instant::now();
    while server.get(&format!("/runs/{run}")).await.0 == 200 {
        assert!(began.elapsed() < PATIENCE, "it is not forgotten");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn leases_end_whatever_a_bucket_does() {
    let bucket = bucket().await;
    let server = serve(&bucket).await;
    server.submit().await;
    let run = leave_an_object(&server).await;
    forgotten(&server, &run).await;
    // And one whose runner is gone.
    let run = server.submit().await;
    server.take("runner_b").await;
    let began = Instant::now();
    loop {
        let (_, view) = server.get(&format!("/runs/{run}")).await;
        if view["jobs"][0]["state"] == "QUEUED" {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{view}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Deleting the old run's objects would delete those of a new run with the same id. The refusal has its own code: the
/// submitter must not take it for an earlier acceptance and wait for the run's end.
#[tokio::test]
async fn an_id_is_refused_by_its_own_word_while_objects_of_an_earlier_run_are_to_go() {
    let bucket = bucket().await;
    let server = serve(&bucket).await;
    let (client, id) = (Client::new(endpoint(&server.url), None), Client::new_run());
    client.submit_as(&id, &order()).await.expect("taken");
    assert_eq!(leave_an_object(&server).await, id);
    forgotten(&server, &id).await;
    let busy = client.submit_as(&id, &order()).await;
    let busy = busy.expect_err("its objects are still there");
    assert!(matches!(&busy, ClientError::Refused { code, .. } if code == "RUN_ID_BUSY"), "{busy}");
    let url = format!("{}/api/v1/runs", server.url);
    let body = serde_json::to_string(&order()).expect("text");
    let sent = server.http.post(url).header("remuda-run-id", id.as_str()).body(body).send().await;
    let answer = sent.expect("an answer");
    assert_eq!(answer.status(), 409);
    let told = answer.json::<Value>().await.expect("JSON")["error"]["message"].to_string();
    assert!(told.contains("try again a little later, or choose another id"), "{told}");
}

#[tokio::test]
async fn a_run_that_left_nothing_is_forgotten_without_a_word_to_the_bucket() {
    let bucket = bucket().await;
    let server = serve(&bucket).await;
    let (client, id) = (Client::new(endpoint(&server.url), None), Client::new_run());
    client.submit_as(&id, &order()).await.expect("taken");
    let granted = server.take("runner_a").await;
    server.complete(&granted, "runner_a").await;
    forgotten(&server, &id).await;
    client.submit_as(&id, &order()).await.expect("its id is free at once");
    assert_eq!(client.run(&id).await.expect("a new run").jobs.len(), 1);
    assert_eq!(bucket.lists.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn objects_of_several_runs_are_removed_at_the_same_time() {
    let bucket = bucket().await;
    let server = serve(&bucket).await;
    for _ in 0..10 {
        server.submit().await;
        leave_an_object(&server).await;
    }
    let (began, lists) = (Instant::now(), || bucket.lists.load(Ordering::SeqCst));
    while lists() < 8 {
        assert!(began.elapsed() < PATIENCE, "{} lists", lists());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(lists(), 8, "the others wait");
}

/// A bucket may have other things of its owner.
#[tokio::test]
async fn only_what_runs_left_behind_is_read_from_a_bucket() {
    let bucket = bucket().await;
    let server = serve(&bucket).await;
    for (path, status) in
        [("runs/run_a/a", 200), ("backup.tar", 404), ("runs", 404), ("runsx/a", 404)]
    {
        assert_eq!(server.get(&format!("/objects/{path}")).await.0, status, "{path}");
    }
}
