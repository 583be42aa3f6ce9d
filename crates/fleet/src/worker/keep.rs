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
    pub(super) fn log_kept(&self) -> Artifact {
        let uri = format!("/api/v1/jobs/{}/log?fence={}", self.granted.job_id, self.granted.fence);
        Artifact { kind: "log".to_owned(), uri }
    }

    /// Stores artifacts, also of failed jobs, and saves caches of successful ones.
    pub(super) async fn keep(
        &self,
        spec: &JobSpec,
        caches: &Caches,
        dir: &Arc<JobDir>,
        ended: &Ended,
    ) -> (Vec<Artifact>, Result<(), Unkept>) {
        let mut artifacts = vec![self.log_kept()];
        let lease = &self.granted.lease_id;
        let (at, specs) = (dir.clone(), spec.artifacts.clone());
        let found = blocking(move |wanted| {
            files::defuse(&at.folder, wanted);
            artifact::find(&at, &specs, wanted)
        });
        let found = match found.await.and_then(|found| found) {
            Ok(found) => found,
            Err(error) => {
                let why = format!("the job's files cannot be looked at: {error}");
                return (artifacts, Err((why, None)));
            }
        };
        for found in found {
            match upload(&self.context.link, lease, &self.context.runner_id, &found).await {
                Ok(artifact) => artifacts.push(artifact),
                Err(error) => {
                    let why = format!("{} is not kept: {error}", found.name);
                    return (artifacts, Err((why, blame(&error))));
                }
            }
        }
        if *ended == Ended::Succeeded {
            for cache in spec.caches.clone() {
                let (caches, dir) = (caches.clone(), dir.clone());
                let saved = blocking(move |wanted| caches.save(&cache, &dir, wanted)).await;
                if let Err(error) = saved.and_then(|saved| saved) {
                    // The next job starts without it.
                    tracing::warn!(%error, "failed to save a cache");
                }
            }
        }
        (artifacts, Ok(()))
    }
}
