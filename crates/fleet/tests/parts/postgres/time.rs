//! Databases that hang, and clocks that are set back.

use super::Server;
use crate::parts::suite::common::{complete, heartbeat, job, runner_id, submission};
use remuda_fleet::auth::random_id;
use remuda_fleet::id::{JobId, LeaseId, RunId};
use remuda_fleet::lease::{Event, Policy, Reply};
use remuda_fleet::message::{
    AckLease, CompleteStatus, JobSubmission, LeaseGranted, LeaseRequest, Retry,
};
use remuda_fleet::store::{Postgres, Store as _, Time};
use remuda_fleet::time::Clock;
use remuda_fleet::time::Millis;
use std::collections::BTreeSet;
use std::time::Duration;

pub(super) async fn ask(store: &Postgres, now: Millis, event: Event) -> Reply {
    store.handle(now, event).await.expect("a store").reply.expect("not refused")
}

pub(super) async fn submit(store: &Postgres, now: Millis, job: JobSubmission) -> RunId {
    let run_id = random_id(RunId::PREFIX, RunId::new);
    let (key, submission) = (None, submission(vec![job]));
    ask(store, now, Event::Submit { run_id: run_id.clone(), key, submission }).await;
    run_id
}

pub(super) async fn take(store: &Postgres, now: Millis, runner: &str) -> LeaseGranted {
    let request = LeaseRequest {
        runner_id: runner_id(runner),
        capabilities: BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let lease_id = random_id(LeaseId::PREFIX, LeaseId::new);
    let lease = Event::Lease { lease_id, cancel_token: None, request };
    let Reply::Granted(granted) = ask(store, now, lease).await else { panic!("no work") };
    let ack = AckLease {
        job_id: granted.job_id.clone(),
        lease_id: granted.lease_id.clone(),
        runner_id: runner_id(runner),
        accepted_at: None,
    };
    ask(store, now, Event::Ack(ack)).await;
    *granted
}

/// The database serves reads but blocks writes, without an error, for longer than a lease lasts. A heartbeat waits and
/// counts afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_hangs_costs_no_lease() {
    let server = Server::start("pg-hangs");
    let policy =
        Policy { lease_ttl_seconds: 3, heartbeat_interval_seconds: 1, ..Policy::default() };
    let store = Postgres::open(&server.url, policy, Time::Database, Millis(0)).await;
    let store = std::sync::Arc::new(store.expect("a store"));
    submit(&store, Millis(0), job("a")).await;
    let granted = take(&store, Millis(0), "a").await;
    let sweeping = tokio::spawn({
        let store = store.clone();
        async move {
            loop {
                let _ = store.handle(Millis(0), Event::Sweep).await;
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        }
    });
    let hang = async {
        let mut sql = server.sql().await;
        let hang = "BEGIN; LOCK TABLE clock, run, job, lease IN EXCLUSIVE MODE; SELECT pg_sleep(7); COMMIT";
        sqlx::raw_sql(hang).execute(&mut sql).await.expect("hung");
    };
    let beat = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        ask(&store, Millis(0), Event::Heartbeat(heartbeat(&granted.lease_id, &runner_id("a"), 1)))
            .await
    };
    let ((), beaten) = tokio::join!(hang, beat);
    assert!(matches!(&beaten, Reply::Beat(ack) if ack.extend_lease), "{beaten:?}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let done = complete(&granted.lease_id, &runner_id("a"), CompleteStatus::Succeeded);
    let done = ask(&store, Millis(0), Event::Complete(done)).await;
    assert!(matches!(done, Reply::Completed(_)), "{done:?}");
    sweeping.abort();
}

/// For a while it was tomorrow. What was to happen then happens as soon as it would have.
#[tokio::test]
async fn a_clock_that_is_set_back_keeps_nobody_waiting() {
    let server = Server::start("pg-back");
    let tomorrow = Millis(Clock::default().now().0 + 86_400_000);
    let policy =
        Policy { lease_ttl_seconds: 1, heartbeat_interval_seconds: 1, ..Policy::default() };
    let store = Postgres::open(&server.url, policy.clone(), Time::Caller, tomorrow).await;
    let store = store.expect("a store");
    let retry = Retry { max_attempts: 2, backoff_seconds: 3, ..Retry::default() };
    let fails = submit(&store, tomorrow, JobSubmission { retry, ..job("a") }).await;
    let failing = take(&store, tomorrow, "a").await;
    let failed = complete(&failing.lease_id, &runner_id("a"), CompleteStatus::Failed);
    ask(&store, tomorrow, Event::Complete(failed)).await;
    let lost = submit(&store, tomorrow, job("b")).await;
    take(&store, tomorrow, "b").await;
    ask(&store, tomorrow, Event::Sweep).await;
    store.close().await;
    let store = Postgres::open(&server.url, policy, Time::Database, Millis(0)).await;
    let store = store.expect("a store");
    let mut granted = BTreeSet::new();
    let began = std::time::Instant::now();
    while granted.len() < 2 {
        assert!(began.elapsed() < Duration::from_secs(20), "{granted:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        ask(&store, Millis(0), Event::Sweep).await;
        let request = LeaseRequest {
            runner_id: runner_id(&format!("c{}", granted.len())),
            capabilities: BTreeSet::new(),
            max_wait_seconds: 0,
        };
        let lease_id = random_id(LeaseId::PREFIX, LeaseId::new);
        let lease = Event::Lease { lease_id, cancel_token: None, request };
        if let Reply::Granted(again) = ask(&store, Millis(0), lease).await {
            granted.insert(again.job_id.clone());
        }
    }
    let both = [&fails, &lost].map(|run| JobId::of(run, 0));
    assert_eq!(granted, both.into_iter().collect(), "the pause is over, and the lease is lost");
}

/// Whatever says what time it is takes longer to be kept than nobody may be silent.
#[tokio::test]
async fn a_database_that_keeps_everything_slowly_is_not_silent_for_ever() {
    let server = Server::start("pg-slow");
    let store = server.store(Time::Database).await;
    let slow = "
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_sleep(2.5); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON clock DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION slow()";
    sqlx::raw_sql(slow).execute(&mut server.sql().await).await.expect("slow");
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let submitted = submit(&store, Millis(0), job("a"));
    tokio::time::timeout(Duration::from_secs(30), submitted).await.expect("an answer");
}
