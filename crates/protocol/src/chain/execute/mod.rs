//! Execution of blocks: `apply_block(view, params, block) -> outcome`.
//!
//! Consensus: a change here forks the chain.
//!
//! ```text
//! opening   seed log → presence → committees whose round has come → epoch's committee size →
//!           deferred calls of earlier blocks
//! body      transactions, in order
//! timers    due ones, in their own lane (see [`crate::rules::timers`])
//! closing   agenda (deadlines, jail terms, unbonding) → basefees, counters
//! ```
//! The opening decides what the block's own selections see: a job submitted in this block draws
//! from the runners as the opening left them, wherever in the block it stands.

pub(crate) mod deposit;
mod money;
mod open;
mod presence;
mod transact;

pub use crate::rules::admission::{check_bids, check_limits, deposit};
pub use crate::rules::cost::intrinsic;
pub use crate::rules::work::Cost;
pub(crate) use transact::{Meter, Sender};

use crate::base::codec::{Bytes, Encode};
use crate::base::error::Inadmissible;
use crate::base::merkle;
use crate::base::primitives::{Address, B256, Height, JobId, Slot};
use crate::base::state::{Diff, Overlay};
use crate::chain::actors::call::CallFault;
use crate::chain::actors::host::{Host, Running};
use crate::chain::actors::{Actors, NoActors};
use crate::chain::execute::deposit::Dues;
use crate::chain::index::Indexed;
use crate::chain::index::roster::load_entry;
use crate::chain::index::subsets::Subsets;
use crate::rules::block::{
    Block, Header, SeedSignature, presence_hash, seeds_root, transactions_root,
};
use crate::rules::dispatcher::filter::{Entry, Query};
use crate::rules::dispatcher::roster::{Lists, Roster};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::event::{Cause, Event, Receipt};
use crate::rules::fees::{Basefees, Lane, Usage};
use crate::rules::key::{BasefeesKey, ChainKey, EpochCommitteeKey, PendingKey, SupplyKey};
use crate::rules::params::ChainParams;
use crate::rules::presence::{PresenceCertificate, PresenceRefusal};
use crate::rules::registry::versioned::Stamp;
use crate::rules::timers::index::TimerIndex;
use crate::rules::tip::{ChainState, EpochCommittee, Supply};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Why a block is not a block of this chain. The state stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BlockError {
    /// There is no genesis in the state.
    #[error("the state has no genesis")]
    NoGenesis,
    /// Not the height after the parent's.
    #[error("height {got} does not follow; {expected} would")]
    WrongHeight { expected: Height, got: Height },
    /// The round does not come after the parent's.
    #[error("the round does not come after the parent's")]
    RoundNotAfterParent,
    /// The parent was made in another view.
    #[error("the parent's view is {expected}, not {got}")]
    WrongParentView { expected: u64, got: u64 },
    /// Not one of the validators.
    #[error("the proposer is not a validator")]
    UnknownProposer,
    /// Less than a block's time after the parent.
    #[error("time {got} ms is before {least} ms, a block's time after the parent's")]
    TooSoon { least: u64, got: u64 },
    /// Seeds are missing or surplus.
    #[error("the block carries {got} seeds, {expected} are owed")]
    WrongSeedCount {
        /// Owed, up to the limit of a block.
        expected: u64,
        got: u64,
    },
    /// The header does not commit to the block's contents.
    #[error("the header's {0} root is not that of the block")]
    WrongRoot(&'static str),
    /// A presence certificate that cannot be in this block.
    #[error(transparent)]
    Presence(#[from] PresenceRefusal),
    /// A transaction that cannot be in this block.
    #[error("transaction {index} cannot be in this block: {reason}")]
    Inadmissible { index: usize, reason: Inadmissible },
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub diff: Diff,
    /// The roster after the block.
    pub roster: Roster,
    /// The validators' lists after the block.
    pub subsets: Subsets,
    /// The due timers after the block.
    pub timers: TimerIndex,
    /// How everything ended: the opening, each transaction, the closing.
    pub receipts: Vec<Receipt>,
    /// Merkle root of the receipts.
    pub receipts_root: B256,
    /// Cycles and cells consumed by transactions and timers.
    pub used: Usage,
}

impl Outcome {
    /// Everything that happened, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.receipts.iter().flat_map(|receipt| &receipt.events)
    }
}

/// Executes a block on the state of its parent. The header's roots of transactions, seeds and
/// receipts are checked here; the store of the diff checks the state root. `actors` runs the
/// code of actors; [`NoActors`] is for chains without code.
pub fn apply_block(
    view: &dyn Indexed,
    params: &ChainParams,
    block: &Block,
    actors: &dyn Actors,
) -> Result<Outcome, BlockError> {
    if block.header.transactions_root != transactions_root(&block.transactions) {
        return Err(BlockError::WrongRoot("transactions"));
    }
    if block.header.seeds_root != seeds_root(&block.seeds) {
        return Err(BlockError::WrongRoot("seeds"));
    }
    if block.header.presence_hash != presence_hash(block.presence.as_ref()) {
        return Err(BlockError::WrongRoot("presence"));
    }
    let presence = block.presence.as_ref();
    let mut exec = Exec::begin(view, params, &block.header, &block.seeds, presence, actors)?;
    for (index, bytes) in block.transactions.iter().enumerate() {
        exec.transact(bytes).map_err(|reason| BlockError::Inadmissible { index, reason })?;
    }
    let outcome = exec.finish();
    if block.header.receipts_root != outcome.receipts_root {
        return Err(BlockError::WrongRoot("receipts"));
    }
    Ok(outcome)
}

/// A block that is being put together: everything but its transactions and roots.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Parent, height, round, proposer and time; the roots are filled in, the state's by its
    /// store.
    pub header: Header,
    pub seeds: Vec<SeedSignature>,
    /// A certificate that this block may carry.
    pub presence: Option<PresenceCertificate>,
}

