//! The API of workers: `POST /api/v1/internal/…`.

use super::answer::{Failure, json_message, reply};
use super::app::App;
use crate::auth::{Scope, random_id};
use crate::id::{CancelToken, JobId, LeaseId, RunnerId};
use crate::lease::{Event, Reply, WorkerRecord};
use crate::message::{
    AckLease, Body, CancelAck, Complete, Enrol, Enrolled, Heartbeat, LeaseRequest, Leave, Left,
    LogChunk, UploadRequest, decode,
};
use crate::time::Millis;
use axum::extract::{Request, State};
use axum::response::Response;
use std::time::Duration;
use tokio::time::Instant;

/// A runner's message that maps to one event.
pub(super) trait Report: Body {
    fn runner(&self) -> &RunnerId;
    fn event(self) -> Event;
    /// The job whose watchers should refresh.
    fn moves(&self) -> Option<JobId> {
        None
    }
}

macro_rules! reports {
    ($($message:ident => $event:ident $(($moves:ident))?),+ $(,)?) => {
        $(impl Report for $message {
            fn runner(&self) -> &RunnerId {
                &self.runner_id
            }

            fn event(self) -> Event {
                Event::$event(self)
            }

            $(fn moves(&self) -> Option<JobId> {
                Some(self.$moves.clone())
            })?
        })+
    };
}
reports!(
    AckLease => Ack (job_id),
    Heartbeat => Heartbeat,
    Complete => Complete,
    CancelAck => CancelAck,
    LogChunk => Log,
    UploadRequest => Upload,
);

pub(super) async fn report<B: Report>(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Failure> {
    let (message, machine) = app.message::<B>(request).await?;
    machine.speaks_for(message.runner())?;
    app.0.metrics.message(B::TYPE);
    app.0.roster.heard(app.now(), message.runner(), None);
    let moved = message.moves();
    let answer = match app.ask(message.event()).await? {
        Reply::Upload(granted) => Reply::Upload(app.0.grants.seal(granted)),
        other => other,
    };
    moved.iter().for_each(|job| app.tell(job));
    Ok(reply(answer))
}

/// `LeaseRequest`: answered when there is a job, or after `max_wait_seconds`.
pub(super) async fn lease(State(app): State<App>, request: Request) -> Result<Response, Failure> {
    let (message, machine) = app.message::<LeaseRequest>(request).await?;
    machine.speaks_for(&message.runner_id)?;
    app.0.metrics.message(LeaseRequest::TYPE);
    app.0.roster.heard(app.now(), &message.runner_id, Some(&message.capabilities));
    let patience = Duration::from_secs(message.max_wait_seconds.into());
    let until = Instant::now() + patience;
    let mut stopping = app.stopping();
    loop {
        // Registered before the query, so a job that becomes ready meanwhile is not missed.
        let waiter = app.0.waiters.join(&message.capabilities);
        let event = Event::Lease {
            lease_id: random_id(LeaseId::PREFIX, LeaseId::new),
            cancel_token: Some(random_id(CancelToken::PREFIX, CancelToken::new)),
            request: message.clone(),
        };
        let answer = app.ask(event).await?;
        let look_again = (Instant::now() + app.0.config.look_again).min(until);
        if !matches!(answer, Reply::NoWork(_)) || Instant::now() >= until || *stopping.borrow() {
            return Ok(reply(answer));
        }
        tokio::select! {
            () = waiter.woken() => {}
            () = tokio::time::sleep_until(look_again) => {}
            _ = stopping.wait_for(|stop| *stop) => {}
        }
    }
}

/// `Leave`: a runner shuts down. Its machine stays registered.
pub(super) async fn leave(State(app): State<App>, request: Request) -> Result<Response, Failure> {
    let (Leave { runner_id }, machine) = app.message::<Leave>(request).await?;
    machine.speaks_for(&runner_id)?;
    app.0.metrics.message(Leave::TYPE);
    app.0.roster.left(&runner_id);
    Ok(json_message(&Left { runner_id }))
}

/// `Enrol`: a machine registers its key with an enrolment token.
pub(super) async fn enrol(State(app): State<App>, request: Request) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let who = app.person(&parts.headers, Scope::Enrol);
    let who = who.inspect_err(|failure| app.refused(&parts.headers, "enrol", "", failure))?;
    let bytes = app.read(&parts.headers, body).await?;
    let Enrol { key } = decode(&bytes)?;
    let key_id = key.id();
    let worker = WorkerRecord {
        key,
        enrolled_by: who.clone(),
        // Set by the store.
        enrolled_at: Millis(0),
        expelled_at: None,
    };
    let outcome = app.ask(Event::Enrol(worker)).await;
    app.note(&who, "enrol", key_id.as_str(), outcome.as_ref().map(|_| ()));
    outcome?;
    Ok(json_message(&Enrolled { key_id }))
}
