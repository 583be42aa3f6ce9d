//! How many bytes objects may take on the disk, all together.
//!
//! Room is *promised* when an upload begins, by the size that was granted, and *taken* when the object
//! has its name; an upload that breaks off gives its promise back. So what is there never exceeds the
//! bound, however many come at once, and whoever is refused has not sent a byte. Nothing is removed to
//! make room: objects go with their runs, when these were kept for as long as the operator said.

use super::ObjectError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, MutexGuard};

/// Before somebody is refused it is counted anew, but not more often than this: others may have removed
/// files, and counting takes a while where there are many.
const COUNT_EVERY: Duration = Duration::from_secs(30);

/// The bound, and what there is.
#[derive(Debug)]
pub(super) struct Room {
    folder: PathBuf,
    bytes_max: u64,
    promised: Arc<AtomicU64>,
    /// Whoever changes what is kept holds it meanwhile, so that nobody counts half of a change.
    kept: Mutex<Kept>,
}

/// What has its name.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) bytes: u64,
    counted: Instant,
}

/// Bytes that are on their way.
#[derive(Debug)]
pub(super) struct Promise {
    bytes: u64,
    all: Arc<AtomicU64>,
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

impl Room {
    /// Counts what is in a folder.
    pub(super) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        let kept = Kept { bytes: kept_bytes(folder)?, counted: Instant::now() };
        let (folder, kept) = (folder.to_owned(), Mutex::new(kept));
        Ok(Self { folder, bytes_max, promised: Arc::default(), kept })
    }

    /// Room for so many bytes, or why there is none.
    pub(super) async fn promise(&self, bytes: u64) -> Result<Promise, ObjectError> {
        let mut kept = self.kept.lock().await;
        if !self.fits(&kept, bytes) && kept.counted.elapsed() >= COUNT_EVERY {
            self.count(&mut kept).await?;
        }
        if !self.fits(&kept, bytes) {
            return Err(ObjectError::NoRoom { bytes, bytes_max: self.bytes_max });
        }
        // Under the lock: two who come together do not both get what is left.
        self.promised.fetch_add(bytes, Ordering::AcqRel);
        Ok(Promise { bytes, all: self.promised.clone() })
    }

    /// Holds what is kept, for whoever is about to change it.
    pub(super) async fn hold(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().await
    }

    /// Bytes that are kept or promised, and how many there may be.
    pub(super) async fn used(&self) -> (u64, u64) {
        let kept = self.kept.lock().await.bytes;
        (kept.saturating_add(self.promised.load(Ordering::Acquire)), self.bytes_max)
    }

    fn fits(&self, kept: &Kept, bytes: u64) -> bool {
        let there = kept.bytes.saturating_add(self.promised.load(Ordering::Acquire));
        there.saturating_add(bytes) <= self.bytes_max
    }

    async fn count(&self, kept: &mut Kept) -> Result<(), ObjectError> {
        let folder = self.folder.clone();
        let counted = tokio::task::spawn_blocking(move || kept_bytes(&folder)).await;
        kept.bytes = counted.map_err(|error| ObjectError::Disk(io::Error::other(error)))??;
        kept.counted = Instant::now();
        Ok(())
    }
}

/// Bytes of all objects that have their name. Those that come are promised.
fn kept_bytes(folder: &Path) -> io::Result<u64> {
    let incoming = folder.join(super::disk::INCOMING);
    let mut bytes: u64 = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?.path();
        if entry != incoming {
            bytes = bytes.saturating_add(tree_bytes(&entry)?);
        }
    }
    Ok(bytes)
}

/// Bytes of all files at and below a path. What vanishes meanwhile has none.
pub(super) fn tree_bytes(at: &Path) -> io::Result<u64> {
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(0),
        _ => Err(error),
    };
    let about = match at.symlink_metadata() {
        Ok(about) => about,
        Err(error) => return gone(error),
    };
    if !about.is_dir() {
        return Ok(about.len());
    }
    match std::fs::read_dir(at) {
        Ok(entries) => entries.map(|entry| tree_bytes(&entry?.path())).sum(),
        Err(error) => gone(error),
    }
}
