//! Applies layers to a directory tree.
//!
//! Layers are untrusted. The kernel resolves every path with the tree as its root (`RESOLVE_IN_ROOT`), so
//! neither `..` nor a link of an earlier entry leads out. Owners and setuid bits are dropped: a container has
//! one user. Devices are skipped: a container has its own.

use super::ImageError;
use super::tar::{Entry, Kind, Tar};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

const ENTRIES_MAX: u64 = 1_000_000;
const DEPTH_MAX: usize = 128;
/// Prefix of a whiteout, which removes a lower layer's entry, and the name of an opaque whiteout, which
/// removes all.
const GONE: &[u8] = b".wh.";
const ALL_GONE: &[u8] = b".wh..wh..opq";

#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    entries: u64,
    bytes_max: u64,
}

impl Budget {
    pub(super) fn new(bytes_max: u64) -> Self {
        Self { bytes: bytes_max, entries: ENTRIES_MAX, bytes_max }
    }

    fn spend(&mut self, bytes: u64) -> Result<(), ImageError> {
        let left = self.entries.checked_sub(1).zip(self.bytes.checked_sub(bytes));
        let large = ImageError::Large { bytes_max: self.bytes_max };
        (self.entries, self.bytes) = left.ok_or(large)?;
        Ok(())
    }
}

/// The tree that layers are applied to.
pub(super) struct Root {
    root: OwnedFd,
}

fn cannot(path: &Path, errno: Errno) -> ImageError {
    let why = io::Error::from(errno).to_string();
    ImageError::Entry { path: path.to_owned(), why }
}

fn refused(path: &Path, why: &str) -> ImageError {
    ImageError::Entry { path: path.to_owned(), why: why.to_owned() }
}

/// Components of a path. None: it contains `..` or is too deep.
fn parts(path: &Path) -> Option<Vec<&OsStr>> {
    let mut all = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => all.push(part),
            Component::CurDir | Component::RootDir => {}
            _ => return None,
        }
    }
    (all.len() <= DEPTH_MAX).then_some(all)
}

