//! How often one address may knock, and one key may come in.
//!
//! An address is counted before anything else is looked at. A key is counted only once it is proven:
//! a count of claims would let anybody lock others out by claiming to be them.

use crate::frame::Parting;
use crate::session::Allowance;
use remuda_protocol::primitives::Address;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Attempts of one address in a burst, and a second. Many runners may sit behind one.
const SOURCE_RATE: (u32, u32) = (256, 32);
/// Sessions of one key in a burst; then one in ten seconds would do, one a second is allowed.
const KEY_RATE: (u32, u32) = (8, 1);
/// Addresses and keys that are remembered at a time.
const REMEMBERED_MAX: usize = 65_536;

#[derive(Debug, Default)]
pub struct Admission {
    sources: BTreeMap<IpAddr, Allowance>,
    keys: BTreeMap<Address, Allowance>,
}

impl Admission {
    pub fn source(&mut self, now_ms: u64, source: IpAddr) -> Result<(), Parting> {
        take(&mut self.sources, network(source), SOURCE_RATE, now_ms)
    }

    /// Somebody has proven to be this runner.
    pub fn key(&mut self, now_ms: u64, key: Address) -> Result<(), Parting> {
        take(&mut self.keys, key, KEY_RATE, now_ms)
    }
}

/// Who has one address of version 6 has 2^64 of them.
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
    known: &mut BTreeMap<K, Allowance>,
    key: K,
    (burst, per_second): (u32, u32),
    now_ms: u64,
) -> Result<(), Parting> {
    if known.len() >= REMEMBERED_MAX && !known.contains_key(&key) {
        known.retain(|_, allowance| !allowance.full(now_ms));
        if known.len() >= REMEMBERED_MAX {
            return Err(Parting::RateLimited);
        }
    }
    let allowance = known.entry(key).or_insert_with(|| Allowance::new(burst, per_second, now_ms));
    if allowance.take(now_ms) { Ok(()) } else { Err(Parting::RateLimited) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_knocks_too_often_waits_and_others_do_not() {
        let mut admission = Admission::default();
        let source: IpAddr = "10.0.0.1".parse().unwrap();
        let let_in = (0..1_000).filter(|_| admission.source(0, source).is_ok()).count();
        assert_eq!(let_in, 256);
        assert!(admission.source(0, "10.0.0.2".parse().unwrap()).is_ok());
        assert!(admission.source(1_000, source).is_ok(), "a second later");
    }

    #[test]
    fn addresses_of_one_network_count_as_one() {
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
    fn memory_has_an_end_and_forgets_the_quiet_first() {
        let mut admission = Admission::default();
        for i in 0..REMEMBERED_MAX as u32 + 10 {
            let _ = admission.source(0, IpAddr::from(i.to_be_bytes()));
        }
        assert_eq!(admission.sources.len(), REMEMBERED_MAX);
        assert!(admission.source(1_000, IpAddr::from([255, 1, 1, 1])).is_ok());
        assert_eq!(admission.sources.len(), 1);
    }
}
