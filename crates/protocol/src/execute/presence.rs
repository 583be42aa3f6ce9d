//! Presence in the opening of a block (SPEC §9): rotation of the subsets, the certificate that the
//! block carries, attestations that have grown too old, and who is present by what is left.

use super::Exec;
use crate::event::Event;
use crate::key::{AttestationKey, PresenceKey, SlotKey, ValidatorsKey};
use crate::presence::{
    AncestorRecord, AttestationRecord, PRESENCE_TIMEOUT_BLOCKS, Phase, PresenceCertificate,
    PresenceState, SubsetEpoch, place_of,
};
use crate::primitives::Slot;
use crate::registry::runner::Status;
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
        self.state.put(&PresenceKey {}, &presence);
        if let Some(parent) = parent {
            self.state.put(&place_of(parent.height), parent);
        }
        if turned {
            touched.extend(self.subsets.slots());
        }
        self.recount(&touched, &newest);
    }

    /// Begins a subset epoch, or ends an overlap, when its time has come. Says whether it did.
    fn turn_subsets(&mut self) -> (PresenceState, bool) {
        let height = self.env.height;
        let before = self.state.get(&PresenceKey {});
        match before {
            Some(state) if height < state.epoch.start.plus(self.params.subset_epoch_blocks) => {
                let overlap_end = state.epoch.start.plus(self.params.subset_overlap_blocks);
                if !state.phase.overlap || height < overlap_end {
                    return (state, false);
                }
                self.subsets.end_overlap(height);
                let phase = Phase { since: height, overlap: false };
                (PresenceState { phase, ..state }, true)
            }
            _ => {
                let epoch = SubsetEpoch {
                    number: before.map_or(0, |state| state.epoch.number + 1),
                    start: height,
                    first_slot: self.chain.next_slot,
                    seed: self.env.parent_beacon,
                };
                self.subsets.rotate(&self.state, epoch.seed, height);
                self.subsets.take_in(&self.state, self.chain.next_slot);
                let state = PresenceState {
                    epoch,
                    previous: before.map(|state| state.epoch),
                    phase: Phase { since: height, overlap: before.is_some() },
                    newest_certificate: before.and_then(|state| state.newest_certificate),
                };
                (state, true)
            }
        }
    }

    /// By validator.
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

    fn recount(&mut self, touched: &BTreeSet<u32>, newest: &[Option<AttestationRecord>]) {
        for slot in touched {
            let present = self.subsets.present(*slot, newest);
            // The roster is as the parent left it, and says without a look into the state who
            // stays as it is.
            let known = self.roster.entry(Slot(*slot)).map(|entry| entry.candidacy.present);
            if known.is_some_and(|known| known != present) {
                self.set_presence(Slot(*slot), present);
            }
        }
    }

    fn set_presence(&mut self, slot: Slot, present: bool) {
        let Some(record) = self.state.get(&SlotKey { slot }) else { return };
        let Some(mut runner) = self.known(record.runner) else { return };
        // Who has left keeps its place in the lists for a while, but is not there.
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
