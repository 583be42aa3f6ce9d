//! Calls of tools, of servers that are addresses.

use crate::executors::file::TestFile;
use crate::executors::job::{text, work};
use crate::executors::server::{Request, Server, Step, answer, json, redirect};
use crate::executors::tools::{ABOUT, call, simple, texts, with};
use remuda_protocol::dispatcher::spec::DataFormat;
use remuda_protocol::verifier::excuse::Excuse;
use remuda_runner::executor::mcp::{Mcp, ServerConfig};
use remuda_runner::executor::{ExecuteError, excuse};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const KEY: &str = "sk-0123456789abcdef";

fn at(url: String, key_file: Option<&Path>) -> Mcp {
    with(ServerConfig {
        url: Some(url),
        api_key_file: key_file.map(Path::to_owned),
        tools: ["tool".to_owned()].into(),
        ..Default::default()
    })
}

/// How calls are answered.
type Calls = Box<dyn Fn(&Request) -> Vec<Step> + Send + Sync>;

/// What a request says.
fn said(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap_or_default()
}

fn method(request: &Request) -> String {
    said(request)["method"].as_str().unwrap_or(&request.method).to_owned()
}

/// A document that answers a request.
fn reply(request: &Request, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, said(request)["id"])
}

fn event(data: &str) -> Vec<u8> {
    format!("event: message\nid: 1\ndata: {data}\n\n").into_bytes()
}

fn stream(events: &[Vec<u8>]) -> Vec<Step> {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec();
    vec![Step::Send(head), Step::Send(events.concat())]
}

