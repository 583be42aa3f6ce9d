//! The state on disk: an authenticated database with a root for headers and proofs for everybody.
//!
//! Consensus: a change here forks the chain.
//!
//! Its keys are hashes of the rules' keys, so that its index stays balanced whatever keys look like;
//! its values begin with the rules' key, so that the whole state can be read back.

use bytes::Bytes;
use commonware_codec::RangeCfg;
use commonware_cryptography::{Hasher as _, Keccak256, keccak256::Digest};
use commonware_glue::stateful::db::{DatabaseSet, Merkleized as _, Shared, Unmerkleized as _};
use commonware_parallel::Sequential;
use commonware_runtime::{Spawner, buffer::paged::CacheRef};
use commonware_storage::{
    Context as StorageContext,
    journal::contiguous::variable::Config as LogConfig,
    merkle::{Location, full::Config as MerkleConfig},
    mmr,
    qmdb::{
        any::value::VariableEncoding,
        current::{
            VariableConfig,
            ordered::{proof::constant, variable},
        },
        floor::Proportional,
        sync::Target,
    },
    translator::EightCap,
};
use commonware_utils::{NZU64, NZUsize, non_empty_range};
use futures::{StreamExt as _, pin_mut};
use remuda_protocol::block::StateCommitment;
use remuda_protocol::genesis::GenesisError;
use remuda_protocol::primitives::B256;
use remuda_protocol::state::{Diff, Key, Value};
use thiserror::Error;

/// Kind of the Merkle structure.
pub type Family = mmr::Family;
/// Bytes of a chunk of the database's own bitmap; the size of a digest gives the smallest proofs.
pub const CHUNK: usize = 32;
/// `current` proves that a value is the newest one, `ordered` also that there is none.
pub type Database<E> =
    variable::Db<Family, E, Digest, Bytes, Keccak256, EightCap, CHUNK, Sequential>;
/// The database, shared with those who read it.
pub type Databases<E> = Shared<Database<E>>;
/// Changes that are not sealed yet.
pub type Batch<E> = <Databases<E> as DatabaseSet<E>>::Unmerkleized;
pub type Sealed<E> = <Databases<E> as DatabaseSet<E>>::Merkleized;
/// Where the database is and how it works.
pub type Config = VariableConfig<EightCap, ((), RangeCfg<usize>), Sequential>;
/// That a key has a value.
pub type KeyProof = constant::KeyValueProof<Family, Digest, Digest, CHUNK>;
/// That a key has none.
pub type AbsenceProof =
    constant::ExclusionProof<Family, Digest, VariableEncoding<Bytes>, Digest, CHUNK>;

/// Bytes of an entry at most: above anything that the rules can write.
const ENTRY_BYTES_MAX: usize = 32 << 20;

pub fn config(partition: &str, cache: CacheRef) -> Config {
    let buffer = NZUsize!(1 << 20);
    VariableConfig {
        merkle_config: MerkleConfig {
            journal_partition: format!("{partition}-state-merkle"),
            metadata_partition: format!("{partition}-state-merkle-meta"),
            items_per_blob: NZU64!(1 << 20),
            write_buffer: buffer,
            replay_buffer: buffer,
            strategy: Sequential,
            page_cache: cache.clone(),
        },
        journal_config: LogConfig {
            partition: format!("{partition}-state-log"),
            items_per_section: NZU64!(1 << 18),
            compression: None,
            codec_config: ((), RangeCfg::new(0..=ENTRY_BYTES_MAX)),
            page_cache: cache,
            write_buffer: buffer,
            replay_buffer: buffer,
        },
        grafted_metadata_partition: format!("{partition}-state-bitmap"),
        translator: EightCap,
        init_cache: Some(NZUsize!(1 << 16)),
        init_buffer: buffer,
        init_concurrency: (),
    }
}

pub fn hashed_key(key: &[u8]) -> Digest {
    Keccak256::hash(&[key])
}

/// What is stored for an entry of the rules.
pub fn encode_entry(key: &[u8], value: &[u8]) -> Bytes {
    // Keys are a tag and a few short parts.
    let length = u16::try_from(key.len()).expect("a key is short");
    Bytes::from([&length.to_be_bytes()[..], key, value].concat())
}

/// The entry of the rules that is stored here; `None` if the bytes are not of [`encode_entry`].
pub fn parse_entry(bytes: &[u8]) -> Option<(Key, Value)> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    let (key, value) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    Some((key.to_vec(), value.to_vec()))
}

