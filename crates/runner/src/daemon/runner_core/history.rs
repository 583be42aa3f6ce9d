//! Jobs that are over: which of them to recognise, and what the operator sees of them.

use super::Payout;
use crate::case::End;
use crate::daemon::status::{FalseAssignmentView, FinishedView, REMEMBERED, TotalsView};
use remuda_client::types::{BigUint, HexHash, Uint};
use remuda_link::sign::ValidatorKey;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::JobId;
use std::collections::{BTreeSet, VecDeque};

/// Finished jobs that are recognised when a late validator pushes them again.
const DONE_MAX: usize = 4_096;
/// Refused jobs that are shown. Validators can make up any number of them.
const REFUSED_MAX: usize = 10;
const REFUSED: &str = "refused";

#[derive(Debug, Default)]
pub(super) struct History {
    done: BTreeSet<(JobId, u32)>,
    /// The same, oldest first.
    done_order: VecDeque<(JobId, u32)>,
    /// Newest first.
    pub(super) finished: VecDeque<FinishedView>,
    pub(super) totals: TotalsView,
    /// Newest first.
    pub(super) false_assignments: VecDeque<FalseAssignmentView>,
}

pub(super) fn kind_name(spec: Option<&JobSpec>) -> Option<String> {
    spec.map(|spec| format!("{:?}", spec.job_type.kind()))
}

impl History {
    pub(super) fn is_done(&self, job: JobId, attempt: u32) -> bool {
        self.done.contains(&(job, attempt))
    }

    fn show(
        &mut self,
        (job, attempt): (JobId, u32),
        spec: Option<&JobSpec>,
        end: String,
        why: Option<String>,
        height: u64,
    ) {
        let (job, kind, height) = (HexHash(job), kind_name(spec), Uint(height));
        let view = FinishedView { job, attempt, kind, end, why, height, paid: None };
        self.finished.push_front(view);
        self.finished.truncate(REMEMBERED);
    }

    /// Shows the operator a refused job. `false` if it is shown already, however many validators push it.
    pub(super) fn refused(
        &mut self,
        (job, attempt): (JobId, u32),
        spec: Option<&JobSpec>,
        why: String,
        height: u64,
    ) -> bool {
        let is_refused = |view: &FinishedView| view.end == REFUSED;
        let same = |view: &FinishedView| (view.job.0, view.attempt) == (job, attempt);
        if self.finished.iter().any(|view| is_refused(view) && same(view)) {
            return false;
        }
        let count = self.finished.iter().filter(|view| is_refused(view)).count();
        if count >= REFUSED_MAX
            && let Some(oldest) = self.finished.iter().rposition(is_refused)
        {
            self.finished.remove(oldest);
        }
        self.show((job, attempt), spec, REFUSED.to_owned(), Some(why), height);
        true
    }

    pub(super) fn closed(
        &mut self,
        id: (JobId, u32),
        spec: Option<&JobSpec>,
        end: End,
        why: Option<String>,
        height: u64,
    ) {
        if self.done.insert(id) {
            self.done_order.push_back(id);
        }
        if self.done_order.len() > DONE_MAX {
            self.done_order.pop_front().inspect(|oldest| _ = self.done.remove(oldest));
        }
        let (total, text) = match end {
            End::Settled => (&mut self.totals.settled, "settled".to_owned()),
            End::Failed(reason) => (&mut self.totals.failed, format!("failed: {reason:?}")),
            End::Cancelled => (&mut self.totals.failed, "cancelled".to_owned()),
            End::Unseated => (&mut self.totals.missed, "lost its seat".to_owned()),
            End::Missed => (&mut self.totals.missed, "missed".to_owned()),
        };
        total.0 += 1;
        self.show(id, spec, text, why, height);
    }

    pub(super) fn paid(&mut self, job: JobId, attempt: u32, payout: Payout) {
        let Payout { amount, why, outvoted } = payout;
        self.totals.paid = BigUint(self.totals.paid.0.saturating_add(amount));
        self.totals.outvoted.0 += u64::from(outvoted);
        let mut finished = self.finished.iter_mut();
        let same = finished.find(|view| view.job.0 == job && view.attempt == attempt);
        let Some(view) = same else { return };
        view.paid = Some(BigUint(amount));
        if outvoted {
            view.end = format!("{}, outvoted", view.end);
        }
        // The chain's reason, then the runner's own.
        view.why = match (why, view.why.take()) {
            (Some(why), Some(known)) => Some(format!("{why}; {known}")),
            (why, known) => why.or(known),
        };
    }

    pub(super) fn false_assignment(
        &mut self,
        validator: ValidatorKey,
        job: JobId,
        reason: &str,
        height: u64,
    ) {
        self.false_assignments.push_front(FalseAssignmentView {
            validator: HexHash(validator.into()),
            job: HexHash(job),
            reason: reason.to_owned(),
            height: Uint(height),
        });
        self.false_assignments.truncate(REMEMBERED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_protocol::primitives::B256;

    fn id(number: u32) -> (JobId, u32) {
        let bytes: [u8; 32] = std::array::from_fn(|i| number.to_be_bytes()[i % 4]);
        (B256::from(bytes), 0)
    }

    #[test]
    fn finished_jobs_are_recognised_up_to_a_limit() {
        let mut history = History::default();
        for number in 0..=DONE_MAX as u32 {
            history.closed(id(number), None, End::Settled, None, 100);
        }
        assert!(!history.is_done(id(0).0, 0), "the oldest is forgotten");
        assert!(history.is_done(id(1).0, 0) && history.is_done(id(DONE_MAX as u32).0, 0));
        assert_eq!((history.finished.len(), history.totals.settled.0), (REMEMBERED, 4_097));
    }

    #[test]
    fn refused_jobs_are_shown_once_and_do_not_displace_others() {
        let mut history = History::default();
        history.closed(id(0), None, End::Missed, None, 100);
        for number in 1..100 {
            assert!(history.refused(id(number), None, "full".to_owned(), 100));
            assert!(!history.refused(id(number), None, "full".to_owned(), 100));
        }
        assert_eq!(history.finished.len(), 1 + REFUSED_MAX);
        assert_eq!(history.finished.back().unwrap().end, "missed");
        assert_eq!(history.finished.front().unwrap().job.0, id(99).0);
    }

    #[test]
    fn payout_completes_the_record_of_its_job() {
        let mut history = History::default();
        history.closed(id(1), None, End::Settled, Some("slow".to_owned()), 100);
        let payout = Payout { amount: 7, why: Some("differed".to_owned()), outvoted: true };
        history.paid(id(1).0, 0, payout);
        let view = &history.finished[0];
        assert_eq!((view.end.as_str(), view.paid), ("settled, outvoted", Some(BigUint(7))));
        assert_eq!(view.why.as_deref(), Some("differed; slow"));
        assert_eq!((history.totals.paid, history.totals.outvoted), (BigUint(7), Uint(1)));
    }
}
