//! The store in PostgreSQL: the same histories as the others, and several orchestrators at once.

mod cut;
mod killed;
mod locks;
mod plan;
mod time;
mod tls;

use crate::parts::peer::{self, Door, Fleet, Peer};
use crate::parts::suite::common::{complete, forgets, job, runner_id, submission};
use crate::parts::suite::{Place, histories, naive, policy, seeds, several};
use crate::parts::support::{Folder, Running, part};
use remuda_fleet::auth::random_id;
use remuda_fleet::id::{LeaseId, RunId};
use remuda_fleet::lease::{AttemptState, Event, Policy, Reply};
use remuda_fleet::message::{AckLease, CompleteStatus, Label, LeaseRequest};
use remuda_fleet::store::{Postgres, Store, Time};
use remuda_fleet::time::Millis;
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;

/// A server that runs until this is dropped.
struct Server {
    running: Option<Running>,
    folder: Folder,
    fsync: bool,
    /// Besides the usual ones.
    settings: Vec<String>,
    url: String,
}

impl Server {
    fn start(name: &str) -> Self {
        // Most are never killed: waiting for the disk would only take time.
        Self::with(name, false)
    }

    fn with(name: &str, fsync: bool) -> Self {
        let mut server = Self::made(name, fsync);
        server.run();
        server
    }

    /// One that does not run yet.
    fn made(name: &str, fsync: bool) -> Self {
        let folder = Folder::new(name);
        let made = Command::new(part("postgres").join("bin/initdb"))
            .args(["-A", "trust", "-U", "fleet", "--no-sync", "-E", "UTF8", "-D"])
            .arg(folder.path().join("data"))
            .output()
            .expect("initdb");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let url = format!("postgres://fleet@localhost/postgres?host={}", folder.path().display());
        Self { running: None, folder, fsync, settings: vec![], url }
    }

    /// On the data and the socket of this folder, whatever was there before.
    fn run(&mut self) {
        let mut postgres = Command::new(part("postgres").join("bin/postgres"));
        let fsync = if self.fsync { "fsync=on" } else { "fsync=off" };
        postgres.args(["-c", "listen_addresses=", "-c", fsync, "-k"]).arg(self.folder.path());
        for setting in &self.settings {
            postgres.args(["-c", setting]);
        }
        postgres.arg("-D").arg(self.folder.path().join("data"));
        let mut running = Running::start(&self.folder, "postgres", &postgres);
        running.until(|| answers(&self.url).then_some(()));
        self.running = Some(running);
    }

    async fn store(&self, time: Time) -> Postgres {
        Postgres::open(&self.url, Policy::default(), time, Millis(0)).await.expect("a store")
    }

    /// Somebody else's connection.
    async fn sql(&self) -> sqlx::PgConnection {
        <sqlx::PgConnection as sqlx::Connection>::connect(&self.url).await.expect("sql")
    }
}

/// Whether the server accepts connections. Runs on its own thread, since tests already have a runtime.
fn answers(url: &str) -> bool {
    let connects = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let sql = <sqlx::PgConnection as sqlx::Connection>::connect(url).await?;
            sqlx::Connection::close(sql).await
        })
    };
    std::thread::scope(|scope| scope.spawn(connects).join()).is_ok_and(|end| end.is_ok())
}

thread_local! {
    /// Where the histories of this thread take place.
    static URL: RefCell<String> = const { RefCell::new(String::new()) };
}

struct OnServer;

impl OnServer {
    async fn connect(now: Millis) -> Postgres {
        let url = URL.with_borrow(String::clone);
        Postgres::open(&url, policy(), Time::Caller, now).await.expect("a store")
    }
}

impl Place for OnServer {
    type Store = Postgres;

    async fn open(now: Millis) -> Postgres {
        let url = URL.with_borrow(String::clone);
        let mut sql = <sqlx::PgConnection as sqlx::Connection>::connect(&url).await.expect("sql");
        let empty = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
        sqlx::raw_sql(empty).execute(&mut sql).await.expect("emptied");
        Self::connect(now).await
    }

