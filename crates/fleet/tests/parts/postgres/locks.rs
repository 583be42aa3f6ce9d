//! Rows that somebody else has, for longer than anybody should.

use super::Server;
use super::time::{ask, submit, take};
use crate::parts::peer::{self, Fleet, PATIENCE};
use crate::parts::suite::common::{heartbeat, job, runner_id, submission};
use remuda_fleet::auth::random_id;
use remuda_fleet::id::{KeyId, RunId};
use remuda_fleet::lease::{Event, Policy, Reply};
use remuda_fleet::message::{JobSubmission, LogChunk};
use remuda_fleet::store::{Postgres, Store as _, Time};
use remuda_fleet::time::Millis;
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How long anything may take that need not wait for a lock.
const SOON: Duration = Duration::from_secs(5);
/// How long a lock is waited for.
const LOCK: Duration = Duration::from_secs(10);
/// What those who start have while they make the tables.
const MIGRATING: i64 = 0x7265_6d75_6461;

/// Has the rows of runs until it is let go.
async fn hold(server: &Server, runs: &[&RunId]) -> PgConnection {
    let mut sql = server.sql().await;
    sqlx::raw_sql("BEGIN").execute(&mut sql).await.expect("begun");
    let ids: Vec<String> = runs.iter().map(|run| run.as_str().to_owned()).collect();
    let hold = sqlx::query("SELECT 1 FROM run WHERE run_id = ANY ($1) FOR UPDATE").bind(ids);
    assert_eq!(hold.fetch_all(&mut sql).await.expect("held").len(), runs.len());
    sql
}

async fn let_go(mut sql: PgConnection) {
    sqlx::raw_sql("ROLLBACK").execute(&mut sql).await.expect("let go");
}

/// A run of as many jobs of this kind.
async fn submit_many(store: &Postgres, jobs: usize, kind: &JobSubmission) -> RunId {
    let run_id = random_id(RunId::PREFIX, RunId::new);
    let named = |n: usize| JobSubmission { name: format!("j{n}"), ..kind.clone() };
    let (key, submission) = (None, submission((0..jobs).map(named).collect()));
    ask(store, Millis(0), Event::Submit { run_id: run_id.clone(), key, submission }).await;
    run_id
}

/// Whether one that was stopped is in the middle of something that others wait for.
async fn in_the_middle(sql: &mut PgConnection) -> bool {
    let idle = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_xid IS NOT NULL
        AND state = 'idle in transaction' AND state_change < now() - interval '100 ms')";
    sqlx::query_scalar(idle).fetch_one(sql).await.expect("an answer")
}

/// Stops it in the middle of a transaction.
async fn suspend(fleet: &Fleet, sql: &mut PgConnection) {
    for pause in 0..200 {
        sleep(Duration::from_millis(20 + pause % 7)).await;
        fleet.signal(Signal::STOP);
        sleep(Duration::from_millis(200)).await;
        if in_the_middle(sql).await {
            return;
        }
        fleet.signal(Signal::CONT);
    }
    panic!("it was never in the middle of anything");
}

/// Says of its lease, again and again, that it is alive.
async fn beat(fleet: &Fleet, granted: &Value, runner: &str) {
    for seq in 1_u64.. {
        let beat = json!({ "lease_id": granted["lease_id"], "runner_id": runner, "seq": seq });
        fleet.post("/internal/heartbeat", beat).await;
    }
}

/// Fault 6, of one among several: suspended with its locks, as by a machine that sleeps or loses its power.
#[tokio::test]
async fn an_orchestrator_that_is_suspended_stops_no_other() {
    let server = Server::start("pg-suspended");
    let settings = json!({ "lease_ttl_seconds": 60, "postgres": server.url });
    let (one, two) = (Fleet::start(settings.clone()), Fleet::start(settings));
    let run = one.submit((0..8).map(|n| peer::job(&format!("j{n}"), "true")).collect()).await;
    let mut leases = Vec::new();
    for n in 0..8 {
        let runner = format!("runner_{n}");
        let wish = json!({ "runner_id": runner, "capabilities": [], "max_wait_seconds": 0 });
        let granted = one.post("/internal/lease", wish).await;
        let taken = json!({ "job_id": granted["job_id"], "lease_id": granted["lease_id"], "runner_id": runner });
        one.post("/internal/ack-lease", taken).await;
        leases.push((granted, runner));
    }
    let mut sql = server.sql().await;
    let beats = leases.iter().map(|(granted, runner)| beat(&one, granted, runner));
    tokio::select! {
        _ = futures::future::join_all(beats) => unreachable!("they beat for ever"),
        () = suspend(&one, &mut sql) => {}
    }
    // The suspended orchestrator holds row locks: canceling the run waits for all its leases, ending a job for its own.
    let began = Instant::now();
    let answers = async {
        for (granted, runner) in &leases[..4] {
            two.take(granted, runner).await;
        }
        two.answer(&format!("/runs/{run}/cancel"), json!({})).await
    };
    let (status, answer) = timeout(PATIENCE, answers).await.expect("it goes on");
    assert_eq!(status, 200, "{answer}");
    let view = two.run(&run).await.expect("a run");
    let ended = view["jobs"].as_array().expect("jobs").iter();
    let ended = ended.filter(|job| job["state"] == "SUCCEEDED").count();
    assert_eq!(ended, 4, "those that were ended meanwhile: {view}");
    // And it has lost nothing but what it was at.
    one.signal(Signal::CONT);
    let wanted = json!({ "jobs": [peer::job("after", "true")] });
    while one.answer("/runs", wanted.clone()).await.0 >= 300 {
        assert!(began.elapsed() < 2 * PATIENCE);
        sleep(Duration::from_millis(200)).await;
    }
}

