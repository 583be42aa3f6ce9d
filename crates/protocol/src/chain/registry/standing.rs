//! How runners' records are read and written, scored and jailed (SPEC §6).

use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount};
use crate::chain::execute::Exec;
use crate::rules::agenda::Task;
use crate::rules::dispatcher::job::{Job, Seat, SeatState, Stakes};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::event::Event;
use crate::rules::key::RunnerKey;
use crate::rules::registry::reputation::Reputation;
use crate::rules::registry::runner::{Runner, Status};
use crate::rules::registry::versioned::Stamp;

/// Score of a runner in the winning group.
pub(crate) const SCORE_SETTLED: u32 = 100;
/// Score of the aggregator in the winning group.
pub(crate) const SCORE_AGGREGATOR: u32 = 110;
/// Score of a timeout, of a result outside the winning group, of an attested crash. It stands for the
/// `TIMEOUT_PENALTY` of CIP-2; a number of jailings (`SLASH_THRESHOLD`) slashes nothing yet.
pub(crate) const SCORE_FAILED: u32 = 0;

/// A draw from fewer candidates, or from fewer than half of all runners, is not scored.
const SCORED_CANDIDATES_MIN: u64 = 10;

/// Sums after a jail term: a reputation of exactly 50 (`JAIL_EXIT_FLOOR`), on probation.
const PROBATION_WEIGHT: u128 = 4_000_000_000;
/// Weight that outweighs the prior of 20 events so that the reputation is 0 at once: the mean of
/// the prior and this many events of score 0 is below half a nano point.
const ZERO_REPUTATION_WEIGHT: u128 = 24_000_000_000_000_000_000_000_000;

/// Crash attestations that a runner's record remembers; the flag needs fewer.
const CRASHES_KEPT: usize = 64;

