//! Waiting for a transaction's block: looking again after every block, up to a deadline.

use super::App;
use crate::backend::Finalised;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::watch;
use tokio::time::Instant;

/// Between two looks at a transaction that waits, if no block comes.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A transaction that is neither on its way nor in a block may still be on its way here; after so
/// many looks it is not.
pub(super) const LOOKS_UNTIL_DROPPED: u32 = 4;

pub(super) struct Wait {
    blocks: Receiver<Arc<Finalised>>,
    stopping: watch::Receiver<bool>,
    deadline: Instant,
}

impl App {
    /// Waits from now on, and no longer than a node lets anybody wait. To be made before the first
    /// look, so that no block is missed.
    pub(super) fn wait(&self, patience: Duration) -> Wait {
        let deadline = Instant::now() + patience.min(self.limits.wait);
        let stopping = self.stopping.subscribe();
        Wait { blocks: self.backend.subscribe(), stopping, deadline }
    }
}

impl Wait {
    /// Waits for the next block, or until a poll is due. Returns false at the deadline or when the node shuts down, so that
    /// the client can ask another node.
    pub(super) async fn for_a_block(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.deadline {
            return false;
        }
        let look = (now + LOOK_EVERY).min(self.deadline);
        tokio::select! {
            // Whatever it is, a block, too many at once, or time: look again.
            _ = tokio::time::timeout_at(look, self.blocks.recv()) => true,
            _ = self.stopping.wait_for(|stopping| *stopping) => false,
        }
    }
}
