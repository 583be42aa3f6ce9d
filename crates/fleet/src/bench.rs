//! Benchmark of the rules on a store.

use crate::auth::random_id;
use crate::id::{LeaseId, RunId, RunnerId};
use crate::lease::{Event, Refusal, Reply};
use crate::message::{
    AckLease, Complete, CompleteStatus, Heartbeat, JobSpec, JobSubmission, LeaseGranted,
    LeaseRequest, Retry, RunSubmission,
};
use crate::store::{Store, StoreError};
use crate::time::Clock;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Concurrent runners, and as many submitters.
    pub runners: u32,
    pub jobs_each: u32,
    pub beats_each: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Empty jobs: submitted, granted, acknowledged and completed.
    pub jobs: u64,
    /// Jobs per second.
    pub jobs_per_second: u64,
    /// p50 from request to grant, in microseconds.
    pub lease_micros_p50: u64,
    /// p99 of the same.
    pub lease_micros_p99: u64,
    pub heartbeats_per_second: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// An unexpected reply.
    #[error("an answer that does not fit: {0}")]
    Answer(String),
}

/// Measures an otherwise unused store. A quarter of the jobs runs before the clock starts, to open
/// connections and prepare statements, as in the benchmarks that this is compared with.
pub async fn store<S: Store + Send + Sync + 'static>(
    store: Arc<S>,
    load: Load,
) -> Result<Figures, BenchError> {
    through(&store, load.runners, load.jobs_each.div_ceil(4)).await?;
    let began = Instant::now();
    let mut waits = through(&store, load.runners, load.jobs_each).await?;
    let working = began.elapsed();
    let began = Instant::now();
    let beats = all(load.runners, |n| beats(store.clone(), runner(n), load.beats_each)).await?;
    let beating = began.elapsed();
    waits.sort_unstable();
    let at = |percent: usize| waits.get(waits.len() * percent / 100).map_or(0, micros);
    let jobs = waits.len() as u64;
    Ok(Figures {
        jobs,
        jobs_per_second: rate(jobs, working),
        lease_micros_p50: at(50),
        lease_micros_p99: at(99),
        heartbeats_per_second: rate(beats.iter().sum(), beating),
    })
}

/// Runs this many jobs per runner. Returns how long each waited for its lease.
async fn through<S: Store + Send + Sync + 'static>(
    store: &Arc<S>,
    runners: u32,
    jobs_each: u32,
) -> Result<Vec<Duration>, BenchError> {
    let ready = Arc::new(Semaphore::new(0));
    let submitting = all(runners, |_| submits(store.clone(), ready.clone(), jobs_each));
    let taking = all(runners, |n| jobs(store.clone(), ready.clone(), runner(n), jobs_each));
    let (_, waits) = tokio::try_join!(submitting, taking)?;
    Ok(waits.concat())
}

fn micros(time: &Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn rate(count: u64, time: Duration) -> u64 {
    count.saturating_mul(1_000_000) / micros(&time).max(1)
}

fn runner(number: u32) -> RunnerId {
    RunnerId::new(&format!("{}bench-{number}", RunnerId::PREFIX)).expect("a number is an id")
}

/// Heartbeats of all runners, concurrently.
async fn all<T: Send + 'static, F>(
    runners: u32,
    work: impl Fn(u32) -> F,
) -> Result<Vec<T>, BenchError>
where
    F: Future<Output = Result<T, BenchError>> + Send + 'static,
{
    let tasks: Vec<_> = (0..runners).map(|n| tokio::spawn(work(n))).collect();
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        let result = task.await.map_err(|error| BenchError::Answer(error.to_string()))?;
        results.push(result?);
    }
    Ok(results)
}

async fn ask<S: Store>(store: &S, event: Event) -> Result<Reply, BenchError> {
    Ok(store.handle(Clock::default().now(), event).await?.reply?)
}

