//! The end of the reveal phase: slashes commits without a reveal, and settles the winners.

use crate::base::codec::Bytes;
use crate::base::primitives::{Address, Amount, BPS, JobId};
use crate::chain::execute::Exec;
use crate::rules::dispatcher::job::{Failure, Job, SeatState, Status};
use crate::rules::dispatcher::judging::{fits_schema, judging_factor};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::dispatcher::verdict::judge;
use crate::rules::event::Event;
use crate::rules::key::{JobKey, RevealKey};

/// Bytes of results that make one unit of a block's agenda.
const BYTES_PER_WORK: u64 = 256;

impl Exec<'_> {
    /// Judges a job once no reveal is outstanding; otherwise keeps it as it is.
    pub(crate) fn resolve_if_complete(&mut self, id: &JobId, job: Job) {
        let complete = job.status == Status::Committed
            && !job.taking_part().any(|seat| matches!(seat.progress, SeatState::Committed { .. }));
        if complete {
            self.resolve(id, job);
        } else {
            self.state.put(&JobKey { job: *id }, &job);
        }
    }

    pub(crate) fn reveal_deadline(&mut self, id: &JobId, attempt: u32) -> u64 {
        let Some(mut job) = self.state.get(&JobKey { job: *id }) else { return 0 };
        if job.status != Status::Committed || job.attempt != attempt {
            return 0;
        }
        let silent: Vec<Address> = job
            .taking_part()
            .filter(|seat| matches!(seat.progress, SeatState::Committed { .. }))
            .map(|seat| seat.runner)
            .collect();
        for runner in silent {
            self.slash_seat(id, &mut job, runner, false);
        }
        self.resolve(id, job)
    }

    /// Commit without a valid reveal: stake, reputation and freedom (SPEC §6, §7).
    pub(crate) fn slash_seat(&mut self, id: &JobId, job: &mut Job, who: Address, invalid: bool) {
        let Some(seat) = job.seat_of(who) else { return };
        seat.progress = SeatState::Slashed;
        let seat = seat.clone();
        let Some(mut runner) = self.known(who) else { return };
        let part =
            seat.stake.scale(u128::from(self.params.non_reveal_slash_bps), BPS).unwrap_or_default();
        let amount = part.at_most(Amount(self.params.max_non_reveal_slash));
        let amount = self.take_stake(&mut runner, amount, seat.since);
        self.zero_reputation_and_jail(who, &mut runner);
        self.put_runner(who, runner);
        self.unseat_runner(&seat);
        self.distribute_slash(amount, job.submitter);
        self.emit(match invalid {
            true => Event::InvalidRevealSlash { job: *id, runner: who, amount },
            false => Event::NonRevealSlash { job: *id, runner: who, amount },
        });
    }

    /// Decides and settles. Returns the work it took.
    fn resolve(&mut self, id: &JobId, mut job: Job) -> u64 {
        let (spec, reading) = self.read_spec(id);
        let results: Vec<(Address, Bytes)> = job
            .taking_part()
            .filter_map(|seat| {
                let key = RevealKey { job: *id, runner: seat.runner };
                self.state.get(&key).map(|result| (seat.runner, result))
            })
            .collect();
        let bytes: u64 = results.iter().map(|(_, result)| result.len() as u64).sum();
        match judge(&job, &spec, &results) {
            Some(verdict) => self.settle(id, job, &spec, verdict),
            None => self.fail_without_verdict(id, &mut job, &spec, &results),
        }
        reading + bytes * judging_factor(&spec) / BYTES_PER_WORK
    }

    /// Nobody wins, and no reputation changes. A valid result is paid a part of the least that its seat
    /// would have earned; otherwise a vote on whole texts would get all of them for nothing. The part is of
    /// the seat's own price, however few other results there are, so that spoiling a vote never pays more
    /// than winning it.
    fn fail_without_verdict(
        &mut self,
        id: &JobId,
        job: &mut Job,
        spec: &JobSpec,
        results: &[(Address, Bytes)],
    ) {
        let excused =
            job.taking_part().any(|seat| matches!(seat.progress, SeatState::Excused { .. }));
        let too_few = (results.len() as u32) < job.n_threshold;
        let valid: Vec<Address> = results
            .iter()
            .filter(|(_, result)| fits_schema(spec, result))
            .map(|(runner, _)| *runner)
            .collect();
        let part = u128::from(self.params.no_agreement_bps) * valid.len() as u128;
        let whole = BPS * u128::from(job.committee.max(1));
        let gross = job.escrow.scale(part, whole).unwrap_or_default();
        // A trial without a verdict costs neither side anything.
        if job.challenges.is_none() {
            self.pay_without_verdict(id, job, gross, &valid);
        }
        let reason = if excused && too_few { Failure::Excused } else { Failure::NoAgreement };
        self.fail_job(id, job, spec, reason);
    }
}
