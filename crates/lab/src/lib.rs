//! What developers of Remuda measure and simulate with; users need none of it.
//!
//! - [`mod@bench`]: `remuda-lab bench`, figures beside the plain way of doing the same
//! - [`sim`]: `remuda-lab sim`, over [`consensus`]: whole networks from one seed, on a simulated network
//! - [`machine`]: networks on this machine's own clock and disks

pub mod bench;
pub mod consensus;
pub mod machine;
pub mod sim;

use remuda_protocol::codec::Encode as _;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::execute::intrinsic;
use remuda_protocol::fees::Bid;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::Amount;
use remuda_protocol::transaction::{Instruction, SignedTransaction, Transaction};

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

/// The value that so many percent of sorted ones do not exceed.
pub(crate) fn percentile<T: Copy + Default>(sorted: &[T], percent: usize) -> T {
    sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}
