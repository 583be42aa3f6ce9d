//! A fleet in a few words.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use remuda_fleet::id::{CancelToken, JobId, LeaseId, RunId, RunnerId};
use remuda_fleet::lease::{
    AttemptState, EndReason, Event, Handled, LeaseRecord, Outcome, Policy, Refusal, Reply, Rows,
    RunRecord, Standing, handle,
};
use remuda_fleet::message::{
    AckLease, CancelAck, Complete, CompleteStatus, Failure, FinalStatus, Heartbeat, JobSpec,
    JobSubmission, LeaseRequest, Phase, Retry, RunSubmission, Tag, UploadRequest,
};
use remuda_fleet::store::{Store, Tables};
use remuda_fleet::time::Millis;
use std::collections::{BTreeMap, BTreeSet};

pub fn lease_id(n: u64) -> LeaseId {
    LeaseId::new(&format!("lease_{n}")).expect("valid")
}

pub fn run_id(n: u64) -> RunId {
    RunId::new(&format!("run_{n}")).expect("valid")
}

pub fn runner_id(name: &str) -> RunnerId {
    RunnerId::new(&format!("runner_{name}")).expect("valid")
}

pub fn job(name: &str) -> JobSubmission {
    JobSubmission {
        name: name.to_owned(),
        needs: BTreeSet::new(),
        tags: BTreeSet::new(),
        labels: BTreeSet::new(),
        priority: 0,
        max_runtime_seconds: 3_600,
        retry: Retry::default(),
        lease_ttl_seconds: None,
        start_within_seconds: None,
        job_spec: Some(JobSpec {
            name: name.to_owned(),
            workdir: ".".to_owned(),
            image: None,
            steps: vec!["true".to_owned()],
            env: BTreeMap::new(),
            artifacts: vec![],
            caches: vec![],
            call: None,
        }),
        job_spec_ref: None,
    }
}

pub fn submission(jobs: Vec<JobSubmission>) -> RunSubmission {
    RunSubmission { name: String::new(), max_parallel: None, jobs }
}

pub fn complete(lease: &LeaseId, runner: &RunnerId, status: CompleteStatus) -> Complete {
    Complete {
        lease_id: lease.clone(),
        runner_id: runner.clone(),
        status,
        exit_code: None,
        failure: None,
        timings: None,
        artifacts: vec![],
        summary: String::new(),
        output: None,
    }
}

pub fn cancel_ack(lease: &LeaseId, runner: &RunnerId) -> CancelAck {
    CancelAck {
        lease_id: lease.clone(),
        runner_id: runner.clone(),
        final_status: FinalStatus::Canceled,
        ts: None,
        artifacts: vec![],
        summary: String::new(),
    }
}

pub fn heartbeat(lease: &LeaseId, runner: &RunnerId, seq: u64) -> Heartbeat {
    Heartbeat {
        lease_id: lease.clone(),
        runner_id: runner.clone(),
        seq: Some(seq),
        phase: None,
        progress: None,
        log_cursor: None,
        ts: None,
    }
}

pub struct Fleet {
    pub tables: Tables,
    pub policy: Policy,
    pub now: Millis,
    pub capabilities: BTreeSet<Tag>,
    runners: BTreeMap<LeaseId, RunnerId>,
    leases: u64,
    runs: u64,
}

impl Fleet {
    pub fn new() -> Self {
        Self {
            tables: Tables::default(),
            policy: Policy { outage_after_seconds: 20, ..Policy::default() },
            now: Millis(1_000_000_000),
            capabilities: BTreeSet::new(),
            runners: BTreeMap::new(),
            leases: 0,
            runs: 0,
        }
    }

    pub fn handle(&mut self, event: Event) -> Handled {
        handle(&mut self.tables, &self.policy, self.now, event)
    }

    /// Time, without an outage: submissions of an unknown rerun touch nothing but the clock.
    pub fn pass(&mut self, seconds: u64) {
        let end = self.now.0 + seconds * 1_000;
        let step = u64::from(self.policy.outage_after_seconds) * 500;
        while self.now.0 < end {
            self.now.0 = end.min(self.now.0 + step);
            let nobody = Event::CancelRun { run_id: run_id(u64::MAX) };
            assert_eq!(self.handle(nobody).reply, Err(Refusal::UnknownRun));
        }
    }

