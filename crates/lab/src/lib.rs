//! What developers of Remuda measure and simulate with; users need none of it.
//!
//! - [`mod@bench`]: `remuda-lab bench`, figures beside the plain way of doing the same
//! - [`sim`]: `remuda-lab sim`, over [`consensus`]: whole networks from one seed, on a simulated network
//! - [`machine`]: networks on this machine's own clock and disks

pub mod bench;
pub mod consensus;
pub mod machine;
pub mod sim;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use remuda_node::network::{Network, Secrets};
use remuda_protocol::codec::Encode as _;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::execute::intrinsic;
use remuda_protocol::fees::Bid;
use remuda_protocol::genesis::Genesis;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::transaction::{Instruction, SignedTransaction, Transaction};
use std::io::{IsTerminal as _, Write as _, stderr};

/// A signed transaction whose limits are what it uses, and some cycles more.
fn signed(
    params: &ChainParams,
    key: &SecretKey,
    nonce: u64,
    bid: Bid,
    max_deposit: Amount,
    instruction: Instruction,
    spare_cycles: u64,
) -> Vec<u8> {
    let mut body = Transaction {
        chain_id: params.chain_id,
        nonce,
        cycles_limit: 0,
        cells_limit: 0,
        cycle_bid: bid,
        cell_bid: bid,
        max_deposit,
        instruction,
    };
    let size = body.to_bytes().len() + SignedTransaction::SIGNATURE_BYTES;
    let least = intrinsic(&body.instruction, size);
    (body.cycles_limit, body.cells_limit) = (least.cycles + spare_cycles, least.cells);
    body.sign(key).to_bytes()
}

/// The keys and the genesis of a network. The same seed deals the same keys.
fn deal(
    seed: u64,
    validators: usize,
    params: &ChainParams,
    timestamp_ms: u64,
    balances: &[(Address, Amount)],
) -> (Network, Vec<Secrets>) {
    let rng = StdRng::seed_from_u64(seed);
    Network::deal(rng, validators, |validators, threshold_key| Genesis {
        params: params.clone(),
        timestamp_ms,
        balances: balances.to_vec(),
        pinned_executors: Vec::new(),
        system_deployers: Vec::new(),
        validators,
        threshold_key,
    })
}

/// One line that is overwritten, where somebody watches.
fn progress(text: &str) {
    if stderr().is_terminal() {
        // If the terminal is gone, so is the reader of this.
        let _ = write!(stderr(), "\r\x1b[2K{text}");
    }
}

/// The value that so many percent of sorted ones do not exceed.
fn percentile<T: Copy + Default>(sorted: &[T], percent: usize) -> T {
    sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}
