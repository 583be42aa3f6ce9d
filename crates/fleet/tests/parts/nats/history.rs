//! The histories over transport A: runners hear of work and of cancellations from a broker, and the orchestrator
//! does by itself all that it does.
//!
//! Nobody sees its rows while it runs. A twin, which is the rules alone, is told the same at the same time: every
//! answer must be the twin's, every request to stop too, and whenever the orchestrator is down, every row.

use crate::history::wire;

use super::{Broker, hints};
use crate::parts::peer::PATIENCE;
use crate::parts::suite::{Place, histories, naive, policy, seeds};
use remuda_fleet::broker::{self, Cancels, Hints, Taken};
use remuda_fleet::id::{Fence, JobId, KeyId, LeaseId, RunId, RunnerId};
use remuda_fleet::lease::{
    Action, Event, Handled, Idempotency, LabelRecord, LeaseClock, Refusal, Reply, RunRecord,
    WorkerRecord,
};
use remuda_fleet::message::{CancelRequested, LeaseGranted, LeaseRequest, Tag};
use remuda_fleet::orchestrator::{Config, StoreConfig, serve};
use remuda_fleet::store::{
    Counts, JobRows, Memory, RunCursor, RunRows, Sqlite, Store, StoreError, Tables,
};
use remuda_fleet::time::Millis;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;
use wire::Wire;

/// The time of the history that is under way. One at a time.
static NOW: AtomicU64 = AtomicU64::new(0);
static BROKER: OnceLock<broker::Config> = OnceLock::new();
/// Messages received in all histories.
static HINTS: AtomicU32 = AtomicU32::new(0);
static CANCELS: AtomicU32 = AtomicU32::new(0);

/// Whom an orchestrator without tokens takes everybody for.
const WHO: &str = "anybody";
/// One in so many that find no hint, and for whom there is work, waits for one.
const PATIENT_ONE_IN: u32 = 8;

fn broker() -> &'static broker::Config {
    BROKER.get().expect("a broker")
}

struct OverNats;

/// An orchestrator with its sweeper and its announcer, and who talks to it.
struct Whole {
    folder: PathBuf,
    serving: Serving,
    wire: Wire,
    twin: Memory,
    ears: Mutex<Ears>,
    restarts: u32,
}

impl Place for OverNats {
    type Store = Whole;
    /// The orchestrator makes names up itself.
    const NAMES: bool = false;

    async fn open(now: Millis) -> Whole {
        NOW.store(now.0, Ordering::SeqCst);
        let name = format!("history-nats-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let (serving, wire) = Serving::start(&folder).await;
        let (twin, ears) = (Memory::new(policy()), Mutex::new(Ears::default()));
        twin.handle(now, Event::Start).await.expect("started").reply.expect("started");
        Whole { folder, serving, wire, twin, ears, restarts: 0 }
    }

    /// And the broker loses what it has, every other time.
    async fn restart(mut whole: Whole, now: Millis) -> Whole {
        whole.serving.end().await;
        NOW.store(now.0, Ordering::SeqCst);
        whole.twin.handle(now, Event::Start).await.expect("started").reply.expect("started");
        same_rows(&whole.folder, now, &whole.twin).await;
        whole.restarts += 1;
        if whole.restarts % 2 == 1 {
            hints(&broker().url).await.purge().await.expect("purged");
        }
        (whole.serving, whole.wire) = Serving::start(&whole.folder).await;
        whole
    }

    async fn close(mut whole: Whole) {
        let now = Millis(NOW.load(Ordering::SeqCst));
        whole.serving.end().await;
        whole.twin.handle(now, Event::Start).await.expect("started").reply.expect("started");
        same_rows(&whole.folder, now, &whole.twin).await;
        // The next history must not see leftover hints.
        hints(&broker().url).await.purge().await.expect("purged");
        std::fs::remove_dir_all(&whole.folder).expect("removed");
    }
}

/// Something that changes nothing but what time it is.
fn nobody() -> Event {
    Event::CancelRun { run_id: RunId::new("run_nobody").expect("an id") }
}

/// An orchestrator that is up.
struct Serving {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

fn file(folder: &Path) -> PathBuf {
    folder.join("fleet.db")
}

impl Serving {
    async fn start(folder: &Path) -> (Self, Wire) {
        let mut config = Config::in_folder(folder);
        config.store = StoreConfig::Sqlite(file(folder));
        config.audit = None;
        config.policy = policy();
        config.clock.frozen = Some(&NOW);
        config.sweep_every = Duration::from_millis(5);
        config.broker = Some(broker().clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let wire = Wire::new(listener.local_addr().expect("an address"));
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let stopped = async move {
                let _ = stopped.await;
            };
            serve(listener, config, stopped).await.expect("served");
        });
        // It is up when it answers: what time it is now, it has seen then.
        assert_eq!(wire.ask(&nobody()).await, Some(Err(Refusal::UnknownRun)));
        (Self { stop: Some(stop), task }, wire)
    }

