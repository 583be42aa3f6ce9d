//! Blocks in JSON.

use super::receipt::ReceiptView;
use super::scalar::{HexBytes, HexHash, Uint};
use super::transaction::TransactionView;
use super::view::{ToView, view};
use remuda_protocol::block::{Block, StateCommitment};
use remuda_protocol::event::Receipt;
use remuda_protocol::presence::{Attestation, PresenceCertificate};
use remuda_protocol::primitives::B256;
use remuda_protocol::transaction::tx_hash;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A finalised block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlockView {
    pub height: Uint,
    pub hash: HexHash,
    pub parent: HexHash,
    /// View of the parent's round.
    pub parent_view: Uint,
    /// Epoch of its round.
    pub epoch: Uint,
    /// View of its round.
    pub view: Uint,
    /// Identity key of the proposer.
    pub proposer: HexHash,
    /// Proposer's clock, in milliseconds since 1970.
    pub timestamp_ms: Uint,
    /// Merkle root of the transactions.
    pub transactions_root: HexHash,
    /// Merkle root of the receipts.
    pub receipts_root: HexHash,
    /// The state after this block.
    pub state: StateCommitmentView,
    /// Merkle root of the seed log.
    pub seeds_root: HexHash,
    /// Hash of the presence certificate; 0 for none.
    pub presence_hash: HexHash,
    /// Seeds of the rounds since the last that was on chain, oldest first.
    pub seeds: Vec<HexBytes>,
    /// The presence certificate that it carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence: Option<CertificateView>,
    /// Hashes of its transactions, in order.
    pub transactions: Vec<HexHash>,
    /// Whole transactions, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bodies: Option<Vec<TransactionView>>,
    /// Receipts of the opening, each transaction and the closing, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipts: Option<Vec<ReceiptView>>,
}

view! {
    /// What a header says about the state after its block.
    #[derive(Copy)]
    pub struct StateCommitmentView of StateCommitment {
        /// Root of all entries; proofs verify against it.
        root: HexHash,
        /// Root of the log of operations.
        ops_root: HexHash,
        /// First operation that the state still needs.
        ops_start: Uint,
        /// One past the last operation.
        ops_end: Uint,
    }
}

/// A finalization certificate as a block carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CertificateView {
    /// Height of the finalized block.
    pub height: Uint,
    /// View of its round.
    pub view: Uint,
    pub block: HexHash,
    /// The network's signature on the finalization.
    pub vote_signature: HexBytes,
    /// The network's signature on the round.
    pub seed_signature: HexBytes,
    /// The quorum's attestations, ascending by validator.
    pub attestations: Vec<AttestationView>,
}

view! {
    /// What one validator saw when it voted.
    pub struct AttestationView of Attestation {
        /// Number of the validator.
        validator: u32,
        /// Bits of its own list, least significant first.
        bits: HexBytes,
        /// The validator's signature.
        signature: HexBytes,
    }
}

impl From<&PresenceCertificate> for CertificateView {
    fn from(certificate: &PresenceCertificate) -> Self {
        Self {
            height: certificate.height.to_view(),
            view: certificate.round.view.to_view(),
            block: certificate.block.to_view(),
            vote_signature: certificate.vote_signature.to_view(),
            seed_signature: certificate.seed_signature.to_view(),
            attestations: certificate.attestations.to_view(),
        }
    }
}

impl BlockView {
    /// The block with the hashes of its transactions.
    pub fn new(block: &Block, hash: B256) -> Self {
        let header = &block.header;
        Self {
            height: header.height.to_view(),
            hash: HexHash(hash),
            parent: header.parent.to_view(),
            parent_view: Uint(header.parent_view),
            epoch: Uint(header.round.epoch),
            view: Uint(header.round.view),
            proposer: HexHash(B256::new(header.proposer)),
            timestamp_ms: Uint(header.timestamp_ms),
            transactions_root: header.transactions_root.to_view(),
            receipts_root: header.receipts_root.to_view(),
            state: header.state.to_view(),
            seeds_root: header.seeds_root.to_view(),
            presence_hash: header.presence_hash.to_view(),
            seeds: block.seeds.iter().map(|seed| HexBytes(seed.bytes.to_vec())).collect(),
            presence: block.presence.as_ref().map(Into::into),
            transactions: block.transactions.iter().map(|tx| HexHash(tx_hash(tx))).collect(),
            bodies: None,
            receipts: None,
        }
    }

    /// The block with everything in it.
    pub fn full(block: &Block, hash: B256, receipts: &[Receipt]) -> Self {
        let height = block.header.height;
        // A finalised block holds nothing but transactions; what cannot be read is left to its hash.
        let body = |(index, bytes): (u32, &_)| -> Option<TransactionView> {
            let bytes: &remuda_protocol::codec::Bytes = bytes;
            TransactionView::new(bytes, height, index).ok()
        };
        let receipt = |receipt| ReceiptView::new(receipt, height, hash);
        Self {
            bodies: Some((0..).zip(&block.transactions).filter_map(body).collect()),
            receipts: Some(receipts.iter().map(receipt).collect()),
            ..Self::new(block, hash)
        }
    }
}
