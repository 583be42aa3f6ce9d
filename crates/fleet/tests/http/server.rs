//! An orchestrator, and a client that sends what it is told.

use remuda_fleet::broker;
use remuda_fleet::http::{Endpoint, Trust};
use remuda_fleet::lease::Policy;
use remuda_fleet::orchestrator::{Config, StoreConfig, serve};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub struct Server {
    pub url: String,
    /// Where workers hear of work, if they do.
    pub broker: Option<broker::Config>,
    /// The broker itself.
    _broker: Option<Box<dyn std::any::Any + Send>>,
    pub http: Client,
    pub folder: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// A way to an orchestrator of this machine.
pub fn endpoint(url: &str) -> Endpoint {
    Endpoint::new(url, &Trust::default()).expect("an address")
}

/// A folder that no other test has.
pub fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("http-{}-{number}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

impl Server {
    /// Everybody may do everything.
    pub async fn open() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = folder();
        let mut config = Config::in_folder(&folder);
        config.store = StoreConfig::Memory;
        config.sweep_every = Duration::from_millis(50);
        let (broker, keep) = super::broker().unzip();
        config.broker.clone_from(&broker);
        change(&mut config);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().expect("an address"));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let stopped = async move {
                let _ = stopped.await;
            };
            serve(listener, config, stopped).await.expect("served");
        });
        let json = HeaderValue::from_static("application/json");
        let headers = [(CONTENT_TYPE, json)].into_iter().collect();
        let http = Client::builder().default_headers(headers).build().expect("a client");
        Self { url, broker, _broker: keep, http, folder, stop: Some(stop), serving: Some(serving) }
    }

    /// Asks it to end, and waits until it has.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        self.serving.take().expect("served once").await.expect("an orderly end");
    }

    pub async fn send(&self, method: Method, path: &str, body: Vec<u8>) -> (StatusCode, Value) {
        let url = format!("{}/api/v1{path}", self.url);
        let answer = self.http.request(method, url).body(body).send().await.expect("an answer");
        let status = answer.status();
        let bytes = answer.bytes().await.expect("a body");
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    pub async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.send(Method::POST, path, body.to_string().into_bytes()).await
    }

    /// The same, and it must be well.
    #[track_caller]
    pub fn ok(&self, path: &str, body: Value) -> impl Future<Output = Value> + use<'_> {
        let caller = std::panic::Location::caller();
        let path = path.to_owned();
        async move {
            let (status, value) = self.post(&path, body).await;
            assert!(status.is_success(), "{caller}: {path}: {status} {value}");
            value
        }
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send(Method::GET, path, vec![]).await
    }

    /// A run of one job, and its id.
    pub async fn submit(&self) -> String {
        let job = json!({ "name": "a", "job_spec": { "name": "a", "steps": ["true"] } });
        let run = self.ok("/runs", json!({ "jobs": [job] })).await;
        run["run_id"].as_str().expect("an id").to_owned()
    }

    /// A lease of whatever waits, acknowledged.
    pub async fn take(&self, runner: &str) -> Value {
        let ask = json!({ "runner_id": runner, "capabilities": [] });
        let granted = self.ok("/internal/lease", ask).await;
        assert_eq!(granted["type"], "LeaseGranted", "{granted}");
        self.take_granted(&granted, runner).await;
        granted
    }

    /// Acknowledges a lease.
    pub async fn take_granted(&self, granted: &Value, runner: &str) {
        let ack = json!({ "job_id": granted["job_id"], "lease_id": granted["lease_id"], "runner_id": runner });
        self.ok("/internal/ack-lease", ack).await;
    }

    pub async fn complete(&self, granted: &Value, runner: &str) -> Value {
        let done =
            json!({ "lease_id": granted["lease_id"], "runner_id": runner, "status": "SUCCEEDED" });
        self.ok("/internal/complete", done).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Short times, so that tests need not wait for the protocol's.
pub fn hasty() -> Policy {
    Policy {
        lease_ttl_seconds: 3,
        heartbeat_interval_seconds: 1,
        ack_window_seconds: 1,
        cancel_deadline_seconds: 1,
        ..Policy::default()
    }
}
