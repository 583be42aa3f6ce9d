//! Blocks and their headers (SPEC §2).
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::{Bytes, Encode, codec_struct};
use crate::base::merkle;
use crate::base::primitives::{B256, Height, keccak256};
use crate::rules::beacon::Round;
use crate::rules::presence::PresenceCertificate;

/// A threshold signature on a round: 48 bytes, a compressed BLS12-381 point (MinSig).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedSignature {
    pub bytes: [u8; 48],
}
codec_struct!(SeedSignature { bytes });

/// What a header says about the state after its block. Proofs verify against `root`; the rest tells
/// a node's store which of its operations lead up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCommitment {
    pub root: B256,
    /// Root of the log of operations.
    pub ops_root: B256,
    /// First operation that the state still needs.
    pub ops_start: u64,
    /// One past the last operation.
    pub ops_end: u64,
}
codec_struct!(StateCommitment { root, ops_root, ops_start, ops_end });

/// What a block says of itself. Its hash names the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Hash of the parent's header.
    pub parent: B256,
    /// View of the parent's round.
    pub parent_view: u64,
    pub height: Height,
    /// The round in which it was proposed.
    pub round: Round,
    /// Identity key of the proposer.
    pub proposer: [u8; 32],
    /// Proposer's clock.
    pub timestamp_ms: u64,
    /// Merkle root of the transactions.
    pub transactions_root: B256,
    /// Merkle root of the receipts.
    pub receipts_root: B256,
    /// The state after this block.
    pub state: StateCommitment,
    /// Merkle root of the seed log.
    pub seeds_root: B256,
    /// Hash of the presence certificate; 0 for none.
    pub presence_hash: B256,
}
codec_struct!(Header {
    parent,
    parent_view,
    height,
    round,
    proposer,
    timestamp_ms,
    transactions_root,
    receipts_root,
    state,
    seeds_root,
    presence_hash,
});

impl Header {
    pub fn hash(&self) -> B256 {
        let mut bytes = b"cowboy-block-v1:".to_vec();
        self.encode(&mut bytes);
        keccak256(bytes)
    }
}

/// A header and what it commits to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub header: Header,
    /// Seeds of all rounds since the last that is on chain, oldest first.
    pub seeds: Vec<SeedSignature>,
    /// The newest finalization certificate of an ancestor that its proposer had.
    pub presence: Option<PresenceCertificate>,
    pub transactions: Vec<Bytes>,
}
codec_struct!(Block { header, seeds, presence, transactions });

impl Block {
    /// Whether the header commits to exactly this body.
    pub fn is_consistent(&self) -> bool {
        self.header.transactions_root == transactions_root(&self.transactions)
            && self.header.seeds_root == seeds_root(&self.seeds)
            && self.header.presence_hash == presence_hash(self.presence.as_ref())
    }
}

/// Merkle root of a list of transactions.
pub fn transactions_root(transactions: &[Bytes]) -> B256 {
    merkle::root(transactions.iter().map(|bytes| &bytes[..]))
}

/// Merkle root of a seed log.
pub fn seeds_root(seeds: &[SeedSignature]) -> B256 {
    merkle::root(seeds.iter().map(|seed| &seed.bytes[..]))
}

/// Hash of a presence certificate; 0 for none.
pub fn presence_hash(certificate: Option<&PresenceCertificate>) -> B256 {
    let Some(certificate) = certificate else { return B256::ZERO };
    let mut bytes = b"cowboy-certificate-v1:".to_vec();
    certificate.encode(&mut bytes);
    keccak256(bytes)
}
