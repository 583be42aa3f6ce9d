//! A pool that several use at once: what is done while it is locked, and what is not.

use crate::mempool::world::{World, sign};
use remuda_node::mempool::{Limits, Refusal, offer};
use remuda_protocol::error::Inadmissible;
use remuda_protocol::state::MemoryState;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

/// A lone pool, and the state that it is asked with.
fn world(limits: Limits) -> (World, Mutex<remuda_node::mempool::Mempool>) {
    let world = World::new(limits.clone(), &[1_000, 1_000]);
    (world, Mutex::new(remuda_node::mempool::Mempool::new(limits)))
}

fn not_asked() -> MemoryState {
    panic!("the state has nothing to do with it");
}

#[test]
fn what_is_wrong_with_the_bytes_is_said_while_others_hold_the_pool() {
    let (world, pool) = world(Limits::default());
    let params = &world.chain.params;
    let good = sign(&world.keys[0], world.body(0, 1));
    let mut unsigned = good.clone();
    *unsigned.last_mut().unwrap() = 2;
    let cases = [
        (unsigned, Inadmissible::BadSignature),
        (good[..40].to_vec(), Inadmissible::Malformed),
        (vec![0; 131_073], Inadmissible::TooLarge),
    ];
    let held = pool.lock().unwrap();
    std::thread::scope(|scope| {
        let (done, answers) = mpsc::channel();
        let pool = &pool;
        scope.spawn(move || {
            for (bytes, reason) in cases {
                let refusal = offer(pool, &bytes, not_asked, params).unwrap_err();
                done.send((refusal, Refusal::Inadmissible(reason))).unwrap();
            }
        });
        for _ in 0..3 {
            let answer = answers.recv_timeout(Duration::from_secs(20));
            let Ok((refusal, expected)) = answer else {
                // Lets the other thread end, so that the test fails instead of hanging.
                drop(held);
                panic!("a refusal waited for the pool");
            };
            assert_eq!(refusal, expected);
        }
    });
}

#[test]
fn the_state_is_that_of_the_moment_of_entry() {
    let (world, pool) = world(Limits::default());
    let params = &world.chain.params;
    let bytes = sign(&world.keys[0], world.body(0, 1));
    let state = || {
        assert!(pool.try_lock().is_err(), "it is asked for under the lock");
        world.chain.state.clone()
    };
    let accepted = offer(&pool, &bytes, state, params).unwrap();
    assert!(pool.lock().unwrap().contains(&accepted.hash));
    let again = offer(&pool, &bytes, not_asked, params);
    assert_eq!(again, Err(Refusal::AlreadyKnown), "known ones are told apart before anything else");
}

#[test]
fn a_full_pool_does_not_look_at_signatures_that_it_has_no_room_for() {
    let (world, pool) = world(Limits { transactions: 1, ..Limits::default() });
    let params = &world.chain.params;
    let state = || world.chain.state.clone();
    offer(&pool, &sign(&world.keys[0], world.body(0, 100)), state, params).unwrap();
    let mut cheap = sign(&world.keys[1], world.body(0, 1));
    *cheap.last_mut().unwrap() = 2;
    assert_eq!(offer(&pool, &cheap, not_asked, params), Err(Refusal::PoolFull));
    let mut dear = sign(&world.keys[1], world.body(0, 10_000));
    *dear.last_mut().unwrap() = 2;
    let refusal = offer(&pool, &dear, not_asked, params).unwrap_err();
    assert_eq!(refusal, Refusal::Inadmissible(Inadmissible::BadSignature));
}
