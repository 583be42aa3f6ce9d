//! `remuda worker run`: the worker itself, until it is told to stop.

use super::settings::Settings;
use crate::failure::Failure;
use crate::fleet::{FleetArgs, FleetFailure, lock};
use crate::session::block_on_threads;
use remuda_fleet::worker::{self, WorkerError};
use std::path::Path;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Files that it may have open: each place has connections and a job's output, and copies caches, a few
/// descriptors for each folder that is in another.
const FILES: u64 = 65_536;

pub(super) fn serve(
    fleet: &FleetArgs,
    path: &Path,
    one_shot: bool,
    json_logs: bool,
) -> Result<(), Failure> {
    let settings = Settings::read(path, fleet.trust())?;
    if fleet.names_another(settings.orchestrator()) {
        // REMUDA_ORCHESTRATOR may be set for other commands, so a mismatch is only a warning.
        let own = settings.orchestrator();
        eprintln!(
            "this worker works for {own}, as its worker.toml says; --orchestrator is for `remuda worker init`"
        );
    }
    if one_shot && settings.concurrency > 1 {
        return Err(Failure::Usage("--one-shot is for workers with a concurrency of 1"));
    }
    let configs = settings.configs(one_shot)?;
    let _lock = lock(settings.directory(), "a worker")?;
    crate::node::log(json_logs);
    // As many as the system gives.
    let _ = rlimit::increase_nofile_limit(FILES);
    block_on_threads(async {
        let (stop, stopping) = watch::channel(false);
        let mut places: JoinSet<Result<(), WorkerError>> = JoinSet::new();
        for config in configs {
            let mut stopping = stopping.clone();
            places.spawn(worker::run(config, async move {
                let _ = stopping.wait_for(|stop| *stop).await;
            }));
        }
        let mut asked = std::pin::pin!(crate::dev::stop_asked());
        let mut result = Ok(());
        loop {
            let ended = tokio::select! {
                ended = places.join_next() => ended,
                () = &mut asked, if !*stop.borrow() => {
                    stop.send_replace(true);
                    continue;
                }
            };
            match ended {
                None => return result,
                Some(Ok(Ok(()))) => {}
                // One that may not work is a sign that none may: the others end in order.
                Some(Ok(Err(error))) => {
                    result = Err(FleetFailure::from(error).into());
                    stop.send_replace(true);
                }
                Some(Err(_)) => {
                    result = Err(Failure::Broken("a worker has broken down; its log says where"));
                    stop.send_replace(true);
                }
            }
        }
    })
}
