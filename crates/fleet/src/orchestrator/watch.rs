//! `GET /api/v1/runs/{id}/events`: a run's changes as server-sent events. Each `run` event is the first page
//! of the [`RunView`](crate::view::RunView), with a revision of all pages.
//!
//! All streams of a run share one view: a run may have a thousand jobs, and reading them delays heartbeats.

use super::answer::{Failure, PathParam};
use super::api;
use super::app::App;
use super::feed::{self, LOOK, Rendered, Watched};
use super::slots::StreamSlot;
use super::views::WATCHED_AGE_MAX;
use crate::auth::Scope;
use crate::id::RunId;
use crate::lease::RunStatus;
use crate::store::Store;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Most streams. Each reads its run every second.
pub(super) const WATCHED_MAX: usize = 1_024;
/// How long a view is shared, unless it is invalidated. Shorter than the interval of one stream, so a single
/// watcher always gets fresh data.
const SHOWN: Duration = Duration::from_millis(900);
const _: () = assert!(SHOWN.as_millis() < LOOK.as_millis());
/// Shortest time between two reads of a run, for all watchers together.
const PAUSE: Duration = Duration::from_millis(100);

struct Run {
    id: RunId,
    shared_view: Arc<SharedView>,
    _place: StreamSlot,
}

impl Watched for Run {
    const NAME: &'static str = "run";
    const PAUSE: Duration = PAUSE;

    fn concerns(&self, run: &RunId) -> bool {
        *run == self.id
    }

    async fn look(&self, app: &App) -> Option<Rendered> {
        self.shared_view.render(render_run(app.clone(), self.id.clone())).await
    }
}

async fn render_run(app: App, run: RunId) -> Option<Rendered> {
    let view = app.run_view(&run, WATCHED_AGE_MAX).await.ok()??.page(0);
    let ended = view.summary.status != RunStatus::Running;
    Some(Rendered { text: serde_json::to_string(&view).ok()?, ended })
}

/// Shared views of watched runs. Bounded by the stream slots.
#[derive(Default)]
pub(super) struct SharedViews(Mutex<BTreeMap<RunId, Weak<SharedView>>>);

impl SharedViews {
    fn all(&self) -> MutexGuard<'_, BTreeMap<RunId, Weak<SharedView>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view shared by all watchers of a run.
    fn at(&self, run: &RunId) -> Arc<SharedView> {
        let mut all = self.all();
        if let Some(shared_view) = all.get(run).and_then(Weak::upgrade) {
            return shared_view;
        }
        // Views without watchers.
        all.retain(|_, shared_view| shared_view.strong_count() > 0);
        let shared_view = Arc::default();
        all.insert(run.clone(), Arc::downgrade(&shared_view));
        shared_view
    }

