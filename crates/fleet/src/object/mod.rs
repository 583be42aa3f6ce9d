//! Objects: files that jobs leave behind. Written once, under paths that have attempt and fence in
//! them, by whoever holds the lease at that moment.

mod bucket;
mod disk;
mod grant;
mod quota;

pub use bucket::{Bucket, BucketConfig};
pub use disk::{Disk, Incoming, ObjectError, Sent};
pub use grant::Grants;

use crate::message::is_object_path;
use axum::body::Body;
use std::path::Path;
use std::time::Duration;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

/// What all paths of objects begin with. Whatever else is in the folder, or in a bucket that is shared, is not
/// shown to anybody.
const OF_RUNS: &str = "runs/";
/// Bytes that are read from the disk at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Where objects are: in a folder, or in a bucket. Either way they come into the folder first, so that
/// nothing is written anywhere before all of it is there and its hash is right.
#[derive(Clone, Debug)]
pub struct Objects {
    disk: Disk,
    bucket: Option<Bucket>,
}

impl Objects {
    /// In a folder, or on the way through it into a bucket. The folder has at most so many bytes.
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

    /// Begins to take an object of so many bytes, if there is room for it.
    pub async fn begin(&self, bytes: u64) -> Result<Incoming, ObjectError> {
        self.disk.begin(bytes).await
    }

    /// Bytes in the folder, those that are on their way included, and how many there may be.
    pub async fn used(&self) -> (u64, u64) {
        self.disk.used().await
    }

    /// Gives an object its name. The same object again is no error: its answer was lost.
    pub async fn keep(&self, sent: Sent, path: &str) -> Result<(), ObjectError> {
        let Some(bucket) = &self.bucket else { return self.disk.keep(sent, path).await };
        if !is_object_path(path) {
            return Err(ObjectError::Path);
        }
        bucket.keep(path, File::open(&sent.at).await?, &sent.sha256).await
    }

    /// An object that a job left behind, to be read, and its size.
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

    /// Runs whose objects in the folder nobody added to for so long, at most so many. Of a bucket none: its own rules
    /// can remove what is old.
    pub async fn old_runs(&self, age: Duration, most: usize) -> Result<Vec<String>, ObjectError> {
        match &self.bucket {
            Some(_) => Ok(vec![]),
            None => Ok(self.disk.runs(age, most).await?),
        }
    }

    /// Removes all objects below a path.
    pub async fn forget(&self, path: &str) -> Result<(), ObjectError> {
        match &self.bucket {
            Some(bucket) if is_object_path(path) => bucket.forget(path).await,
            Some(_) => Err(ObjectError::Path),
            None => self.disk.forget(path).await,
        }
    }
}

/// A file, to be sent.
fn file_body(file: File) -> Body {
    Body::from_stream(futures::stream::try_unfold(file, |mut file| async move {
        let mut piece = vec![0; PIECE_BYTES];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then_some((piece, file)))
    }))
}
