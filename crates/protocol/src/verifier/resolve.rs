//! The end of the reveal phase: who stood by its commit, who wins, who does not.

use crate::codec::Bytes;
use crate::dispatcher::job::{Failure, Job, Progress, Status};
use crate::dispatcher::spec::{DataFormat, JobSpec};
use crate::dispatcher::validate::{compile_checks, judged_mode};
use crate::event::Event;
use crate::execute::Exec;
use crate::key::{JobKey, RevealKey};
use crate::primitives::{Address, Amount, BPS, JobId};
use crate::verifier::check::VerifierCheck;
use crate::verifier::decide::{Decision, ResultFormat, Submission, decide};
use crate::verifier::json;
use crate::verifier::settle::Verdict;

/// Bytes of results that make one unit of a block's agenda.
const BYTES_PER_WORK: u64 = 256;

impl Exec<'_> {
    /// Judges a job as soon as nobody is left to reveal; otherwise keeps it as it is.
    pub(crate) fn resolve_if_complete(&mut self, id: &JobId, job: Job) {
        let complete = job.status == Status::Committed
            && !job.taking_part().any(|seat| matches!(seat.progress, Progress::Committed { .. }));
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
            .filter(|seat| matches!(seat.progress, Progress::Committed { .. }))
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
        seat.progress = Progress::Slashed;
        let seat = seat.clone();
        let Some(mut runner) = self.known(who) else { return };
        let part =
            seat.stake.scale(u128::from(self.params.non_reveal_slash_bps), BPS).unwrap_or_default();
        let amount = part.at_most(Amount(self.params.max_non_reveal_slash));
        let amount = self.take_stake(&mut runner, amount, seat.since);
        self.disgrace(who, &mut runner);
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
            job.taking_part().any(|seat| matches!(seat.progress, Progress::Excused { .. }));
        let too_few = (results.len() as u32) < job.n_threshold;
        let valid: Vec<Address> = results
            .iter()
            .filter(|(_, result)| fits_schema(spec, result))
            .map(|(runner, _)| *runner)
            .collect();
        let part = u128::from(self.params.no_agreement_bps) * valid.len() as u128;
        let whole = BPS * u128::from(job.committee.max(1));
        let gross = job.escrow.scale(part, whole).unwrap_or_default();
        // A trial that finds nothing costs nobody anything.
        if job.challenges.is_none() {
            self.pay_without_verdict(id, job, gross, &valid);
        }
        let reason = if excused && too_few { Failure::Excused } else { Failure::NoAgreement };
        self.fail_job(id, job, spec, reason);
    }
}

/// Applies the job's mode to its results, which are in draw order.
fn judge(job: &Job, spec: &JobSpec, results: &[(Address, Bytes)]) -> Option<Verdict> {
    let mode = judged_mode(spec.verification.mode)?;
    let checks = compile_checks(spec).ok()?;
    let submissions: Vec<Submission<'_>> = results
        .iter()
        .filter(|(_, result)| fits_schema(spec, result))
        .map(|(runner, result)| Submission { runner: *runner, result })
        .collect();
    let format = match spec.result_schema.data_format {
        DataFormat::Json => ResultFormat::Json,
        DataFormat::Text | DataFormat::Bytes => ResultFormat::Raw,
    };
    let (m, needed) = (job.committee as usize, job.n_threshold as usize);
    let Decision { winners, agreed } = decide(mode, m, needed, &checks, format, &submissions)?;
    let in_draw_order: Vec<Address> =
        results.iter().map(|(runner, _)| *runner).filter(|r| winners.contains(r)).collect();
    let first = in_draw_order.first()?;
    let (_, result) = results.iter().find(|(runner, _)| runner == first)?;
    let agreed = agreed.map(|value| Bytes(value.canonical().into_bytes()));
    Some(Verdict { winners: in_draw_order.clone(), agreed, result: result.clone() })
}

/// How often a byte of a result is looked at: once to read it, once for each check and field.
pub(crate) fn judging_factor(spec: &JobSpec) -> u64 {
    let fields = spec.verification.checks.iter().map(|check| match check {
        VerifierCheck::StructuredMatch { fields } => fields.len() as u64,
        _ => 1,
    });
    1 + fields.sum::<u64>()
}

/// Whether a result has the size and form that the job declares.
pub(crate) fn fits_schema(spec: &JobSpec, result: &[u8]) -> bool {
    result.len() <= spec.result_schema.max_return_bytes as usize
        && match spec.result_schema.data_format {
            DataFormat::Json => json::parse(result).is_ok(),
            DataFormat::Text => core::str::from_utf8(result).is_ok(),
            DataFormat::Bytes => true,
        }
}
