//! Tokens, keys, signatures.

use crate::http::server::{Server, endpoint};
use remuda_fleet::auth::{
    Access, KeyPair, Scope, Signature, Signed, Token, TokenHash, random_hex, sha256_hex,
};
use remuda_fleet::client::Client;
use remuda_fleet::id::RunnerId;
use remuda_fleet::message::Label;
use remuda_fleet::time::Millis;
use remuda_fleet::view::LimitView;
use serde_json::{Value, json};

fn token(name: &str, scope: Scope) -> Token {
    Token::new(name, scope, TokenHash::of(&format!("secret-{name}")))
}

pub async fn guarded() -> Server {
    Server::with(|config| {
        config.access = Access(vec![
            token("viewer", Scope::Viewer),
            token("submitter", Scope::Submitter),
            token("other", Scope::Submitter),
            token("operator", Scope::Operator),
            token("enrol", Scope::Enrol),
        ]);
    })
    .await
}

/// A request with an authorization; the status, the code or type of the answer, the answer.
pub async fn send(
    server: &Server,
    method: &str,
    path: &str,
    authorization: Option<&str>,
    body: &Value,
) -> (u16, Value) {
    let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
    let request = server.http.request(method, format!("{}/api/v1{path}", server.url));
    let request = match authorization {
        Some(value) => request.header("authorization", value),
        None => request,
    };
    let answer = request.body(body.to_string()).send().await.expect("an answer");
    (answer.status().as_u16(), answer.json().await.unwrap_or(Value::Null))
}

pub fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["error"]["code"].as_str().unwrap_or("none"))
}

pub fn now() -> Millis {
    remuda_fleet::time::Clock::default().now()
}

pub fn sign(key: &KeyPair, path: &str, body: &Value, time: Millis) -> Signature {
    let (path, hash) = (format!("/api/v1{path}"), sha256_hex(body.to_string().as_bytes()));
    key.sign(time, random_hex::<16>(), Signed { method: "POST", path: &path, body: &hash })
}

pub async fn enrolled(server: &Server) -> KeyPair {
    let key = KeyPair::generate();
    let body = json!({ "key": key.public() });
    let answer = send(server, "POST", "/internal/enrol", Some("Bearer secret-enrol"), &body).await;
    assert_eq!(answer.0, 200, "{}", answer.1);
    assert_eq!(answer.1["key_id"], json!(key.id()));
    key
}

pub fn ask(key: &KeyPair) -> Value {
    json!({ "runner_id": RunnerId::of(&key.id(), "1").expect("an id"), "capabilities": [] })
}

#[tokio::test]
async fn each_token_does_what_its_scope_says_and_no_more() {
    let server = guarded().await;
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } });
    let run = json!({ "jobs": [job] });
    let none = json!({});
    for (who, look, submit, limit) in [
        (None, 401, 401, 401),
        (Some("Bearer nonsense"), 401, 401, 401),
        (Some("Bearer secret-enrol"), 403, 403, 403),
        (Some("Bearer secret-viewer"), 200, 403, 403),
        (Some("Bearer secret-submitter"), 200, 201, 403),
        (Some("Bearer secret-operator"), 200, 201, 200),
    ] {
        assert_eq!(send(&server, "GET", "/runs", who, &none).await.0, look, "{who:?} looks");
        assert_eq!(send(&server, "POST", "/runs", who, &run).await.0, submit, "{who:?} submits");
        let limited = send(&server, "PUT", "/limits/x?limit=1", who, &none).await.0;
        assert_eq!(limited, limit, "{who:?} limits");
        let leased = send(&server, "POST", "/internal/lease", who, &none).await;
        assert_eq!(code(&leased), (401, "UNAUTHORIZED"), "{who:?} is no worker");
    }
}

