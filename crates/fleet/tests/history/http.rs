//! Histories over a socket: what a runner or a person can send is sent as they would; the passing of
//! time is the test's own.

use super::suite::{Place, policy};
use super::wire::Wire;
use remuda_fleet::id::{Fence, JobId, KeyId, RunId};
use remuda_fleet::lease::{Event, Handled, LabelRecord, LeaseClock, RunRecord, WorkerRecord};
use remuda_fleet::message::Tag;
use remuda_fleet::orchestrator::{App, Config, StoreConfig, router};
use remuda_fleet::store::{
    AnyStore, Counts, JobRows, RunCursor, RunRows, Store, StoreError, Tables,
};
use remuda_fleet::time::Millis;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The time of the history that is under way. One at a time.
static NOW: AtomicU64 = AtomicU64::new(0);

pub struct OverHttp;

/// An orchestrator behind a socket.
pub struct Remote {
    app: App,
    wire: Wire,
    serving: JoinHandle<()>,
}

impl Place for OverHttp {
    type Store = Remote;
    /// The orchestrator makes names up itself.
    const NAMES: bool = false;

    async fn open(now: Millis) -> Remote {
        NOW.store(now.0, Ordering::SeqCst);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("history-http-{}", std::process::id()));
        let mut config = Config::in_folder(&folder);
        config.store = StoreConfig::Memory;
        config.audit = None;
        config.policy = policy();
        config.clock.frozen = Some(&NOW);
        let app = App::open(config).await.expect("an orchestrator");
        app.handle(Event::Start).await.expect("a store").expect("started");
        Remote::serve(app).await
    }

    /// The rows stay; every connection is cut.
    async fn restart(remote: Remote, now: Millis) -> Remote {
        NOW.store(now.0, Ordering::SeqCst);
        remote.serving.abort();
        remote.app.handle(Event::Start).await.expect("a store").expect("started");
        Remote::serve(remote.app.clone()).await
    }
}

impl Remote {
    async fn serve(app: App) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let wire = Wire::new(listener.local_addr().expect("an address"));
        let routes = router(app.clone());
        let serving = tokio::spawn(async move {
            axum::serve(listener, routes).await.expect("served");
        });
        Self { app, wire, serving }
    }

    fn rows(&self) -> &AnyStore {
        self.app.store()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Store for Remote {
    async fn handle(&self, now: Millis, event: Event) -> Result<Handled, StoreError> {
        NOW.store(now.0, Ordering::SeqCst);
        let reply = match self.wire.ask(&event).await {
            Some(reply) => reply,
            None => self.app.handle(event).await?,
        };
        Ok(Handled { reply, actions: vec![] })
    }

    async fn time(&self, now: Millis) -> Result<LeaseClock, StoreError> {
        self.rows().time(now).await
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
        self.rows().run(id).await
    }

    async fn runs(
        &self,
        before: Option<RunCursor>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.rows().runs(before, most).await
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRows>, StoreError> {
        self.rows().job(id).await
    }

    async fn worker(&self, id: &KeyId) -> Result<Option<WorkerRecord>, StoreError> {
        self.rows().worker(id).await
    }

    async fn machines(&self, most: usize) -> Result<Vec<WorkerRecord>, StoreError> {
        self.rows().machines(most).await
    }

    async fn labels(&self, most: usize) -> Result<Vec<LabelRecord>, StoreError> {
        self.rows().labels(most).await
    }

    async fn waiting(
        &self,
        now: Millis,
        most: usize,
    ) -> Result<Vec<(JobId, BTreeSet<Tag>)>, StoreError> {
        self.rows().waiting(now, most).await
    }

    async fn open_jobs(&self, most: usize) -> Result<Vec<JobRows>, StoreError> {
        self.rows().open_jobs(most).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.rows().counts().await
    }

    async fn snapshot(&self) -> Result<Tables, StoreError> {
        self.rows().snapshot().await
    }
}