    /// Time during which nobody was there.
    pub fn jump(&mut self, seconds: u64) {
        self.now.0 += seconds * 1_000;
    }

    pub fn sweep(&mut self) {
        self.handle(Event::Sweep).reply.expect("swept");
    }

    pub fn submit<const N: usize>(&mut self, jobs: Vec<JobSubmission>) -> [JobId; N] {
        self.submit_run(submission(jobs))
    }

    pub fn submit_run<const N: usize>(&mut self, submission: RunSubmission) -> [JobId; N] {
        let run_id = run_id(self.runs);
        self.runs += 1;
        let event = Event::Submit { run_id: run_id.clone(), key: None, submission };
        self.handle(event).reply.expect("submitted");
        std::array::from_fn(|index| JobId::of(&run_id, index))
    }

    pub fn ask_raw(&mut self, runner: &str) -> Result<Option<LeaseId>, Refusal> {
        let lease_id = lease_id(self.leases);
        self.leases += 1;
        let runner_id = runner_id(runner);
        let event = Event::Lease {
            lease_id,
            cancel_token: CancelToken::new("cancel_1").ok(),
            request: LeaseRequest {
                runner_id: runner_id.clone(),
                capabilities: self.capabilities.clone(),
                max_wait_seconds: 0,
            },
        };
        match self.handle(event).reply? {
            Reply::Granted(granted) => {
                self.runners.insert(granted.lease_id.clone(), runner_id);
                Ok(Some(granted.lease_id))
            }
            Reply::NoWork(_) => Ok(None),
            other => panic!("{other:?}"),
        }
    }

    pub fn ask(&mut self, runner: &str) -> Option<LeaseId> {
        self.ask_raw(runner).expect("an answer")
    }

    pub fn grant(&mut self, runner: &str) -> LeaseId {
        self.ask(runner).expect("work")
    }

    pub fn active(&mut self, runner: &str) -> LeaseId {
        let lease = self.grant(runner);
        self.ack(&lease).expect("acked");
        lease
    }

    /// From now on somebody else speaks for this lease.
    pub fn steal(&mut self, lease: &LeaseId, runner: &str) {
        self.runners.insert(lease.clone(), runner_id(runner));
    }

    fn runner(&self, lease: &LeaseId) -> RunnerId {
        self.runners.get(lease).cloned().unwrap_or_else(|| runner_id("nobody"))
    }

    pub fn ack(&mut self, lease: &LeaseId) -> Result<Reply, Refusal> {
        let message = AckLease {
            job_id: self.lease(lease).job_id,
            lease_id: lease.clone(),
            runner_id: self.runner(lease),
            accepted_at: None,
        };
        self.handle(Event::Ack(message)).reply
    }

    pub fn beat(&mut self, lease: &LeaseId, seq: u64) -> Result<Reply, Refusal> {
        let message = heartbeat(lease, &self.runner(lease), seq);
        self.handle(Event::Heartbeat(message)).reply
    }

    pub fn beat_in(&mut self, lease: &LeaseId, seq: u64, phase: Phase) -> Result<Reply, Refusal> {
        let mut message = heartbeat(lease, &self.runner(lease), seq);
        message.phase = Some(phase);
        self.handle(Event::Heartbeat(message)).reply
    }

    pub fn complete(&mut self, lease: &LeaseId, status: CompleteStatus) -> Result<Reply, Refusal> {
        let message = complete(lease, &self.runner(lease), status);
        self.handle(Event::Complete(message)).reply
    }

    pub fn fail(&mut self, lease: &LeaseId, failure: Failure) -> Result<Reply, Refusal> {
        let mut message = complete(lease, &self.runner(lease), CompleteStatus::Failed);
        message.failure = Some(failure);
        self.handle(Event::Complete(message)).reply
    }

    pub fn cancel_ack(&mut self, lease: &LeaseId) -> Result<Reply, Refusal> {
        let message = cancel_ack(lease, &self.runner(lease));
        self.handle(Event::CancelAck(message)).reply
    }

    pub fn lease(&self, id: &LeaseId) -> LeaseRecord {
        self.tables.lease(id).expect("a lease")
    }

