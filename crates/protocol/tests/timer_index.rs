//! The index of due timers against the plain rule: `order` sorts everything in every block, the
//! index must fire the same timers in the same order.

use crate::common;

use common::{Choices, with_seeds};
use remuda_protocol::primitives::{Address, B256, Height, keccak256};
use remuda_protocol::timers::fairness::{self, Fires};
use remuda_protocol::timers::index::TimerIndex;
use remuda_protocol::timers::order::{self, Lane, TimerBid};
use remuda_protocol::timers::recent::Recent;
use remuda_protocol::timers::search::Room;
use remuda_protocol::timers::tree::Entry;
use std::collections::BTreeMap;

/// Room for so many cycles, and for any number of cells.
fn cycles(cycles: u64) -> Room {
    Room { cycles, cells: u64::MAX }
}

const CAP: u64 = 250_000;

/// Everything twice: arranged, and as a plain list.
struct Both {
    index: TimerIndex,
    plain: BTreeMap<B256, Entry>,
    /// Due with the next block: the search takes these beside the index.
    new: Vec<Entry>,
    fires: Vec<Fires>,
    height: u64,
    actors: u64,
    gas_cap: u64,
    next: u64,
}

fn actor(n: u64) -> Address {
    Address::from_slice(&keccak256(n.to_be_bytes())[..20])
}

impl Both {
    fn new(actors: u64) -> Self {
        let mut index = TimerIndex::default();
        index.set_gas_cap(CAP);
        let (plain, new, fires) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { index, plain, new, fires, height: 10_000, actors, gas_cap: CAP, next: 0 }
    }

    /// A timer whose numbers tie with others often.
    fn add(&mut self, choices: &mut Choices) {
        self.next += 1;
        let id = keccak256([7, self.next.to_be_bytes()[7], self.next.to_be_bytes()[6]]);
        let due = self.height - choices.below(3);
        let max_fee = 1_000 + 100 * choices.below(20);
        let entry = Entry {
            id,
            lot: order::lot(&keccak256(due.to_be_bytes()), &id),
            actor: actor(choices.below(self.actors)),
            due,
            tip: (50 * choices.below(20)).min(max_fee),
            max_fee,
            gas_limit: *choices.pick(&[1_000, 1_001, 60_000, 125_000, 250_000]),
            max_cells: 0,
            fee_payer: Address::ZERO,
            payload_bytes: 0,
            deposit: 0,
            has_agent: false,
            expires_at: self.height + choices.below(40),
        };
        match entry.expires_at > self.height && choices.chance(50) {
            true => self.new.push(entry),
            false => self.index.take_in(vec![entry], Height(self.height)),
        }
        self.plain.insert(id, entry);
    }

    fn remove(&mut self, id: B256) {
        let entry = self.plain.remove(&id).unwrap();
        self.new.retain(|new| new.id != id);
        self.index.remove(&entry);
    }

    /// What the plain rule fires, and what the index does.
    fn block(&mut self, choices: &mut Choices) {
        self.height += 1;
        let height = self.height;
        self.index.expire(Height(height));
        let basefee = 1_000 + choices.below(1_500);
        let eager = choices.below(3);
        let used = |id: &B256, gas: u64| match eager {
            0 => gas,
            1 => 1_000,
            _ => 1_000 + (gas - 1_000) / (1 + u64::from(id[0])),
        };

        let living: Vec<&Entry> = self
            .plain
            .values()
            .filter(|entry| entry.expires_at >= height && entry.gas_limit <= self.gas_cap)
            .collect();
        let bids: Vec<TimerBid> = living.iter().map(|entry| bid(entry)).collect();
        let recent = fairness::recent(height, self.fires.iter().copied());
        let median = fairness::lower_median(&recent);
        assert_eq!(self.index.recent().median(), median);
        let weight =
            |actor: &Address| fairness::weight(recent.get(actor).copied().unwrap_or(0), median);
        let lot = |timer: &TimerBid| self.plain[&timer.timer_id].lot;
        let queue = order::queue_by(height, basefee.into(), &bids, weight, lot);
        let fired = order::fill(queue, |timer| used(&timer.timer_id, timer.gas_limit));
        let expected: Vec<B256> = fired.iter().map(|timer| timer.timer_id).collect();

        let mut lane = Lane::default();
        let mut got = Vec::new();
        let index = self.index.clone();
        let new = self.new.clone();
        let mut search = index.search(basefee);
        search.add_new(&new, |entry| weight(&entry.actor));
        while let Some(candidate) = search.next(cycles(lane.room())) {
            lane.consume(used(&candidate.entry.id, candidate.entry.gas_limit));
            got.push(candidate.entry.id);
        }
        assert_eq!(got, expected, "height {height}");

        let mut counts: BTreeMap<Address, u32> = BTreeMap::new();
        for id in got {
            *counts.entry(self.plain[&id].actor).or_default() += 1;
            self.remove(id);
        }
        // What became due and did not fire waits from now on.
        self.index.take_in(std::mem::take(&mut self.new), Height(height));
        let fired: Vec<(Address, u32)> = counts.into_iter().collect();
        self.fires.extend(fired.iter().map(|(actor, count)| Fires {
            height,
            actor: *actor,
            count: *count,
        }));
        let left: Vec<(Address, u32)> = self
            .fires
            .iter()
            .filter(|fire| fire.height + 1_000 == height)
            .map(|fire| (fire.actor, fire.count))
            .collect();
        self.index.count_fires(&fired, &left);
        self.fires.retain(|fire| fire.height + 1_000 > height);
    }
}

