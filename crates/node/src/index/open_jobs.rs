//! Jobs by the runners that sit on them.

use crate::history::Finalised;
use remuda_protocol::dispatcher::job::{Job, Status};
use remuda_protocol::event::Event;
use remuda_protocol::key::JobKey;
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::state::{MemoryState, read};
use std::collections::BTreeSet;
use std::ops::Bound;

/// Follows from the state; in memory, since it holds only what is not over.
#[derive(Debug, Default)]
pub struct OpenJobs(BTreeSet<(Address, JobId)>);

impl OpenJobs {
    pub fn of(state: &MemoryState) -> Self {
        let range = (Bound::Included(vec![JobKey::TAG]), Bound::Excluded(vec![JobKey::TAG + 1]));
        let ids =
            state.entries().range(range).filter_map(|(key, _)| JobId::try_from(key.get(1..)?).ok());
        let open = ids.filter_map(|job| Some((job, read(state, &JobKey { job })?)));
        let open = open.filter(|(_, record): &(JobId, Job)| !is_over(&record.status));
        Self(
            open.flat_map(|(job, record)| {
                record.seats.into_iter().map(move |seat| (seat.runner, job))
            })
            .collect(),
        )
    }

    /// Takes in a block and the state after it. The same block again changes nothing.
    pub fn apply(&mut self, finalised: &Finalised, state: &MemoryState) {
        for event in finalised.receipts.iter().flat_map(|receipt| &receipt.events) {
            match event {
                Event::JobAssigned { job, runners, .. } => {
                    self.0.extend(runners.iter().map(|runner| (*runner, *job)));
                }
                Event::JobSettled { job, .. }
                | Event::JobFailed { job, .. }
                | Event::JobCancelled { job, .. } => {
                    let seats = read(state, &JobKey { job: *job }).map(|job: Job| job.seats);
                    for seat in seats.unwrap_or_default() {
                        self.0.remove(&(seat.runner, *job));
                    }
                }
                _ => {}
            }
        }
    }

    /// Jobs that a runner sits on.
    pub fn of_runner(&self, runner: Address) -> Vec<JobId> {
        let jobs = (runner, JobId::ZERO)..=(runner, JobId::repeat_byte(0xff));
        self.0.range(jobs).map(|(_, job)| *job).collect()
    }
}

fn is_over(status: &Status) -> bool {
    matches!(status, Status::Settled | Status::Failed { .. } | Status::Cancelled)
}
