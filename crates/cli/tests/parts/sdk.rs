//! The actor on the page of PyPI's `cowboy-sdk`, as it stands there, with a language model on this machine.

use crate::parts::started::{Folder, Running, own_address, part, status};
use crate::parts::support::ranch::{Ranch, text};
use remuda_vm::HostValue;
use std::path::Path;
use std::process::Command;

/// A language model and its server; ends with this.
struct Model {
    /// Ended before its folder goes.
    _server: Running,
    _folder: Folder,
    base_url: String,
}

impl Model {
    fn start(name: &str) -> Self {
        let (folder, model) = (Folder::new(name), part("llm"));
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runner/tests");
        let host = own_address().to_string();
        let mut python = Command::new(model.join("bin/python"));
        python.arg(tests.join("parts/serve_llm.py")).arg(model.join("model.gguf"));
        python.args([&host, "8080"]);
        let mut server = Running::start(&folder, "llama", &python);
        let address = format!("{host}:8080");
        server.until(|| (status(&address, "/health") == Some(200)).then_some(()));
        Self { _server: server, _folder: folder, base_url: format!("http://{address}") }
    }

    fn settings(&self) -> String {
        format!("[llm.models.default]\nbase_url = '{}'\n", self.base_url)
    }
}

/// The first example on the package's own page.
fn quick_start(page: &str) -> String {
    let (_, rest) = page.split_once("```python\n").expect("an example");
    rest.split_once("```").expect("its end").0.to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_quick_start_actor_chats_with_a_real_model() {
    let model = Model::start("sdk-quick-start");
    let ranch = Ranch::new("quick-start", &model.settings()).await;
    let page = std::fs::read_to_string(part("sdk").join("page.md")).expect("the package's page");
    let actor = ranch.deploy(&quick_start(&page), &HostValue::None).await;
    let message = HostValue::Dict(vec![(text("message"), text("What is the capital of France?"))]);
    ranch.call(actor, "chat", &message).await;
    let HostValue::Str(reply) = ranch.stored(actor, "reply:0").await else { panic!("no text") };
    assert!(!reply.is_empty());
    assert_eq!(ranch.stored(actor, "calls").await, HostValue::Int(1));
    ranch.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_agent_of_the_examples_gets_an_answer_that_runners_agree_on() {
    let model = Model::start("sdk-agent");
    let ranch = Ranch::new("agent", &model.settings()).await;
    let actor = ranch.deploy(include_str!("../../../../examples/agent.py"), &HostValue::None).await;
    let question = HostValue::Dict(vec![(text("question"), text("What is the capital of Italy?"))]);
    ranch.call(actor, "ask", &question).await;
    let HostValue::Dict(answer) = ranch.stored(actor, "answer:0").await else { panic!("no dict") };
    let of = |name: &str| answer.iter().find(|(key, _)| *key == text(name)).unwrap().1.clone();
    // The same model at temperature 0: the runners say the same.
    assert_eq!(of("verified"), HostValue::Bool(true), "{answer:?}");
    assert_ne!(of("answer"), text(""));
    ranch.stop().await;
}