#[tokio::test]
async fn a_worker_is_let_in_by_a_token_and_then_by_its_key() {
    let server = guarded().await;
    let stranger = KeyPair::generate();
    let body = ask(&stranger);
    let path = "/internal/lease";
    let signed = sign(&stranger, path, &body, now()).header();
    let unknown = send(&server, "POST", path, Some(&signed), &body).await;
    assert_eq!(code(&unknown), (401, "UNKNOWN_KEY"));
    let body = json!({ "key": stranger.public() });
    for who in [None, Some("Bearer secret-operator"), Some("Bearer secret-viewer")] {
        let refused = send(&server, "POST", "/internal/enrol", who, &body).await.0;
        assert!(refused == 401 || refused == 403, "{who:?}: {refused}");
    }
    let key = enrolled(&server).await;
    let body = ask(&key);
    let signed = sign(&key, path, &body, now()).header();
    assert_eq!(send(&server, "POST", path, Some(&signed), &body).await.1["type"], "NoWork");
}

#[tokio::test]
async fn a_signature_is_for_one_request_and_counts_once() {
    let server = guarded().await;
    let key = enrolled(&server).await;
    let (body, path) = (ask(&key), "/internal/lease");
    let signed = sign(&key, path, &body, now()).header();
    assert_eq!(send(&server, "POST", path, Some(&signed), &body).await.0, 200);
    let replayed = send(&server, "POST", path, Some(&signed), &body).await;
    assert_eq!(code(&replayed), (401, "REPLAYED"));
    let mut other = body.clone();
    other["max_wait_seconds"] = json!(1);
    let signed = sign(&key, path, &body, now()).header();
    let changed = send(&server, "POST", path, Some(&signed), &other).await;
    assert_eq!(code(&changed), (401, "BAD_SIGNATURE"));
}

/// Fault 8, the half that signatures bring with them.
#[tokio::test]
async fn a_clock_that_is_off_is_told_the_time() {
    let server = guarded().await;
    let key = enrolled(&server).await;
    let (body, path) = (ask(&key), "/internal/lease");
    let signed = sign(&key, path, &body, Millis(now().0 - 3_600_000)).header();
    let request = server.http.post(format!("{}/api/v1{path}", server.url));
    let request = request.header("authorization", signed).body(body.to_string());
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 401);
    let time = answer.headers()["remuda-time"].to_str().expect("text").parse().expect("a number");
    let signed = sign(&key, path, &body, Millis(time)).header();
    assert_eq!(send(&server, "POST", path, Some(&signed), &body).await.0, 200);
}

#[tokio::test]
async fn a_lease_is_bound_to_the_key_of_its_machine() {
    let server = guarded().await;
    let (key, thief) = (enrolled(&server).await, enrolled(&server).await);
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } });
    let submitter = Some("Bearer secret-submitter");
    send(&server, "POST", "/runs", submitter, &json!({ "jobs": [job] })).await;
    let (body, path) = (ask(&key), "/internal/lease");
    let signed = sign(&key, path, &body, now()).header();
    let granted = send(&server, "POST", path, Some(&signed), &body).await.1;
    assert_eq!(granted["type"], "LeaseGranted");
    let path = "/internal/ack-lease";
    for (runner, expected) in [
        // It speaks for a runner that is not its own; then for its own, whose lease it is not.
        (body["runner_id"].clone(), (403, "WRONG_RUNNER")),
        (ask(&thief)["runner_id"].clone(), (403, "WRONG_RUNNER")),
    ] {
        let ack = json!({ "job_id": granted["job_id"], "lease_id": granted["lease_id"], "runner_id": runner });
        let signed = sign(&thief, path, &ack, now()).header();
        assert_eq!(code(&send(&server, "POST", path, Some(&signed), &ack).await), expected);
    }
}

#[tokio::test]
async fn a_key_that_was_expelled_stays_out() {
    let server = guarded().await;
    let key = enrolled(&server).await;
    let (body, path) = (ask(&key), "/internal/lease");
    let signed = sign(&key, path, &body, now()).header();
    assert_eq!(send(&server, "POST", path, Some(&signed), &body).await.0, 200);
    let expel = format!("/workers/{}", key.id());
    let operator = Some("Bearer secret-operator");
    assert_eq!(send(&server, "DELETE", &expel, operator, &json!({})).await.0, 200);
    let signed = sign(&key, path, &body, now()).header();
    let refused = send(&server, "POST", path, Some(&signed), &body).await;
    assert_eq!(code(&refused), (403, "EXPELLED"));
    let again = json!({ "key": key.public() });
    let again = send(&server, "POST", "/internal/enrol", Some("Bearer secret-enrol"), &again).await;
    assert_eq!(code(&again), (403, "EXPELLED"));
}

