//! Reveals: by the aggregator for all, or by each runner for itself (SPEC §5).

use crate::base::crypto::Signature;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, B256, JobId, keccak256};
use crate::chain::execute::Exec;
use crate::rules::dispatcher::job::{Job, SeatState, Status};
use crate::rules::dispatcher::judging::judging_cycles;
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::event::Event;
use crate::rules::key::{JobKey, RevealKey};
use crate::rules::transaction::Reveal;
use crate::rules::verifier::excuse::Delivery;

/// What a reveal turned out to be.
enum Opening {
    Matches,
    Invalid,
}

impl Exec<'_> {
    /// A runner opens its own result. If it is not what it committed to, that is its own doing:
    /// it is slashed, as if it had not revealed.
    pub(crate) fn reveal_own(
        &mut self,
        who: Address,
        id: &JobId,
        reveal: &Reveal,
    ) -> Result<(), Refusal> {
        let (mut job, spec) = self.revealing(id)?;
        if reveal.runner != who {
            return Err(Refusal::NotSeated);
        }
        let (expected, attempt) = awaited(&mut job, who)?;
        self.charge_reveal(&spec, reveal)?;
        self.sign_of_life(who)?;
        match self.open_commitment(id, attempt, expected, reveal) {
            Opening::Matches => self.accept(id, &mut job, &spec, reveal),
            Opening::Invalid => self.slash_seat(id, &mut job, who, true),
        }
        self.resolve_if_complete(id, job);
        Ok(())
    }

    /// The aggregator opens several results. Another's result that does not match proves nothing
    /// about that other, so then nothing happens at all.
    pub(crate) fn reveal_all(
        &mut self,
        who: Address,
        id: &JobId,
        reveals: &[Reveal],
    ) -> Result<(), Refusal> {
        let (mut job, spec) = self.revealing(id)?;
        if job.aggregator != Some(who) {
            return Err(Refusal::NotAggregator);
        }
        if reveals.is_empty() {
            return Err(Refusal::NoReveals);
        }
        let mut accepted = 0;
        for reveal in reveals {
            let (expected, attempt) = match awaited(&mut job, reveal.runner) {
                // It may have revealed by itself a moment ago.
                Err(Refusal::AlreadyRevealed) => continue,
                other => other?,
            };
            self.charge_reveal(&spec, reveal)?;
            match self.open_commitment(id, attempt, expected, reveal) {
                Opening::Matches => self.accept(id, &mut job, &spec, reveal),
                Opening::Invalid => return Err(Refusal::InvalidReveal),
            }
            accepted += 1;
        }
        if accepted == 0 {
            return Err(Refusal::AlreadyRevealed);
        }
        self.sign_of_life(who)?;
        self.resolve_if_complete(id, job);
        Ok(())
    }

    fn revealing(&self, id: &JobId) -> Result<(Job, JobSpec), Refusal> {
        let job = self.state.get(&JobKey { job: *id }).ok_or(Refusal::UnknownJob)?;
        if job.status != Status::Committed {
            return Err(Refusal::WrongPhase);
        }
        if self.env.height > job.reveal_by {
            return Err(Refusal::DeadlinePassed);
        }
        Ok((job, self.spec_of(id)))
    }

    /// A result pays for being judged when it comes, by its size and the number of checks.
    fn charge_reveal(&mut self, spec: &JobSpec, reveal: &Reveal) -> Result<(), Refusal> {
        self.charge(judging_cycles(spec, reveal.result.len()), 0)
    }

    fn open_commitment(
        &self,
        id: &JobId,
        attempt: u32,
        expected: B256,
        reveal: &Reveal,
    ) -> Opening {
        let chain_id = self.params.chain_id;
        let Reveal { runner, result, salt, result_sig } = reveal;
        let actual = result.commitment(chain_id, *id, attempt, *runner, salt, &result_sig.bytes);
        if actual == expected && self.signed_by(*runner, id, attempt, result, result_sig) {
            Opening::Matches
        } else {
            Opening::Invalid
        }
    }

    pub(crate) fn signed_by(
        &self,
        runner: Address,
        id: &JobId,
        attempt: u32,
        result: &Delivery,
        signature: &Signature,
    ) -> bool {
        let digest = result.digest(self.params.chain_id, *id, attempt, runner);
        signature.recover_address(&digest) == Ok(runner)
    }

    fn accept(&mut self, id: &JobId, job: &mut Job, spec: &JobSpec, reveal: &Reveal) {
        let runner = reveal.runner;
        let progress = match &reveal.result {
            Delivery::Excuse { code } => {
                self.emit(Event::ResultExcused { job: *id, runner, excuse: *code });
                SeatState::Excused { excuse: *code }
            }
            Delivery::Result { bytes } => {
                // A result over the agreed size is known by its hash alone, and wins nothing.
                if bytes.len() <= spec.result_schema.max_return_bytes as usize {
                    self.state.put(&RevealKey { job: *id, runner }, bytes);
                }
                let result_hash = keccak256(&bytes[..]);
                self.emit(Event::Revealed { job: *id, runner, result_hash });
                SeatState::Revealed { result_hash }
            }
        };
        if let Some(seat) = job.seat_of(runner) {
            seat.progress = progress;
        }
    }
}

/// The commitment that a runner has still to open, and the attempt it was made in.
fn awaited(job: &mut Job, runner: Address) -> Result<(B256, u32), Refusal> {
    let seat = job.seat_of(runner).ok_or(Refusal::NotSeated)?;
    match seat.progress {
        SeatState::Committed { commitment, .. } => Ok((commitment, seat.attempt)),
        SeatState::Revealed { .. } | SeatState::Excused { .. } => Err(Refusal::AlreadyRevealed),
        _ => Err(Refusal::NothingCommitted),
    }
}
