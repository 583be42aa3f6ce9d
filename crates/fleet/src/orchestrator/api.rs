//! The API of submitters and operators: runs, jobs, logs, limits.

use super::answer::{Failure, PathParam, QueryParams, json, reply};
use super::app::App;
use super::views::FRESH;
use crate::auth::{NOBODY, Scope, Token, random_id};
use crate::id::{Fence, JobId, KeyId, RunId};
use crate::lease::{Event, Idempotency, JobRecord, Reply};
use crate::message::{Label, RunSubmission, decode};
use crate::store::Store;
use crate::time::Millis;
use crate::view::{RunList, RunSummary, TokenView};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

const PAGE_MAX: usize = 200;
/// Bytes of log in one answer, approximately.
const LOG_BYTES_MAX: usize = 1024 * 1024;
/// Header with the run id chosen by the submitter, who can then cancel the run even if the answer is lost.
pub(crate) const RUN_ID: &str = "remuda-run-id";
const KEY_BYTES_MAX: usize = 200;

type Answer = Result<Response, Failure>;

/// Parses an id from a path.
pub(super) fn id<T, E: std::fmt::Display>(
    text: &str,
    new: impl Fn(&str) -> Result<T, E>,
) -> Result<T, Failure> {
    let bad = |error: E| {
        Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "BAD_ID", format!("this id {error}"))
    };
    new(text).map_err(bad)
}

/// The idempotency key, scoped by token name, which also records who owns the run. Default: the new run's id.
fn key(headers: &HeaderMap, who: &str, run: &RunId) -> Result<String, Failure> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(Idempotency::key(who, run.as_str()));
    };
    let value = value.to_str().ok().filter(|v| (1..=KEY_BYTES_MAX).contains(&v.len()));
    let value = value.ok_or_else(|| {
        let text = "Idempotency-Key must have 1 to 200 visible characters";
        Failure::new(StatusCode::BAD_REQUEST, "BAD_KEY", text)
    })?;
    Ok(Idempotency::key(who, value))
}

impl App {
    /// Handles an event and writes it into the audit log, whatever the outcome.
    async fn cause(&self, who: &str, action: &str, of: &str, event: Event) -> Answer {
        let outcome = self.ask(event).await;
        // A repeated submission is in the log already, and repeating it must not push other lines out.
        if !matches!(outcome, Ok(Reply::Submitted { before: true, .. })) {
            self.note(who, action, of, outcome.as_ref().map(|_| ()));
        }
        let outcome = outcome?;
        let created = matches!(outcome, Reply::Submitted { before: false, .. });
        let mut response = reply(outcome);
        if created {
            *response.status_mut() = StatusCode::CREATED;
        }
        Ok(response)
    }

    pub(super) async fn run_list(
        &self,
        before: Option<&str>,
        limit: Option<usize>,
    ) -> Result<RunList, Failure> {
        let before = before.map(|cursor| {
            let parts = cursor
                .split_once('.')
                .and_then(|(at, id)| Some((Millis(at.parse().ok()?), RunId::new(id).ok()?)));
            let text = "`before` must be the `next` of a previous page";
            parts.ok_or_else(|| Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "BAD_CURSOR", text))
        });
        let most = limit.unwrap_or(50).clamp(1, PAGE_MAX);
        let runs = self.0.store.runs(before.transpose()?, most).await?;
        let full = runs.len() == most;
        let next = runs.last().filter(|_| full).map(|r| format!("{}.{}", r.created_at.0, r.run_id));
        let mut runs: Vec<RunSummary> = runs.iter().map(RunSummary::from).collect();
        self.explain_stalled(&mut runs).await?;
        Ok(RunList { runs, next })
    }

    /// The name of the token, if its scope allows this. Refusals are audited.
    fn may(&self, headers: &HeaderMap, wanted: Scope, action: &str) -> Result<String, Failure> {
        let who = self.person(headers, wanted);
        who.inspect_err(|failure| self.refused(headers, action, "", failure))
    }

    /// Audits a refusal.
    pub(super) fn refused(&self, headers: &HeaderMap, action: &str, of: &str, why: &Failure) {
        let token = self.token(headers).ok();
        self.note(token.as_ref().map_or(NOBODY, |token| token.name.as_str()), action, of, Err(why));
    }

    /// Refuses unless the token submitted the run, or is an operator's: other submitters may not cancel it,
    /// repeat it or read its outputs.
    async fn owns(
        &self,
        headers: &HeaderMap,
        who: &str,
        run: &RunId,
        action: &str,
    ) -> Result<(), Failure> {
        if self.0.tokens.is_open() || self.person(headers, Scope::Operator).is_ok() {
            return Ok(());
        }
        let rows = self.0.store.run(run).await?;
        let whose = rows.as_ref().and_then(|rows| rows.run.submitter());
        if whose.is_none_or(|whose| whose == who) {
            return Ok(());
        }
        let text =
            "this run was submitted with another token; only that token or an operator may do this";
        let failure = Failure::new(StatusCode::FORBIDDEN, "NOT_YOURS", text);
        self.refused(headers, action, run.as_str(), &failure);
        Err(failure)
    }
}

