use super::super::rank::Rank;
use super::super::testing::{FEES, pooled, sender, store};
use super::*;
use proptest::prelude::*;
use remuda_protocol::primitives::Amount;

#[test]
fn a_replacement_leaves_nothing_of_the_old_one() {
    let mut store = store([(1, 0, 10), (1, 1, 10)]);
    let old = store.put(pooled(1, 0, 20, 2), 0).expect("there was one");
    assert!(store.get(&old.hash).is_none());
    assert_eq!(store.len(), 2);
    store.assert_consistent();
}

#[test]
fn filling_a_gap_makes_what_is_behind_it_reachable() {
    let mut store = store([(1, 0, 10), (1, 2, 30)]);
    let floor = |store: &Store, nonce| store.queue(&sender(1)).unwrap().get(nonce).unwrap().floor;
    assert_eq!(floor(&store, 2), Rank::UNREACHABLE);
    store.put(pooled(1, 1, 20, 2), 0);
    assert_eq!(floor(&store, 2), pooled(1, 0, 10, 0).rank);
    assert_eq!(store.queue(&sender(1)).unwrap().first_free(0), 3);
}

#[test]
fn a_balance_covers_from_the_front() {
    let store = store([(1, 0, 9), (1, 1, 19), (1, 2, 29)]);
    let queue = store.queue(&sender(1)).unwrap();
    let from = |balance| queue.unpayable_from(Amount(balance));
    assert_eq!([from(60), from(59), from(29), from(9)], [None, Some(2), Some(1), Some(0)]);
}

#[derive(Clone, Debug)]
enum Change {
    Put { from: u8, nonce: u64, tip: u128 },
    StartAt { from: u8, nonce: u64 },
    CutFrom { from: u8, nonce: u64 },
    Basefee(u128),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (1u8..5, 0u64..12, 0u128..50)
            .prop_map(|(from, nonce, tip)| Change::Put { from, nonce, tip }),
        1 => (1u8..5, 0u64..12).prop_map(|(from, nonce)| Change::StartAt { from, nonce }),
        1 => (1u8..5, 0u64..12).prop_map(|(from, nonce)| Change::CutFrom { from, nonce }),
        1 => (990u128..1_040).prop_map(Change::Basefee),
    ]
}

proptest! {
    #[test]
    fn indices_agree_with_the_queues_after_every_change(
        changes in proptest::collection::vec(change(), 0..80)
    ) {
        let params = ChainParams::one_second();
        let mut store = Store::default();
        let mut basefees = FEES;
        let mut nonces = BTreeMap::new();
        for (arrival, change) in (0..).zip(changes) {
            match change {
                Change::Put { from, nonce, tip } => {
                    let next = *nonces.get(&from).unwrap_or(&0);
                    let mut new = pooled(from, nonce, tip, arrival);
                    new.rank = Rank::of(&new.offer, &basefees, &params);
                    if nonce >= next && store.get(&new.hash).is_none() {
                        store.put(new, next);
                    }
                }
                Change::StartAt { from, nonce } => {
                    let next = nonces.entry(from).or_insert(0);
                    *next = nonce.max(*next);
                    let gone = store.start_at(&sender(from), *next);
                    prop_assert!(gone.iter().all(|pooled| pooled.nonce < *next));
                }
                Change::CutFrom { from, nonce } => {
                    let gone = store.cut_from(&sender(from), nonce);
                    prop_assert!(gone.iter().all(|pooled| pooled.nonce >= nonce));
                    let left = store.queue(&sender(from)).and_then(Queue::last);
                    prop_assert!(left.is_none_or(|last| last.nonce < nonce));
                }
                Change::Basefee(fee) => {
                    basefees = Basefees { cycle: fee, cell: fee };
                    store.rerank(basefees, &params);
                }
            }
            store.assert_consistent();
        }
    }
}
