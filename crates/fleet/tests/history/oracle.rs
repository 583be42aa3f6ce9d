//! Remembers what was answered and what was final, and compares.

#[path = "together.rs"]
mod together;

use super::common::{
    cancel_ack, complete, heartbeat, job, lease_id, run_id, runner_id, submission,
};
use super::plan::{JobPlan, Op};
use super::{Place, naive};
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use remuda_fleet::id::{CancelToken, JobId, LeaseId, RunId, RunnerId};
use remuda_fleet::lease::{
    Event, Handled, LeaseClock, LeaseRecord, LeaseState, Outcome, Policy, Refusal, Reply,
    Rows as _, expiry,
};
use remuda_fleet::message::{
    AckLease, CompleteStatus, Label, LeaseRequest, LogChunk, Retry, RunSubmission, Tag,
    UploadRequest,
};
use remuda_fleet::store::{Store, Tables};
use remuda_fleet::time::Millis;
use std::collections::{BTreeMap, BTreeSet};

type Checked = Result<(), TestCaseError>;

pub(super) struct Oracle<P: Place> {
    /// None only while it restarts.
    store: Option<P::Store>,
    policy: Policy,
    now: Millis,
    /// The lease clock, as it should be.
    clock: LeaseClock,
    /// Rows after the last event.
    tables: Tables,
    /// Runs as they are called there, and how many were wanted.
    runs: Vec<RunId>,
    wanted: u64,
    leases: u64,
    /// How jobs ended. Never changes.
    outcomes: BTreeMap<JobId, Outcome>,
    /// Leases that ended. They never change.
    ended: BTreeMap<LeaseId, LeaseRecord>,
    /// Final messages that were accepted, with their answers.
    accepted: BTreeMap<LeaseId, (Event, Reply)>,
    logs: BTreeMap<LeaseId, Vec<u8>>,
}

fn bits<T: Ord>(bits: u8, make: impl Fn(u8) -> T) -> BTreeSet<T> {
    (0..8).filter(|bit| bits & (1 << bit) != 0).map(make).collect()
}

fn tag(n: u8) -> Tag {
    Tag::new(&format!("tag{n}")).expect("a tag")
}

fn label(n: u8) -> Label {
    Label::new(&format!("label{n}")).expect("a label")
}

fn order(jobs: &[JobPlan]) -> RunSubmission {
    let orders = jobs.iter().enumerate().map(|(index, plan)| {
        let mut order = job(&format!("j{index}"));
        let earlier = bits(plan.needs, |bit| bit);
        let earlier = earlier.into_iter().filter(|bit| usize::from(*bit) < index);
        order.needs = earlier.map(|bit| format!("j{bit}")).collect();
        order.tags = bits(plan.tags, tag);
        order.labels = bits(plan.labels, label);
        order.priority = plan.priority;
        order.max_runtime_seconds = plan.runtime;
        let max_attempts = plan.attempts;
        let on_timeout = plan.on_timeout;
        order.retry = Retry { max_attempts, backoff_seconds: 5, on_timeout, ..Retry::default() };
        order
    });
    submission(orders.collect())
}

impl<P: Place> Oracle<P> {
    pub async fn new(policy: Policy) -> Self {
        let now = Millis(1_000_000);
        let mut clock = LeaseClock::default();
        clock.start(now);
        Self {
            store: Some(P::open(now).await),
            policy,
            now,
            clock,
            tables: Tables::default(),
            runs: vec![],
            wanted: 0,
            leases: 0,
            outcomes: BTreeMap::new(),
            ended: BTreeMap::new(),
            accepted: BTreeMap::new(),
            logs: BTreeMap::new(),
        }
    }

    /// An event, with the accounts before and after.
    async fn send(&mut self, event: Event) -> Result<Handled, TestCaseError> {
        let fail = |error| TestCaseError::fail(format!("{error}"));
        let store = self.store.as_ref().expect("it is there");
        let handled = store.handle(self.now, event.clone()).await.map_err(fail)?;
        let before = std::mem::take(&mut self.tables);
        self.tables = store.snapshot().await.map_err(fail)?;
        let open = store.open_jobs(usize::from(u16::MAX)).await.map_err(fail)?;
        prop_assert_eq!(open, self.tables.open_jobs(usize::from(u16::MAX)), "what is open");
        self.observe();
        self.compare(&before, &event, &handled)?;
        naive::account(&self.tables, &self.policy)?;
        Ok(handled)
    }

    fn observe(&mut self) {
        self.clock.observe(self.now, self.policy.outage_after());
    }

    /// As it will be when something is decided now.
    fn reading(&self) -> LeaseClock {
        let mut clock = self.clock;
        clock.observe(self.now, self.policy.outage_after());
        clock
    }