/// A lock outlasts `lock_timeout`: events are retried, and opening the store waits for a concurrent migration.
#[tokio::test]
async fn a_lock_that_is_held_for_long_is_waited_for() {
    let server = Server::start("pg-long");
    let store = server.store(Time::Database).await;
    let run = submit(&store, Millis(0), job("a")).await;
    let mut held = hold(&server, &[&run]).await;
    let migrate = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MIGRATING);
    migrate.execute(&mut held).await.expect("held");
    let free = async {
        sleep(Duration::from_secs(12)).await;
        let_go(held).await;
    };
    let cancel = store.handle(Millis(0), Event::CancelRun { run_id: run.clone() });
    let start = server.store(Time::Database);
    let (canceled, other, ()) = tokio::join!(cancel, start, free);
    canceled.expect("a store").reply.expect("canceled");
    let rows = other.run(&run).await.expect("rows").expect("a run");
    assert!(rows.jobs[0].job.outcome().is_some(), "{rows:?}");
}

#[tokio::test]
async fn a_run_that_somebody_has_hides_no_work() {
    let server = Server::start("pg-hidden");
    let store = server.store(Time::Database).await;
    let urgent = submit_many(&store, 10, &JobSubmission { priority: 100, ..job("a") }).await;
    let other = submit(&store, Millis(0), job("b")).await;
    let held = hold(&server, &[&urgent]).await;
    let granted = timeout(SOON, take(&store, Millis(0), "a")).await.expect("an answer");
    assert_eq!(granted.run_id, other);
    let_go(held).await;
    assert_eq!(take(&store, Millis(0), "b").await.run_id, urgent);
}

/// Nor do strangers who show keys.
#[tokio::test]
async fn people_who_wait_for_a_run_keep_nobody_from_another() {
    let server = Server::start("pg-people");
    let store = Arc::new(server.store(Time::Database).await);
    let wanted = submit(&store, Millis(0), job("a")).await;
    let mut held = hold(&server, &[&wanted]).await;
    let keys = "LOCK TABLE worker IN ACCESS EXCLUSIVE MODE";
    sqlx::raw_sql(keys).execute(&mut held).await.expect("held");
    let cancels: Vec<_> = (0..20)
        .map(|_| {
            let (store, run_id) = (store.clone(), wanted.clone());
            tokio::spawn(async move { store.handle(Millis(0), Event::CancelRun { run_id }).await })
        })
        .collect();
    let looks: Vec<_> = (0..20)
        .map(|n: u64| {
            let (store, id) = (store.clone(), KeyId::new(&format!("{n:024x}")));
            tokio::spawn(async move { store.worker(&id.expect("an id")).await })
        })
        .collect();
    sleep(Duration::from_millis(500)).await;
    let others = async {
        ask(&store, Millis(0), Event::Sweep).await;
        let run = submit(&store, Millis(0), job("b")).await;
        assert_eq!(take(&store, Millis(0), "a").await.run_id, run);
    };
    timeout(SOON, others).await.expect("nobody is in their way");
    let_go(held).await;
    for cancel in cancels {
        cancel.await.expect("done").expect("a store").reply.expect("canceled");
    }
    for look in looks {
        assert_eq!(look.await.expect("done").expect("a store"), None);
    }
}

