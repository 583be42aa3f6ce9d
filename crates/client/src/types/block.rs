//! Blocks in JSON.

use super::receipt::ReceiptView;
use super::scalar::{HexBytes, HexHash, ToView, Uint};
use super::transaction::TransactionView;
use remuda_protocol::block::Block;
use remuda_protocol::event::Receipt;
use remuda_protocol::presence::PresenceCertificate;
use remuda_protocol::primitives::B256;
use remuda_protocol::transaction::tx_hash;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A finalised block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlockView {
    /// Its height.
    pub height: Uint,
    /// Its hash.
    pub hash: HexHash,
    /// Its parent's hash.
    pub parent: HexHash,
    /// View of the parent's round.
    pub parent_view: Uint,
    /// Epoch of its round.
    pub epoch: Uint,
    /// View of its round.
    pub view: Uint,
    /// Identity key of the proposer.
    pub proposer: HexHash,
    /// Proposer's clock.
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

/// What a header says about the state after its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateCommitmentView {
    /// Root of all entries; proofs verify against it.
    pub root: HexHash,
    /// Root of the log of operations.
    pub ops_root: HexHash,
    /// First operation that the state still needs.
    pub ops_start: Uint,
    /// One past the last operation.
    pub ops_end: Uint,
}

/// A finalization certificate as a block carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CertificateView {
    /// Height of the finalized block.
    pub height: Uint,
    /// View of its round.
    pub view: Uint,
    /// Its hash.
    pub block: HexHash,
    /// The network's signature on the finalization.
    pub vote_signature: HexBytes,
    /// The network's signature on the round.
    pub seed_signature: HexBytes,
    /// The quorum's attestations, ascending by validator.
    pub attestations: Vec<AttestationView>,
}

/// What one validator saw when it voted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttestationView {
    /// Its number.
    pub validator: u32,
    /// Bits of its own list, least significant first.
    pub bits: HexBytes,
    /// Its signature.
    pub signature: HexBytes,
}

impl From<&PresenceCertificate> for CertificateView {
    fn from(certificate: &PresenceCertificate) -> Self {
        let attestations = certificate.attestations.iter().map(|attestation| AttestationView {
            validator: attestation.validator,
            bits: attestation.bits.to_view(),
            signature: HexBytes(attestation.signature.to_vec()),
        });
        Self {
            height: certificate.height.to_view(),
            view: certificate.round.view.to_view(),
            block: certificate.block.to_view(),
            vote_signature: HexBytes(certificate.vote_signature.to_vec()),
            seed_signature: HexBytes(certificate.seed_signature.to_vec()),
            attestations: attestations.collect(),
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
            state: StateCommitmentView {
                root: header.state.root.to_view(),
                ops_root: header.state.ops_root.to_view(),
                ops_start: Uint(header.state.ops_start),
                ops_end: Uint(header.state.ops_end),
            },
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
