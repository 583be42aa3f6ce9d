//! The whole state of a chain in memory, with its indexes.
//!
//! Local: a change here needs no agreement among validators: nodes may store a state in any way.

use crate::base::codec::{Bytes, Encode};
use crate::base::entries::Entries;
use crate::base::primitives::{B256, keccak256};
use crate::base::state::{Diff, Key, SmallKey, Value, View};
use crate::chain::execute::Outcome;
use crate::chain::index::Indexed;
use crate::chain::index::subsets::Subsets;
use crate::rules::dispatcher::roster::Roster;
use crate::rules::params::ChainParams;
use crate::rules::timers::index::TimerIndex;

/// The whole state in memory. A copy shares with its original what neither has changed, so a node
/// keeps one for every block that is not final.
#[derive(Clone, Debug, Default)]
pub struct MemoryState {
    entries: Entries,
    roster: Roster,
    subsets: Subsets,
    timers: TimerIndex,
}

impl MemoryState {
    /// From the entries of a genesis or of a stored state, as a node starts.
    pub fn new(entries: impl IntoIterator<Item = (Key, Value)>, params: &ChainParams) -> Self {
        Self::of(entries.into_iter().collect(), params)
    }

    pub fn of(entries: Entries, params: &ChainParams) -> Self {
        let mut state = Self { entries, ..Self::default() };
        state.roster = Roster::load(&state, params);
        state.subsets = Subsets::load(&state);
        state.timers = TimerIndex::load(&state.entries);
        state
    }

    /// Takes over the result of a block.
    pub fn commit(&mut self, outcome: &Outcome) {
        self.write(&outcome.diff);
        self.roster = outcome.roster.clone();
        self.subsets = outcome.subsets.clone();
        self.timers = outcome.timers.clone();
    }

    /// Takes over changes alone. What is carried along stays, so they must not concern it, or the
    /// roster has to follow with [`MemoryState::set_roster`].
    pub fn write(&mut self, diff: &Diff) {
        self.entries.write(diff);
    }

    /// Puts another roster in place, for benchmarks that change runners without a block.
    pub fn set_roster(&mut self, roster: Roster) {
        self.roster = roster;
    }

    /// Every entry, in key order.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// A digest of everything, for comparing two states in tests. Not the chain's state root,
    /// which the node's authenticated store computes and proves.
    pub fn digest(&self) -> B256 {
        let mut bytes = Vec::new();
        for (key, value) in self.entries.iter() {
            Bytes::from(key).encode(&mut bytes);
            Bytes::from(value).encode(&mut bytes);
        }
        keccak256(bytes)
    }
}

impl View for MemoryState {
    fn get(&self, key: &[u8]) -> Option<Value> {
        View::get(&self.entries, key)
    }

    fn read_many(&self, keys: &[SmallKey], found: &mut dyn FnMut(Option<&[u8]>)) {
        self.entries.read_many(keys, found);
    }
}

impl Indexed for MemoryState {
    fn roster(&self) -> Roster {
        self.roster.clone()
    }

    fn subsets(&self) -> Subsets {
        self.subsets.clone()
    }

    fn timers(&self) -> TimerIndex {
        self.timers.clone()
    }
}
