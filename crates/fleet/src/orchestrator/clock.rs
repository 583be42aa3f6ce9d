//! The orchestrator's clock.

use crate::time::Millis;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The system's clock, as far off as a test wants it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// Milliseconds that are added.
    pub offset: i64,
    /// Milliseconds since 1970 instead of the system's: for tests that make their own time.
    pub frozen: Option<&'static AtomicU64>,
}

impl Clock {
    /// What it says.
    pub fn now(self) -> Millis {
        if let Some(frozen) = self.frozen {
            return Millis(frozen.load(Ordering::SeqCst));
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Millis(millis.saturating_add_signed(self.offset))
    }
}
