//! Whether there is money for what is ahead.
//!
//! New jobs are taken if all open ones can be paid for to their end, and an answer to one more. Work
//! begins, and a commit is sent, only if its reveal can be paid for beside those that are owed already:
//! without a commit a seat is lost, without a reveal stake is. When work begins it is decided how large a
//! result may be, by what the job pays and by what is there; for a larger one an excuse is given.

use super::Desk;
use super::state::Pause;
use crate::case::alone;
use crate::daemon::open::Open;
use crate::daemon::purse::{self, Ahead, Most, Purse};
use crate::daemon::sender::{Deed, Purpose};
use crate::journal::Stage;
use remuda_client::money::InCby;
use remuda_client::types::HexAddress;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{Amount, JobId};

impl Desk {
    /// What the open jobs may still cost, as far as they are such.
    fn owed(&self, counts: impl Fn(&Open) -> bool) -> u128 {
        let Some((_, purse)) = &self.chain.money else { return 0 };
        let open = self.jobs.values().filter(|open| open.checked && counts(open));
        open.fold(0, |sum, open| sum.saturating_add(open.fees(&self.identity, purse)))
    }

    /// Whether a job that is not taken yet could be paid for beside all others.
    pub(super) fn affords(&self, spec: &JobSpec) -> bool {
        let Some((balance, purse)) = &self.chain.money else { return false };
        let new = purse.job(spec, purse::least(spec), Ahead::All);
        *balance >= self.owed(|_| true).saturating_add(new)
    }

    /// How large a job's result may be. For each place that is free an answer can be paid for
    /// afterwards, and what others have begun, or wait for, is not touched.
    pub(super) fn most(&self, job: JobId) -> Option<Most> {
        let (balance, purse) = self.chain.money.as_ref()?;
        let open = self.jobs.get(&job)?;
        let (spec, (_, view)) = (open.spec.as_ref()?, open.view.as_ref()?);
        let all = spec.result_schema.max_return_bytes as usize;
        if alone(spec.verification.mode) {
            return Some(Most { bytes: all, why: "the job allows no more" });
        }
        let answer = purse.job(spec, purse::least(spec), Ahead::All);
        let free = (self.rules.slots as usize).saturating_sub(self.busy());
        let kept = (self.owed(|other| other.job_id != job))
            .saturating_add(self.bound_for_others())
            .saturating_add(answer.saturating_mul(free as u128));
        let covered = purse.covered(spec, balance.saturating_sub(kept));
        let paid = purse.paid(spec, view.committee);
        Some(match covered < paid {
            true => Most { bytes: covered, why: "its account has no money for their fees" },
            false => Most { bytes: paid, why: "their fees are more than the job pays for them" },
        })
    }

    /// Whether a job's work can be paid for beside what has begun.
    pub(super) fn affords_work(&self, job: JobId) -> bool {
        self.covers(job, |open| open.working || matches!(open.stage, Stage::Done(_)))
    }

    /// Whether a job can be committed to beside what is bound already: two that wait for money must
    /// not wait for each other.
    pub(super) fn affords_commit(&self, job: JobId) -> bool {
        self.covers(job, |open| {
            let sent = |deed| self.outbox.has(&Purpose::Job(open.job_id, open.attempt, deed));
            open.bound(&self.identity) || sent(Deed::Commit) || sent(Deed::Submit)
        })
    }

    fn covers(&self, job: JobId, counts: impl Fn(&Open) -> bool) -> bool {
        let Some((balance, _)) = &self.chain.money else { return false };
        let owed = self.owed(|open| open.job_id == job || counts(open));
        *balance >= owed.saturating_add(self.bound_for_others())
    }

    /// What aggregates on their way bind beyond what the runner's own results in them may cost.
    fn bound_for_others(&self) -> u128 {
        let Some((_, purse)) = &self.chain.money else { return 0 };
        self.jobs.values().fold(0, |sum, open| {
            let all = Purpose::Job(open.job_id, open.attempt, Deed::RevealAll);
            let bound = self.outbox.binds(&all).unwrap_or(0);
            let own = open.fees(&self.identity, purse);
            sum.saturating_add(bound.saturating_sub(own))
        })
    }

    /// What jobs other than this one still need for what stake depends on, as far as that is not on
    /// its way.
    pub(super) fn kept_for_others(&self, job: JobId) -> u128 {
        self.owed(|open| {
            let sent = |deed| {
                let purpose = Purpose::Job(open.job_id, open.attempt, deed);
                self.outbox.binds(&purpose).is_some()
            };
            let sent = [Deed::Reveal, Deed::RevealAll, Deed::Attest].into_iter().any(sent);
            open.job_id != job && open.bound(&self.identity) && !sent
        })
    }

    /// What it should have at least: for its open jobs, for one more, and to pause before it is too
    /// poor for that; and if it has paused, to come back.
    fn least(&self, purse: &Purse) -> u128 {
        let pauses = if matches!(self.pause, Pause::On { .. }) { 2 } else { 1 };
        let spare = purse.usual().saturating_add(purse.pause().saturating_mul(pauses));
        self.owed(|_| true).saturating_add(spare)
    }

    /// Whether a pause takes nothing that open jobs need.
    pub(super) fn affords_pause(&self) -> bool {
        let affords = |(balance, purse): &(u128, Purse)| {
            *balance >= self.owed(|_| true).saturating_add(purse.pause())
        };
        self.chain.money.as_ref().is_some_and(affords)
    }

    /// What to do about too little money, if there is too little.
    pub(super) fn short_of_money(&self) -> Option<String> {
        let (balance, purse) = self.chain.money.as_ref()?;
        let least = self.least(purse);
        (*balance < least).then(|| {
            let (me, have) = (HexAddress(self.identity.me), InCby(Amount(*balance)));
            let least = InCby(Amount(least));
            format!(
                "account {me} has {have}; keep at least {least} for fees: send it some. Until then \
                 it takes no new jobs, and pauses on chain if it can pay for that"
            )
        })
    }
}