    fn compare(&mut self, before: &Tables, event: &Event, handled: &Handled) -> Checked {
        self.compare_ends()?;
        prop_assert_eq!(before.leases().count() as u64 <= self.leases, true);
        self.compare_final(event, handled)?;
        self.compare_refused(before, event, handled)
    }

    /// What is refused changes nothing, unless time alone has something to change.
    fn compare_refused(&self, before: &Tables, event: &Event, handled: &Handled) -> Checked {
        let expired = before.leases().any(|lease| expiry(&self.clock, lease).is_some());
        if handled.reply.is_err() && !expired {
            let same = unseen(before) == unseen(&self.tables);
            prop_assert!(same, "{event:?} was refused, yet changed something: {handled:?}");
        }
        Ok(())
    }

    fn compare_ends(&mut self) -> Checked {
        for job in self.tables.jobs() {
            let outcome = job.outcome();
            if let Some(ended) = self.outcomes.get(&job.job_id) {
                prop_assert_eq!(Some(ended), outcome, "what has ended never changes");
            }
            outcome.map(|outcome| self.outcomes.insert(job.job_id.clone(), outcome.clone()));
        }
        prop_assert!(self.outcomes.len() <= self.tables.jobs().count(), "no job vanishes");
        for lease in self.tables.leases().filter(|lease| !lease.state.live()) {
            let ended = self.ended.entry(lease.lease_id.clone()).or_insert_with(|| lease.clone());
            prop_assert_eq!(&*ended, lease, "what has ended never changes");
        }
        Ok(())
    }

    /// The same final message gets the same answer for ever; another one, a conflict.
    fn compare_final(&mut self, event: &Event, handled: &Handled) -> Checked {
        let Some(lease) = ends(event) else { return Ok(()) };
        match (self.accepted.get(lease), &handled.reply) {
            (Some((first, answer)), reply) if first == event => {
                prop_assert_eq!(&Ok(answer.clone()), reply);
            }
            (Some(_), reply) => {
                let refused = matches!(reply, Err(Refusal::Conflict(_) | Refusal::WrongRunner));
                prop_assert!(refused, "{reply:?}");
            }
            (None, Ok(answer)) => {
                self.accepted.insert(lease.clone(), (event.clone(), answer.clone()));
            }
            (None, Err(_)) => {}
        }
        Ok(())
    }

    fn lease(&self, n: usize) -> Option<LeaseRecord> {
        // The later ones more often: the earlier ones are stale, mostly.
        let mut leases: Vec<_> = self.tables.leases().collect();
        leases.sort_by_key(|lease| std::cmp::Reverse((lease.granted_at, lease.fence)));
        let nth = if n < 48 { n % leases.len().clamp(1, 4) } else { n % leases.len().max(1) };
        leases.get(nth).map(|lease| (*lease).clone())
    }

    /// A lease that somebody has, every other time.
    fn held(&self, n: usize) -> Option<&LeaseRecord> {
        let live: Vec<_> = self.tables.leases().filter(|lease| lease.state.live()).collect();
        live.get(n / 2 % live.len().max(1)).copied().filter(|_| n.is_multiple_of(2))
    }

    /// A job to cancel. Of all jobs, most have ended.
    fn some_job(&self, n: usize) -> Option<JobId> {
        let any = || self.tables.jobs().nth(n % self.tables.jobs().count().max(1));
        let held = self.held(n).map(|lease| &lease.job_id);
        held.or_else(|| any().map(|job| &job.job_id)).cloned()
    }

    /// A run to cancel; there must be one.
    fn some_run(&self, n: usize) -> RunId {
        let held = self.held(n).map(|lease| &lease.run_id);
        held.unwrap_or_else(|| &self.runs[n % self.runs.len()]).clone()
    }

    fn next_run(&mut self) -> RunId {
        self.wanted += 1;
        run_id(self.wanted - 1)
    }

    fn submitted(&mut self, handled: &Handled) -> Checked {
        match &handled.reply {
            Ok(Reply::Submitted { run_id, before: false }) => self.runs.push(run_id.clone()),
            other => prop_assert!(false, "{other:?}"),
        }
        Ok(())
    }

