use super::*;
use crate::base::crypto::PublicKey;
use crate::base::primitives::{B256, keccak256};
use crate::rules::deposit::Held;
use crate::rules::dispatcher::filter::{Class, Quote};
use crate::rules::dispatcher::naive::{Candidate, naive_root};
use crate::rules::params::ChainParams;
use crate::rules::registry::register::plain_offer;
use crate::rules::registry::runner::{Candidacy, Membership, Profile};
use proptest::prelude::*;
use std::collections::BTreeMap;

const POOL: B256 = B256::repeat_byte(7);

/// Web requests without conditions.
const PLAIN_CLASS: Class = Class {
    kind: JobKind::Http,
    target: Target::Any,
    min_resolvers: 0,
    tee: false,
    pool: None,
    unpaid: false,
    bonded: false,
};

fn rules() -> Rules {
    let mut params = ChainParams::development();
    params.heartbeat_timeout_blocks = 5;
    Rules::of(&params)
}

/// What can change about one of a handful of runners.
#[derive(Clone, Debug)]
struct Change {
    who: u32,
    moves: bool,
    kinds: u8,
    model: bool,
    resolvers: usize,
    price: u64,
    unpaid: bool,
    member: Option<(u64, u64)>,
    stake: u64,
    reputation: u64,
    open: u32,
    available: bool,
    present: bool,
    tee: Option<u64>,
}

fn change() -> impl Strategy<Value = Change> {
    let profile = (0u32..12, prop::bool::weighted(0.05), 1u8..4, any::<bool>(), 0usize..3, 0u64..4);
    let rest = (
        any::<bool>(),
        prop::option::of((0u64..30, 0u64..30)),
        9_000u64..40_000,
        40u64..120,
        0u32..4,
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.7),
        prop::option::of(0u64..30),
    );
    (profile, rest).prop_map(|((who, moves, kinds, model, resolvers, price), rest)| {
        let (unpaid, member, stake, reputation, open, available, present, tee) = rest;
        Change {
            who,
            moves,
            kinds,
            model,
            resolvers,
            price,
            unpaid,
            member,
            stake,
            reputation,
            open,
            available,
            present,
            tee,
        }
    })
}

fn entry(change: &Change, slot: u32, height: Height) -> Entry {
    let kinds = [JobKind::Llm, JobKind::Http];
    let mut offer = plain_offer(match change.kinds {
        1 => &kinds[..1],
        2 => &kinds[1..],
        _ => &kinds,
    });
    if change.model {
        offer.models = vec!["m".into()];
    }
    offer.resolvers = (0..change.resolvers).map(|i| i.to_string()).collect();
    offer.rates.base = Amount(u128::from(change.price));
    offer.max_concurrent_jobs = 3;
    offer.accepts_unpaid = change.unpaid;
    offer.accept_bonded = change.stake.is_multiple_of(2);
    let membership = |(from, until)| Membership {
        pool: POOL,
        valid_from: Height(from),
        valid_until: Height(until),
    };
    let profile = Profile {
        public_key: PublicKey { bytes: [2; 33] },
        slot: Slot(slot),
        offer,
        pools: change.member.map(membership).into_iter().collect(),
        held: Held::default(),
    };
    Entry {
        address: Address::from_slice(&keccak256(change.who.to_be_bytes())[12..]),
        profile: Arc::new(profile),
        candidacy: Candidacy {
            effective_stake: Amount::cby(u128::from(change.stake)),
            reputation_nano: change.reputation * 1_000_000_000,
            open_jobs: change.open,
            open_value: Amount::cby(u128::from(change.open) * 1_000),
            locked: Amount::ZERO,
            available: change.available,
            present: change.present,
            last_seen: height,
            tee_until: change.tee.map(Height),
        },
    }
}

fn query() -> impl Strategy<Value = Query> {
    let class = (any::<bool>(), 0u32..3, any::<bool>(), any::<bool>(), any::<[bool; 2]>());
    (class, prop::option::of(0u64..4), prop::sample::select(vec![0u64, 5_000, 10_000, 20_000]))
        .prop_map(|((llm, min_resolvers, tee, pool, [unpaid, bonded]), limit, value)| Query {
            class: Class {
                kind: if llm { JobKind::Llm } else { JobKind::Http },
                target: if llm { Target::Model { name: "m".into() } } else { Target::Any },
                min_resolvers,
                tee,
                pool: pool.then_some(POOL),
                unpaid,
                bonded,
            },
            quote: limit
                .map(|limit| Quote { limit: Amount(u128::from(limit)), ..Quote::default() }),
            value: Amount::cby(u128::from(value)),
        })
}

fn policy() -> impl Strategy<Value = PresencePolicy> {
    prop::sample::select(PresencePolicy::ALL.to_vec())
}

/// The runners as a plain map, beside the roster.
#[derive(Default)]
struct Plain {
    slots: BTreeMap<u32, u32>,
    next_slot: u32,
    entries: BTreeMap<u32, Entry>,
}

