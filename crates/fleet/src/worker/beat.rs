//! Heartbeats: as long as the lease is needed, and a little apart from everybody else's.

use super::link::{Link, LinkError};
use super::pace::{beat_pause, random, retry_pause};
use super::status::{Control, Status};
use crate::id::RunnerId;
use crate::message::{Heartbeat, HeartbeatAck, LeaseGranted, LogCursor};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// Least time between two beats that only tell how far a job is.
const NEWS_PAUSE: Duration = Duration::from_millis(500);

/// What is needed to beat.
pub(super) struct Beats {
    /// The way to the orchestrator.
    pub(super) link: Link,
    /// Who beats.
    pub(super) runner_id: RunnerId,
    /// What for.
    pub(super) granted: LeaseGranted,
    /// What to tell.
    pub(super) status: watch::Receiver<Status>,
    /// What the answers want of the job.
    pub(super) control: watch::Sender<Control>,
    /// Until when the lease holds, as far as this side knows.
    pub(super) held_until: watch::Sender<Instant>,
}

impl Beats {
    /// Beats until the lease is lost. Whoever needs it no more drops this.
    pub(super) async fn run(self) {
        let interval = Duration::from_secs(self.granted.heartbeat_interval_seconds.into());
        let (mut seq, mut failures) = (0, 0);
        let (mut began, mut told) = (Instant::now(), 0);
        loop {
            let pause = match failures {
                0 => beat_pause(interval, random()),
                // Sooner, but never more often than is asked for otherwise.
                failures => retry_pause(failures, random()).min(interval),
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = self.further(told, began) => {}
            }
            (began, told) = (Instant::now(), self.step());
            seq += 1;
            let sent = Instant::now();
            match self.link.send("heartbeat", &self.message(seq)).await {
                Ok(ack) => {
                    failures = 0;
                    self.heard(sent, &ack);
                }
                Err(error) if error.passes() => {
                    failures += 1;
                    tracing::warn!(%error, "a heartbeat is not answered");
                }
                Err(error) => {
                    tracing::warn!(%error, job = %self.granted.job_id, "the lease is lost");
                    self.control.send_if_modified(|control| control.raise(Control::Stale));
                    return;
                }
            }
        }
    }

    /// How far the job is, in tenths.
    fn step(&self) -> u8 {
        self.status.borrow().progress.percent.unwrap_or(0) / 10
    }

    /// Until somebody who waits for a call would want to know how far it is. What steps do is told with the
    /// next beat.
    async fn further(&self, told: u8, last: Instant) {
        if self.granted.job_spec.as_ref().is_none_or(|spec| spec.call.is_none()) {
            std::future::pending::<()>().await;
        }
        let mut status = self.status.clone();
        let more = |status: &Status| status.progress.percent.unwrap_or(0) / 10 > told;
        if status.wait_for(more).await.is_err() {
            std::future::pending::<()>().await;
        }
        sleep_until(last + NEWS_PAUSE).await;
    }

    fn message(&self, seq: u64) -> Heartbeat {
        let status = self.status.borrow().clone();
        Heartbeat {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.runner_id.clone(),
            seq: Some(seq),
            phase: Some(status.phase),
            progress: Some(status.progress),
            log_cursor: Some(LogCursor { bytes_sent: status.log_bytes }),
            ts: None,
        }
    }

    fn heard(&self, sent: Instant, ack: &HeartbeatAck) {
        // From when it was sent: the orchestrator cannot have counted from earlier.
        let ttl = Duration::from_secs(ack.new_lease_ttl_seconds.into());
        self.held_until.send_replace(sent + ttl);
        if ack.cancel_requested {
            let until = sent + Duration::from_secs(ack.cancel_deadline_seconds.into());
            self.control.send_if_modified(|control| control.raise(Control::Cancel { until }));
        }
    }
}

/// Sends a message again and again, until it is answered.
pub(super) async fn insist<T, F: Future<Output = Result<T, LinkError>>>(
    mut send: impl FnMut() -> F,
) -> Result<T, LinkError> {
    let mut failures = 0;
    loop {
        match send().await {
            Err(error) if error.passes() => {
                tracing::warn!(%error, "a message is not answered; it is sent again");
                sleep(retry_pause(failures, random())).await;
                failures += 1;
            }
            answered => return answered,
        }
    }
}
