//! Removes trees made by jobs, whatever their modes and depth.

use super::{FOLDER, named};
use crate::auth::random_hex;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Removes a tree, even with directories that are not accessible, or deeper than paths or descriptors reach:
/// subdirectories are moved to the top first. Links are not followed. What cannot be removed remains, and the
/// first error is returned.
pub(in crate::worker) fn remove(folder: &Path) -> io::Result<()> {
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

/// Unused names at the top.
struct Moved {
    prefix: String,
    count: u64,
}

/// Removes one entry of the top. Its subdirectories may become entries of the top.
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

/// Opens a directory and makes it accessible to its owner. None: not a directory.
fn opened(above: impl AsFd, name: &OsStr) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match rustix::fs::openat(&above, name, flags, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        folder => folder?,
    };
    // By descriptor, not by name.
    let at = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fs::set_permissions(at, Permissions::from_mode(0o700))?;
    Ok(Some(rustix::fs::openat(above, name, FOLDER, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::super::deep;
    use super::*;

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
        // Deeper than the limit of descriptors, and than the longest path.
        deep(&tree, "deep", 3_000, b"x");
        remove(&tree).expect("removed");
        assert!(!tree.exists());
        assert_eq!(fs::read_to_string(folder.join("outside")).expect("a file"), "safe");
        remove(&tree).expect("nothing to do");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
