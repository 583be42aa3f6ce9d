//! A block as the engine moves it: the rules' block, its bytes and its name, worked out once.
//!
//! Consensus: a change here forks the chain.

use crate::scheme::PublicKey;
use bytes::{BufMut, Bytes};
use commonware_codec::{Buf, DecodeExt, EncodeSize, Error, RangeCfg, Read, Write};
use commonware_consensus::simplex::types::Context;
use commonware_consensus::types::{Epoch, Height, Round, View};
use commonware_consensus::{Block as ConsensusBlock, BoundedBlock, CertifiableBlock, Heightable};
use commonware_cryptography::{Digestible, keccak256::Digest};
use remuda_protocol::beacon::Round as ChainRound;
use remuda_protocol::block::{self, Header, StateCommitment};
use remuda_protocol::codec::{Decode as _, Encode as _};
use remuda_protocol::genesis::{Genesis, VALIDATORS_MAX};
use remuda_protocol::primitives::{B256, Height as ChainHeight};
use std::sync::Arc;

/// Bytes of a block at most: its transactions, which cells limit, and [`REST_BYTES_MAX`].
pub const BLOCK_BYTES_MAX: usize = 2 << 20;
/// Bytes of header, seeds and certificate at most: 4,096 seeds, and 128 attestations of full lists.
pub const REST_BYTES_MAX: usize = 400_000;
/// Seeds of a block at most, whatever the parameters.
const SEEDS_MAX: usize = 4_096;
/// A transaction has a signature at least, so a block has room for so many. Hashing a block is then
/// in proportion to its size.
const TRANSACTION_BYTES_MIN: usize = 65;

/// What consensus knows of a block when it asks for one.
pub type BlockContext = Context<Digest, PublicKey>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    rules: Arc<block::Block>,
    bytes: Bytes,
    digest: Digest,
    context: BlockContext,
}

impl Block {
    /// Wraps a block whose header matches its body. `None` if the proposer is not a key.
    pub fn new(rules: block::Block) -> Option<Self> {
        let bytes = Bytes::from(rules.to_bytes());
        Self::wrap(rules, bytes)
    }

    fn wrap(rules: block::Block, bytes: Bytes) -> Option<Self> {
        let header = &rules.header;
        let context = Context {
            round: Round::new(Epoch::new(header.round.epoch), View::new(header.round.view)),
            leader: PublicKey::decode(Bytes::copy_from_slice(&header.proposer)).ok()?,
            parent: (View::new(header.parent_view), to_digest(header.parent)),
        };
        let digest = to_digest(header.hash());
        Some(Self { rules: Arc::new(rules), bytes, digest, context })
    }

    /// The block of height 0: what the genesis says, and the state that follows from it. It names
    /// the first validator as its proposer, since it must name somebody.
    pub fn genesis(genesis: &Genesis, state: StateCommitment) -> Option<Self> {
        let header = Header {
            parent: genesis.hash(),
            parent_view: 0,
            height: ChainHeight::ZERO,
            round: ChainRound { epoch: 0, view: 0 },
            proposer: genesis.validators.first()?.key,
            timestamp_ms: genesis.timestamp_ms,
            transactions_root: block::transactions_root(&[]),
            receipts_root: B256::ZERO,
            state,
            seeds_root: block::seeds_root(&[]),
            presence_hash: B256::ZERO,
        };
        let (seeds, transactions) = (Vec::new(), Vec::new());
        Self::new(block::Block { header, seeds, presence: None, transactions })
    }

    /// The block as the rules see it.
    pub fn rules(&self) -> &Arc<block::Block> {
        &self.rules
    }

    pub fn header(&self) -> &Header {
        &self.rules.header
    }
}

/// A hash as the engine's digest.
pub fn to_digest(hash: B256) -> Digest {
    Digest::from(hash.0)
}

/// A digest of the engine as a hash.
pub fn to_hash(digest: &Digest) -> B256 {
    B256::from_slice(digest.as_ref())
}

impl Write for Block {
    fn write(&self, buf: &mut impl BufMut) {
        self.bytes.write(buf);
    }
}

impl EncodeSize for Block {
    fn encode_size(&self) -> usize {
        self.bytes.encode_size()
    }
}

impl Read for Block {
    type Cfg = ();

