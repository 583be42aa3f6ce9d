//! Settlement of a job with winners: pay, scores, the favourite, the callback (SPEC §5–§7).

use crate::callback::{Deferred, DeferredCall};
use crate::codec::{Bytes, codec_struct};
use crate::dispatcher::committee::VerificationMode;
use crate::dispatcher::job::{Job, MruRecord, Progress, Status};
use crate::dispatcher::spec::JobSpec;
use crate::event::Event;
use crate::execute::Exec;
use crate::key::{MruKey, ResultKey};
use crate::primitives::{Address, Amount, JobId};
use crate::registry::standing::{SCORE_AGGREGATOR, SCORE_FAILED, SCORE_SETTLED};
use crate::system::TREASURY;
use crate::verifier::payout::{PayoutBps, split};

/// What the verifier found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// In draw order, at least one.
    pub(crate) winners: Vec<Address>,
    /// Canonical JSON of what they agree on.
    pub(crate) agreed: Option<Bytes>,
    /// The whole result of the first of them.
    pub(crate) result: Bytes,
}

/// What a callback gets, and anybody can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedResult {
    /// Canonical JSON of the fields that the winners agree on.
    pub agreed: Option<Bytes>,
    /// The whole result of the first winner in draw order: that runner's word.
    pub result: Bytes,
    /// That runner.
    pub runner: Address,
}
codec_struct!(VerifiedResult { agreed, result, runner });

impl Exec<'_> {
    pub(crate) fn settle(&mut self, id: &JobId, mut job: Job, spec: &JobSpec, verdict: Verdict) {
        let gross = core::mem::take(&mut job.escrow);
        let parts = PayoutBps {
            runners: u32::from(self.params.payout_runners_bps),
            burn: u32::from(self.params.payout_burn_bps),
            treasury: u32::from(self.params.payout_treasury_bps),
            aggregator_bonus: u32::from(self.params.aggregator_bonus_bps),
        };
        let split = split(gross.get(), &verdict.winners, job.aggregator, &parts)
            .expect("parameters are checked and winners are distinct");
        let (burned, treasury) = (Amount(split.burn), Amount(split.treasury));
        self.burn(burned);
        self.credit(TREASURY, treasury);
        let winners = verdict.winners.clone();
        self.emit(Event::JobSettled { job: *id, winners, gross, burned, treasury });
        let bonded = spec.verification.mode == VerificationMode::EconomicBond;
        for (runner, amount) in split.payouts {
            let amount = Amount(amount);
            let Some(seat) = job.seat_of(runner) else { continue };
            if bonded {
                self.pay_bonded(id, seat, amount, spec.max_price);
                continue;
            }
            let to_delegators = self.pay_runner(seat, amount);
            self.emit(Event::Paid { job: *id, runner, amount, to_delegators });
        }
        self.score_seats(id, &job, spec, &verdict.winners);
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

    fn score_seats(&mut self, id: &JobId, job: &Job, spec: &JobSpec, winners: &[Address]) {
        let price = spec.max_price;
        for seat in job.taking_part() {
            let won = winners.contains(&seat.runner);
            match seat.progress {
                Progress::Revealed { .. } if won && job.aggregator == Some(seat.runner) => {
                    self.score(seat.runner, SCORE_AGGREGATOR, price);
                }
                Progress::Revealed { .. } if won => self.score(seat.runner, SCORE_SETTLED, price),
                Progress::Revealed { .. } => {
                    self.emit(Event::ResultRejected { job: *id, runner: seat.runner });
                    self.score(seat.runner, SCORE_FAILED, price);
                }
                // An attested crash was scored when it was attested.
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
        self.state.put(&key, &record);
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
