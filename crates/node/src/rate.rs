//! Allowances: a token bucket per peer, in a map that cannot grow without bound.
//!
//! Local: a change here needs no agreement among validators.
//!
//! A bucket holds `burst` tokens and refills at a steady rate; a request takes one. What only shows its
//! price when it is done (bytes that were read) is spent afterwards: what is missing then is owed, and nothing
//! can be taken until it has been refilled. Time is an argument. When the map is full, buckets that are full again are
//! forgotten: a new one would be the same. If none is, newcomers share one bucket, so that an attacker with many addresses gets in the way
//! of other newcomers, not of those who were there.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Time between two sweeps of a full map.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// In nanoseconds of refill: a token is worth `every`.
    credit: u128,
    /// The same; there is no credit while something is owed.
    owed: u128,
    at: Instant,
}

#[derive(Debug)]
pub struct Buckets<K> {
    burst: u32,
    every: Duration,
    capacity: usize,
    buckets: HashMap<K, Bucket>,
    overflow: Option<Bucket>,
    swept: Option<Instant>,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    /// `burst` at once, then one per `every`; told apart for at most `capacity` keys.
    pub fn new(burst: u32, every: Duration, capacity: usize) -> Self {
        let every = every.max(Duration::from_nanos(1));
        Self { burst, every, capacity, buckets: HashMap::new(), overflow: None, swept: None }
    }

    /// Takes `tokens`, or says how long to wait until they are there. More than a whole bucket is
    /// never there.
    pub fn take(&mut self, key: &K, tokens: u32, now: Instant) -> Result<(), Duration> {
        let price = self.every.as_nanos() * u128::from(tokens);
        let bucket = self.bucket(key, now);
        match bucket.credit.checked_sub(price) {
            Some(rest) if bucket.owed == 0 => {
                bucket.credit = rest;
                Ok(())
            }
            _ => Err(nanos(price.saturating_sub(bucket.credit) + bucket.owed)),
        }
    }

    /// Takes `tokens` for what is done already, whether they are there or not.
    pub fn spend(&mut self, key: &K, tokens: u64, now: Instant) {
        let price = self.every.as_nanos() * u128::from(tokens);
        let bucket = self.bucket(key, now);
        bucket.owed += price.saturating_sub(bucket.credit);
        bucket.credit = bucket.credit.saturating_sub(price);
    }

    /// The bucket of a key as it is now.
    fn bucket(&mut self, key: &K, now: Instant) -> &mut Bucket {
        if !self.buckets.contains_key(key) && self.buckets.len() >= self.capacity {
            self.sweep(now);
        }
        let full = self.full();
        let fresh = Bucket { credit: full, owed: 0, at: now };
        let known = self.buckets.contains_key(key) || self.buckets.len() < self.capacity;
        let bucket = if known {
            self.buckets.entry(key.clone()).or_insert(fresh)
        } else {
            self.overflow.get_or_insert(fresh)
        };
        bucket.refill(full, now);
        bucket
    }

    /// Gives back what was taken for nothing.
    pub fn give_back(&mut self, key: &K, tokens: u32) {
        let (full, price) = (self.full(), self.every.as_nanos() * u128::from(tokens));
        // One that was forgotten has its whole allowance already.
        if let Some(bucket) = self.buckets.get_mut(key).or(self.overflow.as_mut()) {
            bucket.credit = bucket.credit.saturating_add(price).min(full);
        }
    }

    fn full(&self) -> u128 {
        self.every.as_nanos() * u128::from(self.burst)
    }

    /// Forgets who has its whole allowance again.
    fn sweep(&mut self, now: Instant) {
        let lately = |at: Instant| now.saturating_duration_since(at) < SWEEP_EVERY;
        if self.swept.is_some_and(lately) {
            return;
        }
        self.swept = Some(now);
        let full = self.full();
        self.buckets.retain(|_, bucket| {
            bucket.refill(full, now);
            bucket.credit < full
        });
    }
}

