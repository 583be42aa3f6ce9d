//! The two ends of a connection, without I/O and without a clock: frames and heights go in, frames
//! and events come out. Only [`crate::quic`] knows sockets.

pub mod budget;
pub mod runner;
pub mod validator;

use crate::frame::{Frame, Parting};
use remuda_protocol::primitives::JobId;

/// What a session wants done, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<E> {
    /// Send this on the control stream.
    Control(Frame),
    /// Open a stream for a job and send this. Validators only.
    OpenJob(JobId, Frame),
    /// Send this on the job's stream.
    Job(JobId, Frame),
    /// The job's stream has done its work.
    FinishJob(JobId),
    /// Tell whoever owns the session.
    Event(E),
    /// Send what is waiting, then close. Nothing comes after this.
    Close(Parting),
}

/// Jobs in flight between one validator and one runner, each with a stream; more are not pushed but polled
/// for. A runner of 500 jobs a second, each of which takes four blocks of 1 s, has as many.
pub const JOBS_MAX: usize = 2_048;

/// So many frames in a burst, and so many a second. Counted in thousandths, so that no time is lost
/// to rounding.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    burst: i64,
    per_second: i64,
    /// Below zero after a large frame, which is paid off before the next one.
    millis: i64,
    at_ms: u64,
}

impl Allowance {
    pub fn new(burst: u32, per_second: u32, now_ms: u64) -> Self {
        let burst = i64::from(burst) * 1_000;
        Self { burst, per_second: i64::from(per_second), millis: burst, at_ms: now_ms }
    }

    fn at(&self, now_ms: u64) -> i64 {
        let waited = i64::try_from(now_ms.saturating_sub(self.at_ms)).unwrap_or(i64::MAX);
        let gained = waited.saturating_mul(self.per_second);
        self.millis.saturating_add(gained).min(self.burst)
    }

    /// Takes one, if one is there.
    pub fn take(&mut self, now_ms: u64) -> bool {
        self.take_many(1, now_ms)
    }

    /// Takes several if at least one is there; what is missing is owed.
    pub fn take_many(&mut self, count: u32, now_ms: u64) -> bool {
        self.millis = self.at(now_ms);
        self.at_ms = self.at_ms.max(now_ms);
        let enough = self.millis >= 1_000;
        if enough {
            self.millis -= i64::from(count) * 1_000;
        }
        enough
    }

    /// When one is there, if it is not there now.
    pub fn ready_ms(&self, now_ms: u64) -> Option<u64> {
        let missing = 1_000 - self.at(now_ms);
        let wait = missing.checked_add(self.per_second - 1)? / self.per_second.max(1);
        (missing > 0).then(|| now_ms.saturating_add(wait.unsigned_abs()))
    }

    /// Some more, besides what time brings.
    pub fn grant(&mut self, count: u64) {
        let count = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(1_000);
        self.millis = self.millis.saturating_add(count).min(self.burst);
    }

    /// Whether it is as if it were new: then nobody needs to remember it.
    pub fn full(&self, now_ms: u64) -> bool {
        self.at(now_ms) >= self.burst
    }
}

/// At most so many bytes of a text that others wrote, cut at a character.
pub(crate) fn shortened(mut text: String, limit: usize) -> String {
    while text.len() > limit || !text.is_char_boundary(text.len()) {
        text.pop();
    }
    text
}

/// Longest text for people that is kept.
pub(crate) const TEXT_LIMIT: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_says_when_the_next_frame_fits() {
        let mut allowance = Allowance::new(2, 4, 0);
        assert_eq!(allowance.ready_ms(0), None);
        assert!(allowance.take(0) && allowance.take(0) && !allowance.take(0));
        assert_eq!(allowance.ready_ms(0), Some(250));
        assert!(!allowance.take(249) && allowance.take(250));
    }

    #[test]
    fn a_large_frame_is_paid_off_before_the_next_one() {
        let mut allowance = Allowance::new(2, 4, 0);
        assert!(allowance.take_many(6, 0));
        assert_eq!(allowance.ready_ms(0), Some(1_250));
        assert!(!allowance.take(1_249) && allowance.take(1_250));
        assert!(!allowance.full(1_250) && allowance.full(2_000));
    }
}