    pub async fn perform(&mut self, op: Op) -> Checked {
        match op {
            Op::Submit(jobs, max_parallel, keyed) => {
                let mut submission = order(&jobs);
                submission.max_parallel = max_parallel;
                let run_id = self.next_run();
                let key = keyed.then(|| format!("key{}", self.wanted));
                let event = Event::Submit { run_id, key, submission };
                let first = self.send(event.clone()).await?;
                self.submitted(&first)?;
                if keyed {
                    let again = self.send(event).await?;
                    let before = matches!(again.reply, Ok(Reply::Submitted { before: true, .. }));
                    prop_assert!(before, "the same key is the same run");
                    prop_assert!(again.actions.is_empty(), "nobody is told of it twice");
                }
            }
            Op::Rerun(n) if !self.runs.is_empty() => {
                let of = self.runs[n % self.runs.len()].clone();
                let event = Event::Rerun {
                    of,
                    run_id: self.next_run(),
                    key: None,
                    priority_max: i16::MAX,
                    label: None,
                };
                let repeated = self.send(event).await?;
                self.submitted(&repeated)?;
            }
            Op::CancelRun(n) if !self.runs.is_empty() => {
                let run_id = self.some_run(n);
                let canceled = self.send(Event::CancelRun { run_id }).await?;
                prop_assert!(canceled.reply.is_ok());
            }
            Op::CancelJob(n) => {
                if let Some(job_id) = self.some_job(n) {
                    self.send(Event::CancelJob { job_id }).await?;
                }
            }
            Op::Rerun(_) | Op::CancelRun(_) => {}
            Op::Limit(n, limit) => {
                // Lowering a limit takes nothing away, so the account cannot demand it at once.
                self.send(Event::SetLimit { label: label(n), limit }).await?;
            }
            Op::Ask(runner, tags) => self.ask(&runner_id(&runner.to_string()), tags).await?,
            Op::Work(runner, status) => self.work(&runner_id(&runner.to_string()), status).await?,
            Op::Pass(seconds, sweep) => {
                self.now = self.now.plus_seconds(seconds.into());
                if sweep {
                    self.sweep().await?;
                }
            }
            Op::Outage(seconds) => {
                let silence = self.policy.outage_after_seconds + u32::from(seconds);
                self.now = self.now.plus_seconds(silence);
                self.outage().await?;
            }
            Op::Start => {
                let ended = self.ended.len();
                let store = self.store.take().expect("it is there");
                self.store = Some(P::restart(store, self.now).await);
                self.clock.start(self.now);
                self.sweep().await?;
                prop_assert_eq!(self.ended.len(), ended, "a restart ends no lease");
            }
            other => self.message(other).await?,
        }
        Ok(())
    }

    /// Messages about a lease.
    async fn message(&mut self, op: Op) -> Checked {
        let Some(lease) = op.lease().and_then(|n| self.lease(n)) else { return Ok(()) };
        let stolen = matches!(op, Op::Steal(_));
        let (id, event) = (lease.lease_id.clone(), about(&lease, op));
        let expired = expiry(&self.reading(), &lease).is_some();
        let handled = self.send(event.clone()).await?;
        if let (Event::Log(chunk), Ok(Reply::Logged(ack))) = (&event, &handled.reply) {
            let log = self.logs.entry(id.clone()).or_default();
            if ack.next_offset > log.len() as u64 {
                log.extend_from_slice(&chunk.data);
            }
            prop_assert_eq!(ack.next_offset, log.len() as u64);
            let store = self.store.as_ref().expect("it is there");
            let kept = store.log(&lease.job_id, lease.fence, 0, 1_000).await;
            prop_assert_eq!(&kept.map_err(|e| TestCaseError::fail(e.to_string()))?, log);
        }
        if stolen {
            prop_assert_eq!(&handled.reply, &Err(Refusal::WrongRunner));
        } else if !lease.state.live() || expired {
            let stands = self.accepted.contains_key(&id);
            let stale = matches!(handled.reply, Err(Refusal::Stale(_)));
            prop_assert!(stale || stands, "{event:?}: {:?}", handled.reply);
        } else if lease.state == LeaseState::Granted && !matches!(event, Event::Ack(_)) {
            prop_assert_eq!(&handled.reply, &Err(Refusal::NotAcked));
        }
        Ok(())
    }

    async fn ask(&mut self, runner: &RunnerId, tags: u8) -> Checked {
        let capabilities = bits(tags, tag);
        // Leases that are over change the answer; after a sweep the rows say it all.
        self.sweep().await?;
        let held = self.tables.leases().find(|l| l.runner_id == *runner && l.state.live());
        let held = held.cloned();
        let next =
            naive::next(&self.tables, self.clock.lease, &capabilities).map(|j| j.job_id.clone());
        let id = lease_id(self.leases);
        self.leases += 1;
        let request = LeaseRequest { runner_id: runner.clone(), capabilities, max_wait_seconds: 0 };
        let cancel_token = CancelToken::new("cancel_x").ok();
        let event = Event::Lease { lease_id: id.clone(), cancel_token, request };
        match (held, self.send(event).await?.reply) {
            (Some(held), Ok(Reply::Granted(again))) if held.state == LeaseState::Granted => {
                prop_assert_eq!(again.lease_id, held.lease_id);
                prop_assert_eq!(again.fence, held.fence);
            }
            (Some(held), Err(Refusal::RunnerBusy)) => {
                prop_assert_eq!(held.state, LeaseState::Active);
            }
            (None, Ok(Reply::Granted(granted))) => {
                prop_assert!(granted.lease_id == id || !P::NAMES);
                prop_assert_eq!(Some(granted.job_id), next);
            }
            (None, Ok(Reply::NoWork(_))) => prop_assert_eq!(next, None),
            other => prop_assert!(false, "{other:?}"),
        }
        Ok(())
    }

