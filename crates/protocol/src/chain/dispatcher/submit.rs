//! Submission, cancellation and failure of jobs: where their money comes and goes.

use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256, BPS, Height, JobId};
use crate::chain::execute::Exec;
use crate::rules::agenda::work_of_bytes;
use crate::rules::dispatcher::job::{Failure, Job, SeatState, Snapshot, Status};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::dispatcher::validate::{normalise, validate};
use crate::rules::event::Event;
use crate::rules::fees::cost;
use crate::rules::key::{JobKey, JobSpecKey, PinnedExecutorKey, RevealKey};

/// A job that is about to be opened; its money has been taken.
pub(crate) struct NewJob {
    pub(crate) id: JobId,
    pub(crate) submitter: Address,
    pub(crate) spec: JobSpec,
    pub(crate) escrow: Amount,
    pub(crate) callback_deposit: Amount,
    pub(crate) callback_max_fee: u128,
    pub(crate) excluded: Vec<Address>,
    pub(crate) challenges: Option<JobId>,
}

impl Exec<'_> {
    pub(crate) fn submit_job(
        &mut self,
        submitter: Address,
        id: JobId,
        mut spec: JobSpec,
        callback_max_fee: u128,
    ) -> Result<(), Refusal> {
        normalise(&mut spec, self.params);
        let pinned = |hash: &B256| self.state.get(&PinnedExecutorKey { hash: *hash }).is_some();
        validate(&spec, self.params, pinned)?;

        let escrow = spec.max_price.plus(spec.tip).ok_or(Refusal::AmountOverflow)?;
        let callback_cycles = spec.callback.as_ref().map_or(0, |callback| callback.cycles_limit);
        let callback_deposit =
            cost(callback_cycles, callback_max_fee).ok_or(Refusal::AmountOverflow)?;
        let total = escrow.plus(callback_deposit).ok_or(Refusal::AmountOverflow)?;
        if let Some(callback) = &spec.callback {
            self.may_call_back(submitter, callback.actor, &callback.handler)?;
        }
        self.debit(submitter, total).map_err(|_| Refusal::EscrowNotCovered)?;

        self.emit(Event::JobSubmitted { job: id, submitter, escrow });
        self.open_job(NewJob {
            id,
            submitter,
            spec,
            escrow,
            callback_deposit,
            callback_max_fee,
            excluded: Vec::new(),
            challenges: None,
        })
    }

    /// Writes the job and fixes its candidates.
    pub(crate) fn open_job(&mut self, new: NewJob) -> Result<(), Refusal> {
        let NewJob { id, submitter, spec, escrow, .. } = new;
        self.state.put(&JobSpecKey { job: id }, &spec);
        let job = Job {
            submitter,
            submitted_at: self.env.height,
            kind: spec.job_type.kind(),
            status: Status::Pending { view: 0 },
            attempt: 0,
            committee: 0,
            n_threshold: 0,
            snapshot: Snapshot::default(),
            seed: B256::ZERO,
            seats: Vec::new(),
            excluded: new.excluded,
            aggregator: None,
            commit_by: Height::ZERO,
            aggregator_until: Height::ZERO,
            reveal_by: Height::ZERO,
            closed_at: None,
            escrow,
            callback_deposit: new.callback_deposit,
            callback_max_fee: new.callback_max_fee,
            challenges: new.challenges,
        };
        self.first_selection(id, job, &spec)
    }

    pub(crate) fn cancel_job(&mut self, who: Address, id: &JobId) -> Result<(), Refusal> {
        let mut job = self.state.get(&JobKey { job: *id }).ok_or(Refusal::UnknownJob)?;
        if job.submitter != who || job.challenges.is_some() {
            return Err(Refusal::NotYourJob);
        }
        let untouched = job.seats.iter().all(|seat| seat.progress == SeatState::Waiting);
        // The seed of a view can be known in that view, whether or not a block has it by then.
        let drawable = |view: u64| self.env.view >= view;
        let cost = match job.status {
            Status::Pending { view } if job.attempt == 0 && !drawable(view) => Amount::ZERO,
            Status::Pending { .. } if job.attempt == 0 && job.committee > 1 => {
                self.burn_share(job.escrow)
            }
            // A single runner's result may already be public in a mempool.
            Status::Assigned if untouched && job.committee > 1 => self.burn_share(job.escrow),
            _ => return Err(Refusal::TooLateToCancel),
        };
        job.escrow = Amount(job.escrow.get() - cost.get());
        self.burn(cost);
        self.emit(Event::JobCancelled { job: *id, burned: cost });
        self.end_job(id, &mut job, Status::Cancelled);
        Ok(())
    }

    /// Calling off a drawn committee costs the burned part of the price: drawing again and again
    /// until friends are seated is not free.
    fn burn_share(&self, escrow: Amount) -> Amount {
        escrow.scale(u128::from(self.params.payout_burn_bps), BPS).unwrap_or_default()
    }

    /// Ends a job without a result: refunds its price and queues its callback.
    pub(crate) fn fail_job(&mut self, id: &JobId, job: &mut Job, spec: &JobSpec, reason: Failure) {
        self.emit(Event::JobFailed { job: *id, reason });
        self.queue_callback(id, job, spec);
        self.end_job(id, job, Status::Failed { reason });
        if let Some(challenged) = job.challenges {
            self.challenge_undecided(&challenged, id);
        }
    }

    /// The last step of every job: frees seats, refunds what is left, writes the end.
    pub(crate) fn end_job(&mut self, id: &JobId, job: &mut Job, status: Status) {
        for seat in job.taking_part() {
            self.unseat_runner(seat);
            self.state.remove(&RevealKey { job: *id, runner: seat.runner });
        }
        let left = core::mem::take(&mut job.escrow);
        let deposit = core::mem::take(&mut job.callback_deposit);
        let amount = Amount(left.get() + deposit.get());
        if !amount.is_zero() {
            self.credit(job.submitter, amount);
            self.emit(Event::Refunded { job: *id, to: job.submitter, amount });
        }
        job.status = status;
        self.state.put(&JobKey { job: *id }, job);
        self.forget_job_later(*id);
        self.job_ended(id);
    }

    /// Every job has its specification beside it.
    pub(crate) fn spec_of(&self, id: &JobId) -> JobSpec {
        self.read_spec(id).0
    }

    /// The specification, and the work of reading it.
    pub(crate) fn read_spec(&self, id: &JobId) -> (JobSpec, u64) {
        let read = self.state.get_sized(&JobSpecKey { job: *id });
        let (spec, bytes) = read.expect("a job is stored with its specification");
        (spec, work_of_bytes(bytes))
    }
}
