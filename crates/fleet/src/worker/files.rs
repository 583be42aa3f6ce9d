//! Directory trees made by jobs, handled outside of any sandbox: links are never followed, copies are
//! bounded, and removal works with any modes and depth.

mod held;
mod remove;

pub(super) use held::{Held, held};
pub(super) use remove::remove;

use super::blocking::CancelFlag;
use crate::auth::random_hex;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

/// Deepest directory that is copied or searched. Each level of a copy holds three descriptors.
pub(super) const DEPTH_MAX: usize = 64;
/// The same for sizes: images may be deeper. Each level holds one descriptor.
const SIZE_DEPTH_MAX: usize = 256;
/// Most entries of one tree.
pub(super) const ENTRIES_MAX: u64 = 1_000_000;
/// Bytes copied between two checks for cancellation.
const PIECE_BYTES: u64 = 64 * 1024 * 1024;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Remaining limits of a copy.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    bytes: u64,
    entries: u64,
    cancel: &'a CancelFlag,
}

impl<'a> Budget<'a> {
    pub(super) fn new(bytes: u64, cancel: &'a CancelFlag) -> Self {
        Self { bytes, entries: ENTRIES_MAX, cancel }
    }

    fn spend(&mut self, bytes: u64) -> io::Result<()> {
        self.cancel.check()?;
        let left = (self.bytes.checked_sub(bytes), self.entries.checked_sub(1));
        let (Some(bytes), Some(entries)) = left else {
            return Err(refused("too many bytes or files"));
        };
        (self.bytes, self.entries) = (bytes, entries);
        Ok(())
    }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// A path below a trusted directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelativePath<'a> {
    /// The directory. No job controls its path.
    pub(super) root: &'a Path,
    /// Path below it. A job controls each component.
    pub(super) path: &'a Path,
}

impl<'a> RelativePath<'a> {
    fn root(&self) -> io::Result<OwnedFd> {
        Ok(rustix::fs::open(self.root, FOLDER, Mode::empty())?)
    }

    fn split(&self) -> io::Result<(&'a Path, &'a OsStr)> {
        let name = self.path.file_name().ok_or_else(|| refused("no file name"))?;
        Ok((self.path.parent().unwrap_or(Path::new("")), name))
    }

    /// Whether it is a directory reached without links.
    pub(super) fn is_folder(&self) -> io::Result<bool> {
        Ok(reached(self.root()?, self.path)?.is_some())
    }

    /// Its parent, if it is reached without links.
    fn above(&self) -> io::Result<Option<OwnedFd>> {
        reached(self.root()?, self.split()?.0)
    }

    /// Removes it, unless a link is on the way.
    pub(super) fn remove(&self) -> io::Result<()> {
        let Some(above) = self.above()? else { return Ok(()) };
        // Directly below the root no job controls its path.
        let new = format!(".gone-{}", random_hex::<8>());
        let moved = rustix::fs::renameat(above, self.split()?.1, self.root()?, &*new);
        match moved {
            Err(Errno::NOENT) => Ok(()),
            moved => moved.map_err(io::Error::from).and_then(|()| remove(&self.root.join(new))),
        }
    }

    /// Its parent, created if missing.
    fn made(&self) -> io::Result<OwnedFd> {
        let mut folder = self.root()?;
        for part in self.split()?.0 {
            folder = subfolder(&folder, part)?;
        }
        Ok(folder)
    }
}

/// Opens a directory one component at a time: no link is followed and nothing leads out, on any kernel. None:
/// missing, not a directory, or not accessible, all of which a job can cause. Errors are the machine's.
fn reached(root: OwnedFd, path: &Path) -> io::Result<Option<OwnedFd>> {
    let mut folder = root;
    for part in path.components() {
        let Component::Normal(name) = part else { return Err(refused("the path leads out")) };
        folder = match rustix::fs::openat(&folder, name, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(error @ (Errno::NOTDIR | Errno::LOOP | Errno::ACCESS)) => {
                tracing::warn!(%error, path = %path.display(), "not a directory of the job");
                return Ok(None);
            }
            opened => opened?,
        };
    }
    Ok(Some(folder))
}

