//! Objects in a bucket of any store that speaks S3.
//!
//! An object is written with `If-None-Match: *`: the store itself refuses a second one under the same
//! name. Stores that ignore this would let a late writer overwrite; so the first thing that is asked of
//! a store is whether it keeps this promise.

mod list;
mod sign;
mod wire;

pub(super) use wire::file_body;

use super::ObjectError;
use crate::auth::{random_hex, sha256_hex};
use axum::body::Body;
use hyper::{Method, Response, StatusCode};
use sign::Request;
use tokio::fs::File;
use wire::Bytes;

/// Where an object's hash is kept.
const HASH: &str = "x-amz-meta-sha256";

/// A bucket, and the right to use it.
#[derive(Clone)]
pub struct BucketConfig {
    /// `http://host:9000` or `https://…`. The bucket comes after it, as a path.
    pub endpoint: String,
    /// The bucket.
    pub bucket: String,
    /// What the store calls its place; `us-east-1` where there is none.
    pub region: String,
    /// The key's name.
    pub access_key: String,
    /// The key.
    pub secret_key: String,
    /// What all names in the bucket begin with, if it is shared: `fleet/`.
    pub prefix: String,
}

// Not the key.
impl std::fmt::Debug for BucketConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { endpoint, bucket, region, prefix, .. } = self;
        f.debug_struct("BucketConfig")
            .field("endpoint", endpoint)
            .field("bucket", bucket)
            .field("region", region)
            .field("prefix", prefix)
            .finish_non_exhaustive()
    }
}

/// A bucket.
#[derive(Clone, Debug)]
pub struct Bucket {
    config: BucketConfig,
    wire: wire::Wire,
}

/// An object that is being read.
pub(super) struct Stored {
    /// Its bytes, as they come.
    pub(super) body: Bytes,
    /// How many there are.
    pub(super) bytes: u64,
}

fn failed(why: impl std::fmt::Display) -> ObjectError {
    ObjectError::Store(why.to_string())
}

impl Bucket {
    /// A bucket that is there, can be written, and never overwrites.
    pub async fn open(config: BucketConfig) -> Result<Self, ObjectError> {
        let wire = wire::Wire::new(&config.endpoint).map_err(failed)?;
        let bucket = Self { config, wire };
        let (probe, hash) = (format!(".probe-{}", random_hex::<8>()), sha256_hex(b"probe"));
        let put = async || {
            let body = Body::from("probe");
            bucket.put_once(&probe, body, 5, &hash).await
        };
        let (first, second) = (put().await?, put().await?);
        bucket.delete(&probe).await?;
        match (first, second) {
            (true, false) => Ok(bucket),
            _ => Err(ObjectError::Overwrites),
        }
    }

    /// Writes an object if nobody has its name. The same object again is no error.
    pub(super) async fn keep(
        &self,
        path: &str,
        file: File,
        sha256: &str,
    ) -> Result<(), ObjectError> {
        let bytes = file.metadata().await?.len();
        if self.put_once(path, file_body(file), bytes, sha256).await? {
            return Ok(());
        }
        let there = self.send(Request::new(Method::HEAD, self.name(path)), Body::empty()).await?;
        let same =
            there.headers().get(HASH).is_some_and(|hash| hash.as_bytes() == sha256.as_bytes());
        same.then_some(()).ok_or(ObjectError::Exists)
    }

    /// False: the name is taken.
    async fn put_once(
        &self,
        path: &str,
        body: Body,
        bytes: u64,
        sha256: &str,
    ) -> Result<bool, ObjectError> {
        let request = Request::new(Method::PUT, self.name(path))
            .hash(sha256)
            .header("if-none-match", "*")
            .header("content-length", &bytes.to_string())
            .header(HASH, sha256);
        match self.send(request, body).await?.status() {
            status if status.is_success() => Ok(true),
            StatusCode::PRECONDITION_FAILED => Ok(false),
            // Somebody writes the same name at this moment: whoever asks again learns who won.
            StatusCode::CONFLICT => Err(failed("another writes this object just now")),
            status => Err(failed(format!("it answers a PUT with {status}"))),
        }
    }

    /// An object, to be read.
    pub(super) async fn read(&self, path: &str) -> Result<Option<Stored>, ObjectError> {
        let answer = self.send(Request::new(Method::GET, self.name(path)), Body::empty()).await?;
        match answer.status() {
            StatusCode::OK => {
                let length = answer.headers().get("content-length");
                let bytes = length.and_then(|length| length.to_str().ok()?.parse().ok());
                let bytes = bytes.ok_or_else(|| failed("it does not say how long an object is"))?;
                Ok(Some(Stored { body: Bytes::new(answer.into_body()), bytes }))
            }
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(failed(format!("it answers a GET with {status}"))),
        }
    }

    /// Removes all objects below a path.
    pub(super) async fn forget(&self, path: &str) -> Result<(), ObjectError> {
        let mut from: Option<String> = None;
        loop {
            let mut request = Request::new(Method::GET, String::new())
                .query("list-type", "2")
                .query("prefix", &format!("{}{path}/", self.config.prefix));
            if let Some(from) = &from {
                request = request.query("continuation-token", from);
            }
            let answer = self.send(request, Body::empty()).await?;
            let status = answer.status();
            let text = wire::text(answer.into_body()).await.map_err(failed)?;
            if !status.is_success() {
                return Err(failed(format!("it answers a list with {status}")));
            }
            let page = list::read(&text);
            for name in &page.names {
                self.delete_name(name).await?;
            }
            match page.next {
                Some(next) => from = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn delete(&self, path: &str) -> Result<(), ObjectError> {
        self.delete_name(&self.name(path)).await
    }

    async fn delete_name(&self, name: &str) -> Result<(), ObjectError> {
        let request = Request::new(Method::DELETE, name.to_owned());
        let answer = self.send(request, Body::empty()).await?;
        match answer.status() {
            status if status.is_success() || status == StatusCode::NOT_FOUND => Ok(()),
            status => Err(failed(format!("it answers a DELETE with {status}"))),
        }
    }

    fn name(&self, path: &str) -> String {
        format!("{}{path}", self.config.prefix)
    }

    async fn send(
        &self,
        request: Request,
        body: Body,
    ) -> Result<Response<hyper::body::Incoming>, ObjectError> {
        let now = jiff::Timestamp::now();
        let request = request.sign(&self.config, self.wire.host(), now);
        let request = request.body(body).map_err(failed)?;
        self.wire.send(request).await.map_err(failed)
    }
}
