//! Stores artifacts and saves caches.

use super::blocking::blocking;
use super::cache::Caches;
use super::job_dir::JobDir;
use super::lease_run::LeaseRun;
use super::steps::Ended;
use super::upload::{blame, upload};
use super::{artifact, files};
use crate::message::{Artifact, Failure, JobSpec};
use std::sync::Arc;

/// Why artifacts were not stored, and the job's failure. None: the worker's own failure.
type Unkept = (String, Option<Failure>);

impl LeaseRun<'_> {
    /// The artifact of the job's log.
    pub(super) fn log_artifact(&self) -> Artifact {
        let uri = format!("/api/v1/jobs/{}/log?fence={}", self.granted.job_id, self.granted.fence);
        Artifact { kind: "log".to_owned(), uri }
    }

    /// Stores artifacts, also of failed jobs, and saves caches of successful ones.
    pub(super) async fn store_outputs(
        &self,
        spec: &JobSpec,
        caches: &Caches,
        dir: &Arc<JobDir>,
        ended: &Ended,
    ) -> (Vec<Artifact>, Result<(), Unkept>) {
        let mut artifacts = vec![self.log_artifact()];
        let lease = &self.granted.lease_id;
        let (at, specs) = (dir.clone(), spec.artifacts.clone());
        let found = blocking(move |cancel| {
            files::defuse(&at.folder, cancel);
            artifact::find(&at, &specs, cancel)
        });
        let found = match found.await.and_then(|found| found) {
            Ok(found) => found,
            Err(error) => {
                let why = format!("failed to search the job's files: {error}");
                return (artifacts, Err((why, None)));
            }
        };
        for found in found {
            match upload(&self.context.link, lease, &self.context.runner_id, &found).await {
                Ok(artifact) => artifacts.push(artifact),
                Err(error) => {
                    let why = format!("{} was not stored: {error}", found.name);
                    return (artifacts, Err((why, blame(&error))));
                }
            }
        }
        if *ended == Ended::Succeeded {
            for cache in spec.caches.clone() {
                let (caches, dir) = (caches.clone(), dir.clone());
                let saved = blocking(move |cancel| caches.save(&cache, &dir, cancel)).await;
                if let Err(error) = saved.and_then(|saved| saved) {
                    // The next job starts without it.
                    tracing::warn!(%error, "failed to save a cache");
                }
            }
        }
        (artifacts, Ok(()))
    }
}
