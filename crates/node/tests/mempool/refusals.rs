//! Each reason to refuse a transaction, by its code.

use crate::mempool::world::{World, pay, sign, tight};
use remuda_node::mempool::{Limits, Refusal};
use remuda_protocol::fees::{Bid, Lane};
use remuda_protocol::primitives::{Amount, B256};
use remuda_protocol::transaction::{Instruction, Transaction};
use std::collections::BTreeSet;

fn world() -> World {
    World::new(Limits::default(), &[1_000])
}

/// The code with which a change to a good transaction is refused.
fn code(change: impl FnOnce(&World, &mut Transaction)) -> &'static str {
    let mut world = world();
    let mut body = world.body(0, 100);
    change(&world, &mut body);
    let refusal = world.offer(0, body).expect_err("it is refused");
    assert!(world.pool.is_empty());
    refusal.code()
}

#[test]
fn what_is_wrong_with_the_transaction_itself_is_named() {
    assert_eq!(code(|_, body| body.chain_id += 1), "wrong_chain");
    assert_eq!(code(|_, body| body.cycles_limit -= 1), "limit_too_low");
    assert_eq!(code(|_, body| body.cells_limit -= 1), "limit_too_low");
    assert_eq!(code(|_, body| body.cells_limit = u64::MAX), "limit_too_high");
    let over_lane = |w: &World, body: &mut Transaction| {
        body.cycles_limit = Lane::User.limit(&w.chain.params) + 1
    };
    assert_eq!(code(over_lane), "limit_too_high");
    let priority = Bid { max_fee: 10_000, max_priority: 10_001 };
    assert_eq!(code(|_, body| body.cell_bid = priority), "priority_above_maximum");
    let floor = |w: &World| Bid { max_fee: w.chain.params.min_basefee - 1, max_priority: 0 };
    assert_eq!(code(|w, body| body.cycle_bid = floor(w)), "fee_below_floor");
    assert_eq!(code(|w, body| body.cell_bid = floor(w)), "fee_below_floor");
    let boundless = Bid { max_fee: u128::MAX, max_priority: 0 };
    assert_eq!(code(|_, body| body.cell_bid = boundless), "cost_overflow");
    assert_eq!(code(|_, body| body.instruction = pay(u128::MAX)), "cost_overflow");
    assert_eq!(code(|_, body| body.nonce = 64), "nonce_too_far");
    assert_eq!(code(|_, body| body.instruction = pay(Amount::cby(1_000).get())), "cannot_pay");
}

#[test]
fn what_is_wrong_with_the_bytes_is_named() {
    let mut world = world();
    let bytes = sign(&world.keys[0], world.body(0, 1));
    let refused = |world: &mut World, bytes: &[u8]| world.insert(bytes).unwrap_err().code();
    assert_eq!(refused(&mut world, &[]), "malformed");
    assert_eq!(refused(&mut world, &[&bytes[..], &[0]].concat()), "malformed");
    assert_eq!(refused(&mut world, &vec![0; 131_073]), "too_large");
    let mut bad = bytes.clone();
    *bad.last_mut().unwrap() = 2;
    assert_eq!(refused(&mut world, &bad), "bad_signature");
    // Any other change to what was signed makes it somebody else's, who has no money.
    let mut other = bytes.clone();
    other[70] ^= 1;
    assert!(["cannot_pay", "bad_signature"].contains(&refused(&mut world, &other)));
    assert!(world.insert(&bytes).is_ok());
    assert_eq!(refused(&mut world, &bytes), "already_known");
}

#[test]
fn a_nonce_on_chain_is_refused() {
    let mut world = world();
    world.wait(0, 0, 1);
    world.step();
    let body = world.body(0, 2);
    let refusal = world.offer(0, body).unwrap_err();
    assert_eq!(refusal, Refusal::NonceTooLow { nonce: 0, next: 1 });
    assert_eq!(refusal.code(), "nonce_too_low");
    world.wait(0, 1, 1);
}

#[test]
fn a_sender_has_limited_places_and_bytes() {
    let limits = Limits { sender_transactions: 2, ..Limits::default() };
    let mut world = World::new(limits, &[1_000]);
    world.wait(0, 0, 1);
    world.wait(0, 1, 1);
    let body = world.body(2, 1);
    assert_eq!(world.offer(0, body).unwrap_err().code(), "sender_full");
    let bump = world.body(1, 10_000);
    assert!(world.offer(0, bump).is_ok(), "a replacement needs no place");

    let size = world.pool.iter().next().unwrap().bytes.len();
    let limits = Limits { sender_bytes: 2 * size, ..Limits::default() };
    let mut world = World::new(limits, &[1_000]);
    world.wait(0, 0, 1);
    world.wait(0, 1, 1);
    let body = world.body(2, 1);
    assert_eq!(world.offer(0, body).unwrap_err().code(), "sender_bytes_full");
}

#[test]
fn a_sender_that_sent_its_nonces_backwards_still_has_a_place_for_the_first() {
    let mut world = World::new(Limits::default(), &[100_000]);
    for nonce in (0..64).rev() {
        world.wait(0, nonce, 1);
    }
    assert_eq!(world.pick().len(), 64);
}

