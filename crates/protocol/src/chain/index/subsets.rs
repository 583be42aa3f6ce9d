//! Which validators attest which runners, arranged so that votes can be packed and unpacked.
//!
//! Consensus: a change here forks the chain. A vote's bits are places in these lists.
//!
//! A validator's list names the runners that it may attest, ascending by slot; a vote's bits are by
//! place in the list. During a phase (`Phase`) a list only grows at its end, because slots
//! do: an attestation of an earlier block of the phase still means what it meant. Those of the
//! phase before are told by the lists of that phase. No attestation lives for two phases.
//!
//! All this follows from the state alone ([`Subsets::load`]); views carry it along, like the roster.

use crate::base::codec::Bytes;
use crate::base::primitives::{Address, B256, Height, Slot};
use crate::base::state::{View, read};
use crate::rules::key::{ChainKey, PresenceKey, ProfileKey, SlotKey, ValidatorsKey};
use crate::rules::presence::{
    ATTESTATION_BYTES_MAX, AncestorRecord, AttestationRecord, PRESENCE_TIMEOUT_BLOCKS, RunnerKey,
    SubsetEpoch, ValidatorKey, presence_threshold, subset,
};
use crate::rules::registry::runner::SlotRecord;
use crate::rules::tip::VALIDATORS_MAX;
use imbl::{OrdMap, Vector};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Runners on one validator's list; later ones get no place with it.
pub const LIST_MAX: usize = ATTESTATION_BYTES_MAX * 8;

/// Validators as bits, by index.
type Mask = u128;
const _: () = assert!(VALIDATORS_MAX <= Mask::BITS as usize);

/// The subsets of one runner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Members {
    /// In the running epoch.
    now: Mask,
    /// In the epoch before, while it counts.
    before: Mask,
}

/// Slots by validator, each list ascending.
type Lists = Vector<Vector<u32>>;

/// Every validator's list of runners, for this phase and the one before.
#[derive(Clone, Debug, Default)]
pub struct Subsets {
    validators: Arc<[ValidatorKey]>,
    /// `subset_seed` of the running epoch.
    seed: B256,
    /// First block of the running phase.
    since: Height,
    /// Slots from here on have not been looked at.
    next_slot: u32,
    members: OrdMap<u32, Members>,
    current: Lists,
    previous: Lists,
    /// Subsets of the next epoch by slot, as far as they are drawn.
    next: Option<(B256, Vector<Mask>)>,
}

impl Subsets {
    /// From the state after a block, as a node starts.
    pub fn load(view: &(impl View + ?Sized)) -> Self {
        let (Some(chain), Some(state)) = (read(view, &ChainKey {}), read(view, &PresenceKey {}))
        else {
            return Self::default();
        };
        let mut subsets = Self::empty(view, state.epoch.seed, state.phase.since);
        subsets.next_slot = chain.next_slot.get();
        // Once no attestation is left of the phase before, its lists are not needed.
        let late = chain.height >= state.phase.since.plus(PRESENCE_TIMEOUT_BLOCKS);
        let previous = state.previous.filter(|_| state.phase.overlap || !late);
        for slot in 0..subsets.next_slot {
            let Some(record) = read(view, &SlotKey { slot: Slot(slot) }) else { continue };
            let took_part = |epoch: &SubsetEpoch| record.vacated.is_none_or(|at| at >= epoch.start);
            let before =
                previous.filter(|epoch| slot < state.epoch.first_slot.get() && took_part(epoch));
            let now = Some(state.epoch).filter(took_part);
            if now.is_none() && before.is_none() {
                continue;
            }
            let Some(key) = key_of(view, record.runner) else { continue };
            let draw = |epoch: Option<SubsetEpoch>| {
                epoch.map_or(0, |epoch| subsets.draw(&epoch.seed, &key))
            };
            let members = Members { now: draw(now), before: draw(before) };
            if state.phase.overlap {
                place(&mut subsets.previous, slot, members.before);
                subsets.put(slot, members);
            } else {
                place(&mut subsets.previous, slot, members.now | members.before);
                subsets.put(slot, Members { before: 0, ..members });
            }
        }
        if let Some(next) = state.next {
            subsets.begin_next(next.seed);
            subsets.draw_next(view, next.drawn);
        }
        subsets
    }

