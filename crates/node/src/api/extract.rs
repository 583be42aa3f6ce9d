//! What handlers take from a request; each fails in JSON.

use super::App;
use super::error::Failure;
use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

#[derive(Debug)]
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        let Json(body) = Json::from_request(request, app).await?;
        Ok(Self(body))
    }
}

/// A part of the path.
#[derive(Debug)]
pub(super) struct Part<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Part<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Path(part) = Path::from_request_parts(parts, app).await?;
        Ok(Self(part))
    }
}

#[derive(Debug)]
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Asked<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Query(query) = Query::from_request_parts(parts, app).await?;
        Ok(Self(query))
    }
}

/// Who asks. The accept loop puts it into every request; without one it is nobody in particular.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self(address.ip())
    }
}

impl Peer {
    /// The peer of a request.
    pub fn of(extensions: &axum::http::Extensions) -> Self {
        extensions.get::<Self>().copied().unwrap_or(Self(Ipv4Addr::UNSPECIFIED.into()))
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}
