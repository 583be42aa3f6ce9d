//! One event, whole: reads rows, lets the decisions decide, writes rows, follows up.

use super::clock::LeaseClock;
use super::event::{Action, Event, Handled, Reply};
use super::expiry::{self, expiry};
use super::finish::{self, BodyHash, repeated};
use super::keep::Left;
use super::policy::Policy;
use super::record::{Idempotency, JobRecord, LeaseRecord, RunRecord, Standing, WorkerRecord};
use super::refusal::Refusal;
use super::rows::Rows;
use super::state::LeaseState;
use super::{beat, cancel, grant, keep, retry, submit};
use crate::id::{CancelToken, LeaseId, RunId, RunnerId};
use crate::message::{
    AckLease, CancelAck, CancelAckAck, CancelReason, Complete, CompleteAck, Heartbeat,
    LeaseRequest, LogChunk, NoWork, Progress, RunSubmission, StaleLease, StaleReason, Tag,
    UploadRequest,
};
use crate::time::Millis;
use std::collections::BTreeSet;

/// Jobs that nobody wants any more which one question for work ends at most.
const LATE_MAX: usize = 256;

/// Decides about an event. `now` is the store's clock; how much time has passed for leases says the rows' lease clock.
pub fn handle<R: Rows>(rows: &mut R, policy: &Policy, now: Millis, event: Event) -> Handled {
    let mut clock = rows.clock();
    match event {
        Event::Start => clock.start(now),
        _ => clock.observe(now, policy.outage_after()),
    }
    rows.set_clock(clock);
    let mut transition = Transition { rows, policy, now: clock, actions: Vec::new() };
    Handled { reply: transition.event(event), actions: transition.actions }
}

pub(super) struct Transition<'a, R> {
    pub(super) rows: &'a mut R,
    pub(super) policy: &'a Policy,
    pub(super) now: LeaseClock,
    pub(super) actions: Vec<Action>,
}

