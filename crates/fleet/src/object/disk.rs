//! Objects in a directory.
//!
//! Bytes are written to a temporary file. When they are complete and synced, it is linked to its name, if
//! that is free. So an object is never partial and never changes.

use super::quota::{Quota, Reservation, Usage, tree};
use crate::auth::{random_hex, sha256_of};
use crate::message::is_object_path;
use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt;

/// Directory of incomplete files.
pub(super) const INCOMING: &str = ".incoming";
/// Age of an abandoned upload: its lease has ended.
const ABANDONED_AFTER: Duration = Duration::from_secs(8 * 24 * 60 * 60);

/// Why an object was not stored.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    #[error("this is no path of an object; use the one of UploadGranted")]
    Path,
    #[error(
        "the bucket at {0} would be reached over plain HTTP, so anyone on the network path could read its objects; use an https:// endpoint, or allow it with `insecure = true` in settings"
    )]
    Plain(String),
    #[error("{found} bytes came, {expected} were granted; ask for what will be sent")]
    Size { found: u64, expected: u64 },
    #[error("the bytes are not those that were announced; send them again")]
    Hash,
    #[error("another object has this path; objects are written once")]
    Exists,
    #[error("the orchestrator's disk is full; tell its operator, and try again later")]
    Full,
    #[error(
        "{bytes} bytes do not fit: objects may have {bytes_max} bytes together; runs that were kept long enough make room, or the operator raises the bound"
    )]
    NoRoom { bytes: u64, bytes_max: u64 },
    #[error(
        "all objects together are limited to {entries_max} files and folders; old runs free space when they are removed, or the operator can raise the limit"
    )]
    TooMany { entries_max: u64 },
    /// The bucket failed.
    #[error("the store of objects failed: {0}; try again, and tell the operator if it stays so")]
    Store(String),
    /// The bucket would let a late writer overwrite an object.
    #[error("the store of objects overwrites; use one that honours `If-None-Match: *`")]
    Overwrites,
    #[error("the orchestrator's disk failed: {0}; try again")]
    Disk(io::Error),
}

impl From<io::Error> for ObjectError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Disk(error),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Disk {
    folder: PathBuf,
    quota: Arc<Quota>,
}

/// An object being received. Removed on drop, unless it was finished.
pub struct Incoming {
    file: File,
    at: PathBuf,
    expected: u64,
    found: u64,
    hash: Context,
    reservation: Option<Reservation>,
}

/// A complete object without a name. Its file is removed on drop.
#[derive(Debug)]
pub struct Sent {
    pub(super) at: PathBuf,
    pub(super) sha256: String,
    bytes: u64,
    reservation: Option<Reservation>,
}

impl Disk {
    /// Opens or creates the directory. Abandoned uploads are removed; newer ones may be another
    /// orchestrator's.
    pub fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        let incoming = folder.join(INCOMING);
        // Objects are for token holders only.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&incoming)?;
        for left in std::fs::read_dir(&incoming)? {
            let left = left?;
            let age = left.metadata()?.modified()?.elapsed().unwrap_or_default();
            if age > ABANDONED_AFTER {
                std::fs::remove_file(left.path())?;
            }
        }
        let quota = Arc::new(Quota::open(folder, bytes_max)?);
        Ok(Self { folder: folder.to_owned(), quota })
    }

    /// Starts receiving an object of this size, if there is room.
    pub async fn begin(&self, bytes: u64) -> Result<Incoming, ObjectError> {
        let reservation = Some(self.quota.reserve(bytes).await?);
        let at = self.folder.join(INCOMING).join(random_hex::<16>());
        let file = File::create_new(&at).await?;
        let hash = Context::new(&SHA256);
        Ok(Incoming { file, at, expected: bytes, found: 0, hash, reservation })
    }

    /// Bytes of stored and reserved objects, and the limit.
    pub async fn used(&self) -> (u64, u64) {
        self.quota.used().await
    }

    /// Gives an object its name. Repeating it is no error: the response may have been lost.
    pub async fn keep(&self, mut sent: Sent, path: &str) -> Result<(), ObjectError> {
        let at = self.locate(path)?;
        let folder = at.parent().unwrap_or(&self.folder).to_owned();
        let mut kept = self.quota.hold().await;
        let below = folder.ancestors().take_while(|folder| folder.starts_with(&self.folder));
        let new = below.take_while(|folder| !folder.exists()).count() as u64;
        let folders = Usage { bytes: 0, entries: new };
        self.quota.fits(&kept, folders)?;
        fs::create_dir_all(&folder).await.map_err(in_the_way)?;
        kept.usage.add(folders);
        let linked = fs::hard_link(&sent.at, &at).await;
        if linked.is_ok() {
            kept.usage.add(Usage { bytes: sent.bytes, entries: 1 });
            drop(sent.reservation.take());
        }
        drop(kept);
        match linked {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return match hash(&at).await.map_err(in_the_way)? == sent.sha256 {
                    true => Ok(()),
                    false => Err(ObjectError::Exists),
                };
            }
            Err(error) => return Err(in_the_way(error)),
        }
        // Sync the name and the directories above it, against power loss.
        for folder in folder.ancestors().take_while(|folder| folder.starts_with(&self.folder)) {
            File::open(folder).await?.sync_all().await?;
        }
        Ok(())
    }

    /// An object's file and size.
    pub async fn read(&self, path: &str) -> Result<Option<(File, u64)>, ObjectError> {
        let at = self.locate(path)?;
        match File::open(&at).await {
            Ok(file) => {
                let about = file.metadata().await?;
                Ok(about.is_file().then_some((file, about.len())))
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub async fn forget(&self, path: &str) -> Result<(), ObjectError> {
        let at = self.locate(path)?;
        let mut kept = self.quota.hold().await;
        let removed = tokio::task::spawn_blocking(move || remove(&at)).await;
        let removed = removed.map_err(|error| ObjectError::Disk(io::Error::other(error)))?;
        kept.usage.take(removed?);
        Ok(())
    }

    /// Directory names of runs whose directory has not changed for `age`, at most `most` of them.
    pub(super) async fn runs(&self, age: Duration, most: usize) -> io::Result<Vec<String>> {
        let runs = self.folder.join("runs");
        let look = move || {
            let entries = match std::fs::read_dir(runs) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
                Err(error) => return Err(error),
            };
            let mut old = Vec::new();
            for entry in entries {
                let entry = entry?;
                // Removed meanwhile.
                let Ok(modified) = entry.metadata().and_then(|about| about.modified()) else {
                    continue;
                };
                if modified.elapsed().is_ok_and(|since| since > age) && old.len() < most {
                    old.extend(entry.file_name().into_string());
                }
            }
            Ok(old)
        };
        tokio::task::spawn_blocking(look).await.map_err(io::Error::other)?
    }

    fn locate(&self, path: &str) -> Result<PathBuf, ObjectError> {
        is_object_path(path).then(|| self.folder.join(path)).ok_or(ObjectError::Path)
    }
}

/// An object in place of a directory, or the reverse, is a permanent conflict.
fn in_the_way(error: io::Error) -> ObjectError {
    match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
            ObjectError::Exists
        }
        _ => error.into(),
    }
}

