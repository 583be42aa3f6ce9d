//! Uploads in progress: at most one per lease and path, with a minimum rate.
//!
//! A lease's quota counts each granted path once. One upload per path at a time keeps reservations within it.

use super::answer::Failure;
use crate::id::LeaseId;
use axum::http::StatusCode;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Minimum rate over each [`WINDOW`]: a slow upload holds room that others need.
const BYTES_PER_SECOND_MIN: u64 = 64 * 1024;
const WINDOW: Duration = Duration::from_secs(60);

type Key = (LeaseId, String);

#[derive(Clone, Default)]
pub(super) struct ActiveUploads(Arc<Mutex<BTreeSet<Key>>>);

/// An upload in progress. Ends on drop.
pub(super) struct UploadGuard {
    of: ActiveUploads,
    key: Key,
}

impl ActiveUploads {
    /// Starts an upload. A runner that reconnects before the old connection is known to be dead gets 429 and
    /// retries.
    pub(super) fn enter(&self, lease: &LeaseId, path: &str) -> Result<UploadGuard, Failure> {
        let key = (lease.clone(), path.to_owned());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.insert(key.clone()) {
            true => Ok(UploadGuard { of: self.clone(), key }),
            false => {
                let text = "this object is being uploaded already; retry after that";
                Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, "UPLOAD_UNDER_WAY", text))
            }
        }
    }
}

impl Drop for UploadGuard {
    fn drop(&mut self) {
        self.of.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Enforces the minimum rate of an upload.
pub(super) struct RateFloor {
    since: Instant,
    bytes: u64,
}

impl RateFloor {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, bytes: 0 }
    }

    /// Counts received bytes. False: too slow.
    pub(super) fn keeps(&mut self, now: Instant, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        let took = now.saturating_duration_since(self.since);
        if took < WINDOW {
            return true;
        }
        let fast = self.bytes >= took.as_secs().saturating_mul(BYTES_PER_SECOND_MIN);
        *self = Self::new(now);
        fast
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_sends_an_object_once_at_a_time() {
        let all = ActiveUploads::default();
        let lease = |n: u32| LeaseId::new(&format!("lease_{n}")).expect("an id");
        let first = all.enter(&lease(1), "a").expect("the first");
        let code =
            |entered: Result<UploadGuard, Failure>| entered.err().map(|failure| failure.code);
        assert_eq!(code(all.enter(&lease(1), "a")), Some("UPLOAD_UNDER_WAY"));
        assert_eq!(code(all.enter(&lease(1), "b")), None);
        assert_eq!(code(all.enter(&lease(2), "a")), None);
        drop(first);
        assert_eq!(code(all.enter(&lease(1), "a")), None);
        assert!(all.0.lock().expect("all").is_empty());
    }

    #[test]
    fn uploads_below_the_rate_floor_for_a_minute_end() {
        let began = Instant::now();
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        let enough = usize::try_from(60 * BYTES_PER_SECOND_MIN).expect("a number");
        let mut rate = RateFloor::new(began);
        // It may pause within a minute, and each minute is looked at by itself.
        assert!(rate.keeps(at(1), enough) && rate.keeps(at(59), 0) && rate.keeps(at(60), 0));
        assert!(rate.keeps(at(61), 1) && rate.keeps(at(119), 1));
        assert!(!rate.keeps(at(120), 1));
        let mut rate = RateFloor::new(began);
        assert!(rate.keeps(at(60), enough));
        assert!(!rate.keeps(at(180), enough), "it took two minutes");
    }
}
