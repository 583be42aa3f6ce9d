//! Jobs with a single runner: it delivers its result without a commit.

use crate::codec::Bytes;
use crate::crypto::Signature;
use crate::dispatcher::job::{Progress, Status};
use crate::error::Refusal;
use crate::event::Event;
use crate::execute::Exec;
use crate::key::JobKey;
use crate::primitives::{Address, JobId, keccak256};
use crate::registry::standing::SCORE_FAILED;
use crate::verifier::resolve::fits_schema;
use crate::verifier::settle::Verdict;

impl Exec<'_> {
    pub(crate) fn submit_result(
        &mut self,
        who: Address,
        id: &JobId,
        result: &Bytes,
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
        let result_hash = keccak256(&result[..]);
        self.emit(Event::Revealed { job: *id, runner: who, result_hash });
        if fits_schema(&spec, result) {
            seat_mut(&mut job, who).progress = Progress::Revealed { result_hash };
            let verdict = Verdict { winners: vec![who], agreed: None, result: result.clone() };
            self.settle(id, job, &spec, verdict);
        } else {
            // As good as none: somebody else gets the seat.
            seat_mut(&mut job, who).progress = Progress::TimedOut;
            job.excluded.push(who);
            self.emit(Event::ResultRejected { job: *id, runner: who });
            self.unseat_runner(who, spec.max_price);
            self.score(who, SCORE_FAILED, spec.max_price);
            self.charge_retry(&job, &spec)?;
            self.reselect(id, job);
        }
        Ok(())
    }
}

fn seat_mut(
    job: &mut crate::dispatcher::job::Job,
    who: Address,
) -> &mut crate::dispatcher::job::Seat {
    job.seat_of(who).expect("the seat was found before")
}
