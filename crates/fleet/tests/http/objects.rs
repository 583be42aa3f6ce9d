//! Objects: written once, under the lease, or not at all.

use crate::http::server::{Server, hasty};
use remuda_fleet::auth::sha256_hex;
use serde_json::{Value, json};
use std::time::Duration;

const RUNNER: &str = "runner_a";

async fn grant(server: &Server, granted: &Value, name: &str, bytes: usize) -> Value {
    let ask = json!({ "lease_id": granted["lease_id"], "runner_id": RUNNER, "name": name, "bytes": bytes });
    server.ok("/internal/upload", ask).await
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// Sends an object under a grant; the status and the code of the answer.
async fn put(server: &Server, upload: &Value, path: &str, body: &'static [u8]) -> (u16, String) {
    let answer = server
        .http
        .put(format!("{}/api/v1/internal/objects/{path}", server.url))
        .header("remuda-lease", text(&upload["lease_id"]))
        .header("remuda-runner", RUNNER)
        .header("remuda-grant", text(&upload["grant"]))
        .header("remuda-content-sha256", sha256_hex(body))
        .body(body);
    let answer = answer.send().await.expect("an answer");
    let status = answer.status().as_u16();
    let value: Value = answer.json().await.unwrap_or(Value::Null);
    let code = value["error"]["code"].as_str().or(value["reason"].as_str());
    (status, code.unwrap_or_default().to_owned())
}

#[tokio::test]
async fn an_object_is_kept_under_attempt_and_fence_and_never_changes() {
    let server = Server::open().await;
    server.submit().await;
    let granted = server.take(RUNNER).await;
    let upload = grant(&server, &granted, "out/a.txt", 5).await;
    let (run, job) = (text(&granted["run_id"]), text(&granted["job_id"]));
    let path = format!("runs/{run}/jobs/{job}/1-1/out/a.txt");
    assert_eq!(upload["path"], json!(path));
    assert_eq!(put(&server, &upload, &path, b"hello").await.0, 201);
    assert_eq!(put(&server, &upload, &path, b"hello").await.0, 201, "its answer was lost");
    assert_eq!(put(&server, &upload, &path, b"hallo").await, (409, "OBJECT_EXISTS".to_owned()));
    let url = format!("{}/api/v1/objects/{path}", server.url);
    let read = server.http.get(&url).send().await.expect("an answer");
    assert_eq!(read.bytes().await.expect("bytes"), "hello");
}

#[tokio::test]
async fn a_grant_is_for_what_it_says() {
    let server = Server::open().await;
    server.submit().await;
    let granted = server.take(RUNNER).await;
    let upload = grant(&server, &granted, "a", 5).await;
    let path = text(&upload["path"]).to_owned();
    let other = path.replace("1-1/a", "1-1/b");
    assert_eq!(put(&server, &upload, &other, b"hello").await, (403, "BAD_GRANT".to_owned()));
    assert_eq!(put(&server, &upload, &path, b"hello!").await, (413, "WRONG_SIZE".to_owned()));
    assert_eq!(put(&server, &upload, &path, b"hell").await, (413, "WRONG_SIZE".to_owned()));
    for name in ["../../x", "/x", "a/../b", ""] {
        let ask = json!({ "lease_id": granted["lease_id"], "runner_id": RUNNER, "name": name, "bytes": 1 });
        assert_eq!(server.post("/internal/upload", ask).await.0, 422, "{name}");
    }
    assert_eq!(server.get("/objects/..%2f..%2faudit.jsonl").await.0, 422);
}

/// What is on its way is nobody's yet, and whatever else is in the folder is its owner's.
#[tokio::test]
async fn only_what_runs_left_behind_is_read_from_the_folder() {
    let server = Server::open().await;
    let folder = server.folder.join("objects");
    for part in [".incoming", "runs/run_a"] {
        std::fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    for (path, status) in [
        ("runs/run_a/a", 200),
        ("a", 404),
        (".incoming/a", 404),
        ("runs", 404),
        ("runs/run_a", 404),
    ] {
        if !folder.join(path).exists() {
            std::fs::write(folder.join(path), "bytes").expect("a file");
        }
        assert_eq!(server.get(&format!("/objects/{path}")).await.0, status, "{path}");
    }
}

/// Fault 9: several may share a database, and one may be restarted between a grant and its bytes.
#[tokio::test]
async fn a_grant_that_another_orchestrator_sealed_is_good_for_what_was_asked_for_last() {
    let server = Server::open().await;
    server.submit().await;
    let granted = server.take(RUNNER).await;
    let (first, mut last) = (grant(&server, &granted, "a", 5).await, Value::Null);
    // Its answers were lost.
    for _ in 0..3 {
        last = grant(&server, &granted, "b", 5).await;
    }
    let elsewhere = |upload: &Value, bytes: &str| {
        let mut upload = upload.clone();
        upload["grant"] = json!(format!("{bytes}-{}", "0".repeat(64)));
        upload
    };
    let (a, b) = (text(&first["path"]).to_owned(), text(&last["path"]).to_owned());
    let bad = (403, "BAD_GRANT".to_owned());
    assert_eq!(put(&server, &elsewhere(&last, "6"), &b, b"hello!").await, bad);
    assert_eq!(put(&server, &elsewhere(&last, "5"), &b, b"hello").await.0, 201);
    assert_eq!(put(&server, &elsewhere(&first, "5"), &a, b"hello").await, bad, "it is asked again");
    assert_eq!(put(&server, &first, &a, b"hello").await.0, 201, "its own it knows");
}

/// Fault 2, the orchestrator's half: the lease ends between the grant and the bytes, or while they come.
#[tokio::test]
async fn a_runner_that_lost_its_lease_leaves_nothing() {
    let server = Server::with(|config| config.policy = hasty()).await;
    server.submit().await;
    let granted = server.take(RUNNER).await;
    let upload = grant(&server, &granted, "a", 5).await;
    let path = text(&upload["path"]).to_owned();
    // Slowly, so that the lease ends before the last byte.
    let pieces = futures::stream::unfold(0, |n| async move {
        if n == 5 {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(900)).await;
        Some((Ok::<_, std::io::Error>(&b"hello"[n..=n]), n + 1))
    });
    let slow = server
        .http
        .put(format!("{}/api/v1/internal/objects/{path}", server.url))
        .header("remuda-lease", text(&upload["lease_id"]))
        .header("remuda-runner", RUNNER)
        .header("remuda-grant", text(&upload["grant"]))
        .header("remuda-content-sha256", sha256_hex(b"hello"))
        .body(reqwest::Body::wrap_stream(pieces));
    let answer = slow.send().await.expect("an answer");
    assert_eq!(answer.status(), 409);
    assert_eq!(answer.json::<Value>().await.expect("JSON")["type"], "StaleLease");
    assert_eq!(put(&server, &upload, &path, b"hello").await.0, 409);
    assert_eq!(server.get(&format!("/objects/{path}")).await.0, 404);
    let left = std::fs::read_dir(server.folder.join("objects/.incoming")).expect("a folder");
    assert_eq!(left.count(), 0);
}

/// Fault 13: one grant would be promised its room as often as it is shown.
#[tokio::test]
async fn an_object_is_sent_once_at_a_time() {
    let server = Server::with(|config| config.objects_bytes_max = 20).await;
    server.submit().await;
    let granted = server.take(RUNNER).await;
    let upload = grant(&server, &granted, "a", 5).await;
    let path = text(&upload["path"]).to_owned();
    let (go, gate) = tokio::sync::oneshot::channel::<()>();
    let (begun, began) = tokio::sync::oneshot::channel::<()>();
    let pieces = futures::stream::unfold((0, Some(gate), Some(begun)), |state| async move {
        match state {
            (0, gate, begun) => Some((Ok::<_, std::io::Error>("he"), (1, gate, begun))),
            (1, Some(gate), Some(begun)) => {
                let _ = begun.send(());
                let _ = gate.await;
                Some((Ok("llo"), (2, None, None)))
            }
            _ => None,
        }
    });
    let slow = server
        .http
        .put(format!("{}/api/v1/internal/objects/{path}", server.url))
        .header("remuda-lease", text(&upload["lease_id"]))
        .header("remuda-runner", RUNNER)
        .header("remuda-grant", text(&upload["grant"]))
        .header("remuda-content-sha256", sha256_hex(b"hello"))
        .body(reqwest::Body::wrap_stream(pieces));
    let slow = tokio::spawn(slow.send());
    began.await.expect("it has begun");
    // Its head may be on its way: until it is there, this one may be the first.
    let other = (429, "UPLOAD_UNDER_WAY".to_owned());
    let used = async || {
        let metrics = server.http.get(format!("{}/metrics", server.url)).send().await;
        metrics.expect("sent").text().await.expect("text")
    };
    while !used().await.contains("\nfleet_objects_bytes 5\n") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(put(&server, &upload, &path, b"hello").await, other);
    go.send(()).expect("it waits");
    assert_eq!(slow.await.expect("sent").expect("an answer").status(), 201);
    assert_eq!(put(&server, &upload, &path, b"hello").await.0, 201, "the same again");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_before_its_first_byte_and_room_comes_back_with_time() {
    let server = Server::with(|config| {
        config.objects_bytes_max = 8;
        // Somebody else's: nobody may have all of it alone.
        let others = config.objects.join("runs/other");
        std::fs::create_dir_all(&others).expect("a folder");
        std::fs::write(others.join("x"), "abc").expect("a file");
        config.keep_seconds = 0;
        config.sweep_every = Duration::from_millis(50);
    })
    .await;
    let run = server.submit().await;
    let first = server.take(RUNNER).await;
    let upload = grant(&server, &first, "a", 5).await;
    assert_eq!(put(&server, &upload, text(&upload["path"]), b"hello").await.0, 201);
    let upload = grant(&server, &first, "b", 1).await;
    let path = text(&upload["path"]).to_owned();
    assert_eq!(put(&server, &upload, &path, b"w").await, (507, "OBJECTS_FULL".to_owned()));
    assert_eq!(server.get(&format!("/objects/{path}")).await.0, 404);
    let metrics = server.http.get(format!("{}/metrics", server.url)).send().await.expect("sent");
    let metrics = metrics.text().await.expect("text");
    assert!(metrics.contains("\nfleet_objects_bytes 8\n"), "{metrics}");
    // The run ends, and is kept for no time: its objects go, and only then is there room.
    server.complete(&first, RUNNER).await;
    while server.get(&format!("/runs/{run}")).await.0 != 404 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.submit().await;
    let second = server.take(RUNNER).await;
    let upload = grant(&server, &second, "b", 5).await;
    let path = text(&upload["path"]).to_owned();
    for _ in 0..1_000 {
        match put(&server, &upload, &path, b"world").await {
            (507, _) => tokio::time::sleep(Duration::from_millis(20)).await,
            other => return assert_eq!(other.0, 201),
        }
    }
    panic!("no room came back");
}

/// What was still to go when an orchestrator ended stayed for ever.
#[tokio::test]
async fn objects_of_forgotten_runs_go_after_a_restart_and_young_ones_stay() {
    let mut objects = std::path::PathBuf::new();
    let folder = &mut objects;
    let _server = Server::with(|config| {
        config.keep_seconds = 3_600;
        folder.clone_from(&config.objects);
        for (run, age) in [("run_old", 7_200), ("run_young", 60)] {
            let at = config.objects.join("runs").join(run);
            std::fs::create_dir_all(at.join("jobs")).expect("a folder");
            std::fs::write(at.join("jobs/x"), "x").expect("written");
            let then = std::time::SystemTime::now() - Duration::from_secs(age);
            std::fs::File::open(&at).expect("a folder").set_modified(then).expect("set");
        }
    })
    .await;
    let began = std::time::Instant::now();
    while objects.join("runs/run_old").exists() {
        assert!(began.elapsed() < Duration::from_secs(20), "it stays");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(objects.join("runs/run_young/jobs/x").exists());
}