fn bid(entry: &Entry) -> TimerBid {
    TimerBid {
        timer_id: entry.id,
        actor: entry.actor,
        gas_limit: entry.gas_limit,
        max_fee: entry.max_fee.into(),
        max_priority: entry.tip.into(),
        schedule_block: entry.due,
    }
}

// spec §10.6, §10.7
/// One actor with much, some with a few, many with one: whichever way the index keeps them.
#[test]
fn the_index_fires_what_the_plain_rule_fires() {
    with_seeds(24, |seed| {
        let choices = &mut Choices::new(seed);
        let actors = *choices.pick(&[1, 3, 12, 200, 5_000]);
        let mut both = Both::new(actors);
        for _ in 0..60 {
            for _ in 0..choices.below(60) {
                both.add(choices);
            }
            for _ in 0..choices.below(6) {
                let ids: Vec<B256> = both.plain.keys().copied().collect();
                if !ids.is_empty() {
                    both.remove(*choices.pick(&ids));
                }
            }
            if choices.chance(5) {
                both.gas_cap = *choices.pick(&[1_000, 60_000, CAP]);
                both.index.set_gas_cap(both.gas_cap);
            }
            if choices.chance(3) {
                both.index.take_in(std::mem::take(&mut both.new), Height(both.height));
                both.height += 1_000;
                both.fires.clear();
                let counts = both.index.recent().clone();
                let left: Vec<(Address, u32)> =
                    (0..actors).map(|n| (actor(n), counts.of(&actor(n)) as u32)).collect();
                both.index.count_fires(&[], &left);
            }
            both.block(choices);
        }
    });
}

#[test]
fn a_pruned_actor_is_forgotten_and_the_median_follows() {
    let mut recent = Recent::default();
    for (n, count) in [(1, 4), (2, 1), (3, 3), (4, 2)] {
        recent.set(actor(n), count);
    }
    assert_eq!((recent.median(), recent.actors()), (2, 4));
    recent.set(actor(2), 0);
    assert_eq!((recent.median(), recent.actors()), (3, 3));
    assert_eq!(recent.of(&actor(2)), 0);
    for n in 1..5 {
        recent.set(actor(n), 0);
    }
    assert_eq!(recent, Recent::default());
}

/// 200,000 timers that no longer fit are not looked at one by one: each step takes a part of a tree
/// off the heap, and parts are counted by time here, generously.
#[test]
fn timers_that_do_not_fit_are_dropped_together() {
    let mut index = TimerIndex::default();
    index.set_gas_cap(CAP);
    for n in 0..200_000u64 {
        let id = keccak256(n.to_be_bytes());
        let entry = Entry {
            id,
            lot: id,
            actor: actor(n),
            due: 5,
            tip: 10 + n % 100,
            max_fee: 5_000,
            gas_limit: 250_000,
            max_cells: 0,
            fee_payer: Address::ZERO,
            payload_bytes: 0,
            deposit: 0,
            has_agent: false,
            expires_at: 1_000,
        };
        index.take_in(vec![entry], Height(6));
    }
    let small = keccak256("small");
    let entry = Entry {
        id: small,
        lot: small,
        actor: actor(0),
        due: 5,
        tip: 0,
        max_fee: 5_000,
        gas_limit: 1_000,
        max_cells: 0,
        fee_payer: Address::ZERO,
        payload_bytes: 0,
        deposit: 0,
        has_agent: false,
        expires_at: 1_000,
    };
    index.take_in(vec![entry], Height(6));
    let mut search = index.search(1_000);
    assert_eq!(search.next(cycles(250_000)).unwrap().priority, 109);
    let looked = search.parts();
    assert_eq!(search.next(cycles(200_000)).unwrap().entry.id, small);
    assert!(search.parts() < looked + 2_000, "{} parts", search.parts() - looked);
    assert!(search.next(cycles(200_000)).is_none());
}

/// However many actors have several timers waiting, a search begins with what their groups know, and
/// looks at a few parts for each timer that it finds; a cap on gas that rules out most moves nothing.
#[test]
fn a_search_looks_at_what_it_finds_and_not_at_all_actors() {
    let mut index = TimerIndex::default();
    index.set_gas_cap(CAP);
    let entries = (0..30_000u64).map(|n| {
        let id = keccak256(n.to_be_bytes());
        Entry {
            id,
            lot: id,
            actor: actor(n % 10_000),
            due: 5,
            tip: 10 + n % 1_000,
            max_fee: 5_000 + n % 777,
            gas_limit: if n % 100 == 0 { 1_000 } else { 250_000 },
            max_cells: 0,
            fee_payer: Address::ZERO,
            payload_bytes: 0,
            deposit: 0,
            has_agent: false,
            expires_at: 1_000,
        }
    });
    index.take_in(entries.collect(), Height(6));
    let find = |index: &TimerIndex, count: usize| {
        let mut search = index.search(1_000);
        assert!(search.open() <= 2, "one group, of timers and of actors");
        let found: Vec<u64> =
            (0..count).map(|_| search.next(cycles(CAP)).unwrap().entry.gas_limit).collect();
        (found, search.parts())
    };
    let (_, parts) = find(&index, 100);
    assert!(parts < 100 * 20, "{parts} parts for 100 timers of 30,000");
    index.set_gas_cap(1_000);
    let (found, parts) = find(&index, 100);
    assert!(found.iter().all(|gas_limit| *gas_limit == 1_000));
    assert!(parts < 100 * 200, "{parts} parts for 100 small timers of 30,000");
}
