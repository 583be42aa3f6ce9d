//! The birth of a run.

use super::record::{Idempotency, JobRecord, RunRecord, Standing};
use crate::id::{Attempt, Fence, JobId, RunId};
use crate::message::RunSubmission;
use crate::time::{LeaseTime, Millis};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rows of a new run. The submission was checked: its needs exist and form no circle.
pub(super) fn rows(
    now: Millis,
    run_id: RunId,
    idempotency: Option<Idempotency>,
    submission: RunSubmission,
    mut next_seq: impl FnMut() -> u64,
) -> (RunRecord, Vec<JobRecord>) {
    let names: BTreeMap<String, JobId> = submission
        .jobs
        .iter()
        .enumerate()
        .map(|(index, job)| (job.name.clone(), JobId::of(&run_id, index)))
        .collect();
    let run = RunRecord {
        run_id: run_id.clone(),
        name: submission.name,
        created_at: now,
        idempotency,
        rerun_of: None,
        rerun_for: None,
        rerun_by: None,
        max_parallel: submission.max_parallel,
        in_use: 0,
        open: u32::try_from(submission.jobs.len()).unwrap_or(u32::MAX),
        failed: 0,
        dead_letters: 0,
        canceled: 0,
        ended_at: None,
    };
    let jobs = submission.jobs.into_iter().enumerate().map(|(index, order)| {
        let needs: Vec<JobId> =
            order.needs.iter().filter_map(|name| names.get(name).cloned()).collect();
        JobRecord {
            job_id: JobId::of(&run_id, index),
            run_id: run_id.clone(),
            seq: next_seq(),
            needs_open: u32::try_from(needs.len()).unwrap_or(u32::MAX),
            needs,
            attempt: Attempt::FIRST,
            fence: Fence(0),
            losses: 0,
            returns: 0,
            not_before: LeaseTime(0),
            not_after: order.start_within_seconds.map(|within| now.plus_seconds(within)),
            order: Arc::new(order),
            standing: Standing::Queued,
        }
    });
    (run, jobs.collect())
}
