//! The opening of a block.

use super::transact::Meter;
use super::{BlockError, Env, Exec};
use crate::base::state::{Overlay, read};
use crate::chain::actors::Actors;
use crate::chain::execute::deposit::Dues;
use crate::chain::index::Indexed;
use crate::chain::presence::{finalized, parent_record};
use crate::rules::beacon::{Round, beacon};
use crate::rules::block::{Header, SeedSignature};
use crate::rules::dispatcher::committee::{hhi_instant, m_adaptive, m_target, smooth_hhi};
use crate::rules::dispatcher::filter::Rules;
use crate::rules::event::{Cause, Event};
use crate::rules::key::{
    BasefeesKey, BeaconKey, ChainKey, EpochCommitteeKey, PendingKey, SupplyKey, ValidatorsKey,
};
use crate::rules::params::ChainParams;
use crate::rules::presence::{AncestorRecord, PresenceCertificate};
use crate::rules::registry::versioned::Stamp;
use crate::rules::tip::EpochCommittee;
use std::collections::{BTreeMap, BTreeSet};

/// Views whose beacons stay in the state. A job is drawn from the round it is bound to within a
/// few views, and long after that only receipts speak of it.
const BEACONS_KEPT: u64 = 8_192;

/// Work of one block's draws, in units of the agenda: about 1,500 committees of three. Whatever
/// piles up is drawn by the blocks after it.
const DRAWING_WORK: u64 = 50_000;

impl<'a> Exec<'a> {
    /// Checks the header against the parent and does everything that comes before transactions.
    pub(super) fn begin(
        view: &'a dyn Indexed,
        params: &'a ChainParams,
        header: &Header,
        seeds: &[SeedSignature],
        presence: Option<&PresenceCertificate>,
        actors: &'a dyn Actors,
    ) -> Result<Self, BlockError> {
        let (Some(chain), Some(supply), Some(basefees), Some(committee)) = (
            read(view, &ChainKey {}),
            read(view, &SupplyKey {}),
            read(view, &BasefeesKey {}),
            read(view, &EpochCommitteeKey {}),
        ) else {
            return Err(BlockError::NoGenesis);
        };
        let expected = chain.height.plus(1);
        if header.height != expected {
            return Err(BlockError::WrongHeight { expected, got: header.height });
        }
        if header.round.epoch != chain.round.epoch || header.round <= chain.round {
            return Err(BlockError::RoundNotAfterParent);
        }
        if header.parent_view != chain.round.view {
            let expected = chain.round.view;
            return Err(BlockError::WrongParentView { expected, got: header.parent_view });
        }
        let validators = read(view, &ValidatorsKey {}).unwrap_or_default();
        let proposer = validators.iter().find(|validator| validator.key == header.proposer);
        let fee_recipient = proposer.ok_or(BlockError::UnknownProposer)?.fee_recipient;
        // Saturating: a time at the end of all times must not be the end of the chain.
        let least = chain.timestamp_ms.saturating_add(params.block_time_ms);
        if header.timestamp_ms < least {
            return Err(BlockError::TooSoon { least, got: header.timestamp_ms });
        }
        let owed = (header.round.view - 1 - chain.newest_seed).min(params.max_seeds_per_block);
        if seeds.len() as u64 != owed {
            return Err(BlockError::WrongSeedCount { expected: owed, got: seeds.len() as u64 });
        }
        let parent = parent_record(view, header);
        let carried = match presence {
            Some(certificate) => Some((certificate, finalized(view, header, certificate)?)),
            None => None,
        };
        let mut roster = view.roster();
        roster.prepare(Rules::of(params), params.policy());
        let mut exec = Self {
            state: Overlay::new(view),
            params,
            env: Env {
                height: header.height,
                view: header.round.view,
                fee_recipient,
                parent_beacon: Default::default(),
                stamp: Stamp::opening(header.height),
            },
            chain,
            supply,
            basefees,
            committee,
            roster,
            subsets: view.subsets(),
            timers: view.timers(),
            actors,
            meter: Meter::default(),
            calling: Vec::new(),
            machine_memory: 0,
            fault: None,
            dues: Dues::new(),
            jobs_of_cause: 0,
            compiled: BTreeSet::new(),
            listed: Vec::new(),
            new_lists: Vec::new(),
            changed: BTreeMap::new(),
            changing: Vec::new(),
            events: Vec::new(),
            receipts: Vec::new(),
            used: Default::default(),
            lanes: BTreeMap::new(),
        };
        exec.chain.height = header.height;
        exec.chain.round = header.round;
        exec.chain.timestamp_ms = header.timestamp_ms;
        exec.open(seeds, parent.as_ref(), carried);
        Ok(exec)
    }

    fn open(
        &mut self,
        seeds: &[SeedSignature],
        parent: Option<&AncestorRecord>,
        carried: Option<(&PresenceCertificate, AncestorRecord)>,
    ) {
        self.take_seeds(seeds);
        self.open_presence(parent, carried);
        self.draw_pending();
        self.update_roster();
        self.chain.roster_changes += self.roster.turn(self.env.height);
        if self.env.height.get().is_multiple_of(self.params.epoch_blocks) {
            self.size_committees();
        }
        self.env.stamp = Stamp::body(self.env.height);
        self.run_calls();
        self.close_phase(Cause::Opening);
    }

    fn take_seeds(&mut self, seeds: &[SeedSignature]) {
        for seed in seeds {
            self.chain.newest_seed += 1;
            let view = self.chain.newest_seed;
            let round = Round { epoch: self.chain.round.epoch, view };
            self.state.put(&BeaconKey { view }, &beacon(round, &seed.bytes));
            if let Some(old) = view.checked_sub(BEACONS_KEPT) {
                self.state.remove(&BeaconKey { view: old });
            }
        }
        let newest = BeaconKey { view: self.chain.newest_seed };
        self.env.parent_beacon = self.state.get(&newest).expect("the newest beacon is kept");
    }

    /// Draws the committees of the jobs whose round has come.
    fn draw_pending(&mut self) {
        let mut work = 0;
        while self.chain.pending_head < self.chain.pending_tail && work < DRAWING_WORK {
            let key = PendingKey { index: self.chain.pending_head };
            let Some(pending) = self.state.get(&key) else { break };
            if pending.view > self.chain.newest_seed {
                break;
            }
            self.state.remove(&key);
            self.chain.pending_head += 1;
            work += 1 + self.draw_job(&pending);
        }
    }

    /// Committee size of the epoch that begins (SPEC §4). A walk over all runners, once per epoch.
    fn size_committees(&mut self) {
        let height = self.env.height;
        let timeout = self.params.heartbeat_timeout_blocks;
        let active = self.roster.entries().filter(|e| e.candidacy.healthy(height, timeout));
        let stakes = active.map(|entry| entry.candidacy.effective_stake.get());
        let count = stakes.clone().count() as u64;
        let hhi_nano = hhi_instant(stakes)
            .map(|instant| smooth_hhi(instant, self.committee.hhi_nano, self.params.hhi_alpha_nano))
            .or(self.committee.hhi_nano);
        let target = m_target(count, hhi_nano.unwrap_or(0), self.params.hhi_min_nano);
        let m_adaptive = m_adaptive(target, self.params.m_min, self.params.m_max);
        self.committee = EpochCommittee { active: count, hhi_nano, m_adaptive };
        self.emit(Event::CommitteeSized { active: count, hhi_nano, m_adaptive });
    }
}
