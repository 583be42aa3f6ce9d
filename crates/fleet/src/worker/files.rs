//! Trees of files that jobs made. The worker handles them outside of any sandbox, so no link in them is
//! followed, what is copied is bounded, and what is removed goes whatever its modes and however deep.

use crate::auth::random_hex;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

/// Deepest folder that is looked into. Each level holds a descriptor or two.
pub(super) const DEPTH_MAX: usize = 128;
/// Most files and folders of one tree that are looked at.
pub(super) const ENTRIES_MAX: u64 = 1_000_000;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What may still be copied.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    entries: u64,
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self { bytes, entries: ENTRIES_MAX }
    }

    fn spend(&mut self, bytes: u64) -> io::Result<()> {
        let left = (self.bytes.checked_sub(bytes), self.entries.checked_sub(1));
        let (Some(bytes), Some(entries)) = left else {
            return Err(refused("it has too many bytes, or too many files"));
        };
        *self = Self { bytes, entries };
        Ok(())
    }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// A path beneath a folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beneath<'a> {
    /// The folder; nothing that a job makes is on the way to it.
    pub(super) root: &'a Path,
    /// Names, each of which may be a job's.
    pub(super) path: &'a Path,
}

impl<'a> Beneath<'a> {
    fn root(&self) -> io::Result<OwnedFd> {
        Ok(rustix::fs::open(self.root, FOLDER, Mode::empty())?)
    }

    fn split(&self) -> io::Result<(&'a Path, &'a OsStr)> {
        let name = self.path.file_name().ok_or_else(|| refused("it has no name"))?;
        Ok((self.path.parent().unwrap_or(Path::new("")), name))
    }

    /// Whether it is a folder, with no link on the way.
    pub(super) fn is_folder(&self) -> io::Result<bool> {
        Ok(reached(self.root()?, self.path)?.is_some())
    }

    /// The folder above it, if it is there and no link leads to it.
    fn above(&self) -> io::Result<Option<OwnedFd>> {
        reached(self.root()?, self.split()?.0)
    }

    /// Removes it, whatever it is, unless a link is on the way.
    pub(super) fn remove(&self) -> io::Result<()> {
        let Some(above) = self.above()? else { return Ok(()) };
        // At the top it has a path that no job can change.
        let new = format!(".gone-{}", random_hex::<8>());
        match rustix::fs::renameat(&above, self.split()?.1, self.root()?, &*new) {
            Err(Errno::NOENT) => Ok(()),
            moved => moved.map_err(io::Error::from).and_then(|()| remove(&self.root.join(new))),
        }
    }

    /// The folder above it, made if it is not there.
    fn made(&self) -> io::Result<OwnedFd> {
        let mut folder = self.root()?;
        for part in self.split()?.0 {
            folder = subfolder(&folder, part)?;
        }
        Ok(folder)
    }
}

/// A folder below another, by one name after the other, so that no link is followed and nothing leads out,
/// on every kernel. None: a job has not made it, has put something else there, or has shut it. Errors are
/// the machine's.
fn reached(root: OwnedFd, path: &Path) -> io::Result<Option<OwnedFd>> {
    let mut folder = root;
    for part in path.components() {
        let Component::Normal(name) = part else { return Err(refused("it leads elsewhere")) };
        folder = match rustix::fs::openat(&folder, name, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(error @ (Errno::NOTDIR | Errno::LOOP | Errno::ACCESS)) => {
                tracing::warn!(%error, path = %path.display(), "no folder of a job's to look into");
                return Ok(None);
            }
            opened => opened?,
        };
    }
    Ok(Some(folder))
}

/// A folder in a folder, made if it is not there. A link is none.
fn subfolder(folder: &OwnedFd, name: impl rustix::path::Arg + Copy) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(rustix::fs::openat(folder, name, FOLDER, Mode::empty())?)
}

/// Copies a file or a tree; false if there is none. Files are new: one that is there is an error, and
/// nothing is written through a link. Links are copied as they are, wherever they lead: to the worker they
/// are names, which nothing here follows, and to a job in its sandbox they lead where it may go anyway.
/// Nothing keeps a mode that would let others run it as this user. Devices and pipes are left out.
pub(super) fn copy(from: Beneath<'_>, to: Beneath<'_>, budget: &mut Budget) -> io::Result<bool> {
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
    budget: &mut Budget,
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
                return Err(refused("it is too deep"));
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
            let mut target = File::from(rustix::fs::openat(to, new, flags, mode)?);
            io::copy(&mut source.take(bytes), &mut target).map(|_| ())
        }
        _ => budget.spend(0),
    }
}

fn named(name: &CStr) -> Option<&OsStr> {
    match name.to_bytes() {
        b"." | b".." => None,
        name => Some(OsStr::from_bytes(name)),
    }
}

