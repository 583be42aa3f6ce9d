//! An actor's own data.

use super::sorted_keys;
use crate::base::codec::Bytes;
use crate::base::error::Refusal;
use crate::base::primitives::Address;
use crate::base::state::{View, read};
use crate::chain::execute::Exec;
use crate::rules::actors::price;
use crate::rules::actors::record::Actor;
use crate::rules::key::{ActorKey, StorageKey};

pub const KEY_BYTES_MAX: usize = 256;
pub const VALUE_BYTES_MAX: usize = 65_536;
/// Entries that one scan gives.
pub const SCAN_ENTRIES_MAX: usize = 1_000;

/// Which part of an actor's data is scanned.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'s> {
    pub prefix: &'s [u8],
    pub after: Option<&'s [u8]>,
    pub limit: usize,
}

/// Takes a price from what is left; nothing is left if that is less.
fn take(left: &mut u64, cycles: u64) -> Result<(), Refusal> {
    let rest = left.checked_sub(cycles);
    *left = rest.unwrap_or(0);
    rest.map(|_| ()).ok_or(Refusal::OutOfCycles)
}

/// The value under a key, paid from `left`. How long it is shows only when it is read, so the price of
/// the longest value has to be there; the price of the one that was found is taken.
pub fn get(
    view: &(impl View + ?Sized),
    actor: Address,
    key: &[u8],
    left: &mut u64,
) -> Result<Option<Bytes>, Refusal> {
    if *left < price::read(VALUE_BYTES_MAX) {
        *left = 0;
        return Err(Refusal::OutOfCycles);
    }
    // No longer key was ever written.
    let found: Option<Bytes> = match key.len() {
        1..=KEY_BYTES_MAX => read(view, &StorageKey { actor, key }),
        _ => None,
    };
    take(left, price::read(found.as_ref().map_or(0, |value| value.len())))?;
    Ok(found)
}

/// Keys and values in the order of the keys; each is paid for from `left` before it is read.
pub fn scan(
    view: &(impl View + ?Sized),
    actor: Address,
    scan: Scan<'_>,
    left: &mut u64,
) -> Result<Vec<(Bytes, Bytes)>, Refusal> {
    take(left, price::READ_CYCLES)?;
    let root = read(view, &ActorKey { actor }).and_then(|record: Actor| record.root);
    let limit = scan.limit.min(SCAN_ENTRIES_MAX);
    let mut keys = Vec::new();
    if limit > 0 {
        sorted_keys::scan(
            view,
            actor,
            root,
            (scan.prefix, scan.after),
            || take(left, price::READ_CYCLES),
            |key| {
                keys.push(Bytes::from(key));
                Ok(keys.len() < limit)
            },
        )?;
    }
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        let value = get(view, actor, &key, left)?.unwrap_or_default();
        found.push((key, value));
    }
    Ok(found)
}

/// What an entry counts in its actor's storage. The state has its key three times: before its value,
/// before its neighbours in the order of the keys, and as the neighbour of another.
fn weight(key: &[u8], value_bytes: usize) -> u64 {
    (3 * key.len() + value_bytes) as u64 + price::ENTRY_CELLS
}

impl Exec<'_> {
    /// Reads a value, paid by the call that runs.
    pub(crate) fn storage_get(
        &mut self,
        actor: Address,
        key: &[u8],
    ) -> Result<Option<Bytes>, Refusal> {
        get(&self.state, actor, key, &mut self.meter.cycles)
    }

    pub(crate) fn storage_set(
        &mut self,
        actor: Address,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), Refusal> {
        if !(1..=KEY_BYTES_MAX).contains(&key.len()) {
            return Err(Refusal::StorageKeyTooLong);
        }
        if value.len() > VALUE_BYTES_MAX {
            return Err(Refusal::ValueTooLong);
        }
        self.charge(price::write(value.len()), value.len() as u64)?;
        let old = self.storage_get(actor, key)?;
        let mut record = self.state.get(&ActorKey { actor }).ok_or(Refusal::NoCode)?;
        let before = old.as_ref().map_or(0, |old| weight(key, old.len()));
        let bytes = record.storage_bytes - before + weight(key, value.len());
        if bytes > self.params.actor_storage_bytes_max {
            return Err(Refusal::StorageFull);
        }
        if old.is_none() {
            self.charge(price::WRITE_CYCLES, key.len() as u64 + price::ENTRY_CELLS)?;
            self.insert_key(actor, &mut record.root, key)?;
        }
        self.resize_storage(actor, &mut record, bytes);
        self.state.put(&ActorKey { actor }, &record);
        self.state.put(&StorageKey { actor, key }, &value.into());
        Ok(())
    }

    fn resize_storage(&mut self, actor: Address, record: &mut Actor, bytes: u64) {
        let others = record.held.bytes - record.storage_bytes;
        record.storage_bytes = bytes;
        self.resize(actor, &mut record.held, others + bytes);
    }

    /// Removes a value. Whether there was one.
    pub(crate) fn storage_delete(&mut self, actor: Address, key: &[u8]) -> Result<bool, Refusal> {
        let Some(old) = self.storage_get(actor, key)? else { return Ok(false) };
        self.charge(2 * price::WRITE_CYCLES, 0)?;
        let mut record = self.state.get(&ActorKey { actor }).ok_or(Refusal::NoCode)?;
        self.remove_key(actor, &mut record.root, key)?;
        let bytes = record.storage_bytes - weight(key, old.len());
        self.resize_storage(actor, &mut record, bytes);
        self.state.put(&ActorKey { actor }, &record);
        self.state.remove(&StorageKey { actor, key });
        Ok(true)
    }
}
