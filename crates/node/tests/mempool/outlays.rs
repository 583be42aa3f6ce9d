//! What the pool says a transaction takes, against what the chain takes.

use crate::mempool::world::{ELSEWHERE, World, job, key, pay, tight};
use remuda_node::mempool::Limits;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::execute::deposit;
use remuda_protocol::primitives::Amount;
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::transaction::{Instruction, Transaction};

#[test]
fn the_known_outlay_is_what_the_chain_takes_besides_the_fee() {
    let mut world = World::new(Limits::default(), &[50_000]);
    let owner = key(0).address();
    let amount = Amount::cby(3);
    let stake = Amount(world.chain.params.min_stake);
    let instructions = [
        Instruction::Transfer { to: ELSEWHERE, amount },
        Instruction::RegisterRunner { stake, offer: plain_offer(&[JobKind::Http]) },
        Instruction::Stake { amount },
        Instruction::Delegate { runner: owner, amount, min_shares: 0 },
        Instruction::SubmitJob { spec: job(owner, amount) },
        Instruction::Heartbeat,
        Instruction::PauseRunner,
    ];
    for (nonce, instruction) in (0..).zip(instructions) {
        let name = format!("{instruction:?}");
        let mut body = tight(Transaction { instruction, ..world.body(nonce, 3) });
        body.cycles_limit += 100_000;
        let (deposit, held) = (deposit(&body).unwrap(), body.max_deposit.get());
        let hash = world.offer(0, body).unwrap().hash;
        let outlay = world.pool.get(&hash).unwrap().cost.get() - deposit.get();
        let before = world.chain.balance(owner).get();
        world.step();
        let receipt = world.chain.receipt(hash).unwrap();
        assert_eq!(receipt.code, 0, "{name}");
        let taken = before - world.chain.balance(owner).get();
        // Of the deposit that it allows, the chain takes what it needs.
        let taken = taken - receipt.fee.get();
        assert!((outlay - held..=outlay).contains(&taken), "{name}: {taken} of {outlay}");
    }
}

#[test]
fn what_a_transaction_takes_is_never_more_than_its_cost() {
    // Everything goes, so that the next one could not pay if the pool reckoned with less.
    let mut world = World::new(Limits::default(), &[100]);
    let owner = key(0).address();
    let body = world.body(0, 7);
    let fees = |body: &Transaction| {
        u128::from(body.cycles_limit) * body.cycle_bid.max_fee
            + u128::from(body.cells_limit) * body.cell_bid.max_fee
    };
    let rest = world.chain.balance(owner).get() - 2 * fees(&body);
    let all = tight(Transaction { instruction: pay(rest - 1), ..body });
    world.offer(0, all).unwrap();
    world.wait(0, 1, 7);
    let over = world.body(2, 7);
    assert_eq!(world.offer(0, over).unwrap_err().code(), "cannot_pay");
    assert_eq!(world.pick().len(), 2);
    world.step();
    assert_eq!(world.chain.account(owner).nonce, 2);
    assert!(world.pool.is_empty());
}
