//! Rate limits of handshakes per source address and of sessions per runner key.
//!
//! An address counts before anything else is looked at. A key counts only once it is proven: counting
//! claims would let anybody lock out the key's owner.

use crate::frame::CloseReason;
use crate::token_bucket::TokenBucket;
use remuda_protocol::primitives::Address;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Handshakes of one address: burst, and per second. Many runners may share an address.
const SOURCE_RATE: (u32, u32) = (256, 32);
/// Sessions of one key: burst, and per second. An honest runner needs one in ten seconds.
const KEY_RATE: (u32, u32) = (8, 1);
/// Bounds the memory for addresses, and for keys.
const TRACKED_MAX: usize = 65_536;

#[derive(Debug, Default)]
pub struct Admission {
    sources: BTreeMap<IpAddr, TokenBucket>,
    keys: BTreeMap<Address, TokenBucket>,
}

impl Admission {
    pub fn source(&mut self, now_ms: u64, source: IpAddr) -> Result<(), CloseReason> {
        take(&mut self.sources, network(source), SOURCE_RATE, now_ms)
    }

    /// Call it once the key is proven.
    pub fn key(&mut self, now_ms: u64, key: Address) -> Result<(), CloseReason> {
        take(&mut self.keys, key, KEY_RATE, now_ms)
    }
}

/// An IPv6 address counts as its /64 network: its owner has all of it.
pub(crate) fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 => v4,
    }
}

fn take<K: Ord>(
    known: &mut BTreeMap<K, TokenBucket>,
    key: K,
    (burst, per_second): (u32, u32),
    now_ms: u64,
) -> Result<(), CloseReason> {
    if known.len() >= TRACKED_MAX && !known.contains_key(&key) {
        known.retain(|_, bucket| !bucket.full(now_ms));
        if known.len() >= TRACKED_MAX {
            return Err(CloseReason::RateLimited);
        }
    }
    let bucket = known.entry(key).or_insert_with(|| TokenBucket::new(burst, per_second, now_ms));
    if bucket.take(now_ms) { Ok(()) } else { Err(CloseReason::RateLimited) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limit_is_per_address() {
        let mut admission = Admission::default();
        let source: IpAddr = "10.0.0.1".parse().unwrap();
        let let_in = (0..1_000).filter(|_| admission.source(0, source).is_ok()).count();
        assert_eq!(let_in, 256);
        assert!(admission.source(0, "10.0.0.2".parse().unwrap()).is_ok());
        assert!(admission.source(1_000, source).is_ok(), "a second later");
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_limit() {
        let mut admission = Admission::default();
        let let_in = (0..1_000u16)
            .filter(|i| {
                admission.source(0, IpAddr::from([0x2001, 0xdb8, 1, 2, 0, 0, 0, *i])).is_ok()
            })
            .count();
        assert_eq!(let_in, 256);
        let mapped: IpAddr = "::ffff:10.0.0.1".parse().unwrap();
        assert_eq!(network(mapped), "10.0.0.1".parse::<IpAddr>().unwrap());
    }

    #[test]
    fn memory_is_bounded_and_full_buckets_are_forgotten_first() {
        let mut admission = Admission::default();
        for i in 0..TRACKED_MAX as u32 + 10 {
            let _ = admission.source(0, IpAddr::from(i.to_be_bytes()));
        }
        assert_eq!(admission.sources.len(), TRACKED_MAX);
        assert!(admission.source(1_000, IpAddr::from([255, 1, 1, 1])).is_ok());
        assert_eq!(admission.sources.len(), 1);
    }
}
