//! Whether the account can pay for what is ahead.
//!
//! ```text
//! accept a job      balance ≥ fees of all open jobs to their end, and of a small answer to this one
//! begin, or commit  balance ≥ fees of this job and of those that have begun, or are committed
//! size of a result  at most what the job pays for, and what the balance covers beside all others
//! ```
//! A job without a commit costs the seat, one without a reveal costs stake. For a larger result the runner
//! submits an excuse.

use super::RunnerCore;
use super::standing::Pause;
use crate::case::alone;
use crate::daemon::fee_budget::{self, FeeBudget, PendingFees, ResultLimit};
use crate::daemon::open_job::{Identity, OpenJob, Work};
use crate::daemon::outbox::{Outbox, Purpose, TxKind};
use remuda_client::money::InCby;
use remuda_client::types::HexAddress;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{Amount, JobId};
use std::collections::BTreeMap;

/// The balance, and what it has to cover.
pub(super) struct Funds<'a> {
    balance: u128,
    budget: FeeBudget,
    identity: &'a Identity,
    jobs: &'a BTreeMap<JobId, OpenJob>,
    outbox: &'a Outbox,
}

impl RunnerCore {
    /// None until a node has reported the account.
    pub(super) fn funds(&self) -> Option<Funds<'_>> {
        let (balance, budget) = self.chain.money?;
        let (identity, jobs, outbox) = (&self.identity, &self.jobs, &self.outbox);
        Some(Funds { balance, budget, identity, jobs, outbox })
    }

    /// What to do about a balance that is too low.
    pub(super) fn short_of_money(&self) -> Option<String> {
        let funds = self.funds()?;
        let least = funds.least(self.pause);
        (funds.balance < least).then(|| {
            let (me, have) = (HexAddress(self.identity.me), InCby(Amount(funds.balance)));
            let least = InCby(Amount(least));
            format!(
                "insufficient balance: account {me} has {have}, at least {least} needed for fees; \
                 send it some. Until then the runner accepts no jobs, and pauses on chain if it can \
                 pay for that"
            )
        })
    }
}

impl Funds<'_> {
    /// The fees that these open jobs may still cost.
    fn owed(&self, counts: impl Fn(&OpenJob) -> bool) -> u128 {
        let open = self.jobs.values().filter(|open| open.checked() && counts(open));
        open.fold(0, |sum, open| sum.saturating_add(open.fees(self.identity, &self.budget)))
    }

    /// Whether one more job can be accepted.
    pub(super) fn cover_new(&self, spec: &JobSpec) -> bool {
        let new = self.budget.job(spec, fee_budget::least(spec), PendingFees::All);
        self.balance >= self.owed(|_| true).saturating_add(new)
    }

    /// The largest result that a job may have. Leaves enough for a small answer in each free slot, and for the
    /// other open jobs.
    pub(super) fn result_limit(&self, job: JobId, slots: usize) -> Option<ResultLimit> {
        let open = self.jobs.get(&job)?;
        let (spec, (_, view)) = (open.spec.as_ref()?, open.view.as_ref()?);
        let max = spec.result_schema.max_return_bytes as usize;
        if alone(spec.verification.mode) {
            return Some(ResultLimit { bytes: max, why: "the job allows no more" });
        }
        let answer = self.budget.job(spec, fee_budget::least(spec), PendingFees::All);
        let busy = self.jobs.values().filter(|open| open.busy()).count();
        let kept = (self.owed(|other| other.job_id != job))
            .saturating_add(self.bound_for_others())
            .saturating_add(answer.saturating_mul(slots.saturating_sub(busy) as u128));
        let covered = self.budget.covered(spec, self.balance.saturating_sub(kept));
        let paid = self.budget.paid(spec, view.committee);
        Some(match covered < paid {
            true => ResultLimit { bytes: covered, why: "the account cannot pay the fees" },
            false => ResultLimit { bytes: paid, why: "the fees exceed what the job pays" },
        })
    }

    /// Whether the work can be paid for beside what has begun.
    pub(super) fn cover_work(&self, job: JobId) -> bool {
        self.cover(job, |open| open.running() || matches!(open.work, Work::Done(_)))
    }

    /// Whether a commit can be paid for beside those that are bound already. Jobs that wait for money do not
    /// count: two of them would wait for each other.
    pub(super) fn cover_commit(&self, job: JobId) -> bool {
        self.cover(job, |open| {
            let sent = |kind| self.outbox.has(&Purpose::Job(open.job_id, open.attempt, kind));
            open.bound(self.identity) || sent(TxKind::Commit) || sent(TxKind::Submit)
        })
    }

    fn cover(&self, job: JobId, counts: impl Fn(&OpenJob) -> bool) -> bool {
        let owed = self.owed(|open| open.job_id == job || counts(open));
        self.balance >= owed.saturating_add(self.bound_for_others())
    }

    /// What aggregates in flight bind beyond the fees of the runner's own results in them.
    fn bound_for_others(&self) -> u128 {
        self.jobs.values().fold(0, |sum, open| {
            let all = Purpose::Job(open.job_id, open.attempt, TxKind::RevealAll);
            let bound = self.outbox.binds(&all).unwrap_or(0);
            sum.saturating_add(bound.saturating_sub(open.fees(self.identity, &self.budget)))
        })
    }

    /// What other jobs still need for transactions that stake depends on and that are not sent yet.
    pub(super) fn kept_for_others(&self, job: JobId) -> u128 {
        self.owed(|open| {
            let sent = |kind| {
                let purpose = Purpose::Job(open.job_id, open.attempt, kind);
                self.outbox.binds(&purpose).is_some()
            };
            let sent = [TxKind::Reveal, TxKind::RevealAll, TxKind::Attest].into_iter().any(sent);
            open.job_id != job && open.bound(self.identity) && !sent
        })
    }

    /// Whether the aggregator's bonus pays for revealing the collected results.
    pub(super) fn bonus_covers(&self, open: &OpenJob) -> bool {
        open.bonus_covers(&self.budget)
    }

    /// For the open jobs, one more, and a pause before the balance is too low for it; during a pause also
    /// for resuming.
    fn least(&self, pause: Pause) -> u128 {
        let pauses = if matches!(pause, Pause::BySelf { .. }) { 2 } else { 1 };
        let spare = self.budget.usual().saturating_add(self.budget.pause().saturating_mul(pauses));
        self.owed(|_| true).saturating_add(spare)
    }

    /// Whether a pause takes nothing that open jobs need.
    pub(super) fn cover_pause(&self) -> bool {
        self.balance >= self.owed(|_| true).saturating_add(self.budget.pause())
    }
}
