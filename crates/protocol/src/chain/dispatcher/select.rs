//! Selection: candidates fixed at a block, seats drawn when the seed of the bound round is there.

use crate::base::error::Refusal;
use crate::base::primitives::{Address, B256, JobId};
use crate::chain::execute::Exec;
use crate::rules::agenda::{Task, WORK_PER_BLOCK, work_of};
use crate::rules::beacon::{SelectionMode, retry_seed, selection_seed};
use crate::rules::cost::excluding_cycles;
use crate::rules::dispatcher::committee::{VerificationMode, committee_size, n_threshold};
use crate::rules::dispatcher::draw::{Favourite, draw};
use crate::rules::dispatcher::filter::Query;
use crate::rules::dispatcher::job::{Failure, Job, PendingSelection, Retry, Snapshot, Status};
use crate::rules::dispatcher::roster::{CLASS_NODES, Lists, MOVED_NODES, Roster, WARM_BLOCKS};
use crate::rules::dispatcher::select::{barred, query_of, stakes_of};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::dispatcher::trie::Trie;
use crate::rules::event::Event;
use crate::rules::key::{BeaconKey, JobKey, MruKey, PendingKey, RetryKey, WarmKey};
use crate::rules::presence::PresencePolicy;
use crate::rules::tip::Warm;
use crate::rules::verifier::aggregator;
use crate::rules::verifier::challenge::JUDGES;
use crate::rules::work::{CLASS_RUNNER_CYCLES, MOVED_RUNNER_CYCLES, PRICES_PER_CYCLE, SEAT_CYCLES};

/// Work of one block's retries, in units of the agenda.
const RETRY_WORK: u64 = WORK_PER_BLOCK;
/// Blocks that a retry waits for its turn before the job fails.
const RETRY_BLOCKS: u64 = 64;