impl<R: Rows> Transition<'_, R> {
    fn event(&mut self, event: Event) -> Result<Reply, Refusal> {
        let reason = event.reason();
        match event {
            Event::Start => Ok(Reply::Done),
            Event::Sweep => Ok(self.sweep()),
            Event::Submit { run_id, key, submission } => self.submit(run_id, None, key, submission),
            Event::Rerun { of, run_id, key, priority_max, label } => {
                self.rerun(of, run_id, key, priority_max, label)
            }
            Event::CancelRun { run_id } => {
                self.rows.run(&run_id).ok_or(Refusal::UnknownRun)?;
                for job_id in self.rows.jobs_of(&run_id) {
                    if let Some(job) = self.rows.job(&job_id) {
                        self.cancel(job, reason);
                    }
                }
                Ok(Reply::Done)
            }
            Event::CancelJob { job_id } => {
                let job = self.rows.job(&job_id).ok_or(Refusal::UnknownJob)?;
                self.cancel(job, reason);
                Ok(Reply::Done)
            }
            Event::SetLimit { label, limit } => {
                let mut label = self.rows.label(&label);
                label.limit = limit;
                if label.has_room() {
                    self.actions.push(Action::Room);
                }
                self.rows.put_label(label);
                Ok(Reply::Done)
            }
            Event::Lease { lease_id, cancel_token, request } => {
                self.lease(lease_id, cancel_token, request)
            }
            Event::Ack(message) => self.ack(&message),
            Event::Heartbeat(message) => self.heartbeat(&message),
            Event::Complete(message) => self.complete(&message),
            Event::CancelAck(message) => self.cancel_ack(&message),
            Event::Log(chunk) => self.log(&chunk),
            Event::Upload(request) => self.upload(&request),
            Event::Store { lease_id, runner_id, path } => {
                let lease = self.live(&lease_id, &runner_id)?;
                keep::stored(&lease, &path).map(|bytes_max| Reply::MayStore { bytes_max })
            }
            Event::Forget { keep_seconds } => Ok(self.forget(keep_seconds)),
            Event::Enrol(worker) => self.enrol(worker),
            Event::Expel(id) => {
                let mut worker = self.rows.worker(&id).ok_or(Refusal::UnknownWorker)?;
                worker.expelled_at.get_or_insert(self.now.wall);
                self.rows.put_worker(worker);
                Ok(Reply::Done)
            }
        }
    }

    fn sweep(&mut self) -> Reply {
        let most = self.policy.sweep_lapses_max;
        let due = self.rows.due(self.now.lease, most);
        for id in &due {
            if let Some(lease) = self.rows.lease(id) {
                self.expired(lease);
            }
        }
        // Those that nobody asks for end, too.
        let late = self.rows.late(self.now.wall, most);
        for job in &late {
            self.rows.job(job).into_iter().for_each(|job| self.late(job));
        }
        Reply::Swept { expired: due.len(), more: due.len() == most || late.len() == most }
    }

    /// The lease as it is now: if its time is over, it ends here and now.
    fn expired(&mut self, mut lease: LeaseRecord) -> LeaseRecord {
        let Some(expiry) = expiry(&self.now, &lease) else { return lease };
        let Some(mut job) = self.rows.job(&lease.job_id) else { return lease };
        expiry::apply(self.policy, &self.now, expiry, &mut lease, &mut job);
        self.rows.put_lease(lease.clone());
        self.released(job);
        lease
    }

    /// The lease that a message is about, if it is this runner's.
    fn found(&mut self, id: &LeaseId, runner: &RunnerId) -> Result<LeaseRecord, Refusal> {
        let lease = self.rows.lease(id).ok_or_else(|| {
            Refusal::Stale(StaleLease::new(id.clone(), StaleReason::UnknownLease))
        })?;
        if lease.runner_id != *runner {
            return Err(Refusal::WrongRunner);
        }
        Ok(self.expired(lease))
    }

    /// The same, if it gives rights.
    fn live(&mut self, id: &LeaseId, runner: &RunnerId) -> Result<LeaseRecord, Refusal> {
        let lease = self.found(id, runner)?;
        self.alive(lease)
    }

    fn alive(&self, lease: LeaseRecord) -> Result<LeaseRecord, Refusal> {
        if lease.state.live() {
            return Ok(lease);
        }
        let newer = self.rows.job(&lease.job_id).is_some_and(|job| job.fence > lease.fence);
        let reason = match lease.state {
            _ if newer => StaleReason::Superseded,
            LeaseState::Expired => StaleReason::LeaseExpired,
            _ => StaleReason::LeaseRevoked,
        };
        Err(Refusal::Stale(StaleLease::new(lease.lease_id, reason)))
    }

    pub(super) fn submit(
        &mut self,
        run_id: RunId,
        old: Option<&RunRecord>,
        key: Option<String>,
        submission: RunSubmission,
    ) -> Result<Reply, Refusal> {
        let rerun_of = old.map(|old| old.run_id.clone());
        let hash = BodyHash::of(&submission);
        if let Some(before) = key.as_ref().and_then(|key| self.rows.run_by_key(key)) {
            let same = before.idempotency.is_some_and(|i| i.hash == hash);
            let run_id = before.run_id;
            return match same && before.rerun_of == rerun_of {
                true => Ok(Reply::Submitted { run_id, before: true }),
                false => Err(Refusal::Conflict("submission with this key")),
            };
        }
        if self.rows.run(&run_id).is_some() {
            return Err(Refusal::Conflict("run with this id"));
        }
        if self.rows.bytes() >= self.policy.rows_bytes_max {
            return Err(Refusal::Full);
        }
        let idempotency = key.map(|key| Idempotency { key, hash });
        let own = idempotency.as_ref().and_then(Idempotency::submitter);
        let submitter = old.and_then(RunRecord::submitter).or(own);
        let rerun_for = submitter.filter(|_| submitter != own).map(str::to_owned);
        let share = self.policy.rows_bytes_max / 2;
        if submitter.is_some_and(|submitter| self.rows.open_bytes_of(submitter) >= share) {
            return Err(Refusal::Full);
        }
        let sets = submitter.map_or(0, |submitter| self.rows.tag_sets_of(submitter));
        if sets >= self.policy.tag_sets_max {
            return Err(Refusal::TagsFull);
        }
        let rows = &mut *self.rows;
        let (mut run, jobs) =
            submit::rows(self.now.wall, run_id.clone(), idempotency, submission, || {
                rows.next_seq()
            });
        (run.rerun_of, run.rerun_for) = (rerun_of, rerun_for);
        self.rows.put_run(run);
        for job in jobs {
            self.ready(&job);
            self.rows.put_job(job);
        }
        Ok(Reply::Submitted { run_id, before: false })
    }

    fn cancel(&mut self, mut job: JobRecord, reason: CancelReason) {
        match job.standing.clone() {
            Standing::Ended(_) => {}
            Standing::Queued => {
                cancel::queued(&self.now, &mut job);
                self.ended(job);
            }
            Standing::Held(id) => {
                let Some(mut lease) = self.rows.lease(&id) else { return };
                // Somebody whose time is over is not asked; the job is, once more.
                if expiry(&self.now, &lease).is_some() {
                    self.expired(lease);
                    let again = self.rows.job(&job.job_id);
                    return again.into_iter().for_each(|job| self.cancel(job, reason));
                }
                let asked = cancel::held(self.policy, &self.now, reason, &mut lease, &mut job);
                let runner = lease.runner_id.clone();
                self.rows.put_lease(lease);
                match asked {
                    Some(message) => self.actions.push(Action::Cancel(runner, message)),
                    None => self.released(job),
                }
            }
        }
    }

    fn lease(
        &mut self,
        lease_id: LeaseId,
        cancel_token: Option<CancelToken>,
        request: LeaseRequest,
    ) -> Result<Reply, Refusal> {
        // Checked at the grant: a machine may be expelled while its request for work waits.
        let machine = request.runner_id.key().and_then(|key| self.rows.worker(&key));
        if machine.is_some_and(|machine| machine.expelled_at.is_some()) {
            return Err(Refusal::Expelled);
        }
        let held = self.rows.live_lease_of(&request.runner_id).map(|lease| self.expired(lease));
        if let Some(lease) = held.filter(|lease| lease.state.live()) {
            // The answer was lost: the runner must not be locked out by what it never saw.
            let job = self.rows.job(&lease.job_id).ok_or(Refusal::UnknownJob)?;
            return match lease.state {
                // It expires soon, and the job with it.
                LeaseState::Granted if job.too_late(self.now.wall) => Ok(self.no_work()),
                LeaseState::Granted => {
                    Ok(Reply::Granted(Box::new(grant::granted(self.policy, &job, &lease))))
                }
                _ => Err(Refusal::RunnerBusy),
            };
        }
        if self.rows.lease(&lease_id).is_some() {
            return Err(Refusal::Conflict("lease with this id"));
        }
        let Some(mut job) = self.next_job(&request.capabilities) else {
            return Ok(self.no_work());
        };
        let runner = request.runner_id;
        let mut lease =
            grant::grant(self.policy, &self.now, &mut job, runner, lease_id, cancel_token);
        lease.cache_scope = self.rows.run(&job.run_id).and_then(|run| run.cache_scope());
        let granted = grant::granted(self.policy, &job, &lease);
        self.occupy(&job, 1);
        self.rows.put_job(job);
        self.rows.put_lease(lease);
        Ok(Reply::Granted(Box::new(granted)))
    }

    fn no_work(&self) -> Reply {
        let retry_after_seconds = self.policy.retry_after_seconds;
        Reply::NoWork(NoWork { retry_after_seconds })
    }

    /// The next job that is still wanted. Those before it that are not end here.
    fn next_job(&mut self, capabilities: &BTreeSet<Tag>) -> Option<JobRecord> {
        for _ in 0..LATE_MAX {
            let picked = self.rows.pick(self.now.lease, capabilities)?;
            let job = self.rows.job(&picked)?;
            if !job.too_late(self.now.wall) {
                return Some(job);
            }
            self.late(job);
        }
        // The rest is for the next who asks, and that should be soon.
        self.actions.push(Action::Room);
        None
    }

    /// Nobody wants it any more.
    fn late(&mut self, mut job: JobRecord) {
        retry::late(&self.now, &mut job);
        self.ended(job);
    }

    fn ack(&mut self, message: &AckLease) -> Result<Reply, Refusal> {
        let mut lease = self.live(&message.lease_id, &message.runner_id)?;
        let job = self.rows.job(&lease.job_id).ok_or(Refusal::UnknownJob)?;
        // Before its first acknowledgement a worker has not begun the job. The lease expires, and the job with it.
        if lease.state == LeaseState::Granted && job.too_late(self.now.wall) {
            return Err(Refusal::TooLate);
        }
        let runtime = job.order.max_runtime_seconds;
        let reply = beat::ack(self.policy, &self.now, &mut lease, runtime, message)?;
        self.rows.put_lease(lease);
        Ok(Reply::Acked(reply))
    }

    fn heartbeat(&mut self, message: &Heartbeat) -> Result<Reply, Refusal> {
        let mut lease = self.live(&message.lease_id, &message.runner_id)?;
        let reply = beat::heartbeat(&self.now, &mut lease, message)?;
        if message.progress.as_ref().is_some_and(Progress::is_large) && !self.remembers(&lease) {
            lease.progress = None;
        }
        self.rows.put_lease(lease);
        Ok(Reply::Beat(reply))
    }

    fn complete(&mut self, message: &Complete) -> Result<Reply, Refusal> {
        let lease = self.found(&message.lease_id, &message.runner_id)?;
        let ack = CompleteAck { lease_id: message.lease_id.clone(), accepted: true };
        let hash = BodyHash::of(message);
        if let Some(answer) = repeated(&lease, hash) {
            return answer.map(|()| Reply::Completed(ack));
        }
        let mut lease = self.alive(lease)?;
        let mut job = self.rows.job(&lease.job_id).ok_or(Refusal::UnknownJob)?;
        if message.output.is_some() && !job.is_call() {
            return Err(Refusal::NoCall);
        }
        let remembers = self.remembers(&lease);
        // Only the hash of what there is no room for is kept.
        let rest = (!remembers
            && finish::is_large(&message.artifacts, &message.summary, message.output.as_ref()))
        .then(|| finish::without_results(message));
        let kept = rest.as_ref().unwrap_or(message);
        // Nor are jobs given back again and again then: each time is a row.
        let returns_max = if remembers { self.policy.returns_max } else { 0 };
        let policy = Policy { returns_max, ..self.policy.clone() };
        finish::complete(&policy, &self.now, &mut lease, &mut job, (kept, hash))?;
        if !remembers && job.outcome().is_none() {
            finish::forget_results(&mut lease);
        }
        self.rows.put_lease(lease);
        self.released(job);
        Ok(Reply::Completed(ack))
    }

    fn cancel_ack(&mut self, message: &CancelAck) -> Result<Reply, Refusal> {
        let lease = self.found(&message.lease_id, &message.runner_id)?;
        let ack = CancelAckAck { lease_id: message.lease_id.clone(), accepted: true };
        if let Some(answer) = repeated(&lease, BodyHash::of(message)) {
            return answer.map(|()| Reply::Canceled(ack));
        }
        let mut lease = self.alive(lease)?;
        let mut job = self.rows.job(&lease.job_id).ok_or(Refusal::UnknownJob)?;
        let hash = BodyHash::of(message);
        let large = finish::is_large(&message.artifacts, &message.summary, None);
        finish::cancel_ack(&self.now, &mut lease, &mut job, (message, hash))?;
        if large && !self.remembers(&lease) {
            finish::forget_results(&mut lease);
        }
        self.rows.put_lease(lease);
        self.released(job);
        Ok(Reply::Canceled(ack))
    }

    fn log(&mut self, chunk: &LogChunk) -> Result<Reply, Refusal> {
        let mut lease = self.live(&chunk.lease_id, &chunk.runner_id)?;
        let most = self.policy.logs_bytes_max;
        let left = Left {
            all: most.saturating_sub(self.rows.log_bytes()),
            own: keep::share(most).saturating_sub(self.kept_bytes(&lease).0),
        };
        let (ack, new) = keep::log(self.policy, left, &mut lease, chunk)?;
        if new {
            self.rows.append_log(&lease, chunk);
            self.rows.put_lease(lease);
        }
        Ok(Reply::Logged(ack))
    }

    /// Whether there is room for what a lease brings besides its end. Open runs of one submitter have three quarters
    /// of it: half of it is for what they submit, and some of the rest for what comes of that.
    fn remembers(&self, lease: &LeaseRecord) -> bool {
        let most = self.policy.rows_bytes_max;
        let run = self.rows.run(&lease.run_id);
        let submitter = run.as_ref().and_then(RunRecord::submitter);
        let own = submitter.map_or(0, |submitter| self.rows.open_bytes_of(submitter));
        self.rows.bytes() < most && own < keep::share(most)
    }

    /// Logs and objects of all runs of a lease's submitter, if it is known who that is.
    fn kept_bytes(&self, lease: &LeaseRecord) -> (u64, u64) {
        let run = self.rows.run(&lease.run_id);
        let submitter = run.as_ref().and_then(RunRecord::submitter);
        submitter.map_or((0, 0), |submitter| self.rows.kept_bytes_of(submitter))
    }

    /// A key that is known stays as it is: one that was expelled does not come back by itself.
    fn enrol(&mut self, mut worker: WorkerRecord) -> Result<Reply, Refusal> {
        match self.rows.worker(&worker.key.id()) {
            Some(known) if known.expelled_at.is_some() => Err(Refusal::Expelled),
            Some(_) => Ok(Reply::Done),
            None => {
                worker.enrolled_at = self.now.wall;
                self.rows.put_worker(worker);
                Ok(Reply::Done)
            }
        }
    }

    fn upload(&mut self, request: &UploadRequest) -> Result<Reply, Refusal> {
        let mut lease = self.live(&request.lease_id, &request.runner_id)?;
        let share = keep::share(self.policy.objects_bytes_max);
        let left = share.saturating_sub(self.kept_bytes(&lease).1);
        let granted = keep::upload(self.policy, &self.now, left, &mut lease, request)?;
        self.rows.put_lease(lease);
        Ok(Reply::Upload(granted))
    }
}
