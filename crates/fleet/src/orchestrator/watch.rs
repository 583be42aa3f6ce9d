//! `GET /api/v1/runs/{id}/events`: a run as it changes, as server-sent events. Each `run` event is the
//! whole [`RunView`](crate::view::RunView).

use super::answer::Failure;
use super::app::App;
use super::feed::{self, Seen, Watched};
use super::people;
use super::sight::WATCHING;
use crate::auth::Scope;
use crate::id::RunId;
use crate::lease::RunStatus;
use crate::store::Store;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Runs that are watched at a time: each is looked at every second, and none takes a worker's connection.
const WATCHED_MAX: usize = 1_024;
/// How many of them with one token: whoever watches a lot does not keep others from it.
const SHARE_MAX: usize = 256;

/// Who watches, and how much.
#[derive(Clone, Default)]
pub(super) struct Watchers(Arc<Mutex<BTreeMap<String, usize>>>);

impl Watchers {
    /// A place, if there is one. Without tokens everybody has the same name, and all places.
    fn enter(&self, name: &str, share: usize) -> Option<Place> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = places.get(name).copied().unwrap_or(0);
        if own >= share || places.values().sum::<usize>() >= WATCHED_MAX {
            return None;
        }
        places.insert(name.to_owned(), own + 1);
        Some(Place { of: self.clone(), name: name.to_owned() })
    }
}

/// One place, as long as it is kept.
struct Place {
    of: Watchers,
    name: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = places.remove(&self.name).unwrap_or(0);
        if left > 1 {
            places.insert(self.name.clone(), left - 1);
        }
    }
}

struct Run {
    id: RunId,
    _place: Place,
}

impl Watched for Run {
    const NAME: &'static str = "run";
    const PAUSE: Duration = Duration::from_millis(100);

    fn concerns(&self, run: &RunId) -> bool {
        *run == self.id
    }

    async fn look(&self, app: &App) -> Option<Seen> {
        let view = app.run_view(&self.id, WATCHING).await.ok()??;
        let ended = view.summary.status != RunStatus::Running;
        Some(Seen { text: serde_json::to_string(&view).ok()?, ended })
    }
}

pub(super) async fn events(
    State(app): State<App>,
    headers: HeaderMap,
    Path(run): Path<String>,
) -> Result<Response, Failure> {
    let who = app.person(&headers, Scope::Viewer)?;
    let id = people::id(&run, RunId::new)?;
    let share = if app.0.door.is_open() { WATCHED_MAX } else { SHARE_MAX };
    let place = app.0.watchers.enter(&who, share).ok_or_else(|| {
        let text = "too many runs are watched; look at this one now and then";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_MANY_STREAMS", text)
    })?;
    feed::open(app, Run { id, _place: place }, async |app, Run { id, .. }| {
        app.0.store.run(id).await?.map(drop).ok_or_else(|| Failure::not_found("run"))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_does_not_take_the_places_of_all() {
        let watchers = Watchers::default();
        let mut kept: Vec<Place> =
            (0..SHARE_MAX).map(|_| watchers.enter("greedy", SHARE_MAX).expect("a place")).collect();
        assert!(watchers.enter("greedy", SHARE_MAX).is_none());
        for name in ["a", "b", "c"] {
            kept.extend((0..SHARE_MAX).map(|_| watchers.enter(name, SHARE_MAX).expect("a place")));
        }
        assert!(watchers.enter("d", SHARE_MAX).is_none(), "all are taken");
        kept.pop();
        assert!(watchers.enter("d", SHARE_MAX).is_some());
        drop(kept);
        assert!(watchers.0.lock().expect("places").is_empty());
    }
}
