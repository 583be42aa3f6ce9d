//! State of a job that the parts of a worker share.

use crate::message::{Phase, Progress};
use std::time::Duration;
use tokio::time::Instant;

/// Time of a cancellation that is reserved for its acknowledgement.
pub(super) const CANCEL_ACK_RESERVE: Duration = Duration::from_secs(1);

/// What should happen to the job, by rising precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Go,
    /// Cancelled: stop and acknowledge before the deadline.
    Cancel {
        until: Instant,
    },
    /// The worker shuts down: give the job back.
    Shutdown,
    /// The lease is lost: stop at once and report nothing.
    Stale,
}

impl Control {
    /// Replaces a value of lower precedence.
    pub(super) fn raise(&mut self, wish: Self) -> bool {
        let rank = |control: &Self| match control {
            Self::Go => 0,
            Self::Shutdown => 1,
            Self::Cancel { .. } => 2,
            Self::Stale => 3,
        };
        let higher = rank(&wish) > rank(self);
        if higher {
            *self = wish;
        }
        higher
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) phase: Phase,
    pub(super) progress: Progress,
    /// Acknowledged bytes of the log.
    pub(super) log_bytes: u64,
}

impl Default for Status {
    fn default() -> Self {
        Self { phase: Phase::Starting, progress: Progress::default(), log_bytes: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::Control;

    #[test]
    fn a_lost_lease_outweighs_every_wish() {
        let mut control = Control::Go;
        assert!(control.raise(Control::Shutdown));
        assert!(control.raise(Control::Stale));
        assert!(!control.raise(Control::Shutdown));
        assert_eq!(control, Control::Stale);
    }
}
