//! Limits the disk space of all objects: bytes, and files with directories, which file systems limit too. So
//! neither empty objects nor deep paths can fill a disk.
//!
//! An upload reserves its granted size when it starts. The reservation becomes usage when the object gets its
//! name, and is released if the upload fails. So concurrent uploads never exceed the limit, and a refused one
//! has not sent a byte. Objects are removed with their runs only.

use super::ObjectError;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard};

/// Shortest interval of recounts before a refusal: another process may have removed files, but counting many
/// takes time.
const COUNT_EVERY: Duration = Duration::from_secs(30);

/// One file or directory per this many bytes of the limit, as in usual file systems.
const ENTRY_BYTES: u64 = 16 * 1024;
/// Files and directories allowed with any limit.
const ENTRIES_MIN: u64 = 1_024;

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

/// The limit and the usage.
#[derive(Debug)]
pub(super) struct Quota {
    folder: PathBuf,
    most: Usage,
    reserved: Arc<Mutex<Usage>>,
    /// Held during a change, so no count sees half of it.
    kept: AsyncMutex<Kept>,
}

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) usage: Usage,
    counted: Instant,
}

/// Room of an upload in progress. Released on drop.
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
    /// Counts the directory.
    pub(super) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        let kept = Kept { usage: kept(folder)?, counted: Instant::now() };
        let (folder, kept) = (folder.to_owned(), AsyncMutex::new(kept));
        let most = Usage { bytes: bytes_max, entries: (bytes_max / ENTRY_BYTES).max(ENTRIES_MIN) };
        Ok(Self { folder, most, reserved: Arc::default(), kept })
    }

    /// Reserves room for an object.
    pub(super) async fn reserve(&self, bytes: u64) -> Result<Reservation, ObjectError> {
        let usage = Usage { bytes, entries: 1 };
        let mut kept = self.kept.lock().await;
        if self.fits(&kept, usage).is_err() && kept.counted.elapsed() >= COUNT_EVERY {
            self.count(&mut kept).await?;
        }
        self.fits(&kept, usage)?;
        // Under the lock, so two uploads cannot take the same room.
        self.reserved().add(usage);
        Ok(Reservation { usage, all: self.reserved.clone() })
    }

    fn reserved(&self) -> MutexGuard<'_, Usage> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the usage for a change.
    pub(super) async fn hold(&self) -> AsyncMutexGuard<'_, Kept> {
        self.kept.lock().await
    }

    /// Stored and reserved bytes, and the limit.
    pub(super) async fn used(&self) -> (u64, u64) {
        let mut used = self.kept.lock().await.usage;
        used.add(*self.reserved());
        (used.bytes, self.most.bytes)
    }

    /// Checks that `more` fits.
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

/// Usage of stored objects. Incoming ones are reservations.
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

/// Usage of a tree. Files that vanish meanwhile do not count.
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