    pub(crate) fn empty(view: &(impl View + ?Sized), seed: B256, since: Height) -> Self {
        let validators = read(view, &ValidatorsKey {}).unwrap_or_default();
        let nobody: Lists = validators.iter().map(|_| Vector::new()).collect();
        Self {
            validators: validators.iter().map(|validator| validator.key).collect(),
            seed,
            since,
            next_slot: 0,
            members: OrdMap::new(),
            current: nobody.clone(),
            previous: nobody,
            next: None,
        }
    }

    fn draw(&self, seed: &B256, key: &RunnerKey) -> Mask {
        let members = subset(seed, key, &self.validators);
        // Genesis has them ascending by key.
        let indexes = members.iter().filter_map(|key| self.validators.binary_search(key).ok());
        indexes.fold(0, |mask, index| mask | 1 << index)
    }

    fn put(&mut self, slot: u32, members: Members) {
        let all = members.now | members.before;
        if all != 0 {
            place(&mut self.current, slot, all);
            self.members.insert(slot, members);
        }
    }

    /// Begins to draw the subsets of the next epoch.
    pub(crate) fn begin_next(&mut self, seed: B256) {
        self.next = Some((seed, Vector::new()));
    }

    /// Goes on drawing them, for the slots below `end`.
    pub(crate) fn draw_next(&mut self, view: &(impl View + ?Sized), end: Slot) {
        let Some((seed, mut drawn)) = self.next.take() else { return };
        for slot in drawn.len() as u32..end.get() {
            let key = live_key(view, Slot(slot));
            drawn.push_back(key.map_or(0, |key| self.draw(&seed, &key)));
        }
        self.next = Some((seed, drawn));
    }

    /// Begins the next epoch at `start`, with an overlap; nothing if its subsets are not drawn.
    pub(crate) fn rotate(&mut self, view: &dyn View, start: Height) {
        let Some((seed, drawn)) = self.next.take() else { return };
        let old = core::mem::take(self);
        *self = Self {
            previous: old.current,
            next_slot: drawn.len() as u32,
            ..Self::empty(view, seed, start)
        };
        let mut before = old.members.iter().peekable();
        for (slot, drawn) in (0..).zip(&drawn) {
            let before = before.next_if(|(old, _)| **old == slot).map_or(0, |(_, old)| old.now);
            let lives = *drawn != 0 && lives(view, Slot(slot));
            self.put(slot, Members { now: if lives { *drawn } else { 0 }, before });
        }
    }

    /// How many slots' subsets this many hashes draw.
    pub(crate) fn slots_for(&self, hashes: u64) -> u32 {
        let each = (self.validators.len() as u64).max(1);
        u32::try_from((hashes / each).max(1)).unwrap_or(u32::MAX)
    }

    /// From `since` on only the subsets of the running epoch count.
    pub(crate) fn end_overlap(&mut self, since: Height) {
        let members = core::mem::take(&mut self.members);
        let nobody: Lists = self.validators.iter().map(|_| Vector::new()).collect();
        self.previous = core::mem::replace(&mut self.current, nobody);
        self.since = since;
        for (slot, members) in members {
            self.put(slot, Members { before: 0, ..members });
        }
    }

    /// Adds the runners that registered since the last call, up to the first free slot.
    pub(crate) fn add_registered(&mut self, view: &dyn View, next_slot: Slot) {
        for slot in self.next_slot..next_slot.get() {
            let record = read(view, &SlotKey { slot: Slot(slot) });
            if let Some(key) = record.and_then(|record| key_of(view, record.runner)) {
                let now = self.draw(&self.seed, &key);
                self.put(slot, Members { now, before: 0 });
            }
        }
        self.next_slot = next_slot.get();
    }