#[tokio::test]
async fn machines_and_limits_can_be_seen_and_what_is_done_to_them_is_written_down() {
    let server = guarded().await;
    let key = enrolled(&server).await;
    let viewer = Client::new(endpoint(&server.url), Some("secret-viewer".to_owned()));
    let operator = Client::new(endpoint(&server.url), Some("secret-operator".to_owned()));
    let machines = viewer.machines().await.expect("a list");
    let seen: Vec<_> = machines.machines.iter().map(|it| (&it.key_id, it.expelled_at)).collect();
    assert_eq!((seen, machines.more), (vec![(&key.id(), None)], false));
    assert!(viewer.limits().await.expect("a list").limits.is_empty());
    // A label may have in it what means something in a path.
    let label = Label::new("deploy/a?b#c%d:1").expect("a label");
    viewer.set_limit(&label, Some(1)).await.expect_err("a viewer only looks");
    operator.set_limit(&label, Some(1)).await.expect("set");
    let seen = viewer.limits().await.expect("a list").limits;
    assert_eq!(seen, [LimitView { label: label.clone(), limit: Some(1), running: 0 }]);
    operator.set_limit(&label, None).await.expect("cleared");
    assert!(viewer.limits().await.expect("a list").limits.is_empty(), "nothing is known of it");
    viewer.expel(&key.id()).await.expect_err("a viewer only looks");
    operator.expel(&key.id()).await.expect("expelled");
    let machines = viewer.machines().await.expect("a list").machines;
    assert!(machines[0].expelled_at.is_some(), "{machines:?}");
    let text = std::fs::read_to_string(server.folder.join("audit.jsonl")).expect("a log");
    for done in ["limit", "expel"] {
        let count = |outcome: &str| {
            let line = format!("\"action\":\"{done}\"");
            text.lines().filter(|it| it.contains(&line) && it.contains(outcome)).count()
        };
        assert_eq!(count("FORBIDDEN"), 1, "{text}");
        assert!(count("\"ok\"") >= 1, "{text}");
    }
}

#[tokio::test]
async fn who_did_what_is_written_down() {
    let server = guarded().await;
    let key = enrolled(&server).await;
    send(&server, "POST", "/runs", Some("Bearer secret-viewer"), &json!({})).await;
    send(&server, "POST", "/runs/run_x/cancel", Some("Bearer secret-submitter"), &json!({})).await;
    let text = std::fs::read_to_string(server.folder.join("audit.jsonl")).expect("a log");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| ["who", "action", "of", "outcome"].map(|f| line[f].as_str().expect("text")))
        .collect();
    let id = key.id();
    let expected = [
        ["enrol", "enrol", id.as_str(), "ok"],
        ["viewer", "submit", "", "FORBIDDEN"],
        ["submitter", "cancel", "run_x", "UNKNOWN_RUN"],
    ];
    assert_eq!(told, expected);
    assert!(!text.contains("secret-"), "no token is in the log");
}

/// Fault 23: who sends one thing again and again does not push others' lines out of the log.
#[tokio::test]
async fn a_submission_that_is_sent_again_has_one_line() {
    let server = guarded().await;
    let client = Client::new(endpoint(&server.url), Some("secret-submitter".to_owned()));
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } });
    let run = serde_json::from_value(json!({ "jobs": [job] })).expect("a run");
    let first = client.submit(&run, Some("k")).await.expect("submitted");
    for _ in 0..5 {
        let again = client.submit(&run, Some("k")).await.expect("submitted");
        assert!(again.before && again.run_id == first.run_id);
    }
    let text = std::fs::read_to_string(server.folder.join("audit.jsonl")).expect("a log");
    assert_eq!(text.lines().filter(|line| line.contains("\"submit\"")).count(), 1, "{text}");
}

