//! One job's work, from the journal to a signed result on disk.

use super::conduct::Conduct;
use super::desk::Note;
use super::faults::Doubt;
use super::purse::Most;
use crate::backend::{Backend, Job};
use crate::executor::{ExecuteError, Progress, excuse, repeatable};
use crate::journal::{Entry, Journal, Outcome, Stage};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::B256;
use remuda_protocol::verifier::excuse::Delivery;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long to wait before the journal is written to again.
const WRITE_AGAIN: Duration = Duration::from_secs(1);

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Miss {
    pub(crate) why: String,
    /// Whether a part of the runner's own is out of order.
    pub(crate) fault: Option<Doubt>,
}

/// Executes tasks: what all of them share.
#[derive(Clone)]
pub(crate) struct TaskRunner {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) journal: Journal,
    pub(crate) key: SecretKey,
    pub(crate) conduct: Conduct,
    /// For what the desk must hear at once.
    pub(crate) notes: mpsc::Sender<Note>,
}

/// One job, and what is needed to sign its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) chain_id: u64,
    pub(crate) attempt: u32,
    pub(crate) job: Job,
    /// Bytes that are opened.
    pub(crate) most: Most,
}

impl Task {
    /// A result, if it is as small as the job wants it and as its fees must be.
    fn fitting(&self, result: Vec<u8>) -> Result<Vec<u8>, ExecuteError> {
        let limit = self.job.spec.result_schema.max_return_bytes as usize;
        let Most { bytes, why } = self.most;
        match result.len() {
            size if size > limit => Err(ExecuteError::TooLarge { limit }),
            size if size > bytes => Err(ExecuteError::TooCostly { limit: bytes, why }),
            _ => Ok(result),
        }
    }
}

impl TaskRunner {
    /// Does the work. What comes back is on disk: a result, or an excuse that stands for one, with
    /// the reason for the operator's eyes; or the reason why there is neither.
    pub(crate) async fn run(
        &self,
        task: &Task,
        progress: &dyn Progress,
    ) -> Result<(Outcome, Option<String>), Miss> {
        let until = Instant::now() + task.job.expires_in;
        self.keep(task, Stage::Begun, until).await?;
        // Without time nothing is begun: a request would have its effect, and no result. The disk may have
        // kept the journal waiting.
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
            Ok(result) => result.and_then(|result| task.fitting(result)),
            Err(error) => return self.failed(task, error.to_string(), Doubt::Some).await,
        };
        let (delivery, why) = match result {
            Ok(result) => (Delivery::from(self.conduct.tell(result).await), None),
            Err(error) => match (excuse::of(&task.job.spec, &error), &error) {
                (Some(code), _) => (Delivery::from(code), Some(error.to_string())),
                (None, ExecuteError::Backend(_)) => {
                    return self.failed(task, error.to_string(), Doubt::None).await;
                }
                (None, _) => return self.failed(task, error.to_string(), Doubt::Some).await,
            },
        };
        let outcome = self.sign(task, delivery);
        self.keep(task, Stage::Done(outcome.clone()), until).await?;
        Ok((outcome, why))
    }

    /// What can be done again is not over: after a restart it is begun anew.
    async fn failed<T>(&self, task: &Task, why: String, doubt: Doubt) -> Result<T, Miss> {
        if !repeatable(&task.job.spec.job_type)
            && let Err(why) = self.write(task, Stage::Failed(why.clone())).await
        {
            let _ = self.notes.send(Note::Journal(Err(why))).await;
        }
        Err(Miss { why, fault: Some(doubt) })
    }

    fn sign(&self, task: &Task, delivery: Delivery) -> Outcome {
        let runner = self.key.address();
        let digest = delivery.digest(task.chain_id, task.job.job_id, task.attempt, runner);
        let salt = B256::from(rand::random::<[u8; 32]>());
        Outcome { delivery, salt, result_sig: self.key.sign(&digest) }
    }

    /// Writes an entry, again and again while the disk takes none and the job has time. Nothing is begun
    /// and nothing is committed to before.
    async fn keep(&self, task: &Task, stage: Stage, until: Instant) -> Result<(), Miss> {
        while let Err(why) = self.write(task, stage.clone()).await {
            let _ = self.notes.send(Note::Journal(Err(why.clone()))).await;
            if Instant::now() + WRITE_AGAIN >= until {
                return Err(Miss { why, fault: None });
            }
            tokio::time::sleep(WRITE_AGAIN).await;
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
        // The disk may take its time.
        let written = tokio::task::spawn_blocking(move || journal.write(&entry)).await;
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("the journal cannot be written: {error}")),
            Err(_) => Err("the journal cannot be written".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_spec;
    use remuda_protocol::verifier::excuse::Excuse;

    #[test]
    fn a_result_that_costs_too_much_is_answered_with_an_excuse() {
        let spec = http_spec("GET", "http://example.com/");
        let most = Most { bytes: 600, why: "the job does not pay for it" };
        let second = Duration::from_secs(1);
        let (job_id, pinned) = (B256::ZERO, false);
        let job = Job { job_id, spec, time_limit: second, expires_in: second, pinned };
        let task = Task { chain_id: 7, attempt: 0, job, most };
        assert!(task.fitting(vec![7; 600]).is_ok());
        let error = task.fitting(vec![7; 601]).unwrap_err();
        assert!(matches!(error, ExecuteError::TooCostly { limit: 600, .. }), "{error:?}");
        assert_eq!(excuse::of(&task.job.spec, &error), Some(Excuse::TooCostly));
        let larger = task.fitting(vec![7; 1_025]);
        assert_eq!(larger, Err(ExecuteError::TooLarge { limit: 1_024 }), "which anybody would say");
    }
}
