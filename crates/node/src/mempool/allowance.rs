//! How much each peer may send: a bucket of tokens that fills up with time.
//!
//! Time is whatever the caller counts in, blocks or seconds; there is no clock here.

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Tokens in a full bucket, which is what a peer starts with.
    pub burst: u64,
    /// Tokens that a tick adds.
    pub per_tick: u64,
}

/// What one peer has left.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: u64,
    tick: u64,
}

/// The buckets of all peers.
#[derive(Clone, Debug)]
pub struct Allowance<P> {
    rate: Rate,
    buckets: BTreeMap<P, Bucket>,
}

impl<P: Ord + Clone> Allowance<P> {
    /// Every peer gets its own bucket, filled at this rate.
    pub fn new(rate: Rate) -> Self {
        Self { rate, buckets: BTreeMap::new() }
    }

    /// Takes `tokens` from a peer's bucket; if there are not so many, none, and the answer is no.
    /// A tick before one that was seen adds nothing.
    pub fn spend(&mut self, peer: &P, tick: u64, tokens: u64) -> bool {
        let Rate { burst, per_tick } = self.rate;
        let full = Bucket { tokens: burst, tick };
        let bucket = self.buckets.entry(peer.clone()).or_insert(full);
        let passed = tick.saturating_sub(bucket.tick);
        let added = passed.saturating_mul(per_tick);
        bucket.tokens = bucket.tokens.saturating_add(added).min(burst);
        bucket.tick = bucket.tick.max(tick);
        match bucket.tokens.checked_sub(tokens) {
            Some(rest) => {
                bucket.tokens = rest;
                true
            }
            None => false,
        }
    }

    /// Forgets the peers whose buckets are full by now: a new bucket would be the same. To be
    /// called now and then, so that peers that come and go leave nothing behind, and cannot get a
    /// new bucket by coming back.
    pub fn tidy(&mut self, tick: u64) {
        let Rate { burst, per_tick } = self.rate;
        self.buckets.retain(|_, bucket| {
            let added = tick.saturating_sub(bucket.tick).saturating_mul(per_tick);
            bucket.tokens.saturating_add(added) < burst
        });
    }

    /// How many peers it keeps a bucket for.
    pub fn peers(&self) -> usize {
        self.buckets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 10, per_tick: 3 };

    #[test]
    fn a_peer_has_its_burst_and_then_the_rate() {
        let mut allowance = Allowance::new(RATE);
        assert!(allowance.spend(&"a", 5, 10));
        assert!(!allowance.spend(&"a", 5, 1));
        assert!(allowance.spend(&"b", 5, 10), "peers do not share");
        assert!(!allowance.spend(&"a", 6, 4), "too much takes nothing");
        assert!(allowance.spend(&"a", 6, 3));
        assert!(!allowance.spend(&"a", 1_000, 11), "a bucket never holds more than its burst");
        assert!(allowance.spend(&"a", 1_000, 10));
    }

    #[test]
    fn time_that_goes_back_adds_nothing_now_or_later() {
        let mut allowance = Allowance::new(RATE);
        assert!(allowance.spend(&"a", 5, 10));
        assert!(!allowance.spend(&"a", 0, 1));
        assert!(!allowance.spend(&"a", 5, 1));
        assert!(!allowance.spend(&"a", 6, 4) && allowance.spend(&"a", u64::MAX, 10));
    }

    #[test]
    fn only_full_buckets_are_forgotten() {
        let mut allowance = Allowance::new(RATE);
        assert!(allowance.spend(&"a", 0, 10) && allowance.spend(&"b", 0, 1));
        allowance.tidy(1);
        assert_eq!(allowance.peers(), 1);
        assert!(!allowance.spend(&"a", 1, 4), "leaving does not fill a bucket");
        allowance.tidy(100);
        assert_eq!(allowance.peers(), 0);
    }
}
