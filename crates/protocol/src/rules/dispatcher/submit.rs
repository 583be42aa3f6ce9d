//! How a job gets its id.

use crate::base::primitives::{JobId, TxHash, keccak256};

/// `keccak256("cowboy-job-v1:" ‖ chain_id_be8 ‖ tx_hash ‖ index_in_tx_be4)`.
pub fn job_id(chain_id: u64, tx_hash: TxHash, index: u32) -> JobId {
    let mut bytes = b"cowboy-job-v1:".to_vec();
    bytes.extend_from_slice(&chain_id.to_be_bytes());
    bytes.extend_from_slice(tx_hash.as_slice());
    bytes.extend_from_slice(&index.to_be_bytes());
    keccak256(bytes)
}