    async fn restart(store: Postgres, now: Millis) -> Postgres {
        store.close().await;
        Self::connect(now).await
    }
}

#[test]
fn on_a_server_every_job_and_lease_is_accounted_for() {
    let server = Server::start("pg-history");
    URL.set(server.url.clone());
    histories::<OnServer>(&seeds(2), 4);
}

/// What comes while a batch is decided is in the next, and what is not common has a transaction beside both.
#[test]
fn on_a_server_what_is_asked_together_is_accounted_for() {
    let server = Server::start("pg-together");
    URL.set(server.url.clone());
    several::<OnServer>(&seeds(3), 6, 12);
}

/// Works until nothing is left to do; how many jobs it did.
async fn work(store: Arc<Postgres>, name: String) -> usize {
    let (runner, mut done, mut idle) = (runner_id(&name), 0, 0);
    while idle < 20 {
        let request = LeaseRequest {
            runner_id: runner.clone(),
            capabilities: BTreeSet::new(),
            max_wait_seconds: 0,
        };
        let lease_id = random_id(LeaseId::PREFIX, LeaseId::new);
        let event = Event::Lease { lease_id, cancel_token: None, request };
        let granted = match store.handle(Millis(0), event).await.expect("a store").reply {
            Ok(Reply::Granted(granted)) => granted,
            Ok(Reply::NoWork(_)) => {
                idle += 1;
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                continue;
            }
            other => panic!("{other:?}"),
        };
        idle = 0;
        let ack = AckLease {
            job_id: granted.job_id.clone(),
            lease_id: granted.lease_id.clone(),
            runner_id: runner.clone(),
            accepted_at: None,
        };
        store.handle(Millis(0), Event::Ack(ack)).await.expect("a store").reply.expect("acked");
        let end = Event::Complete(complete(&granted.lease_id, &runner, CompleteStatus::Succeeded));
        store.handle(Millis(0), end.clone()).await.expect("a store").reply.expect("completed");
        let again = store.handle(Millis(0), end).await.expect("a store").reply;
        assert!(matches!(again, Ok(Reply::Completed(_))), "{again:?}");
        done += 1;
    }
    done
}

