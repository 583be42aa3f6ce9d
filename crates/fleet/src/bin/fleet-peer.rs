//! An orchestrator or a worker as a separate process, for tests that kill, stop and starve it.
//!
//! Its only argument is a JSON object of settings. It prints a line when it is ready, and shuts down on
//! SIGTERM or at the end of its input, so it does not outlive the test that started it.

use remuda_fleet::auth::{Access, Scope, Token, TokenHash};
use remuda_fleet::bench::{self, Load};
use remuda_fleet::lease::Policy;
use remuda_fleet::store::{Postgres, Sqlite, Time};
use remuda_fleet::{broker, orchestrator, worker};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Settings {
    Orchestrator {
        folder: PathBuf,
        listen: String,
        #[serde(default)]
        postgres: Option<String>,
        #[serde(default)]
        clock_offset: i64,
        /// Requires tokens of [`guards`] and enrolled workers.
        #[serde(default)]
        guarded: bool,
        lease_ttl_seconds: u32,
        #[serde(default = "five")]
        losses_max: u32,
        #[serde(default)]
        broker: Option<String>,
    },
    Worker {
        folder: PathBuf,
        orchestrator: String,
        #[serde(default)]
        token: Option<String>,
        #[serde(default)]
        bubblewrap: bool,
        #[serde(default)]
        memory_bytes_max: Option<u64>,
        #[serde(default)]
        secrets: BTreeMap<String, String>,
        #[serde(default)]
        clock_offset: i64,
        #[serde(default)]
        one_shot: bool,
        #[serde(default = "five")]
        drain_seconds: u32,
        #[serde(default)]
        broker: Option<String>,
    },
    /// Runs the benchmark of a store and prints the result.
    Bench {
        /// URL of a database. Default: a file in the folder.
        #[serde(default)]
        postgres: Option<String>,
        folder: PathBuf,
        runners: u32,
        jobs_each: u32,
        beats_each: u32,
    },
}

/// Short intervals, for tests.
fn hasty_broker(url: &str) -> broker::Config {
    broker::Config { look_again: Duration::from_millis(500), ..broker::Config::new(url) }
}

/// Tokens: each is the name of its scope.
fn guards() -> Access {
    let token = |scope: Scope| {
        let name = scope.to_string();
        Token::new(&name, scope, TokenHash::of(&name))
    };
    Access([Scope::Enrol, Scope::Operator].map(token).into())
}

fn five() -> u32 {
    5
}

async fn told_to_end() {
    let mut terminate = signal(SignalKind::terminate()).expect("signals");
    let (ended, input_ended) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        // Any input, or its end, means shutdown.
        let _ = std::io::stdin().read(&mut [0]);
        drop(ended);
    });
    tokio::select! {
        _ = terminate.recv() => {}
        _ = input_ended => {}
    }
}

#[tokio::main]
async fn main() {
    let settings = std::env::args().nth(1).expect("settings, as JSON");
    match serde_json::from_str(&settings).expect("settings") {
        Settings::Orchestrator {
            folder,
            listen,
            postgres,
            clock_offset,
            guarded,
            lease_ttl_seconds,
            losses_max,
            broker,
        } => {
            let mut config = orchestrator::Config::in_folder(&folder);
            config.policy = Policy {
                lease_ttl_seconds,
                heartbeat_interval_seconds: (lease_ttl_seconds / 3).max(1),
                ack_window_seconds: lease_ttl_seconds,
                cancel_deadline_seconds: 3,
                losses_max,
                ..Policy::default()
            };
            config.sweep_every = Duration::from_millis(100);
            config.look_again = Duration::from_millis(500);
            config.clock.offset = clock_offset;
            if guarded {
                config.access = guards();
            }
            config.broker = broker.as_deref().map(hasty_broker);
            if let Some(url) = postgres {
                config.store = orchestrator::StoreConfig::Postgres(url);
            }
            let listener = TcpListener::bind(&listen).await.expect("a socket");
            println!("ready {}", listener.local_addr().expect("an address"));
            orchestrator::serve(listener, config, told_to_end()).await.expect("served");
        }
        Settings::Worker {
            folder,
            orchestrator,
            token,
            bubblewrap,
            memory_bytes_max,
            secrets,
            clock_offset,
            one_shot,
            drain_seconds,
            broker,
        } => {
            let sandbox = match bubblewrap {
                true => worker::Sandbox::find(&worker::Network::Host).expect("bubblewrap"),
                false => worker::Sandbox::Process,
            };
            let mut config = worker::Config::new(&orchestrator, folder, sandbox);
            config.network = worker::Network::Host;
            config.token = token;
            config.memory_bytes_max = memory_bytes_max;
            config.broker = broker.as_deref().map(hasty_broker);
            config.secrets = secrets;
            config.clock.offset = clock_offset;
            config.one_shot = one_shot;
            config.grace = Duration::from_millis(500);
            config.drain = Duration::from_secs(drain_seconds.into());
            println!("ready");
            worker::run(config, told_to_end()).await.expect("worked");
        }
        Settings::Bench { postgres, folder, runners, jobs_each, beats_each } => {
            let (policy, load) = (Policy::default(), Load { runners, jobs_each, beats_each });
            let now = remuda_fleet::time::Clock::default().now();
            let figures = match postgres {
                Some(url) => {
                    let store = Postgres::open(&url, policy, Time::Database, now).await;
                    bench::store(Arc::new(store.expect("a database")), load).await
                }
                None => {
                    let store = Sqlite::open(&folder.join("bench.db"), policy, now).await;
                    bench::store(Arc::new(store.expect("a file")), load).await
                }
            };
            let figures = serde_json::to_string(&figures.expect("figures"));
            println!("{}", figures.expect("JSON"));
        }
    }
}
