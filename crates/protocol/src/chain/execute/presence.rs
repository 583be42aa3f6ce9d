//! Presence in the opening of a block (SPEC §9): rotation of the subsets, the certificate that the
//! block carries, attestations that have grown too old, and who is present by what is left.
//!
//! With many runners this can be more work than one block has time for, and the next block would face it
//! again. So a block draws a part of the next epoch's subsets and changes the presence of a bounded
//! number of runners. The epoch begins when its last subset is drawn.

use super::Exec;
use crate::base::primitives::{B256, Slot};
use crate::chain::index::subsets::Subsets;
use crate::chain::presence::place_of;
use crate::rules::event::Event;
use crate::rules::key::{AttestationKey, PresenceKey, SlotKey, ValidatorsKey};
use crate::rules::presence::{
    AncestorRecord, AttestationRecord, NextSubsets, PRESENCE_TIMEOUT_BLOCKS, Phase,
    PresenceCertificate, PresenceState, SubsetEpoch,
};
use crate::rules::registry::runner::Status;
use std::collections::BTreeSet;

impl Exec<'_> {
    /// `carried` comes with the ancestor that it finalizes.
    pub(super) fn open_presence(
        &mut self,
        parent: Option<&AncestorRecord>,
        carried: Option<(&PresenceCertificate, AncestorRecord)>,
    ) {
        let (mut presence, turned) = self.turn_subsets();
        let mut newest = self.newest_attestations();
        let mut touched = BTreeSet::new();
        if let Some((certificate, of)) = carried {
            presence.newest_certificate = Some(of.height);
            for attestation in &certificate.attestations {
                let index = attestation.validator;
                let record = self.subsets.record(index, &of, &attestation.bits);
                // The certificate was found acceptable: the index is below their number.
                let old = newest[index as usize].replace(record);
                let new = newest[index as usize].as_ref();
                self.subsets.changes(index, old.as_ref(), new, &mut touched);
                if let Some(new) = new {
                    self.state.put(&AttestationKey { validator: index }, new);
                }
            }
        }
        self.expire(&mut newest, &mut touched);
        if let Some(parent) = parent {
            self.state.put(&place_of(parent.height), parent);
        }
        let stale = if turned { Some(Slot(0)) } else { presence.stale_from };
        touched.extend(stale.into_iter().flat_map(|first| self.subsets.slots_from(first)));
        let touched: Vec<u32> = touched.into_iter().collect();
        presence.stale_from = self.recount(&touched, &newest);
        self.state.put(&PresenceKey {}, &presence);
    }

    /// Begins a subset epoch, or ends an overlap, when its time has come. Says whether it did.
    fn turn_subsets(&mut self) -> (PresenceState, bool) {
        let height = self.env.height;
        let Some(mut state) = self.state.get(&PresenceKey {}) else {
            let seed = self.env.parent_beacon;
            self.subsets = Subsets::empty(&self.state, seed, height);
            self.subsets.begin_next(seed);
            self.subsets.draw_next(&self.state, self.chain.next_slot);
            return (self.begin_epoch(None, seed), true);
        };
        if height >= state.epoch.start.plus(self.params.subset_epoch_blocks) && state.next.is_none()
        {
            let seed = self.env.parent_beacon;
            self.subsets.begin_next(seed);
            state.next = Some(NextSubsets { seed, drawn: Slot(0) });
        }
        if let Some(next) = &mut state.next {
            let slots = self.subsets.slots_for(self.params.subset_hashes_per_block);
            let end = next.drawn.get().saturating_add(slots);
            next.drawn = Slot(end).min(self.chain.next_slot);
            self.subsets.draw_next(&self.state, next.drawn);
            if next.drawn == self.chain.next_slot {
                let seed = next.seed;
                return (self.begin_epoch(Some(state), seed), true);
            }
        }
        let overlap_end = state.epoch.start.plus(self.params.subset_overlap_blocks);
        if !state.phase.overlap || height < overlap_end {
            return (state, false);
        }
        self.subsets.end_overlap(height);
        let phase = Phase { since: height, overlap: false };
        (PresenceState { phase, ..state }, true)
    }

    /// All subsets of an epoch are drawn.
    fn begin_epoch(&mut self, before: Option<PresenceState>, seed: B256) -> PresenceState {
        let height = self.env.height;
        self.subsets.rotate(&self.state, height);
        PresenceState {
            epoch: SubsetEpoch {
                number: before.map_or(0, |state| state.epoch.number + 1),
                start: height,
                first_slot: self.chain.next_slot,
                seed,
            },
            previous: before.map(|state| state.epoch),
            phase: Phase { since: height, overlap: before.is_some() },
            newest_certificate: before.and_then(|state| state.newest_certificate),
            next: None,
            stale_from: None,
        }
    }

    fn newest_attestations(&self) -> Vec<Option<AttestationRecord>> {
        let n = self.state.get(&ValidatorsKey {}).map_or(0, |validators| validators.len() as u32);
        (0..n).map(|validator| self.state.get(&AttestationKey { validator })).collect()
    }

    fn expire(&mut self, newest: &mut [Option<AttestationRecord>], touched: &mut BTreeSet<u32>) {
        let limit = self.env.height.minus(PRESENCE_TIMEOUT_BLOCKS);
        for (validator, record) in (0..).zip(newest) {
            if let Some(old) = record.take_if(|record| record.height <= limit) {
                self.subsets.changes(validator, Some(&old), None, touched);
                self.state.remove(&AttestationKey { validator });
            }
        }
    }

    /// Recomputes presence of the touched slots, in order. Returns where it stopped if the changes exceed one block's
    /// limit.
    fn recount(&mut self, touched: &[u32], newest: &[Option<AttestationRecord>]) -> Option<Slot> {
        let mut changes = 0;
        for (slot, present) in self.subsets.present(touched, newest) {
            let slot = Slot(slot);
            // The roster is as the parent left it, and says without a look into the state who
            // stays as it is.
            let known = self.roster.entry(slot).map(|entry| entry.candidacy.present);
            if known.is_some_and(|known| known != present) {
                if changes == self.params.presence_changes_per_block {
                    return Some(slot);
                }
                self.set_presence(slot, present);
                changes += 1;
            }
        }
        None
    }

    fn set_presence(&mut self, slot: Slot, present: bool) {
        let Some(record) = self.state.get(&SlotKey { slot }) else { return };
        let Some(mut runner) = self.known(record.runner) else { return };
        // A runner that left keeps its place in the lists for a while, but is not present.
        let gone = runner.slot != slot || runner.status == Status::Deregistered;
        if gone || runner.present == present {
            return;
        }
        runner.present = present;
        runner.last_seen = self.env.height;
        self.put_runner(record.runner, runner);
        self.emit(Event::PresenceChanged { runner: record.runner, present });
    }
}
