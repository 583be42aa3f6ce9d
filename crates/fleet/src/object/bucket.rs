//! Objects in an S3 bucket.
//!
//! An object is written with `If-None-Match: *`: the store itself refuses a second object under the same
//! name. A store that ignores this header would let a late writer overwrite an object, so opening a bucket
//! first checks that the store honours it. Large objects are uploaded in parts, and the header is sent with
//! the request that completes the upload.

use super::ObjectError;
use crate::auth::random_hex;
use crate::http::{Http, Trust};
use async_trait::async_trait;
use axum::body::Body;
use axum::http::{HeaderValue, Method, Uri, header};
use futures::{StreamExt, TryStreamExt};
use http_body_util::BodyExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, BackoffConfig, ClientOptions, Error, GetOptions, ObjectStore as _,
    ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions, PutPayload, RetryConfig,
};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;

/// Metadata key of an object's hash.
const HASH: &str = "sha256";
/// Size of a part. Stores accept 10,000 parts: ten times the largest object.
const PART_BYTES: usize = 16 * 1024 * 1024;
/// Most parts in memory, of all uploads.
const PARTS_MAX: usize = 8;
/// Timeout of a response's head, including the upload of a part.
const SENT_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// The same without a body to send.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Objects of a run that are removed concurrently.
const REMOVED_AT_ONCE: usize = 8;

/// A bucket with credentials.
#[derive(Clone)]
pub struct BucketConfig {
    /// `http://host:9000` or `https://…`. The bucket is appended as a path.
    pub endpoint: String,
    pub bucket: String,
    /// Region; `us-east-1` for stores without regions.
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
    /// Prefix of all names, for a shared bucket: `fleet/`.
    pub prefix: String,
    /// Trusted servers, and whether `http://` may name another machine.
    pub trust: Trust,
}

// Without the secret key.
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

#[derive(Clone, Debug)]
pub struct Bucket {
    store: Arc<AmazonS3>,
    prefix: String,
    /// Whether the store refuses to overwrite by multipart uploads, too.
    parts: bool,
    in_memory: Arc<Semaphore>,
}

fn failed(why: impl std::fmt::Display) -> ObjectError {
    ObjectError::Store(why.to_string())
}

impl Bucket {
    /// Opens a bucket. It must be writable and refuse to overwrite.
    pub async fn open(config: BucketConfig) -> Result<Self, ObjectError> {
        let uri: Uri = config.endpoint.parse().map_err(failed)?;
        let host = uri.host().unwrap_or_default();
        if uri.scheme_str() != Some("https") && !config.trust.allows_plain(host) {
            return Err(ObjectError::Plain(host.to_owned()));
        }
        let retry = RetryConfig {
            backoff: BackoffConfig::default(),
            max_retries: 3,
            retry_timeout: Duration::from_secs(60),
        };
        let store = AmazonS3Builder::new()
            .with_endpoint(config.endpoint.trim_end_matches('/'))
            .with_allow_http(true)
            .with_virtual_hosted_style_request(false)
            .with_bucket_name(&config.bucket)
            .with_region(&config.region)
            .with_access_key_id(&config.access_key)
            .with_secret_access_key(&config.secret_key)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            // Not all stores support bulk deletes.
            .with_config(AmazonS3ConfigKey::DisableBulkDelete, "true")
            .with_retry(retry)
            .with_http_connector(Connector(
                Http::new(config.trust.ca_file.as_deref()).map_err(failed)?,
            ))
            .build()
            .map_err(failed)?;
        let (store, in_memory) = (Arc::new(store), Arc::new(Semaphore::new(PARTS_MAX)));
        let mut bucket = Self { store, prefix: config.prefix, parts: false, in_memory };
        let probe = bucket.name(&format!(".probe-{}", random_hex::<8>()))?;
        let first = bucket.put(&probe, "probe".into(), "").await?;
        let second = bucket.put(&probe, "probe".into(), "").await?;
        bucket.parts = bucket.refuses_parts(&probe).await;
        bucket.store.delete(&probe).await.map_err(failed)?;
        match (first, second) {
            (true, false) => Ok(bucket),
            _ => Err(ObjectError::Overwrites),
        }
    }

    /// Whether a multipart upload to an existing name is refused.
    async fn refuses_parts(&self, taken: &Path) -> bool {
        let sent = async {
            let id = self.store.create_multipart(taken).await?;
            let part = self.store.put_part(taken, &id, 0, "other".into()).await?;
            let done = self.store.complete_multipart(taken, &id, vec![part]).await;
            // A refused upload still exists.
            let _ = self.store.abort_multipart(taken, &id).await;
            done
        };
        matches!(sent.await, Err(Error::Precondition { .. }))
    }