    async fn work(&mut self, runner: &RunnerId, status: CompleteStatus) -> Checked {
        self.ask(runner, u8::MAX).await?;
        let live = self.tables.leases().find(|l| l.runner_id == *runner && l.state.live());
        let Some(lease) = live.cloned() else { return Ok(()) };
        prop_assert!(self.send(Event::Ack(ack(&lease))).await?.reply.is_ok());
        let message = complete(&lease.lease_id, runner, status);
        prop_assert!(self.send(Event::Complete(message)).await?.reply.is_ok());
        Ok(())
    }

    /// Time passes in an outage. It ends no live lease and changes no row of one.
    async fn outage(&mut self) -> Checked {
        let (before, after) = (self.clock, self.reading());
        prop_assert!(after.lease.0 - before.lease.0 <= 500, "an outage is no time for leases");
        let live = self.tables.leases().filter(|lease| lease.state.live());
        let kept = live.filter(|lease| expiry(&after, lease).is_none());
        let kept: Vec<LeaseRecord> = kept.cloned().collect();
        self.sweep().await?;
        for lease in kept {
            let now = self.tables.leases().find(|other| other.lease_id == lease.lease_id);
            prop_assert_eq!(now, Some(&lease));
        }
        Ok(())
    }

    async fn sweep(&mut self) -> Checked {
        loop {
            match self.send(Event::Sweep).await?.reply {
                Ok(Reply::Swept { more: true, .. }) => {}
                Ok(Reply::Swept { .. }) => return Ok(()),
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }

    /// Runners do their duty until nothing is left: every job ends, and every limit is free.
    pub async fn finish(mut self) -> Checked {
        for n in 0..3 {
            self.send(Event::SetLimit { label: label(n), limit: None }).await?;
        }
        // Each round ends a lease or an attempt; leases of silent runners expire meanwhile.
        for round in 0..2_000 {
            if self.tables.runs().all(|run| run.open == 0) {
                prop_assert!(self.tables.labels().all(|label| label.in_use == 0));
                prop_assert_eq!(self.outcomes.len(), self.tables.jobs().count());
                P::close(self.store.take().expect("it is there")).await;
                return Ok(());
            }
            self.now = self.now.plus_seconds(10);
            self.work(&runner_id(&format!("last{round}")), CompleteStatus::Failed).await?;
        }
        Err(TestCaseError::fail(format!("jobs that do not end: {:#?}", self.tables)))
    }
}

/// A message about a lease.
fn about(lease: &LeaseRecord, op: Op) -> Event {
    let (id, runner_id) = (lease.lease_id.clone(), lease.runner_id.clone());
    match op {
        Op::Ack(_) => Event::Ack(ack(lease)),
        Op::Beat(_, seq) => Event::Heartbeat(heartbeat(&id, &runner_id, seq)),
        Op::Complete(_, status, failure) => {
            let mut message = complete(&id, &runner_id, status);
            message.failure = failure.filter(|_| status == CompleteStatus::Failed);
            Event::Complete(message)
        }
        Op::CancelAck(_) => Event::CancelAck(cancel_ack(&id, &runner_id)),
        Op::Log(_, number, length) => {
            let data = vec![number as u8; length.into()];
            let offset = lease.log.next_offset;
            Event::Log(LogChunk { lease_id: id, runner_id, number, offset, data })
        }
        Op::Upload(_) => {
            // The same again would not count.
            let name = format!("out{}", lease.uploads);
            Event::Upload(UploadRequest { lease_id: id, runner_id, name, bytes: 1 })
        }
        Op::Steal(message) => {
            let thief = super::common::runner_id("thief");
            about(&LeaseRecord { runner_id: thief, ..lease.clone() }, *message)
        }
        other => panic!("this is about no lease: {other:?}"),
    }
}

/// The lease that a message ends.
fn ends(event: &Event) -> Option<&LeaseId> {
    match event {
        Event::Complete(message) => Some(&message.lease_id),
        Event::CancelAck(message) => Some(&message.lease_id),
        _ => None,
    }
}

/// Rows, whenever they were looked at.
fn unseen(tables: &Tables) -> Tables {
    let mut tables = tables.clone();
    tables.set_clock(LeaseClock::default());
    tables
}

fn ack(lease: &LeaseRecord) -> AckLease {
    AckLease {
        job_id: lease.job_id.clone(),
        lease_id: lease.lease_id.clone(),
        runner_id: lease.runner_id.clone(),
        accepted_at: None,
    }
}