/// No run is old enough.
const FORGET: Event = Event::Forget { keep_seconds: 1_000_000 };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_orchestrators_grant_each_job_once_and_keep_every_limit() {
    let server = Server::start("pg-two");
    let stores = [
        Arc::new(server.store(Time::Database).await),
        Arc::new(server.store(Time::Database).await),
    ];
    let label = Label::new("few").expect("a label");
    let limit = Event::SetLimit { label: label.clone(), limit: Some(2) };
    stores[0].handle(Millis(0), limit).await.expect("a store").reply.expect("set");
    for index in 0..12 {
        let jobs = (0..10).map(|n| {
            let mut job = job(&format!("j{n}"));
            if n % 3 == 0 {
                job.labels.insert(label.clone());
            }
            job.labels.insert(Label::new(&format!("free-{}", n % 4)).expect("a label"));
            if n == 9 {
                job.needs = (0..9).map(|n| format!("j{n}")).collect();
            }
            job
        });
        let mut submission = submission(jobs.collect());
        submission.max_parallel = (index % 2 == 0).then_some(3);
        let run_id = random_id(RunId::PREFIX, RunId::new);
        let event = Event::Submit { run_id, key: None, submission };
        stores[index % 2]
            .handle(Millis(0), event)
            .await
            .expect("a store")
            .reply
            .expect("submitted");
    }
    let workers: Vec<_> =
        (0..8).map(|n| tokio::spawn(work(stores[n % 2].clone(), n.to_string()))).collect();
    let watching = async {
        // While they work: no limit is ever exceeded, no sum is ever wrong.
        for _ in 0..20 {
            let tables = stores[0].snapshot().await.expect("rows");
            naive::account(&tables, &Policy::default()).expect("accounts");
            let few = tables.labels().find(|record| record.label == label).expect("a label");
            assert!(few.in_use <= 2, "{few:?}");
            // Labels that are unused for a moment are removed, and come back with the next grant.
            stores[1].handle(Millis(0), FORGET).await.expect("a store").reply.expect("forgot");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let (done, ()) = tokio::join!(futures::future::join_all(workers), watching);
    let done: usize = done.into_iter().map(|done| done.expect("worked")).sum();
    assert_eq!(done, 120);
    let tables = stores[1].snapshot().await.expect("rows");
    naive::account(&tables, &Policy::default()).expect("accounts");
    for job in tables.jobs() {
        assert_eq!(job.outcome().map(|end| end.status), Some(AttemptState::Succeeded), "{job:?}");
        assert_eq!(job.fence.0, 1, "granted once: {job:?}");
    }
    // A label without limit and use has no row.
    stores[0].handle(Millis(0), FORGET).await.expect("a store").reply.expect("forgot");
    let labels = sqlx::query_scalar::<_, String>("SELECT label FROM label");
    assert_eq!(labels.fetch_all(&mut server.sql().await).await.expect("labels"), ["few"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_at_two_orchestrators_is_one_run() {
    let server = Server::start("pg-key");
    let stores = [server.store(Time::Database).await, server.store(Time::Database).await];
    for round in 0..10 {
        let submit = async |store: &Postgres| {
            let event = Event::Submit {
                run_id: random_id(RunId::PREFIX, RunId::new),
                key: Some(format!("k{round}")),
                submission: submission(vec![job("a")]),
            };
            match store.handle(Millis(0), event).await.expect("a store").reply {
                Ok(Reply::Submitted { run_id, before }) => (run_id, before),
                other => panic!("{other:?}"),
            }
        };
        let (one, two) = tokio::join!(submit(&stores[0]), submit(&stores[1]));
        assert_eq!(one.0, two.0);
        assert_ne!(one.1, two.1, "one of them was first");
    }
    let runs = stores[0].runs(None, 100).await.expect("runs");
    assert_eq!(runs.len(), 10);
    let rest = stores[0].runs(Some((runs[3].created_at, runs[3].run_id.clone())), 100).await;
    assert_eq!(rest.expect("runs"), runs[4..]);
}

/// A runner waits at one orchestrator, which does not look again for an hour; the work comes to the
/// other.
#[tokio::test]
async fn a_runner_hears_of_work_that_came_to_another_orchestrator() {
    let database = Server::start("pg-news");
    let orchestrator = || {
        crate::parts::server::Server::with(|config| {
            config.store = remuda_fleet::orchestrator::StoreConfig::Postgres(database.url.clone());
            config.look_again = std::time::Duration::from_secs(3_600);
        })
    };
    let (here, there) = (orchestrator().await, orchestrator().await);
    let ask = json!({ "runner_id": "runner_a", "capabilities": [], "max_wait_seconds": 60 });
    let waiting = here.ok("/internal/lease", ask);
    let submitting = async {
        tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
        there.submit().await
    };
    let began = std::time::Instant::now();
    let (granted, _) = tokio::join!(waiting, submitting);
    assert_eq!(granted["type"], "LeaseGranted", "{granted}");
    assert!(began.elapsed() < std::time::Duration::from_secs(40), "told, not found by chance");
    // Nor is anything decided twice by it: what one grants the other knows.
    here.take_granted(&granted, "runner_a").await;
    here.complete(&granted, "runner_a").await;
    let (one, two) = (here.get("/runs").await.1, there.get("/runs").await.1);
    assert_eq!(one, two);
    here.stop().await;
    there.stop().await;
}

/// Many runners at once, so that batches are large, with everything that a runner does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_decided_together_is_accounted_for() {
    let server = Server::start("pg-batch");
    let store = Arc::new(server.store(Time::Database).await);
    let load = remuda_fleet::bench::Load { runners: 64, jobs_each: 6, beats_each: 6 };
    let figures = remuda_fleet::bench::store(store.clone(), load).await.expect("figures");
    assert_eq!(figures.jobs, 64 * 6);
    let tables = store.snapshot().await.expect("rows");
    naive::account(&tables, &Policy::default()).expect("accounts");
    // Each does six that are counted, two before the clock starts, and one while it beats.
    assert_eq!(tables.jobs().filter(|job| job.outcome().is_some()).count(), 64 * 9);
    assert!(tables.jobs().all(|job| job.fence.0 == 1), "each was granted once");
    let places: BTreeSet<u64> = tables.jobs().map(|job| job.seq).collect();
    assert_eq!(places.len(), 64 * 9, "each has a place of its own");
}

#[tokio::test]
async fn what_was_kept_long_enough_is_gone_from_the_server() {
    let server = Server::start("pg-forget");
    let now = Millis(1_000_000);
    let store = Postgres::open(&server.url, Policy::default(), Time::Caller, now).await;
    forgets(&store.expect("a store"), now).await;
}

/// Fault 8: the callers' clocks are an hour apart, and nobody's lease ends.
#[tokio::test]
async fn only_the_databases_clock_counts() {
    let server = Server::start("pg-clock");
    let store = server.store(Time::Database).await;
    let run_id = random_id(RunId::PREFIX, RunId::new);
    let event =
        Event::Submit { run_id: run_id.clone(), key: None, submission: submission(vec![job("a")]) };
    store.handle(Millis(0), event).await.expect("a store").reply.expect("submitted");
    let request = LeaseRequest {
        runner_id: runner_id("a"),
        capabilities: BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let lease_id = random_id(LeaseId::PREFIX, LeaseId::new);
    let event = Event::Lease { lease_id, cancel_token: None, request };
    store.handle(Millis(0), event).await.expect("a store").reply.expect("granted");
    let hour = 3_600_000;
    let now = remuda_fleet::time::Clock::default().now().0;
    for now in [now - hour, now + hour, 0, u64::MAX / 2] {
        let swept = store.handle(Millis(now), Event::Sweep).await.expect("a store").reply;
        assert_eq!(swept, Ok(Reply::Swept { expired: 0, more: false }));
    }
    let rows = store.run(&run_id).await.expect("rows").expect("a run");
    assert_eq!(rows.jobs[0].lease.as_ref().map(|lease| lease.state.live()), Some(true));
}

/// Fault 8, and the death of one of several: orchestrators whose clocks are two hours apart share the
/// work, and a job that one granted is ended at the other when the first is killed.
#[tokio::test]
async fn orchestrators_with_clocks_apart_stand_in_for_each_other() {
    let server = Server::start("pg-peers");
    let settings = |offset: i64| json!({ "lease_ttl_seconds": 3, "postgres": server.url, "guarded": true, "clock_offset": offset });
    let hour = 3_600_000;
    let (mut early, late) = (Fleet::start(settings(-hour)), Fleet::start(settings(hour)));
    let run = early.submit(vec![peer::job("a", "echo begun; sleep 5; echo done")]).await;
    // The worker connects through a proxy that tries both orchestrators in turn.
    let door = Door::open(&[&early.url, &late.url]).await;
    let mut worker = early.worker_settings("worker", json!({}));
    worker["orchestrator"] = json!(door.url("127.0.0.1"));
    let _worker = Peer::start(&worker);
    late.begun(&run).await;
    early.kill();
    let view = late.ended(&run).await;
    let job = &view["jobs"][0];
    assert_eq!((&job["state"], &job["fence"]), (&json!("SUCCEEDED"), &json!(1)), "{view}");
    assert_eq!(late.log(job).await, "begun\ndone\n");
}
