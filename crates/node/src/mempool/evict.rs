//! Who has to go so that another may come.

use super::rank::Rank;
use super::store::{Store, Tail};
use remuda_protocol::primitives::Address;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Places and bytes that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shortage {
    pub(super) places: usize,
    pub(super) bytes: usize,
}

impl Shortage {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    pub(super) sender: Address,
    pub(super) nonce: u64,
    pub(super) rank: Rank,
}

/// The nonce from which on each sender's queue is cut to make up for a shortage: always the least
/// wanted end of all queues, again and again. `None` if somebody would have to go that ranks as
/// high as the newcomer; then nobody goes.
pub(super) fn plan(
    store: &Store,
    newcomer: Newcomer,
    shortage: Shortage,
) -> Option<BTreeMap<Address, u64>> {
    let mut left = shortage;
    let mut cuts = BTreeMap::new();
    let mut ends = store.tails().copied().peekable();
    // What became the end of its queue because something behind it goes.
    let mut bared: BinaryHeap<Reverse<Tail>> = BinaryHeap::new();
    while !left.is_none() {
        let next = match (ends.peek(), bared.peek()) {
            (Some(end), Some(Reverse(bare))) if bare < end => bared.pop().map(|bare| bare.0),
            (None, Some(_)) => bared.pop().map(|bare| bare.0),
            _ => ends.next(),
        }?;
        if next.rank >= newcomer.rank {
            return None;
        }
        // What comes before the newcomer must stay, and what it replaces makes room anyway.
        if next.sender == newcomer.sender && next.nonce <= newcomer.nonce {
            continue;
        }
        let queue = store.queue(&next.sender)?;
        let bytes = queue.get(next.nonce)?.bytes.len();
        left.places = left.places.saturating_sub(1);
        left.bytes = left.bytes.saturating_sub(bytes);
        cuts.insert(next.sender, next.nonce);
        bared.extend(queue.last_before(next.nonce).map(|pooled| Reverse(Tail::of(pooled))));
    }
    Some(cuts)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{pooled, sender, store};
    use super::*;

    fn places(places: usize) -> Shortage {
        Shortage { places, bytes: 0 }
    }

    fn newcomer(tip: u128) -> Newcomer {
        Newcomer { sender: sender(99), nonce: 0, rank: pooled(99, 0, tip, 0).rank }
    }

    #[test]
    fn the_cheapest_ends_go_one_by_one() {
        let store = store([(1, 0, 50), (1, 1, 40), (1, 2, 10), (2, 0, 20), (3, 0, 30)]);
        let cuts = |n| plan(&store, newcomer(100), places(n)).unwrap();
        assert_eq!(cuts(1), [(sender(1), 2)].into());
        assert_eq!(cuts(2), [(sender(1), 2), (sender(2), 0)].into());
        assert_eq!(cuts(3), [(sender(1), 2), (sender(2), 0), (sender(3), 0)].into());
        assert_eq!(cuts(4), [(sender(1), 1), (sender(2), 0), (sender(3), 0)].into());
    }

    #[test]
    fn nobody_goes_unless_all_that_must_go_rank_lower() {
        let store = store([(1, 0, 10), (2, 0, 20)]);
        assert!(plan(&store, newcomer(20), places(1)).is_some());
        assert_eq!(plan(&store, newcomer(20), places(2)), None);
        assert_eq!(plan(&store, newcomer(10), places(1)), None);
        assert_eq!(plan(&store, newcomer(99), places(3)), None, "there are only two");
    }

    #[test]
    fn of_equals_the_last_to_arrive_goes() {
        let store = store([(1, 0, 10), (2, 0, 10)]);
        assert_eq!(plan(&store, newcomer(11), places(1)), Some([(sender(2), 0)].into()));
    }

    #[test]
    fn a_dear_end_behind_a_cheap_one_is_worth_no_more_than_that() {
        let store = store([(1, 0, 5), (1, 1, 1_000), (2, 0, 10)]);
        assert_eq!(plan(&store, newcomer(6), places(1)), Some([(sender(1), 1)].into()));
    }

    #[test]
    fn what_waits_behind_a_gap_goes_first() {
        let store = store([(1, 0, 5), (2, 1, 1_000)]);
        assert_eq!(plan(&store, newcomer(1), places(1)), Some([(sender(2), 1)].into()));
    }

    #[test]
    fn what_comes_before_the_newcomer_stays() {
        let store = store([(1, 0, 5), (1, 1, 6), (2, 0, 50)]);
        let rank = store.queue(&sender(1)).unwrap().floor(2, pooled(1, 2, 100, 0).rank);
        let own = Newcomer { sender: sender(1), nonce: 2, rank };
        assert_eq!(plan(&store, own, places(1)), None);
        let replacing = Newcomer { nonce: 1, ..newcomer(51) };
        let replacing = Newcomer { sender: sender(1), ..replacing };
        assert_eq!(plan(&store, replacing, places(1)), Some([(sender(2), 0)].into()));
    }

    #[test]
    fn bytes_are_made_up_for_too() {
        let store = store([(1, 0, 10), (2, 0, 20), (3, 0, 30)]);
        let size = store.queue(&sender(1)).unwrap().bytes();
        let cuts = plan(&store, newcomer(100), Shortage { places: 0, bytes: size + 1 });
        assert_eq!(cuts.unwrap().len(), 2);
    }
}
