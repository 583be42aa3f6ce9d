//! Blocks and their headers (SPEC §2).

use crate::beacon::Round;
use crate::codec::{Bytes, Encode, codec_struct};
use crate::merkle;
use crate::primitives::{Address, B256, Height, Slot, keccak256};

/// A threshold signature on a round: 48 bytes, a compressed BLS12-381 point (MinSig).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedSignature {
    /// The point.
    pub bytes: [u8; 48],
}
codec_struct!(SeedSignature { bytes });

/// What a block says of itself. Its hash names the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Hash of the parent's header.
    pub parent: B256,
    /// Parent's height and one.
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
    /// Root of the state after this block.
    pub state_root: B256,
    /// Merkle root of the seed log.
    pub seeds_root: B256,
    /// Hash of the presence certificate; 0 for none.
    pub presence_hash: B256,
}
codec_struct!(Header {
    parent,
    height,
    round,
    proposer,
    timestamp_ms,
    transactions_root,
    receipts_root,
    state_root,
    seeds_root,
    presence_hash,
});

impl Header {
    /// The block's name.
    pub fn hash(&self) -> B256 {
        let mut bytes = b"cowboy-block-v1:".to_vec();
        self.encode(&mut bytes);
        keccak256(bytes)
    }
}

/// A header and what it commits to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The header.
    pub header: Header,
    /// Seeds of all rounds since the last that is on chain, oldest first.
    pub seeds: Vec<SeedSignature>,
    /// Signed transactions.
    pub transactions: Vec<Bytes>,
}
codec_struct!(Block { header, seeds, transactions });

/// Merkle root of a list of transactions.
pub fn transactions_root(transactions: &[Bytes]) -> B256 {
    merkle::root(transactions.iter().map(|bytes| &bytes[..]))
}

/// Merkle root of a seed log.
pub fn seeds_root(seeds: &[SeedSignature]) -> B256 {
    merkle::root(seeds.iter().map(|seed| &seed.bytes[..]))
}

/// What consensus has already verified about a block and hands to its execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The proposer's account.
    pub fee_recipient: Address,
    /// Runners whose attested presence changed with this block's certificate.
    pub presence: Vec<(Slot, bool)>,
}
