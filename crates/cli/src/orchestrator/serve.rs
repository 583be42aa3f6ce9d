//! `remuda orchestrator run`: the orchestrator itself, until it is told to stop.

use super::settings::Settings;
use crate::failure::Failure;
use crate::fleet::{FleetFailure, lock};
use crate::session::{Output, block_on_threads};
use remuda_fleet::orchestrator::{self, ServeError, TlsFiles};
use serde_json::json;
use std::path::Path;
use tokio::net::TcpListener;

/// Files that it may have open: each worker that waits is one.
const FILES: u64 = 65_536;

pub(super) fn serve(
    out: Output,
    path: &Path,
    json_logs: bool,
    insecure: bool,
) -> Result<(), Failure> {
    let mut settings = Settings::read(path)?;
    settings.insecure |= insecure;
    let config = settings.config()?;
    let checked = config.tls.as_ref().map_or(Ok(()), TlsFiles::check);
    checked.map_err(|error| FleetFailure::Serve(error.into()))?;
    let _lock = lock(settings.directory(), "an orchestrator")?;
    crate::node::log(json_logs);
    // As many as the system gives.
    let _ = rlimit::increase_nofile_limit(FILES);
    block_on_threads(async {
        let bound = TcpListener::bind(settings.listen).await;
        let listener = bound.map_err(|error| FleetFailure::Serve(ServeError::Socket(error)))?;
        let address = listener.local_addr().map_err(Failure::Start)?;
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{address}");
        // A closed pipe must not stop the orchestrator.
        let _ = out.show(&json!({ "url": url }), |_, _| format!("orchestrator {url}\n"));
        let served = orchestrator::serve(listener, config, crate::dev::stop_asked());
        Ok(served.await.map_err(FleetFailure::Serve)?)
    })
}
