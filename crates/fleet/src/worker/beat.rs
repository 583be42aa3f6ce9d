//! Heartbeats: as long as the lease is needed, and a little apart from everybody else's.

use super::call::shortened;
use super::link::{Link, LinkError};
use super::mask::Mask;
use super::pace::{beat_pause, random, retry_pause};
use super::status::{Control, Status};
use super::trouble::Trouble;
use crate::id::RunnerId;
use crate::message::{Heartbeat, HeartbeatAck, LeaseGranted, LogCursor, Phase, Progress};
use crate::time::Clock;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// News are told so soon after the last beat, and no sooner: they are for eyes.
const NEWS_PAUSE: Duration = Duration::from_millis(500);

/// What the last beat said.
struct Told {
    phase: Phase,
    /// How far the job is, in tenths.
    tenths: u8,
    /// None: there was none yet.
    at: Option<Instant>,
}

fn tenths(percent: Option<u8>) -> u8 {
    percent.unwrap_or(0) / 10
}

/// What is needed to beat.
pub(super) struct Beats {
    /// The way to the orchestrator.
    pub(super) link: Link,
    pub(super) runner_id: RunnerId,
    pub(super) granted: LeaseGranted,
    pub(super) status: watch::Receiver<Status>,
    /// What must not be told with it.
    pub(super) mask: Mask,
    /// What the answers want of the job.
    pub(super) control: watch::Sender<Control>,
    /// What time this side takes it for. Nothing is decided by it.
    pub(super) clock: Clock,
    /// Until when the lease holds, as far as this side knows.
    pub(super) held_until: watch::Sender<Instant>,
}

impl Beats {
    /// Beats until the lease is lost. Whoever needs it no more drops this.
    pub(super) async fn run(self) {
        let interval = Duration::from_secs(self.granted.heartbeat_interval_seconds.into());
        let (mut seq, mut failures) = (0, 0);
        // The acknowledgement has told as much.
        let mut told = Told { phase: Phase::Starting, tenths: 0, at: None };
        loop {
            let pause = match failures {
                0 => beat_pause(interval, random()),
                // Sooner, but never more often than is asked for otherwise.
                failures => retry_pause(failures, random()).min(interval),
            };
            tokio::select! {
                () = sleep(pause) => {}
                // A short job is over before its first turn: that it runs is told at once.
                () = self.news(&told), if failures == 0 => {}
            }
            seq += 1;
            let sent = Instant::now();
            let message = self.message(seq);
            match self.link.send("heartbeat", &message).await {
                Ok(ack) => {
                    failures = 0;
                    told = Told {
                        phase: message.phase.unwrap_or(told.phase),
                        tenths: tenths(message.progress.and_then(|progress| progress.percent)),
                        at: Some(sent),
                    };
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

    /// Until there is another phase to tell than was told or, to somebody who waits for a call, that it is
    /// further. How far steps are is told with the next beat.
    async fn news(&self, told: &Told) {
        let call = self.granted.job_spec.as_ref().is_some_and(|spec| spec.call.is_some());
        let mut status = self.status.clone();
        let news = |status: &Status| {
            let further = tenths(status.progress.percent) > told.tenths;
            status.phase != told.phase || call && further
        };
        if status.wait_for(news).await.is_err() {
            // Nobody is left to have news of.
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
    send: impl FnMut() -> F,
) -> Result<T, LinkError> {
    insist_for(Duration::MAX, send).await
}

/// The same, but not when there is trouble for so long that it stays so.
pub(super) async fn insist_for<T, F: Future<Output = Result<T, LinkError>>>(
    patience: Duration,
    mut send: impl FnMut() -> F,
) -> Result<T, LinkError> {
    let (mut failures, mut trouble) = (0, Trouble::none(patience));
    loop {
        match send().await {
            Err(error) if error.passes() => {
                if trouble.lasts(&error) {
                    return Err(error);
                }
                tracing::warn!(%error, "a message is not answered; it is sent again");
                sleep(retry_pause(failures, random())).await;
                failures += 1;
            }
            answered => return answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn trouble_that_lasts_ends_and_silence_does_not() {
        let failing =
            |code: &str| LinkError::Failing { code: code.to_owned(), message: String::new() };
        let tries = std::cell::Cell::new(0);
        let asked = insist_for(Duration::from_millis(200), async || {
            tries.set(tries.get() + 1);
            match tries.get() {
                1 => Err(failing("STORE_UNAVAILABLE")),
                2 => Err(LinkError::Unreachable(String::new())),
                _ => Err::<(), _>(failing("DISK_FAILED")),
            }
        });
        assert_eq!(asked.await, Err(failing("DISK_FAILED")));
        assert!(tries.get() > 3, "not at its first time");
        let tries = std::cell::Cell::new(0);
        let asked = insist_for(Duration::ZERO, async || {
            tries.set(tries.get() + 1);
            match tries.get() {
                1..=3 => Err(LinkError::Unreachable(String::new())),
                _ => Ok(()),
            }
        });
        assert_eq!(asked.await, Ok(()));
        let asked = insist_for(Duration::ZERO, async || Err::<(), _>(LinkError::Between(413)));
        assert_eq!(asked.await, Err(LinkError::Between(413)), "what lies between stays so");
    }
}