impl Exec<'_> {
    /// A runner that has not left.
    pub(crate) fn registered(&self, address: Address) -> Result<Runner, Refusal> {
        let runner = self.known(address).ok_or(Refusal::UnknownRunner)?;
        match runner.status {
            Status::Deregistered => Err(Refusal::NotRegistered),
            _ => Ok(runner),
        }
    }

    /// A runner, also one that has left.
    pub(crate) fn known(&self, address: Address) -> Option<Runner> {
        self.state.get(&RunnerKey { runner: address })
    }

    /// Writes a runner's standing, and what selection reads of it.
    pub(crate) fn put_runner(&mut self, address: Address, mut runner: Runner) {
        let candidacy = runner.candidacy_now();
        runner.candidacy.write(candidacy, self.env.stamp, self.oldest_snapshot());
        self.state.put(&RunnerKey { runner: address }, &runner);
        self.note_change(runner.slot);
    }

    /// Changes a known runner's standing.
    pub(crate) fn change_runner(&mut self, address: Address, change: impl FnOnce(&mut Runner)) {
        if let Some(mut runner) = self.known(address) {
            change(&mut runner);
            self.put_runner(address, runner);
        }
    }

    /// A sign of life by a transaction: bad days fade, nothing is added.
    pub(crate) fn refresh(&self, runner: &mut Runner) {
        runner.reputation.refresh(self.env.height.get()).expect("heights never fall");
    }

    /// Whether a draw counts for the reputation of the drawn runners. Jobs at dust prices do not count, nor
    /// do draws from a handful of runners: either would let an attacker buy a rival's jail term, or repair
    /// its own score with work for itself. Jobs of a pool do not count: its owner chooses the members.
    pub(crate) fn draw_counts(&self, spec: &JobSpec, candidates: usize) -> bool {
        let enough = SCORED_CANDIDATES_MIN.min(self.roster.standing().runners.div_ceil(2));
        spec.max_price >= Amount(self.params.min_scored_price)
            && spec.required_runner_pool.is_none()
            && candidates as u64 >= enough
    }

    /// Scores a seat's runner for what became of it, if its draw counts.
    pub(crate) fn score_seat(&mut self, seat: &Seat, score: u32) {
        if seat.scored {
            self.score(seat.runner, score);
        }
    }

    pub(crate) fn score(&mut self, address: Address, score: u32) {
        let Some(mut runner) = self.known(address) else { return };
        let height = self.env.height.get();
        runner.reputation.record(height, score).expect("heights never fall, sums stay small");
        runner.failures = if score > SCORE_FAILED { 0 } else { runner.failures.saturating_add(1) };
        let reputation_nano = runner.reputation.nano();
        self.emit(Event::ReputationChanged { runner: address, reputation_nano, score });
        let failing = u64::from(runner.failures) >= self.params.jail_failures;
        let disreputable = reputation_nano < self.params.min_reputation_nano;
        if runner.jailed_until.is_none() && (failing || disreputable) {
            self.jail(address, &mut runner);
        }
        self.put_runner(address, runner);
    }

    /// The penalty for a commitment without a valid reveal.
    pub(crate) fn zero_reputation_and_jail(&mut self, address: Address, runner: &mut Runner) {
        runner.reputation = Reputation {
            score_sum: 0,
            weight_sum: ZERO_REPUTATION_WEIGHT,
            last_update: self.env.height.get(),
        };
        self.jail(address, runner);
    }

    /// Each term inside the memory of the last doubles; one that begins in jail extends it.
    fn jail(&mut self, address: Address, runner: &mut Runner) {
        let height = self.env.height;
        let remembered = runner.jail_terms > 0
            && runner.jailed_at.plus(self.params.jail_memory_blocks) >= height;
        runner.jail_terms = if remembered { runner.jail_terms.saturating_add(1) } else { 1 };
        let doublings = (runner.jail_terms - 1).min(63);
        let term = self.params.jail_blocks.saturating_mul(1 << doublings);
        let until = height.plus(term.min(self.params.jail_blocks_max));
        runner.jailed_at = height;
        runner.jailed_until = runner.jailed_until.max(Some(until));
        runner.failures = 0;
        self.schedule(until, &Task::JailRelease { runner: address });
        self.emit(Event::RunnerJailed { runner: address, until });
    }

    /// The end of a term: on probation, unless another term still runs.
    pub(crate) fn release_from_jail(&mut self, address: Address) -> u64 {
        let height = self.env.height;
        let Some(mut runner) = self.known(address) else { return 0 };
        if runner.jailed_until.is_none_or(|until| until > height) {
            return 0;
        }
        runner.jailed_until = None;
        runner.failures = 0;
        runner.reputation =
            Reputation { score_sum: 0, weight_sum: PROBATION_WEIGHT, last_update: height.get() };
        self.put_runner(address, runner);
        self.emit(Event::RunnerReleased { runner: address });
        0
    }

    /// Seats a runner. One that had no place free, by terms that held when the candidates were
    /// fixed, may let the job pass without blame.
    pub(crate) fn seat_runner(
        &mut self,
        address: Address,
        job: &Job,
        stakes: Stakes,
    ) -> Option<Seat> {
        let mut runner = self.known(address)?;
        let snapshot = &job.snapshot;
        let before = runner.candidacy.at(Stamp::opening(snapshot.height));
        let before = before.map_or(Amount::ZERO, |candidacy| candidacy.effective_stake);
        let full = runner.open_jobs >= runner.terms.max_concurrent_jobs;
        let seat = Seat {
            runner: address,
            attempt: job.attempt,
            since: snapshot.height,
            reputation_nano: runner.reputation.nano(),
            stake: runner.effective_stake().max(before),
            effective: runner.effective_stake(),
            delegated: runner.delegated.amount,
            commission_bps: runner.terms.commission_bps,
            stakes,
            scored: snapshot.scored,
            overbooked: full && runner.terms.since <= snapshot.height,
            progress: SeatState::Waiting,
        };
        runner.open_jobs += 1;
        runner.open_value = Amount(runner.open_value.get().saturating_add(stakes.value.get()));
        runner.locked = Amount(runner.locked.get().saturating_add(stakes.locked.get()));
        runner.unbonding.begin_duty(seat.since);
        self.put_runner(address, runner);
        Some(seat)
    }

    pub(crate) fn unseat_runner(&mut self, seat: &Seat) {
        let settled = self.settled_candidates();
        self.change_runner(seat.runner, |runner| {
            runner.open_jobs = runner.open_jobs.saturating_sub(1);
            runner.open_value = runner.open_value.minus(seat.stakes.value).unwrap_or_default();
            runner.locked = runner.locked.minus(seat.stakes.locked).unwrap_or_default();
            runner.unbonding.end_duty(seat.since, settled);
        });
    }

    /// Records a crash attestation; raises a flag when there are too many. Says whether it exempts:
    /// once per epoch.
    pub(crate) fn note_crash(&mut self, address: Address) -> bool {
        let height = self.env.height;
        let epoch = height.get() / self.params.epoch_blocks;
        let since = height.minus(self.params.crash_review_blocks);
        let (mut attestations, mut exempt) = (0, false);
        self.change_runner(address, |runner| {
            exempt = runner.exempted_in != Some(epoch);
            runner.exempted_in = Some(epoch);
            runner.crashes.retain(|at| *at > since);
            runner.crashes.truncate(CRASHES_KEPT - 1);
            runner.crashes.push(height);
            attestations = runner.crashes.len() as u64;
        });
        if attestations >= self.params.crash_review_threshold {
            let attestations = attestations as u32;
            self.emit(Event::CrashFlagged { runner: address, attestations });
        }
        exempt
    }
}