/// A server with a session, that answers calls as the test wants.
async fn serving(calls: impl Fn(&Request) -> Vec<Step> + Send + Sync + 'static) -> Server {
    listing(|request| json(&reply(request, r#"{"tools":[]}"#)), calls).await
}

/// The same, and that answers the question for its tools as the test wants.
async fn listing(
    lists: impl Fn(&Request) -> Vec<Step> + Send + Sync + 'static,
    calls: impl Fn(&Request) -> Vec<Step> + Send + Sync + 'static,
) -> Server {
    Server::start(move |request| match &method(request)[..] {
        "initialize" => {
            let headers = [("content-type", "application/json"), ("mcp-session-id", "session-7")];
            answer("200 OK", &headers, reply(request, ABOUT).as_bytes())
        }
        "notifications/initialized" => answer("202 Accepted", &[], b""),
        "tools/list" => lists(request),
        "tools/call" => calls(request),
        "DELETE" => answer("204 No Content", &[], b""),
        other => panic!("{other} is not asked for"),
    })
    .await
}

/// The requests of a kind.
fn seen(server: &Server, kind: &str) -> Vec<Request> {
    server.seen().into_iter().filter(|request| method(request) == kind).collect()
}

#[tokio::test]
async fn a_tool_is_called_in_a_session_of_its_own() {
    let key = TestFile::new("mcp.key", KEY);
    let server = serving(|request| json(&reply(request, &texts("hello")))).await;
    let mcp = at(server.url("/mcp?x=1"), Some(&key.0));
    let spec = call("server", "tool", r#"{"b": 1.50, "a": 9007199254740993}"#, DataFormat::Json);
    assert_eq!(text(mcp.execute(&work(&spec)).await), r#"{"text":"hello"}"#);
    let kinds: Vec<_> = server.seen().iter().map(method).collect();
    assert_eq!(kinds, ["initialize", "notifications/initialized", "tools/call", "DELETE"]);
    for request in server.seen() {
        assert_eq!(request.target, "/mcp?x=1");
        assert_eq!(request.header("authorization"), Some(&format!("Bearer {KEY}")[..]));
        if method(&request) != "initialize" {
            assert_eq!(request.header("mcp-session-id"), Some("session-7"));
            assert_eq!(request.header("mcp-protocol-version"), Some("2025-11-25"));
        }
    }
    let called = said(&seen(&server, "tools/call")[0]);
    assert_eq!(called["params"]["arguments"].to_string(), r#"{"a":9007199254740993,"b":1.5}"#);
}

#[tokio::test]
async fn an_answer_may_come_as_an_event() {
    let server = serving(|request| {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
        let answer = reply(request, &texts("hello"));
        stream(&[b"id: 0\ndata:\n\n".to_vec(), event(note), event(&answer)])
    })
    .await;
    let outcome = at(server.url("/"), None).execute(&work(&simple(DataFormat::Text))).await;
    assert_eq!(text(outcome), "hello");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = serving(|request| json(&reply(request, &texts("hello")))).await;
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let to = elsewhere.url("/");
        let first = Server::start(move |_| redirect(status, &to)).await;
        let outcome = at(first.url("/"), None).execute(&work(&simple(DataFormat::Json))).await;
        assert!(matches!(outcome, Err(ExecuteError::BadAnswer(_))), "{status} {outcome:?}");
        let to = elsewhere.url("/");
        let later = serving(move |_| redirect(status, &to)).await;
        let outcome = at(later.url("/"), None).execute(&work(&simple(DataFormat::Json))).await;
        assert!(matches!(outcome, Err(ExecuteError::BadAnswer(_))), "{status} {outcome:?}");
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_session_is_tried_again_and_a_call_is_not() {
    let mut spec = simple(DataFormat::Json);
    spec.bounds.max_retries = 2;
    let failing = Server::start(|_| answer("503 Busy", &[], b"")).await;
    let outcome = at(failing.url("/"), None).execute(&work(&spec)).await;
    assert!(matches!(outcome, Err(ExecuteError::Unreachable(_))), "{outcome:?}");
    assert_eq!(failing.connections(), 3);

    let denying = Server::start(|_| answer("401 Unauthorized", &[], b"")).await;
    let outcome = at(denying.url("/"), None).execute(&work(&spec)).await;
    assert!(matches!(outcome, Err(ExecuteError::Backend(_))), "{outcome:?}");
    assert_eq!(denying.connections(), 1);

    for steps in [
        answer("503 Busy", &[], b""),
        answer("404 Not Found", &[], b""),
        vec![],
        stream(&[]),
        stream(&[event("{}")]),
        json("{}"),
        json("nonsense"),
    ] {
        let server = serving(move |_| steps.clone()).await;
        let outcome = at(server.url("/"), None).execute(&work(&spec)).await;
        let Err(ExecuteError::BadAnswer(reason)) = outcome else { panic!("{outcome:?}") };
        assert!(reason.ends_with("is not repeated"), "{reason}");
        assert_eq!(seen(&server, "tools/call").len(), 1);
        assert_eq!(seen(&server, "initialize").len(), 1);
    }
}

#[tokio::test]
async fn a_call_that_is_not_let_in_is_the_operators() {
    for status in ["401 Unauthorized", "403 Forbidden", "407 Proxy"] {
        let denied = move |_: &Request| answer(status, &[], b"");
        let server = listing(denied, denied).await;
        let outcome = at(server.url("/"), None).execute(&work(&simple(DataFormat::Json))).await;
        assert!(matches!(outcome, Err(ExecuteError::Backend(_))), "{status}: {outcome:?}");
        assert_eq!(seen(&server, "tools/call").len(), 1);
    }
}

#[tokio::test]
async fn a_call_that_a_server_turns_down_while_it_lists_its_tools_is_the_jobs_fault() {
    for status in ["402 Payment Required", "403 Forbidden", "413 Too Large", "429 Slow down"] {
        let server = serving(move |_| answer(status, &[], b"")).await;
        let spec = simple(DataFormat::Json);
        let error = at(server.url("/"), None).execute(&work(&spec)).await.unwrap_err();
        assert_eq!(excuse::of(&spec, &error), Some(Excuse::Refused), "{status}: {error:?}");
        assert_eq!(seen(&server, "tools/call").len(), 1, "it is called once");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_left() {
    let silence = vec![Step::Repeat(vec![], Duration::from_secs(1))];
    let dribble = vec![
        Step::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec()),
        Step::Repeat(b": x\n\n".to_vec(), Duration::from_millis(20)),
    ];
    for steps in [silence, dribble] {
        let configured = |url| {
            with(ServerConfig {
                url: Some(url),
                tools: ["tool".to_owned()].into(),
                start_ms: 2_000,
                answer_ms: 300,
                ..Default::default()
            })
        };
        let mute = steps.clone();
        let mute = Server::start(move |_| mute.clone()).await;
        let outcome = configured(mute.url("/")).execute(&work(&simple(DataFormat::Json))).await;
        assert!(matches!(outcome, Err(ExecuteError::Unreachable(_))), "{outcome:?}");
        let deaf = serving(move |_| steps.clone()).await;
        let outcome = configured(deaf.url("/")).execute(&work(&simple(DataFormat::Json))).await;
        assert_eq!(outcome, Err(ExecuteError::TimedOut(Duration::from_millis(300))));
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_read() {
    let mut spec = simple(DataFormat::Text);
    spec.result_schema.max_return_bytes = 100;
    let wire = 256 * 1024 + 8 * 100;
    // What it said before counts as well: less than two thousand bytes.
    for (padding, fits) in [(wire - 2_000, true), (wire, false)] {
        let server =
            serving(move |request| json(&(reply(request, &texts("x")) + &" ".repeat(padding))));
        let server = server.await;
        let outcome = at(server.url("/"), None).execute(&work(&spec)).await;
        assert_eq!(outcome.is_ok(), fits, "{outcome:?}");
    }
    for (kind, piece) in [
        ("text/event-stream", ": nothing\n\n"),
        ("text/event-stream", "data:\n\n"),
        ("application/json", "   "),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n\r\n").into_bytes();
        let piece = piece.repeat(1_000).into_bytes();
        let steps = vec![Step::Send(head), Step::Repeat(piece, Duration::ZERO)];
        let first = steps.clone();
        let first = Server::start(move |_| first.clone()).await;
        let outcome = at(first.url("/"), None).execute(&work(&spec)).await;
        assert_eq!(outcome, Err(ExecuteError::TooLarge { limit: wire }), "{kind}");
        let later = serving(move |_| steps.clone()).await;
        let outcome = at(later.url("/"), None).execute(&work(&spec)).await;
        assert_eq!(outcome, Err(ExecuteError::TooLarge { limit: wire }), "{kind}");
    }
}

#[tokio::test]
async fn no_error_holds_the_key_or_the_address() {
    let key = TestFile::new("mcp-secret.key", KEY);
    let failing = format!(r#"{{"content":[{{"type":"text","text":"bad {KEY}"}}],"isError":true}}"#);
    let echo = KEY.to_owned();
    let cases: Vec<Calls> = vec![
        Box::new(move |request| json(&reply(request, &failing))),
        Box::new(|request| {
            let id = &said(request)["id"];
            json(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"{KEY}"}}}}"#
            ))
        }),
        Box::new(move |_| answer("401 Unauthorized", &[("x-key", &echo)], echo.as_bytes())),
        Box::new(|_| redirect("302 Found", &format!("/{KEY}"))),
    ];
    for calls in cases {
        let server = serving(calls).await;
        let mcp = at(server.url("/"), Some(&key.0));
        let error = mcp.execute(&work(&simple(DataFormat::Json))).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
        assert!(!error.to_string().contains("127.0.0.1"), "{error}");
    }
}