impl Exec<'_> {
    /// The largest committee that a job can get now (SPEC §4, `M_bound`).
    fn committee_bound(&self, spec: &JobSpec) -> u64 {
        if spec.verification.mode.is_single() {
            return 1;
        }
        self.committee.m_adaptive.min(u64::from(spec.verification.runners).max(3))
    }

    /// Fixes the candidates of a new job: draws at once, or binds it to a round.
    pub(crate) fn first_selection(
        &mut self,
        id: JobId,
        mut job: Job,
        spec: &JobSpec,
    ) -> Result<(), Refusal> {
        let bound = match job.challenges {
            Some(_) => u64::from(JUDGES),
            None => self.committee_bound(spec),
        };
        let query = query_of(&job, spec, self.params, bound);
        self.charge_selection(&query)?;
        self.charge(excluding_cycles(job.excluded.len()), 0)?;
        let lists = self.candidates(&query, &job.excluded);
        if spec.verification.mode == VerificationMode::EconomicBond {
            self.expect_fair_trial(spec)?;
        }
        let verification = &spec.verification;
        let candidates = lists.iter().map(Trie::len).sum();
        let size = committee_size(
            verification.mode,
            self.committee.m_adaptive,
            verification.runners,
            candidates,
        );
        // A trial has as many judges as its price pays for, whatever the network's size is.
        let size = if job.challenges.is_some() { Ok(JUDGES as usize) } else { size };
        let Ok(size) = size else {
            self.fail_job(&id, &mut job, spec, Failure::InsufficientRunners);
            return Ok(());
        };
        job.committee = size as u32;
        let threshold = n_threshold(size as u64, verification.runners, verification.threshold);
        job.n_threshold = match verification.mode {
            VerificationMode::Deterministic => job.committee,
            _ => threshold.map_or(job.committee, |n| n as u32),
        };
        job.snapshot = self.snapshot(spec, &lists, size as u32, bound as u32);
        job.snapshot.mru = self.most_recent(&job);
        if verification.mode == VerificationMode::None {
            self.draw_now(id, job, spec, &lists);
        } else {
            self.bind(id, job, lists);
        }
        Ok(())
    }

    /// A job pays for the lists that it makes nodes build: those of its class unless they are
    /// warm, and those in which its price and value differ from its class.
    pub(crate) fn charge_selection(&mut self, query: &Query) -> Result<(), Refusal> {
        // Before they are compared.
        self.charge(self.comparing_cycles(query), 0)?;
        let cycles = self.listing_cycles(query);
        self.charge(cycles, 0)
    }

    /// The same cost where no transaction pays it: the agenda counts it as work.
    pub(crate) fn selection_cycles(&mut self, query: &Query) -> u64 {
        self.comparing_cycles(query) + self.listing_cycles(query)
    }

    /// What it costs to compare the rate cards with a query's quote.
    fn comparing_cycles(&self, query: &Query) -> u64 {
        self.roster.prices_to_compare(query) / PRICES_PER_CYCLE
    }

    /// What the lists of a query cost once prices are compared; from now on they are warm.
    fn listing_cycles(&mut self, query: &Query) -> u64 {
        let key = self.roster.normalise(query);
        let base = key.base();
        let mut cycles = self.roster.too_dear(query) / PRICES_PER_CYCLE;
        let offered = |roster: &mut Roster, most: u64| roster.offered(&base).min(most);
        cycles += self.touch_query(&base, CLASS_NODES, offered).saturating_mul(CLASS_RUNNER_CYCLES);
        if key != base {
            let moved = |roster: &mut Roster, most: u64| roster.moved(&key, most);
            let moved = self.touch_query(&key, MOVED_NODES, moved);
            cycles += moved.saturating_mul(MOVED_RUNNER_CYCLES);
        }
        cycles
    }

    /// Notes that a query is asked; says how many runners have to be put in place for it: all that
    /// `size` counts if it was not asked lately, else no more than have changed since.
    fn touch_query(
        &mut self,
        query: &Query,
        nodes: u64,
        size: impl Fn(&mut Roster, u64) -> u64,
    ) -> u64 {
        let (asked_at, changes) = (self.env.height, self.chain.roster_changes);
        let (hash, warm) = (query.hash(), self.warm(query));
        let most = warm.map_or(u64::MAX, |warm| changes - warm.changes);
        let size = size(&mut self.roster, most);
        let nodes = warm.map_or(size.saturating_mul(nodes), |warm| warm.nodes);
        self.put_warm(hash, &Warm { asked_at, changes, nodes });
        size
    }

    /// When a query was asked, if its lists are kept.
    fn warm(&self, query: &Query) -> Option<Warm> {
        let warm = self.state.get(&WarmKey { query: query.hash() })?;
        (warm.asked_at.plus(WARM_BLOCKS) >= self.env.height).then_some(warm)
    }

    /// The candidates of a query that was paid for.
    pub(crate) fn candidates(&mut self, query: &Query, excluded: &[Address]) -> Lists {
        let key = self.roster.normalise(query);
        self.listed.extend([key.base(), key]);
        self.roster.lists(query, excluded, self.env.height)
    }

    /// Drops the lists that this block built for queries that are not warm after it.
    pub(crate) fn drop_cold_lists(&mut self) {
        for query in core::mem::take(&mut self.listed) {
            if self.warm(&query).is_none() {
                self.roster.let_go(&query);
            }
        }
    }

    /// The candidates of a draw, as the job's record has them.
    pub(crate) fn snapshot(
        &self,
        spec: &JobSpec,
        lists: &Lists,
        seats: u32,
        bound: u32,
    ) -> Snapshot {
        let count = if self.params.policy() == PresencePolicy::Prefer { 2 } else { 1 };
        let roots = lists.iter().take(count).map(|trie| (trie.root(), trie.sum())).collect();
        let scored = self.draw_counts(spec, lists.iter().map(Trie::len).sum());
        Snapshot { height: self.env.height, roots, seats, bound, mru: None, scored }
    }

    /// The runner that served this submitter last, unless that is too long ago.
    fn most_recent(&self, job: &Job) -> Option<Address> {
        if job.challenges.is_some() {
            return None;
        }
        let kind = job.kind as u8;
        let record = self.state.get(&MruKey { submitter: job.submitter, kind })?;
        let fresh = record.set_at_block.plus(self.params.mru_ttl_blocks) >= self.env.height;
        fresh.then_some(record.runner_address)
    }

    fn draw_now(&mut self, id: JobId, job: Job, spec: &JobSpec, lists: &Lists) {
        let beacon = self.env.parent_beacon;
        let height = job.submitted_at.get();
        let seed = selection_seed(SelectionMode::Immediate, beacon, id, height);
        self.assign(id, job, spec, seed, lists);
    }

    /// Puts a job into the queue for the seed of a later round.
    pub(crate) fn bind(&mut self, id: JobId, mut job: Job, lists: Lists) {
        let view = self.env.view.saturating_add(self.params.selection_seed_delay_views);
        let pending = PendingSelection { job: id, view, snapshot_height: job.snapshot.height };
        self.state.put(&PendingKey { index: self.chain.pending_tail }, &pending);
        self.chain.pending_tail += 1;
        job.status = Status::Pending { view };
        self.emit(Event::JobBound {
            job: id,
            attempt: job.attempt,
            view,
            roots: job.snapshot.roots.clone(),
            seats: job.snapshot.seats,
        });
        self.state.put(&JobKey { job: id }, &job);
        self.new_lists.push((id, lists));
    }

    /// Draws a job whose round has come. Returns the work it took.
    pub(crate) fn draw_job(&mut self, pending: &PendingSelection) -> u64 {
        let lists = self.roster.release(&pending.job);
        let Some(mut job) = self.state.get(&JobKey { job: pending.job }) else { return 0 };
        if job.status != (Status::Pending { view: pending.view }) {
            return 0;
        }
        let lists = lists.expect("the candidates of a waiting job are kept");
        let (spec, reading) = self.read_spec(&pending.job);
        let Some(beacon) = self.state.get(&BeaconKey { view: pending.view }) else {
            // Cannot happen while every round's seed is on chain; kept as a guard (SPEC §2).
            self.fail_job(&pending.job, &mut job, &spec, Failure::NoSeed);
            return reading;
        };
        let work = reading + work_of(u64::from(job.snapshot.seats) * SEAT_CYCLES);
        let height = job.submitted_at.get();
        let mut seed = selection_seed(SelectionMode::Delayed, beacon, pending.job, height);
        if job.attempt > 0 {
            seed = retry_seed(seed, job.attempt);
        }
        self.assign(pending.job, job, &spec, seed, &lists);
        work
    }

    /// Seats the drawn runners and starts the clock.
    fn assign(&mut self, id: JobId, mut job: Job, spec: &JobSpec, seed: B256, lists: &Lists) {
        let multiplier = self.params.mru_multiplier;
        let favourite = job.snapshot.mru.map(|address| Favourite { address, multiplier });
        let draws = draw(seed, job.snapshot.seats as usize, favourite, lists)
            .expect("a snapshot has as many candidates as seats");
        let runners: Vec<Address> = draws.iter().map(|draw| draw.leaf.address).collect();
        let stakes = stakes_of(&job, spec);
        // Draws of one moment overlap. A result that too little stake answers for is not bonded.
        let short = |runner: &&Address| !self.can_lock(**runner, stakes.locked);
        if let Some(short) = runners.iter().find(short).copied() {
            job.excluded.push(short);
            self.state.put(&JobKey { job: id }, &job);
            return self.retry_later(id, job.attempt);
        }
        for runner in &runners {
            let seat = self.seat_runner(*runner, &job, stakes);
            job.seats.push(seat.expect("a candidate is a runner"));
        }
        job.seed = seed;
        job.status = Status::Assigned;
        job.aggregator = self.choose_aggregator(&id, &job);
        self.set_deadlines(&mut job, spec);
        self.schedule(job.commit_by, &Task::CommitDeadline { job: id, attempt: job.attempt });
        self.emit(Event::JobAssigned {
            job: id,
            attempt: job.attempt,
            seed,
            runners,
            aggregator: job.aggregator,
            commit_by: job.commit_by,
        });
        self.state.put(&JobKey { job: id }, &job);
    }

    /// Queues another draw of a job. Its new lists are unpaid work, so retries have a queue and a budget
    /// of their own and delay no deadline.
    pub(crate) fn retry_later(&mut self, job: JobId, attempt: u32) {
        let retry = Retry { job, attempt, since: self.env.height };
        self.state.put(&RetryKey { index: self.chain.retries_tail }, &retry);
        self.chain.retries_tail += 1;
    }

    /// Draws again for the jobs that wait for it, within the budget. Those that have waited for too
    /// long fail, so that the queue is never longer than its budget allows.
    pub(crate) fn run_retries(&mut self) {
        let mut work = 0;
        while self.chain.retries_head < self.chain.retries_tail && work < RETRY_WORK {
            let key = RetryKey { index: self.chain.retries_head };
            self.chain.retries_head += 1;
            let Some(retry) = self.state.get(&key) else { continue };
            self.state.remove(&key);
            work += 1 + self.retry(&retry);
            self.keep_new_lists();
        }
    }

    /// Returns the work it took.
    fn retry(&mut self, retry: &Retry) -> u64 {
        let Retry { job: id, attempt, since } = retry;
        let Some(mut job) = self.state.get(&JobKey { job: *id }) else { return 0 };
        let waits = matches!(job.status, Status::Pending { .. } | Status::Assigned);
        if !waits || job.attempt != *attempt {
            return 0;
        }
        if self.env.height > since.plus(RETRY_BLOCKS) {
            let (spec, reading) = self.read_spec(id);
            self.fail_job(id, &mut job, &spec, Failure::NoRunners);
            return reading;
        }
        self.reselect(id, job)
    }

    fn choose_aggregator(&self, id: &JobId, job: &Job) -> Option<Address> {
        if job.committee <= 1 {
            return None;
        }
        let members: Vec<(Address, u64)> =
            job.taking_part().map(|seat| (seat.runner, seat.reputation_nano)).collect();
        aggregator::choose(job.seed, *id, &aggregator::eligible(&members))
    }

    /// Absolute, from the assignment block (SPEC §4).
    fn set_deadlines(&self, job: &mut Job, spec: &JobSpec) {
        let now = self.env.height;
        if job.committee <= 1 {
            job.commit_by = now.plus(spec.timeout_blocks);
            job.aggregator_until = job.commit_by;
            job.reveal_by = job.commit_by;
            return;
        }
        let share = spec.timeout_blocks.saturating_mul(self.params.commit_share_bps);
        job.commit_by = now.plus(share.div_ceil(10_000));
        job.aggregator_until = job.commit_by.plus(self.params.aggregator_blocks);
        job.reveal_by = job.commit_by.plus(self.params.reveal_blocks);
    }

    /// Fills the empty seats of a job from fresh candidates, or gives it up (SPEC §4, retry).
    /// Returns the work it took, in units of the agenda.
    pub(crate) fn reselect(&mut self, id: &JobId, mut job: Job) -> u64 {
        let (spec, reading) = self.read_spec(id);
        if u64::from(job.attempt) >= self.params.max_retries {
            self.fail_job(id, &mut job, &spec, Failure::NoRunners);
            return reading;
        }
        let seated = job.taking_part().count() as u32;
        let empty = job.committee.saturating_sub(seated);
        let mut cycles = 0;
        if job.challenges.is_some() {
            let (fair, judging) = self.is_fair_trial(&job, &spec);
            if !fair {
                self.fail_job(id, &mut job, &spec, Failure::InsufficientRunners);
                return reading + work_of(judging);
            }
            cycles += judging;
        }
        let (query, bound) = self.retry_query(&job, &spec);
        let barred = barred(&job);
        cycles += self.selection_cycles(&query) + excluding_cycles(barred.len());
        let work = reading + work_of(cycles);
        let lists = self.candidates(&query, &barred);
        let candidates: usize = lists.iter().map(Trie::len).sum();
        let seats = empty.min(candidates as u32);
        let least = job.n_threshold.max(spec.verification.mode.minimum() as u32);
        if seats == 0 || seated + seats < least {
            self.fail_job(id, &mut job, &spec, Failure::InsufficientRunners);
            return work;
        }
        job.attempt += 1;
        job.aggregator = None;
        job.snapshot = self.snapshot(&spec, &lists, seats, bound as u32);
        self.bind(*id, job, lists);
        work
    }

    /// The query of a retry. It quotes by the larger of the old and the new size: a runner that is paid a
    /// share of the old size must not be drawn at the greater share of a smaller one.
    fn retry_query(&self, job: &Job, spec: &JobSpec) -> (Query, u64) {
        let bound = self.committee_bound(spec).max(u64::from(job.committee));
        (query_of(job, spec, self.params, bound), bound)
    }

    /// A transaction that makes a job draw again pays for that, before it is done.
    pub(crate) fn charge_retry(&mut self, job: &Job, spec: &JobSpec) -> Result<(), Refusal> {
        let (query, _) = self.retry_query(job, spec);
        self.charge_selection(&query)?;
        self.charge(excluding_cycles(barred(job).len()), 0)
    }

    /// Hands the lists of newly bound jobs to the roster: from here on nothing is taken back.
    pub(crate) fn keep_new_lists(&mut self) {
        for (job, lists) in core::mem::take(&mut self.new_lists) {
            self.roster.hold(job, lists);
        }
    }
}