#[tokio::test]
async fn without_tokens_it_serves_this_machine_only() {
    let folder = crate::http::server::folder();
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.expect("a socket");
    let config = remuda_fleet::orchestrator::Config::in_folder(&folder);
    let refused = remuda_fleet::orchestrator::serve(listener, config, async {}).await;
    assert!(matches!(refused, Err(remuda_fleet::orchestrator::ServeError::Open)), "{refused:?}");
    std::fs::remove_dir_all(folder).expect("removed");
}

/// A page that a browser on the machine shows, from anywhere.
#[tokio::test]
async fn without_tokens_pages_of_others_can_do_nothing() {
    let server = Server::open().await;
    let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } });
    let run = json!({ "jobs": [job] }).to_string();
    let host = server.url.trim_start_matches("http://").to_owned();
    let port = host.split_once(':').expect("a port").1.to_owned();
    let (json, plain) = ("application/json", "text/plain;charset=UTF-8");
    for (host, origin, kind, expected) in [
        (host.clone(), None, json, 201),
        (format!("localhost:{port}"), None, json, 201),
        (host.clone(), Some(server.url.clone()), json, 201),
        (host.clone(), None, plain, 415),
        (host.clone(), Some("http://evil.example".to_owned()), json, 403),
        (host.clone(), Some("null".to_owned()), json, 403),
        (format!("evil.example:{port}"), None, json, 403),
        (format!("evil.example:{port}"), Some(format!("http://evil.example:{port}")), json, 403),
    ] {
        let request = reqwest::Client::new().post(format!("{}/api/v1/runs", server.url));
        let request = request.header("host", &host).header("content-type", kind);
        let request = match &origin {
            Some(origin) => request.header("origin", origin),
            None => request,
        };
        let status = request.body(run.clone()).send().await.expect("an answer").status();
        assert_eq!(status.as_u16(), expected, "{host} {origin:?} {kind}");
    }
    let request = server.http.get(format!("{}/api/v1/runs", server.url));
    let looked = request.header("host", "evil.example").send().await.expect("an answer");
    assert_eq!(looked.status(), 403, "nor can they look");
}

#[tokio::test]
async fn a_machine_that_is_expelled_while_it_waits_gets_nothing() {
    let server = guarded().await;
    let key = enrolled(&server).await;
    let (mut body, path) = (ask(&key), "/internal/lease");
    body["max_wait_seconds"] = json!(20);
    let signed = sign(&key, path, &body, now()).header();
    let waiting = send(&server, "POST", path, Some(&signed), &body);
    let then = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let expel = format!("/workers/{}", key.id());
        let operator = Some("Bearer secret-operator");
        assert_eq!(send(&server, "DELETE", &expel, operator, &json!({})).await.0, 200);
        let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } });
        send(&server, "POST", "/runs", operator, &json!({ "jobs": [job] })).await
    };
    let (answer, (submitted, run)) = tokio::join!(waiting, then);
    assert_eq!(code(&answer), (403, "EXPELLED"), "{}", answer.1);
    assert_eq!(submitted, 201);
    let path = format!("/runs/{}", run["run_id"].as_str().expect("an id"));
    let view = send(&server, "GET", &path, Some("Bearer secret-viewer"), &json!({})).await.1;
    assert_eq!(view["jobs"][0]["state"], "QUEUED");
}

