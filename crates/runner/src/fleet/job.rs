//! A job as a run of the fleet: one job, which is a call.

use super::wire::{JobCall, KIND, decode_result};
use crate::backend::{BackendError, Job};
use crate::executor::{ExecuteError, ExecuteResult, repeatable};
use remuda_fleet::lease::{AttemptState, EndReason};
use remuda_fleet::message::{Call, JobSpec as FleetSpec, JobSubmission, Retry, RunSubmission, Tag};
use remuda_fleet::view::JobView;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use thiserror::Error;

/// A lease lives for this part of the remaining time, so that a dead worker leaves most of it to another.
const LEASES: u32 = 4;
/// Shorter leases expire on a busy machine; longer ones have no use.
const TTL_SECONDS_MIN: u64 = 3;
const TTL_SECONDS_MAX: u64 = 30;
/// By which the orchestrator's time limit exceeds the executor's.
const SPARE_SECONDS: u64 = 2;
/// A week, the maximum of a fleet job.
const RUNTIME_SECONDS_MAX: u64 = 7 * 24 * 60 * 60;

/// Why the fleet has no result. The operator has to fix it; it does not excuse the job.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FleetError {
    /// The orchestrator did not accept the job.
    #[error("fleet refused the job: {0}")]
    Refused(String),
    /// No worker finished the job.
    #[error("fleet failed the job: {0}")]
    Failed(String),
    /// The orchestrator or the worker answered something else.
    #[error("invalid response of the fleet: {0}")]
    Invalid(String),
    /// No result came in time.
    #[error("fleet missed the deadline of the job; check its workers: remuda fleet status")]
    Late,
}

impl From<FleetError> for BackendError {
    fn from(error: FleetError) -> Self {
        Self::Other(Box::new(error))
    }
}

/// A job for the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FleetJob {
    call: JobCall,
    /// Time until the result is useless.
    expires_in: Duration,
    /// It must not be repeated.
    once: bool,
}

impl FleetJob {
    pub(super) fn new(job: &Job) -> Self {
        let Job { job_id, spec, time_limit, expires_in, pinned } = job.clone();
        let once = !repeatable(&spec.job_type);
        Self { call: JobCall { job_id, time_limit, pinned, spec }, expires_in, once }
    }

    fn lease_ttl_seconds(&self) -> u32 {
        let part = (self.expires_in / LEASES).as_secs();
        u32::try_from(part.clamp(TTL_SECONDS_MIN, TTL_SECONDS_MAX)).unwrap_or(u32::MAX)
    }

    /// A run that no worker starts after the job has expired. `elapsed`: since the job was handed to the fleet.
    /// `None`: the job is larger than any job on chain.
    pub(super) fn submission(
        &self,
        tags: BTreeSet<Tag>,
        elapsed: Duration,
    ) -> Option<RunSubmission> {
        let left = self.expires_in.saturating_sub(elapsed).as_secs();
        let name = format!("job {}", self.call.job_id);
        let seconds = self.call.time_limit.as_secs().saturating_add(SPARE_SECONDS);
        let spec = FleetSpec {
            name: name.clone(),
            workdir: ".".to_owned(),
            image: None,
            steps: vec![],
            env: BTreeMap::new(),
            artifacts: vec![],
            caches: vec![],
            call: Some(Call { kind: KIND.to_owned(), input: self.call.encode()? }),
        };
        let job = JobSubmission {
            name: name.clone(),
            needs: BTreeSet::new(),
            tags,
            labels: BTreeSet::new(),
            priority: 0,
            max_runtime_seconds: u32::try_from(seconds.min(RUNTIME_SECONDS_MAX))
                .unwrap_or(u32::MAX),
            retry: Retry { once: self.once, ..Retry::default() },
            lease_ttl_seconds: Some(self.lease_ttl_seconds()),
            start_within_seconds: u32::try_from(left.clamp(1, RUNTIME_SECONDS_MAX)).ok(),
            job_spec: Some(spec),
            job_spec_ref: None,
        };
        Some(RunSubmission { name, max_parallel: None, jobs: vec![job] })
    }

    /// The result of a job that has ended.
    pub(super) fn result(
        &self,
        job: &JobView,
        output: Option<&[u8]>,
    ) -> Result<ExecuteResult, FleetError> {
        match (job.state, output) {
            (AttemptState::Succeeded, Some(bytes)) => {
                decode_result(bytes).map_err(|error| FleetError::Invalid(error.to_string()))
            }
            (AttemptState::Succeeded, None) => {
                Err(FleetError::Invalid("a successful job has no output".to_owned()))
            }
            // Reported by the worker itself. A worker that hangs does not excuse the job.
            (AttemptState::TimedOut, _) if job.reason == Some(EndReason::Reported) => {
                Ok(Err(ExecuteError::TimedOut(self.call.time_limit)))
            }
            _ if job.reason == Some(EndReason::TooLate) => Err(FleetError::Late),
            (state, _) => {
                let reason = job.reason.map_or(String::new(), |reason| format!(", {reason:?}"));
                let words: String = job.summary.chars().take(200).collect();
                let words = if words.is_empty() { words } else { format!(": {words}") };
                Err(FleetError::Failed(format!("{state:?}{reason}{words}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_spec;
    use remuda_fleet::message::{MESSAGE_BYTES_MAX, encode};
    use remuda_protocol::primitives::B256;

    const URL: &str = "http://example.com/";

    fn fleet_job(url: &str, expires_in: u64) -> FleetJob {
        FleetJob::new(&Job {
            job_id: B256::repeat_byte(7),
            spec: http_spec("POST", url),
            time_limit: Duration::from_secs(5),
            expires_in: Duration::from_secs(expires_in),
            pinned: false,
        })
    }

    #[test]
    fn a_lease_leaves_most_of_the_time_to_the_next_worker() {
        assert_eq!(fleet_job(URL, 58).lease_ttl_seconds(), 14);
        assert_eq!(fleet_job(URL, 8).lease_ttl_seconds(), 3, "sooner would be too soon");
        assert_eq!(fleet_job(URL, 100_000).lease_ttl_seconds(), 30);
    }

    #[test]
    fn the_largest_job_of_a_chain_fits_into_a_message() {
        // A transaction has 128 KiB.
        let job = fleet_job(&"x".repeat(128 * 1024), 60);
        let run = job.submission(BTreeSet::new(), Duration::ZERO).unwrap();
        assert!(encode(&run).len() < MESSAGE_BYTES_MAX);
        assert!(run.jobs[0].retry.once);
        assert_eq!(run.jobs[0].start_within_seconds, Some(60));
        let later = job.submission(BTreeSet::new(), Duration::from_secs(50)).unwrap();
        assert_eq!(later.jobs[0].start_within_seconds, Some(10), "what is left");
    }

    #[test]
    fn only_a_worker_that_says_so_is_why_time_was_too_short() {
        let view = |reason: EndReason| -> JobView {
            let view = serde_json::json!({ "job_id": "job_1-0", "name": "a", "state": "TIMED_OUT",
                "attempt": 1, "fence": 1, "losses": 0, "log_bytes": 0, "reason": reason });
            serde_json::from_value(view).unwrap()
        };
        let told = fleet_job(URL, 60).result(&view(EndReason::Reported), None);
        assert!(matches!(told, Ok(Err(ExecuteError::TimedOut(_)))), "{told:?}");
        let hung = fleet_job(URL, 60).result(&view(EndReason::RuntimeExceeded), None);
        assert!(matches!(hung, Err(FleetError::Failed(_))), "{hung:?}");
    }
}
