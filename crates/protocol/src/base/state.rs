//! The state: one key space, typed keys, one writer.
//!
//! Consensus: a change here forks the chain.
//!
//! A [`View`] is what execution reads from: synchronous, and the same for everybody who has the
//! same parent block. [`Overlay`] is what execution writes to: it collects a [`Diff`] and can take
//! back the writes of a transaction that failed.

use crate::base::codec::{Decode, Encode};
use crate::base::small::Small;
use std::collections::BTreeMap;

/// Key and value bytes as a node stores them.
pub type Key = Vec<u8>;

pub type Value = Vec<u8>;

/// A key where many are kept: most have a tag, a hash and little more.
pub type SmallKey = Small<38>;

/// What a block changes: a new value, or `None` for a removed key.
pub type Diff = BTreeMap<SmallKey, Option<Small<38>>>;

/// Reads the state after some block.
pub trait View {
    /// The value under a key.
    fn get(&self, key: &[u8]) -> Option<Value>;

    /// Reads the values under several keys, one after the other. Views for which that is cheaper
    /// together do better than this.
    fn read_many(&self, keys: &[SmallKey], found: &mut dyn FnMut(Option<&[u8]>)) {
        keys.iter().for_each(|key| found(self.get(key).as_deref()));
    }
}

/// As long as the longest key is but for those of actors' entries, so that putting one together allocates once.
const KEY_BYTES: usize = 53;

/// A key that knows the type of its value.
pub trait StateKey {
    /// What is stored under it.
    type Value: Encode + Decode;

    /// Appends the key's bytes; no two keys share them.
    fn write(&self, out: &mut Vec<u8>);

    fn bytes(&self) -> Key {
        let mut out = Vec::with_capacity(KEY_BYTES);
        self.write(&mut out);
        out
    }
}

/// Reads a typed value.
///
/// # Panics
/// If the stored bytes are not an encoding. That is a broken disk, not an input: no transaction
/// can write such bytes, and going on would fork the chain.
pub fn read<K: StateKey>(view: &(impl View + ?Sized), key: &K) -> Option<K::Value> {
    view.get(&key.bytes()).map(|bytes| decode(&bytes))
}

fn decode<T: Decode>(bytes: &[u8]) -> T {
    T::from_bytes(bytes).unwrap_or_else(|e| panic!("the state is corrupt: {e}"))
}

/// Reads through to a view, and keeps what is written.
pub struct Overlay<'a> {
    base: &'a dyn View,
    diff: Diff,
    /// What the diff held before each write since the last checkpoint, if there is one.
    undo: Option<Vec<(SmallKey, Option<Option<Small<38>>>)>>,
}

/// Encodes one after the other in one place.
#[derive(Default)]
struct Encoder(Vec<u8>);

impl Encoder {
    fn key(&mut self, key: &impl StateKey) -> SmallKey {
        self.0.clear();
        key.write(&mut self.0);
        Small::new(&self.0)
    }

    fn value(&mut self, value: &impl Encode) -> Small<38> {
        self.0.clear();
        value.encode(&mut self.0);
        Small::new(&self.0)
    }
}

impl<'a> Overlay<'a> {
    pub fn new(base: &'a dyn View) -> Self {
        Self { base, diff: Diff::new(), undo: None }
    }

    /// Reads a value, own writes first.
    pub fn get<K: StateKey>(&self, key: &K) -> Option<K::Value> {
        let bytes = key.bytes();
        match self.diff.get(&bytes[..]) {
            Some(written) => written.as_deref().map(decode),
            None => self.base.get(&bytes).as_deref().map(decode),
        }
    }

    /// Reads a value and the number of bytes that it was stored in, own writes first.
    pub fn get_sized<K: StateKey>(&self, key: &K) -> Option<(K::Value, usize)> {
        let bytes = View::get(self, &key.bytes())?;
        Some((decode(&bytes), bytes.len()))
    }

