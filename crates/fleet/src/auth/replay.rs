//! Replay protection: a signed request is accepted once.

use super::signature::{CLOCK_WINDOW, Signature, SignatureError};
use crate::time::Millis;
use std::collections::BTreeSet;

/// Most remembered nonces: two minutes of thousands of workers. Only a registered key can exceed it, at the
/// cost of the oldest nonces.
const REMEMBERED_MAX: usize = 1_000_000;

/// Nonces of the last minutes.
#[derive(Debug, Default)]
pub struct Replays(BTreeSet<(Millis, String)>);

impl Replays {
    /// Records a signature whose time was checked.
    pub fn note(&mut self, now: Millis, signature: &Signature) -> Result<(), SignatureError> {
        let window = u64::try_from(CLOCK_WINDOW.as_millis()).unwrap_or(u64::MAX);
        let oldest = Millis(now.0.saturating_sub(window));
        // Older signatures are refused anyway.
        while self.0.first().is_some_and(|(time, _)| *time < oldest) {
            self.0.pop_first();
        }
        if !self.0.insert((signature.time, signature.nonce.clone())) {
            return Err(SignatureError::Replayed);
        }
        if self.0.len() > REMEMBERED_MAX {
            self.0.pop_first();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KeyPair, Signed};
    use super::*;

    #[test]
    fn a_request_counts_once_and_is_forgotten_when_nobody_would_believe_it() {
        let (key, mut replays) = (KeyPair::generate(), Replays::default());
        let sign = |time, nonce: &str| {
            let request = Signed { method: "POST", path: "/", body: "" };
            key.sign(Millis(time), nonce.to_owned(), request)
        };
        let first = sign(100_000, "a");
        assert_eq!(replays.note(Millis(100_000), &first), Ok(()));
        assert_eq!(replays.note(Millis(100_001), &first), Err(SignatureError::Replayed));
        assert_eq!(replays.note(Millis(100_001), &sign(100_000, "b")), Ok(()));
        assert_eq!(replays.note(Millis(160_000), &first), Err(SignatureError::Replayed));
        assert_eq!(replays.note(Millis(160_001), &sign(160_000, "c")), Ok(()));
        assert_eq!(replays.0.len(), 1);
    }
}