/// Adds what a block changes to the state of its parent, in memory, and seals it.
///
/// # Panics
/// If the disk fails: that says nothing about the block.
pub async fn seal<E>(mut batch: Batch<E>, diff: &Diff) -> Sealed<E>
where
    E: Spawner + StorageContext,
{
    for (key, value) in diff {
        batch = batch.write(hashed_key(key), value.as_ref().map(|value| encode_entry(key, value)));
    }
    batch.merkleize().await.unwrap_or_else(|e| panic!("the state cannot be read: {e}"))
}

/// What a header says of sealed changes.
pub fn commitment<E>(sealed: &Sealed<E>) -> StateCommitment
where
    E: Spawner + StorageContext,
{
    StateCommitment {
        root: to_hash(&sealed.root()),
        ops_root: to_hash(&sealed.ops_root()),
        ops_start: sealed.sync_boundary().into(),
        ops_end: sealed.bounds().tip.size.into(),
    }
}

/// What the engine compares with the database. A hostile header may have any numbers in it; an
/// empty range is one that no database has.
pub fn target(state: &StateCommitment) -> Target<Family, Digest> {
    let start = state.ops_start.min(u64::MAX >> 2);
    let end = state.ops_end.min(u64::MAX >> 1).max(start + 1);
    let range = non_empty_range!(Location::new(start), Location::new(end));
    Target::new(Digest::from(state.ops_root.0), range)
}

fn to_hash(digest: &Digest) -> B256 {
    B256::from_slice(digest.as_ref())
}

/// Why a database cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The disk, or what is on it.
    #[error("the state database fails: {0}")]
    Database(String),
    #[error("the state database holds an entry that is not ours; was it made by another program?")]
    Foreign,
    /// The genesis has no state.
    #[error("the genesis is not valid: {0}")]
    Genesis(GenesisError),
    /// The key is not in the genesis, or its share does not fit.
    #[error("this key is not one of the validators of the genesis; take the files of one network")]
    NotAValidator,
}

pub async fn load<E>(databases: &Databases<E>) -> Result<Vec<(Key, Value)>, StoreError>
where
    E: Spawner + StorageContext,
{
    let database = databases.read().await;
    let entries = database.stream_range(..);
    pin_mut!(entries);
    let mut out = Vec::new();
    while let Some(entry) = entries.next().await {
        let (_, bytes) = entry.map_err(|e| StoreError::Database(e.to_string()))?;
        out.push(parse_entry(&bytes).ok_or(StoreError::Foreign)?);
    }
    Ok(out)
}

/// Writes the genesis state on the first start, and says what its header says. On later starts the
/// same is worked out in a scratch database.
pub async fn genesis<E>(
    context: E,
    config: Config,
    scratch: Config,
    entries: &std::collections::BTreeMap<Key, Value>,
) -> Result<StateCommitment, StoreError>
where
    E: Spawner + StorageContext,
{
    let failed = |e: &dyn std::fmt::Display| StoreError::Database(e.to_string());
    let database: Database<E> =
        Database::init(context.child("state"), config, None).await.map_err(|e| failed(&e))?;
    // An empty log has one operation.
    let first = *database.bounds().end <= 1;
    let spare: Database<E> =
        Database::init(context.child("scratch"), scratch, None).await.map_err(|e| failed(&e))?;
    let place_of = if first { &database } else { &spare };
    let mut batch = place_of.new_batch();
    for (key, value) in entries {
        batch = batch.write(hashed_key(key), Some(encode_entry(key, value)));
    }
    let sealed =
        batch.merkleize(place_of, None, &mut Proportional).await.map_err(|e| failed(&e))?;
    let state = StateCommitment {
        root: to_hash(&sealed.root()),
        ops_root: to_hash(&sealed.ops_root()),
        ops_start: sealed.sync_boundary().into(),
        ops_end: sealed.bounds().tip.size.into(),
    };
    if first {
        let database = database.apply_batch(sealed).await.map_err(|e| failed(&e))?;
        database.sync().await.map_err(|e| failed(&e))?;
    }
    spare.destroy().await.map_err(|e| failed(&e))?;
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back() {
        let entry = encode_entry(b"key", b"value");
        assert_eq!(parse_entry(&entry), Some((b"key".to_vec(), b"value".to_vec())));
        assert_eq!(parse_entry(b""), None);
        assert_eq!(parse_entry(&[0, 9, 1]), None);
    }

    /// An untrusted header may hold any range and must not crash its reader.
    #[test]
    fn impossible_ranges_are_targets_that_nothing_meets() {
        for (ops_start, ops_end) in [(0, 0), (9, 3), (u64::MAX, u64::MAX), (u64::MAX, 0)] {
            let state = StateCommitment { ops_start, ops_end, ..StateCommitment::default() };
            let target = target(&state);
            assert!(target.range.start() < target.range.end());
        }
    }
}