impl Root {
    pub(super) fn open(folder: &Path) -> Result<Self, ImageError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(folder, flags, Mode::empty()).map_err(io::Error::from)?;
        Ok(Self { root })
    }

    /// Whether an executable file exists.
    pub(super) fn has_program(&self, path: &str) -> bool {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let found = rustix::fs::openat2(&self.root, path, flags, Mode::empty(), WITHIN);
        let about = found.and_then(rustix::fs::fstat);
        about.is_ok_and(|about| {
            FileType::from_raw_mode(about.st_mode) == FileType::RegularFile
                && about.st_mode & 0o111 != 0
        })
    }

    /// Creates a directory and its parents.
    pub(super) fn folder(&self, path: &str) -> Result<(), ImageError> {
        let parts = parts(Path::new(path)).unwrap_or_default();
        self.descend(Path::new(path), &parts).map(drop)
    }

    /// First pass over a layer: applies its whiteouts.
    pub(super) fn take_away(
        &self,
        layer: impl Read,
        budget: &mut Budget,
    ) -> Result<(), ImageError> {
        let mut tar = Tar::new(layer);
        while let Some(entry) = tar.next()? {
            // Both passes count entries, each with its own budget.
            budget.spend(0)?;
            let Some(name) = entry.path.file_name().map(OsStr::as_bytes) else { continue };
            if !name.starts_with(GONE) {
                continue;
            }
            let folder = entry.path.parent().unwrap_or(Path::new(""));
            let parts = parts(folder)
                .ok_or_else(|| refused(&entry.path, "the path leads out of the tree"))?;
            let Some(folder) = self.existing(&parts) else { continue };
            match &name[GONE.len()..] {
                _ if name == ALL_GONE => empty(&folder, &entry.path)?,
                b"" | b"." | b".." => {
                    return Err(refused(&entry.path, "a whiteout without a name"));
                }
                gone => remove(&folder, OsStr::from_bytes(gone), &entry.path)?,
            }
        }
        Ok(())
    }

    /// Second pass: adds its entries.
    pub(super) fn put(&self, layer: impl Read, budget: &mut Budget) -> Result<(), ImageError> {
        let mut tar = Tar::new(layer);
        while let Some(entry) = tar.next()? {
            budget.spend(entry.bytes)?;
            let parts = parts(&entry.path)
                .ok_or_else(|| refused(&entry.path, "the path leads out of the tree"))?;
            let Some((name, above)) = parts.split_last() else { continue };
            if name.as_bytes().starts_with(GONE) || entry.kind == Kind::Other {
                continue;
            }
            let folder = self.descend(&entry.path, above)?;
            self.place(&folder, name, &entry, &mut tar)?;
        }
        Ok(())
    }

    fn place<R: Read>(
        &self,
        folder: &OwnedFd,
        name: &OsStr,
        entry: &Entry,
        tar: &mut Tar<R>,
    ) -> Result<(), ImageError> {
        let failed = |errno| cannot(&entry.path, errno);
        if entry.kind == Kind::Folder {
            if !is_folder(folder, name) {
                remove(folder, name, &entry.path)?;
                rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700)).map_err(failed)?;
            }
            // The worker must be able to continue, and the container's user is the same.
            let mode = Mode::from_raw_mode(entry.mode & 0o777 | 0o700);
            return rustix::fs::chmodat(folder, name, mode, AtFlags::empty()).map_err(failed);
        }
        let target = match &entry.kind {
            Kind::Link(target) => {
                let parts = parts(target)
                    .ok_or_else(|| refused(&entry.path, "the path leads out of the tree"))?;
                let Some((target, above)) = parts.split_last() else {
                    return Err(refused(&entry.path, "a hard link to the root"));
                };
                let above = self.existing(above);
                let above = above.ok_or_else(|| {
                    refused(&entry.path, "the target of the hard link is missing")
                })?;
                Some((above, (*target).to_owned()))
            }
            _ => None,
        };
        if let Some((above, target)) = &target
            && same(above, target, folder, name)
        {
            return Ok(());
        }
        remove(folder, name, &entry.path)?;
        match (&entry.kind, target) {
            (_, Some((above, target))) => {
                let flags = AtFlags::empty();
                rustix::fs::linkat(above, &target, folder, name, flags).map_err(failed)
            }
            (Kind::Symlink(target), _) => {
                rustix::fs::symlinkat(target, folder, name).map_err(failed)
            }
            _ => {
                let flags = OFlags::WRONLY
                    | OFlags::CREATE
                    | OFlags::EXCL
                    | OFlags::NOFOLLOW
                    | OFlags::CLOEXEC;
                let mode = Mode::from_raw_mode(entry.mode & 0o777 | 0o600);
                let file = rustix::fs::openat(folder, name, flags, mode).map_err(failed)?;
                // The umask must not affect the image.
                rustix::fs::fchmod(&file, mode).map_err(failed)?;
                copy(tar, File::from(file), entry.bytes)
            }
        }
    }

    /// Opens an existing directory, following links within the tree.
    fn existing(&self, parts: &[&OsStr]) -> Option<OwnedFd> {
        let path: PathBuf = parts.iter().collect();
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat2(&self.root, path, flags, Mode::empty(), WITHIN).ok()
    }

    /// The same, creating what is missing.
    fn descend(&self, entry: &Path, parts: &[&OsStr]) -> Result<OwnedFd, ImageError> {
        if let Some(folder) = self.existing(parts) {
            return Ok(folder);
        }
        let (name, above) =
            parts.split_last().ok_or_else(|| refused(entry, "the root is missing"))?;
        let above = self.descend(entry, above)?;
        let mode = Mode::from_raw_mode(0o755);
        // Fails on a dangling link or a file.
        rustix::fs::mkdirat(&above, *name, mode).map_err(|errno| cannot(entry, errno))?;
        self.existing(parts).ok_or_else(|| refused(entry, "its directory cannot be created"))
    }
}

const WITHIN: ResolveFlags = ResolveFlags::IN_ROOT.union(ResolveFlags::NO_MAGICLINKS);

pub(super) fn copy<R: Read>(
    tar: &mut Tar<R>,
    mut file: File,
    bytes: u64,
) -> Result<(), ImageError> {
    let (mut left, mut buffer) = (bytes, vec![0; 64 * 1_024]);
    while left > 0 {
        let read = tar.body(&mut buffer)?;
        file.write_all(&buffer[..read])?;
        left -= read as u64;
    }
    Ok(())
}

fn about(folder: impl AsFd, name: &OsStr) -> Option<rustix::fs::Stat> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()
}

fn is_folder(folder: impl AsFd, name: &OsStr) -> bool {
    about(folder, name)
        .is_some_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Directory)
}

/// Whether two names are one file: replacing it would lose it.
fn same(above: &OwnedFd, target: &OsStr, folder: &OwnedFd, name: &OsStr) -> bool {
    let inode = |about: rustix::fs::Stat| (about.st_dev, about.st_ino);
    let (first, second) = (about(above, target).map(inode), about(folder, name).map(inode));
    first.is_some() && first == second
}

/// Removes a name and everything below it.
fn remove(folder: &OwnedFd, name: &OsStr, entry: &Path) -> Result<(), ImageError> {
    match about(folder, name) {
        None => return Ok(()),
        Some(_) if !is_folder(folder, name) => {
            let gone = rustix::fs::unlinkat(folder, name, AtFlags::empty());
            return gone.map_err(|errno| cannot(entry, errno));
        }
        Some(_) => {}
    }
    let at = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    std::fs::remove_dir_all(at).map_err(|error| refused(entry, &error.to_string()))
}

/// Removes a directory's content.
fn empty(folder: &OwnedFd, entry: &Path) -> Result<(), ImageError> {
    let at = format!("/proc/self/fd/{}", folder.as_raw_fd());
    for inside in std::fs::read_dir(at)? {
        remove(folder, &inside?.file_name(), entry)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
