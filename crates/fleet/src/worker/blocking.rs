//! Blocking work, cancelled when its future is dropped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancellation flag of blocking work, checked between files: a thread cannot be stopped from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    given_up: Arc<AtomicBool>,
}

impl Wanted {
    pub(super) fn still(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
    }

    /// An error once cancelled.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.still() {
            true => Ok(()),
            false => Err(io::Error::other("nobody waits for it any more")),
        }
    }

    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

/// Cancels on drop.
struct Waiter(Wanted);

impl Drop for Waiter {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// Runs work on a blocking thread, so heartbeats go on. Dropping the future cancels it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&Wanted) -> T + Send + 'static,
) -> io::Result<T> {
    let wanted = Wanted::default();
    let _waiter = Waiter(wanted.clone());
    tokio::task::spawn_blocking(move || work(&wanted)).await.map_err(io::Error::other)
}
