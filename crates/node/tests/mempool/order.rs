//! In which order transactions are picked, and when picking stops.

use crate::mempool::world::{World, job, pay, sign, tight};
use remuda_node::mempool::{Budget, Limits};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::event::Event;
use remuda_protocol::execute::Outcome;
use remuda_protocol::fees::Bid;
use remuda_protocol::primitives::{Amount, B256, JobId, TxHash};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::transaction::{Instruction, Transaction, tx_hash};

fn world(people: usize) -> World {
    World::new(Limits::default(), &vec![10_000; people])
}

#[test]
fn higher_tips_first_then_earlier_arrivals_and_nonces_in_order() {
    let mut world = world(4);
    let second_of_0 = world.wait(0, 1, 900);
    let late = world.wait(1, 0, 50);
    let later = world.wait(2, 0, 50);
    let first_of_0 = world.wait(0, 0, 100);
    let best = world.wait(3, 0, 500);
    assert_eq!(world.pick(), [best, first_of_0, second_of_0, late, later]);
}

#[test]
fn a_gap_holds_back_what_is_behind_it() {
    let mut world = world(2);
    world.wait(0, 1, 900);
    let other = world.wait(1, 0, 1);
    assert_eq!(world.pick(), [other]);
    assert_eq!(world.pool.next_nonce(&world.keys[0].address(), &world.chain.state), 0);
    world.wait(0, 0, 1);
    assert_eq!(world.pick().len(), 3);
    assert_eq!(world.pool.next_nonce(&world.keys[0].address(), &world.chain.state), 2);
}

#[test]
fn who_bids_below_the_basefee_waits_alone() {
    let mut world = world(2);
    let mut body = world.body(0, 0);
    body.cell_bid = Bid { max_fee: world.basefees().cell - 1, max_priority: 0 };
    let patient = world.offer(0, body).expect("the basefee may fall").hash;
    world.wait(0, 1, 900);
    let other = world.wait(1, 0, 1);
    assert_eq!(world.pick(), [other]);
    // A nearly empty block later the basefee has fallen.
    world.step();
    assert_eq!(world.pick()[0], patient);
    assert_eq!(world.pick().len(), 2);
}

#[test]
fn a_state_ahead_of_the_pool_is_picked_for_from_its_own_nonces() {
    let mut world = world(1);
    let hashes: Vec<TxHash> = (0..4).map(|nonce| world.wait(0, nonce, 1)).collect();
    // Two blocks that the pool has not been told of.
    for hash in &hashes[..2] {
        let bytes = world.pool.get(hash).unwrap().bytes.to_vec();
        world.chain.queue(bytes);
        world.chain.step();
    }
    assert_eq!(world.pick(), hashes[2..]);
}

#[test]
fn a_state_ahead_of_the_pool_is_picked_for_from_its_own_balances() {
    let mut world = World::new(Limits::default(), &[100]);
    let paying = |world: &World, nonce, amount: u128| {
        let instruction = pay(Amount::cby(amount).get());
        tight(Transaction { instruction, ..world.body(nonce, 1) })
    };
    for nonce in [1, 2, 3] {
        let body = paying(&world, nonce, 30);
        world.offer(0, body).unwrap();
    }
    let spent = sign(&world.keys[0], paying(&world, 0, 35));
    world.chain.queue(spent);
    world.chain.step();
    assert_eq!(world.pick().len(), 2, "of the 65 that are left");
}

#[test]
fn a_full_lane_does_not_hold_up_the_other() {
    let mut world = world(3);
    let lane = Budget::of_block(&world.chain.params).user_cycles;
    let body = world.body(0, 900);
    let huge = world.offer(0, Transaction { cycles_limit: lane, ..body }).unwrap().hash;
    let user = world.wait(1, 0, 1);
    let body = world.body(0, 1);
    let heartbeat = tight(Transaction { instruction: Instruction::Heartbeat, ..body });
    let runner = world.offer(2, heartbeat).unwrap().hash;
    let of_block = Budget::of_block(&world.chain.params);
    let hashes = |budget| -> Vec<TxHash> {
        world.pick_within(budget).iter().map(|bytes| tx_hash(bytes)).collect()
    };
    // The tip of the huge one counts per cycle that it blocks.
    assert_eq!(hashes(of_block), [runner, user]);
    let roomy = hashes(of_block.overbooked(2));
    assert_eq!(roomy.len(), 3);
    assert_eq!(roomy[2], huge);
    let narrow = Budget { user_cycles: 0, ..of_block };
    assert_eq!(hashes(narrow), [runner]);
}

