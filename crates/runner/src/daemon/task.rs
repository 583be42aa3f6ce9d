//! The work on one job, from its journal entry to a signed result on disk.

use super::faults::Certainty;
use super::fee_budget::ResultLimit;
use super::runner_core::Event;
use super::tampering::ResultTampering;
use crate::backend::{Backend, Job};
use crate::executor::{ExecuteError, Progress, excuse, repeatable};
use crate::journal::{Entry, Journal, Outcome, Stage};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::B256;
use remuda_protocol::verifier::excuse::Delivery;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Interval of attempts to write the journal.
const WRITE_RETRY: Duration = Duration::from_secs(1);

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskError {
    pub(crate) why: String,
    /// A fault of one of the runner's parts.
    pub(crate) fault: Option<Certainty>,
}

#[derive(Clone)]
pub(crate) struct TaskRunner {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) journal: Journal,
    pub(crate) key: SecretKey,
    pub(crate) tampering: ResultTampering,
    pub(crate) events: mpsc::Sender<Event>,
}

/// A job, and what is needed to sign its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) chain_id: u64,
    pub(crate) attempt: u32,
    pub(crate) job: Job,
    pub(crate) limit: ResultLimit,
}

impl Task {
    /// Checks the size against the job's limit, and against what its fees allow.
    fn check_size(&self, result: Vec<u8>) -> Result<Vec<u8>, ExecuteError> {
        let limit = self.job.spec.result_schema.max_return_bytes as usize;
        let ResultLimit { bytes, why } = self.limit;
        match result.len() {
            size if size > limit => Err(ExecuteError::TooLarge { limit }),
            size if size > bytes => Err(ExecuteError::TooCostly { limit: bytes, why }),
            _ => Ok(result),
        }
    }
}

impl TaskRunner {
    /// Returns the result, or an excuse with its reason, once it is on disk.
    pub(crate) async fn run(
        &self,
        task: &Task,
        progress: &dyn Progress,
    ) -> Result<(Outcome, Option<String>), TaskError> {
        let until = Instant::now() + task.job.expires_in;
        self.record(task, Stage::Begun, until).await?;
        // The disk may have used up the time. Work that cannot deliver a result must have no effect.
        let expires_in = until.saturating_duration_since(Instant::now());
        let time_limit = task.job.time_limit.min(expires_in);
        let found = match time_limit.is_zero() {
            true => Ok(Err(ExecuteError::TimedOut(task.job.time_limit))),
            false => {
                let job = Job { expires_in, time_limit, ..task.job.clone() };
                self.backend.execute(&job, progress).await
            }
        };
        let result = match found {
            Ok(result) => result.and_then(|result| task.check_size(result)),
            Err(error) => return self.failed(task, error.to_string(), Certainty::Suspected).await,
        };
        let (delivery, why) = match result {
            Ok(result) => (Delivery::from(self.tampering.apply(result).await), None),
            Err(error) => match (excuse::of(&task.job.spec, &error), &error) {
                (Some(code), _) => (Delivery::from(code), Some(error.to_string())),
                (None, ExecuteError::Backend(_)) => {
                    return self.failed(task, error.to_string(), Certainty::Certain).await;
                }
                (None, _) => {
                    return self.failed(task, error.to_string(), Certainty::Suspected).await;
                }
            },
        };
        let outcome = self.sign(task, delivery);
        self.record(task, Stage::Done(outcome.clone()), until).await?;
        Ok((outcome, why))
    }

    /// Repeatable work is not recorded as failed: after a restart it begins again.
    async fn failed<T>(
        &self,
        task: &Task,
        why: String,
        certainty: Certainty,
    ) -> Result<T, TaskError> {
        if !repeatable(&task.job.spec.job_type)
            && let Err(why) = self.write(task, Stage::Failed(why.clone())).await
        {
            let _ = self.events.send(Event::JournalProbed(Err(why))).await;
        }
        Err(TaskError { why, fault: Some(certainty) })
    }

    fn sign(&self, task: &Task, delivery: Delivery) -> Outcome {
        let runner = self.key.address();
        let digest = delivery.digest(task.chain_id, task.job.job_id, task.attempt, runner);
        let salt = B256::from(rand::random::<[u8; 32]>());
        Outcome { delivery, salt, result_sig: self.key.sign(&digest) }
    }

    /// Writes an entry, and retries as long as the job has time. Work and commits wait for it.
    async fn record(&self, task: &Task, stage: Stage, until: Instant) -> Result<(), TaskError> {
        while let Err(why) = self.write(task, stage.clone()).await {
            let _ = self.events.send(Event::JournalProbed(Err(why.clone()))).await;
            if Instant::now() + WRITE_RETRY >= until {
                return Err(TaskError { why, fault: None });
            }
            tokio::time::sleep(WRITE_RETRY).await;
        }
        Ok(())
    }

    async fn write(&self, task: &Task, stage: Stage) -> Result<(), String> {
        let entry = Entry {
            job_id: task.job.job_id,
            attempt: task.attempt,
            spec: task.job.spec.clone(),
            stage,
        };
        let journal = self.journal.clone();
        let written = tokio::task::spawn_blocking(move || journal.write(&entry)).await;
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("journal not writable: {error}")),
            Err(_) => Err("journal not writable: the write panicked".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_spec;
    use remuda_protocol::verifier::excuse::Excuse;

    #[test]
    fn too_costly_result_becomes_an_excuse() {
        let spec = http_spec("GET", "http://example.com/");
        let limit = ResultLimit { bytes: 600, why: "the job does not pay for it" };
        let second = Duration::from_secs(1);
        let (job_id, pinned) = (B256::ZERO, false);
        let job = Job { job_id, spec, time_limit: second, expires_in: second, pinned };
        let task = Task { chain_id: 7, attempt: 0, job, limit };
        assert!(task.check_size(vec![7; 600]).is_ok());
        let error = task.check_size(vec![7; 601]).unwrap_err();
        assert!(matches!(error, ExecuteError::TooCostly { limit: 600, .. }), "{error:?}");
        assert_eq!(excuse::of(&task.job.spec, &error), Some(Excuse::TooCostly));
        let larger = task.check_size(vec![7; 1_025]);
        assert_eq!(larger, Err(ExecuteError::TooLarge { limit: 1_024 }), "which anybody would say");
    }
}
