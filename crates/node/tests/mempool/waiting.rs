//! What becomes of those that wait while blocks pass.

use crate::mempool::world::{ELSEWHERE, World, pay, sign, tight};
use remuda_node::mempool::{DropReason, Limits};
use remuda_protocol::primitives::{Amount, TxHash};
use remuda_protocol::transaction::{Transaction, tx_hash};
use std::collections::BTreeMap;

type Reasons = BTreeMap<TxHash, &'static str>;

fn reasons(dropped: Vec<remuda_node::mempool::Dropped>) -> Reasons {
    dropped.into_iter().map(|one| (one.hash, one.reason.code())).collect()
}

#[test]
fn a_block_takes_what_it_holds_and_what_it_makes_stale() {
    let mut world = World::new(Limits::default(), &[1_000]);
    let included = world.wait(0, 0, 1);
    let stale = world.wait(0, 1, 1);
    let waits = world.wait(0, 2, 1);
    let first = world.pool.get(&included).unwrap().bytes.clone();
    let unknown = sign(&world.keys[0], world.body(1, 99)).into();
    let dropped = reasons(world.block(&[first, unknown]));
    assert_eq!(dropped, [(included, "included"), (stale, "stale")].into());
    assert_eq!(world.pick(), [waits]);
}

#[test]
fn what_can_no_longer_be_paid_goes_from_the_end() {
    let mut world = World::new(Limits::default(), &[100]);
    let paying = |world: &World, nonce, amount| {
        let body = world.body(nonce, 1);
        tight(Transaction { instruction: pay(Amount::cby(amount).get()), ..body })
    };
    let mut hashes = Vec::new();
    for (nonce, amount) in [(1, 30), (2, 30), (3, 1)] {
        let body = paying(&world, nonce, amount);
        hashes.push(world.offer(0, body).unwrap().hash);
    }
    // Nonce 0 is used for a large payment that never came by here.
    let spent = sign(&world.keys[0], paying(&world, 0, 50)).into();
    let dropped = reasons(world.block(&[spent]));
    assert_eq!(dropped, [(hashes[1], "cannot_pay"), (hashes[2], "cannot_pay")].into());
    assert_eq!(world.pick(), [hashes[0]]);
}

#[test]
fn what_insert_finds_stale_is_reported_by_the_next_block() {
    let mut world = World::new(Limits::default(), &[1_000]);
    let old = world.wait(0, 0, 1);
    let bytes = sign(&world.keys[0], world.body(0, 2));
    world.chain.queue(bytes);
    world.chain.step();
    let new = world.wait(0, 1, 1);
    assert!(!world.pool.contains(&old) && world.pool.contains(&new));
    let dropped = world.pool.advance(&world.chain.state, &world.chain.params, []);
    assert_eq!(reasons(dropped), [(old, "stale")].into());
}

#[test]
fn age_is_counted_in_blocks_and_takes_along_what_waits_behind() {
    let limits = Limits { age_blocks: 3, ..Limits::default() };
    let mut world = World::new(limits, &[1_000, 1_000]);
    let empty = |world: &mut World| {
        world.chain.step();
        world.pool.advance(&world.chain.state, &world.chain.params, [])
    };
    let old = world.wait(0, 1, 1);
    assert!(empty(&mut world).is_empty());
    let before = world.wait(0, 0, 1);
    let behind = world.wait(0, 2, 1);
    let other = world.wait(1, 1, 1);
    assert!(empty(&mut world).is_empty());
    assert!(empty(&mut world).is_empty());
    let dropped = reasons(empty(&mut world));
    assert_eq!(dropped, [(old, "expired"), (behind, "stranded")].into());
    assert_eq!(world.pick(), [before]);
    let dropped = reasons(empty(&mut world));
    assert_eq!(dropped, [(before, "expired"), (other, "expired")].into());
    assert!(world.pool.is_empty() && world.pool.bytes() == 0);
}

#[test]
fn a_replacement_resets_its_age() {
    let limits = Limits { age_blocks: 1, ..Limits::default() };
    let mut world = World::new(limits, &[1_000]);
    world.wait(0, 1, 1);
    world.pool.advance(&world.chain.state, &world.chain.params, []);
    world.wait(0, 1, 100_000);
    assert!(world.pool.advance(&world.chain.state, &world.chain.params, []).is_empty());
    let dropped = world.pool.advance(&world.chain.state, &world.chain.params, []);
    assert_eq!(dropped[0].reason, DropReason::Expired);
}

#[test]
fn listings_are_by_nonce_and_by_arrival() {
    let mut world = World::new(Limits::default(), &[1_000, 1_000]);
    let hashes = [world.wait(0, 2, 1), world.wait(1, 0, 5), world.wait(0, 0, 9)];
    let by_arrival: Vec<TxHash> = world.pool.iter().map(|pooled| pooled.hash).collect();
    assert_eq!(by_arrival, hashes);
    let owner = world.keys[0].address();
    let nonces: Vec<u64> = world.pool.pending_of(&owner).map(|pooled| pooled.nonce).collect();
    assert_eq!(nonces, [0, 2]);
    let pooled = world.pool.get(&hashes[0]).unwrap();
    assert_eq!((pooled.sender, tx_hash(&pooled.bytes)), (owner, hashes[0]));
    assert_eq!(world.pool.next_nonce(&ELSEWHERE, &world.chain.state), 0);
    assert_eq!(world.pool.pending_of(&ELSEWHERE).count(), 0);
}