/// Outbidding a report past its deadline would get its runner slashed.
#[test]
fn reports_of_runners_go_first_and_leave_half_of_the_block() {
    let mut world = world(4);
    let report = |world: &World, nonce| {
        let body = Transaction { instruction: Instruction::Heartbeat, ..world.body(nonce, 1) };
        tight(body)
    };
    let dear: Vec<TxHash> = (0..3).map(|nonce| world.wait(0, nonce, 900)).collect();
    let first = report(&world, 0);
    let first = world.offer(1, first).unwrap().hash;
    // Behind a payment of its own it has to wait for its turn, but then goes on in order.
    let before = world.wait(2, 0, 500);
    let behind = report(&world, 1);
    let behind = world.offer(2, behind).unwrap().hash;
    let after = world.wait(1, 1, 300);
    let picked = world.pick();
    assert_eq!(picked, [&[first][..], &dear, &[before, after, behind]].concat());
    // A block's worth of reports does not keep payments out.
    let bytes = world.pool.get(&first).unwrap().bytes.len();
    let narrow = Budget { bytes: 4 * bytes, ..Budget::of_block(&world.chain.params) };
    for nonce in 0..8 {
        let body = report(&world, nonce);
        world.offer(3, body).unwrap();
    }
    let picked = world.pick_within(narrow);
    let payments = picked.iter().filter(|bytes| dear.contains(&tx_hash(bytes))).count();
    assert!(payments >= 1, "{payments} of {}", picked.len());
}

fn assigned(outcome: &Outcome) -> Option<JobId> {
    outcome.events().find_map(|event| match event {
        Event::JobAssigned { job, .. } => Some(*job),
        _ => None,
    })
}

/// Anybody can send what looks like a report, and pay for it.
#[test]
fn nobody_outbids_a_report_that_a_job_waits_for() {
    let mut world = World::new(Limits::default(), &[100_000; 4]);
    let runner = world.keys[0].clone();
    let offer = plain_offer(&[JobKind::Http]);
    let register = Instruction::RegisterRunner { stake: Amount::cby(50_000), offer };
    world.chain.send(&runner, register);
    world.chain.step();
    let customer = world.keys[1].clone();
    let ordered = Instruction::SubmitJob { spec: job(customer.address(), Amount::cby(1)) };
    world.chain.send(&customer, ordered);
    let id = core::iter::repeat_with(|| world.chain.step())
        .take(20)
        .find_map(|outcome| assigned(&outcome))
        .expect("it is drawn");
    // What it said before has to go first, and may.
    let nonce = world.chain.account(runner.address()).nonce;
    let beat = Transaction { instruction: Instruction::PauseRunner, ..world.body(nonce, 1) };
    let beat = world.offer(0, tight(beat)).unwrap().hash;
    let signature = runner.sign(&B256::ZERO);
    let instruction =
        Instruction::SubmitResult { job: id, result: b"{}".into(), result_sig: signature };
    let result = Transaction { instruction: instruction.clone(), ..world.body(nonce + 1, 1) };
    let result = world.offer(0, tight(result)).unwrap().hash;
    let rich: Vec<TxHash> = (2..4)
        .map(|who| {
            let body = Transaction { instruction: instruction.clone(), ..world.body(0, 900) };
            world.offer(who, tight(body)).unwrap().hash
        })
        .collect();
    assert_eq!(world.pick(), [beat, result, rich[0], rich[1]]);
    // Once only: who was drawn must not fill blocks with it.
    let again = Transaction { instruction: instruction.clone(), ..world.body(nonce + 2, 1) };
    let again = world.offer(0, tight(again)).unwrap().hash;
    assert_eq!(world.pick(), [beat, result, rich[0], rich[1], again]);
    // And only as long as the job waits for it: here it has its answer.
    world.chain.send_result(&runner, id, b"{}");
    world.chain.step();
    let nonce = world.chain.account(runner.address()).nonce;
    let late = Transaction { instruction, ..world.body(nonce + 4, 1) };
    let late = world.offer(0, tight(late)).unwrap().hash;
    let picked = world.pick();
    let place = |hash| picked.iter().position(|picked| *picked == hash);
    assert!(place(late).is_none_or(|late| Some(late) > place(rich[1])), "{picked:?}");
}

