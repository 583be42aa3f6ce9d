//! Heartbeats of a lease, with jitter.

use super::call::shortened;
use super::link::Link;
use super::mask::Mask;
use super::retry::{Backoff, jittered};
use super::status::{Control, Status};
use crate::id::RunnerId;
use crate::message::{Heartbeat, HeartbeatAck, LeaseGranted, LogCursor, Phase, Progress};
use crate::time::Clock;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// Shortest time between a heartbeat and one that reports a change.
const NEWS_PAUSE: Duration = Duration::from_millis(500);

/// Content of the last heartbeat.
struct LastBeat {
    phase: Phase,
    /// Progress in tenths.
    tenths: u8,
    /// None: none was sent.
    at: Option<Instant>,
}

fn tenths(percent: Option<u8>) -> u8 {
    percent.unwrap_or(0) / 10
}

pub(super) struct Beats {
    pub(super) link: Link,
    pub(super) runner_id: RunnerId,
    pub(super) granted: LeaseGranted,
    pub(super) status: watch::Receiver<Status>,
    /// Masks secrets in progress texts.
    pub(super) mask: Mask,
    /// Where cancellations and a lost lease are signalled.
    pub(super) control: watch::Sender<Control>,
    /// For the message's timestamp only.
    pub(super) clock: Clock,
    /// When the lease expires, as far as this side knows.
    pub(super) held_until: watch::Sender<Instant>,
}

impl Beats {
    /// Sends heartbeats until the lease is lost.
    pub(super) async fn run(self) {
        let interval = Duration::from_secs(self.granted.heartbeat_interval_seconds.into());
        let (mut seq, mut backoff, mut pause) = (0, Backoff::default(), jittered(interval));
        // Known from the acknowledgement.
        let mut told = LastBeat { phase: Phase::Starting, tenths: 0, at: None };
        loop {
            tokio::select! {
                () = sleep(pause) => {}
                // A short job would end before its first heartbeat: a new phase is reported at once.
                () = self.news(&told), if !backoff.failing() => {}
            }
            seq += 1;
            let sent = Instant::now();
            let message = self.message(seq);
            match self.link.send("heartbeat", &message).await {
                Ok(ack) => {
                    backoff.reset();
                    pause = jittered(interval);
                    told = LastBeat {
                        phase: message.phase.unwrap_or(told.phase),
                        tenths: tenths(message.progress.and_then(|progress| progress.percent)),
                        at: Some(sent),
                    };
                    self.heard(sent, &ack);
                }
                Err(error) if error.passes() => {
                    // Never less often than the interval.
                    pause = backoff.pause().min(interval);
                    tracing::warn!(%error, "heartbeat not answered, retrying");
                }
                Err(error) => {
                    tracing::warn!(%error, job = %self.granted.job_id, "lease lost");
                    self.control.send_if_modified(|control| control.raise(Control::Stale));
                    return;
                }
            }
        }
    }

    /// Waits for a new phase or, of a call, for progress. Progress of steps is reported with the next
    /// heartbeat.
    async fn news(&self, told: &LastBeat) {
        let call = self.granted.job_spec.as_ref().is_some_and(|spec| spec.call.is_some());
        let mut status = self.status.clone();
        let news = |status: &Status| {
            let further = tenths(status.progress.percent) > told.tenths;
            status.phase != told.phase || call && further
        };
        if status.wait_for(news).await.is_err() {
            // The job ended.
            std::future::pending::<()>().await;
        }
        if let Some(at) = told.at {
            sleep_until(at + NEWS_PAUSE).await;
        }
    }

    fn message(&self, seq: u64) -> Heartbeat {
        let mut status = self.status.borrow().clone();
        let Progress { current_step, message, .. } = &mut status.progress;
        for text in [current_step, message].into_iter().flatten() {
            *text = shortened(&self.mask.text(text));
        }
        Heartbeat {
            lease_id: self.granted.lease_id.clone(),
            runner_id: self.runner_id.clone(),
            seq: Some(seq),
            phase: Some(status.phase),
            progress: Some(status.progress),
            log_cursor: Some(LogCursor { bytes_sent: status.log_bytes }),
            ts: Some(self.clock.now().timestamp()),
        }
    }

    fn heard(&self, sent: Instant, ack: &HeartbeatAck) {
        // Counted from when it was sent: the orchestrator counts from later.
        let ttl = Duration::from_secs(ack.new_lease_ttl_seconds.into());
        self.held_until.send_replace(sent + ttl);
        if ack.cancel_requested {
            let until = sent + Duration::from_secs(ack.cancel_deadline_seconds.into());
            self.control.send_if_modified(|control| control.raise(Control::Cancel { until }));
        }
    }
}