    /// Writes an object under a free name. Repeating it is no error.
    pub(super) async fn keep(
        &self,
        path: &str,
        mut file: File,
        sha256: &str,
    ) -> Result<(), ObjectError> {
        let name = self.name(path)?;
        let bytes = file.metadata().await?.len();
        let kept = if bytes <= PART_BYTES as u64 {
            let _in_memory = self.in_memory.acquire().await.map_err(failed)?;
            let whole = part(&mut file).await?;
            self.put(&name, whole.into(), sha256).await
        } else if self.parts {
            self.put_parts(&name, file, sha256).await
        } else {
            return Err(failed(format!(
                "this store takes objects of more than {PART_BYTES} bytes in parts, and lets them overwrite others; use a \
                 store that honours `If-None-Match: *` for CompleteMultipartUpload"
            )));
        };
        match kept {
            Ok(true) => Ok(()),
            // Its response may have been lost.
            other => match self.hash(&name).await {
                Ok(Some(there)) if there == sha256 => Ok(()),
                Ok(Some(_)) => Err(ObjectError::Exists),
                Ok(None) | Err(_) => Err(other.err().unwrap_or(ObjectError::Exists)),
            },
        }
    }

    /// False: the name exists.
    async fn put(
        &self,
        name: &Path,
        payload: PutPayload,
        sha256: &str,
    ) -> Result<bool, ObjectError> {
        let options = PutOptions {
            mode: PutMode::Create,
            attributes: attributes(sha256),
            ..PutOptions::default()
        };
        match self.store.put_opts(name, payload, options).await {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    /// The same as a multipart upload.
    async fn put_parts(
        &self,
        name: &Path,
        mut file: File,
        sha256: &str,
    ) -> Result<bool, ObjectError> {
        let options = PutMultipartOptions {
            attributes: attributes(sha256),
            ..PutMultipartOptions::default()
        };
        let id = self.store.create_multipart_opts(name, options).await.map_err(failed)?;
        let sent = async {
            let mut parts = Vec::new();
            loop {
                let _in_memory = self.in_memory.acquire().await.map_err(failed)?;
                let bytes = part(&mut file).await?;
                if bytes.is_empty() {
                    break;
                }
                let sent = self.store.put_part(name, &id, parts.len(), bytes.into()).await;
                parts.push(sent.map_err(failed)?);
            }
            match self.store.complete_multipart(name, &id, parts).await {
                Ok(_) => Ok(true),
                Err(Error::Precondition { .. } | Error::AlreadyExists { .. }) => Ok(false),
                Err(error) => Err(failed(error)),
            }
        };
        let sent = sent.await;
        if !matches!(sent, Ok(true)) {
            // What remains uses space until the bucket's lifecycle rules remove it.
            let _ = self.store.abort_multipart(name, &id).await;
        }
        sent
    }

    /// The hash of an existing object.
    async fn hash(&self, name: &Path) -> Result<Option<String>, ObjectError> {
        let head = GetOptions { head: true, ..GetOptions::default() };
        match self.store.get_opts(name, head).await {
            Ok(found) => {
                let hash = found.attributes.get(&Attribute::Metadata(HASH.into()));
                Ok(Some(hash.map(|hash| hash.to_string()).unwrap_or_default()))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// An object's bytes and size.
    pub(super) async fn read(&self, path: &str) -> Result<Option<(Body, u64)>, ObjectError> {
        match self.store.get(&self.name(path)?).await {
            Ok(found) => {
                let bytes = found.meta.size;
                Ok(Some((Body::from_stream(found.into_stream()), bytes)))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Removes all objects below a path.
    pub(super) async fn forget(&self, path: &str) -> Result<(), ObjectError> {
        let below = self.name(path)?;
        let all = self.store.list(Some(&below)).map_ok(|found| found.location);
        let removed = all.map(async |name| match self.store.delete(&name?).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        });
        removed.buffer_unordered(REMOVED_AT_ONCE).try_collect::<()>().await.map_err(failed)
    }

    fn name(&self, path: &str) -> Result<Path, ObjectError> {
        Path::parse(format!("{}{path}", self.prefix)).map_err(|_| ObjectError::Path)
    }
}

fn attributes(sha256: &str) -> Attributes {
    let mut attributes = Attributes::new();
    if !sha256.is_empty() {
        attributes.insert(Attribute::Metadata(HASH.into()), sha256.to_owned().into());
    }
    attributes
}

/// The next part of a file. Empty at its end.
async fn part(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(PART_BYTES as u64).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

#[derive(Clone, Debug)]
struct Connector(Http);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let query = request.uri().query().unwrap_or_default();
        let completes = request.method() == Method::POST && query.contains("uploadId=");
        let patience =
            if request.body().content_length() > 0 { SENT_TIMEOUT } else { ANSWER_TIMEOUT };
        // The library completes multipart uploads unconditionally. The header need not be signed.
        if completes {
            request.headers_mut().insert(header::IF_NONE_MATCH, HeaderValue::from_static("*"));
        }
        let answer = tokio::time::timeout(patience, self.0.exchange(request.map(Body::new))).await;
        let answer = answer.map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))?;
        let answer = answer.map_err(|error| {
            let connect = error.is_connect();
            let kind = if connect { HttpErrorKind::Connect } else { HttpErrorKind::Request };
            HttpError::new(kind, error)
        })?;
        Ok(answer.map(|body| {
            HttpResponseBody::new(
                body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error)),
            )
        }))
    }
}