impl App {
    /// The highest priority of jobs that the request may submit.
    fn priority_max(&self, headers: &HeaderMap) -> Result<i16, Failure> {
        match self.0.tokens.is_open() {
            true => Ok(i16::MAX),
            false => Ok(self.token(headers)?.priority_max()),
        }
    }

    /// Enforces the token's limits on a submission, so that one submitter cannot keep all others waiting. The limit on
    /// jobs with workers is set as the limit of a label that stands for the token.
    async fn bound(
        &self,
        headers: &HeaderMap,
        submission: &mut RunSubmission,
    ) -> Result<(), Failure> {
        let most = self.priority_max(headers)?;
        if let Some(job) = submission.jobs.iter().find(|job| job.priority > most) {
            let text = format!(
                "job `{}` has priority {}, but this token allows at most {most}; lower it, or ask the operator for a \
                 token with a higher limit",
                job.name, job.priority
            );
            return Err(Failure::new(StatusCode::FORBIDDEN, "PRIORITY_TOO_HIGH", text));
        }
        if submission.jobs.iter().flat_map(|job| &job.labels).any(|it| it.is_of_a_token()) {
            let text =
                "labels that begin with `token:` are reserved for the orchestrator; choose others";
            return Err(Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "RESERVED_LABEL", text));
        }
        let label = self.token_label(headers).await?;
        for job in &mut submission.jobs {
            job.labels.extend(label.clone());
        }
        Ok(())
    }

    /// The label that counts the jobs of a token with a `running_max`, once its limit is set.
    async fn token_label(&self, headers: &HeaderMap) -> Result<Option<Label>, Failure> {
        if self.0.tokens.is_open() {
            return Ok(None);
        }
        let token = self.token(headers)?;
        let Some(running_max) = token.running_max else { return Ok(None) };
        let label = Label::of_token(&token.name);
        if self.0.token_limits.changes(&label, running_max) {
            let limit = Some(running_max);
            self.ask(Event::SetLimit { label: label.clone(), limit }).await?;
            self.0.token_limits.is(label.clone(), running_max);
        }
        Ok(Some(label))
    }
}

/// The `running_max` of each token, as this process last wrote it to the database. Several orchestrators may differ:
/// each writes what its own settings say.
#[derive(Debug, Default)]
pub(super) struct TokenLimits(Mutex<BTreeMap<Label, u32>>);

impl TokenLimits {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Label, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changes(&self, label: &Label, running_max: u32) -> bool {
        self.known().get(label) != Some(&running_max)
    }

    fn is(&self, label: Label, running_max: u32) {
        self.known().insert(label, running_max);
    }

    /// After an operator set the limit, the next submission sets it again.
    fn forget(&self, label: &Label) {
        self.known().remove(label);
    }
}