/// A subdirectory, created if missing. Links are refused.
fn subfolder(folder: &OwnedFd, name: impl rustix::path::Arg + Copy) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(rustix::fs::openat(folder, name, FOLDER, Mode::empty())?)
}

/// Copies a file or a tree. False: missing. An existing file is an error, so nothing is written through a
/// link. Links are copied as links: the worker never follows them, and in a sandbox they lead where the job
/// may go anyway. Setuid bits are dropped. Devices and pipes are skipped.
pub(super) fn copy(
    from: RelativePath<'_>,
    to: RelativePath<'_>,
    budget: &mut Budget<'_>,
) -> io::Result<bool> {
    let Some(source) = from.above()? else { return Ok(false) };
    let (_, name) = from.split()?;
    match rustix::fs::statat(&source, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(false),
        about => about?,
    };
    let (_, new) = to.split()?;
    entry((&source, name), (&to.made()?, new), 0, budget)?;
    Ok(true)
}

fn entry(
    (from, name): (&OwnedFd, &OsStr),
    (to, new): (&OwnedFd, &OsStr),
    depth: usize,
    budget: &mut Budget<'_>,
) -> io::Result<()> {
    let about = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(about.st_mode) {
        FileType::Symlink => {
            budget.spend(0)?;
            let target = rustix::fs::readlinkat(from, name, Vec::new())?;
            Ok(rustix::fs::symlinkat(&target, to, new)?)
        }
        FileType::Directory => {
            budget.spend(0)?;
            if depth >= DEPTH_MAX {
                return Err(refused("too many directory levels"));
            }
            let source = rustix::fs::openat(from, name, FOLDER, Mode::empty())?;
            let target = subfolder(to, new)?;
            for inside in Dir::read_from(&source)? {
                let inside = inside?;
                if let Some(name) = named(inside.file_name()) {
                    entry((&source, name), (&target, name), depth + 1, budget)?;
                }
            }
            Ok(rustix::fs::fchmod(&target, Mode::from_raw_mode(about.st_mode & 0o777 | 0o700))?)
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let source = File::from(rustix::fs::openat(from, name, flags, Mode::empty())?);
            let bytes = source.metadata()?.len();
            budget.spend(bytes)?;
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(about.st_mode & 0o777 | 0o600);
            let target = File::from(rustix::fs::openat(to, new, flags, mode)?);
            content(&source, &target, bytes, budget.cancel)
        }
        _ => budget.spend(0),
    }
}

/// Copies at most this many bytes.
fn content(from: &File, mut to: &File, bytes: u64, cancel: &CancelFlag) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        cancel.check()?;
        match io::copy(&mut from.take(left.min(PIECE_BYTES)), &mut to)? {
            0 => break,
            copied => left -= copied,
        }
    }
    Ok(())
}

fn named(name: &CStr) -> Option<&OsStr> {
    match name.to_bytes() {
        b"." | b".." => None,
        name => Some(OsStr::from_bytes(name)),
    }
}

/// Size of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size {
    /// False: some of it is unreadable.
    pub(super) whole: bool,
    /// Bytes of readable files.
    pub(super) bytes: u64,
}

/// Measures a tree, whatever the length of its paths. Files removed meanwhile do not count.
pub(super) fn size(at: &Path) -> Size {
    fn walk(folder: &OwnedFd, depth: usize, size: &mut Size) -> io::Result<()> {
        // Names first, so that each level holds one descriptor only.
        let all = Dir::read_from(folder)?
            .map(|entry| -> io::Result<CString> { Ok(entry?.file_name().to_owned()) });
        for name in all.collect::<io::Result<Vec<CString>>>()? {
            let Some(name) = named(&name) else { continue };
            let about = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                about => about?,
            };
            if FileType::from_raw_mode(about.st_mode) != FileType::Directory {
                size.bytes = size.bytes.saturating_add(u64::try_from(about.st_size).unwrap_or(0));
                continue;
            }
            if depth >= SIZE_DEPTH_MAX {
                return Err(refused("too many directory levels"));
            }
            let inside = match rustix::fs::openat(folder, name, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) => Ok(()),
                inside => inside.map_err(io::Error::from).and_then(|it| walk(&it, depth + 1, size)),
            };
            // The rest is measured all the same.
            size.whole &= inside.is_ok();
        }
        Ok(())
    }
    let mut size = Size { whole: true, bytes: 0 };
    let looked = match rustix::fs::open(at, FOLDER, Mode::empty()) {
        Ok(folder) => walk(&folder, 0, &mut size),
        Err(Errno::NOENT) => Ok(()),
        Err(Errno::NOTDIR | Errno::LOOP) => {
            at.symlink_metadata().map(|about| size.bytes = about.len())
        }
        Err(error) => Err(error.into()),
    };
    size.whole &= looked.is_ok();
    size
}

