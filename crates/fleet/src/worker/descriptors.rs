//! What a child gets besides its three streams: data by descriptor. Arguments can be read by every user of
//! the machine, and variables of a job would steer the loader of whatever program starts its sandbox.

use command_fds::{CommandFdExt, FdMapping};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io::{self, Seek as _, Write as _};

/// The lowest descriptor that has no meaning of its own. A step's script is there.
pub(super) const FIRST: i32 = 3;

/// A file in memory with these bytes, which nobody can change. Other children that are started at the same
/// time do not inherit it.
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

/// Hands these to a child, as descriptors from [`FIRST`] on.
pub(super) fn hand(command: &mut impl CommandFdExt, all: Vec<OwnedFd>) -> io::Result<()> {
    let mappings =
        (FIRST..).zip(all).map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd });
    command.fd_mappings(mappings.collect()).map(drop).map_err(io::Error::other)
}

/// Keeps children from what this process inherited without asking: a service manager, a shell or a
/// pipeline may have left something open.
pub(super) fn keep_own() {
    close_fds::set_fds_cloexec(FIRST, &[]);
}
