//! One job's work, from the journal to a signed result on disk.

use super::conduct::Conduct;
use super::dispatch::repeatable;
use super::purse::Most;
use crate::executor::{ExecuteError, Progress, excuse};
use crate::fleet::{Errand, Fleet, Order};
use crate::journal::{Entry, Journal, Outcome, Stage};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{B256, JobId};
use remuda_protocol::verifier::commitment::result_digest;
use std::time::Duration;

/// What all work shares.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) fleet: Fleet,
    pub(crate) journal: Journal,
    pub(crate) key: SecretKey,
    pub(crate) conduct: Conduct,
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
    ) -> Result<(Outcome, Option<String>), String> {
        self.write(task, Stage::Begun).await?;
        // Without time nothing is begun: a request would have its effect, and no result.
        let found = match task.within.is_zero() {
            true => Ok(Err(ExecuteError::TimedOut(task.within))),
            false => self.fleet.execute(&task.errand(), progress).await,
        };
        let result = match found {
            Ok(result) => result.and_then(|result| task.fitting(result)),
            Err(error) => return self.failed(task, error.to_string()).await,
        };
        let (answer, why) = match result {
            Ok(result) => (self.conduct.tell(result).await, None),
            Err(error) if excuse::is_due(&task.spec, &error) => {
                let answer = excuse::excuse(&task.spec, &error, self.key.address(), rand::random());
                (answer, Some(error.to_string()))
            }
            Err(error) => return self.failed(task, error.to_string()).await,
        };
        let outcome = self.sign(task, answer);
        self.write(task, Stage::Done(outcome.clone())).await?;
        Ok((outcome, why))
    }

    async fn failed<T>(&self, task: &Task, reason: String) -> Result<T, String> {
        self.write(task, Stage::Failed(reason.clone())).await?;
        Err(reason)
    }

    fn sign(&self, task: &Task, result: Vec<u8>) -> Outcome {
        let runner = self.key.address();
        let digest = result_digest(task.chain_id, task.job_id, task.attempt, runner, &result);
        let salt = B256::from(rand::random::<[u8; 32]>());
        Outcome { result, salt, result_sig: self.key.sign(&digest) }
    }

    async fn write(&self, task: &Task, stage: Stage) -> Result<(), String> {
        let entry =
            Entry { job_id: task.job_id, attempt: task.attempt, spec: task.spec.clone(), stage };
        let journal = self.journal.clone();
        // The disk may take its time.
        let written = tokio::task::spawn_blocking(move || journal.write(&entry)).await;
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("the journal cannot be kept: {error}")),
            Err(_) => Err("the journal cannot be kept".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::http_spec;
    use super::*;

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
        assert!(excuse::is_due(&task.spec, &error));
        let larger = task.fitting(vec![7; 1_025]);
        assert_eq!(larger, Err(ExecuteError::TooLarge { limit: 1_024 }), "which anybody would say");
    }
}