    /// The bits of a finalize vote by `validator` on the block after which these lists hold: those
    /// of its own list for which `present` says yes, without zero bytes at the end.
    pub fn pack(&self, validator: u32, present: impl Fn(Slot) -> bool) -> Vec<u8> {
        let Some(list) = self.current.get(validator as usize) else { return Vec::new() };
        let mut bits = vec![0; list.len().div_ceil(8)];
        for (place, slot) in list.iter().enumerate() {
            bits[place / 8] |= u8::from(present(Slot(*slot))) << (place % 8);
        }
        trimmed(bits)
    }

    /// The runners that `validator` may attest now, in the order of its vote's bits.
    pub fn list(&self, validator: u32) -> Vec<Slot> {
        let list = self.current.get(validator as usize);
        list.into_iter().flatten().map(|slot| Slot(*slot)).collect()
    }

    /// The validators that attest a runner in the running epoch, ascending.
    pub fn members(&self, slot: Slot) -> Vec<u32> {
        let mask = self.members.get(&slot.get()).map_or(0, |members| members.now);
        indexes(mask).map(|index| index as u32).collect()
    }

    /// The validators that attested a runner in the epoch before, while they still count, ascending.
    pub fn members_before(&self, slot: Slot) -> Vec<u32> {
        let mask = self.members.get(&slot.get()).map_or(0, |members| members.before);
        indexes(mask).map(|index| index as u32).collect()
    }

    /// Whether a validator may attest a runner now.
    pub fn attests(&self, validator: u32, slot: Slot) -> bool {
        let members = self.members.get(&slot.get());
        let mask = members.map_or(0, |members| members.now | members.before);
        mask.checked_shr(validator).is_some_and(|mask| mask & 1 == 1)
    }

    /// The slots whose subsets count, from one on.
    pub(crate) fn slots_from(&self, first: Slot) -> impl Iterator<Item = u32> + '_ {
        self.members.range(first.get()..).map(|(slot, _)| *slot)
    }

    /// The list that was a validator's at a height of this phase or the one before.
    fn list_at(&self, validator: u32, height: Height) -> Option<&Vector<u32>> {
        let lists = if height >= self.since { &self.current } else { &self.previous };
        lists.get(validator as usize)
    }

    /// What a validator's bits in the certificate of an ancestor mean: those of its list as it was.
    pub(crate) fn record(
        &self,
        validator: u32,
        of: &AncestorRecord,
        bits: &[u8],
    ) -> AttestationRecord {
        let next = of.next_slot.get();
        let list = self.list_at(validator, of.height);
        let places = list.map_or(0, |list| list.binary_search(&next).unwrap_or_else(|end| end));
        let mut bits = bits[..bits.len().min(places.div_ceil(8))].to_vec();
        if let Some(last) = bits.get_mut(places / 8) {
            *last &= (1 << (places % 8)) - 1;
        }
        AttestationRecord { height: of.height, bits: Bytes(trimmed(bits)) }
    }

    /// The slots about which a validator may have changed its mind.
    pub(crate) fn changes(
        &self,
        validator: u32,
        old: Option<&AttestationRecord>,
        new: Option<&AttestationRecord>,
        into: &mut BTreeSet<u32>,
    ) {
        let mut note = |height: Height, bits: &[u8]| {
            let Some(list) = self.list_at(validator, height) else { return };
            into.extend(ones(bits).filter_map(|place| list.get(place)));
        };
        match (old, new) {
            (Some(old), Some(new)) if (old.height < self.since) == (new.height < self.since) => {
                note(new.height, &xor(&old.bits, &new.bits));
            }
            _ => [old, new].into_iter().flatten().for_each(|each| note(each.height, &each.bits)),
        }
    }

    /// Whether the newest attestations, by validator, make each of some slots present: more than
    /// half of one of its subsets has its bit set. The slots ascend.
    pub(crate) fn present(
        &self,
        slots: &[u32],
        newest: &[Option<AttestationRecord>],
    ) -> Vec<(u32, bool)> {
        let attesting = if slots.len() < FEW_SLOTS {
            slots.iter().map(|slot| self.attesting(*slot, newest)).collect()
        } else {
            self.attesting_many(slots, newest)
        };
        let present = |(slot, attesting): (&u32, Mask)| {
            let holds = |subset: Mask| {
                let threshold = presence_threshold(subset.count_ones() as usize);
                subset != 0 && (subset & attesting).count_ones() as usize >= threshold
            };
            let members = self.members.get(slot);
            (*slot, members.is_some_and(|members| holds(members.now) || holds(members.before)))
        };
        slots.iter().zip(attesting).map(present).collect()
    }

    /// The validators that attest a slot, found in the lists of its subsets.
    fn attesting(&self, slot: u32, newest: &[Option<AttestationRecord>]) -> Mask {
        let Some(members) = self.members.get(&slot) else { return 0 };
        let attests = |index: &usize| {
            let Some(Some(record)) = newest.get(*index) else { return false };
            let list = self.list_at(*index as u32, record.height);
            let place = list.and_then(|list| list.binary_search(&slot).ok());
            place.is_some_and(|place| {
                record.bits.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1)
            })
        };
        let attesting = indexes(members.now | members.before).filter(attests);
        attesting.fold(0, |mask, index| mask | 1 << index)
    }

    /// As above for many slots, by one walk over all lists.
    fn attesting_many(&self, slots: &[u32], newest: &[Option<AttestationRecord>]) -> Vec<Mask> {
        let end = slots.last().map_or(0, |last| *last as usize + 1);
        let mut all: Vec<Mask> = vec![0; end];
        for (index, record) in newest.iter().enumerate() {
            let Some(record) = record else { continue };
            let Some(list) = self.list_at(index as u32, record.height) else { continue };
            for (place, slot) in list.iter().enumerate() {
                let Some(byte) = record.bits.get(place / 8) else { break };
                if let Some(mask) =
                    all.get_mut(*slot as usize).filter(|_| byte >> (place % 8) & 1 == 1)
                {
                    *mask |= 1 << index;
                }
            }
        }
        slots.iter().map(|slot| all[*slot as usize]).collect()
    }
}

