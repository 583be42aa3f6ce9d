//! Bounds the disk space of all objects together: bytes, and the number of files and folders, which a file system
//! limits too. So neither empty objects nor deep folders can fill a disk.
//!
//! Quota is *promised* when an upload begins, by the size that was granted, and *taken* when the object
//! has its name; an upload that breaks off gives its promise back. So what is there never exceeds the
//! bound, however many come at once, and whoever is refused has not sent a byte. Nothing is removed to
//! make room: objects go with their runs, when these were kept for as long as the operator said.

use super::ObjectError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard};

/// Before somebody is refused it is counted anew, but not more often than this: others may have removed
/// files, and counting takes a while where there are many.
const COUNT_EVERY: Duration = Duration::from_secs(30);

/// A file or folder for so many bytes of the bound: as usual file systems have them.
const ENTRY_BYTES: u64 = 16 * 1024;
/// So many there may always be.
const ENTRIES_MIN: u64 = 1_024;

/// Bytes, and files with their folders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) bytes: u64,
    pub(super) entries: u64,
}

impl Usage {
    pub(super) fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.entries = self.entries.saturating_add(other.entries);
    }

    pub(super) fn take(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_sub(other.bytes);
        self.entries = self.entries.saturating_sub(other.entries);
    }
}

/// The bound, and what there is.
#[derive(Debug)]
pub(super) struct Quota {
    folder: PathBuf,
    most: Usage,
    reserved: Arc<Mutex<Usage>>,
    /// Whoever changes what is kept holds it meanwhile, so that nobody counts half of a change.
    kept: AsyncMutex<Kept>,
}

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) usage: Usage,
    counted: Instant,
}

/// An object that is on its way.
#[derive(Debug)]
pub(super) struct Reservation {
    usage: Usage,
    all: Arc<Mutex<Usage>>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).take(self.usage);
    }
}

impl Quota {
    /// Counts what is in a folder.
    pub(super) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        let kept = Kept { usage: kept(folder)?, counted: Instant::now() };
        let (folder, kept) = (folder.to_owned(), AsyncMutex::new(kept));
        let most = Usage { bytes: bytes_max, entries: (bytes_max / ENTRY_BYTES).max(ENTRIES_MIN) };
        Ok(Self { folder, most, reserved: Arc::default(), kept })
    }

    /// Quota for so many bytes, or why there is none.
    pub(super) async fn reserve(&self, bytes: u64) -> Result<Reservation, ObjectError> {
        let usage = Usage { bytes, entries: 1 };
        let mut kept = self.kept.lock().await;
        if self.fits(&kept, usage).is_err() && kept.counted.elapsed() >= COUNT_EVERY {
            self.count(&mut kept).await?;
        }
        self.fits(&kept, usage)?;
        // Under the lock: two who come together do not both get what is left.
        self.reserved().add(usage);
        Ok(Reservation { usage, all: self.reserved.clone() })
    }

    fn reserved(&self) -> MutexGuard<'_, Usage> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds what is kept, for whoever is about to change it.
    pub(super) async fn hold(&self) -> AsyncMutexGuard<'_, Kept> {
        self.kept.lock().await
    }

    /// Bytes that are kept or promised, and how many there may be.
    pub(super) async fn used(&self) -> (u64, u64) {
        let mut used = self.kept.lock().await.usage;
        used.add(*self.reserved());
        (used.bytes, self.most.bytes)
    }

    /// Whether so much more has room.
    pub(super) fn fits(&self, kept: &Kept, more: Usage) -> Result<(), ObjectError> {
        let mut used = kept.usage;
        used.add(*self.reserved());
        used.add(more);
        if more.bytes > 0 && used.bytes > self.most.bytes {
            return Err(ObjectError::NoRoom { bytes: more.bytes, bytes_max: self.most.bytes });
        }
        match used.entries > self.most.entries {
            true => Err(ObjectError::TooMany { entries_max: self.most.entries }),
            false => Ok(()),
        }
    }

    async fn count(&self, kept: &mut Kept) -> Result<(), ObjectError> {
        let folder = self.folder.clone();
        let counted = tokio::task::spawn_blocking(move || self::kept(&folder)).await;
        kept.usage = counted.map_err(|error| ObjectError::Disk(io::Error::other(error)))??;
        kept.counted = Instant::now();
        Ok(())
    }
}

/// All objects that have their name. Those that come are promised.
fn kept(folder: &Path) -> io::Result<Usage> {
    let incoming = folder.join(super::disk::INCOMING);
    let mut all = Usage::default();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?.path();
        if entry != incoming {
            all.add(tree(&entry)?);
        }
    }
    Ok(all)
}

/// What is at and below a path. What vanishes meanwhile is nothing.
pub(super) fn tree(at: &Path) -> io::Result<Usage> {
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(Usage::default()),
        _ => Err(error),
    };
    let about = match at.symlink_metadata() {
        Ok(about) => about,
        Err(error) => return gone(error),
    };
    if !about.is_dir() {
        return Ok(Usage { bytes: about.len(), entries: 1 });
    }
    let mut all = Usage { bytes: 0, entries: 1 };
    match std::fs::read_dir(at) {
        Ok(entries) => {
            for entry in entries {
                all.add(tree(&entry?.path())?);
            }
            Ok(all)
        }
        Err(error) => gone(error),
    }
}
