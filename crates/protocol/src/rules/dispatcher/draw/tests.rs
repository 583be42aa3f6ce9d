use super::*;
use crate::base::primitives::Slot;
use crate::rules::dispatcher::naive::{Candidate, naive_draw};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn lists(set: &BTreeMap<[u8; 2], u128>) -> (Trie, Vec<Candidate>) {
    let leaves: Vec<Leaf> = set
        .iter()
        .enumerate()
        .map(|(i, (key, weight))| {
            let mut bytes = [0; 20];
            (bytes[0], bytes[13]) = (key[0], key[1]);
            Leaf { address: Address::new(bytes), slot: Slot(i as u32), weight: *weight }
        })
        .collect();
    let candidates = leaves
        .iter()
        .map(|leaf| Candidate { address: leaf.address, slot: leaf.slot.get(), weight: leaf.weight })
        .collect();
    (Trie::build(&leaves).unwrap(), candidates)
}

fn weights() -> impl Strategy<Value = BTreeMap<[u8; 2], u128>> {
    let weight = prop_oneof![1u128..20, Just(1u128 << 120), 1u128 << 60..1u128 << 100];
    proptest::collection::btree_map(any::<[u8; 2]>(), weight, 0..40)
}

proptest! {
    #[test]
    fn the_indexed_draw_equals_the_shuffle_of_an_array(
        first in weights(),
        second in weights(),
        seats in 1usize..12,
        seed in any::<[u8; 32]>(),
        favourite in any::<Option<proptest::sample::Index>>(),
    ) {
        let (first_trie, first_list) = lists(&first);
        let (second_trie, second_list) = lists(&second);
        let all: Vec<Address> =
            first_list.iter().chain(&second_list).map(|candidate| candidate.address).collect();
        prop_assume!(!all.is_empty());
        let mru = favourite.map(|index| all[index.index(all.len())]);
        let seed = B256::new(seed);

        let favourite = mru.map(|address| Favourite { address, multiplier: 4 });
        let indexed = draw(seed, seats, favourite, &[first_trie, second_trie]);
        if seats > all.len() {
            prop_assert_eq!(indexed, Err(TooFewCandidates));
            return Ok(());
        }
        let naive = naive_draw(seed, seats, mru, &[&first_list, &second_list]);
        let indexed: Vec<_> =
            indexed.unwrap().iter().map(|draw| (draw.i, draw.r, draw.leaf.address)).collect();
        let naive: Vec<_> = naive.iter().map(|draw| (draw.i, draw.r, draw.address)).collect();
        prop_assert_eq!(indexed, naive);
    }
}

/// First picks against weights: 20,000 draws over ten candidates whose weights are 1 to 10.
/// With nine degrees of freedom a chi-square above 27.9 has a chance of one in a thousand; the
/// draws come from fixed seeds, so this either holds for ever or not at all.
#[test]
fn selection_frequencies_follow_weights() {
    let set: BTreeMap<[u8; 2], u128> =
        (0..10u8).map(|i| ([i * 25, i], u128::from(i) + 1)).collect();
    let (trie, _) = lists(&set);
    let rounds = 20_000u64;
    let mut hits = [0u64; 10];
    for round in 0..rounds {
        let seed = keccak256(round.to_be_bytes());
        let draws = draw(seed, 1, None, std::slice::from_ref(&trie)).unwrap();
        hits[draws[0].leaf.slot.get() as usize] += 1;
    }
    // Σ (hits − expected)² / expected, with expected = rounds · weight / 55, in thousandths.
    let chi_square_milli: u64 = hits
        .iter()
        .zip(1u64..)
        .map(|(hit, weight)| {
            let distance = (hit * 55).abs_diff(rounds * weight);
            distance * distance * 1_000 / (rounds * weight * 55)
        })
        .sum();
    assert!(chi_square_milli < 27_900, "chi-square {chi_square_milli}/1000, hits {hits:?}");
}

/// The same for the later seats: how often each pair is drawn, against the chance of drawing one
/// after the other without replacement.
#[test]
fn later_seats_follow_the_weights_that_are_left() {
    let set: BTreeMap<[u8; 2], u128> = [([0, 0], 1), ([90, 0], 2), ([180, 0], 3)].into();
    let (trie, _) = lists(&set);
    let rounds = 30_000u64;
    let mut hits: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for round in 0..rounds {
        let seed = keccak256((round + (1 << 40)).to_be_bytes());
        let draws = draw(seed, 2, None, std::slice::from_ref(&trie)).unwrap();
        let pair = (draws[0].leaf.slot.get(), draws[1].leaf.slot.get());
        *hits.entry(pair).or_default() += 1;
    }
    let mut chi_square_milli = 0;
    for a in 0..3u32 {
        for b in (0..3u32).filter(|b| *b != a) {
            let (wa, wb) = (u64::from(a) + 1, u64::from(b) + 1);
            // expected = rounds · wa/6 · wb/(6 − wa)
            let (num, den) = (rounds * wa * wb, 6 * (6 - wa));
            let distance = (hits[&(a, b)] * den).abs_diff(num);
            chi_square_milli += distance * distance * 1_000 / (num * den);
        }
    }
    // Five degrees of freedom: 20.5 has a chance of one in a thousand.
    assert!(chi_square_milli < 20_500, "chi-square {chi_square_milli}/1000, hits {hits:?}");
}
