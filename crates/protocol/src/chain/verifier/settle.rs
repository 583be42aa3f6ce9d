//! Settlement of a job with winners: pay, scores, the favourite, the callback (SPEC §5–§7).

use crate::base::primitives::{Address, Amount, JobId};
use crate::base::system::TREASURY;
use crate::chain::execute::Exec;
use crate::chain::registry::standing::{SCORE_AGGREGATOR, SCORE_FAILED, SCORE_SETTLED};
use crate::rules::callback::{Deferred, DeferredCall};
use crate::rules::dispatcher::committee::VerificationMode;
use crate::rules::dispatcher::job::{Job, MruRecord, Seat, SeatState, Status};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::dispatcher::verdict::Verdict;
use crate::rules::event::Event;
use crate::rules::key::{MruKey, ResultKey};
use crate::rules::verifier::payout::{PayoutBps, Split, split};
use crate::rules::verifier::settle::VerifiedResult;

impl Exec<'_> {
    pub(crate) fn settle(&mut self, id: &JobId, mut job: Job, spec: &JobSpec, verdict: Verdict) {
        let gross = job.escrow;
        let split = self.split_gross(&mut job, gross, &verdict.winners);
        let (burned, treasury) = (Amount(split.burn), Amount(split.treasury));
        let winners = verdict.winners.clone();
        self.emit(Event::JobSettled { job: *id, winners, gross, burned, treasury });
        let bonded = spec.verification.mode == VerificationMode::EconomicBond;
        for (runner, amount) in split.payouts {
            let amount = Amount(amount);
            let Some(seat) = job.seat_of(runner) else { continue };
            self.pay_seat(id, seat, amount);
            if bonded {
                self.keep_bond(id, seat);
            }
        }
        self.score_seats(id, &job, &verdict.winners);
        self.remember_winner(&job, &verdict);
        let runner = verdict.winners[0];
        let result = VerifiedResult { agreed: verdict.agreed, result: verdict.result, runner };
        self.state.put(&ResultKey { job: *id }, &result);
        self.queue_callback(id, &mut job, spec);
        self.end_job(id, &mut job, Status::Settled);
        if let Some(challenged) = job.challenges {
            self.decide_challenge(&challenged, id, &result);
        }
    }

    /// Takes a gross out of the escrow; burns its part of it, gives the treasury its own, and says
    /// what the runners get.
    fn split_gross(&mut self, job: &mut Job, gross: Amount, runners: &[Address]) -> Split {
        let parts = PayoutBps {
            runners: u32::from(self.params.payout_runners_bps),
            burn: u32::from(self.params.payout_burn_bps),
            treasury: u32::from(self.params.payout_treasury_bps),
            aggregator_bonus: u32::from(self.params.aggregator_bonus_bps),
        };
        let gross = gross.at_most(job.escrow);
        job.escrow = Amount(job.escrow.get() - gross.get());
        let split = split(gross.get(), runners, job.aggregator, &parts)
            .expect("parameters are checked and winners are distinct");
        self.burn(Amount(split.burn));
        self.credit(TREASURY, Amount(split.treasury));
        split
    }

    fn pay_seat(&mut self, id: &JobId, seat: &Seat, amount: Amount) {
        let to_delegators = self.pay_runner(seat, amount);
        self.emit(Event::Paid { job: *id, runner: seat.runner, amount, to_delegators });
    }

    /// Pays runners of a job that ends without a verdict out of a part of its escrow. What is left
    /// goes back when the job ends.
    pub(crate) fn pay_without_verdict(
        &mut self,
        id: &JobId,
        job: &mut Job,
        gross: Amount,
        runners: &[Address],
    ) {
        if gross.is_zero() || runners.is_empty() {
            return;
        }
        // There is no winning group that the aggregator could have brought together.
        job.aggregator = None;
        let split = self.split_gross(job, gross, runners);
        for (runner, amount) in split.payouts {
            if let Some(seat) = job.seat_of(runner) {
                self.pay_seat(id, seat, Amount(amount));
            }
        }
    }

    fn score_seats(&mut self, id: &JobId, job: &Job, winners: &[Address]) {
        for seat in job.taking_part() {
            let won = winners.contains(&seat.runner);
            match seat.progress {
                SeatState::Revealed { .. } if won && job.aggregator == Some(seat.runner) => {
                    self.score_seat(seat, SCORE_AGGREGATOR);
                }
                SeatState::Revealed { .. } if won => self.score_seat(seat, SCORE_SETTLED),
                SeatState::Revealed { .. } => {
                    self.emit(Event::ResultRejected { job: *id, runner: seat.runner });
                    self.score_seat(seat, SCORE_FAILED);
                }
                // An excuse is not scored; an attested crash was scored when it was attested.
                _ => {}
            }
        }
    }

    fn remember_winner(&mut self, job: &Job, verdict: &Verdict) {
        if job.challenges.is_some() {
            return;
        }
        let record =
            MruRecord { runner_address: verdict.winners[0], set_at_block: self.env.height };
        let key = MruKey { submitter: job.submitter, kind: job.kind as u8 };
        self.put_mru(key, &record);
    }

    /// Has the job's callback called in a later block, if there is one.
    pub(crate) fn queue_callback(&mut self, id: &JobId, job: &mut Job, spec: &JobSpec) {
        let Some(callback) = &spec.callback else { return };
        let deposit = core::mem::take(&mut job.callback_deposit);
        self.defer(&DeferredCall {
            actor: callback.actor,
            payer: job.submitter,
            deposit,
            cycles_limit: callback.cycles_limit,
            what: Deferred::Job { job: *id, handler: callback.handler.clone() },
        });
        self.emit(Event::CallbackQueued { job: *id, actor: callback.actor });
    }
}