/// `GET /api/v1/token`: lets a program check its permissions when it starts.
pub(super) async fn token(State(app): State<App>, headers: HeaderMap) -> Answer {
    let view = match app.0.tokens.is_open() {
        true => TokenView {
            name: "anybody".to_owned(),
            scope: Scope::Operator,
            priority_max: i16::MAX,
            running_max: None,
        },
        false => {
            let token = app.token(&headers)?;
            let priority_max = token.priority_max();
            let Token { name, scope, running_max, .. } = token;
            TokenView { name, scope, priority_max, running_max }
        }
    };
    Ok(json(&view))
}

/// A code of its own: `CONFLICT` means that the run was accepted before.
fn id_is_busy() -> Failure {
    let text = "objects of an earlier run with this id are still being removed; try again a little later, or choose another id";
    Failure::new(StatusCode::CONFLICT, "RUN_ID_BUSY", text)
}

/// `POST /api/v1/runs`
pub(super) async fn submit(State(app): State<App>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let who = app.may(&parts.headers, Scope::Submitter, "submit")?;
    let bytes = app.read(&parts.headers, body).await?;
    let mut submission: RunSubmission = decode(&bytes)?;
    let bounded = app.bound(&parts.headers, &mut submission).await;
    bounded.inspect_err(|failure| app.refused(&parts.headers, "submit", "", failure))?;
    let run_id = match parts.headers.get(RUN_ID) {
        Some(chosen) => {
            let chosen = id(chosen.to_str().unwrap_or_default(), RunId::chosen)?;
            if app.0.removals.has(&chosen) {
                return Err(id_is_busy());
            }
            chosen
        }
        None => random_id(RunId::PREFIX, RunId::new),
    };
    let key = Some(key(&parts.headers, &who, &run_id)?);
    let of = run_id.as_str().to_owned();
    app.cause(&who, "submit", &of, Event::Submit { run_id, key, submission }).await
}

#[derive(Debug, Deserialize)]
pub(super) struct Page {
    /// `next` of the previous page.
    before: Option<String>,
    limit: Option<usize>,
}

/// `GET /api/v1/runs`
pub(super) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    QueryParams(page): QueryParams<Page>,
) -> Answer {
    app.person(&headers, Scope::Viewer)?;
    Ok(json(&app.run_list(page.before.as_deref(), page.limit).await?))
}

#[derive(Debug, Deserialize)]
pub(super) struct Jobs {
    /// `next` of the previous page.
    #[serde(default)]
    pub(super) from: usize,
}

/// `GET /api/v1/runs/{id}`
pub(super) async fn run(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(run): PathParam,
    QueryParams(Jobs { from }): QueryParams<Jobs>,
) -> Answer {
    app.person(&headers, Scope::Viewer)?;
    let view = app.run_view(&id(&run, RunId::new)?, FRESH).await?;
    Ok(json(&view.ok_or_else(|| Failure::not_found("run"))?.page(from)))
}

/// `GET /api/v1/jobs/{id}`
pub(super) async fn job(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(job): PathParam,
) -> Answer {
    app.person(&headers, Scope::Viewer)?;
    let view = app.job_view(&id(&job, JobId::new)?).await?;
    Ok(json(&view.ok_or_else(|| Failure::not_found("job"))?))
}

/// `POST /api/v1/runs/{id}/cancel`
pub(super) async fn cancel_run(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(run): PathParam,
) -> Answer {
    let who = app.may(&headers, Scope::Submitter, "cancel")?;
    let run_id = id(&run, RunId::new)?;
    app.owns(&headers, &who, &run_id, "cancel").await?;
    app.cause(&who, "cancel", &run, Event::CancelRun { run_id }).await
}

/// `POST /api/v1/jobs/{id}/cancel`
pub(super) async fn cancel_job(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(job): PathParam,
) -> Answer {
    let who = app.may(&headers, Scope::Submitter, "cancel")?;
    let job_id = id(&job, JobId::new)?;
    if let Some(run) = job_id.run() {
        app.owns(&headers, &who, &run, "cancel").await?;
    }
    app.cause(&who, "cancel", &job, Event::CancelJob { job_id }).await
}

