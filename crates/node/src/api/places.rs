//! Places that peers hold for a while: connections, event streams, memory for bodies. So many in
//! all, so many each.

use crate::rate::peer_key;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts places. The map has at most as many entries as there are places.
#[derive(Debug)]
pub struct Places {
    most: usize,
    most_each: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_peer: HashMap<IpAddr, usize>,
}

/// A place, or several; given back when dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    peer: IpAddr,
    count: usize,
}

impl Places {
    /// `most` places, of which one peer gets `most_each`.
    pub fn new(most: usize, most_each: usize) -> Arc<Self> {
        Arc::new(Self { most, most_each, taken: Mutex::default() })
    }

    /// Takes a place, if there is one.
    pub fn take(self: &Arc<Self>, ip: IpAddr) -> Option<Place> {
        self.take_many(ip, 1)
    }

    /// Takes several places at once, if there are so many. A peer that has none may take more than
    /// its share: it could never have them otherwise.
    pub fn take_many(self: &Arc<Self>, ip: IpAddr, count: usize) -> Option<Place> {
        let peer = peer_key(ip);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.by_peer.get(&peer).copied().unwrap_or(0);
        let (all, many) = (taken.all.saturating_add(count), own.saturating_add(count));
        let within_share = if own == 0 { self.most_each > 0 } else { many <= self.most_each };
        if all > self.most || !within_share {
            return None;
        }
        taken.all = all;
        taken.by_peer.insert(peer, many);
        Some(Place { places: self.clone(), peer, count })
    }

    pub fn count(&self) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all = taken.all.saturating_sub(self.count);
        let left = taken.by_peer.get(&self.peer).map_or(0, |own| own.saturating_sub(self.count));
        if left == 0 {
            taken.by_peer.remove(&self.peer);
        } else {
            taken.by_peer.insert(self.peer, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_limited_in_all_and_each_and_come_back() {
        let places = Places::new(3, 2);
        let (a, b): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let first = places.take(a).unwrap();
        let _second = places.take(a).unwrap();
        assert!(places.take(a).is_none(), "two each");
        let _third = places.take(b).unwrap();
        assert!(places.take(b).is_none(), "three in all");
        drop(first);
        assert!(places.take(b).is_some());
        assert_eq!(places.count(), 2);
    }

    #[test]
    fn who_has_nothing_may_take_more_than_its_share_once() {
        let places = Places::new(10, 2);
        let (a, b): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        assert!(places.take_many(a, 11).is_none(), "more than there are");
        let large = places.take_many(a, 5).unwrap();
        assert!(places.take(a).is_none(), "its share is used up");
        let _two = (places.take(b).unwrap(), places.take(b).unwrap());
        assert!(places.take(b).is_none());
        drop(large);
        assert_eq!(places.count(), 2);
        assert!(places.take_many(a, 5).is_some());
        assert!(Places::new(10, 0).take(a).is_none(), "no share at all");
    }
}