impl Bucket {
    fn refill(&mut self, full: u128, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_nanos();
        let earned = passed.saturating_sub(self.owed);
        self.owed = self.owed.saturating_sub(passed);
        self.credit = self.credit.saturating_add(earned).min(full);
        self.at = self.at.max(now);
    }
}

fn nanos(n: u128) -> Duration {
    Duration::from_nanos(u64::try_from(n).unwrap_or(u64::MAX))
}

/// Who a peer counts as: an IPv4 address, or the /64 that an IPv6 host can roam in.
pub fn peer_key(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => {
            let network = v6.to_bits() >> 64 << 64;
            IpAddr::V6(network.into())
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_a_steady_rate() {
        let start = Instant::now();
        let mut buckets = Buckets::new(3, Duration::from_millis(100), 10);
        for _ in 0..3 {
            assert_eq!(buckets.take(&1, 1, start), Ok(()));
        }
        assert_eq!(buckets.take(&1, 1, start), Err(Duration::from_millis(100)));
        assert_eq!(buckets.take(&2, 1, start), Ok(()), "another peer is not affected");
        let later = start + Duration::from_millis(100);
        assert_eq!(buckets.take(&1, 1, later), Ok(()));
        assert!(buckets.take(&1, 1, later).is_err());
        assert!(
            buckets.take(&1, 4, start + Duration::from_secs(60)).is_err(),
            "more than a bucket"
        );
    }

    #[test]
    fn what_is_spent_beyond_the_allowance_is_waited_for() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut buckets = Buckets::new(3, Duration::from_millis(100), 10);
        buckets.spend(&1, 2, start);
        assert_eq!(buckets.take(&1, 1, start), Ok(()));
        buckets.spend(&1, 5, start);
        assert_eq!(buckets.take(&1, 0, start), Err(Duration::from_millis(500)));
        assert_eq!(buckets.take(&2, 1, start), Ok(()), "another peer is not affected");
        assert_eq!(buckets.take(&1, 1, at(499)), Err(Duration::from_millis(101)));
        assert_eq!(buckets.take(&1, 0, at(500)), Ok(()));
        assert_eq!(buckets.take(&1, 1, at(600)), Ok(()));
        assert_eq!(buckets.take(&1, 3, at(900)), Ok(()), "it refills as before");
    }

    #[test]
    fn what_is_given_back_can_be_taken_again_and_is_no_more() {
        let now = Instant::now();
        let mut buckets = Buckets::new(2, Duration::from_secs(1), 10);
        buckets.take(&1, 2, now).unwrap();
        buckets.give_back(&1, 1);
        assert_eq!(buckets.take(&1, 1, now), Ok(()));
        buckets.give_back(&1, 9);
        assert!(buckets.take(&1, 3, now).is_err(), "never more than a bucket");
        assert_eq!(buckets.take(&1, 2, now), Ok(()));
    }

    #[test]
    fn the_map_stays_bounded_and_newcomers_share() {
        let start = Instant::now();
        let mut buckets = Buckets::new(2, Duration::from_secs(1), 4);
        for key in 0..4 {
            buckets.take(&key, 2, start).unwrap();
        }
        assert_eq!(buckets.take(&100, 2, start), Ok(()), "the shared bucket");
        for key in 101..1_000 {
            assert!(buckets.take(&key, 1, start).is_err());
            assert!(buckets.buckets.len() <= 4);
        }
        let later = start + Duration::from_secs(10);
        assert_eq!(buckets.take(&5_000, 2, later), Ok(()), "idle peers are forgotten");
        assert_eq!(buckets.buckets.len(), 1);
    }

    #[test]
    fn an_ipv6_network_is_one_peer() {
        let a = peer_key("2001:db8:1:2:3::1".parse().unwrap());
        assert_eq!(a, peer_key("2001:db8:1:2:ffff::9".parse().unwrap()));
        assert_ne!(a, peer_key("2001:db8:1:3::1".parse().unwrap()));
        assert_eq!(
            peer_key("::ffff:10.0.0.1".parse().unwrap()),
            peer_key("10.0.0.1".parse().unwrap())
        );
    }
}
