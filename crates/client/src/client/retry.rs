//! How long to wait before trying again.

use reqwest::Response;
use reqwest::header::RETRY_AFTER;
use std::time::Duration;

/// Pauses between attempts: `base · 2^n`, at most `max`, of which between half and all is waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub attempts: u32,
    pub base: Duration,
    /// The longest pause. A node that asks for more is not asked again.
    pub max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 5, base: Duration::from_millis(100), max: Duration::from_secs(10) }
    }
}

impl RetryPolicy {
    /// The pause after failed attempt `n`, counted from 0; none if that was the last, or if the
    /// node asks for more time than this policy has.
    pub fn pause(&self, n: u32, asked_to_wait: Option<Duration>) -> Option<Duration> {
        if n >= self.attempts {
            return None;
        }
        match asked_to_wait {
            // Never earlier than asked for; a little later, so that not everybody comes at once.
            Some(wait) => {
                (wait <= self.max).then(|| wait + self.base.mul_f64(rand::random::<f64>()))
            }
            None => Some(self.backoff(n)),
        }
    }

    /// The pause of an endless retry, as [`Events`](super::Events) makes it.
    pub fn backoff(&self, n: u32) -> Duration {
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(n.min(20)));
        doubled.min(self.max).mul_f64(0.5 + rand::random::<f64>() / 2.0)
    }
}

/// `Retry-After` in seconds. (Its other form, a date, no node sends.)
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_end() {
        let policy = RetryPolicy::default();
        for n in 0..5 {
            let whole = Duration::from_millis(100 << n).min(policy.max);
            let pause = policy.pause(n, None).unwrap();
            assert!(pause >= whole / 2 && pause <= whole, "{pause:?}");
        }
        assert_eq!(policy.pause(5, None), None);
        assert!(policy.backoff(u32::MAX) <= policy.max);
    }

    #[test]
    fn a_node_that_asks_for_time_gets_it_or_is_not_asked_again() {
        let policy = RetryPolicy::default();
        let wait = Duration::from_secs(2);
        assert!(policy.pause(0, Some(wait)).unwrap() >= wait);
        assert!(policy.pause(0, Some(policy.max)).is_some());
        assert_eq!(policy.pause(0, Some(policy.max + Duration::from_secs(1))), None);
    }
}
