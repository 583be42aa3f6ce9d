//! Counts the disk use of a job's directory trees.

use super::super::blocking::CancelFlag;
use super::{FOLDER, SIZE_DEPTH_MAX, named};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Unit of `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// Disk use, or its bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::worker) struct Held {
    /// Allocated bytes: sparse files use less than their length.
    pub(in crate::worker) bytes: u64,
    /// Directory entries of any type.
    pub(in crate::worker) files: u64,
}

/// Counts the contents of folders. None: more than `most`, or nested too deeply. Stops at the first excess.
/// Entries that disappear meanwhile are skipped; directories without read permission are counted too.
pub(in crate::worker) fn held(
    folders: &[&Path],
    most: Held,
    cancel: &CancelFlag,
) -> io::Result<Option<Held>> {
    let mut count = Count { most, held: Held::default(), linked: HashSet::new(), cancel };
    for folder in folders {
        let opened = match rustix::fs::open(*folder, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => continue,
            opened => opened?,
        };
        if !count.folder(opened, 0)? {
            return Ok(None);
        }
    }
    Ok(Some(count.held))
}

struct Count<'a> {
    most: Held,
    held: Held,
    /// Inodes with several links, which count once. Bounded by `most.files`.
    linked: HashSet<(u64, u64)>,
    cancel: &'a CancelFlag,
}

impl Count<'_> {
    /// Holds one descriptor per level. False: over the bound.
    fn folder(&mut self, folder: OwnedFd, depth: usize) -> io::Result<bool> {
        let mut names = Dir::new(folder)?;
        while let Some(entry) = names.read() {
            self.cancel.check()?;
            let entry = entry?;
            let Some(name) = named(entry.file_name()) else { continue };
            let above = names.fd()?;
            let about = match rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                about => about?,
            };
            self.add(&about);
            if self.held.bytes > self.most.bytes || self.held.files > self.most.files {
                return Ok(false);
            }
            if FileType::from_raw_mode(about.st_mode) != FileType::Directory {
                continue;
            }
            let Some(inside) = opened(above, name)? else { continue };
            if depth >= SIZE_DEPTH_MAX || !self.folder(inside, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add(&mut self, about: &Stat) {
        self.held.files += 1;
        let folder = FileType::from_raw_mode(about.st_mode) == FileType::Directory;
        if folder || about.st_nlink == 1 || self.linked.insert((about.st_dev, about.st_ino)) {
            let blocks = u64::try_from(about.st_blocks).unwrap_or(0);
            self.held.bytes = self.held.bytes.saturating_add(blocks.saturating_mul(BLOCK_BYTES));
        }
    }
}

/// Opens a folder, even one without read permission. None: it is gone, or no folder any more.
fn opened(above: impl AsFd, name: &OsStr) -> io::Result<Option<OwnedFd>> {
    let open = |flags: OFlags| match rustix::fs::openat(&above, name, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        opened => opened.map(Some),
    };
    match open(FOLDER) {
        Err(Errno::ACCESS) => {}
        opened => return Ok(opened?),
    }
    let itself = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Some(folder) = open(itself)? else { return Ok(None) };
    // By descriptor: the job may replace the name.
    let at = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let before = fs::metadata(&at)?.permissions();
    fs::set_permissions(&at, Permissions::from_mode(before.mode() | 0o500))?;
    let opened = open(FOLDER);
    // Restore the mode: the job is still running.
    fs::set_permissions(&at, before)?;
    Ok(opened?)
}

#[cfg(test)]
mod tests {
    use super::super::deep;
    use super::*;

    #[test]
    fn held_counts_allocated_blocks_hard_links_once_and_unreadable_folders() {
        let folder = std::env::temp_dir().join(format!("fleet-held-{}", std::process::id()));
        fs::create_dir_all(folder.join("a/shut")).expect("folders");
        fs::write(folder.join("a/file"), vec![1; 1 << 20]).expect("a file");
        fs::hard_link(folder.join("a/file"), folder.join("a/again")).expect("a link");
        std::os::unix::fs::symlink("/", folder.join("a/out")).expect("a link");
        let holes = fs::File::create(folder.join("a/holes")).expect("a file");
        holes.set_len(1 << 40).expect("holes");
        fs::write(folder.join("a/shut/file"), vec![1; 1 << 20]).expect("a file");
        fs::set_permissions(folder.join("a/shut"), Permissions::from_mode(0o0)).expect("a mode");
        let count = |bytes, files| {
            held(&[&folder, Path::new("/nowhere")], Held { bytes, files }, &CancelFlag::default())
                .expect("looked at")
        };
        let found = count(u64::MAX, u64::MAX).expect("as much as there is");
        assert_eq!(found.files, 7);
        assert!((2 << 20..3 << 20).contains(&found.bytes), "{found:?}");
        let mode = folder.join("a/shut").metadata().expect("a folder").permissions().mode();
        assert_eq!(mode & 0o777, 0, "the mode is restored");
        assert!(count(u64::MAX, 6).is_none() && count(1 << 20, u64::MAX).is_none());
        deep(&folder, "deep", SIZE_DEPTH_MAX + 2, b"x");
        assert!(count(u64::MAX, u64::MAX).is_none(), "too deep");
        super::super::remove(&folder).expect("removed");
    }
}
