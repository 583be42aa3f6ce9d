//! `GET /api/v1/runs/{id}/events`: a run's changes as server-sent events. Each `run` event is the first page
//! of the [`RunView`](crate::view::RunView), with a revision of all pages.
//!
//! All streams of a run share one view: a run may have a thousand jobs, and reading them delays heartbeats.

use super::answer::{Failure, PathParam};
use super::api;
use super::app::App;
use super::feed::{self, LOOK, Seen, Watched};
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
/// watcher always reads anew.
const SHOWN: Duration = Duration::from_millis(900);
const _: () = assert!(SHOWN.as_millis() < LOOK.as_millis());
/// Shortest time between two reads of a run, for all watchers together.
const PAUSE: Duration = Duration::from_millis(100);

struct Run {
    id: RunId,
    lookout: Arc<Lookout>,
    _place: StreamSlot,
}

impl Watched for Run {
    const NAME: &'static str = "run";
    const PAUSE: Duration = PAUSE;

    fn concerns(&self, run: &RunId) -> bool {
        *run == self.id
    }

    async fn look(&self, app: &App) -> Option<Seen> {
        self.lookout.look(seen(app.clone(), self.id.clone())).await
    }
}

async fn seen(app: App, run: RunId) -> Option<Seen> {
    let view = app.run_view(&run, WATCHED_AGE_MAX).await.ok()??.page(0);
    let ended = view.summary.status != RunStatus::Running;
    Some(Seen { text: serde_json::to_string(&view).ok()?, ended })
}

/// Shared views of watched runs. Bounded by the stream slots.
#[derive(Default)]
pub(super) struct Lookouts(Mutex<BTreeMap<RunId, Weak<Lookout>>>);

impl Lookouts {
    fn all(&self) -> MutexGuard<'_, BTreeMap<RunId, Weak<Lookout>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view shared by all watchers of a run.
    fn at(&self, run: &RunId) -> Arc<Lookout> {
        let mut all = self.all();
        if let Some(lookout) = all.get(run).and_then(Weak::upgrade) {
            return lookout;
        }
        // Views without watchers.
        all.retain(|_, lookout| lookout.strong_count() > 0);
        let lookout = Arc::default();
        all.insert(run.clone(), Arc::downgrade(&lookout));
        lookout
    }