/// Builds a block from what is waiting: the same code as [`apply_block`], but a transaction that
/// cannot be in the block is left out. Returns why, by index. The caller may end what is waiting at
/// any time: what was taken until then is a block.
pub fn propose_block<'t>(
    view: &dyn Indexed,
    params: &ChainParams,
    draft: Draft,
    waiting: impl IntoIterator<Item = &'t Bytes>,
    actors: &dyn Actors,
) -> Result<(Block, Outcome, BTreeMap<usize, Inadmissible>), BlockError> {
    let Draft { mut header, seeds, presence } = draft;
    let mut exec = Exec::begin(view, params, &header, &seeds, presence.as_ref(), actors)?;
    let mut left_out = BTreeMap::new();
    let mut transactions = Vec::new();
    for (index, bytes) in waiting.into_iter().enumerate() {
        match exec.transact(bytes) {
            Ok(()) => transactions.push(bytes.clone()),
            Err(reason) => {
                left_out.insert(index, reason);
            }
        }
    }
    let outcome = exec.finish();
    header.transactions_root = transactions_root(&transactions);
    header.seeds_root = seeds_root(&seeds);
    header.presence_hash = presence_hash(presence.as_ref());
    header.receipts_root = outcome.receipts_root;
    Ok((Block { header, seeds, presence, transactions }, outcome, left_out))
}

/// What a block of jobs costs without signatures and fees: the block is opened, the jobs are
/// submitted, the block is closed. For benchmarks; no chain takes such a block. Jobs that are turned
/// down leave nothing behind.
pub fn submit_unsigned(
    view: &dyn Indexed,
    params: &ChainParams,
    draft: &Draft,
    jobs: &[(Address, B256, JobSpec)],
) -> Result<Outcome, BlockError> {
    let presence = draft.presence.as_ref();
    let mut exec = Exec::begin(view, params, &draft.header, &draft.seeds, presence, &NoActors)?;
    for (submitter, hash, spec) in jobs {
        exec.submit_alone(*submitter, *hash, spec);
    }
    Ok(exec.finish())
}

/// What scheduling and cancelling cost without signatures and fees: the block is opened, `calls` is
/// given a host for whichever actor it names, the block is closed. For benchmarks; no chain takes
/// such a block.
pub fn timers_unsigned(
    view: &dyn Indexed,
    params: &ChainParams,
    draft: &Draft,
    calls: impl FnOnce(&mut dyn FnMut(Address, &mut dyn FnMut(&mut Host<'_, '_>))),
) -> Result<Outcome, BlockError> {
    let presence = draft.presence.as_ref();
    let mut exec = Exec::begin(view, params, &draft.header, &draft.seeds, presence, &NoActors)?;
    calls(&mut |actor, call| {
        let run = |exec: &mut Exec<'_>| {
            call(&mut Host::new(exec, Running::of(actor, actor, B256::ZERO)));
            Ok(())
        };
        // It has all the cycles there are, and reports its own errors.
        let meter = Meter { cycles: u64::MAX, cells: u64::MAX, cell_cycles: 0 };
        let _ = exec.metered(meter, run);
    });
    Ok(exec.finish())
}

/// What a block's execution knows about the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Env {
    pub(crate) height: Height,
    pub(crate) view: u64,
    pub(crate) fee_recipient: Address,
    /// The newest seed on chain.
    pub(crate) parent_beacon: B256,
    /// Whether what is written now is visible to this block's selections.
    pub(crate) stamp: Stamp,
}

