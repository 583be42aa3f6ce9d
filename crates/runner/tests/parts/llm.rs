//! Questions to a language model: llama.cpp's server with a model small enough for tests.

use crate::parts::job::{Heard, job, work_for};
use crate::parts::support::{Folder, Running, own_address, part, post, status};
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType, Message};
use remuda_runner::executor::llm::{Llm, LlmConfig, ModelConfig};
use remuda_runner::executor::{ExecuteError, NoProgress, Progress};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The model says "Paris" to this with a probability of 96 %, so at temperature 0 it does so on any
/// processor.
const CAPITALS: [(&str, &str); 5] = [
    ("user", "What is the capital of Italy?"),
    ("assistant", "Rome"),
    ("user", "What is the capital of Spain?"),
    ("assistant", "Madrid"),
    ("user", "What is the capital of France?"),
];
/// Something that it can go on about for long.
const STORY: [(&str, &str); 1] = [("user", "Write a long story about a horse.")];

/// A model and its server.
struct Server {
    /// Ended before its folder goes.
    _running: Running,
    folder: Folder,
    base_url: String,
}

impl Server {
    fn start(name: &str, key: Option<&str>) -> Self {
        let folder = Folder::new(name);
        let part = part("llm");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parts/serve_llm.py");
        let host = own_address().to_string();
        let mut python = Command::new(part.join("bin/python"));
        python.arg(script).arg(part.join("model.gguf")).args([&host, "8080"]).args(key);
        let mut running = Running::start(&folder, "llama", &python);
        let address = format!("{host}:8080");
        running.until(|| (status(&address, "/health") == Some(200)).then_some(()));
        Self { _running: running, folder, base_url: format!("http://{address}") }
    }

    /// What it says in one piece to somebody who asks it directly, at temperature 0, and in how many
    /// tokens.
    fn says(&self, messages: &[(&str, &str)], tokens: u64) -> (String, u64) {
        let message = |(role, content): &(&str, &str)| json!({ "role": role, "content": content });
        let messages: Vec<_> = messages.iter().map(message).collect();
        let request = json!({ "messages": messages, "max_tokens": tokens, "temperature": 0 });
        let address = self.base_url.strip_prefix("http://").unwrap();
        let reply = post(address, "/v1/chat/completions", &request.to_string());
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let content = reply["choices"][0]["message"]["content"].as_str().unwrap();
        (content.to_owned(), reply["usage"]["completion_tokens"].as_u64().unwrap())
    }

    fn asking(&self, api_key_file: Option<PathBuf>) -> Llm {
        let model = ModelConfig {
            base_url: self.base_url.clone(),
            api_key_file,
            upstream_name: None,
            bytes_per_token: 2,
        };
        let models = [("smollm2".to_owned(), model)].into();
        Llm::new(&LlmConfig { models, ca_file: None }).unwrap()
    }
}

fn question(messages: &[(&str, &str)], temperature_milli: u32, seed: u64) -> JobSpec {
    let message = |(role, content): &(&str, &str)| Message {
        role: role.to_string(),
        content: content.to_string(),
    };
    let job_type = JobType::Llm {
        model: "smollm2".into(),
        messages: messages.iter().map(message).collect(),
        temperature_milli,
        seed,
    };
    job(job_type, DataFormat::Json)
}

async fn ask_for(
    llm: &Llm,
    spec: &JobSpec,
    progress: &dyn Progress,
) -> Result<Vec<u8>, ExecuteError> {
    let mut work = work_for(spec, progress);
    work.time_limit = Duration::from_secs(200);
    llm.execute(&work).await
}

async fn ask(llm: &Llm, spec: &JobSpec) -> Result<Vec<u8>, ExecuteError> {
    ask_for(llm, spec, &NoProgress).await
}

/// The text of an answer, and why it ends.
#[track_caller]
fn read(result: Result<Vec<u8>, ExecuteError>) -> (String, String) {
    let document: Value = serde_json::from_slice(&result.unwrap()).unwrap();
    assert_eq!(document["model"], "smollm2");
    let member = |name: &str| document[name].as_str().unwrap().to_owned();
    (member("content"), member("finish_reason"))
}

