//! What the parts of a worker tell each other about its job.

use crate::message::{Phase, Progress};
use std::time::Duration;
use tokio::time::Instant;

/// What is left of a cancellation's time to say that the job is over.
pub(super) const CANCEL_ACK_RESERVE: Duration = Duration::from_secs(1);

/// What others want of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Go,
    /// The orchestrator: to stop, and to say so by then.
    Cancel {
        until: Instant,
    },
    /// The operator: the worker ends, and the job goes back.
    Shutdown,
    /// The lease is lost: to stop at once, and to say nothing.
    Stale,
}

impl Control {
    /// Which of two wishes stands: the later in this list.
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
    /// What the job is at.
    pub(super) phase: Phase,
    pub(super) progress: Progress,
    /// Bytes of log that the orchestrator has.
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