/// Takes the bits from files by which others could run them as this user.
pub(super) fn defuse(folder: &Path) {
    fn walk(folder: &Path, depth: usize, left: &mut u64) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return };
            *left = rest;
            // Neither follows links.
            let (Ok(about), path) = (entry.metadata(), entry.path()) else { continue };
            if about.is_dir() && depth < DEPTH_MAX {
                walk(&path, depth + 1, left);
            } else if about.is_file() && about.permissions().mode() & 0o6000 != 0 {
                let mode = about.permissions().mode() & 0o777;
                if let Err(error) = fs::set_permissions(&path, Permissions::from_mode(mode)) {
                    tracing::warn!(%error, "a file of a job stays as it is");
                }
            }
        }
    }
    walk(folder, 0, &mut { ENTRIES_MAX });
}

/// Removes a tree: also what its maker may not enter any more, and also one that is deeper than paths or
/// descriptors reach, since each folder's folders are first moved up to the top. Links are removed, not
/// followed. What cannot be removed is left, and the first reason is the error.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(about) if !about.is_dir() => return fs::remove_file(folder),
        Ok(_) => {}
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    let top = rustix::fs::open(folder, FOLDER, Mode::empty())?;
    let mut moved = Moved { prefix: random_hex::<8>(), count: 0 };
    loop {
        let (mut gone, mut left) = (0_u64, None);
        for entry in Dir::read_from(&top)? {
            let entry = entry?;
            let Some(name) = named(entry.file_name()) else { continue };
            match clear(&top, name, &mut moved) {
                Ok(()) => gone += 1,
                Err(error) => left = Some(error),
            }
        }
        match (gone, left) {
            (0, None) => return fs::remove_dir(folder),
            (0, Some(error)) => return Err(error),
            _ => {}
        }
    }
}

/// Names at the top that nobody else has.
struct Moved {
    prefix: String,
    count: u64,
}

/// Removes one entry of the top, of which folders may become entries of the top.
fn clear(top: &OwnedFd, name: &OsStr, moved: &mut Moved) -> io::Result<()> {
    let Some(folder) = opened(top, name)? else {
        return Ok(rustix::fs::unlinkat(top, name, AtFlags::empty())?);
    };
    let mut left = None;
    for inside in Dir::read_from(&folder)? {
        let inside = inside?;
        let Some(inside) = named(inside.file_name()) else { continue };
        let done = opened(&folder, inside).and_then(|below| {
            match below {
                None => rustix::fs::unlinkat(&folder, inside, AtFlags::empty())?,
                Some(_) => {
                    moved.count += 1;
                    let new = format!("{}-{}", moved.prefix, moved.count);
                    rustix::fs::renameat(&folder, inside, top, &*new)?;
                }
            }
            Ok(())
        });
        left = done.err().or(left);
    }
    match left {
        Some(error) => Err(error),
        None => Ok(rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)?),
    }
}

/// A folder that its owner may do everything in; none if the name is another thing's.
fn opened(above: impl AsFd, name: &OsStr) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match rustix::fs::openat(&above, name, flags, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        folder => folder?,
    };
    // By what is open, not by its name.
    let at = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fs::set_permissions(at, Permissions::from_mode(0o700))?;
    Ok(Some(rustix::fs::openat(above, name, FOLDER, Mode::empty())?))
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
        let is = |path: &str| Beneath { root: &folder, path: Path::new(path) }.is_folder();
        for there in ["", "a", "a/b/c", "a/./b"] {
            assert!(is(there).expect("looked at"), "{there:?}");
        }
        for other in ["x", "x/y", "a/file", "a/file/x", "a/link", "a/link/c", "root", "root/etc"] {
            assert!(!is(other).expect("looked at"), "{other:?}");
        }
        assert!(is("a/../a").is_err() && is("/etc").is_err());
        // Nothing that a job can do: nobody is told that it has no files.
        let (file, gone) = (folder.join("a/file"), folder.join("gone"));
        for root in [&file, &gone] {
            assert!(Beneath { root, path: Path::new("a") }.is_folder().is_err());
        }
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn every_tree_can_be_removed() {
        let folder = std::env::temp_dir().join(format!("fleet-remove-{}", std::process::id()));
        let tree = folder.join("tree");
        fs::create_dir_all(tree.join("shut/in")).expect("folders");
        fs::write(tree.join("shut/in/file"), "x").expect("a file");
        fs::write(folder.join("outside"), "safe").expect("a file");
        std::os::unix::fs::symlink(&folder, tree.join("out")).expect("a link");
        for shut in ["shut/in", "shut"] {
            fs::set_permissions(tree.join(shut), Permissions::from_mode(0o0)).expect("a mode");
        }
        // Deeper than there are descriptors, and longer than a path can be.
        let mut at = rustix::fs::open(&tree, FOLDER, Mode::empty()).expect("a folder");
        for _ in 0..3_000 {
            at = subfolder(&at, "deep").expect("a folder");
        }
        drop(at);
        remove(&tree).expect("removed");
        assert!(!tree.exists());
        assert_eq!(fs::read_to_string(folder.join("outside")).expect("a file"), "safe");
        remove(&tree).expect("nothing to do");
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
        defuse(&folder);
        assert_eq!(mode(), 0o755);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
