//! A job on its way through the fleet: a run with one job, which is a call.

use super::order::{Finding, KIND, Order, decode_finding};
use crate::executor::ExecuteError;
use remuda_fleet::lease::{AttemptState, EndReason};
use remuda_fleet::message::{Call, JobSpec as FleetSpec, JobSubmission, Retry, RunSubmission, Tag};
use remuda_fleet::view::JobView;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use thiserror::Error;

/// A lease's time to live is this part of the time that is left for the result, so that a worker that dies
/// leaves most of it to another.
const LEASES: u32 = 4;
/// Shorter ones are lost to a busy moment; longer ones help nobody.
const TTL_SECONDS_MIN: u64 = 3;
const TTL_SECONDS_MAX: u64 = 30;
/// The orchestrator's own limit on the work is above the executor's.
const SPARE_SECONDS: u64 = 2;
/// A week, as long as a job of the fleet may last.
const RUNTIME_SECONDS_MAX: u64 = 7 * 24 * 60 * 60;

/// Why the fleet gave nothing: that is the operator's to mend, and no excuse for a job.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FleetError {
    /// It was not taken.
    #[error("the fleet does not take the job: {0}")]
    Refused(String),
    /// It was taken, and came to no end.
    #[error("the fleet did not do the job: {0}")]
    Undone(String),
    /// What came back is not what was asked for.
    #[error("the fleet's answer is of no use: {0}")]
    Useless(String),
    /// Nothing came in time.
    #[error("the fleet did not do the job in time; look at its workers: remuda fleet status")]
    Late,
}

/// A job for the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
    /// What to do.
    pub order: Order,
    /// How long its result is of use.
    pub patience: Duration,
    /// Whether it may be begun once only.
    pub once: bool,
}

impl Errand {
    /// How long a silent worker keeps it from others.
    pub(super) fn lease_ttl_seconds(&self) -> u32 {
        let part = (self.patience / LEASES).as_secs();
        u32::try_from(part.clamp(TTL_SECONDS_MIN, TTL_SECONDS_MAX)).unwrap_or(u32::MAX)
    }

    /// As a run that nobody begins once the patience is over, of which so much is gone. None: it is larger than any
    /// job on chain.
    pub(super) fn submission(&self, tags: BTreeSet<Tag>, gone: Duration) -> Option<RunSubmission> {
        let left = self.patience.saturating_sub(gone).as_secs();
        let name = format!("job {}", self.order.job_id);
        let seconds = self.order.within.as_secs().saturating_add(SPARE_SECONDS);
        let spec = FleetSpec {
            name: name.clone(),
            workdir: ".".to_owned(),
            image: None,
            steps: vec![],
            env: BTreeMap::new(),
            artifacts: vec![],
            caches: vec![],
            call: Some(Call { kind: KIND.to_owned(), input: self.order.encode()? }),
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

    /// What a job that has ended gave.
    pub(super) fn finding(
        &self,
        job: &JobView,
        output: Option<&[u8]>,
    ) -> Result<Finding, FleetError> {
        match (job.state, output) {
            (AttemptState::Succeeded, Some(bytes)) => {
                decode_finding(bytes).map_err(|error| FleetError::Useless(error.to_string()))
            }
            (AttemptState::Succeeded, None) => {
                Err(FleetError::Useless("a job that succeeded gave nothing".to_owned()))
            }
            // Said by the worker itself: one that hangs is no excuse.
            (AttemptState::TimedOut, _) if job.reason == Some(EndReason::Reported) => {
                Ok(Err(ExecuteError::TimedOut(self.order.within)))
            }
            _ if job.reason == Some(EndReason::TooLate) => Err(FleetError::Late),
            (state, _) => {
                let reason = job.reason.map_or(String::new(), |reason| format!(", {reason:?}"));
                let words: String = job.summary.chars().take(200).collect();
                let words = if words.is_empty() { words } else { format!(": {words}") };
                Err(FleetError::Undone(format!("{state:?}{reason}{words}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::testing::http_spec;
    use remuda_fleet::message::{MESSAGE_BYTES_MAX, encode};
    use remuda_protocol::primitives::B256;

    fn errand(patience: u64) -> Errand {
        let order = Order {
            job_id: B256::repeat_byte(7),
            within: Duration::from_secs(5),
            pinned: false,
            spec: http_spec("GET", "http://example.com/"),
        };
        Errand { order, patience: Duration::from_secs(patience), once: true }
    }

    #[test]
    fn a_lease_leaves_most_of_the_time_to_the_next_worker() {
        assert_eq!(errand(58).lease_ttl_seconds(), 14);
        assert_eq!(errand(8).lease_ttl_seconds(), 3, "sooner would be too soon");
        assert_eq!(errand(100_000).lease_ttl_seconds(), 30);
    }

    #[test]
    fn the_largest_job_of_a_chain_fits_into_a_message() {
        let mut errand = errand(60);
        // A transaction has 128 KiB.
        errand.order.spec = http_spec("GET", &"x".repeat(128 * 1024));
        let run = errand.submission(BTreeSet::new(), Duration::ZERO).unwrap();
        assert!(encode(&run).len() < MESSAGE_BYTES_MAX);
        assert!(run.jobs[0].retry.once);
        assert_eq!(run.jobs[0].start_within_seconds, Some(60));
        let later = errand.submission(BTreeSet::new(), Duration::from_secs(50)).unwrap();
        assert_eq!(later.jobs[0].start_within_seconds, Some(10), "what is left");
    }

    #[test]
    fn only_a_worker_that_says_so_is_why_time_was_too_short() {
        let view = |reason: EndReason| -> JobView {
            let view = serde_json::json!({ "job_id": "job_1-0", "name": "a", "state": "TIMED_OUT",
                "attempt": 1, "fence": 1, "losses": 0, "log_bytes": 0, "reason": reason });
            serde_json::from_value(view).unwrap()
        };
        let told = errand(60).finding(&view(EndReason::Reported), None);
        assert!(matches!(told, Ok(Err(ExecuteError::TimedOut(_)))), "{told:?}");
        let hung = errand(60).finding(&view(EndReason::RuntimeExceeded), None);
        assert!(matches!(hung, Err(FleetError::Undone(_))), "{hung:?}");
    }
}