impl Plain {
    fn apply(&mut self, change: &Change, roster: &mut Roster, height: Height) {
        let fresh = !self.slots.contains_key(&change.who) || change.moves;
        if fresh {
            if let Some(old) = self.slots.insert(change.who, self.next_slot) {
                self.entries.remove(&old);
                roster.vacate(Slot(old));
            }
            self.next_slot += 1;
        }
        let slot = self.slots[&change.who];
        let entry = entry(change, slot, height);
        self.entries.insert(slot, entry.clone());
        roster.set(entry, height);
    }

    fn standing(&self, policy: PresencePolicy) -> Standing {
        let least = rules().min_reputation_nano;
        let stands = |entry: &&Entry| {
            let candidacy = &entry.candidacy;
            let there = list_of(entry, policy).is_some();
            there && candidacy.available && candidacy.reputation_nano >= least
        };
        let weights = self.entries.values().filter(stands).map(|entry| entry.leaf(&rules()).weight);
        Standing { runners: weights.clone().count() as u64, weight: weights.sum() }
    }

    fn roots(
        &self,
        query: &Query,
        excluded: &[Address],
        policy: PresencePolicy,
        height: Height,
    ) -> Vec<(B256, u128)> {
        naive_lists(self.entries.values(), query, excluded, &rules(), policy, height)
            .iter()
            .map(|list| {
                let candidates: Vec<Candidate> = list
                    .iter()
                    .map(|leaf| Candidate {
                        address: leaf.address,
                        slot: leaf.slot.get(),
                        weight: leaf.weight,
                    })
                    .collect();
                naive_root(&candidates).unwrap()
            })
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn the_roster_equals_the_naive_rule_whatever_changes(
        policy in policy(),
        blocks in prop::collection::vec(
            (prop::collection::vec(change(), 0..6), prop::collection::vec(query(), 0..4), any::<u8>()),
            1..30,
        ),
    ) {
        let mut roster = Roster::default();
        roster.prepare(rules(), policy);
        let mut plain = Plain::default();
        for (height, (changes, queries, exclude)) in (1u64..).zip(blocks) {
            let height = Height(height);
            for change in &changes {
                plain.apply(change, &mut roster, height);
            }
            roster.turn(height);
            prop_assert_eq!(roster.standing(), plain.standing(policy));
            for query in &queries {
                let excluded: Vec<Address> = plain
                    .entries
                    .values()
                    .filter(|entry| entry.address[0] & exclude & 3 == 3)
                    .map(|entry| entry.address)
                    .collect();
                let lists = roster.lists(query, &excluded, height);
                let roots: Vec<_> = lists.iter().map(|trie| (trie.root(), trie.sum())).collect();
                prop_assert_eq!(roots, plain.roots(query, &excluded, policy, height));
            }
        }
    }
}

#[test]
fn a_job_that_rules_nobody_out_costs_nothing_extra() {
    let mut roster = Roster::default();
    roster.prepare(rules(), PresencePolicy::Shadow);
    let change = Change {
        who: 0,
        moves: false,
        kinds: 3,
        model: true,
        resolvers: 0,
        price: 2,
        unpaid: true,
        member: None,
        stake: 30_000,
        reputation: 60,
        open: 0,
        available: true,
        present: true,
        tee: None,
    };
    for who in 0..10 {
        let change = Change { who, price: u64::from(who), ..change.clone() };
        roster.set(entry(&change, who, Height(1)), Height(1));
    }
    let quote = |limit| Some(Quote { limit: Amount(limit), ..Quote::default() });
    let mut moved = |quote, value| {
        let key = Query { class: PLAIN_CLASS, quote, value: Amount::cby(value) };
        let moved = roster.moved(&key, u64::MAX);
        for most in 0..8 {
            assert_eq!(roster.moved(&key, most), moved.min(most));
        }
        moved
    };
    assert_eq!(moved(quote(9), 20_000), 0);
    assert_eq!(moved(quote(6), 20_000), 3);
    assert_eq!(moved(quote(2), 20_000), 3);
    assert_eq!(moved(quote(9), 20_001), 0);
}

/// A job that was asked for lately is not charged for lists, so none may have to be built for it.
#[test]
fn the_lists_of_a_warm_query_stay_however_many_others_are_asked() {
    let params = ChainParams::development();
    let mut roster = Roster::default();
    roster.prepare(Rules::of(&params), PresencePolicy::Shadow);
    let asked_at = Height(7);
    let query = |value: u64| Query { class: PLAIN_CLASS, quote: None, value: Amount(value.into()) };
    for value in 0..1_000 {
        roster.kept_lists(&query(value), asked_at);
    }
    roster.turn(asked_at.plus(WARM_BLOCKS));
    assert_eq!(roster.kept.len(), 1_000);
    roster.turn(asked_at.plus(WARM_BLOCKS + 1));
    assert!(roster.kept.is_empty());
}