/// Removes a tree and returns its usage.
fn remove(at: &Path) -> io::Result<Usage> {
    let usage = tree(at)?;
    match std::fs::remove_dir_all(at) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(usage),
    }
}

async fn hash(at: &Path) -> io::Result<String> {
    Ok(sha256_of(&mut File::open(at).await?).await?.1)
}

impl Incoming {
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), ObjectError> {
        self.found = self.found.saturating_add(bytes.len() as u64);
        if self.found > self.expected {
            return Err(ObjectError::Size { found: self.found, expected: self.expected });
        }
        self.hash.update(bytes);
        Ok(self.file.write_all(bytes).await?)
    }

    /// Checks size and hash, and syncs the file.
    pub async fn finish(mut self, sha256: &str) -> Result<Sent, ObjectError> {
        if self.found != self.expected {
            return Err(ObjectError::Size { found: self.found, expected: self.expected });
        }
        self.file.flush().await?;
        self.file.sync_all().await?;
        let found = HEXLOWER.encode(self.hash.clone().finish().as_ref());
        if found != sha256 {
            return Err(ObjectError::Hash);
        }
        // The path is taken, so the drop removes nothing.
        let at = std::mem::take(&mut self.at);
        Ok(Sent { at, sha256: found, bytes: self.expected, reservation: self.reservation.take() })
    }
}