pub(crate) struct Exec<'a> {
    pub(crate) state: Overlay<'a>,
    pub(crate) params: &'a ChainParams,
    pub(crate) env: Env,
    pub(crate) chain: ChainState,
    pub(crate) supply: Supply,
    pub(crate) basefees: Basefees,
    pub(crate) committee: EpochCommittee,
    pub(crate) roster: Roster,
    pub(crate) subsets: Subsets,
    pub(crate) timers: TimerIndex,
    pub(crate) actors: &'a dyn Actors,
    pub(crate) meter: transact::Meter,
    /// The actors that call each other at this moment, outermost first.
    pub(crate) calling: Vec<Address>,
    /// Memory that the machines of those calls use.
    pub(crate) machine_memory: usize,
    /// Why the newest call failed.
    pub(crate) fault: Option<CallFault>,
    /// Deposits that the call under way has to pay, and those that it gave back.
    pub(crate) dues: Dues,
    /// Jobs that the present cause has submitted.
    pub(crate) jobs_of_cause: u32,
    /// Hashes of the code that this block has paid to compile. Failed calls have paid, too.
    pub(crate) compiled: BTreeSet<B256>,
    /// Queries that this block built lists for.
    pub(crate) listed: Vec<Query>,
    /// Lists of jobs that this transaction submitted.
    pub(crate) new_lists: Vec<(JobId, Lists)>,
    /// Runners that were written since the roster was last brought up to date; whether their
    /// profile was, too.
    changed: BTreeMap<Slot, bool>,
    /// The same for the operation that is under way and may still be taken back.
    changing: Vec<(Slot, bool)>,
    events: Vec<Event>,
    receipts: Vec<Receipt>,
    pub(crate) used: Usage,
    lanes: BTreeMap<Lane, u64>,
}

impl<'a> Exec<'a> {
    pub(crate) fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    /// A receipt for the block's own work, if anything happened.
    fn close_phase(&mut self, cause: Cause) {
        let events = core::mem::take(&mut self.events);
        if !events.is_empty() {
            let used = Usage::default();
            self.receipts.push(Receipt { cause, code: 0, used, fee: Default::default(), events });
        }
    }

    /// The earliest moment that a waiting job's candidates may be asked for.
    pub(crate) fn oldest_snapshot(&self) -> Option<Stamp> {
        // A job of this very block will want the runners as its opening left them.
        Some(Stamp::opening(self.settled_candidates().min(self.env.height)))
    }

    /// Candidates of blocks before this height are drawn, or will not be.
    pub(crate) fn settled_candidates(&self) -> Height {
        let waiting = self.chain.pending_head < self.chain.pending_tail;
        let index = self.chain.pending_head;
        let oldest = waiting.then(|| self.state.get(&PendingKey { index })).flatten();
        oldest.map_or(self.env.height, |pending| pending.snapshot_height)
    }

    /// Remembers that a runner's standing was written.
    pub(crate) fn note_change(&mut self, slot: Slot) {
        self.changing.push((slot, false));
    }

    /// Remembers that a runner's profile was written, or its slot given up.
    pub(crate) fn note_profile(&mut self, slot: Slot) {
        self.changing.push((slot, true));
    }

    /// From here on what was written is not taken back.
    fn keep_changes(&mut self) {
        for (slot, profile) in core::mem::take(&mut self.changing) {
            *self.changed.entry(slot).or_default() |= profile;
        }
    }

    /// Brings the roster up to date with what was written.
    fn update_roster(&mut self) {
        self.keep_changes();
        let height = self.env.height;
        let changed = core::mem::take(&mut self.changed);
        self.chain.roster_changes += changed.len() as u64;
        // Profiles first: a slot that is given up must be empty before its runner shows up again.
        for slot in changed.iter().filter(|(_, profile)| **profile).map(|(slot, _)| *slot) {
            match load_entry(&self.state, slot, None) {
                Some(entry) => self.roster.set(entry, height),
                None => self.roster.vacate(slot),
            }
        }
        for slot in changed.iter().filter(|(_, profile)| !**profile).map(|(slot, _)| *slot) {
            let Some(old) = self.roster.entry(slot).cloned() else { continue };
            if let Some(runner) = self.known(old.address) {
                let candidacy = *runner.candidacy.current();
                self.roster.set(Entry { candidacy, ..(*old).clone() }, height);
            }
        }
    }

    fn finish(mut self) -> Outcome {
        self.run_timers();
        self.run_agenda();
        self.run_retries();
        self.drop_cold_lists();
        self.close_phase(Cause::Closing);
        self.update_roster();
        self.subsets.add_registered(&self.state, self.chain.next_slot);
        self.basefees = self.basefees.next(self.params, self.used);
        self.state.put(&ChainKey {}, &self.chain);
        self.state.put(&SupplyKey {}, &self.supply);
        self.state.put(&BasefeesKey {}, &self.basefees);
        self.state.put(&EpochCommitteeKey {}, &self.committee);
        let encoded: Vec<Vec<u8>> = self.receipts.iter().map(Encode::to_bytes).collect();
        Outcome {
            receipts_root: merkle::root(encoded.iter().map(|bytes| &bytes[..])),
            diff: self.state.into_diff(),
            roster: self.roster,
            subsets: self.subsets,
            timers: self.timers,
            receipts: self.receipts,
            used: self.used,
        }
    }
}
