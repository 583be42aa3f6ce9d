//! The node's HTTP API (SPEC §16): JSON in and out, over a [`Backend`].
//!
//! Local: a change here needs no agreement among validators. This holds for the whole folder.
//!
//! # Layout
//! - [`limits`], [`places`], `memory`, `reading`, `guard`: what the outside may ask for
//! - `error`, `extract`: failing in JSON; `wait`: for a transaction's block
//! - `server`: sockets; everything else works without one. `thread`: the API's own threads
//! - one file per resource: `submit`, `transaction`, `block`, `account`, `actor`, `entitlement`, `runners`,
//!   `reports`, `timer`, `job`, `jobs`, `history`, `presence`, `params`, `proof`, `events`, `faucet`, `node`, `docs`,
//!   `validators`
//!
//! Nothing here writes to the chain but through [`Backend::submit`].

mod account;
mod actor;
mod block;
mod docs;
mod entitlement;
mod error;
mod events;
mod extract;
mod faucet;
mod guard;
mod history;
mod job;
mod jobs;
pub mod limits;
mod memory;
mod metrics;
mod node;
mod params;
pub mod places;
mod presence;
mod proof;
mod reading;
mod reports;
mod runners;
mod server;
mod submit;
pub mod thread;
mod timer;
mod transaction;
mod validators;
mod wait;

pub use extract::Peer;
pub use limits::Limits;
pub use server::serve;

use crate::backend::{Backend, RunnerLinks, Tip};
use crate::rate::Buckets;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use error::Failure;
use memory::Memory;
use metrics::Metrics;
use places::Places;
use remuda_client::types::{ProgressNews, StreamEnd, code};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::Address;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(Clone)]
pub struct App(Arc<Shared>);

pub struct Shared {
    backend: Arc<dyn Backend>,
    runners: Arc<dyn RunnerLinks>,
    limits: Limits,
    metrics: Metrics,
    requests: Mutex<Buckets<IpAddr>>,
    bytes: Mutex<Buckets<IpAddr>>,
    past: Mutex<Buckets<IpAddr>>,
    gifts_by_peer: Mutex<Buckets<IpAddr>>,
    gifts_by_account: Mutex<Buckets<Address>>,
    /// One gift at a time: the next one's nonce follows from it.
    giving: tokio::sync::Mutex<()>,
    bodies: Memory,
    answers: Memory,
    connections: Arc<Places>,
    readers: Arc<Places>,
    streams: Arc<Places>,
    stopping: watch::Sender<bool>,
}

impl Deref for App {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl core::fmt::Debug for App {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("App").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl App {
    /// An API over a backend.
    pub fn new(backend: Arc<dyn Backend>, runners: Arc<dyn RunnerLinks>, limits: Limits) -> Self {
        let second = Duration::from_secs(1);
        let every = second / limits.per_second.max(1);
        let read_every = second / limits.read_kib_per_second.max(1);
        let past_every = second / limits.past_per_second.max(1);
        let gifts = (limits.faucet_burst, limits.faucet_every, limits.addresses);
        Self(Arc::new(Shared {
            metrics: Metrics::default(),
            requests: Mutex::new(Buckets::new(limits.burst, every, limits.addresses)),
            bytes: Mutex::new(Buckets::new(limits.read_burst_kib, read_every, limits.addresses)),
            past: Mutex::new(Buckets::new(limits.past_burst.max(1), past_every, limits.addresses)),
            gifts_by_peer: Mutex::new(Buckets::new(gifts.0, gifts.1, gifts.2)),
            gifts_by_account: Mutex::new(Buckets::new(gifts.0, gifts.1, gifts.2)),
            giving: tokio::sync::Mutex::default(),
            bodies: Memory::new(limits.all_bodies_bytes),
            answers: Memory::new(limits.all_answers_bytes),
            connections: Places::new(limits.connections, limits.connections_per_ip),
            readers: Places::new(limits.readers, limits.readers_per_ip),
            streams: Places::new(limits.streams, limits.streams_per_ip),
            stopping: watch::Sender::new(false),
            backend,
            runners,
            limits,
        }))
    }

    /// Ends event streams and waiting for blocks; nothing else is cut short.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    fn tip(&self) -> Arc<Tip> {
        self.backend.tip()
    }

    fn params(&self) -> &ChainParams {
        &self.backend.genesis().params
    }
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Remuda node",
        description = "Numbers that may exceed 53 bits are decimal strings, bytes are hex with 0x. Errors are always {code, message, hint?} with stable codes.",
        license(name = "MIT OR Apache-2.0")
    ),
    // Messages of `/events` besides its first kind: a response has only one type.
    components(schemas(ProgressNews, StreamEnd))
)]
struct Description;

/// Every route with its description.
fn described() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(docs::page))
        .routes(routes!(docs::openapi))
        .routes(routes!(node::status))
        .routes(routes!(node::health))
        .routes(routes!(node::ready))
        .routes(routes!(node::metrics))
        .routes(routes!(submit::submit))
        .routes(routes!(transaction::transaction))
        .routes(routes!(transaction::receipt))
        .routes(routes!(transaction::status))
        .routes(routes!(block::block))
        .routes(routes!(account::account))
        .routes(routes!(actor::actor))
        .routes(routes!(actor::logs))
        .routes(routes!(actor::state))
        .routes(routes!(entitlement::pool))
        .routes(routes!(entitlement::entitlement))
        .routes(routes!(entitlement::held))
        .routes(routes!(timer::timers))
        .routes(routes!(timer::timer))
        .routes(routes!(runners::runners))
        .routes(routes!(runners::runner))
        .routes(routes!(runners::jobs))
        .routes(routes!(validators::validators))
        .routes(routes!(validators::handover))
        .routes(routes!(reports::job_result))
        .routes(routes!(reports::heartbeat))
        .routes(routes!(jobs::jobs))
        .routes(routes!(job::job))
        .routes(routes!(history::history))
        .routes(routes!(history::receipt))
        .routes(routes!(presence::presence))
        .routes(routes!(params::params))
        .routes(routes!(proof::proof))
        .routes(routes!(events::events))
        .routes(routes!(faucet::faucet))
}

/// The API's description of itself.
pub fn openapi() -> utoipa::openapi::OpenApi {
    described().into_openapi()
}

/// The API as a service without a socket.
pub fn router(app: App) -> Router {
    let (router, _) = described().split_for_parts();
    let guard = axum::middleware::from_fn_with_state(app.clone(), guard::guard);
    router
        .fallback(no_such_endpoint)
        .method_not_allowed_fallback(no_such_method)
        .layer(DefaultBodyLimit::max(app.limits.body_bytes))
        .layer(guard)
        .with_state(app)
}

async fn no_such_endpoint(uri: Uri) -> Failure {
    Failure::new(code::NOT_FOUND, format!("there is no {}", uri.path()))
        .hint("/ lists the endpoints, /openapi.json describes them")
}

async fn no_such_method(uri: Uri) -> Failure {
    Failure::new(code::METHOD_NOT_ALLOWED, format!("{} does not take this method", uri.path()))
        .hint("/openapi.json lists the methods of every path")
}
