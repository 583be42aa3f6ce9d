//! Random histories against a model that is only a set: inserts, replacements, evictions, blocks
//! from the pool, blocks from elsewhere.

use crate::mempool::world::{ELSEWHERE, World, job, sign, tight};
use proptest::prelude::*;
use remuda_node::mempool::{Budget, Limits, Refusal};
use remuda_protocol::codec::Bytes;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::fees::Bid;
use remuda_protocol::primitives::{Address, Amount, B256, TxHash};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::transaction::{Instruction, Transaction, tx_hash};
use std::collections::{BTreeMap, BTreeSet};

const BALANCES: [u128; 5] = [50_000, 20_000, 5_000, 500, 30];

fn limits() -> Limits {
    Limits {
        transactions: 10,
        bytes: 2_500,
        sender_transactions: 5,
        sender_bytes: 1_400,
        nonces_ahead: 8,
        replacement_percent: 10,
        age_blocks: 6,
    }
}

#[derive(Clone, Debug)]
enum Step {
    Offer(Order),
    /// A block of what the pool picks.
    Block {
        transactions: usize,
        cells: u64,
    },
    /// A block with a payment that the pool never saw.
    Foreign {
        who: usize,
        percent: u128,
    },
}

#[derive(Clone, Debug)]
struct Order {
    who: usize,
    ahead: u64,
    tip: u128,
    /// Of the basefee.
    fee_percent: u128,
    /// How many times the least limits.
    limits: u64,
    what: What,
    /// In hundredths of a CBY.
    amount: u128,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Pay,
    Register,
    Stake,
    Delegate,
    Job,
    Challenge,
    Heartbeat,
    Cancel,
}

fn step() -> impl Strategy<Value = Step> {
    let order = (
        0..BALANCES.len(),
        prop_oneof![3 => 0u64..4, 1 => 0u64..11],
        prop_oneof![Just(1u128), Just(50), Just(500), Just(5_000), Just(20_000)],
        prop_oneof![Just(60u128), Just(100), Just(150), Just(250), Just(500)],
        prop_oneof![5 => Just(1u64), 2 => 2u64..10, 1 => 500u64..4_000],
        prop_oneof![
            4 => Just(What::Pay),
            1 => Just(What::Register),
            1 => Just(What::Stake),
            1 => Just(What::Delegate),
            2 => Just(What::Job),
            1 => Just(What::Challenge),
            2 => Just(What::Heartbeat),
            1 => Just(What::Cancel),
        ],
        prop_oneof![4 => 0u128..2_000, 1 => 0u128..6_000_000],
    )
        .prop_map(|(who, ahead, tip, fee_percent, limits, what, amount)| {
            Step::Offer(Order { who, ahead, tip, fee_percent, limits, what, amount })
        });
    let block = (prop_oneof![Just(1usize), Just(3), Just(100)], 300u64..1_000_000)
        .prop_map(|(transactions, cells)| Step::Block { transactions, cells });
    let foreign =
        (0..BALANCES.len(), 0u128..99).prop_map(|(who, percent)| Step::Foreign { who, percent });
    prop_oneof![16 => order, 2 => block, 1 => foreign]
}

fn instruction(world: &World, order: &Order) -> Instruction {
    let amount = Amount(order.amount * Amount::CBY.get() / 100);
    let rich = world.keys[0].address();
    match order.what {
        What::Pay => Instruction::Transfer { to: ELSEWHERE, amount },
        What::Register => Instruction::RegisterRunner {
            stake: Amount(world.chain.params.min_stake),
            offer: plain_offer(&[JobKind::Http]),
        },
        What::Stake => Instruction::Stake { amount },
        What::Delegate => Instruction::Delegate { runner: rich, amount, min_shares: 0 },
        What::Job => {
            let submitter = world.keys[order.who].address();
            Instruction::SubmitJob { spec: job(submitter, amount) }
        }
        What::Challenge => Instruction::ChallengeResult { job: B256::ZERO },
        What::Heartbeat => Instruction::Heartbeat,
        What::Cancel => Instruction::CancelJob { job: B256::ZERO },
    }
}

fn transaction(world: &World, order: &Order) -> Transaction {
    let nonce = world.chain.account(world.keys[order.who].address()).nonce;
    let fees = world.basefees();
    let bid = |fee: u128| {
        let max_fee = fee * order.fee_percent / 100 + order.tip;
        Bid { max_fee, max_priority: order.tip }
    };
    let mut body = Transaction {
        cycle_bid: bid(fees.cycle),
        cell_bid: bid(fees.cell),
        instruction: instruction(world, order),
        // Sometimes one before the account's nonce.
        nonce: (nonce + order.ahead).saturating_sub(1),
        ..world.body(0, 0)
    };
    body = tight(body);
    let most = body.instruction.lane().limit(&world.chain.params);
    body.cycles_limit = (body.cycles_limit * order.limits).min(most);
    body
}

/// The pool, its twin that sees the same, and the model.
struct Run {
    world: World,
    twin: World,
    waiting: BTreeMap<TxHash, (Address, u64)>,
}

impl Run {
    fn new() -> Self {
        let world = || World::new(limits(), &BALANCES);
        Self { world: world(), twin: world(), waiting: BTreeMap::new() }
    }

