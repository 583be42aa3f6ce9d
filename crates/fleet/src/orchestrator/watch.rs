//! `GET /api/v1/runs/{id}/events`: a run as it changes, as server-sent events. Each `run` event is the
//! whole [`RunView`].

use super::answer::Failure;
use super::app::App;
use super::feed::{self, Seen, Watched};
use super::people::id;
use crate::auth::Scope;
use crate::id::RunId;
use crate::lease::RunStatus;
use crate::store::Store;
use crate::view::RunView;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use std::time::Duration;

struct Run(RunId);

impl Watched for Run {
    const NAME: &'static str = "run";
    const PAUSE: Duration = Duration::from_millis(100);

    fn concerns(&self, run: &RunId) -> bool {
        *run == self.0
    }

    async fn look(&self, app: &App) -> Option<Seen> {
        let view = RunView::from(&app.0.store.run(&self.0).await.ok()??);
        let ended = view.summary.status != RunStatus::Running;
        Some(Seen { text: serde_json::to_string(&view).ok()?, ended })
    }
}

pub(super) async fn events(
    State(app): State<App>,
    headers: HeaderMap,
    Path(run): Path<String>,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let run = Run(id(&run, RunId::new)?);
    feed::open(app, run, async |app, Run(run)| {
        app.0.store.run(run).await?.map(drop).ok_or_else(|| Failure::not_found("run"))
    })
    .await
}