/// `POST /api/v1/runs/{id}/rerun`
pub(super) async fn rerun(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(run): PathParam,
) -> Answer {
    let who = app.may(&headers, Scope::Submitter, "rerun")?;
    let of = id(&run, RunId::new)?;
    app.owns(&headers, &who, &of, "rerun").await?;
    let run_id = random_id(RunId::PREFIX, RunId::new);
    let key = Some(key(&headers, &who, &run_id)?);
    let priority_max = app.priority_max(&headers)?;
    let label = app.token_label(&headers).await?;
    app.cause(&who, "rerun", &run, Event::Rerun { of, run_id, key, priority_max, label }).await
}

#[derive(Debug, Deserialize)]
pub(super) struct Limit {
    /// None: no limit.
    limit: Option<u32>,
}

/// `PUT /api/v1/limits/{label}?limit=3`
pub(super) async fn limit(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(text): PathParam,
    QueryParams(Limit { limit }): QueryParams<Limit>,
) -> Answer {
    let who = app.may(&headers, Scope::Operator, "limit")?;
    let label = id(&text, Label::new)?;
    app.0.token_limits.forget(&label);
    app.cause(&who, "limit", &text, Event::SetLimit { label, limit }).await
}

/// `DELETE /api/v1/workers/{key}`
pub(super) async fn expel(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(key): PathParam,
) -> Answer {
    let who = app.may(&headers, Scope::Operator, "expel")?;
    let key_id = id(&key, KeyId::new)?;
    let answer = app.cause(&who, "expel", &key, Event::Expel(key_id.clone())).await;
    if let Some(worker) = app.0.store.worker(&key_id).await? {
        app.0.keys.put(worker);
        app.0.roster.expelled(&key_id);
    }
    answer
}

/// `GET /api/v1/jobs/{id}/output`: output bytes of the call that ended the job, with its fence.
pub(super) async fn output(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(job): PathParam,
) -> Answer {
    let who = app.person(&headers, Scope::Viewer)?;
    let rows = app.0.store.job(&id(&job, JobId::new)?).await?;
    let rows = rows.ok_or_else(|| Failure::not_found("job"))?;
    app.owns(&headers, &who, &rows.job.run_id, "output").await?;
    let output = rows.output().ok_or_else(|| Failure::not_found("output"))?;
    let kind = HeaderValue::from_static("application/octet-stream");
    let bytes = output.bytes().to_vec();
    let mut response = ([(header::CONTENT_TYPE, kind)], bytes).into_response();
    response.headers_mut().insert("remuda-fence", HeaderValue::from(rows.job.fence.0));
    Ok(response)
}

#[derive(Debug, Deserialize)]
pub(super) struct LogQuery {
    /// Fence of the grant. Default: the newest.
    fence: Option<u64>,
    /// First byte.
    #[serde(default)]
    offset: u64,
}

/// The requested fence if such a grant existed. Default: the newest.
pub(super) fn granted(job: &JobRecord, fence: Option<u64>) -> Result<Fence, Failure> {
    match fence.map(Fence) {
        None => Ok(job.fence),
        Some(fence) if Fence(0) < fence && fence <= job.fence => Ok(fence),
        Some(_) => Err(Failure::not_found("grant of this job")),
    }
}

/// `GET /api/v1/jobs/{id}/log`: untrusted bytes of the job's log. An empty answer means that there are no
/// more yet.
pub(super) async fn log(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(job): PathParam,
    QueryParams(query): QueryParams<LogQuery>,
) -> Answer {
    app.person(&headers, Scope::Viewer)?;
    let job_id = id(&job, JobId::new)?;
    let rows = app.0.store.job(&job_id).await?.ok_or_else(|| Failure::not_found("job"))?;
    let fence = granted(&rows.job, query.fence)?;
    let bytes = app.0.store.log(&job_id, fence, query.offset, LOG_BYTES_MAX).await?;
    // No browser may render what a job wrote.
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    let mut response = ([(header::CONTENT_TYPE, plain)], bytes).into_response();
    let headers = response.headers_mut();
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert("remuda-fence", HeaderValue::from(fence.0));
    Ok(response)
}
