//! Passes data to a child process by descriptor. Every user of the machine can read command lines, and the
//! dynamic loader of the program that starts a sandbox obeys its environment (`LD_PRELOAD`), so a job's
//! script and variables use neither.

use command_fds::{CommandFdExt, FdMapping};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io::{self, Seek as _, Write as _};

/// The first descriptor after the standard streams. A step's script is passed there.
pub(super) const FIRST: i32 = 3;

/// A sealed memory file with these bytes. Close-on-exec: children started at the same time do not inherit it.
pub(super) fn sealed(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("remuda", flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(file.into())
}

/// Passes these to the child as descriptors [`FIRST`], [`FIRST`] + 1, ….
pub(super) fn hand(command: &mut impl CommandFdExt, all: Vec<OwnedFd>) -> io::Result<()> {
    let mappings =
        (FIRST..).zip(all).map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd });
    command.fd_mappings(mappings.collect()).map(drop).map_err(io::Error::other)
}

/// Sets close-on-exec on every descriptor that this process inherited. A service manager, a shell or a
/// pipeline may have left some open, and jobs would inherit them.
pub(super) fn keep_own() {
    close_fds::set_fds_cloexec(FIRST, &[]);
}
