//! Both ends of a session, free of I/O and clocks: frames and heights go in, frames and events come
//! out. Only [`crate::quic`] knows about sockets.

pub mod budget;
pub mod runner;
pub mod validator;

use crate::frame::{CloseReason, Frame};
use remuda_protocol::primitives::JobId;

/// An effect that a session requests. Perform them in order.
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
    Event(E),
    /// Send what is waiting, then close. Nothing comes after this.
    Close(CloseReason),
}

/// Job streams between one validator and one runner. The runner polls for jobs beyond that. Covers 500
/// jobs a second that take four 1 s blocks each.
pub const JOBS_MAX: usize = 2_048;

/// Truncates an untrusted text at a character boundary.
pub(crate) fn shortened(mut text: String, limit: usize) -> String {
    while text.len() > limit || !text.is_char_boundary(text.len()) {
        text.pop();
    }
    text
}

/// Bytes kept of a text for people.
pub(crate) const TEXT_LIMIT: usize = 200;
