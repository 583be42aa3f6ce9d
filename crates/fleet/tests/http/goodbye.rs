//! Runners that leave, and programs that ask what their token allows.

use crate::http::access::{ask, code, enrolled, guarded, now, send, sign};
use crate::http::server::endpoint;
use remuda_fleet::auth::{KeyPair, Scope};
use remuda_fleet::client::{Client, ClientError};
use remuda_fleet::id::RunnerId;
use serde_json::json;

#[tokio::test]
async fn a_runner_that_says_goodbye_is_gone_at_once_and_nobody_says_it_for_another() {
    let server = guarded().await;
    let (key, thief) = (enrolled(&server).await, enrolled(&server).await);
    let viewer = Client::new(endpoint(&server.url), Some("secret-viewer".to_owned()));
    let total = async || viewer.workers().await.expect("a list").total;
    let (body, path) = (ask(&key), "/internal/lease");
    let signed = sign(&key, path, &body, now()).header();
    assert_eq!(send(&server, "POST", path, Some(&signed), &body).await.0, 200);
    assert_eq!(total().await, 1);
    let (body, path) = (json!({ "runner_id": body["runner_id"] }), "/internal/leave");
    let signed = sign(&thief, path, &body, now()).header();
    let refused = send(&server, "POST", path, Some(&signed), &body).await;
    assert_eq!(code(&refused), (403, "WRONG_RUNNER"));
    for who in [None, Some("Bearer secret-operator")] {
        let refused = send(&server, "POST", path, who, &body).await;
        assert_eq!(code(&refused), (401, "UNAUTHORIZED"), "{who:?}");
    }
    let stranger = KeyPair::generate();
    let theirs = json!({ "runner_id": RunnerId::of(&stranger.id(), "1").expect("an id") });
    let signed = sign(&stranger, path, &theirs, now()).header();
    let refused = send(&server, "POST", path, Some(&signed), &theirs).await;
    assert_eq!(code(&refused), (401, "UNKNOWN_KEY"));
    assert_eq!(total().await, 1);
    // Twice, as when an answer is lost.
    for _ in 0..2 {
        let signed = sign(&key, path, &body, now()).header();
        let left = send(&server, "POST", path, Some(&signed), &body).await;
        assert_eq!((left.0, &left.1["type"]), (200, &json!("Left")), "{}", left.1);
        assert_eq!(total().await, 0);
    }
    let metrics = server.http.get(format!("{}/metrics", server.url));
    let metrics = metrics.bearer_auth("secret-viewer").send().await.expect("an answer");
    let metrics = metrics.text().await.expect("text");
    assert!(metrics.contains("\nfleet_runners_known 0\n"), "{metrics}");
    server.stop().await;
}

#[tokio::test]
async fn an_expelled_machines_runners_are_gone_at_once() {
    let server = guarded().await;
    let key = enrolled(&server).await;
    let (body, path) = (ask(&key), "/internal/lease");
    let signed = sign(&key, path, &body, now()).header();
    assert_eq!(send(&server, "POST", path, Some(&signed), &body).await.0, 200);
    let operator = Client::new(endpoint(&server.url), Some("secret-operator".to_owned()));
    assert_eq!(operator.workers().await.expect("a list").total, 1);
    operator.expel(&key.id()).await.expect("expelled");
    assert_eq!(operator.workers().await.expect("a list").total, 0);
    server.stop().await;
}

#[tokio::test]
async fn every_token_may_ask_what_it_allows() {
    let server = guarded().await;
    for (name, scope) in [
        ("viewer", Scope::Viewer),
        ("submitter", Scope::Submitter),
        ("operator", Scope::Operator),
        ("enrol", Scope::Enrol),
    ] {
        let client = Client::new(endpoint(&server.url), Some(format!("secret-{name}")));
        let token = client.token().await.expect("an answer");
        assert_eq!((token.name.as_str(), token.scope), (name, scope));
    }
    for token in [None, Some("secret-nobody".to_owned())] {
        let refused = Client::new(endpoint(&server.url), token).token().await;
        assert!(
            matches!(&refused, Err(ClientError::Refused { code, .. }) if code == "UNAUTHORIZED"),
            "{refused:?}"
        );
    }
    server.stop().await;
}