#[test]
fn the_balance_must_cover_everything_that_waits() {
    // Each of these is about 0.05 CBY of fees and 4 CBY of payment.
    let mut world = World::new(Limits::default(), &[10]);
    let paying = |world: &World, nonce| {
        let body = world.body(nonce, 1);
        tight(Transaction { instruction: pay(Amount::cby(4).get()), ..body })
    };
    for nonce in [2, 1] {
        let body = paying(&world, nonce);
        assert!(world.offer(0, body).is_ok());
    }
    let body = paying(&world, 0);
    let refusal = world.offer(0, body).unwrap_err();
    assert_eq!(refusal.code(), "cannot_pay");
    let text = refusal.to_string();
    assert!(text.contains("10 CBY (10000000000 base units) available"), "{text}");
    world.wait(0, 0, 1);
    assert_eq!(world.pick().len(), 3);
}

#[test]
fn taking_anothers_place_needs_a_bump_of_both_bids() {
    let mut world = world();
    let first = world.wait(0, 0, 1_000);
    let old = world.body(0, 1_000);
    let raise = |bid: Bid, percent: u128| Bid {
        max_fee: bid.max_fee * percent / 100,
        max_priority: bid.max_priority * percent / 100,
    };
    let one_sided = Transaction { cycle_bid: raise(old.cycle_bid, 200), ..old.clone() };
    assert_eq!(world.offer(0, one_sided).unwrap_err().code(), "replacement_underpriced");
    let too_little = Transaction {
        cycle_bid: raise(old.cycle_bid, 109),
        cell_bid: raise(old.cell_bid, 109),
        ..old.clone()
    };
    assert_eq!(world.offer(0, too_little).unwrap_err().code(), "replacement_underpriced");
    let enough = Transaction {
        cycle_bid: raise(old.cycle_bid, 110),
        cell_bid: raise(old.cell_bid, 110),
        ..old
    };
    let accepted = world.offer(0, enough).unwrap();
    assert_eq!(accepted.replaced, Some(first));
    assert_eq!(world.pick(), [accepted.hash]);
    assert!(!world.pool.contains(&first));
}

#[test]
fn a_full_pool_takes_only_who_outbids_its_cheapest() {
    let limits = Limits { transactions: 2, ..Limits::default() };
    let mut world = World::new(limits, &[1_000, 1_000, 1_000]);
    let cheap = world.wait(0, 0, 100);
    let dear = world.wait(1, 0, 200);
    let body = world.body(0, 100);
    assert_eq!(world.offer(2, body).unwrap_err().code(), "pool_full");
    // Behind a gap nothing is worth a place in a full pool.
    let body = world.body(5, 10_000);
    assert_eq!(world.offer(2, body).unwrap_err().code(), "pool_full");
    let body = world.body(0, 101);
    let accepted = world.offer(2, body).unwrap();
    assert_eq!(accepted.evicted, [cheap]);
    assert_eq!(world.pick(), [dear, accepted.hash]);
    // What follows a cheap one is worth no more than that.
    let body = world.body(1, 100_000);
    assert_eq!(world.offer(2, body).unwrap_err().code(), "pool_full");
}

#[test]
fn a_pool_full_of_bytes_makes_room_by_bytes() {
    let mut world = World::new(Limits::default(), &[1_000]);
    world.wait(0, 0, 1);
    let size = world.pool.bytes();
    let limits = Limits { bytes: 3 * size, ..Limits::default() };
    let mut world = World::new(limits, &[1_000, 1_000, 1_000, 1_000]);
    let gone = [world.wait(0, 0, 2), world.wait(1, 0, 1)];
    let stays = world.wait(2, 0, 30_000);
    let body = world.body(0, 20_000);
    let large = tight(Transaction { instruction: padded(size - 66), ..body });
    let accepted = world.offer(3, large).unwrap();
    let evicted: BTreeSet<_> = accepted.evicted.into_iter().collect();
    assert_eq!(evicted, gone.into());
    assert!(world.pool.bytes() <= 3 * size);
    assert!(world.pool.contains(&stays));
}

#[test]
fn what_a_larger_replacement_frees_is_counted_once() {
    let mut world = World::new(Limits::default(), &[1_000]);
    world.wait(0, 0, 1);
    let size = world.pool.bytes();
    let limits = Limits { bytes: 3 * size, ..Limits::default() };
    let mut world = World::new(limits, &[1_000, 1_000, 1_000]);
    let old = world.wait(0, 0, 1);
    let other = world.wait(1, 0, 20);
    let dear = world.wait(2, 0, 100_000);
    let larger = |world: &World, tip| {
        tight(Transaction { instruction: padded(size / 2), ..world.body(0, tip) })
    };
    let body = larger(&world, 50_000);
    let accepted = world.offer(0, body).unwrap();
    assert_eq!((accepted.replaced, accepted.evicted), (Some(old), vec![other]));
    assert!(world.pool.contains(&dear) && world.pool.bytes() <= 3 * size);
}

/// A result of so many bytes for a job that there is not.
fn padded(bytes: usize) -> Instruction {
    let result_sig = crate::mempool::world::key(0).sign(&B256::ZERO);
    Instruction::SubmitResult { job: B256::ZERO, result: vec![7; bytes].into(), result_sig }
}
