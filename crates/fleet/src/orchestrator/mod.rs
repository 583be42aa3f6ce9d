//! The orchestrator: the protocol's rules behind HTTP (transport B).
//!
//! A handler reads a message under limits, authenticates the sender, gives the store one event and writes the
//! answer. It decides nothing. Beside the handlers run a periodic sweep, waiting runners and event streams.
//!
//! `router` lists every path with its handler and description; `openapi` makes the routes and the document of
//! it. `pages` renders what the API shows, read-only.

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
mod watch;
mod worker_api;
mod workers;

pub(crate) use api::RUN_ID;
pub use app::App;
pub use config::{Config, StoreConfig};
pub use router::router;
pub use server::{ServeError, serve};
pub use tls::{TlsError, TlsFiles};
