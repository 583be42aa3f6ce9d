//! Jobs with a single runner: it delivers its result without a commit.

use crate::base::codec::Bytes;
use crate::base::crypto::Signature;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, JobId, keccak256};
use crate::chain::execute::Exec;
use crate::chain::registry::standing::SCORE_FAILED;
use crate::rules::dispatcher::committee::VerificationMode;
use crate::rules::dispatcher::job::{Failure, Job, Seat, SeatState, Status};
use crate::rules::dispatcher::judging::fits_schema;
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::dispatcher::verdict::Verdict;
use crate::rules::event::Event;
use crate::rules::key::JobKey;
use crate::rules::verifier::excuse::{Delivery, Excuse};

impl Exec<'_> {
    pub(crate) fn submit_result(
        &mut self,
        who: Address,
        id: &JobId,
        result: &Delivery,
        signature: &Signature,
    ) -> Result<(), Refusal> {
        let mut job = self.state.get(&JobKey { job: *id }).ok_or(Refusal::UnknownJob)?;
        let status = job.status.clone();
        let (deadline, single) = (job.commit_by, job.committee <= 1);
        let seat = job.seat_of(who).ok_or(Refusal::NotSeated)?;
        if status != Status::Assigned {
            return Err(Refusal::WrongPhase);
        }
        if self.env.height > deadline {
            return Err(Refusal::DeadlinePassed);
        }
        let attempt = seat.attempt;
        if !self.signed_by(who, id, attempt, result, signature) {
            return Err(Refusal::BadResultSignature);
        }
        if !single {
            return Err(Refusal::CommitFirst);
        }
        let spec = self.spec_of(id);
        self.charge(result.len() as u64, 0)?;
        self.sign_of_life(who)?;
        match result {
            Delivery::Excuse { code } => self.excuse_single(id, job, &spec, who, *code),
            Delivery::Result { bytes } => return self.take_result(id, job, &spec, who, bytes),
        }
        Ok(())
    }

    fn take_result(
        &mut self,
        id: &JobId,
        mut job: Job,
        spec: &JobSpec,
        who: Address,
        result: &Bytes,
    ) -> Result<(), Refusal> {
        let result_hash = keccak256(&result[..]);
        self.emit(Event::Revealed { job: *id, runner: who, result_hash });
        if fits_schema(spec, result) {
            seat_mut(&mut job, who).progress = SeatState::Revealed { result_hash };
            let verdict = Verdict { winners: vec![who], agreed: None, result: result.clone() };
            self.settle(id, job, spec, verdict);
        } else {
            // As good as none: another runner gets the seat.
            let seat = seat_mut(&mut job, who);
            seat.progress = SeatState::TimedOut;
            let seat = seat.clone();
            job.excluded.push(who);
            self.emit(Event::ResultRejected { job: *id, runner: who });
            self.unseat_runner(&seat);
            self.score_seat(&seat, SCORE_FAILED);
            self.charge_retry(&job, spec)?;
            self.reselect(id, job);
        }
        Ok(())
    }

    /// The only runner of a job cannot do it. The job ends; what its excuse is worth is paid.
    fn excuse_single(
        &mut self,
        id: &JobId,
        mut job: Job,
        spec: &JobSpec,
        who: Address,
        excuse: Excuse,
    ) {
        seat_mut(&mut job, who).progress = SeatState::Excused { excuse };
        self.emit(Event::ResultExcused { job: *id, runner: who, excuse });
        let bonded = spec.verification.mode == VerificationMode::EconomicBond;
        let gross = excuse.gross(job.escrow, self.params.excuse_bps, bonded);
        self.pay_without_verdict(id, &mut job, gross, &[who]);
        self.fail_job(id, &mut job, spec, Failure::Excused);
    }
}

fn seat_mut(job: &mut Job, who: Address) -> &mut Seat {
    job.seat_of(who).expect("the seat was found before")
}
