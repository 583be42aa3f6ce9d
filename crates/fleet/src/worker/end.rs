//! Reports the end of a job until the orchestrator has answered.

use super::call::shortened;
use super::lease_run::LeaseRun;
use super::link::LinkError;
use super::retry::retry_until_answered;
use super::status::Control;
use super::steps::Ended;
use super::verdict::Verdict;
use crate::message::{
    Artifact, Body, CancelAck, CancelAckAck, Complete, CompleteAck, Data, Failure, FinalStatus,
    Timings,
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
                let said = self.say::<_, CancelAckAck>("cancel-ack", &stopped).await;
                ("canceled".to_owned(), said.map(|said| said.map(drop)))
            }
            ended => {
                let complete = self.complete(&Verdict::of(ended, failure), artifacts, output);
                let said = self.say::<_, CompleteAck>("complete", &complete).await;
                (complete.summary, said.map(|said| said.map(drop)))
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
    async fn say<M: Body, A: Body>(&self, path: &str, last: &M) -> Option<Result<A, LinkError>> {
        // Resending is idempotent, but nothing is sent under an expired lease.
        let said = retry_until_answered(async || match self.sure().await {
            true => self.context.link.send(path, last).await.map(Some),
            false => Ok(None),
        });
        said.await.transpose()
    }

    /// Waits until the lease is known to hold: after its expiry a heartbeat must be answered first. False: it
    /// is lost.
    async fn sure(&self) -> bool {
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
        verdict: &Verdict,
        artifacts: Vec<Artifact>,
        output: Option<Data>,
    ) -> Complete {
        let timings = Timings { started_at: self.started, finished_at: self.context.time() };
        Complete {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.context.runner_id.clone(),
            status: verdict.status,
            exit_code: verdict.exit_code,
            failure: verdict.failure,
            timings: Some(timings),
            artifacts,
            summary: self.summary(&verdict.summary),
            output,
        }
    }

    fn summary(&self, text: &str) -> String {
        shortened(&self.mask.text(text))
    }
}