/// From this many slots on, one walk over all lists is less work than a search for each.
const FEW_SLOTS: usize = 512;

/// Gives a slot its place with each of its validators.
fn place(lists: &mut Lists, slot: u32, of: Mask) {
    for index in indexes(of) {
        if let Some(list) = lists.get_mut(index).filter(|list| list.len() < LIST_MAX) {
            list.push_back(slot);
        }
    }
}

fn indexes(mask: Mask) -> impl Iterator<Item = usize> {
    (0..Mask::BITS).filter(move |index| mask >> index & 1 == 1).map(|index| index as usize)
}

/// The numbers of the bits that are set.
fn ones(bits: &[u8]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().filter(|(_, byte)| **byte != 0).flat_map(|(at, byte)| {
        (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| at * 8 + bit)
    })
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    let at = |bits: &[u8], i: usize| bits.get(i).copied().unwrap_or(0);
    (0..a.len().max(b.len())).map(|i| at(a, i) ^ at(b, i)).collect()
}

fn trimmed(mut bits: Vec<u8>) -> Vec<u8> {
    while bits.last() == Some(&0) {
        bits.pop();
    }
    bits
}

/// Whether the runner of a slot has not left.
fn lives(view: &dyn View, slot: Slot) -> bool {
    read(view, &SlotKey { slot }).is_some_and(|record| record.vacated.is_none())
}

/// The key of a slot's runner, unless it has left.
fn live_key(view: &(impl View + ?Sized), slot: Slot) -> Option<RunnerKey> {
    let record: SlotRecord = read(view, &SlotKey { slot })?;
    record.vacated.is_none().then(|| key_of(view, record.runner))?
}

/// A runner's key. An address has one key for ever, so that of its newest profile is also that of
/// its older slots.
fn key_of(view: &(impl View + ?Sized), runner: Address) -> Option<RunnerKey> {
    Some(read(view, &ProfileKey { runner })?.current().public_key.bytes)
}
