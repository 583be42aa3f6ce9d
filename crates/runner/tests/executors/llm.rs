//! Questions to a model server that speaks the protocol; what it says is up to the test.

use crate::executors::file::TestFile;
use crate::executors::job::{Heard, assert_timed_out, job, text, work, work_for};
use crate::executors::server::{Request, Server, Step, answer, json};
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType, Message};
use remuda_protocol::verifier::excuse::Excuse;
use remuda_runner::executor::llm::{Llm, LlmConfig, ModelConfig};
use remuda_runner::executor::{ExecuteError, excuse};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const KEY: &str = "sk-0123456789abcdef";

fn question(messages: &[(&str, &str)], data_format: DataFormat) -> JobSpec {
    let message = |(role, content): &(&str, &str)| Message {
        role: role.to_string(),
        content: content.to_string(),
    };
    let job_type = JobType::Llm {
        model: "small".into(),
        messages: messages.iter().map(message).collect(),
        temperature_milli: 700,
        // All ones would be "any" for some servers.
        seed: u64::MAX,
    };
    job(job_type, data_format)
}

pub(crate) fn hello(data_format: DataFormat) -> JobSpec {
    question(&[("system", "Be brief."), ("user", "Capital of \"France\"?")], data_format)
}

pub(crate) fn asking(base_url: String, key_file: Option<&Path>) -> Llm {
    let model = ModelConfig {
        base_url,
        api_key_file: key_file.map(Path::to_owned),
        upstream_name: Some("upstream/small-1".into()),
        bytes_per_token: 2,
    };
    let models = [("small".to_owned(), model)].into();
    Llm::new(&LlmConfig { models, ca_file: None }).unwrap()
}

/// The head of a stream of events.
fn stream() -> Step {
    Step::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n".to_vec(),
    )
}

fn event(data: &str) -> Step {
    Step::Send(format!("data: {data}\n\n").into_bytes())
}

fn token(text: &str) -> Step {
    event(&format!(
        r#"{{"id":"x","choices":[{{"index":0,"delta":{{"content":{text:?}}},"logprobs":-0.12345678901234,"finish_reason":null}}]}}"#
    ))
}