    /// Reads several values, own writes first.
    pub fn read_many<K: StateKey>(&self, keys: &[K], mut found: impl FnMut(&K, Option<K::Value>)) {
        let mut encoder = Encoder::default();
        let short: Vec<SmallKey> = keys.iter().map(|key| encoder.key(key)).collect();
        let mut asked = keys.iter().zip(&short);
        self.base.read_many(&short, &mut |read| {
            let Some((key, short)) = asked.next() else { return };
            let value = self.diff.get(short).map_or(read, |written| written.as_deref());
            found(key, value.map(decode));
        });
    }

    /// What was written under a key, if anything was: `Some(None)` for a removed value.
    pub fn written<K: StateKey>(&self, key: &K) -> Option<Option<K::Value>> {
        self.diff.get(&key.bytes()[..]).map(|written| written.as_deref().map(decode))
    }

    pub fn put<K: StateKey>(&mut self, key: &K, value: &K::Value) {
        let mut encoder = Encoder::default();
        self.write(encoder.key(key), Some(encoder.value(value)));
    }

    pub fn remove<K: StateKey>(&mut self, key: &K) {
        self.write(Encoder::default().key(key), None);
    }

    /// Writes several values, the keys of which ascend.
    pub fn put_sorted<K: StateKey>(&mut self, values: impl Iterator<Item = (K, K::Value)>) {
        let mut encoder = Encoder::default();
        self.write_sorted(values.map(|(key, value)| {
            let key = encoder.key(&key);
            (key, Some(encoder.value(&value)))
        }));
    }

    /// Removes several values, the keys of which ascend.
    pub fn remove_sorted<K: StateKey>(&mut self, keys: impl Iterator<Item = K>) {
        let mut encoder = Encoder::default();
        self.write_sorted(keys.map(|key| (encoder.key(&key), None)));
    }

    fn write_sorted(&mut self, writes: impl Iterator<Item = (SmallKey, Option<Small<38>>)>) {
        if self.undo.is_some() {
            writes.for_each(|(key, value)| self.write(key, value));
        } else {
            // A map is put together from a sorted list, and joined with another, in one pass.
            self.diff.append(&mut writes.collect());
        }
    }

    fn write(&mut self, key: SmallKey, value: Option<Small<38>>) {
        let Some(undo) = &mut self.undo else {
            self.diff.insert(key, value);
            return;
        };
        let before = self.diff.insert(key.clone(), value);
        undo.push((key, before));
    }

    /// From here on writes can be taken back, until they are kept.
    pub fn checkpoint(&mut self) {
        self.undo.get_or_insert_default().clear();
    }

    /// Keeps every write since the checkpoint.
    pub fn keep(&mut self) {
        self.undo = None;
    }

    /// Takes back every write since the checkpoint, which is gone then.
    pub fn rollback(&mut self) {
        for (key, before) in self.undo.take().unwrap_or_default().into_iter().rev() {
            match before {
                Some(value) => self.diff.insert(key, value),
                None => self.diff.remove(&key),
            };
        }
    }

    /// A moment since the checkpoint that writes can be taken back to.
    pub(crate) fn savepoint(&self) -> usize {
        self.undo.as_ref().map_or(0, Vec::len)
    }

    /// Takes back every write since the savepoint; the checkpoint stays.
    pub(crate) fn rollback_to(&mut self, savepoint: usize) {
        let Some(undo) = &mut self.undo else { return };
        for (key, before) in undo.drain(savepoint..).rev() {
            match before {
                Some(value) => self.diff.insert(key, value),
                None => self.diff.remove(&key),
            };
        }
    }

    pub fn into_diff(self) -> Diff {
        self.diff
    }
}

impl View for Overlay<'_> {
    fn get(&self, key: &[u8]) -> Option<Value> {
        match self.diff.get(key) {
            Some(written) => written.as_deref().map(<[u8]>::to_vec),
            None => self.base.get(key),
        }
    }
}
