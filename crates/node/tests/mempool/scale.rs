//! Full pools: the work stays near n log n. What would be quadratic here takes minutes.

use crate::mempool::world::{World, key, sign};
use remuda_node::mempool::{Budget, Limits};
use remuda_protocol::state::{MemoryState, Value, View};
use std::cell::Cell;

const MANY: usize = 20_000;

/// Counts what is read.
struct Counting<'a> {
    state: &'a MemoryState,
    reads: Cell<usize>,
}

impl View for Counting<'_> {
    fn get(&self, key: &[u8]) -> Option<Value> {
        self.reads.set(self.reads.get() + 1);
        self.state.get(key)
    }
}

fn count<T>(state: &MemoryState, work: impl FnOnce(&Counting<'_>) -> T) -> (T, usize) {
    let counting = Counting { state, reads: Cell::new(0) };
    let result = work(&counting);
    (result, counting.reads.get())
}

#[test]
fn a_pool_of_one_sender() {
    let limits = Limits {
        sender_transactions: MANY,
        sender_bytes: usize::MAX,
        nonces_ahead: MANY as u64,
        ..Limits::default()
    };
    let mut world = World::new(limits, &[10_000_000]);
    world.chain.paranoid = false;
    for nonce in 0..MANY as u64 {
        world.wait(0, nonce, 1 + u128::from(nonce % 7));
    }
    assert_eq!(world.pool.len(), MANY);
    let params = &world.chain.params;
    let budget = Budget::of_block(params);
    let (picked, reads) = count(&world.chain.state, |state| world.pool.pick(state, params, budget));
    assert!(picked.len() > 3_000, "{}", picked.len());
    assert_eq!(reads, 2, "the basefees and one account");
    let dropped = world.block(&picked);
    assert_eq!(dropped.len(), picked.len());
    assert_eq!(world.pool.len(), MANY - picked.len());
}

#[test]
fn a_pool_of_as_many_senders_as_transactions() {
    let mut world = World::new(Limits::default(), &vec![100; MANY + 1]);
    world.chain.paranoid = false;
    for who in 0..MANY {
        world.wait(who, 0, 100 + (who % 1_000) as u128);
    }
    assert_eq!(world.pool.len(), MANY);
    let (params, state) = (world.chain.params.clone(), world.chain.state.clone());

    let budget = Budget::of_block(&params);
    let (picked, reads) = count(&state, |state| world.pool.pick(state, &params, budget));
    assert!(picked.len() > 3_000, "{}", picked.len());
    assert!(reads < picked.len() + 1_000, "{reads} reads for {} picked", picked.len());
    let (few, reads) = count(&state, |state| {
        world.pool.pick(state, &params, Budget { transactions: 10, ..budget })
    });
    assert_eq!(few, picked[..10]);
    // Twenty senders bid the highest tip.
    assert!(reads <= 1 + 20 + 10, "{reads}");

    let newcomer = sign(&key(MANY), world.body(0, 5_000));
    let (accepted, reads) =
        count(&state, |state| world.pool.insert(&newcomer, state, &params).unwrap());
    assert_eq!((accepted.evicted.len(), reads), (1, 2));
    assert_eq!(world.pool.len(), MANY);

    let dropped = world.block(&picked[1..]);
    assert_eq!(dropped.len(), picked.len() - 1);
    let (_, reads) = count(&world.chain.state, |state| world.pool.advance(state, &params, []));
    assert!(reads <= 1 + 2_048, "{reads}: a block without ours looks at a part of the senders");
}
