//! The same where several ask at the same time: what is decided while another is written.

use super::super::common::{run_id, runner_id};
use super::super::plan::Op;
use super::super::{Place, naive};
use super::{Checked, Oracle, about, bits, ends, label, order, tag};
use futures::future::join_all;
use proptest::prop_assert;
use proptest::test_runner::TestCaseError;
use remuda_fleet::id::{CancelToken, LeaseId};
use remuda_fleet::lease::{Event, Handled, Refusal, Reply};
use remuda_fleet::message::LeaseRequest;
use remuda_fleet::store::Store;
use std::collections::BTreeSet;

/// Turns that one waits after the one before it: some come before the first of them is being written, and the
/// others meanwhile.
const TURNS_APART: usize = 3;

impl<P: Place> Oracle<P> {
    /// Asks for all of it together. What cannot be compared that way comes after it.
    pub async fn together(&mut self, ops: Vec<Op>) -> Checked {
        let (mut events, mut alone) = (vec![], vec![]);
        for op in ops {
            match self.one_of_many(&op) {
                Some(event) => events.push(event),
                None => alone.push(op),
            }
        }
        let store = self.store.as_ref().expect("it is there");
        let asked = events.iter().enumerate().map(async |(n, event): (usize, &Event)| {
            for _ in 0..n * TURNS_APART {
                tokio::task::yield_now().await;
            }
            store.handle(self.now, event.clone()).await
        });
        let fail = |error| TestCaseError::fail(format!("{error}"));
        let answers = join_all(asked).await;
        self.tables = store.snapshot().await.map_err(fail)?;
        self.observe();
        self.compare_ends()?;
        naive::account(&self.tables, &self.policy)?;
        let answers: Vec<Handled> = answers.into_iter().collect::<Result<_, _>>().map_err(fail)?;
        self.compare_finals(&events, &answers)?;
        for handled in answers {
            if let Ok(Reply::Submitted { run_id, before }) = &handled.reply {
                prop_assert!(!before);
                self.runs.push(run_id.clone());
            }
            if let Ok(Reply::Granted(granted)) = &handled.reply {
                let kept = self.tables.leases().find(|lease| lease.lease_id == granted.lease_id);
                prop_assert!(kept.is_some_and(|lease| lease.fence == granted.fence), "{granted:?}");
            }
        }
        for op in alone {
            self.perform(op).await?;
        }
        Ok(())
    }

    /// The same final messages get the same answers here, too. But nobody knows which of those that came together was
    /// decided about first: what is refused may have come before the acknowledgement, or before the cancellation.
    fn compare_finals(&mut self, events: &[Event], answers: &[Handled]) -> Checked {
        let before: BTreeSet<LeaseId> = self.accepted.keys().cloned().collect();
        let mut all: Vec<_> = events.iter().zip(answers).collect();
        // What was accepted is known before it is asked what became of the rest.
        all.sort_by_key(|(_, handled)| handled.reply.is_err());
        for (event, handled) in all {
            let open = ends(event).is_some_and(|lease| !before.contains(lease));
            let early = matches!(handled.reply, Err(Refusal::NotAcked | Refusal::NotCanceled));
            if !(open && early) {
                self.compare_final(event, handled)?;
            }
        }
        Ok(())
    }

    fn one_of_many(&mut self, op: &Op) -> Option<Event> {
        match op {
            Op::Submit(jobs, max_parallel, _) => {
                let mut submission = order(jobs);
                submission.max_parallel = *max_parallel;
                self.wanted += 1;
                Some(Event::Submit { run_id: run_id(self.wanted - 1), key: None, submission })
            }
            Op::Ask(runner, tags) => {
                self.leases += 1;
                let request = LeaseRequest {
                    runner_id: runner_id(&runner.to_string()),
                    capabilities: bits(*tags, tag),
                    max_wait_seconds: 0,
                };
                let lease_id = super::lease_id(self.leases - 1);
                let cancel_token = CancelToken::new("cancel_x").ok();
                Some(Event::Lease { lease_id, cancel_token, request })
            }
            Op::Ack(n)
            | Op::Beat(n, _)
            | Op::Complete(n, ..)
            | Op::CancelAck(n)
            | Op::Upload(n) => self.lease(*n).map(|lease| about(&lease, op.clone())),
            Op::CancelRun(n) if !self.runs.is_empty() => {
                Some(Event::CancelRun { run_id: self.some_run(*n) })
            }
            Op::Limit(n, limit) => Some(Event::SetLimit { label: label(*n), limit: *limit }),
            Op::Pass(seconds, true) => {
                self.now = self.now.plus_seconds((*seconds).into());
                Some(Event::Sweep)
            }
            _ => None,
        }
    }
}
