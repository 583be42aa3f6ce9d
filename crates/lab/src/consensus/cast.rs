//! Who takes part: runners, people who pay each other, and their transactions.

use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::fees::Bid;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::registry::runner::Offer;
use remuda_protocol::transaction::Instruction;

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
        max_concurrent_jobs: 4,
        declared_max_job_value: Amount::cby(100),
        accepts_unpaid: true,
        ..plain_offer(&[JobKind::Http])
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
    let bytes = crate::signed(params, key, nonce, bid, Amount::cby(100), instruction, 20_000);
    (key.address(), nonce, Bytes(bytes))
}
