//! Blocking work, cancelled when its future is dropped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancellation flag of blocking work, checked between files: a thread cannot be stopped from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct CancelFlag {
    set: Arc<AtomicBool>,
}

impl CancelFlag {
    pub(super) fn is_set(&self) -> bool {
        self.set.load(Ordering::Relaxed)
    }

    /// An error once cancelled.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.is_set() {
            false => Ok(()),
            true => Err(io::Error::other("cancelled")),
        }
    }

    pub(super) fn set(&self) {
        self.set.store(true, Ordering::Relaxed);
    }
}

/// Cancels on drop.
struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Runs work on a blocking thread, so heartbeats go on. Dropping the future cancels it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&CancelFlag) -> T + Send + 'static,
) -> io::Result<T> {
    let cancel = CancelFlag::default();
    let _guard = CancelOnDrop(cancel.clone());
    tokio::task::spawn_blocking(move || work(&cancel)).await.map_err(io::Error::other)
}
