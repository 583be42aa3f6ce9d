//! The end of a lease: what is said of it, until the orchestrator has heard it.

use super::beat::insist;
use super::call::shortened;
use super::life::Life;
use super::link::LinkError;
use super::status::Control;
use super::steps::Ended;
use super::verdict::Verdict;
use crate::message::{
    Artifact, CancelAck, CancelAckAck, Complete, CompleteAck, Data, Failure, FinalStatus, Timings,
};
use tokio::time::Instant;

impl Life<'_> {
    /// Says how it went, until it is heard.
    pub(super) async fn end(
        &self,
        ended: Ended,
        failure: Option<Failure>,
        artifacts: Vec<Artifact>,
        output: Option<Data>,
    ) {
        if ended == Ended::Stale || !self.sure().await {
            return;
        }
        let mut how = "canceled".to_owned();
        let said = match ended {
            Ended::Canceled => self.cancel_ack(artifacts).await,
            ended => {
                let verdict = Verdict::of(ended, failure);
                how.clone_from(&verdict.summary);
                let complete = self.complete(&verdict, artifacts, output);
                insist(|| self.shop.link.send("complete", &complete))
                    .await
                    .map(|CompleteAck { .. }| ())
            }
        };
        match said {
            Ok(()) => {
                let (job, fence) = (&self.granted.job_id, &self.granted.fence);
                tracing::info!(%job, %fence, how, "a job is over for this worker");
            }
            Err(error) => {
                tracing::warn!(%error, job = %self.granted.job_id, "a job's end is not taken")
            }
        }
    }

    /// A lease that may be over is not completed: first a heartbeat must have said that it is not.
    /// False: it said that it is.
    async fn sure(&self) -> bool {
        let (mut held, mut control) = (self.held_until.subscribe(), self.control.subscribe());
        tokio::select! {
            _ = held.wait_for(|until| *until > Instant::now()) => true,
            _ = control.wait_for(|control| *control == Control::Stale) => false,
        }
    }

    async fn cancel_ack(&self, artifacts: Vec<Artifact>) -> Result<(), LinkError> {
        let step = self.status.borrow().progress.current_step.clone().unwrap_or_default();
        let message = CancelAck {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.shop.runner_id.clone(),
            final_status: FinalStatus::Canceled,
            ts: Some(self.shop.time()),
            artifacts,
            summary: self.summary(&format!("Canceled during step: {step}")),
        };
        insist(|| self.shop.link.send("cancel-ack", &message)).await.map(|CancelAckAck { .. }| ())
    }

    fn complete(
        &self,
        verdict: &Verdict,
        artifacts: Vec<Artifact>,
        output: Option<Data>,
    ) -> Complete {
        let timings = Timings { started_at: self.started, finished_at: self.shop.time() };
        Complete {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.shop.runner_id.clone(),
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
