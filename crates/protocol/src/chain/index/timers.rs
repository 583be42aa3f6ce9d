//! The index of due timers as the state gives it.
//!
//! Local: a change here needs no agreement among validators. `LocalChain` in its paranoid mode compares
//! the outcome of each block on a loaded index with that on the index that blocks carried along.

use crate::base::codec::Decode;
use crate::base::entries::Entries;
use crate::base::primitives::{B256, Height};
use crate::base::state::read;
use crate::rules::key::{ChainKey, ChunkKey, DueBeaconKey, FiresKey, TimerConfigKey, TimerKey};
use crate::rules::timers::counts::{Counted, Counts};
use crate::rules::timers::fairness::FAIRNESS_WINDOW_BLOCKS;
use crate::rules::timers::index::TimerIndex;
use crate::rules::timers::order::lot;
use crate::rules::timers::record::Timer;
use std::collections::BTreeMap;

impl TimerIndex {
    /// From the entries of a state.
    pub fn load(state: &Entries) -> Self {
        let config = read(state, &TimerConfigKey {}).unwrap_or_default();
        let counts = counts(state);
        let mut index = Self::new(config.gas_limit_max, counts);
        let Some(chain) = read(state, &ChainKey {}) else { return index };
        let first = chain.height.minus(FAIRNESS_WINDOW_BLOCKS - 1).get();
        for height in (first..=chain.height.get()).map(Height) {
            index.count_fires(&read(state, &FiresKey { height }).unwrap_or_default(), &[]);
        }
        let mut beacons: BTreeMap<Height, Option<B256>> = BTreeMap::new();
        let mut due = Vec::new();
        for (key, value) in state.of_kind(TimerKey::TAG) {
            let timer = Timer::from_bytes(value).expect("the state holds encodings");
            if timer.due > chain.height {
                continue;
            }
            let beacon = *beacons
                .entry(timer.due)
                .or_insert_with(|| read(state, &DueBeaconKey { height: timer.due }));
            let id = B256::from_slice(&key[1..]);
            due.push(timer.entry(id, lot(&beacon.unwrap_or_default(), &id)));
        }
        index.add_due(due, chain.height);
        index
    }
}

/// How many timers there are, by actor and by height.
fn counts(state: &Entries) -> Counts {
    let timers = state.of_kind(TimerKey::TAG).map(|(key, value)| {
        let timer = Timer::from_bytes(value).expect("the state holds encodings");
        Counted::new(B256::from_slice(&key[1..]), &timer)
    });
    let filed = state.of_kind(ChunkKey::TAG).map(|(key, value)| {
        let height = Height::from_bytes(&key[1..9]).expect("a chunk's key begins with it");
        let ids: Vec<B256> = Vec::from_bytes(value).expect("the state holds encodings");
        (height, ids.len() as u32)
    });
    Counts::of(timers, filed)
}