fn discard(at: &Path) {
    if !at.as_os_str().is_empty() {
        // If it remains, a later start removes it.
        let _ = std::fs::remove_file(at);
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        discard(&self.at);
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        discard(&self.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::sha256_hex;
    use tokio::io::AsyncReadExt as _;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("fleet-object-{}-{name}", std::process::id())))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    async fn send(disk: &Disk, bytes: &[u8]) -> Sent {
        let mut incoming = disk.begin(bytes.len() as u64).await.expect("begun");
        incoming.write(bytes).await.expect("written");
        incoming.finish(&sha256_hex(bytes)).await.expect("whole")
    }

    fn waiting(folder: &Folder) -> usize {
        std::fs::read_dir(folder.0.join(INCOMING)).expect("a folder").count()
    }

    #[tokio::test]
    async fn an_object_is_written_once() {
        let folder = Folder::new("once");
        let disk = Disk::open(&folder.0, u64::MAX).expect("a folder");
        disk.keep(send(&disk, b"first").await, "a/b").await.expect("kept");
        disk.keep(send(&disk, b"first").await, "a/b").await.expect("the same again");
        let second = disk.keep(send(&disk, b"second").await, "a/b").await;
        assert!(matches!(second, Err(ObjectError::Exists)), "{second:?}");
        let (mut file, bytes) = disk.read("a/b").await.expect("read").expect("there");
        let mut text = String::new();
        file.read_to_string(&mut text).await.expect("text");
        assert_eq!((text.as_str(), bytes), ("first", 5));
        assert!(disk.read("a/c").await.expect("no error").is_none());
        assert!(disk.read("a").await.expect("no error").is_none(), "a folder is no object");
        for path in ["a", "a/b/c", "a/b/c/d"] {
            let third = disk.keep(send(&disk, b"third").await, path).await;
            assert!(matches!(third, Err(ObjectError::Exists)), "{path}: {third:?}");
            assert!(disk.read(path).await.expect("no error").is_none(), "{path}");
        }
        assert_eq!(waiting(&folder), 0);
    }

    #[tokio::test]
    async fn what_is_not_whole_leaves_nothing() {
        let folder = Folder::new("half");
        let disk = Disk::open(&folder.0, u64::MAX).expect("a folder");
        let mut long = disk.begin(3).await.expect("begun");
        let error = long.write(b"four").await.expect_err("too long");
        assert!(matches!(error, ObjectError::Size { found: 4, expected: 3 }), "{error}");
        drop(long);
        let short = disk.begin(3).await.expect("begun");
        assert!(matches!(short.finish("").await, Err(ObjectError::Size { .. })));
        let mut other = disk.begin(3).await.expect("begun");
        other.write(b"abc").await.expect("written");
        assert!(matches!(other.finish(&sha256_hex(b"abd")).await, Err(ObjectError::Hash)));
        drop(send(&disk, b"never kept").await);
        assert_eq!(waiting(&folder), 0);
    }

    #[tokio::test]
    async fn objects_never_have_more_bytes_than_they_may() {
        let folder = Folder::new("room");
        let disk = Disk::open(&folder.0, 10).expect("a folder");
        let refused = async |disk: &Disk, bytes: u64| {
            let begun = disk.begin(bytes).await;
            matches!(begun, Err(ObjectError::NoRoom { bytes_max: 10, .. }))
        };
        assert!(refused(&disk, 11).await && refused(&disk, u64::MAX).await);
        // Uploads in progress count, aborted ones do not.
        let half = disk.begin(6).await.expect("room");
        assert!(refused(&disk, 5).await);
        assert_eq!(waiting(&folder), 1, "a refusal leaves nothing");
        drop(half);
        disk.keep(send(&disk, b"sixsix").await, "runs/a/x").await.expect("kept");
        assert!(refused(&disk, 5).await);
        // A repeated object needs room during its upload only.
        disk.keep(send(&disk, b"four").await, "runs/b/x").await.expect("kept");
        assert_eq!(disk.used().await, (10, 10));
        assert!(refused(&disk, 1).await);
        assert!(disk.begin(0).await.is_ok(), "nothing always fits");
        // A restart counts stored objects; removing a run frees room.
        let disk = Disk::open(&folder.0, 10).expect("a folder");
        assert!(refused(&disk, 1).await);
        disk.forget("runs/a").await.expect("forgotten");
        disk.forget("runs/a").await.expect("nothing is there any more");
        assert_eq!(disk.used().await, (4, 10));
        disk.keep(send(&disk, b"four").await, "runs/b/x").await.expect("the same again");
        assert_eq!(disk.used().await, (4, 10));
        assert!(disk.read("runs/b/x").await.expect("read").is_some());
    }

    #[tokio::test]
    async fn objects_without_a_byte_and_deep_folders_do_not_use_up_all_inodes() {
        let folder = Folder::new("entries");
        let disk = Disk::open(&folder.0, 1).expect("a folder");
        let keep = async |path: String| disk.keep(send(&disk, b"").await, &path).await;
        let deep = |n: usize| format!("runs/{n}{}", "/a".repeat(200));
        let mut kept = 0;
        while keep(deep(kept)).await.is_ok() {
            kept += 1;
        }
        assert_eq!(kept, 5, "1,024 files and folders, 201 each, and one for all");
        let refused = keep(deep(kept)).await;
        assert!(matches!(refused, Err(ObjectError::TooMany { entries_max: 1_024 })), "{refused:?}");
        let mut few = 0;
        let refused = loop {
            match disk.begin(0).await {
                Ok(incoming) => {
                    let sent = incoming.finish(&sha256_hex(b"")).await.expect("whole");
                    disk.keep(sent, &format!("runs/0/{few}")).await.expect("room");
                    few += 1;
                }
                Err(error) => break error,
            }
        };
        assert!(few < 30 && matches!(refused, ObjectError::TooMany { .. }), "{few} {refused}");
        // A restart counts the same; removing frees room.
        let disk = Disk::open(&folder.0, 1).expect("a folder");
        assert!(disk.begin(0).await.is_err());
        disk.forget("runs/1").await.expect("forgotten");
        disk.keep(send(&disk, b"").await, "runs/1/x").await.expect("room");
    }

    #[tokio::test]
    async fn those_who_come_together_do_not_both_get_the_last_room() {
        let folder = Folder::new("together");
        let disk = Disk::open(&folder.0, 100).expect("a folder");
        let begun = futures::future::join_all((0..50).map(|_| disk.begin(10))).await;
        assert_eq!(begun.iter().filter(|begun| begun.is_ok()).count(), 10);
        drop(begun);
        assert_eq!((disk.used().await, waiting(&folder)), ((0, 100), 0));
    }
}