fn end(reason: &str) -> Step {
    event(&format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#))
}

/// A stream that says some tokens and stops.
fn says(tokens: &[&str]) -> Vec<Step> {
    let mut steps =
        vec![stream(), event(r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#)];
    steps.extend(tokens.iter().map(|text| token(text)));
    steps.extend([
        end("stop"),
        event(r#"{"choices":[],"usage":{"total_tokens":9}}"#),
        event("[DONE]"),
    ]);
    steps
}

#[tokio::test]
async fn an_answer_is_put_together_from_its_stream() {
    let key = TestFile::new("stream.key", &format!("{KEY}\n"));
    let server = Server::start(|_| says(&["Par", "is", ", \n\"é\""])).await;
    let llm = asking(server.url("/v1/"), Some(&key.0));
    let heard = Heard::default();
    let spec = hello(DataFormat::Json);
    let result = text(llm.execute(&work_for(&spec, &heard)).await);
    assert_eq!(result, r#"{"content":"Paris, \n\"é\"","finish_reason":"stop","model":"small"}"#);
    assert_eq!(
        heard.reports(),
        [(1, "1 tokens".into()), (3, "2 tokens".into()), (4, "3 tokens".into())]
    );

    let seen = &server.seen()[0];
    assert_eq!((&seen.method[..], &seen.target[..]), ("POST", "/v1/chat/completions"));
    assert_eq!(seen.header("authorization"), Some(&format!("Bearer {KEY}")[..]));
    assert_eq!(
        String::from_utf8_lossy(&seen.body),
        r#"{"max_tokens":64,"messages":[{"content":"Be brief.","role":"system"},{"content":"Capital of \"France\"?","role":"user"}],"model":"upstream/small-1","seed":0,"stream":true,"temperature":0.7}"#
    );
    let result = llm.execute(&work(&hello(DataFormat::Text))).await;
    assert_eq!(text(result), "Paris, \n\"é\"");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let server = Server::start(|_| {
        json(r#"{"choices":[{"index":1,"message":{"content":"no"}},{"index":0,"message":{"role":"assistant","content":"Paris"},"finish_reason":"length"}],"usage":{"x":1.5e300}}"#)
    })
    .await;
    let result = asking(server.url(""), None).execute(&work(&hello(DataFormat::Json))).await;
    assert_eq!(text(result), r#"{"content":"Paris","finish_reason":"length","model":"small"}"#);
    assert_eq!(server.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn only_the_operators_models_are_asked() {
    let server = Server::start(|_| says(&["x"])).await;
    let mut spec = hello(DataFormat::Json);
    if let JobType::Llm { model, .. } = &mut spec.job_type {
        *model = "upstream/small-1".into();
    }
    let result = asking(server.url(""), None).execute(&work(&spec)).await;
    assert!(matches!(result, Err(ExecuteError::NotAllowed(_))), "{result:?}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_prompt_that_may_be_too_long_is_not_sent() {
    let server = Server::start(|_| says(&["x"])).await;
    let llm = asking(server.url(""), None);
    // Two bytes a token, and four tokens around each message: 2 + 4 and 9 + 4.
    let mut spec = question(&[("user", ""), ("user", "fourteen bytes")], DataFormat::Json);
    spec.bounds.max_input_tokens = 19;
    assert!(llm.execute(&work(&spec)).await.is_ok());
    spec.bounds.max_input_tokens = 18;
    let result = llm.execute(&work(&spec)).await;
    assert!(matches!(result, Err(ExecuteError::BadJob(_))), "{result:?}");
    let result = llm.execute(&work(&question(&[("tool", "x")], DataFormat::Json))).await;
    assert!(matches!(result, Err(ExecuteError::BadJob(_))), "{result:?}");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn what_fails_in_passing_is_asked_again() {
    let tries = AtomicUsize::new(0);
    let server = Server::start(move |_| match tries.fetch_add(1, Ordering::Relaxed) {
        0 => answer("503 Loading", &[], b""),
        1 => answer("429 Slow down", &[], b""),
        2 => vec![stream(), token("Par")],
        3 => vec![stream(), token("Par"), event(r#"{"error":{"message":"overloaded"}}"#)],
        _ => says(&["Paris"]),
    })
    .await;
    let mut spec = hello(DataFormat::Text);
    spec.bounds.max_retries = 4;
    let result = asking(server.url(""), None).execute(&work(&spec)).await;
    assert_eq!(text(result), "Paris");
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn a_conversation_that_a_server_fails_at_is_the_jobs_fault() {
    let roles = r#"{"error":{"message":"roles must alternate"}}"#;
    for steps in [
        answer("500 Internal Server Error", &[], roles.as_bytes()),
        json(roles),
        vec![stream(), event(roles)],
    ] {
        let server = Server::start(move |request| answers_plainly(request, &steps)).await;
        let mut spec = hello(DataFormat::Text);
        spec.bounds.max_retries = 1;
        let error = asking(server.url(""), None).execute(&work(&spec)).await.unwrap_err();
        assert_eq!(excuse::of(&spec, &error), Some(Excuse::Refused), "{error:?}");
        assert_eq!(server.connections(), 3, "it was tried twice, and then asked plainly");
    }
}

/// Fails at what jobs ask, and answers a plain question.
fn answers_plainly(request: &Request, fails: &[Step]) -> Vec<Step> {
    match String::from_utf8_lossy(&request.body).contains("Say yes.") {
        true => says(&["Yes"]),
        false => fails.to_vec(),
    }
}

/// Provider errors for a request that is too large, too expensive or against policy, and for a client
/// without permission.
const REFUSALS: [&str; 10] = [
    "400 Bad Request",
    "402 Payment Required",
    "403 Forbidden",
    "404 Not Found",
    "413 Too Large",
    "429 Slow down",
    "500 Oops",
    "502 Bad Gateway",
    "503 Loading",
    "504 Gateway Timeout",
];

#[tokio::test]
async fn a_job_that_a_provider_turns_down_is_excused_if_a_plain_question_is_answered() {
    for status in REFUSALS {
        let steps = answer(status, &[], b"");
        let server = Server::start(move |request| answers_plainly(request, &steps)).await;
        let spec = hello(DataFormat::Text);
        let error = asking(server.url(""), None).execute(&work(&spec)).await.unwrap_err();
        assert_eq!(excuse::of(&spec, &error), Some(Excuse::Refused), "{status}: {error:?}");
    }
}

#[tokio::test]
async fn a_provider_that_answers_no_plain_question_is_the_operators() {
    for status in REFUSALS.into_iter().chain(["401 Unauthorized", "407 Proxy"]) {
        let server = Server::start(move |_| answer(status, &[], b"")).await;
        let spec = hello(DataFormat::Text);
        let error = asking(server.url(""), None).execute(&work(&spec)).await.unwrap_err();
        assert_eq!(excuse::of(&spec, &error), None, "{status}: {error:?}");
    }
    let nobody = asking("http://127.0.0.1:9".to_owned(), None);
    let spec = hello(DataFormat::Text);
    let error = nobody.execute(&work(&spec)).await.unwrap_err();
    assert_eq!(excuse::of(&spec, &error), None, "{error:?}");
}

/// Otherwise a stranger's long generation and one bad request would stop a runner.
#[tokio::test]
async fn a_server_that_is_busy_is_no_proof_of_a_fault() {
    let server = Server::start(move |request| {
        match String::from_utf8_lossy(&request.body).contains("Say yes.") {
            true => answer("429 Slow down", &[], b""),
            false => answer("400 Bad Request", &[], b""),
        }
    })
    .await;
    let spec = hello(DataFormat::Text);
    let error = asking(server.url(""), None).execute(&work(&spec)).await.unwrap_err();
    assert!(matches!(error, ExecuteError::Unreachable(_)), "{error:?}");
}

/// Some models take one temperature only, and would turn the plain question down for ever.
#[tokio::test]
async fn a_plain_question_names_no_temperature() {
    let server = Server::start(move |request| {
        let body = String::from_utf8_lossy(&request.body);
        match body.contains("temperature") || body.contains("seed") {
            true => answer("400 Bad Request", &[], b""),
            false => says(&["Yes"]),
        }
    })
    .await;
    let spec = hello(DataFormat::Text);
    let error = asking(server.url(""), None).execute(&work(&spec)).await.unwrap_err();
    assert_eq!(excuse::of(&spec, &error), Some(Excuse::Refused), "{error:?}");
}

#[tokio::test]
async fn no_error_holds_the_key() {
    let key = TestFile::new("errors.key", KEY);
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let cases = [
        answer("401 Unauthorized", &[("content-type", "application/json")], echo.as_bytes()),
        answer("500 Oops", &[("x-key", KEY)], echo.as_bytes()),
        json(&echo),
        json(&format!("\"{KEY}\"")),
        vec![stream(), event(&echo)],
        vec![stream(), event(KEY)],
        vec![Step::Send(format!("{KEY}\r\n\r\n").into_bytes())],
        answer("302 Found", &[("location", &format!("/?key={KEY}"))], b""),
    ];
    for steps in cases {
        let server = Server::start(move |_| steps.clone()).await;
        let llm = asking(server.url(""), Some(&key.0));
        let error = llm.execute(&work(&hello(DataFormat::Json))).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
        assert!(!error.to_string().contains("127.0.0.1"), "{error}");
        assert_eq!(server.connections(), 2, "the job's question, and a plain one");
    }
}

#[tokio::test]
async fn a_model_that_does_not_stop_is_left() {
    let slow = Duration::from_millis(20);
    let Step::Send(one) = token("x") else { unreachable!() };
    let endless = vec![stream(), Step::Repeat(one.clone(), Duration::ZERO)];
    let server = Server::start(move |_| endless.clone()).await;
    let mut spec = hello(DataFormat::Text);
    spec.result_schema.max_return_bytes = 100;
    let result = asking(server.url(""), None).execute(&work(&spec)).await;
    assert_eq!(result, Err(ExecuteError::TooLarge { limit: 100 }));

    for filler in [": nothing\n\n", "data: {}\n\n", "data: "] {
        let steps = vec![stream(), Step::Repeat(filler.repeat(100).into(), Duration::ZERO)];
        let server = Server::start(move |_| steps.clone()).await;
        let result = asking(server.url(""), None).execute(&work(&spec)).await;
        let ended = matches!(result, Err(ExecuteError::TooLarge { .. } | ExecuteError::Backend(_)));
        assert!(ended, "{filler:?} {result:?}");
    }

    let dribbling = vec![stream(), Step::Repeat(one, slow)];
    let server = Server::start(move |_| dribbling.clone()).await;
    let spec = hello(DataFormat::Text);
    let mut work = work(&spec);
    work.time_limit = Duration::from_millis(300);
    let began = Instant::now();
    let result = asking(server.url(""), None).execute(&work).await;
    assert_timed_out(result, work.time_limit, began);
}

#[test]
fn an_operators_mistakes_are_told() {
    let read = |text: &str| toml::from_str::<LlmConfig>(text);
    let config = read("[models.small]\nbase_url = 'http://127.0.0.1:8080'").unwrap();
    assert_eq!(config.models["small"].bytes_per_token, 2);
    assert!(read("[models.small]\nbase_url = 'x'\napi_key = 'secret'").is_err());
    assert!(read("[models.small]\nupstream_name = 'x'").is_err());
    let fails = |text: &str| Llm::new(&read(text).unwrap()).err().unwrap().to_string();
    fails("[models.small]\nbase_url = 'ftp://127.0.0.1'");
    fails("[models.small]\nbase_url = 'nonsense'");
    let told = fails("[models.small]\nbase_url = 'https://user:password@h'");
    assert!(!told.contains("password@"), "{told}");
    let told = fails("[models.small]\nbase_url = 'http://h'\napi_key_file = '/nonexistent'");
    assert!(told.contains("/nonexistent"), "{told}");
    let empty = TestFile::new("empty.key", " \n");
    let path = empty.0.display();
    fails(&format!("[models.small]\nbase_url = 'http://h'\napi_key_file = '{path}'"));
}