    pub fn run(&self) -> RunRecord {
        self.tables.run(&run_id(0)).expect("a run")
    }

    pub fn state(&self, id: &JobId) -> AttemptState {
        let job = self.tables.job(id).expect("a job");
        let lease = match &job.standing {
            Standing::Held(id) => self.tables.lease(id),
            _ => None,
        };
        job.state(lease.as_ref())
    }

    pub fn outcome(&self, id: &JobId) -> Outcome {
        let job = self.tables.job(id).expect("a job");
        job.outcome().cloned().expect("an end")
    }

    pub fn end(&self, id: &JobId) -> EndReason {
        self.outcome(id).reason
    }
}

/// A run that ended is there as long as it is kept, and then nothing of it is; one that has not ended
/// stays. Of those that are gone it is known which may have left objects. Every store must do this alike.
pub async fn forgets<S: Store>(store: &S, now: Millis) {
    let at = |seconds: u64| Millis(now.0 + seconds * 1_000);
    let ask = async |now, event| store.handle(now, event).await.expect("a store").reply;
    for n in [71, 72, 74] {
        let jobs = vec![job("a"), { JobSubmission { needs: ["a".to_owned()].into(), ..job("b") } }];
        let event = Event::Submit {
            run_id: run_id(n),
            key: Some(n.to_string()),
            submission: submission(jobs),
        };
        ask(now, event).await.expect("submitted");
    }
    let request = LeaseRequest {
        runner_id: runner_id("f"),
        capabilities: BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let lease = Event::Lease { lease_id: lease_id(71), cancel_token: None, request };
    let Ok(Reply::Granted(granted)) = ask(now, lease).await else { panic!("no work") };
    assert_eq!(granted.run_id, run_id(71));
    let ack = AckLease {
        job_id: granted.job_id.clone(),
        lease_id: lease_id(71),
        runner_id: runner_id("f"),
        accepted_at: None,
    };
    ask(now, Event::Ack(ack)).await.expect("acknowledged");
    let upload = UploadRequest {
        lease_id: lease_id(71),
        runner_id: runner_id("f"),
        name: "empty".to_owned(),
        bytes: 0,
    };
    ask(now, Event::Upload(upload)).await.expect("allowed");
    ask(now, Event::CancelRun { run_id: run_id(71) }).await.expect("canceled");
    let stopped = cancel_ack(&lease_id(71), &runner_id("f"));
    ask(now, Event::CancelAck(stopped)).await.expect("stopped");
    ask(at(1), Event::CancelRun { run_id: run_id(74) }).await.expect("canceled");
    let forget = Event::Forget { keep_seconds: 10 };
    let forgot = |runs: &[u64], with_objects: &[u64]| {
        let [runs, with_objects] =
            [runs, with_objects].map(|runs| runs.iter().map(|n| run_id(*n)).collect());
        Ok(Reply::Forgot { runs, with_objects, more: false })
    };
    assert_eq!(ask(at(10), forget.clone()).await, forgot(&[], &[]), "it is kept so long");
    assert!(store.run(&run_id(71)).await.expect("rows").is_some());
    assert_eq!(ask(at(11), forget.clone()).await, forgot(&[71], &[71]));
    assert_eq!(ask(at(12), forget.clone()).await, forgot(&[74], &[]), "nobody had begun it");
    assert_eq!(ask(at(12), forget).await, forgot(&[], &[]));
    assert!(store.run(&run_id(71)).await.expect("rows").is_none());
    assert!(store.job(&granted.job_id).await.expect("rows").is_none());
    let tables = store.snapshot().await.expect("rows");
    assert_eq!((tables.runs().count(), tables.jobs().count(), tables.leases().count()), (1, 2, 0));
    let beat = Event::Heartbeat(heartbeat(&lease_id(71), &runner_id("f"), 1));
    let stale = ask(at(12), beat).await;
    assert!(matches!(stale, Err(Refusal::Stale(_))), "{stale:?}");
    // Its key is free again.
    let event = Event::Submit {
        run_id: run_id(73),
        key: Some("71".to_owned()),
        submission: submission(vec![job("a")]),
    };
    let again = Ok(Reply::Submitted { run_id: run_id(73), before: false });
    assert_eq!(ask(at(12), event).await, again);
}
