//! Trouble with sending something, and how long it is borne.

use super::link::LinkError;
use std::time::Duration;
use tokio::time::Instant;

/// What the orchestrator cannot keep for so long it will not keep: a job need not wait for its time's end.
pub(super) const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The trouble with one thing that is sent again and again.
#[derive(Debug)]
pub(super) struct Trouble {
    patience: Duration,
    since: Option<Instant>,
}

impl Trouble {
    /// None yet. When there is, it is borne for so long.
    pub(super) fn none(patience: Duration) -> Self {
        Self { patience, since: None }
    }

    /// One more try came to this. True: it was so for so long that it stays so. Whoever does not answer at all
    /// is waited for.
    pub(super) fn lasts(&mut self, error: &LinkError) -> bool {
        self.since = error.may_last().then(|| self.since.unwrap_or_else(Instant::now));
        self.since.is_some_and(|since| since.elapsed() >= self.patience)
    }

    pub(super) fn over(&mut self) {
        self.since = None;
    }
}