    /// Invalidates the view of a run.
    pub(super) fn told(&self, run: &RunId) {
        let lookout = self.all().get(run).and_then(Weak::upgrade);
        if let Some(lookout) = lookout {
            lookout.told.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// The latest view of a run, shared by its watchers.
#[derive(Default)]
struct Lookout {
    /// Number of invalidations.
    told: Arc<AtomicU64>,
    last: Mutex<Option<Look>>,
}

/// A rendering, awaited by all watchers.
type Seeing = Shared<BoxFuture<'static, Option<Seen>>>;

/// One rendering of a run.
struct Look {
    /// When it began, and the version by then. Empty: not yet.
    begun: Arc<OnceLock<(Instant, u64)>>,
    seen: Seeing,
}

impl Look {
    /// Whether it is current at this version.
    fn is_new(&self, told: u64) -> bool {
        let failed = matches!(self.seen.peek(), Some(None));
        let new = |(at, before): &(Instant, u64)| *before == told && at.elapsed() < SHOWN;
        !failed && self.begun.get().is_none_or(new)
    }

    /// Waits until the next rendering may begin.
    async fn over(self) {
        self.seen.await;
        if let Some((at, _)) = self.begun.get() {
            sleep_until(*at + PAUSE).await;
        }
    }
}

impl Lookout {
    /// The current rendering, or a new one by `render`.
    fn look(&self, anew: impl Future<Output = Option<Seen>> + Send + 'static) -> Seeing {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(look) = &*last
            && look.is_new(self.told.load(Ordering::Acquire))
        {
            return look.seen.clone();
        }
        let (begun, told) = (Arc::new(OnceLock::new()), self.told.clone());
        let (begins, before) = (begun.clone(), last.take());
        let seen = async move {
            // Renderings are sequential, so no watcher sees the past.
            if let Some(before) = before {
                before.over().await;
            }
            // Later invalidations may not be part of it.
            let _ = begins.set((Instant::now(), told.load(Ordering::Acquire)));
            anew.await
        };
        // A task, so that a rendering whose watchers left still returns its database connection.
        let seen = tokio::spawn(seen).map(|seen| seen.ok().flatten()).boxed().shared();
        *last = Some(Look { begun, seen: seen.clone() });
        seen
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
        let text = "too many runs are watched; look at this one now and then";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_MANY_STREAMS", text)
    })?;
    let lookout = app.0.lookouts.at(&id);
    feed::open(app, Run { id, lookout, _place: place }, async |app, run| {
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

    fn shows(text: &str) -> Option<Seen> {
        Some(Seen { text: text.to_owned(), ended: false })
    }

    async fn never(why: &'static str) -> Option<Seen> {
        panic!("{why}")
    }

    async fn text(look: impl Future<Output = Option<Seen>>) -> String {
        look.await.expect("seen").text
    }

    #[tokio::test]
    async fn who_looks_soon_after_another_is_shown_the_same_and_then_looks_itself() {
        let lookout = Lookout::default();
        assert_eq!(text(lookout.look(async { shows("first") })).await, "first");
        for _ in 0..100 {
            assert_eq!(text(lookout.look(never("a look too many"))).await, "first");
        }
        tokio::time::sleep(LOOK).await;
        assert_eq!(text(lookout.look(async { shows("second") })).await, "second");
    }

    #[tokio::test]
    async fn what_was_seen_before_something_was_told_is_not_shown_after_it() {
        let (lookouts, run) = (Lookouts::default(), run_id("run_a"));
        let lookout = lookouts.at(&run);
        let first = lookout.look(async { shows("first") });
        lookouts.told(&run);
        let same = lookout.look(never("the first has not begun"));
        assert_eq!((text(first).await, text(same).await), ("first".into(), "first".into()));
        lookouts.told(&run);
        assert_eq!(text(lookout.look(async { shows("second") })).await, "second");
        lookouts.told(&run_id("run_b"));
        assert_eq!(text(lookout.look(never("it was told of another"))).await, "second");
    }

    #[tokio::test]
    async fn a_look_begins_when_the_one_before_it_has_ended() {
        let (lookouts, run) = (Lookouts::default(), run_id("run_a"));
        let lookout = lookouts.at(&run);
        let (go, gate) = oneshot::channel();
        let mut first = Box::pin(lookout.look(async { shows(gate.await.ok()?) }));
        tokio::task::yield_now().await;
        assert!((&mut first).now_or_never().is_none(), "it has begun");
        lookouts.told(&run);
        let mut second = Box::pin(lookout.look(async { shows("second") }));
        assert!((&mut second).now_or_never().is_none(), "it waits");
        let third = lookout.look(never("the second will do"));
        go.send("first").expect("it looks");
        // The first rendering proceeds without being polled.
        assert_eq!((text(third).await, text(second).await), ("second".into(), "second".into()));
        assert_eq!(text(first).await, "first");
    }

    #[tokio::test]
    async fn a_run_of_which_much_is_told_is_looked_at_now_and_then() {
        let (lookouts, run) = (Lookouts::default(), run_id("run_a"));
        let lookout = lookouts.at(&run);
        let looks = Arc::new(AtomicU64::new(0));
        let began = Instant::now();
        let watching = (0..20).map(async |_| {
            for _ in 0..10 {
                lookouts.told(&run);
                let looks = looks.clone();
                let look = async move { shows(&looks.fetch_add(1, Ordering::AcqRel).to_string()) };
                text(lookout.look(look)).await;
            }
        });
        futures::future::join_all(watching).await;
        let (looks, most) = (looks.load(Ordering::Acquire), began.elapsed().as_millis() / 100 + 1);
        assert!(u128::from(looks) <= most, "{looks} looks, and time for {most}");
    }

    #[tokio::test]
    async fn a_look_that_failed_is_nobody_elses() {
        let lookout = Lookout::default();
        assert!(lookout.look(async { None }).await.is_none());
        assert_eq!(text(lookout.look(async { shows("first") })).await, "first");
    }

    #[test]
    fn what_nobody_watches_is_not_kept() {
        let lookouts = Lookouts::default();
        let kept = lookouts.at(&run_id("run_a"));
        assert!(Arc::ptr_eq(&kept, &lookouts.at(&run_id("run_a"))));
        for n in 0..100 {
            drop(lookouts.at(&run_id(&format!("run_{n}"))));
        }
        assert!(lookouts.all().len() <= 2, "the one that is watched, and the last");
    }

    /// The store changes without news, as it does with heartbeats.
    #[tokio::test]
    async fn those_who_watch_a_run_have_it_looked_at_once() {
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
            lookout: app.0.lookouts.at(&id),
            _place: app.0.watchers.enter("anybody", true).expect("a place"),
        };
        let (one, other) = (watcher(), watcher());
        let before = text(one.look(&app)).await;
        let cancel = Event::CancelRun { run_id: id.clone() };
        app.0.store.handle(app.now(), cancel).await.expect("a store").reply.expect("canceled");
        assert_eq!(text(other.look(&app)).await, before, "somebody has just looked");
        app.0.lookouts.told(&id);
        let [after, same] = [text(one.look(&app)).await, text(other.look(&app)).await];
        assert!(after.contains("CANCELED") && !before.contains("CANCELED"), "{after}");
        assert_eq!(after, same);
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