async fn submit<S: Store>(store: &S) -> Result<(), BenchError> {
    let name = "nothing".to_owned();
    let spec = JobSpec {
        name: name.clone(),
        workdir: ".".to_owned(),
        image: None,
        steps: vec!["true".to_owned()],
        env: BTreeMap::new(),
        artifacts: vec![],
        caches: vec![],
        call: None,
    };
    let job = JobSubmission {
        name,
        needs: BTreeSet::new(),
        tags: BTreeSet::new(),
        labels: BTreeSet::new(),
        priority: 0,
        max_runtime_seconds: 3_600,
        retry: Retry::default(),
        lease_ttl_seconds: None,
        start_within_seconds: None,
        job_spec: Some(spec),
        job_spec_ref: None,
    };
    let run_id = random_id(RunId::PREFIX, RunId::new);
    let submission = RunSubmission { name: String::new(), max_parallel: None, jobs: vec![job] };
    ask(store, Event::Submit { run_id, key: None, submission }).await.map(drop)
}

/// A granted job and the time to its grant.
async fn take<S: Store>(
    store: &S,
    runner: &RunnerId,
) -> Result<(LeaseGranted, Duration), BenchError> {
    let request = LeaseRequest {
        runner_id: runner.clone(),
        capabilities: BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let lease_id = random_id(LeaseId::PREFIX, LeaseId::new);
    let began = Instant::now();
    let granted = match ask(store, Event::Lease { lease_id, cancel_token: None, request }).await? {
        Reply::Granted(granted) => *granted,
        other => return Err(BenchError::Answer(format!("{other:?}"))),
    };
    let waited = began.elapsed();
    let ack = AckLease {
        job_id: granted.job_id.clone(),
        lease_id: granted.lease_id.clone(),
        runner_id: runner.clone(),
        accepted_at: None,
    };
    ask(store, Event::Ack(ack)).await?;
    Ok((granted, waited))
}

async fn complete<S: Store>(
    store: &S,
    runner: &RunnerId,
    lease_id: LeaseId,
) -> Result<(), BenchError> {
    let message = Complete {
        lease_id,
        runner_id: runner.clone(),
        status: CompleteStatus::Succeeded,
        exit_code: Some(0),
        failure: None,
        timings: None,
        artifacts: vec![],
        summary: String::new(),
        output: None,
    };
    ask(store, Event::Complete(message)).await.map(drop)
}

async fn submits<S: Store>(
    store: Arc<S>,
    ready: Arc<Semaphore>,
    count: u32,
) -> Result<(), BenchError> {
    for _ in 0..count {
        submit(&*store).await?;
        ready.add_permits(1);
    }
    Ok(())
}

/// Runners ask only when a job is ready, like waiters at an orchestrator.
async fn jobs<S: Store>(
    store: Arc<S>,
    ready: Arc<Semaphore>,
    runner: RunnerId,
    count: u32,
) -> Result<Vec<Duration>, BenchError> {
    let mut waits = Vec::new();
    for _ in 0..count {
        ready.acquire().await.expect("nobody closes it").forget();
        let (granted, waited) = take(&*store, &runner).await?;
        waits.push(waited);
        complete(&*store, &runner, granted.lease_id).await?;
    }
    Ok(waits)
}

async fn beats<S: Store>(store: Arc<S>, runner: RunnerId, count: u32) -> Result<u64, BenchError> {
    submit(&*store).await?;
    let (granted, _) = take(&*store, &runner).await?;
    for seq in 1..=u64::from(count) {
        let beat = Heartbeat {
            lease_id: granted.lease_id.clone(),
            runner_id: runner.clone(),
            seq: Some(seq),
            phase: None,
            progress: None,
            log_cursor: None,
            ts: None,
        };
        ask(&*store, Event::Heartbeat(beat)).await?;
    }
    complete(&*store, &runner, granted.lease_id).await?;
    Ok(count.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::Policy;
    use crate::store::Memory;

    #[tokio::test]
    async fn every_job_that_is_counted_was_done() {
        let memory = Arc::new(Memory::new(Policy::default()));
        let load = Load { runners: 4, jobs_each: 5, beats_each: 3 };
        let figures = store(memory.clone(), load).await.expect("figures");
        assert_eq!(figures.jobs, 20);
        assert!(figures.lease_micros_p50 <= figures.lease_micros_p99);
        let tables = memory.snapshot().await.expect("rows");
        // With the warm-up, and one per heartbeating runner.
        assert_eq!(tables.jobs().filter(|job| job.outcome().is_some()).count(), 20 + 8 + 4);
    }
}
