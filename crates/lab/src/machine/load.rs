//! Payments, signed before anything is measured.

use remuda_protocol::crypto::SecretKey;
use remuda_protocol::fees::Bid;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::transaction::Instruction;

const SENDERS: usize = 256;

fn sender(i: usize) -> SecretKey {
    SecretKey::from_label(&format!("payer {i}"))
}

pub(super) fn balances() -> Vec<(Address, Amount)> {
    let mut balances: Vec<_> =
        (0..SENDERS).map(|i| (sender(i).address(), Amount::cby(1_000_000))).collect();
    balances.sort_unstable();
    balances
}

/// Each sender's payments, by nonce. Limits are what is used, so that a block can be full.
pub(super) fn payments(params: &ChainParams, each: u64) -> Vec<Vec<Vec<u8>>> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut out = vec![Vec::new(); SENDERS];
    std::thread::scope(|scope| {
        for (chunk, place) in out.chunks_mut(SENDERS.div_ceil(threads)).enumerate() {
            let first = chunk * SENDERS.div_ceil(threads);
            scope.spawn(move || {
                for (i, list) in place.iter_mut().enumerate() {
                    let key = sender(first + i);
                    *list = (0..each).map(|nonce| payment(params, &key, nonce)).collect();
                }
            });
        }
    });
    out
}

fn payment(params: &ChainParams, key: &SecretKey, nonce: u64) -> Vec<u8> {
    let bid = Bid { max_fee: params.initial_basefee * 10_000, max_priority: 10 };
    let to = Address::repeat_byte(0x77);
    let transfer = Instruction::Transfer { to, amount: Amount(1) };
    crate::signed(params, key, nonce, bid, Amount::ZERO, transfer, 0)
}
