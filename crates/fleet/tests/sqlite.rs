//! The file: what was answered survives a kill, and nobody else can open it.

use crate::common;

use common::{complete, forgets, heartbeat, job, lease_id, run_id, runner_id, submission};
use futures::FutureExt as _;
use remuda_fleet::id::{JobId, RunId};
use remuda_fleet::lease::{AttemptState, Event, Idempotency, Policy, Refusal, Reply, Rows};
use remuda_fleet::message::{AckLease, CompleteStatus, LeaseRequest, LogChunk, UploadRequest};
use remuda_fleet::store::{Sqlite, Store, StoreError};
use remuda_fleet::time::Millis;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NOW: Millis = Millis(1_000_000);

fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sqlite-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join("fleet.db")
}

async fn submit(store: &Sqlite, run_id: RunId) {
    let event = Event::Submit { run_id, key: None, submission: submission(vec![job("a")]) };
    let handled = store.handle(NOW, event).await.expect("a store");
    assert!(handled.reply.is_ok(), "{handled:?}");
}

/// Enqueue is done; grant, acknowledge, complete. Returns the job.
async fn work(store: &Sqlite, n: u64) -> JobId {
    let runner = runner_id(&n.to_string());
    let request = LeaseRequest {
        runner_id: runner.clone(),
        capabilities: BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let event = Event::Lease { lease_id: lease_id(n), cancel_token: None, request };
    let granted = match store.handle(NOW, event).await.expect("a store").reply {
        Ok(Reply::Granted(granted)) => granted,
        other => panic!("{other:?}"),
    };
    let ack = AckLease {
        job_id: granted.job_id.clone(),
        lease_id: granted.lease_id.clone(),
        runner_id: runner.clone(),
        accepted_at: None,
    };
    let acked = store.handle(NOW, Event::Ack(ack)).await.expect("a store");
    assert!(acked.reply.is_ok(), "{acked:?}");
    let message = complete(&granted.lease_id, &runner, CompleteStatus::Succeeded);
    let completed = store.handle(NOW, Event::Complete(message)).await.expect("a store");
    assert!(completed.reply.is_ok(), "{completed:?}");
    granted.job_id
}

#[tokio::test]
async fn a_runner_that_left_is_granted_nothing() {
    let path = fresh("left");
    let store = Sqlite::open(&path, Policy::default(), NOW).await.expect("a file");
    submit(&store, run_id(1)).await;
    let request = LeaseRequest {
        runner_id: runner_id("gone"),
        capabilities: BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let event = Event::Lease { lease_id: lease_id(9), cancel_token: None, request };
    // It has asked, and is gone before anybody looked at what it asked.
    let asked = std::pin::pin!(store.handle(NOW, event)).now_or_never();
    assert!(asked.is_none());
    let done = work(&store, 1).await;
    let job = store.job(&done).await.expect("rows").expect("a job").job;
    assert_eq!(job.fence.0, 1, "it was granted once");
}

#[tokio::test]
async fn a_second_orchestrator_cannot_open_the_file() {
    let path = fresh("twice");
    let first = Sqlite::open(&path, Policy::default(), NOW).await.expect("a file");
    submit(&first, run_id(0)).await;
    let second = Sqlite::open(&path, Policy::default(), NOW).await;
    assert!(matches!(second, Err(StoreError::Database(_))), "{second:?}");
    first.close().await.expect("closed");
    Sqlite::open(&path, Policy::default(), NOW).await.expect("free again");
}

#[tokio::test]
async fn what_was_kept_long_enough_is_gone_from_the_file_too() {
    let path = fresh("forget");
    let store = Sqlite::open(&path, Policy::default(), NOW).await.expect("a file");
    forgets(&store, NOW).await;
    let before = store.snapshot().await.expect("rows");
    store.close().await.expect("closed");
    let store = Sqlite::open(&path, Policy::default(), NOW).await.expect("a file");
    let after = store.snapshot().await.expect("rows");
    assert!(before.runs().eq(after.runs()) && before.jobs().eq(after.jobs()));
    assert_eq!(after.leases().count(), 0);
    let memory = remuda_fleet::store::Memory::new(Policy::default());
    forgets(&memory, NOW).await;
}

#[tokio::test]
async fn a_file_of_another_version_is_not_touched() {
    let path = fresh("version");
    Sqlite::open(&path, Policy::default(), NOW).await.expect("a file").close().await.expect("ok");
    let url = format!("sqlite://{}", path.display());
    let mut other = <sqlx::SqliteConnection as sqlx::Connection>::connect(&url).await.expect("sql");
    sqlx::raw_sql("PRAGMA user_version = 77").execute(&mut other).await.expect("set");
    drop(other);
    let error = Sqlite::open(&path, Policy::default(), NOW).await.expect_err("another version");
    assert!(error.to_string().contains("77"), "{error}");
}

/// Fault 13: thousands whose leases end in the same moment are ended a few at a time, and one that
/// beats is answered in between.
#[tokio::test]
async fn three_thousand_silent_runners_do_not_hold_up_one_that_beats() {
    const SILENT: u64 = 3_000;
    let policy = Policy { outage_after_seconds: 20, ..Policy::default() };
    let store = Sqlite::open(&fresh("herd"), policy, NOW).await.expect("a file");
    let after = |seconds: u64| Millis(NOW.0 + seconds * 1_000);
    let take = async |now, n: u64| {
        let runner_id = runner_id(&n.to_string());
        let submission = submission(vec![job("a")]);
        let event = Event::Submit { run_id: run_id(n), key: None, submission };
        store.handle(now, event).await.expect("a store").reply.expect("submitted");
        let request = LeaseRequest {
            runner_id: runner_id.clone(),
            capabilities: BTreeSet::new(),
            max_wait_seconds: 0,
        };
        let event = Event::Lease { lease_id: lease_id(n), cancel_token: None, request };
        let reply = store.handle(now, event).await.expect("a store").reply;
        let Ok(Reply::Granted(granted)) = reply else { panic!("{reply:?}") };
        let (job_id, lease_id) = (granted.job_id.clone(), granted.lease_id.clone());
        let ack = AckLease { job_id, lease_id, runner_id, accepted_at: None };
        store.handle(now, Event::Ack(ack)).await.expect("a store").reply.expect("acked");
    };
    futures::future::join_all((0..SILENT).map(|n| take(NOW, n))).await;
    // Sweeps go on meanwhile, or it would be taken for an outage.
    for seconds in (10..=110).step_by(10) {
        let swept = store.handle(after(seconds), Event::Sweep).await.expect("a store").reply;
        assert_eq!(swept, Ok(Reply::Swept { expired: 0, more: false }));
    }
    take(after(110), SILENT).await;
    let (mut ended, mut beats) = (0, 0);
    loop {
        let swept = store.handle(after(121), Event::Sweep).await.expect("a store").reply;
        let Ok(Reply::Swept { expired, more }) = swept else { panic!("{swept:?}") };
        assert!(expired <= Policy::default().sweep_lapses_max);
        ended += expired as u64;
        beats += 1;
        let beat = heartbeat(&lease_id(SILENT), &runner_id(&SILENT.to_string()), beats);
        let beat = store.handle(after(121), Event::Heartbeat(beat)).await.expect("a store").reply;
        assert!(matches!(&beat, Ok(Reply::Beat(ack)) if ack.extend_lease), "{beat:?}");
        if !more {
            break;
        }
    }
    assert_eq!(ended, SILENT);
    assert!(beats > 10, "{beats}");
}

/// Not a test: what the next one starts and kills. It says which jobs it was told are complete.
#[tokio::test]
#[ignore = "started by another test"]
async fn works_until_it_is_killed() {
    let Ok(path) = std::env::var("FLEET_TEST_FILE") else { return };
    let store = Sqlite::open(Path::new(&path), Policy::default(), NOW).await.expect("a file");
    for n in 0.. {
        submit(&store, run_id(n)).await;
        let job = work(&store, n).await;
        println!("done {job}");
        std::io::stdout().flush().expect("a reader");
    }
}

/// Faults 1 and 7, the store's half.
#[tokio::test]
async fn what_was_answered_survives_a_kill() {
    let path = fresh("kill");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "sqlite::works_until_it_is_killed", "--nocapture"])
        .env("FLEET_TEST_FILE", &path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let told = |line: &str| {
        let id = line.split("done ").nth(1)?;
        JobId::new(id.trim()).ok()
    };
    let done: Vec<JobId> =
        lines.map_while(Result::ok).filter_map(|line| told(&line)).take(40).collect();
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert_eq!(done.len(), 40);
    let store = Sqlite::open(&path, Policy::default(), NOW).await.expect("a file");
    let tables = store.snapshot().await.expect("rows");
    for id in done {
        let outcome = tables.job(&id).and_then(|job| job.outcome().cloned());
        assert_eq!(outcome.map(|outcome| outcome.status), Some(AttemptState::Succeeded), "{id}");
    }
}

/// Memory is bounded: runs that ended first go first, before their time; open ones never do, and when
/// only those are left nothing more is taken. After a restart it is counted as before.
#[tokio::test]
async fn what_ended_first_makes_room_and_what_is_open_stays() {
    let file = fresh("room");
    let policy = Policy { rows_bytes_max: 560 * 1_024, ..Policy::default() };
    let store = Sqlite::open(&file, policy.clone(), NOW).await.expect("a store");
    let large = |n: u64| {
        let mut order = job("a");
        order.job_spec.as_mut().expect("a spec").steps = vec!["x".repeat(100_000)];
        Event::Submit { run_id: run_id(n), key: None, submission: submission(vec![order]) }
    };
    let ask = async |store: &Sqlite, event| store.handle(NOW, event).await.expect("a store").reply;
    let later = NOW.plus_seconds(61);
    for n in 1..=5 {
        ask(&store, large(n)).await.expect("room");
        work(&store, n).await;
    }
    ask(&store, large(6)).await.expect("room");
    assert_eq!(ask(&store, large(7)).await, Err(Refusal::Full));
    store.close().await.expect("closed");

    let store = Sqlite::open(&file, policy, NOW).await.expect("a store");
    assert_eq!(ask(&store, large(7)).await, Err(Refusal::Full), "counted again at the start");
    let keep = Event::Forget { keep_seconds: 1_000_000 };
    let early = ask(&store, keep.clone()).await;
    let none = Reply::Forgot { runs: vec![], with_objects: vec![], more: false };
    assert_eq!(early, Ok(none), "they ended just now");
    let ask = async |store: &Sqlite, event| store.handle(later, event).await.expect("ok").reply;
    let Ok(Reply::Forgot { runs, more: false, .. }) = ask(&store, keep.clone()).await else {
        panic!("forgot nothing")
    };
    assert_eq!(runs, [run_id(1), run_id(2)], "three quarters are left");
    for n in 7..=12 {
        // Room is made for those that are open only as long as others have ended.
        let taken = ask(&store, large(n)).await;
        ask(&store, keep.clone()).await.expect("forgot");
        assert_eq!(taken.is_ok(), n < 12, "{n}: {taken:?}");
    }
    let left = store.snapshot().await.expect("rows");
    assert!(left.runs().all(|run| run.open == 1), "{left:?}");
    assert_eq!(left.runs().count(), 6);
}

/// The half of the memory is the most that one submitter's open runs take: others have room.
#[tokio::test]
async fn one_submitters_open_runs_leave_room_for_others() {
    let policy = Policy { rows_bytes_max: 64 * 1_024, ..Policy::default() };
    let store = Sqlite::open(&fresh("share"), policy, NOW).await.expect("a store");
    let submit = async |who: &str, n: u64| {
        let mut order = job("a");
        order.job_spec.as_mut().expect("a spec").steps = vec!["x".repeat(10_000)];
        let key = Some(Idempotency::key(who, &n.to_string()));
        let event = Event::Submit { run_id: run_id(n), key, submission: submission(vec![order]) };
        store.handle(NOW, event).await.expect("a store").reply
    };
    for n in 1..=3 {
        submit("eve", n).await.expect("room");
    }
    assert_eq!(submit("eve", 4).await, Err(Refusal::Full));
    submit("ada", 5).await.expect("room for others");
    // What ended is nobody's share.
    work(&store, 1).await;
    submit("eve", 4).await.expect("room again");
}

/// Logs of all jobs together are bounded: beyond it a piece is refused, and the job goes on.
#[tokio::test]
async fn logs_do_not_fill_the_disk() {
    let policy = Policy { logs_bytes_max: 100, ..Policy::default() };
    let store = Sqlite::open(&fresh("logs"), policy, NOW).await.expect("a store");
    for n in 1..=2 {
        submit(&store, run_id(n)).await;
        let request = LeaseRequest {
            runner_id: runner_id(&n.to_string()),
            capabilities: BTreeSet::new(),
            max_wait_seconds: 0,
        };
        let event = Event::Lease { lease_id: lease_id(n), cancel_token: None, request };
        let granted = match store.handle(NOW, event).await.expect("a store").reply {
            Ok(Reply::Granted(granted)) => granted,
            other => panic!("{other:?}"),
        };
        let ack = AckLease {
            job_id: granted.job_id.clone(),
            lease_id: lease_id(n),
            runner_id: runner_id(&n.to_string()),
            accepted_at: None,
        };
        assert!(store.handle(NOW, Event::Ack(ack)).await.expect("a store").reply.is_ok());
        let log = LogChunk {
            lease_id: lease_id(n),
            runner_id: runner_id(&n.to_string()),
            number: 0,
            offset: 0,
            data: vec![b'x'; 60],
        };
        let logged = store.handle(NOW, Event::Log(log)).await.expect("a store").reply;
        assert_eq!(logged.is_ok(), n == 1, "{logged:?}");
        let beat = heartbeat(&lease_id(n), &runner_id(&n.to_string()), 1);
        assert!(store.handle(NOW, Event::Heartbeat(beat)).await.expect("a store").reply.is_ok());
    }
}

/// A quarter of the room for logs and objects is always for others than the one who has most.
#[tokio::test]
async fn one_submitters_logs_and_objects_leave_room_for_others() {
    let policy = Policy { logs_bytes_max: 100, objects_bytes_max: 1_000, ..Policy::default() };
    let path = fresh("kept");
    let store = Sqlite::open(&path, policy.clone(), NOW).await.expect("a store");
    // Who, how much of a log, how much of an object, and whether each is kept.
    let turns = [
        ("eve", 40, 600, true, true),
        ("eve", 36, 151, false, false),
        ("eve", 35, 150, true, true),
        ("ada", 26, 250, false, true),
        ("ada", 25, 1, true, true),
    ];
    let turn = async |store: &Sqlite, n: u64, (who, log, object, logged, stored)| {
        let (lease_id, runner_id) = (lease_id(n), runner_id(&n.to_string()));
        let ask = async |event| store.handle(NOW, event).await.expect("a store").reply;
        let key = Some(Idempotency::key(who, &n.to_string()));
        let submit =
            Event::Submit { run_id: run_id(n), key, submission: submission(vec![job("a")]) };
        ask(submit).await.expect("submitted");
        let request = LeaseRequest {
            runner_id: runner_id.clone(),
            capabilities: BTreeSet::new(),
            max_wait_seconds: 0,
        };
        let lease = Event::Lease { lease_id: lease_id.clone(), cancel_token: None, request };
        let Ok(Reply::Granted(granted)) = ask(lease).await else { panic!("no work") };
        let ack = AckLease {
            job_id: granted.job_id.clone(),
            lease_id: lease_id.clone(),
            runner_id: runner_id.clone(),
            accepted_at: None,
        };
        ask(Event::Ack(ack)).await.expect("acknowledged");
        let chunk = LogChunk {
            lease_id: lease_id.clone(),
            runner_id: runner_id.clone(),
            number: 0,
            offset: 0,
            data: vec![b'x'; log],
        };
        let reply = ask(Event::Log(chunk)).await;
        assert_eq!(reply.is_ok(), logged, "{n}: {reply:?}");
        let upload = UploadRequest { lease_id, runner_id, name: "o".to_owned(), bytes: object };
        // The same again is the same: its answer was lost.
        for _ in 0..2 {
            let reply = ask(Event::Upload(upload.clone())).await;
            assert_eq!(reply.is_ok(), stored, "{n}: {reply:?}");
        }
    };
    for (n, expected) in (1..).zip(turns) {
        turn(&store, n, expected).await;
    }
    // A restart knows what everybody has; what is forgotten is nobody's.
    store.close().await.expect("closed");
    let store = Sqlite::open(&path, policy, NOW).await.expect("a store");
    turn(&store, 6, ("eve", 1, 1, false, false)).await;
    for n in [1, 6] {
        let cancel = Event::CancelRun { run_id: run_id(n) };
        store.handle(NOW, cancel).await.expect("a store").reply.expect("canceled");
        let done = complete(&lease_id(n), &runner_id(&n.to_string()), CompleteStatus::Succeeded);
        store.handle(NOW, Event::Complete(done)).await.expect("a store").reply.expect("ended");
    }
    let forget = Event::Forget { keep_seconds: 1 };
    let later = Millis(NOW.0 + 10_000);
    let forgot = store.handle(later, forget).await.expect("a store").reply;
    assert!(matches!(&forgot, Ok(Reply::Forgot { runs, .. }) if runs.len() == 2), "{forgot:?}");
    turn(&store, 7, ("eve", 40, 600, true, true)).await;
}

/// Pieces of any length: each place in a log is found, and what is behind it.
#[tokio::test]
async fn a_log_is_read_from_any_place() {
    let store = Sqlite::open(&fresh("places"), Policy::default(), NOW).await.expect("a store");
    submit(&store, run_id(1)).await;
    let request = LeaseRequest {
        runner_id: runner_id("1"),
        capabilities: BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let event = Event::Lease { lease_id: lease_id(1), cancel_token: None, request };
    let Ok(Reply::Granted(granted)) = store.handle(NOW, event).await.expect("a store").reply else {
        panic!("no work");
    };
    let (job_id, runner) = (granted.job_id.clone(), runner_id("1"));
    assert_eq!(store.log(&job_id, granted.fence, 0, 10).await.expect("a log"), b"");
    let ack = AckLease {
        job_id: job_id.clone(),
        lease_id: lease_id(1),
        runner_id: runner.clone(),
        accepted_at: None,
    };
    assert!(store.handle(NOW, Event::Ack(ack)).await.expect("a store").reply.is_ok());
    let mut all: Vec<u8> = vec![];
    for number in 0..40 {
        let data: Vec<u8> = (0..=number % 7).map(|n| b'a' + (number + n) as u8 % 26).collect();
        let log = LogChunk {
            lease_id: lease_id(1),
            runner_id: runner.clone(),
            number,
            offset: all.len() as u64,
            data: data.clone(),
        };
        assert!(store.handle(NOW, Event::Log(log)).await.expect("a store").reply.is_ok());
        all.extend(data);
    }
    for offset in 0..all.len() + 3 {
        let rest = all.get(offset..).unwrap_or_default();
        let log = store.log(&job_id, granted.fence, offset as u64, usize::MAX).await;
        assert_eq!(log.expect("a log"), rest, "{offset}");
        let some = store.log(&job_id, granted.fence, offset as u64, 1).await.expect("a log");
        assert!(rest.starts_with(&some) && some.is_empty() == rest.is_empty(), "{offset}");
    }
}
