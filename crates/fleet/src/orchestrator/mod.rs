//! The orchestrator: the protocol's rules behind HTTP (transport B).
//!
//! A handler reads a message with limits, finds out who sent it, gives the store one event and writes
//! the answer. It decides nothing. Besides there are a sweep every now and then, runners that wait for
//! work, and people who watch.
//!
//! `router` has every path with its handler and its description in one call; `openapi` makes both
//! the routes and the document of it. `pages` shows what the API knows, and changes nothing.

mod answer;
mod api;
mod app;
mod browser;
mod config;
mod feed;
mod guard;
mod metrics;
mod openapi;
mod pages;
mod peers;
mod removal;
mod roster;
mod router;
mod server;
mod slots;
mod tls;
mod tokens;
mod upload;
mod uploads;
mod views;
mod waiters;
mod wake;
mod watch;
mod worker_api;
mod workers;

pub(crate) use api::RUN_ID;
pub use app::App;
pub use config::{Config, StoreConfig};
pub use router::router;
pub use server::{ServeError, serve};
pub use tls::{TlsError, TlsFiles};
