//! Bounds the connections whose handshake is pending.
//!
//! ```text
//! admit(source): fewer than RETRY_FROM pending        ─▶ accept
//!                address not validated                ─▶ retry: the peer proves its address first
//!                fewer than PENDING_MAX pending       ─▶ accept
//!                another source has more than this one ─▶ replace the oldest of the largest source
//!                otherwise                            ─▶ refuse
//! ```
//! So a single address can fill the table, but cannot keep other addresses out. A pending handshake
//! times out after some seconds.

use crate::admission::network;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

pub const PENDING_MAX: usize = 512;
/// From this number on, peers must validate their address (QUIC Retry) before any state is kept.
const RETRY_FROM: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub enum Decision<T> {
    /// The handshake is pending under this id.
    Accept(u64),
    /// The same. The caller must abort this task, whose handshake was evicted.
    Replace(u64, T),
    /// The peer must validate its address first. A forged address never receives that request.
    Retry,
    /// The table is full, and this source has its share of it.
    Refuse,
}

/// `T` aborts a handshake.
#[derive(Debug)]
pub struct PendingHandshakes<T> {
    next: u64,
    /// Ids rise, so the first one is the oldest.
    pending: BTreeMap<u64, (IpAddr, Option<T>)>,
    sources: BTreeMap<IpAddr, BTreeSet<u64>>,
}

impl<T> Default for PendingHandshakes<T> {
    fn default() -> Self {
        Self { next: 0, pending: BTreeMap::new(), sources: BTreeMap::new() }
    }
}

impl<T> PendingHandshakes<T> {
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn admit(&mut self, source: IpAddr, validated: bool) -> Decision<T> {
        if !validated && self.len() >= RETRY_FROM {
            return Decision::Retry;
        }
        let source = network(source);
        if self.len() < PENDING_MAX {
            return Decision::Accept(self.insert(source));
        }
        let share = self.sources.get(&source).map_or(0, BTreeSet::len);
        match self.largest_source() {
            Some((most, oldest)) if share < most => {
                let evicted = self.pending.get_mut(&oldest).and_then(|(_, task)| task.take());
                self.remove(oldest);
                let id = self.insert(source);
                evicted.map_or(Decision::Accept(id), |task| Decision::Replace(id, task))
            }
            _ => Decision::Refuse,
        }
    }

    fn insert(&mut self, source: IpAddr) -> u64 {
        let id = self.next;
        self.next += 1;
        self.pending.insert(id, (source, None));
        self.sources.entry(source).or_default().insert(id);
        id
    }

    /// The number of handshakes of the largest source, and its oldest one.
    fn largest_source(&self) -> Option<(usize, u64)> {
        let sizes = self.sources.values().filter_map(|ids| Some((ids.len(), *ids.first()?)));
        sizes.max_by_key(|(size, oldest)| (*size, std::cmp::Reverse(*oldest)))
    }

    /// No effect once the handshake is over.
    pub fn set_task(&mut self, id: u64, task: T) {
        if let Some((_, known)) = self.pending.get_mut(&id) {
            *known = Some(task);
        }
    }

    /// Ends a pending handshake. `false` if it was evicted before.
    pub fn remove(&mut self, id: u64) -> bool {
        let Some((source, _)) = self.pending.remove(&id) else { return false };
        if let Some(ids) = self.sources.get_mut(&source) {
            ids.remove(&id);
            if ids.is_empty() {
                self.sources.remove(&source);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::from((0x0A00_0000 + number).to_be_bytes())
    }

    /// A full table, shared equally by so many addresses.
    fn full(addresses: u32) -> PendingHandshakes<u64> {
        let mut pending = PendingHandshakes::default();
        for number in 0..PENDING_MAX as u64 {
            let answer = pending.admit(address(number as u32 % addresses), true);
            assert_eq!(answer, Decision::Accept(number));
            pending.set_task(number, number);
        }
        pending
    }

    #[test]
    fn unvalidated_addresses_get_few_entries() {
        let mut pending = PendingHandshakes::<()>::default();
        let entered = (0..1_000)
            .filter(|number| matches!(pending.admit(address(*number), false), Decision::Accept(_)))
            .count();
        assert_eq!(entered, RETRY_FROM);
        assert_eq!(pending.admit(address(1), false), Decision::Retry);
        assert!(matches!(pending.admit(address(1), true), Decision::Accept(_)));
    }

    #[test]
    fn oldest_handshake_of_the_largest_source_is_evicted() {
        let mut pending = full(1);
        assert_eq!(pending.admit(address(0), true), Decision::Refuse);
        assert_eq!(pending.admit(address(1), true), Decision::Replace(512, 0));
        assert!(!pending.remove(0), "it was evicted");
        assert_eq!(pending.len(), PENDING_MAX);
        // Its share grows until it is as large as the other's.
        let more =
            (0..1_000).filter(|_| pending.admit(address(1), true) != Decision::Refuse).count();
        assert_eq!(more, PENDING_MAX / 2 - 1);
        assert_eq!(pending.len(), PENDING_MAX);
    }

    #[test]
    fn many_sources_do_not_keep_a_new_one_out() {
        let mut pending = full(PENDING_MAX as u32);
        assert_eq!(pending.admit(address(5), true), Decision::Refuse, "it is there already");
        assert_eq!(pending.admit(address(9_999), true), Decision::Replace(512, 0));
    }

    #[test]
    fn removed_handshakes_leave_nothing_behind() {
        let mut pending = full(3);
        for id in 0..PENDING_MAX as u64 {
            assert!(pending.remove(id));
            assert!(!pending.remove(id));
        }
        assert!(pending.is_empty() && pending.sources.is_empty());
        pending.set_task(1, 1);
        assert!(pending.is_empty());
    }
}
