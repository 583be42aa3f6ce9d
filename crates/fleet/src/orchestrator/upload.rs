//! Objects over HTTP: `PUT /api/v1/internal/objects/{path}` and `GET /api/v1/objects/{path}`.
//!
//! The lease is checked before the first byte, and again before the complete object gets its name. A runner
//! that was suspended meanwhile leaves nothing.

use super::answer::{Failure, PathParam};
use super::app::App;
use super::uploads::RateFloor;
use crate::auth::Scope;
use crate::id::{LeaseId, RunnerId};
use crate::lease::{Event, Reply};
use crate::object::Grants;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use std::time::Instant;

fn field<T>(
    headers: &HeaderMap,
    name: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, Failure> {
    let value = headers.get(name).and_then(|value| read(value.to_str().ok()?));
    value.ok_or_else(|| {
        let text = format!(
            "header `{name}` missing or malformed; send what UploadGranted and the lease say"
        );
        Failure::new(StatusCode::BAD_REQUEST, "BAD_HEADER", text)
    })
}

pub(super) async fn put(
    State(app): State<App>,
    PathParam(path): PathParam,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let (sha256, machine) = app.head(&parts).await?;
    let lease_id = field(&parts.headers, "remuda-lease", |text| LeaseId::new(text).ok())?;
    let runner_id = field(&parts.headers, "remuda-runner", |text| RunnerId::new(text).ok())?;
    let grant = field(&parts.headers, "remuda-grant", |text| Some(text.to_owned()))?;
    machine.speaks_for(&runner_id)?;
    let sealed = app.0.grants.open(&lease_id, &path, &grant);
    let lease = lease_id.clone();
    let may = Event::Store { lease_id, runner_id, path: path.clone() };
    let Reply::MayStore { bytes_max } = app.ask(may.clone()).await? else {
        return Err(Failure::not_found("lease"));
    };
    // Sealed by another orchestrator, or by this one before a restart: the lease's row has its last request.
    let known =
        || Grants::bytes(&grant).filter(|bytes| bytes_max.is_some_and(|most| *bytes <= most));
    let bytes = sealed.or_else(known).ok_or_else(|| {
        let text = "this grant is not for this lease and path, or from before a restart; ask again";
        Failure::new(StatusCode::FORBIDDEN, "BAD_GRANT", text)
    })?;
    let slow = || {
        let text = "the bytes come too slowly, or stopped coming; send the object again";
        Failure::new(StatusCode::REQUEST_TIMEOUT, "TOO_SLOW", text)
    };
    let _entered = app.0.uploads.enter(&lease, &path)?;
    let mut incoming = app.0.objects.begin(bytes).await?;
    let mut looked = Instant::now();
    let mut rate = RateFloor::new(looked);
    let mut pieces = body.into_data_stream();
    loop {
        let next = tokio::time::timeout(app.0.config.request_timeout, pieces.next());
        match next.await {
            Ok(Some(Ok(piece))) => {
                incoming.write(&piece).await?;
                if !rate.keeps(Instant::now(), piece.len()) {
                    return Err(slow());
                }
                // A lost lease must not keep its reserved room.
                if looked.elapsed() > app.0.config.request_timeout {
                    app.ask(may.clone()).await?;
                    looked = Instant::now();
                }
            }
            Ok(None) => break,
            _ => return Err(slow()),
        }
    }
    let sent = incoming.finish(&sha256).await?;
    app.ask(may).await?;
    app.0.objects.keep(sent, &path).await?;
    Ok((StatusCode::CREATED, "{}").into_response())
}

pub(super) async fn get(
    State(app): State<App>,
    headers: HeaderMap,
    PathParam(path): PathParam,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let object = app.0.objects.read(&path).await?;
    let (body, bytes) = object.ok_or_else(|| Failure::not_found("object"))?;
    // No browser may render what a job wrote.
    let kind = HeaderValue::from_static("application/octet-stream");
    let mut response = ([(header::CONTENT_TYPE, kind)], body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    Ok(response)
}
