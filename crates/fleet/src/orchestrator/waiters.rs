//! Waiting runners. A job that becomes ready wakes one that can run it, so a thousand idle runners do not
//! query at once.

use crate::message::Tag;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Waiting runners, longest wait first.
#[derive(Debug, Default)]
pub(super) struct Waiters(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    by_number: BTreeMap<u64, (BTreeSet<Tag>, Arc<Notify>)>,
}

/// A waiting runner. Unregistered on drop.
#[derive(Debug)]
pub(super) struct Waiter<'a> {
    waiters: &'a Waiters,
    number: u64,
    wake: Arc<Notify>,
}

impl Waiters {
    /// Registers a runner. Call it before querying the store, so no wake-up is missed.
    pub(super) fn join(&self, capabilities: &BTreeSet<Tag>) -> Waiter<'_> {
        let wake = Arc::new(Notify::new());
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        waiting.by_number.insert(number, (capabilities.clone(), wake.clone()));
        Waiter { waiters: self, number, wake }
    }

    /// Wakes and unregisters the longest-waiting runner that has these tags.
    pub(super) fn wake(&self, tags: &BTreeSet<Tag>) {
        let mut waiting = self.lock();
        let fits = |(number, (has, _)): (&u64, &(BTreeSet<Tag>, _))| {
            tags.is_subset(has).then_some(*number)
        };
        let first = waiting.by_number.iter().find_map(fits);
        if let Some((_, wake)) = first.and_then(|number| waiting.by_number.remove(&number)) {
            wake.notify_one();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lock().by_number.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter<'_> {
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let woken = self.waiters.lock().by_number.remove(&self.number).is_none();
        // A runner that left after its wake-up passes it on.
        if woken && futures::FutureExt::now_or_never(self.wake.notified()).is_some() {
            self.waiters.wake(&BTreeSet::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    fn tags(names: &[&str]) -> BTreeSet<Tag> {
        names.iter().map(|name| Tag::new(name).expect("a tag")).collect()
    }

    #[test]
    fn one_that_fits_is_woken_and_no_other() {
        let waiters = Waiters::default();
        let plain = waiters.join(&tags(&[]));
        let gpu = waiters.join(&tags(&["gpu"]));
        let second = waiters.join(&tags(&["gpu"]));
        waiters.wake(&tags(&["gpu"]));
        assert!(gpu.woken().now_or_never().is_some());
        assert!(plain.woken().now_or_never().is_none());
        assert!(second.woken().now_or_never().is_none());
        assert_eq!(waiters.len(), 2);
        waiters.wake(&tags(&[]));
        assert!(plain.woken().now_or_never().is_some());
    }

    #[test]
    fn news_for_one_who_left_goes_to_the_next() {
        let waiters = Waiters::default();
        let first = waiters.join(&tags(&[]));
        let second = waiters.join(&tags(&[]));
        waiters.wake(&tags(&[]));
        drop(first);
        assert!(second.woken().now_or_never().is_some());
    }
}