/// Clears setuid and setgid bits. If cancelled, the tree is about to be removed.
pub(super) fn defuse(folder: &Path, cancel: &CancelFlag) {
    fn walk(folder: &Path, depth: usize, left: &mut u64, cancel: &CancelFlag) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let rest = left.checked_sub(1).filter(|_| !cancel.is_set());
            let Some(rest) = rest else { return };
            *left = rest;
            // Neither follows links.
            let (Ok(about), path) = (entry.metadata(), entry.path()) else { continue };
            if about.is_dir() && depth < DEPTH_MAX {
                walk(&path, depth + 1, left, cancel);
            } else if about.is_file() && about.permissions().mode() & 0o6000 != 0 {
                let mode = about.permissions().mode() & 0o777;
                if let Err(error) = fs::set_permissions(&path, Permissions::from_mode(mode)) {
                    tracing::warn!(%error, "failed to clear setuid bits");
                }
            }
        }
    }
    walk(folder, 0, &mut { ENTRIES_MAX }, cancel);
}

/// Makes nested directories with a file in the last.
#[cfg(test)]
pub(super) fn deep(top: &Path, name: &str, levels: usize, bytes: &[u8]) {
    fs::create_dir_all(top).expect("a folder");
    let mut at = rustix::fs::open(top, FOLDER, Mode::empty()).expect("a folder");
    for _ in 0..levels {
        at = subfolder(&at, name).expect("a folder");
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&at, "file", flags, Mode::from_raw_mode(0o600)).expect("a file");
    io::Write::write_all(&mut File::from(file), bytes).expect("written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_job_did_is_told_from_what_the_machine_does() {
        let folder = std::env::temp_dir().join(format!("fleet-reach-{}", std::process::id()));
        fs::create_dir_all(folder.join("a/b/c")).expect("folders");
        fs::write(folder.join("a/file"), "x").expect("a file");
        std::os::unix::fs::symlink("b", folder.join("a/link")).expect("a link");
        std::os::unix::fs::symlink("/", folder.join("root")).expect("a link");
        let is = |path: &str| RelativePath { root: &folder, path: Path::new(path) }.is_folder();
        for there in ["", "a", "a/b/c", "a/./b"] {
            assert!(is(there).expect("looked at"), "{there:?}");
        }
        for other in ["x", "x/y", "a/file", "a/file/x", "a/link", "a/link/c", "root", "root/etc"] {
            assert!(!is(other).expect("looked at"), "{other:?}");
        }
        assert!(is("a/../a").is_err() && is("/etc").is_err());
        // A job cannot cause these: they are errors, not missing files.
        let (file, gone) = (folder.join("a/file"), folder.join("gone"));
        for root in [&file, &gone] {
            assert!(RelativePath { root, path: Path::new("a") }.is_folder().is_err());
        }
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn nothing_stays_that_runs_as_somebody_else() {
        let folder = std::env::temp_dir().join(format!("fleet-defuse-{}", std::process::id()));
        fs::create_dir_all(folder.join("a")).expect("folders");
        let file = folder.join("a/su");
        fs::write(&file, "x").expect("a file");
        fs::set_permissions(&file, Permissions::from_mode(0o6755)).expect("a mode");
        let mode = || file.metadata().expect("a file").permissions().mode() & 0o7777;
        assert_eq!(mode(), 0o6755, "the test means something");
        defuse(&folder, &CancelFlag::default());
        assert_eq!(mode(), 0o755);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
