//! Reports the end of a job, until the orchestrator has answered.

use super::call::shortened;
use super::lease_run::LeaseRun;
use super::link::LinkError;
use super::retry::retry_until_answered;
use super::status::Control;
use super::steps::Ended;
use crate::message::{
    Artifact, Body, CancelAck, CancelAckAck, Complete, CompleteAck, CompleteStatus, Data, Failure,
    FinalStatus, Timings,
};
use tokio::time::Instant;

impl LeaseRun<'_> {
    /// Reports how the job ended, until it is answered.
    pub(super) async fn end(
        &self,
        ended: Ended,
        failure: Option<Failure>,
        artifacts: Vec<Artifact>,
        output: Option<Data>,
    ) {
        if ended == Ended::Stale {
            return;
        }
        let (summary, answer) = match ended {
            Ended::Canceled => {
                let stopped = self.cancel_ack(artifacts);
                let answer = self.send_final::<_, CancelAckAck>("cancel-ack", &stopped).await;
                ("canceled".to_owned(), answer.map(|answer| answer.map(drop)))
            }
            ended => {
                let complete = self.complete(ended, failure, artifacts, output);
                let answer = self.send_final::<_, CompleteAck>("complete", &complete).await;
                (complete.summary, answer.map(|answer| answer.map(drop)))
            }
        };
        let (job, fence) = (&self.granted.job_id, &self.granted.fence);
        match answer {
            Some(Ok(())) => tracing::info!(%job, %fence, summary, "job finished"),
            Some(Err(error)) => tracing::warn!(%error, %job, %fence, "completion rejected"),
            // Logged when the heartbeat was answered.
            None => {}
        }
    }

    /// Sends the last message of a lease until it is answered. None: the lease was lost.
    async fn send_final<M: Body, A: Body>(
        &self,
        path: &str,
        last: &M,
    ) -> Option<Result<A, LinkError>> {
        // Resending is idempotent, but nothing is sent under an expired lease.
        let answer = retry_until_answered(async || match self.lease_holds().await {
            true => self.context.link.send(path, last).await.map(Some),
            false => Ok(None),
        });
        answer.await.transpose()
    }

    /// Waits until the lease is known to hold: after its expiry a heartbeat must be answered first. False: it
    /// is lost.
    async fn lease_holds(&self) -> bool {
        let (mut held, mut control) = (self.held_until.subscribe(), self.control.subscribe());
        tokio::select! {
            biased;
            _ = control.wait_for(|control| *control == Control::Stale) => false,
            _ = held.wait_for(|until| *until > Instant::now()) => true,
        }
    }

    fn cancel_ack(&self, artifacts: Vec<Artifact>) -> CancelAck {
        let step = self.status.borrow().progress.current_step.clone().unwrap_or_default();
        CancelAck {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.context.runner_id.clone(),
            final_status: FinalStatus::Canceled,
            ts: Some(self.context.time()),
            artifacts,
            summary: self.summary(&format!("Canceled during step: {step}")),
        }
    }

    fn complete(
        &self,
        ended: Ended,
        failure: Option<Failure>,
        artifacts: Vec<Artifact>,
        output: Option<Data>,
    ) -> Complete {
        let (status, cause, exit_code, summary) = described(ended);
        let timings = Timings { started_at: self.started, finished_at: self.context.time() };
        Complete {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.context.runner_id.clone(),
            status,
            exit_code,
            failure: failure.or(cause),
            timings: Some(timings),
            artifacts,
            summary: self.summary(&summary),
            output,
        }
    }

    fn summary(&self, text: &str) -> String {
        shortened(&self.mask.text(text))
    }
}

/// How `Complete` describes an end: status, cause, exit code, summary.
fn described(ended: Ended) -> (CompleteStatus, Option<Failure>, Option<i32>, String) {
    use CompleteStatus::{Failed, Succeeded, TimedOut};
    match ended {
        Ended::Succeeded => (Succeeded, None, Some(0), "Every step succeeded.".to_owned()),
        Ended::Failed { step, code } => {
            let how = code.map_or("by a signal".to_owned(), |code| format!("with code {code}"));
            (Failed, Some(Failure::StepFailed), code, format!("Step {} ended {how}.", step + 1))
        }
        Ended::TimedOut => (TimedOut, None, None, "Timed out.".to_owned()),
        Ended::OutOfMemory => {
            (Failed, Some(Failure::OutOfMemory), None, "Memory limit exceeded.".to_owned())
        }
        Ended::TooMany => {
            let why = "Too many processes or open files.".to_owned();
            (Failed, Some(Failure::StepFailed), None, why)
        }
        Ended::OutOfDisk => {
            let why = "Disk limit exceeded: space, files or directory levels.";
            (Failed, Some(Failure::OutOfDisk), None, why.to_owned())
        }
        Ended::Shutdown => {
            (Failed, Some(Failure::RunnerShutdown), None, "The worker shut down.".to_owned())
        }
        Ended::Broken(why) => (Failed, Some(Failure::RunnerError), None, why),
        // Not reported by `Complete`.
        Ended::Canceled | Ended::Stale => (Failed, Some(Failure::RunnerError), None, String::new()),
    }
}
