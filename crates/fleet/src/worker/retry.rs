//! When to send a message again: pauses with jitter, and how long errors are tolerated.

use super::link::LinkError;
use ring::rand::{SecureRandom, SystemRandom};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long errors that may be permanent are retried: a full disk, a proxy that refuses.
pub(super) const RETRY_FOR: Duration = Duration::from_secs(10 * 60);

/// An interval with jitter: at least 4/5 of it, at most all of it. Thousands of runners that started together do
/// not stay in phase.
pub(super) fn jittered(interval: Duration) -> Duration {
    spread(interval, random())
}

fn spread(interval: Duration, random: u16) -> Duration {
    let least = interval * 4 / 5;
    least + (interval - least) * u32::from(random) / u32::from(u16::MAX)
}

/// The pause after `failures` earlier failures: doubles from 100 ms to 10 s, and between a quarter and all of that.
fn delay(failures: u32, random: u16) -> Duration {
    let longest = Duration::from_millis(100 << failures.min(7)).min(Duration::from_secs(10));
    longest / 4 + longest * 3 / 4 * u32::from(random) / u32::from(u16::MAX)
}

fn random() -> u16 {
    let mut bytes = [0; 2];
    // Without randomness only the jitter is missing.
    let _ = SystemRandom::new().fill(&mut bytes);
    u16::from_be_bytes(bytes)
}

/// Exponential backoff with jitter.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The pause after one more failure.
    pub(super) fn pause(&mut self) -> Duration {
        let pause = delay(self.failures, random());
        self.failures = self.failures.saturating_add(1);
        pause
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Whether the last attempt failed.
    pub(super) fn failing(&self) -> bool {
        self.failures > 0
    }
}

/// Decides whether a message is sent again.
#[derive(Debug)]
pub(super) struct RetryBudget {
    /// How long errors that may be permanent are tolerated without interruption.
    tolerance: Duration,
    since: Option<Instant>,
    backoff: Backoff,
}

impl RetryBudget {
    pub(super) fn new(tolerance: Duration) -> Self {
        Self { tolerance, since: None, backoff: Backoff::default() }
    }

    /// Waits until the message should be sent again. Returns the error if that is pointless: it was refused, or
    /// the errors have lasted too long. An orchestrator that does not answer at all is retried for ever.
    pub(super) async fn wait(&mut self, error: LinkError) -> Result<(), LinkError> {
        self.since = error.may_last().then(|| self.since.unwrap_or_else(Instant::now));
        let exhausted = self.since.is_some_and(|since| since.elapsed() >= self.tolerance);
        if exhausted || !error.passes() {
            return Err(error);
        }
        tracing::warn!(%error, "message not answered, retrying");
        sleep(self.backoff.pause()).await;
        Ok(())
    }

    pub(super) fn reset(&mut self) {
        self.since = None;
        self.backoff.reset();
    }
}

/// Sends a message until it is answered.
pub(super) async fn retry_until_answered<T, F: Future<Output = Result<T, LinkError>>>(
    send: impl FnMut() -> F,
) -> Result<T, LinkError> {
    retry_within(Duration::MAX, send).await
}

/// The same, with a limit on errors that may be permanent.
pub(super) async fn retry_within<T, F: Future<Output = Result<T, LinkError>>>(
    tolerance: Duration,
    mut send: impl FnMut() -> F,
) -> Result<T, LinkError> {
    let mut retry = RetryBudget::new(tolerance);
    loop {
        match send().await {
            Err(error) => retry.wait(error).await?,
            answered => return answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::collections::BTreeMap;

    /// Fault 13: runners that beat in phase.
    #[test]
    fn intervals_spread_over_their_last_fifth_and_are_never_exceeded() {
        let interval = Duration::from_secs(20);
        assert_eq!(spread(interval, 0), Duration::from_secs(16));
        assert_eq!(spread(interval, u16::MAX), interval);
        // 3,000 runners that started at the same moment: after five beats no second has more than a few hundred.
        let mut seconds = BTreeMap::<u64, u32>::new();
        let mut state = 1_u64;
        for _ in 0..3_000 {
            let beats = (0..5).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                spread(interval, (state >> 48) as u16)
            });
            *seconds.entry(beats.sum::<Duration>().as_secs()).or_default() += 1;
        }
        assert!(seconds.values().all(|runners| *runners < 600), "{seconds:?}");
    }

    #[test]
    fn delays_double_up_to_ten_seconds() {
        assert!(delay(0, 0) >= Duration::from_millis(25));
        assert!(delay(3, u16::MAX) <= Duration::from_millis(800));
        assert_eq!(delay(u32::MAX, u16::MAX), Duration::from_secs(10));
    }

    #[tokio::test]
    async fn lasting_errors_end_the_retries_and_silence_does_not() {
        let failing =
            |code: &str| LinkError::Failing { code: code.to_owned(), message: String::new() };
        let tries = Cell::new(0);
        let answer = retry_within(Duration::from_millis(200), async || {
            tries.set(tries.get() + 1);
            match tries.get() {
                1 => Err(failing("STORE_UNAVAILABLE")),
                2 => Err(LinkError::Unreachable(String::new())),
                _ => Err::<(), _>(failing("DISK_FAILED")),
            }
        });
        assert_eq!(answer.await, Err(failing("DISK_FAILED")));
        assert!(tries.get() > 3, "not at its first time");
        let tries = Cell::new(0);
        let answer = retry_within(Duration::ZERO, async || {
            tries.set(tries.get() + 1);
            match tries.get() {
                1..=3 => Err(LinkError::Unreachable(String::new())),
                _ => Ok(()),
            }
        });
        assert_eq!(answer.await, Ok(()));
        let answer = retry_within(Duration::ZERO, async || Err::<(), _>(LinkError::Between(413)));
        assert_eq!(answer.await, Err(LinkError::Between(413)), "a proxy's refusal stays");
    }
}
