//! Where an answer points to, and what of a request may go there.

use super::transport::Answer;
use bytes::Bytes;
use hyper::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, COOKIE,
    HeaderMap, LOCATION,
};
use hyper::{Method, StatusCode};
use thiserror::Error;
use url::Url;

pub(super) const HOPS_MAX: usize = 5;
/// Bytes of an address that is pointed to, as many as a job's own may have.
const URL_BYTES_MAX: usize = 4_096;

/// One request on the way.
#[derive(Clone)]
pub(super) struct Hop {
    pub method: Method,
    /// Where to, without fragment and credentials.
    pub url: Url,
    /// The job's headers, as far as they may go there.
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A redirect that is not followed.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum RedirectError {
    #[error("redirect to a malformed address")]
    BadLocation,
    #[error("redirect from https to http")]
    Downgrade,
    #[error("redirect to an address with credentials")]
    Credentials,
}

/// Whether an address names a user or a password.
pub(super) fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

impl Hop {
    /// The request that an answer asks for instead, if it does.
    pub(super) fn redirected(&self, answer: &Answer) -> Result<Option<Self>, RedirectError> {
        let Some(location) = answer.headers.get(LOCATION) else {
            return Ok(None);
        };
        let keeps_method = match answer.status {
            StatusCode::SEE_OTHER => false,
            // What everybody does with POST, whatever was once meant.
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method != Method::POST,
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            _ => return Ok(None),
        };
        let mut next = self.clone();
        next.url = self.target(location.as_bytes())?;
        if !keeps_method && self.method != Method::HEAD {
            next.method = Method::GET;
            next.body = Bytes::new();
            for name in [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION] {
                next.headers.remove(name);
            }
        }
        if next.url.origin() != self.url.origin() {
            next.headers.remove(AUTHORIZATION);
            next.headers.remove(COOKIE);
        }
        Ok(Some(next))
    }

    fn target(&self, location: &[u8]) -> Result<Url, RedirectError> {
        let text = std::str::from_utf8(location).map_err(|_| RedirectError::BadLocation)?;
        if text.len() > URL_BYTES_MAX {
            return Err(RedirectError::BadLocation);
        }
        let mut url = self.url.join(text).map_err(|_| RedirectError::BadLocation)?;
        if has_credentials(&url) {
            return Err(RedirectError::Credentials);
        }
        if self.url.scheme() == "https" && url.scheme() == "http" {
            return Err(RedirectError::Downgrade);
        }
        url.set_fragment(None);
        Ok(url)
    }
}