    /// Invalidates the view of a run.
    pub(super) fn invalidate(&self, run: &RunId) {
        let shared_view = self.all().get(run).and_then(Weak::upgrade);
        if let Some(shared_view) = shared_view {
            shared_view.version.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// The latest view of a run, shared by its watchers.
#[derive(Default)]
struct SharedView {
    /// Number of invalidations.
    version: Arc<AtomicU64>,
    last: Mutex<Option<Rendering>>,
}

/// A rendering, awaited by all watchers.
type SharedRendering = Shared<BoxFuture<'static, Option<Rendered>>>;

/// One rendering of a run.
struct Rendering {
    /// When it began, and the version by then. Empty: not yet.
    begun: Arc<OnceLock<(Instant, u64)>>,
    rendered: SharedRendering,
}

impl Rendering {
    /// Whether it is current at this version.
    fn is_current(&self, version: u64) -> bool {
        let failed = matches!(self.rendered.peek(), Some(None));
        let new = |(at, before): &(Instant, u64)| *before == version && at.elapsed() < SHOWN;
        !failed && self.begun.get().is_none_or(new)
    }

    /// Waits until the next rendering may begin.
    async fn over(self) {
        self.rendered.await;
        if let Some((at, _)) = self.begun.get() {
            sleep_until(*at + PAUSE).await;
        }
    }
}

impl SharedView {
    /// The current rendering, or a new one by `render`.
    fn render(
        &self,
        render: impl Future<Output = Option<Rendered>> + Send + 'static,
    ) -> SharedRendering {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rendering) = &*last
            && rendering.is_current(self.version.load(Ordering::Acquire))
        {
            return rendering.rendered.clone();
        }
        let (begun, version) = (Arc::new(OnceLock::new()), self.version.clone());
        let (begins, before) = (begun.clone(), last.take());
        let rendered = async move {
            // Renderings are sequential, so no watcher sees the past.
            if let Some(before) = before {
                before.over().await;
            }
            // Later invalidations may not be part of it.
            let _ = begins.set((Instant::now(), version.load(Ordering::Acquire)));
            render.await
        };
        // A task, so that a rendering whose watchers left still returns its database connection.
        let rendered =
            tokio::spawn(rendered).map(|rendered| rendered.ok().flatten()).boxed().shared();
        *last = Some(Rendering { begun, rendered: rendered.clone() });
        rendered
    }
}

pub(super) async fn events(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(run): PathParam,
) -> Result<Response, Failure> {
    let who = app.person(&headers, Scope::Viewer)?;
    let id = api::id(&run, RunId::new)?;
    let place = app.0.watchers.enter(&who, app.0.tokens.is_open()).ok_or_else(|| {
        let text = "too many event streams; poll this run instead";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_MANY_STREAMS", text)
    })?;
    let shared_view = app.0.shared_views.at(&id);
    feed::open(app, Run { id, shared_view, _place: place }, async |app, run| {
        // If there is no view, the store tells why.
        if run.look(app).await.is_some() {
            return Ok(());
        }
        app.0.store.run(&run.id).await?.map(drop).ok_or_else(|| Failure::not_found("run"))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::Event;
    use crate::message::decode;
    use crate::orchestrator::config::{Config, StoreConfig};
    use tokio::sync::oneshot;

    fn run_id(text: &str) -> RunId {
        RunId::new(text).expect("an id")
    }

    fn shows(text: &str) -> Option<Rendered> {
        Some(Rendered { text: text.to_owned(), ended: false })
    }

    async fn never(why: &'static str) -> Option<Rendered> {
        panic!("{why}")
    }

    async fn text(rendering: impl Future<Output = Option<Rendered>>) -> String {
        rendering.await.expect("rendered").text
    }

    #[tokio::test]
    async fn a_rendering_is_shared_for_a_short_time() {
        let shared_view = SharedView::default();
        assert_eq!(text(shared_view.render(async { shows("first") })).await, "first");
        for _ in 0..100 {
            assert_eq!(text(shared_view.render(never("one rendering too many"))).await, "first");
        }
        tokio::time::sleep(LOOK).await;
        assert_eq!(text(shared_view.render(async { shows("second") })).await, "second");
    }

    #[tokio::test]
    async fn an_invalidated_rendering_is_not_shown() {
        let (shared_views, run) = (SharedViews::default(), run_id("run_a"));
        let shared_view = shared_views.at(&run);
        let first = shared_view.render(async { shows("first") });
        shared_views.invalidate(&run);
        let same = shared_view.render(never("the first has not begun"));
        assert_eq!((text(first).await, text(same).await), ("first".into(), "first".into()));
        shared_views.invalidate(&run);
        assert_eq!(text(shared_view.render(async { shows("second") })).await, "second");
        shared_views.invalidate(&run_id("run_b"));
        assert_eq!(text(shared_view.render(never("another run was invalidated"))).await, "second");
    }

    #[tokio::test]
    async fn renderings_are_sequential() {
        let (shared_views, run) = (SharedViews::default(), run_id("run_a"));
        let shared_view = shared_views.at(&run);
        let (go, gate) = oneshot::channel();
        let mut first = Box::pin(shared_view.render(async { shows(gate.await.ok()?) }));
        tokio::task::yield_now().await;
        assert!((&mut first).now_or_never().is_none(), "it has begun");
        shared_views.invalidate(&run);
        let mut second = Box::pin(shared_view.render(async { shows("second") }));
        assert!((&mut second).now_or_never().is_none(), "it waits");
        let third = shared_view.render(never("the second will do"));
        go.send("first").expect("it renders");
        // The first rendering proceeds without being polled.
        assert_eq!((text(third).await, text(second).await), ("second".into(), "second".into()));
        assert_eq!(text(first).await, "first");
    }

    #[tokio::test]
    async fn renderings_are_rate_limited() {
        let (shared_views, run) = (SharedViews::default(), run_id("run_a"));
        let shared_view = shared_views.at(&run);
        let renderings = Arc::new(AtomicU64::new(0));
        let began = Instant::now();
        let watching = (0..20).map(async |_| {
            for _ in 0..10 {
                shared_views.invalidate(&run);
                let renderings = renderings.clone();
                let render =
                    async move { shows(&renderings.fetch_add(1, Ordering::AcqRel).to_string()) };
                text(shared_view.render(render)).await;
            }
        });
        futures::future::join_all(watching).await;
        let (renderings, most) =
            (renderings.load(Ordering::Acquire), began.elapsed().as_millis() / 100 + 1);
        assert!(u128::from(renderings) <= most, "{renderings} renderings, and time for {most}");
    }

    #[tokio::test]
    async fn a_failed_rendering_is_not_shared() {
        let shared_view = SharedView::default();
        assert!(shared_view.render(async { None }).await.is_none());
        assert_eq!(text(shared_view.render(async { shows("first") })).await, "first");
    }

    #[test]
    fn unwatched_views_are_dropped() {
        let shared_views = SharedViews::default();
        let kept = shared_views.at(&run_id("run_a"));
        assert!(Arc::ptr_eq(&kept, &shared_views.at(&run_id("run_a"))));
        for n in 0..100 {
            drop(shared_views.at(&run_id(&format!("run_{n}"))));
        }
        assert!(shared_views.all().len() <= 2, "the one that is watched, and the last");
    }

    /// The store changes without news, as it does with heartbeats.
    #[tokio::test]
    async fn watchers_of_a_run_share_one_rendering() {
        let folder = std::env::temp_dir().join(format!("fleet-watch-{}", std::process::id()));
        let mut config = Config::in_folder(&folder);
        (config.store, config.audit) = (StoreConfig::Memory, None);
        let app = App::open(config).await.expect("an orchestrator");
        let order = br#"{"jobs": [{"name": "a", "job_spec": {"name": "a", "steps": ["true"]}}]}"#;
        let id = run_id("run_a");
        let submission = decode(order).expect("a run");
        let submit = Event::Submit { run_id: id.clone(), key: None, submission };
        app.ask(submit).await.expect("submitted");
        let watcher = || Run {
            id: id.clone(),
            shared_view: app.0.shared_views.at(&id),
            _place: app.0.watchers.enter("anybody", true).expect("a place"),
        };
        let (one, other) = (watcher(), watcher());
        let before = text(one.look(&app)).await;
        let cancel = Event::CancelRun { run_id: id.clone() };
        app.0.store.handle(app.now(), cancel).await.expect("a store").reply.expect("canceled");
        assert_eq!(text(other.look(&app)).await, before, "just rendered");
        app.0.shared_views.invalidate(&id);
        let [after, same] = [text(one.look(&app)).await, text(other.look(&app)).await];
        assert!(after.contains("CANCELED") && !before.contains("CANCELED"), "{after}");
        assert_eq!(after, same);
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
