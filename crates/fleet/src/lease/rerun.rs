//! A run once more.

use super::event::Reply;
use super::handle::Transition;
use super::record::JobRecord;
use super::refusal::Refusal;
use super::rows::Rows;
use crate::id::{Fence, RunId};
use crate::message::{JobSubmission, Label, RunSubmission};

impl<R: Rows> Transition<'_, R> {
    /// The submitter of the old run owns the new one, even if an operator asks for it: the steps are the submitter's,
    /// and so are the caches that they read.
    pub(super) fn rerun(
        &mut self,
        of: RunId,
        run_id: RunId,
        key: Option<String>,
        priority_max: i16,
        label: Option<Label>,
    ) -> Result<Reply, Refusal> {
        let mut old = self.rows.run(&of).ok_or(Refusal::UnknownRun)?;
        // The same request again. Orders never change, so nothing of them need be looked at.
        let known = key.as_ref().and_then(|key| self.rows.run_by_key(key));
        if let Some(run) = known.as_ref().filter(|run| run.rerun_of.as_ref() == Some(&of)) {
            return Ok(Reply::Submitted { run_id: run.run_id.clone(), before: true });
        }
        let jobs: Vec<_> =
            self.rows.jobs_of(&of).iter().filter_map(|id| self.rows.job(id)).collect();
        let begun = |job: &JobRecord| job.outcome().is_none() || job.fence > Fence(0);
        let once = jobs.iter().any(|job| job.order.retry.once);
        // Two that repeat it would both begin it.
        if once
            && (old.rerun_by.is_some() || jobs.iter().any(|job| job.order.retry.once && begun(job)))
        {
            return Err(Refusal::OnceOnly);
        }
        // The token of the original submission may have allowed a higher priority.
        let orders = jobs.iter().map(|job| {
            let mut order = JobSubmission::clone(&job.order);
            order.priority = order.priority.min(priority_max);
            order.labels.extend(label.clone());
            order
        });
        let submission = RunSubmission {
            name: old.name.clone(),
            max_parallel: old.max_parallel,
            jobs: orders.collect(),
        };
        let reply = self.submit(run_id, Some(&old), key, submission)?;
        if let (true, Reply::Submitted { run_id, before: false }) = (once, &reply) {
            old.rerun_by = Some(run_id.clone());
            self.rows.put_run(old);
        }
        Ok(reply)
    }
}
