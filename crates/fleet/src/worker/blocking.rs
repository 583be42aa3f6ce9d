//! Work that takes as long as a disk does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody still waits for what is done. Whoever does it looks between files: a thread cannot be
/// stopped from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    given_up: Arc<AtomicBool>,
}

impl Wanted {
    pub(super) fn still(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
    }

    /// The same, for work that may fail.
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

/// Whoever waits. Dropped, it does not.
struct Waiter(Wanted);

impl Drop for Waiter {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// Does it where nobody else waits for it: heartbeats go on meanwhile. It is told when this is dropped.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&Wanted) -> T + Send + 'static,
) -> io::Result<T> {
    let wanted = Wanted::default();
    let _waiter = Waiter(wanted.clone());
    tokio::task::spawn_blocking(move || work(&wanted)).await.map_err(io::Error::other)
}