    async fn end(&mut self) {
        drop(self.stop.take());
        (&mut self.task).await.expect("an orderly end");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the orchestrator left is what the rules made of the same events.
async fn same_rows(folder: &Path, now: Millis, twin: &Memory) {
    let began = Instant::now();
    let kept = loop {
        // A request that it did not wait for may still have hold of the file.
        match Sqlite::open(&file(folder), policy(), now).await {
            Ok(kept) => break kept,
            Err(error) => assert!(began.elapsed() < PATIENCE, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let (rows, twins) =
        (kept.snapshot().await.expect("rows"), twin.snapshot().await.expect("rows"));
    kept.close().await.expect("closed");
    same(rows.runs(), twins.runs());
    same(rows.jobs(), twins.jobs());
    same(rows.leases(), twins.leases());
    same(rows.labels(), twins.labels());
}

/// All of them; those that differ are shown and no others.
#[track_caller]
fn same<'a, T: PartialEq + Debug + 'a>(
    rows: impl Iterator<Item = &'a T>,
    twins: impl Iterator<Item = &'a T>,
) {
    let (mut rows, mut twins) = (rows.fuse(), twins.fuse());
    loop {
        match (rows.next(), twins.next()) {
            (None, None) => return,
            (row, twin) => assert_eq!(row, twin),
        }
    }
}

/// What runners hear from the broker.
#[derive(Default)]
struct Ears {
    pools: BTreeMap<BTreeSet<Tag>, Hints>,
    cancels: BTreeMap<RunnerId, Cancels>,
    grants: BTreeMap<LeaseId, LeaseGranted>,
    unheard: u32,
}

impl Ears {
    /// What a runner does before it asks: it subscribes, and takes a hint if one is there. A waiting runner gets one
    /// if there is work, whatever the broker lost.
    async fn hint(&mut self, request: &LeaseRequest, work: bool) -> Option<Taken> {
        let LeaseRequest { runner_id, capabilities, .. } = request;
        if !self.pools.contains_key(capabilities) {
            let pool = Hints::open(broker(), capabilities).await.expect("a broker");
            // A subscription returns only once the client is connected.
            drop(pool.cancels(runner_id).await.expect("a subscription"));
            self.pools.insert(capabilities.clone(), pool);
        }
        let pool = self.pools.get_mut(capabilities).expect("a pool");
        if !self.cancels.contains_key(runner_id) {
            let cancels = pool.cancels(runner_id).await.expect("a subscription");
            self.cancels.insert(runner_id.clone(), cancels);
        }
        let mut taken = pool.now().await.expect("a broker");
        self.unheard += u32::from(work && taken.is_none());
        if work && taken.is_none() && self.unheard % PATIENT_ONE_IN == 1 {
            taken = pool.wait(PATIENCE).await.expect("a broker");
            assert!(taken.is_some(), "nobody said that there is work: {request:?}");
        }
        HINTS.fetch_add(u32::from(taken.is_some()), Ordering::Relaxed);
        taken
    }

    /// The runner is asked to stop, in these words.
    async fn stops(&mut self, runner: &RunnerId, message: &CancelRequested) {
        let granted = self.grants.get(&message.lease_id).expect("a grant");
        let cancels = self.cancels.get_mut(runner).expect("a subscription");
        let heard = tokio::time::timeout(PATIENCE, cancels.next(granted)).await;
        let heard = heard.unwrap_or_else(|_| panic!("nobody asked it to stop: {message:?}"));
        assert_eq!(heard.as_ref(), Some(message));
        CANCELS.fetch_add(1, Ordering::Relaxed);
    }
}

/// The event with the names that the orchestrator gave.
fn named(event: Event, reply: &Result<Reply, Refusal>) -> Event {
    let key_of = |key: Option<String>, run: &RunId| {
        Some(Idempotency::key(WHO, key.as_deref().unwrap_or(run.as_str())))
    };
    match (event, reply) {
        (Event::Submit { key, submission, .. }, Ok(Reply::Submitted { run_id, .. })) => {
            Event::Submit { run_id: run_id.clone(), key: key_of(key, run_id), submission }
        }
        (Event::Rerun { of, key, .. }, Ok(Reply::Submitted { run_id, .. })) => Event::Rerun {
            of,
            run_id: run_id.clone(),
            key: key_of(key, run_id),
            priority_max: i16::MAX,
            label: None,
        },
        (Event::Lease { request, .. }, Ok(Reply::Granted(granted))) => {
            let (lease_id, cancel_token) = (granted.lease_id.clone(), granted.cancel_token.clone());
            Event::Lease { lease_id, cancel_token, request }
        }
        (event, _) => event,
    }
}

/// An answer as far as it is told to others.
fn told(reply: &Result<Reply, Refusal>) -> Result<&Reply, (&'static str, Option<&Refusal>)> {
    let whole = |refusal: &Refusal| matches!(refusal, Refusal::Stale(_));
    reply.as_ref().map_err(|refusal| (refusal.code(), Some(refusal).filter(|it| whole(it))))
}

impl Whole {
    /// Time passes for both. The orchestrator finds out by itself which leases are over.
    async fn pass(&self, now: Millis) -> Result<(), StoreError> {
        if NOW.swap(now.0, Ordering::SeqCst) == now.0 {
            return Ok(());
        }
        // Both hear of something at this time, so that they agree whether there was an outage.
        assert_eq!(self.wire.ask(&nobody()).await, Some(Err(Refusal::UnknownRun)));
        assert_eq!(self.twin.handle(now, nobody()).await?.reply, Err(Refusal::UnknownRun));
        let before = self.twin.snapshot().await?;
        while let Ok(Reply::Swept { more: true, .. }) =
            self.twin.handle(now, Event::Sweep).await?.reply
        {}
        let after = self.twin.snapshot().await?;
        let live = |tables: &Tables| -> BTreeSet<(RunId, LeaseId)> {
            let live = tables.leases().filter(|lease| lease.state.live());
            live.map(|lease| (lease.run_id.clone(), lease.lease_id.clone())).collect()
        };
        let ended = live(&before).into_iter().filter(|lease| !live(&after).contains(lease));
        let runs: BTreeSet<RunId> = ended.map(|(run, _)| run).collect();
        for run in runs {
            self.agrees(&run).await?;
        }
        Ok(())
    }

    /// Waits until the orchestrator says of a run's jobs what the twin says.
    async fn agrees(&self, run: &RunId) -> Result<(), StoreError> {
        let rows = self.twin.run(run).await?.expect("a run");
        let states = rows.jobs.iter().map(|JobRows { job, lease, .. }| {
            json!([job.state(lease.as_deref()), job.fence, job.attempt, job.losses])
        });
        let (states, began): (Vec<Value>, _) = (states.collect(), Instant::now());
        loop {
            let answer = self.wire.request(Method::GET, &format!("/runs/{run}")).send().await;
            let view: Value = answer.expect("an answer").json().await.expect("JSON");
            let jobs = view["jobs"].as_array().expect("jobs").iter();
            let said =
                jobs.map(|job| json!([job["state"], job["fence"], job["attempt"], job["losses"]]));
            if said.eq(states.iter().cloned()) {
                return Ok(());
            }
            assert!(began.elapsed() < PATIENCE, "{view}\n{states:?}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Whether there is something for who asks.
    async fn has_work(&self, now: Millis, request: &LeaseRequest) -> Result<bool, StoreError> {
        let tables = self.twin.snapshot().await?;
        let busy = |lease: &remuda_fleet::lease::LeaseRecord| {
            lease.runner_id == request.runner_id && lease.state.live()
        };
        let next = naive::next(&tables, self.time(now).await?.lease, &request.capabilities);
        Ok(next.is_some() && !tables.leases().any(busy))
    }
}

impl Store for Whole {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        self.pass(now).await?;
        let mut ears = self.ears.lock().await;
        let hint = match &event {
            Event::Lease { request, .. } => {
                ears.hint(request, self.has_work(now, request).await?).await
            }
            _ => None,
        };
        let Some(reply) = self.wire.ask(&event).await else {
            return self.twin.handle(now, event).await;
        };
        if let Some(hint) = hint {
            hint.done().await;
        }
        let twin = self.twin.handle(now, named(event.clone(), &reply)).await?;
        assert_eq!(told(&reply), told(&twin.reply), "{event:?}");
        if let Ok(Reply::Granted(granted)) = &reply {
            ears.grants.insert(granted.lease_id.clone(), (**granted).clone());
        }
        for action in &twin.actions {
            if let Action::Cancel(runner, message) = action {
                ears.stops(runner, message).await;
            }
        }
        Ok(Handled { reply, actions: vec![] })
    }

    async fn time(&self, now: Millis) -> Result<LeaseClock, StoreError> {
        self.twin.time(now).await
    }

    async fn log(
        &self,
        job: &JobId,
        fence: Fence,
        offset: u64,
        _: usize,
    ) -> Result<Vec<u8>, StoreError> {
        Ok(self.wire.log(job, fence, offset).await)
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRows>, StoreError> {
        self.twin.run(id).await
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.twin.runs(before, most).await
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        self.twin.job(id).await
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        self.twin.worker(id).await
    }

    async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        self.twin.machines(most).await
    }

    async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        self.twin.labels(most).await
    }

    async fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        self.twin.waiting(now, most).await
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        self.twin.open_jobs(most).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.twin.counts().await
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        self.twin.snapshot().await
    }
}

#[test]
fn over_a_broker_every_job_and_lease_is_accounted_for() {
    let broker = Broker::start();
    let config = broker::Config { look_again: Duration::from_millis(100), ..broker.config() };
    BROKER.set(config).expect("once");
    histories::<OverNats>(&seeds(3), 6);
    let (hints, cancels) = (HINTS.load(Ordering::Relaxed), CANCELS.load(Ordering::Relaxed));
    println!("{hints} hints and {cancels} requests to stop received");
    // One seed alone may have none.
    assert!((hints > 0 && cancels > 0) || std::env::var_os("REMUDA_SEED").is_some());
}
