//! Where strangers wait: connections that have not proven themselves.
//!
//! There are few places, and whoever waits is gone after some seconds. When all places are taken, a
//! newcomer gets one from those who have the most: one address can fill the hall, but it cannot keep
//! others out of it.

use crate::admission::network;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

pub const STRANGERS_MAX: usize = 512;
/// From so many on, addresses have to prove that they are theirs before anything is kept for them.
const STRANGERS_CALM: usize = 64;

/// What to do with somebody who knocks.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// It has this place now.
    Enter(u64),
    /// It has this place now, and who had one until now has to go.
    Instead(u64, T),
    /// It shall prove its address, and knock again. A forged one never hears of that.
    Prove,
    /// There is no place, and its address has its share.
    Refuse,
}

/// See the module. `T` is how somebody can be sent away.
#[derive(Debug)]
pub struct Hall<T> {
    next: u64,
    /// In the order in which they came.
    waiting: BTreeMap<u64, (IpAddr, Option<T>)>,
    sources: BTreeMap<IpAddr, BTreeSet<u64>>,
}

impl<T> Default for Hall<T> {
    fn default() -> Self {
        Self { next: 0, waiting: BTreeMap::new(), sources: BTreeMap::new() }
    }
}

impl<T> Hall<T> {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Somebody knocks, with an address that it has `proven` or not.
    pub fn knock(&mut self, source: IpAddr, proven: bool) -> Answer<T> {
        if !proven && self.len() >= STRANGERS_CALM {
            return Answer::Prove;
        }
        let source = network(source);
        if self.len() < STRANGERS_MAX {
            return Answer::Enter(self.seat(source));
        }
        let share = self.sources.get(&source).map_or(0, BTreeSet::len);
        match self.crowd() {
            Some((most, oldest)) if share < most => {
                let gone = self.waiting.get_mut(&oldest).and_then(|(_, task)| task.take());
                self.leave(oldest);
                let place = self.seat(source);
                gone.map_or(Answer::Enter(place), |gone| Answer::Instead(place, gone))
            }
            _ => Answer::Refuse,
        }
    }

    fn seat(&mut self, source: IpAddr) -> u64 {
        let place = self.next;
        self.next += 1;
        self.waiting.insert(place, (source, None));
        self.sources.entry(source).or_default().insert(place);
        place
    }

    /// How many the most common source has, and its oldest.
    fn crowd(&self) -> Option<(usize, u64)> {
        let crowds = self.sources.values().filter_map(|of| Some((of.len(), *of.first()?)));
        crowds.max_by_key(|(size, oldest)| (*size, std::cmp::Reverse(*oldest)))
    }

    /// How the one with this place can be sent away. If it has gone already, there is nobody.
    pub fn task(&mut self, place: u64, task: T) {
        if let Some((_, known)) = self.waiting.get_mut(&place) {
            *known = Some(task);
        }
    }

    /// Somebody goes, or goes on. `false` if it has lost its place to another.
    pub fn leave(&mut self, place: u64) -> bool {
        let Some((source, _)) = self.waiting.remove(&place) else { return false };
        if let Some(of) = self.sources.get_mut(&source) {
            of.remove(&place);
            if of.is_empty() {
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

    /// All places, taken in turn by so many addresses.
    fn full(addresses: u32) -> Hall<u64> {
        let mut hall = Hall::default();
        for number in 0..STRANGERS_MAX as u64 {
            let answer = hall.knock(address(number as u32 % addresses), true);
            assert_eq!(answer, Answer::Enter(number));
            hall.task(number, number);
        }
        hall
    }

    #[test]
    fn addresses_that_may_be_forged_take_few_places() {
        let mut hall = Hall::<()>::default();
        let entered = (0..1_000)
            .filter(|number| matches!(hall.knock(address(*number), false), Answer::Enter(_)))
            .count();
        assert_eq!(entered, STRANGERS_CALM);
        assert_eq!(hall.knock(address(1), false), Answer::Prove);
        assert!(matches!(hall.knock(address(1), true), Answer::Enter(_)));
    }

    #[test]
    fn the_oldest_of_the_most_common_address_makes_way() {
        let mut hall = full(1);
        assert_eq!(hall.knock(address(0), true), Answer::Refuse);
        assert_eq!(hall.knock(address(1), true), Answer::Instead(512, 0));
        assert!(!hall.leave(0), "it has lost its place");
        assert_eq!(hall.len(), STRANGERS_MAX);
        // Its share grows until it is as large as the other's.
        let more = (0..1_000).filter(|_| hall.knock(address(1), true) != Answer::Refuse).count();
        assert_eq!(more, STRANGERS_MAX / 2 - 1);
        assert_eq!(hall.len(), STRANGERS_MAX);
    }

    #[test]
    fn many_addresses_do_not_keep_one_out_either() {
        let mut hall = full(STRANGERS_MAX as u32);
        assert_eq!(hall.knock(address(5), true), Answer::Refuse, "it is there already");
        assert_eq!(hall.knock(address(9_999), true), Answer::Instead(512, 0));
    }

    #[test]
    fn who_has_left_is_forgotten() {
        let mut hall = full(3);
        for place in 0..STRANGERS_MAX as u64 {
            assert!(hall.leave(place));
            assert!(!hall.leave(place));
        }
        assert!(hall.is_empty() && hall.sources.is_empty());
        hall.task(1, 1);
        assert!(hall.is_empty());
    }
}
