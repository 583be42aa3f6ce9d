//! A worker process with executors, for tests that kill and stop it.
//!
//! Its settings are one text in TOML, its only argument. It prints a line when it begins, and ends when its
//! input does: nothing outlives the test that started it.

use remuda_fleet::worker::{Config, Sandbox, run};
use remuda_runner::executor::{Capabilities, ExecutorSettings};
use remuda_runner::fleet::{calls, tags};
use serde::Deserialize;
use std::io::Read as _;
use std::path::PathBuf;

#[derive(Deserialize)]
struct Settings {
    orchestrator: String,
    token: String,
    folder: PathBuf,
    executors: ExecutorSettings,
}

#[tokio::main]
async fn main() {
    let text = std::env::args().nth(1).expect("settings, as TOML");
    let settings: Settings = toml::from_str(&text).expect("settings");
    let mut config = Config::new(&settings.orchestrator, settings.folder, Sandbox::Process);
    config.token = Some(settings.token);
    config.capabilities = tags::offered(&Capabilities::of(&settings.executors));
    config.executor = Some(calls(&settings.executors).expect("executors"));
    println!("ready");
    let (ended, input_ended) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        // Whatever comes, or nothing: both mean that it is over.
        let _ = std::io::stdin().read(&mut [0]);
        drop(ended);
    });
    let stop = async {
        let _ = input_ended.await;
    };
    run(config, stop).await.expect("worked");
}