#[tokio::test]
async fn what_one_submitter_has_had_done_is_not_anothers() {
    let server = guarded().await;
    let key = enrolled(&server).await;
    let call = json!({ "kind": "k", "input": remuda_fleet::message::Data::new(b"in") });
    let spec = json!({ "name": "a", "steps": [], "call": call });
    let run = json!({ "jobs": [{ "name": "a", "job_spec": spec }] });
    let submitter = Some("Bearer secret-submitter");
    let run = send(&server, "POST", "/runs", submitter, &run).await.1["run_id"].clone();
    let run = run.as_str().expect("an id").to_owned();
    let (body, path) = (ask(&key), "/internal/lease");
    let signed = sign(&key, path, &body, now()).header();
    let granted = send(&server, "POST", path, Some(&signed), &body).await.1;
    let lease = |mut more: Value| {
        more["lease_id"] = granted["lease_id"].clone();
        more["runner_id"] = body["runner_id"].clone();
        more
    };
    for (path, body) in [
        ("/internal/ack-lease", lease(json!({ "job_id": granted["job_id"] }))),
        ("/internal/complete", {
            let output = remuda_fleet::message::Data::new(b"secret so far");
            lease(json!({ "status": "SUCCEEDED", "output": output }))
        }),
    ] {
        let signed = sign(&key, path, &body, now()).header();
        let answer = send(&server, "POST", path, Some(&signed), &body).await;
        assert_eq!(answer.0, 200, "{}", answer.1);
    }
    let job = granted["job_id"].as_str().expect("an id");
    let output = format!("/jobs/{job}/output");
    for (who, expected) in [("viewer", 403), ("other", 403), ("submitter", 200), ("operator", 200)]
    {
        let who = format!("Bearer secret-{who}");
        let answer = send(&server, "GET", &output, Some(&who), &json!({})).await;
        assert_eq!(answer.0, expected, "{who}");
    }
    for path in
        [format!("/runs/{run}/cancel"), format!("/runs/{run}/rerun"), format!("/jobs/{job}/cancel")]
    {
        let other = send(&server, "POST", &path, Some("Bearer secret-other"), &json!({})).await;
        assert_eq!(code(&other), (403, "NOT_YOURS"), "{path}");
        for who in [submitter, Some("Bearer secret-operator")] {
            let own = send(&server, "POST", &path, who, &json!({})).await.0;
            assert!(own == 200 || own == 201, "{path}: {own}");
        }
    }
}

fn order(priority: i16, jobs: usize) -> Value {
    let job = |n: usize| {
        json!({ "name": format!("job-{n}"), "priority": priority,
        "job_spec": { "name": "a", "steps": ["true"] } })
    };
    json!({ "jobs": (0..jobs).map(job).collect::<Vec<_>>() })
}

#[tokio::test]
async fn a_submitter_cannot_put_its_jobs_before_those_of_all_others() {
    let server = guarded().await;
    for (who, priority, wanted) in [
        ("submitter", i16::MAX, (403, "PRIORITY_TOO_HIGH")),
        ("submitter", 1, (403, "PRIORITY_TOO_HIGH")),
        ("submitter", 0, (201, "none")),
        ("submitter", -7, (201, "none")),
        ("operator", i16::MAX, (201, "none")),
    ] {
        let bearer = format!("Bearer secret-{who}");
        let sent = send(&server, "POST", "/runs", Some(&bearer), &order(priority, 1)).await;
        assert_eq!(code(&sent), wanted, "{who} {priority}");
    }
}

#[tokio::test]
async fn a_token_has_no_more_workers_than_it_may_and_others_have_their_turn() {
    let server = Server::with(|config| {
        let greedy = Token { running_max: Some(2), ..token("greedy", Scope::Submitter) };
        let enrol = token("enrol", Scope::Enrol);
        config.access = Access(vec![greedy, token("other", Scope::Submitter), enrol]);
    })
    .await;
    let submit = async |who: &str, jobs| {
        let bearer = format!("Bearer secret-{who}");
        let (status, run) = send(&server, "POST", "/runs", Some(&bearer), &order(0, jobs)).await;
        assert_eq!(status, 201, "{run}");
        run["run_id"].clone()
    };
    let greedy = submit("greedy", 5).await;
    let other = submit("other", 1).await;
    let key = enrolled(&server).await;
    let mut runs = Vec::new();
    for n in 0..4 {
        let runner = RunnerId::of(&key.id(), &n.to_string()).expect("an id");
        let body = json!({ "runner_id": runner, "capabilities": [] });
        let signed = sign(&key, "/internal/lease", &body, now()).header();
        let granted = send(&server, "POST", "/internal/lease", Some(&signed), &body).await.1;
        runs.push(granted["run_id"].clone());
    }
    assert_eq!(runs, [greedy.clone(), greedy, other, Value::Null]);
    // Nobody takes another's part by its label.
    let mut theirs = order(0, 1);
    theirs["jobs"][0]["labels"] = json!(["token:greedy"]);
    let refused = send(&server, "POST", "/runs", Some("Bearer secret-other"), &theirs).await;
    assert_eq!(code(&refused), (422, "RESERVED_LABEL"));
}