    fn perform(&mut self, step: &Step) {
        match step {
            Step::Offer(order) => self.offer(order),
            Step::Block { transactions, cells } => {
                let (transactions, cells) = (*transactions, *cells);
                let budget =
                    Budget { transactions, cells, ..Budget::of_block(&self.world.chain.params) };
                let picked = self.world.pick_within(budget);
                assert_eq!(picked, self.twin.pick_within(budget), "the twin picks the same");
                assert!(picked.len() <= transactions);
                self.block(&picked);
                // Nothing that went in waits on.
                assert!(picked.iter().all(|bytes| !self.waiting.contains_key(&tx_hash(bytes))));
            }
            Step::Foreign { who, percent } => self.foreign(*who, *percent),
        }
        self.check();
    }

    fn offer(&mut self, order: &Order) {
        let body = transaction(&self.world, order);
        let (sender, nonce) = (self.world.keys[order.who].address(), body.nonce);
        let bytes = sign(&self.world.keys[order.who], body);
        let result = self.world.insert(&bytes);
        assert_eq!(result, self.twin.insert(&bytes), "the twin answers the same");
        match result {
            Ok(accepted) => {
                let replaced = self.waiting.iter().find(|(_, place)| **place == (sender, nonce));
                assert_eq!(accepted.replaced, replaced.map(|(hash, _)| *hash));
                if let Some(old) = accepted.replaced {
                    self.waiting.remove(&old);
                }
                self.evict(&accepted.evicted);
                assert!(self.waiting.insert(accepted.hash, (sender, nonce)).is_none());
            }
            Err(Refusal::Inadmissible(reason)) => panic!("a valid transaction: {reason}"),
            Err(Refusal::AlreadyKnown) => assert!(self.waiting.contains_key(&tx_hash(&bytes))),
            Err(_) => {}
        }
    }

    /// Only the ends of sequences may go.
    fn evict(&mut self, evicted: &[TxHash]) {
        let gone: Vec<(Address, u64)> =
            evicted.iter().map(|hash| self.waiting.remove(hash).expect("it waited")).collect();
        for (sender, nonce) in gone {
            let after = self.waiting.values().any(|(who, n)| *who == sender && *n > nonce);
            assert!(!after, "an eviction made a hole before nonce {nonce}");
        }
    }

    fn foreign(&mut self, who: usize, percent: u128) {
        let sender = self.world.keys[who].address();
        let account = self.world.chain.account(sender);
        let amount = Amount(account.balance.get() * percent / 100);
        let body = Transaction {
            nonce: account.nonce,
            instruction: Instruction::Transfer { to: ELSEWHERE, amount },
            ..self.world.body(0, 77)
        };
        let bytes = Bytes(sign(&self.world.keys[who], tight(body)));
        // Who has nothing left cannot even pay the fee.
        let fee = Amount::CBY;
        self.block(if account.balance < fee { &[] } else { core::slice::from_ref(&bytes) });
    }

    fn block(&mut self, transactions: &[Bytes]) {
        self.pick_ahead(transactions);
        let dropped = self.world.block(transactions);
        assert_eq!(dropped, self.twin.block(transactions), "the twin drops the same");
        for one in dropped {
            assert!(self.waiting.remove(&one.hash).is_some(), "dropped once: {one:?}");
        }
    }

    /// A proposer builds on blocks that are not final yet, of which the pool knows nothing.
    fn pick_ahead(&self, transactions: &[Bytes]) {
        let mut chain = self.world.chain.clone();
        for bytes in transactions {
            chain.queue(bytes.to_vec());
        }
        chain.step();
        let budget = Budget::of_block(&chain.params);
        let picked = self.world.pool.pick(&chain.state, &chain.params, budget);
        let hashes: Vec<TxHash> = picked.iter().map(|bytes| chain.queue(bytes.to_vec())).collect();
        chain.step();
        assert!(hashes.iter().all(|hash| chain.left_out(*hash).is_none()));
    }

    fn check(&self) {
        let (pool, limits) = (&self.world.pool, limits());
        assert!(pool.len() <= limits.transactions && pool.bytes() <= limits.bytes);
        let here: BTreeMap<TxHash, (Address, u64)> =
            pool.iter().map(|pooled| (pooled.hash, (pooled.sender, pooled.nonce))).collect();
        assert_eq!(here, self.waiting);
        assert_eq!(pool.len(), here.len());
        assert!(here.keys().all(|hash| pool.get(hash).is_some_and(|p| p.hash == *hash)));
        assert_eq!(pool.bytes(), pool.iter().map(|pooled| pooled.bytes.len()).sum::<usize>());
        let senders: BTreeSet<Address> = here.values().map(|(sender, _)| *sender).collect();
        for sender in senders {
            let account = self.world.chain.account(sender);
            let pending: Vec<_> = pool.pending_of(&sender).collect();
            assert!(pending.len() <= limits.sender_transactions);
            let bytes: usize = pending.iter().map(|pooled| pooled.bytes.len()).sum();
            assert!(bytes <= limits.sender_bytes);
            assert!(pending.iter().all(|pooled| pooled.nonce >= account.nonce));
            assert!(pending.windows(2).all(|pair| pair[0].nonce < pair[1].nonce));
            let cost: u128 = pending.iter().map(|pooled| pooled.cost.get()).sum();
            assert!(cost <= account.balance.get(), "it can pay for all of them");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn limits_accounts_and_blocks_agree_through_any_history(
        steps in proptest::collection::vec(step(), 1..160)
    ) {
        let mut run = Run::new();
        for step in &steps {
            run.perform(step);
        }
    }
}
