use super::*;
use crate::rules::dispatcher::naive::{Candidate, naive_root};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn leaf(address: Address, weight: u128) -> Leaf {
    Leaf { address, slot: Slot(u32::from(address[19])), weight }
}

/// Addresses that share long prefixes, so that every shape of split comes up.
fn address() -> impl Strategy<Value = Address> {
    (0u8..4, 0u8..4, 0u8..255).prop_map(|(a, b, c)| {
        let mut bytes = [0; 20];
        (bytes[0], bytes[9], bytes[19]) = (a << 6, b, c);
        Address::new(bytes)
    })
}

fn reference(set: &BTreeMap<Address, u128>) -> (B256, u128) {
    let candidates: Vec<Candidate> = set
        .iter()
        .map(|(address, weight)| {
            let leaf = leaf(*address, *weight);
            Candidate { address: *address, slot: leaf.slot.get(), weight: *weight }
        })
        .collect();
    naive_root(&candidates).unwrap()
}

proptest! {
    #[test]
    fn an_updated_trie_equals_one_built_from_scratch(
        steps in proptest::collection::vec(
            proptest::collection::btree_map(address(), proptest::option::of(1u128..1000), 0..12),
            1..12,
        )
    ) {
        let mut set = BTreeMap::new();
        let mut trie = Trie::default();
        for step in steps {
            let changes: Vec<Change> = step
                .iter()
                .map(|(address, weight)| (*address, weight.map(|w| leaf(*address, w))))
                .collect();
            trie = trie.update(&changes).unwrap();
            for (address, weight) in step {
                match weight {
                    Some(weight) => set.insert(address, weight),
                    None => set.remove(&address),
                };
            }
            prop_assert_eq!((trie.root(), trie.sum()), reference(&set));
            prop_assert_eq!(trie.len(), set.len());
        }
    }

    #[test]
    fn positions_sums_and_searches_agree_with_the_list(
        set in proptest::collection::btree_map(address(), 1u128..50, 1..60)
    ) {
        let leaves: Vec<Leaf> = set.iter().map(|(a, w)| leaf(*a, *w)).collect();
        let trie = Trie::build(&leaves).unwrap();
        prop_assert_eq!(&trie.leaves(), &leaves);
        let mut sum = 0;
        for (i, leaf) in leaves.iter().enumerate() {
            prop_assert_eq!(trie.nth(i), Some(*leaf));
            prop_assert_eq!(trie.sum_before(i), sum);
            prop_assert_eq!(trie.position(&leaf.address), Some(i));
            for r in sum..sum + leaf.weight {
                prop_assert_eq!(trie.find(r), Some(i));
            }
            sum += leaf.weight;
        }
        prop_assert_eq!(trie.find(sum), None);
        prop_assert_eq!(trie.nth(leaves.len()), None);
        prop_assert_eq!(trie.sum_before(leaves.len()), sum);
    }
}

#[test]
fn a_sum_beyond_128_bits_is_an_error() {
    let leaves = [leaf(Address::with_last_byte(1), u128::MAX), leaf(Address::with_last_byte(2), 1)];
    assert_eq!(Trie::build(&leaves).unwrap_err(), Overflow);
}

#[test]
fn an_update_in_two_threads_equals_one_in_a_row() {
    let leaf_of = |i: u32, weight: u128| {
        let hash = keccak256(i.to_be_bytes());
        Leaf { address: Address::from_slice(&hash[12..]), slot: Slot(i), weight }
    };
    let sorted = |mut leaves: Vec<Leaf>| {
        leaves.sort_unstable_by_key(|leaf| leaf.address);
        leaves
    };
    let old = sorted((0..20_000).map(|i| leaf_of(i, 1)).collect());
    let new = sorted((0..20_000).map(|i| leaf_of(i, u128::from(i % 7) + 1)).collect());
    let changes: Vec<Change> = new.iter().map(|leaf| (leaf.address, Some(*leaf))).collect();
    let updated = Trie::build(&old).unwrap().update(&changes).unwrap();
    let built = Trie::build(&new).unwrap();
    assert_eq!((updated.root(), updated.sum()), (built.root(), built.sum()));
}