/// A privilege that outlived its job would put 63 others in front of reports that have deadlines.
#[test]
fn a_report_is_privileged_only_while_its_job_waits_for_it() {
    let mut world = World::new(Limits::default(), &[100_000; 4]);
    let runner = world.keys[0].clone();
    let offer = plain_offer(&[JobKind::Http]);
    let register = Instruction::RegisterRunner { stake: Amount::cby(50_000), offer };
    world.chain.send(&runner, register);
    world.chain.step();
    let customer = world.keys[1].clone();
    let ordered = Instruction::SubmitJob { spec: job(customer.address(), Amount::cby(1)) };
    world.chain.send(&customer, ordered);
    let id = core::iter::repeat_with(|| world.chain.step())
        .take(20)
        .find_map(|outcome| assigned(&outcome))
        .expect("it is drawn");
    let nonce = world.chain.account(runner.address()).nonce;
    let report = |world: &World, tip| {
        let result_sig = runner.sign(&B256::ZERO);
        let result = b"{}".into();
        let instruction = Instruction::SubmitResult { job: id, result, result_sig };
        tight(Transaction { instruction, ..world.body(nonce + 1, tip) })
    };
    let beat = Transaction { instruction: Instruction::PauseRunner, ..world.body(nonce, 1) };
    let beat = world.offer(0, tight(beat)).unwrap().hash;
    let body = report(&world, 1);
    let mine = world.offer(0, body).unwrap().hash;
    let body = report(&world, 900);
    let rich = world.offer(2, Transaction { nonce: 0, ..body }).unwrap().hash;
    assert_eq!(world.pick(), [beat, mine, rich], "the job waits for it");
    // Its time passes, and the job ends without it.
    for _ in 0..100 {
        world.chain.step();
    }
    assert_eq!(world.chain.job(id).unwrap().taking_part().count(), 0);
    assert_eq!(world.pick()[0], rich, "a state ahead of the pool");
    let (state, params) = (world.chain.state.clone(), world.chain.params.clone());
    world.pool.advance(&state, &params, []);
    assert_eq!(world.pick()[0], rich, "a state that the pool knows");
}

/// A full pool is no way to keep a runner from its duty either.
#[test]
fn a_report_that_a_job_waits_for_gets_into_a_full_pool() {
    let limits = Limits { transactions: 2, ..Limits::default() };
    let mut world = World::new(limits, &[100_000; 4]);
    let runner = world.keys[0].clone();
    let offer = plain_offer(&[JobKind::Http]);
    let register = Instruction::RegisterRunner { stake: Amount::cby(50_000), offer };
    world.chain.send(&runner, register);
    world.chain.step();
    let customer = world.keys[1].clone();
    let ordered = Instruction::SubmitJob { spec: job(customer.address(), Amount::cby(1)) };
    world.chain.send(&customer, ordered);
    let id = core::iter::repeat_with(|| world.chain.step())
        .take(20)
        .find_map(|outcome| assigned(&outcome))
        .expect("it is drawn");
    let rich: Vec<TxHash> = (2..4).map(|who| world.wait(who, 0, 900)).collect();
    let report = |job, signer: &SecretKey| Instruction::SubmitResult {
        job,
        result: b"{}".into(),
        result_sig: signer.sign(&B256::ZERO),
    };
    let nonce = world.chain.account(runner.address()).nonce;
    let body = world.body(nonce, 1);
    let foreign = Transaction { instruction: report(JobId::ZERO, &runner), ..body.clone() };
    assert_eq!(world.offer(0, tight(foreign)).unwrap_err().code(), "pool_full");
    let mine = Transaction { instruction: report(id, &runner), ..body };
    let accepted = world.offer(0, tight(mine)).expect("it is let in");
    assert!(accepted.evicted.iter().all(|gone| rich.contains(gone)) && accepted.evicted.len() == 1);
}

#[test]
fn every_part_of_a_budget_is_kept() {
    let mut world = world(8);
    for who in 0..8 {
        world.wait(who, 0, 1);
    }
    let one = world.pool.iter().next().unwrap();
    let (bytes, cells, cycles) = (one.bytes.len(), one.cells_limit, one.cycles_limit);
    let all = Budget::of_block(&world.chain.params);
    for budget in [
        Budget { transactions: 3, ..all },
        Budget { bytes: 4 * bytes - 1, ..all },
        Budget { cells: 4 * cells - 1, ..all },
        Budget { cycles: 4 * cycles - 1, ..all },
        Budget { user_cycles: 4 * cycles - 1, ..all },
    ] {
        assert_eq!(world.pick_within(budget).len(), 3, "{budget:?}");
    }
}

#[test]
fn nothing_follows_a_challenge_in_its_block() {
    let mut world = world(1);
    let body = world.body(0, 1);
    let challenge = Instruction::ChallengeResult { job: B256::ZERO };
    let first = world.offer(0, tight(Transaction { instruction: challenge, ..body })).unwrap();
    let second = world.wait(0, 1, 1);
    assert_eq!(world.pick(), [first.hash]);
    world.step();
    assert_eq!(world.pick(), [second]);
}
