//! A server that is an address: streamable HTTP, as far as calls of tools need it.
//!
//! Each message is one request, over a connection of its own. Its answer is one document, or a
//! stream of events that is read up to the answer. There is no second stream for what the server
//! might want to tell, nothing is resumed, and no redirect is followed.

use super::budget::Budget;
use crate::executor::ExecuteError;
use crate::executor::endpoint::Endpoint;
use crate::executor::sse::Events;
use crate::executor::transport::Answer;
use bytes::Bytes;
use futures::stream::BoxStream;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig as Config,
    StreamableHttpError, StreamableHttpPostResponse as Response,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::Arc;

/// The header that names a session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

type Failure = StreamableHttpError<ExecuteError>;

/// A server at its address.
#[derive(Clone)]
pub(super) struct Web {
    endpoint: Arc<Endpoint>,
    budget: Budget,
}

impl Web {
    pub(super) fn new(endpoint: Arc<Endpoint>, budget: Budget) -> Self {
        Self { endpoint, budget }
    }

    /// What sessions are made over.
    pub(super) fn transport(self) -> StreamableHttpClientTransport<Self> {
        // The endpoint knows the address, which may hold a secret; nobody else needs it. A session
        // that the server has forgotten is a failure: whether the call was made is not known.
        let config = Config::with_uri("").reinit_on_expired_session(false);
        StreamableHttpClientTransport::with_client(self, config)
    }

    /// Remembers why it failed; what is made of it in between is of no interest.
    fn note<T>(&self, end: Result<T, ExecuteError>) -> Result<T, Failure> {
        end.map_err(|error| {
            self.budget.fail(error.clone());
            StreamableHttpError::Client(error)
        })
    }

    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        headers: HeaderMap,
    ) -> Result<Response, ExecuteError> {
        let document = serde_json::to_vec(message);
        let document = document.map_err(|_| self.endpoint.useless("it cannot be asked"))?;
        let in_session = headers.contains_key(SESSION);
        let answer = self.endpoint.exchange(Method::POST, headers, document).await?;
        match answer.status {
            // What it did before it forgot the session is not known.
            StatusCode::NOT_FOUND if in_session => {
                return Err(self.endpoint.useless("it has forgotten the session"));
            }
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(Response::Accepted),
            status if status.is_success() => {}
            status if status.is_redirection() => {
                return Err(self.endpoint.useless("it sends us elsewhere, and we do not go"));
            }
            status => return Err(self.endpoint.declined(status)),
        }
        if !matches!(message, ClientJsonRpcMessage::Request(_)) {
            return Ok(Response::Accepted);
        }
        let header = |name: &HeaderName| {
            answer.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let session = header(&SESSION);
        let content_type = header(&CONTENT_TYPE).unwrap_or_default();
        let reply = match content_type.starts_with("text/event-stream") {
            true => self.listen(answer).await?,
            false => self.read(answer).await?,
        };
        Ok(Response::Json(reply, session))
    }

    /// A reply in one piece.
    async fn read(&self, mut answer: Answer) -> Result<ServerJsonRpcMessage, ExecuteError> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece(&mut answer).await? {
            body.extend_from_slice(&piece);
        }
        self.parse(&body)
    }

    /// A reply that comes as an event; others may come before it.
    async fn listen(&self, mut answer: Answer) -> Result<ServerJsonRpcMessage, ExecuteError> {
        let mut events = Events::default();
        while let Some(piece) = self.piece(&mut answer).await? {
            let complete = events.feed(&piece);
            let complete = complete.map_err(|error| self.endpoint.useless(&error.to_string()))?;
            // An event without data only carries an id for reconnects.
            for data in complete.iter().filter(|data| !data.is_empty()) {
                let message = self.parse(data)?;
                if matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) {
                    return Ok(message);
                }
            }
        }
        Err(self.endpoint.unreachable("it broke off"))
    }

    async fn piece(&self, answer: &mut Answer) -> Result<Option<Bytes>, ExecuteError> {
        let piece = answer.piece().await.map_err(|error| self.endpoint.explain(error))?;
        self.budget.take(piece.as_ref().map_or(0, Bytes::len))?;
        Ok(piece)
    }

    fn parse(&self, document: &[u8]) -> Result<ServerJsonRpcMessage, ExecuteError> {
        serde_json::from_slice(document).map_err(|_| self.endpoint.useless("no message of MCP"))
    }
}

/// Headers of a request in a session.
fn headers(session: Option<&str>, more: HashMap<HeaderName, HeaderValue>) -> HeaderMap {
    let mut headers: HeaderMap = more.into_iter().collect();
    let accept = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(ACCEPT, accept);
    if let Some(session) = session.and_then(|text| HeaderValue::try_from(text).ok()) {
        headers.insert(SESSION, session);
    }
    headers
}

impl StreamableHttpClient for Web {
    type Error = ExecuteError;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response, Failure> {
        self.note(self.post(&message, headers(session.as_deref(), more)).await)
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let headers = headers(Some(&session), more);
        // Many servers do not know how; they forget by themselves.
        let _ = self.endpoint.exchange(Method::DELETE, headers, Vec::new()).await;
        Ok(())
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}