#[tokio::test]
async fn a_sweep_ends_what_is_behind_runs_that_somebody_has() {
    let server = Server::start("pg-behind");
    let policy = Policy {
        lease_ttl_seconds: 1,
        heartbeat_interval_seconds: 1,
        sweep_lapses_max: 4,
        ..Policy::default()
    };
    let store = Postgres::open(&server.url, policy, Time::Database, Millis(0)).await;
    let store = store.expect("a store");
    let busy = submit_many(&store, 9, &job("a")).await;
    for n in 0..9 {
        take(&store, Millis(0), &format!("a{n}")).await;
    }
    let lost = submit(&store, Millis(0), job("b")).await;
    take(&store, Millis(0), "b").await;
    let soon = JobSubmission { start_within_seconds: Some(1), ..job("c") };
    let busy_too = submit_many(&store, 9, &soon).await;
    let late = submit(&store, Millis(0), soon).await;
    let held = hold(&server, &[&busy, &busy_too]).await;
    let began = Instant::now();
    loop {
        ask(&store, Millis(0), Event::Sweep).await;
        let lost = store.run(&lost).await.expect("rows").expect("a run");
        let lives = lost.jobs[0].lease.as_ref().is_some_and(|lease| lease.state.live());
        let late = store.run(&late).await.expect("rows").expect("a run");
        if !lives && late.jobs[0].job.outcome().is_some() {
            break;
        }
        assert!(began.elapsed() < 2 * SOON, "{lost:?} {late:?}");
        sleep(Duration::from_millis(300)).await;
    }
    let_go(held).await;
}

#[tokio::test]
async fn a_run_that_is_wanted_again_twice_by_the_same_key_is_answered_by_what_was_made() {
    let server = Server::start("pg-rerun");
    let store = server.store(Time::Database).await;
    let of = submit(&store, Millis(0), job("a")).await;
    let rerun = async || {
        let run_id = random_id(RunId::PREFIX, RunId::new);
        let again = Event::Rerun {
            of: of.clone(),
            run_id,
            key: Some("again".to_owned()),
            priority_max: i16::MAX,
            label: None,
        };
        match ask(&store, Millis(0), again).await {
            Reply::Submitted { run_id, before } => (run_id, before),
            other => panic!("{other:?}"),
        }
    };
    let (made, before) = rerun().await;
    assert!(!before);
    let held = hold(&server, &[&of]).await;
    assert_eq!(timeout(SOON, rerun()).await.expect("an answer"), (made, true));
    let_go(held).await;
}

/// Somebody mends the table of logs, and has it for a while. Nobody's log can be written, and everybody's lease lives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_that_nobody_can_write_keep_no_heartbeat_waiting() {
    const RUNNERS: usize = 8;
    let server = Server::start("pg-logs");
    let store = Arc::new(server.store(Time::Database).await);
    submit_many(&store, RUNNERS, &job("a")).await;
    let mut leases = Vec::new();
    for n in 0..RUNNERS {
        leases.push(take(&store, Millis(0), &n.to_string()).await.lease_id);
    }
    let mut sql = server.sql().await;
    let lock = "BEGIN; LOCK TABLE log IN ACCESS EXCLUSIVE MODE";
    sqlx::raw_sql(lock).execute(&mut sql).await.expect("locked");
    let mut logs = JoinSet::new();
    for (n, lease_id) in leases.iter().enumerate() {
        let (store, runner_id) = (store.clone(), runner_id(&n.to_string()));
        let (lease_id, data) = (lease_id.clone(), b"x".to_vec());
        let piece = LogChunk { lease_id, runner_id, number: 0, offset: 0, data };
        logs.spawn(async move {
            let mut refused = 0;
            loop {
                // As a worker does: it sends the same again.
                match store.handle(Millis(0), Event::Log(piece.clone())).await {
                    Ok(handled) => return (handled.reply, refused),
                    Err(_) => refused += 1,
                }
            }
        });
    }
    let began = Instant::now();
    let mut seq = 0;
    while began.elapsed() < 2 * LOCK {
        seq += 1;
        for (n, lease_id) in leases.iter().enumerate() {
            let beat = heartbeat(lease_id, &runner_id(&n.to_string()), seq);
            let beat = timeout(SOON, ask(&store, Millis(0), Event::Heartbeat(beat))).await;
            assert!(matches!(beat, Ok(Reply::Beat(_))), "{n}, {seq}: {beat:?}");
        }
        timeout(SOON, ask(&store, Millis(0), Event::Sweep)).await.expect("in time");
        sleep(Duration::from_millis(100)).await;
    }
    let_go(sql).await;
    let mut refused = 0;
    while let Some(told) = timeout(PATIENCE, logs.join_next()).await.expect("in time") {
        let (told, times) = told.expect("it ends");
        assert!(matches!(told, Ok(Reply::Logged(_))), "{told:?}");
        refused += times;
    }
    assert!(refused > 0, "it was locked");
}