    /// The name covers the header only, so a body that the header does not commit to is refused
    /// here, before anything could be filed under the name.
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let bytes = Bytes::read_cfg(buf, &RangeCfg::new(0..=BLOCK_BYTES_MAX))?;
        let rules = block::Block::from_bytes(&bytes)
            .map_err(|_| Error::Invalid("block", "not an encoding"))?;
        let attestations = rules.presence.as_ref().map_or(0, |carried| carried.attestations.len());
        let fits = rules.transactions.len() <= bytes.len() / TRANSACTION_BYTES_MIN
            && rules.seeds.len() <= SEEDS_MAX
            && attestations <= VALIDATORS_MAX;
        if !fits {
            return Err(Error::Invalid("block", "more parts than there can be"));
        }
        if !rules.is_consistent() {
            return Err(Error::Invalid("block", "the header commits to another body"));
        }
        Self::wrap(rules, bytes).ok_or(Error::Invalid("block", "the proposer is not a key"))
    }
}

impl BoundedBlock for Block {
    fn max_encode_size((): &()) -> usize {
        5 + BLOCK_BYTES_MAX
    }
}

impl Digestible for Block {
    type Digest = Digest;

    fn digest(&self) -> Digest {
        self.digest
    }
}

impl Heightable for Block {
    fn height(&self) -> Height {
        Height::new(self.rules.header.height.get())
    }
}

impl ConsensusBlock for Block {
    fn parent(&self) -> Digest {
        self.context.parent.1
    }
}

impl CertifiableBlock for Block {
    type Context = BlockContext;

    fn context(&self) -> BlockContext {
        self.context.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::Encode as _;
    use remuda_protocol::codec::Bytes as ChainBytes;

    fn block() -> Block {
        let header = Header {
            parent: B256::repeat_byte(1),
            parent_view: 6,
            height: ChainHeight(5),
            round: ChainRound { epoch: 0, view: 7 },
            // The base point of the curve.
            proposer: {
                let mut key = [0x66; 32];
                key[0] = 0x58;
                key
            },
            timestamp_ms: 9,
            transactions_root: block::transactions_root(&[ChainBytes(vec![1; 100])]),
            receipts_root: B256::ZERO,
            state: StateCommitment::default(),
            seeds_root: block::seeds_root(&[]),
            presence_hash: B256::ZERO,
        };
        let (seeds, transactions) = (Vec::new(), vec![ChainBytes(vec![1; 100])]);
        Block::new(block::Block { header, seeds, presence: None, transactions }).expect("a key")
    }

    fn decode(rules: &block::Block) -> Result<Block, Error> {
        Block::decode(Bytes::from(rules.to_bytes()).encode())
    }

    #[test]
    fn block_comes_back_with_its_name_and_context() {
        let sent = block();
        let got = decode(sent.rules()).expect("it is well formed");
        assert_eq!(got, sent);
        assert_eq!(to_hash(&got.digest()), sent.header().hash());
        assert_eq!((got.height().get(), got.context().parent.0.get()), (5, 6));
    }

    /// The name covers the header alone: another body must not go under it.
    #[test]
    fn body_that_the_header_does_not_commit_to_is_refused() {
        let mut other = (**block().rules()).clone();
        other.transactions.push(ChainBytes(vec![2]));
        assert!(decode(&other).is_err());
        let mut no_key = (**block().rules()).clone();
        let is_none = |bytes: &[u8; 32]| PublicKey::decode(Bytes::copy_from_slice(bytes)).is_err();
        no_key.header.proposer =
            (0..=255).map(|i| [i; 32]).find(is_none).expect("half of all numbers are no points");
        assert!(decode(&no_key).is_err());
    }

    /// A block of a million empty transactions would take a second to hash.
    #[test]
    fn more_parts_than_there_can_be_are_refused_before_they_are_hashed() {
        let mut many = (**block().rules()).clone();
        many.transactions = vec![ChainBytes::default(); 100_000];
        let refused = decode(&many).unwrap_err().to_string();
        assert!(refused.contains("more parts"), "{refused}");
        let mut seeds = (**block().rules()).clone();
        seeds.seeds = vec![block::SeedSignature { bytes: [1; 48] }; SEEDS_MAX + 1];
        let refused = decode(&seeds).unwrap_err().to_string();
        assert!(refused.contains("more parts"), "{refused}");
    }

    #[test]
    fn sizes_are_limited_before_anything_is_read() {
        let mut huge = Vec::new();
        (BLOCK_BYTES_MAX + 1).write(&mut huge);
        assert!(Block::decode(Bytes::from(huge)).is_err());
        assert!(Block::decode(Bytes::from_static(b"\x05abc")).is_err());
    }
}
