//! `GET /api/v1/runs/{id}/events`: a run as it changes, as server-sent events. Each `run` event is the
//! whole [`RunView`](crate::view::RunView).

use super::answer::Failure;
use super::app::App;
use super::feed::{self, Seen, Watched};
use super::people;
use super::places::Place;
use super::sight::WATCHING;
use crate::auth::Scope;
use crate::id::RunId;
use crate::lease::RunStatus;
use crate::store::Store;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use std::time::Duration;

/// Runs that are watched at a time: each is looked at every second, and none takes a worker's connection.
pub(super) const WATCHED_MAX: usize = 1_024;

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
    let place = app.0.watchers.enter(&who, app.0.door.is_open()).ok_or_else(|| {
        let text = "too many runs are watched; look at this one now and then";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "TOO_MANY_STREAMS", text)
    })?;
    feed::open(app, Run { id, _place: place }, async |app, Run { id, .. }| {
        app.0.store.run(id).await?.map(drop).ok_or_else(|| Failure::not_found("run"))
    })
    .await
}
