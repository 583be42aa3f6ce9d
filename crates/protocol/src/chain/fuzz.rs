//! What fuzzers call: any bytes, and the properties that must hold for them.
//!
//! Local: a change here needs no agreement among validators. No node runs it.

use crate::base::codec::{Bytes, Decode, Encode};
use crate::base::crypto::SecretKey;
use crate::base::primitives::{Address, Amount, B256};
use crate::chain::actors::NoActors;
use crate::chain::execute::apply_block;
use crate::chain::local::LocalChain;
use crate::rules::block::{Block, presence_hash, seeds_root, transactions_root};
use crate::rules::params::ChainParams;
use crate::rules::registry::kind::JobKind;
use crate::rules::registry::register::plain_offer;
use crate::rules::registry::runner::Offer;
use crate::rules::transaction::{Instruction, SignedTransaction};
use std::sync::OnceLock;

/// Bytes that decode encode back to themselves, and the chain survives them as a transaction.
pub fn transaction(bytes: &[u8]) {
    if let Ok(transaction) = SignedTransaction::from_bytes(bytes) {
        assert_eq!(transaction.to_bytes(), bytes, "an encoding is not the only one");
    }
    let mut chain = world().clone();
    chain.queue(bytes.to_vec());
    chain.step();
    chain.check_money();
}

/// Bytes are cut into instructions that known people sign, over several blocks, so that the input
/// reaches what lies behind signatures; and are also taken as a whole block.
pub fn block(bytes: &[u8]) {
    if let Ok(mut block) = Block::from_bytes(bytes) {
        assert_eq!(block.to_bytes(), bytes, "an encoding is not the only one");
        let chain = world();
        let _ = apply_block(&chain.state, &chain.params, &block, &NoActors);
        // No fuzzer guesses a hash, so it is helped to get behind them.
        block.header.transactions_root = transactions_root(&block.transactions);
        block.header.seeds_root = seeds_root(&block.seeds);
        block.header.presence_hash = presence_hash(block.presence.as_ref());
        let _ = apply_block(&chain.state, &chain.params, &block, &NoActors);
    }
    let mut chain = world().clone();
    let mut rest = bytes;
    // One byte says who and whether a block ends here, two how long the instruction is.
    while let [who, high, low, tail @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (head, after) = tail.split_at(length);
        rest = after;
        if let Ok(instruction) = Instruction::from_bytes(head) {
            let keys = keys();
            chain.send(&keys[usize::from(who & 7) % keys.len()], instruction);
        }
        if who & 0x80 != 0 {
            chain.step();
        }
    }
    chain.step();
    chain.check_money();
}

/// An input for [`block`] from instructions, each with who sends it and whether a block ends.
pub fn script(steps: &[(u8, bool, Instruction)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (who, ends, instruction) in steps {
        let bytes = instruction.to_bytes();
        out.push(who | if *ends { 0x80 } else { 0 });
        out.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
        out.extend_from_slice(&bytes);
    }
    out
}

/// Those of [`keys`] that are runners: enough for a trial.
const RUNNERS: [usize; 6] = [0, 1, 2, 3, 6, 7];

/// The people of the fuzzed world: six runners and two others.
pub fn keys() -> &'static [SecretKey] {
    static KEYS: OnceLock<Vec<SecretKey>> = OnceLock::new();
    KEYS.get_or_init(|| (0..8).map(|i| SecretKey::from_label(&format!("fuzz {i}"))).collect())
}

/// A chain on which six runners wait for work.
pub fn world() -> &'static LocalChain {
    static WORLD: OnceLock<LocalChain> = OnceLock::new();
    WORLD.get_or_init(|| {
        let mut params = ChainParams::development();
        params.presence_policy = 1;
        let balances: Vec<(Address, Amount)> =
            keys().iter().map(|key| (key.address(), Amount::cby(10_000_000))).collect();
        let mut chain =
            LocalChain::start(params, balances, vec![B256::ZERO]).expect("a sound genesis");
        for key in RUNNERS.map(|i| &keys()[i]) {
            let plain = plain_offer(&[JobKind::Http, JobKind::Custom]);
            let offer = Offer { accept_bonded: true, executors: vec![B256::ZERO], ..plain };
            let stake = Amount::cby(100_000);
            chain.send(key, Instruction::RegisterRunner { stake, offer });
        }
        chain.step();
        for key in RUNNERS.map(|i| &keys()[i]) {
            chain.attest(key.address(), true);
        }
        chain.step();
        chain
    })
}

/// A transaction for the fuzzed world, to start from.
pub fn seed_transaction(instruction: Instruction) -> Bytes {
    let key = &keys()[4];
    Bytes(world().transaction(key.address(), instruction).sign(key).to_bytes())
}