#[tokio::test]
async fn a_model_knows_the_capital_of_france() {
    let server = Server::start("capital", None);
    let llm = server.asking(None);
    let mut spec = question(&CAPITALS, 0, 1);
    assert_eq!(read(ask(&llm, &spec).await), ("Paris".into(), "stop".into()));
    spec.result_schema.data_format = DataFormat::Text;
    assert_eq!(ask(&llm, &spec).await, Ok(b"Paris".to_vec()));
}

#[tokio::test]
async fn an_answer_is_seen_to_grow_until_its_tokens_are_used_up() {
    let server = Server::start("grows", None);
    let llm = server.asking(None);
    let mut spec = question(&STORY, 0, 1);
    spec.bounds.max_output_tokens = 20;
    let heard = Heard::default();
    let (story, end) = read(ask_for(&llm, &spec, &heard).await);
    assert_eq!(end, "length", "{story}");
    // 5 % for each token, but for those that are part of a letter and wait for the rest of it.
    let reports = heard.reports();
    assert!((15..=20).contains(&reports.len()), "{reports:?}");
    assert!(reports.is_sorted_by(|a, b| a.0 < b.0), "{reports:?}");
    assert_eq!(reports[0], (5, "1 tokens".into()));
    assert_eq!((story, 20), server.says(&STORY, 20));
}

#[tokio::test]
async fn the_same_seed_gives_the_same_answer() {
    let server = Server::start("seed", None);
    let llm = server.asking(None);
    let told = async |temperature_milli: u32, seed: u64| {
        let mut spec = question(&STORY, temperature_milli, seed);
        spec.bounds.max_output_tokens = 24;
        read(ask(&llm, &spec).await).0
    };
    assert_eq!(told(0, 7).await, told(0, 7).await);
    assert_eq!(told(900, 7).await, told(900, 7).await);
    // The server looks at both: else neither of these would say much.
    let mut stories = BTreeSet::new();
    for seed in 0..4 {
        stories.insert(told(900, seed).await);
    }
    assert!(stories.len() > 1, "{stories:?}");
    assert_eq!(told(0, 8).await, told(0, 7).await);
}

#[tokio::test]
async fn a_model_that_says_too_much_is_left() {
    let server = Server::start("left", None);
    let llm = server.asking(None);
    let mut spec = question(&STORY, 0, 1);
    spec.bounds.max_output_tokens = 800;
    spec.result_schema.max_return_bytes = 40;
    assert_eq!(ask(&llm, &spec).await, Err(ExecuteError::TooLarge { limit: 40 }));
    // It answers one at a time, and has room for the next.
    assert_eq!(read(ask(&llm, &question(&CAPITALS, 0, 1)).await).0, "Paris");
}

#[tokio::test]
async fn a_prompt_beyond_the_models_window_is_refused() {
    let server = Server::start("window", None);
    let llm = server.asking(None);
    let long = "horse ".repeat(2_000);
    let mut spec = question(&[("user", &long)], 0, 1);
    spec.bounds.max_input_tokens = 100_000;
    spec.bounds.max_retries = 3;
    let result = ask(&llm, &spec).await;
    let Err(ExecuteError::Refused(reason)) = result else { panic!("{result:?}") };
    assert!(reason.contains("400"), "{reason}");
    assert_eq!(read(ask(&llm, &question(&CAPITALS, 0, 1)).await).0, "Paris");
}

#[tokio::test]
async fn a_server_that_wants_a_key_gets_the_operators() {
    let server = Server::start("key", Some("sk-right-0123456789"));
    let spec = question(&CAPITALS, 0, 1);
    let right = server.folder.write("right.key", "sk-right-0123456789\n");
    assert_eq!(read(ask(&server.asking(Some(right)), &spec).await).0, "Paris");
    let wrong = server.folder.write("wrong.key", "sk-wrong-0123456789\n");
    for key_file in [None, Some(wrong)] {
        let result = ask(&server.asking(key_file), &spec).await;
        let Err(ExecuteError::Backend(reason)) = result else { panic!("{result:?}") };
        assert!(reason.contains("401") && !reason.contains("0123456789"), "{reason}");
    }
}
