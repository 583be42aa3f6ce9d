//! Who takes part: runners, people who pay each other, and their transactions.

use remuda_protocol::codec::{Bytes, Encode as _};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::execute::intrinsic;
use remuda_protocol::fees::Bid;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::registry::runner::{Offer, RateCard};
use remuda_protocol::transaction::{Instruction, SignedTransaction, Transaction};

pub(super) const RUNNERS: usize = 6;
const PAYERS: usize = 4;
const PAYMENTS: u64 = 60;

pub(super) fn runner(i: usize) -> SecretKey {
    SecretKey::from_label(&format!("runner {i}"))
}

fn payer(i: usize) -> SecretKey {
    SecretKey::from_label(&format!("payer {i}"))
}

/// Everybody has plenty; ascending.
pub(super) fn balances() -> Vec<(Address, Amount)> {
    let keys = (0..RUNNERS).map(runner).chain((0..PAYERS).map(payer));
    let mut balances: Vec<_> = keys.map(|key| (key.address(), Amount::cby(1_000_000))).collect();
    balances.sort_unstable();
    balances
}

/// Registrations, then payments: in order for each sender.
pub(super) fn transactions(params: &ChainParams) -> Vec<(Address, u64, Bytes)> {
    let offer = Offer {
        kinds: vec![JobKind::Http],
        models: Vec::new(),
        executors: Vec::new(),
        eth_chains: Vec::new(),
        resolvers: Vec::new(),
        rates: RateCard::default(),
        max_concurrent_jobs: 4,
        declared_max_job_value: Amount::cby(100),
        accepts_unpaid: true,
        commission_bps: 0,
        accept_bonded: false,
    };
    let stake = Amount::cby(40_000);
    let mut out = Vec::new();
    for i in 0..RUNNERS {
        let instruction = Instruction::RegisterRunner { stake, offer: offer.clone() };
        out.push(signed(params, &runner(i), 0, instruction));
    }
    for nonce in 0..PAYMENTS {
        for i in 0..PAYERS {
            let to = payer((i + 1) % PAYERS).address();
            let instruction = Instruction::Transfer { to, amount: Amount(1) };
            out.push(signed(params, &payer(i), nonce, instruction));
        }
    }
    out
}

fn signed(
    params: &ChainParams,
    key: &SecretKey,
    nonce: u64,
    instruction: Instruction,
) -> (Address, u64, Bytes) {
    let bid = Bid { max_fee: params.initial_basefee * 100, max_priority: 10 };
    let mut body = Transaction {
        chain_id: params.chain_id,
        nonce,
        cycles_limit: 0,
        cells_limit: 0,
        cycle_bid: bid,
        cell_bid: bid,
        max_deposit: Amount::cby(100),
        instruction,
    };
    let size = body.to_bytes().len() + SignedTransaction::SIGNATURE_BYTES;
    let least = intrinsic(&body.instruction, size);
    body.cycles_limit = least.cycles + 20_000;
    body.cells_limit = least.cells;
    (key.address(), nonce, Bytes(body.sign(key).to_bytes()))
}
