//! The two ends of a connection, without I/O and without a clock: frames and heights go in, frames
//! and events come out. Only [`crate::quic`] knows sockets.

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

/// So many frames in a burst, and so many a second. Counted in thousandths, so that no time is lost
/// to rounding.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    burst: u64,
    per_second: u64,
    millis: u64,
    at_ms: u64,
}

impl Allowance {
    /// Full.
    pub fn new(burst: u32, per_second: u32, now_ms: u64) -> Self {
        let burst = u64::from(burst) * 1_000;
        Self { burst, per_second: u64::from(per_second), millis: burst, at_ms: now_ms }
    }

    /// Takes one, if one is there.
    pub fn take(&mut self, now_ms: u64) -> bool {
        let gained = now_ms.saturating_sub(self.at_ms).saturating_mul(self.per_second);
        self.at_ms = self.at_ms.max(now_ms);
        self.millis = self.millis.saturating_add(gained).min(self.burst);
        let enough = self.millis >= 1_000;
        if enough {
            self.millis -= 1_000;
        }
        enough
    }

    /// Some more, besides what time brings.
    pub fn grant(&mut self, count: u64) {
        self.millis = self.millis.saturating_add(count.saturating_mul(1_000)).min(self.burst);
    }

    /// Whether it is as if it were new: then nobody needs to remember it.
    pub fn full(&self, now_ms: u64) -> bool {
        let gained = now_ms.saturating_sub(self.at_ms).saturating_mul(self.per_second);
        self.millis.saturating_add(gained) >= self.burst
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
