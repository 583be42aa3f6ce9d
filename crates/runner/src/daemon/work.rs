//! One job's work, from the journal to a signed result on disk.

use super::conduct::Conduct;
use super::desk::Note;
use super::dispatch::repeatable;
use super::faults::Doubt;
use super::purse::Most;
use crate::executor::{ExecuteError, Progress, excuse};
use crate::fleet::{Errand, Fleet, Order};
use crate::journal::{Entry, Journal, Outcome, Stage};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{B256, JobId};
use remuda_protocol::verifier::excuse::Delivery;
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

/// What all work shares.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) fleet: Fleet,
    pub(crate) journal: Journal,
    pub(crate) key: SecretKey,
    pub(crate) conduct: Conduct,
    /// For what the desk must hear at once.
    pub(crate) notes: mpsc::Sender<Note>,
}

/// One job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) chain_id: u64,
    pub(crate) job_id: JobId,
    pub(crate) attempt: u32,
    pub(crate) spec: JobSpec,
    /// Time for the work itself.
    pub(crate) within: Duration,
    /// Time until its result is of no use any more.
    pub(crate) patience: Duration,
    /// Bytes that are opened.
    pub(crate) most: Most,
    /// Whether governance vouches for its program.
    pub(crate) pinned: bool,
}

impl Task {
    fn errand(&self) -> Errand {
        let Self { job_id, within, patience, pinned, spec, .. } = self.clone();
        let once = !repeatable(&spec.job_type);
        Errand { order: Order { job_id, within, pinned, spec }, patience, once }
    }

    /// A result, if it is as small as the job wants it and as its fees must be.
    fn fitting(&self, result: Vec<u8>) -> Result<Vec<u8>, ExecuteError> {
        let limit = self.spec.result_schema.max_return_bytes as usize;
        let Most { bytes, why } = self.most;
        match result.len() {
            size if size > limit => Err(ExecuteError::TooLarge { limit }),
            size if size > bytes => Err(ExecuteError::TooCostly { limit: bytes, why }),
            _ => Ok(result),
        }
    }
}

impl Bench {
    /// Does the work. What comes back is on disk: a result, or an excuse that stands for one, with
    /// the reason for the operator's eyes; or the reason why there is neither.
    pub(crate) async fn run(
        &self,
        task: &Task,
        progress: &dyn Progress,
    ) -> Result<(Outcome, Option<String>), Miss> {
        let until = Instant::now() + task.patience;
        self.keep(task, Stage::Begun, until).await?;
        // Without time nothing is begun: a request would have its effect, and no result.
        let found = match task.within.is_zero() {
            true => Ok(Err(ExecuteError::TimedOut(task.within))),
            false => self.fleet.execute(&task.errand(), progress).await,
        };
        let result = match found {
            Ok(result) => result.and_then(|result| task.fitting(result)),
            Err(error) => return self.failed(task, error.to_string(), Doubt::Some).await,
        };
        let (delivery, why) = match result {
            Ok(result) => (Delivery::from(self.conduct.tell(result).await), None),
            Err(error) => match (excuse::of(&task.spec, &error), &error) {
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
        if !repeatable(&task.spec.job_type)
            && let Err(why) = self.write(task, Stage::Failed(why.clone())).await
        {
            let _ = self.notes.send(Note::Journal(Err(why))).await;
        }
        Err(Miss { why, fault: Some(doubt) })
    }

    fn sign(&self, task: &Task, delivery: Delivery) -> Outcome {
        let runner = self.key.address();
        let digest = delivery.digest(task.chain_id, task.job_id, task.attempt, runner);
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
        let entry =
            Entry { job_id: task.job_id, attempt: task.attempt, spec: task.spec.clone(), stage };
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
    use super::super::testing::http_spec;
    use super::*;
    use remuda_protocol::verifier::excuse::Excuse;

    #[test]
    fn a_result_that_costs_too_much_is_answered_with_an_excuse() {
        let spec = http_spec("GET", "http://example.com/");
        let most = Most { bytes: 600, why: "the job does not pay for it" };
        let (chain_id, job_id, attempt, pinned) = (7, B256::ZERO, 0, false);
        let within = Duration::from_secs(1);
        let patience = within;
        let task = Task { chain_id, job_id, attempt, spec, within, patience, most, pinned };
        assert!(task.fitting(vec![7; 600]).is_ok());
        let error = task.fitting(vec![7; 601]).unwrap_err();
        assert!(matches!(error, ExecuteError::TooCostly { limit: 600, .. }), "{error:?}");
        assert_eq!(excuse::of(&task.spec, &error), Some(Excuse::TooCostly));
        let larger = task.fitting(vec![7; 1_025]);
        assert_eq!(larger, Err(ExecuteError::TooLarge { limit: 1_024 }), "which anybody would say");
    }
}
