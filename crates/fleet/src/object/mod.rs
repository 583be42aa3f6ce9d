//! Objects: stored files of jobs. Each is written once by the holder of the lease, under a path with attempt
//! and fence.

mod bucket;
mod disk;
mod grant;
mod quota;

pub use bucket::{Bucket, BucketConfig};
pub use disk::{Disk, Incoming, ObjectError, Sent};
pub use grant::Grants;

use crate::http::file_body;
use crate::message::is_object_path;
use axum::body::Body;
use std::path::Path;
use std::time::Duration;
use tokio::fs::File;

/// Prefix of all objects. Other files in the directory or a shared bucket are not served.
const OF_RUNS: &str = "runs/";

/// Objects in a directory or a bucket. Uploads always reach the directory first: nothing is published before
/// it is complete and its hash is verified.
#[derive(Clone, Debug)]
pub struct Objects {
    disk: Disk,
    bucket: Option<Bucket>,
}

impl Objects {
    /// Opens the directory, with this limit, and the bucket if any.
    pub async fn open(
        folder: &Path,
        bytes_max: u64,
        bucket: Option<BucketConfig>,
    ) -> Result<Self, ObjectError> {
        let disk = Disk::open(folder, bytes_max)?;
        let bucket = match bucket {
            Some(config) => Some(Bucket::open(config).await?),
            None => None,
        };
        Ok(Self { disk, bucket })
    }

    /// Starts receiving an object of this size, if there is room.
    pub async fn begin(&self, bytes: u64) -> Result<Incoming, ObjectError> {
        self.disk.begin(bytes).await
    }

    /// Bytes in the directory, uploads in progress included, and the limit.
    pub async fn used(&self) -> (u64, u64) {
        self.disk.used().await
    }

    /// Gives an object its name. Repeating it is no error: the response may have been lost.
    pub async fn keep(&self, sent: Sent, path: &str) -> Result<(), ObjectError> {
        let Some(bucket) = &self.bucket else { return self.disk.keep(sent, path).await };
        if !is_object_path(path) {
            return Err(ObjectError::Path);
        }
        bucket.keep(path, File::open(&sent.at).await?, &sent.sha256).await
    }

    /// An object's body and size.
    pub async fn read(&self, path: &str) -> Result<Option<(Body, u64)>, ObjectError> {
        if !is_object_path(path) {
            return Err(ObjectError::Path);
        }
        if !path.starts_with(OF_RUNS) {
            return Ok(None);
        }
        let Some(bucket) = &self.bucket else {
            let found = self.disk.read(path).await?;
            return Ok(found.map(|(file, bytes)| (file_body(file), bytes)));
        };
        bucket.read(path).await
    }

    /// Ids of runs whose objects are older than `age`, at most `most`. None for a bucket: its lifecycle rules
    /// remove old objects.
    pub async fn old_runs(&self, age: Duration, most: usize) -> Result<Vec<String>, ObjectError> {
        match &self.bucket {
            Some(_) => Ok(vec![]),
            None => Ok(self.disk.runs(age, most).await?),
        }
    }

    pub async fn forget(&self, path: &str) -> Result<(), ObjectError> {
        match &self.bucket {
            Some(bucket) if is_object_path(path) => bucket.forget(path).await,
            Some(_) => Err(ObjectError::Path),
            None => self.disk.forget(path).await,
        }
    }
}
