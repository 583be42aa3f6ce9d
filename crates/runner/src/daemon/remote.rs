//! A client of the status page of a runner on this machine.

use super::page::token_file;
use super::status::StatusView;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::AUTHORIZATION;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;

const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Error)]
pub enum RemoteError {
    #[error("no runner answers at http://{0}/: {1}; start it, or check its status address")]
    Unreachable(SocketAddr, String),
    #[error("http://{0}/ is not a runner: {1}")]
    NotARunner(SocketAddr, String),
    #[error("cannot read the token {}: {error}; drain as the user of the running runner", path.display())]
    Token { path: PathBuf, error: std::io::Error },
    #[error("the runner at http://{0}/ refused the token in {path}; it uses another data directory", path = .1.display())]
    WrongToken(SocketAddr, PathBuf),
}

pub async fn status(page: SocketAddr) -> Result<StatusView, RemoteError> {
    let request = Request::get("/status").header("host", page.to_string());
    let answer = done(page, call(page, request).await?)?;
    serde_json::from_slice(&answer)
        .map_err(|error| RemoteError::NotARunner(page, error.to_string()))
}

/// Drains the runner with this data directory.
pub async fn drain(page: SocketAddr, data: &Path) -> Result<(), RemoteError> {
    let path = token_file(data);
    let token = match std::fs::read_to_string(&path) {
        Ok(token) => token,
        Err(error) => return Err(RemoteError::Token { path, error }),
    };
    let request = Request::post("/drain").header("host", page.to_string());
    let answer = call(page, request.header(AUTHORIZATION, format!("Bearer {}", token.trim())));
    match answer.await? {
        (StatusCode::UNAUTHORIZED, _) => Err(RemoteError::WrongToken(page, path)),
        answer => done(page, answer).map(drop),
    }
}

fn done(page: SocketAddr, (status, body): (StatusCode, Bytes)) -> Result<Bytes, RemoteError> {
    match status.is_success() {
        true => Ok(body),
        false => Err(RemoteError::NotARunner(page, format!("status {status}"))),
    }
}

async fn call(
    page: SocketAddr,
    request: hyper::http::request::Builder,
) -> Result<(StatusCode, Bytes), RemoteError> {
    let gone = |error: String| RemoteError::Unreachable(page, error);
    let request = request.body(Empty::<Bytes>::new()).map_err(|error| gone(error.to_string()))?;
    let exchange = async {
        let stream = TcpStream::connect(page).await.map_err(|error| gone(error.to_string()))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| gone(error.to_string()))?;
        let connection = tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|error| gone(error.to_string()))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
        connection.abort();
        let body = body.map_err(|error| RemoteError::NotARunner(page, error.to_string()))?;
        Ok((status, body.to_bytes()))
    };
    timeout(REQUEST_TIMEOUT, exchange).await.unwrap_or_else(|_| Err(gone("timed out".to_owned())))
}
