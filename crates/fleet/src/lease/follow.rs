//! What follows when a job leaves its lease or ends: limits have room again, others need it no more.

use super::event::Action;
use super::handle::Transition;
use super::record::{EndReason, JobRecord, Outcome, Standing};
use super::retry;
use super::rows::Rows;
use super::state::AttemptState;

impl<R: Rows> Transition<'_, R> {
    /// A job begins (1) or ceases (-1) to count against the limits of its run and its labels.
    pub(super) fn occupy(&mut self, job: &JobRecord, change: i32) {
        if let Some(mut run) = self.rows.run(&job.run_id) {
            run.in_use = run.in_use.saturating_add_signed(change);
            self.rows.put_run(run);
        }
        for label in &job.order.labels {
            let mut label = self.rows.label(label);
            label.in_use = label.in_use.saturating_add_signed(change);
            self.rows.put_label(label);
        }
    }

    /// The job's lease is over: the job waits again, or has ended.
    pub(super) fn released(&mut self, job: JobRecord) {
        self.occupy(&job, -1);
        self.actions.push(Action::Room);
        match job.standing {
            Standing::Ended(_) => self.ended(job),
            _ => {
                self.ready(&job);
                self.rows.put_job(job);
            }
        }
    }

    /// The job has ended, and with it perhaps others that need it, and the run.
    pub(super) fn ended(&mut self, job: JobRecord) {
        let mut ended = vec![job];
        while let Some(job) = ended.pop() {
            let Some(outcome) = job.outcome().cloned() else { continue };
            let job_id = job.job_id.clone();
            self.count(&job, &outcome);
            self.rows.put_job(job);
            for id in self.rows.dependents(&job_id) {
                let dependent = self.rows.job(&id).filter(|d| d.standing == Standing::Queued);
                let Some(mut dependent) = dependent else { continue };
                if outcome.status == AttemptState::Succeeded {
                    dependent.needs_open = dependent.needs_open.saturating_sub(1);
                    self.ready(&dependent);
                    self.rows.put_job(dependent);
                } else if !ended.iter().any(|job| job.job_id == id) {
                    let reason = EndReason::NeedFailed;
                    retry::end(&mut dependent, AttemptState::Canceled, reason, &self.now);
                    ended.push(dependent);
                }
            }
            self.actions.push(Action::JobEnded(job_id, outcome));
        }
    }

    pub(super) fn ready(&mut self, job: &JobRecord) {
        if job.waiting() {
            self.actions.push(Action::Ready {
                job_id: job.job_id.clone(),
                tags: job.order.tags.clone(),
                pause_ms: job.not_before.0.saturating_sub(self.now.lease.0),
            });
        }
    }

    fn count(&mut self, job: &JobRecord, outcome: &Outcome) {
        let Some(mut run) = self.rows.run(&job.run_id) else { return };
        run.open = run.open.saturating_sub(1);
        match outcome.status {
            AttemptState::Succeeded => {}
            AttemptState::Canceled => run.canceled += 1,
            _ => run.failed += 1,
        }
        run.dead_letters += u32::from(outcome.dead_letter);
        if run.open == 0 {
            run.ended_at = Some(self.now.wall);
            self.actions.push(Action::RunEnded(run.run_id.clone(), run.status()));
        }
        self.rows.put_run(run);
    }
}
