//! Images of jobs: found in the operator's directory, verified, unpacked once, and evicted if space is short.
//! A job names one as `oci:NAME[:TAG]` (an OCI image layout) or `oci-archive:NAME[:TAG]` (a tar archive of
//! one). Nothing is fetched.
//!
//! - [`tar`] reads archives, [`layout`] finds images and verifies hashes, [`unpack`] applies layers,
//!   [`bundle`] configures containers.

mod bundle;
mod layout;
mod tar;
mod unpack;

pub(super) use bundle::{Container, JOB, forget, scrap};

use super::files;
use super::job_dir::inside;
use data_encoding::HEXLOWER;
use flate2::read::MultiGzDecoder;
use layout::{Blob, Found, Layout};
use ring::digest::{Context, SHA256};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use unpack::{Budget, Root};

/// Mount points of a container.
const MOUNTED: [&str; 6] = ["proc", "dev", "tmp", "run", "etc", bundle::JOB];
/// Prefix of an incomplete image, followed by its digest.
const NEW: &str = ".new-";
/// Attempts: another worker may evict an image between two locks.
const TRIES_MAX: usize = 10;
/// Allowance for headers of an archive, beside twice the bytes of its files.
const HEADS_BYTES: u64 = 64 * 1_024 * 1_024;

#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error(
        "unknown kind of image; use oci:NAME[:TAG] for an image layout in this worker's folder of images, or oci-archive:NAME[:TAG] for an archive of one"
    )]
    Reference,
    #[error("there is no image {0} in this worker's folder of images")]
    Unknown(String),
    #[error("the image cannot be used: {0}")]
    Layout(&'static str),
    #[error("{name} of the image is malformed: {why}")]
    Document { name: String, why: String },
    #[error("{0:?} is not a SHA-256 digest")]
    Digest(String),
    #[error("a blob of the image does not match its digest: {0}")]
    Hash(String),
    #[error("a layer has the media type {0:?}; this worker reads tar and tar+gzip")]
    Kind(String),
    #[error("{path} of a layer cannot be unpacked: {why}", path = .path.display())]
    Entry { path: PathBuf, why: String },
    /// Larger than the limit of all images.
    #[error("the image has more than a million files, or more than {bytes_max} bytes")]
    Large { bytes_max: u64 },
    #[error("the image has no /bin/sh, which runs a job's steps")]
    NoShell,
    #[error("the image cannot be read or stored: {0}")]
    Disk(#[from] io::Error),
}

/// An unpacked image. Not evicted before this is dropped.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) rootfs: PathBuf,
    pub(super) env: Vec<(String, String)>,
    _held: File,
}

/// Identity of a file: path, inode, size, modification time.
type Seen = (PathBuf, u64, u64, SystemTime);

#[derive(Debug)]
pub(super) struct Store {
    from: PathBuf,
    /// Directory of unpacked images, shared by workers of a machine.
    to: PathBuf,
    /// Directory for extracting archives, this worker's own.
    scratch: PathBuf,
    bytes_max: u64,
    archives: Mutex<BTreeMap<Seen, Found>>,
}

impl Store {
    pub(super) fn open(from: &Path, to: &Path, scratch: &Path, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(to)?;
        let to = to.canonicalize()?;
        let (from, scratch) = (from.to_owned(), scratch.to_owned());
        let store = Self { from, to, scratch, bytes_max, archives: Mutex::default() };
        store.tidy()?;
        Ok(store)
    }

    /// Removes incomplete images of killed workers. A worker that unpacks holds the image's lock.
    fn tidy(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.to)?.flatten() {
            let name = entry.file_name();
            let Some(digest) = name.to_str().and_then(|name| name.strip_prefix(NEW)) else {
                continue;
            };
            let lock = self.lock(digest)?;
            let free = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
            if free && let Err(error) = files::remove(&entry.path()) {
                let path = entry.path();
                tracing::warn!(%error, path = %path.display(), kind = "partial image", "cleanup failed");
            }
        }
        Ok(())
    }

    fn lock(&self, digest: &str) -> io::Result<File> {
        let lock = self.to.join(format!("{digest}.lock"));
        File::options().create(true).truncate(false).write(true).open(lock)
    }

    /// Finds an image and unpacks it if needed. Blocks on the disk.
    pub(super) fn prepare(&self, reference: &str) -> Result<Image, ImageError> {
        let (archive, name, tag) = parse(reference)?;
        let at = self.locate(name)?;
        if !archive {
            let layout = Layout(at);
            return self.ready(&layout.find(tag)?, || Ok(layout));
        }
        let about = at.metadata()?;
        let seen = (at.clone(), about.ino(), about.len(), about.modified()?);
        let known = |store: &Self| {
            let archives = store.archives.lock().unwrap_or_else(PoisonError::into_inner);
            archives.get(&seen).cloned()
        };
        // Archives with several named images are not cached.
        if let (Some(found), None) = (known(self), tag) {
            return self.ready(&found, || self.take_apart(&at));
        }
        let layout = self.take_apart(&at)?;
        let found = layout.find(tag)?;
        if tag.is_none() {
            let mut archives = self.archives.lock().unwrap_or_else(PoisonError::into_inner);
            archives.retain(|(path, ..), _| *path != at);
            archives.insert(seen, found.clone());
        }
        let ready = self.ready(&found, || Ok(layout));
        clear(&self.scratch)?;
        ready
    }

    /// A path inside the operator's directory.
    fn locate(&self, name: &str) -> Result<PathBuf, ImageError> {
        let unknown = || ImageError::Unknown(name.chars().take(200).collect());
        let root = self.from.canonicalize()?;
        let at = match Path::new(name).strip_prefix(&self.from) {
            Ok(rest) => rest.to_str().and_then(inside),
            Err(_) => inside(name),
        };
        let at = at.and_then(|at| root.join(at).canonicalize().ok());
        at.filter(|at| at.starts_with(&root)).ok_or_else(unknown)
    }

    fn take_apart(&self, archive: &Path) -> Result<Layout, ImageError> {
        clear(&self.scratch)?;
        fs::create_dir_all(self.scratch.join("blobs/sha256"))?;
        let mut tar = tar::Tar::new(BufReader::new(File::open(archive)?));
        let mut left = self.bytes_max;
        while let Some(entry) = tar.next()? {
            if entry.kind != tar::Kind::File || !layout::is_part(&entry.path) {
                continue;
            }
            let large = ImageError::Large { bytes_max: self.bytes_max };
            left = left.checked_sub(entry.bytes).ok_or(large)?;
            let path = entry.path.strip_prefix(".").unwrap_or(&entry.path);
            unpack::copy(&mut tar, File::create(self.scratch.join(path))?, entry.bytes)?;
        }
        Ok(Layout(self.scratch.clone()))
    }

    /// An unpacked image, unpacked now if needed.
    fn ready(
        &self,
        found: &Found,
        layout: impl FnOnce() -> Result<Layout, ImageError>,
    ) -> Result<Image, ImageError> {
        let at = self.to.join(&found.digest);
        let lock = || self.lock(&found.digest);
        let mut layout = Some(layout);
        for _ in 0..TRIES_MAX {
            let held = lock()?;
            flock(&held, FlockOperation::LockShared).map_err(io::Error::from)?;
            if at.is_dir() {
                // Marks it as used.
                File::open(&at)?.set_modified(SystemTime::now())?;
                return Ok(Image {
                    rootfs: at.join("rootfs"),
                    env: found.env.clone(),
                    _held: held,
                });
            }
            drop(held);
            let alone = lock()?;
            flock(&alone, FlockOperation::LockExclusive).map_err(io::Error::from)?;
            if let (false, Some(layout)) = (at.is_dir(), layout.take()) {
                self.unpack(found, &layout()?, &at)?;
                // The image is ready, even if eviction fails.
                if let Err(error) = self.evict(&at) {
                    tracing::warn!(%error, "image eviction failed");
                }
            }
        }
        Err(io::Error::other("other workers keep evicting it; give images more space").into())
    }

    fn unpack(&self, found: &Found, layout: &Layout, at: &Path) -> Result<(), ImageError> {
        tracing::info!(digest = %found.digest, "unpacking image");
        let new = self.to.join(format!("{NEW}{}", found.digest));
        clear(&new)?;
        let rootfs = new.join("rootfs");
        fs::create_dir_all(&rootfs)?;
        let unpacked = self.layers(found, layout, &rootfs);
        if unpacked.is_err() {
            clear(&new)?;
        }
        unpacked?;
        Ok(fs::rename(&new, at)?)
    }

    fn layers(&self, found: &Found, layout: &Layout, rootfs: &Path) -> Result<(), ImageError> {
        let root = Root::open(rootfs)?;
        // Both passes count entries, the second also bytes.
        let (mut first, mut second) = (Budget::new(self.bytes_max), Budget::new(self.bytes_max));
        for (blob, contents) in &found.layers {
            let mut layer = self.inflate(layout, blob)?;
            root.take_away(&mut layer, &mut first)?;
            if layer.finish()? != layout::hex(contents)? {
                return Err(ImageError::Hash(contents.clone()));
            }
            root.put(self.inflate(layout, blob)?, &mut second)?;
        }
        MOUNTED.iter().try_for_each(|folder| root.folder(folder))?;
        match root.has_program("/bin/sh") {
            true => Ok(()),
            false => Err(ImageError::NoShell),
        }
    }

    fn inflate(
        &self,
        layout: &Layout,
        blob: &Blob,
    ) -> Result<LayerReader<Box<dyn Read>>, ImageError> {
        let kind = blob.media_type.as_str();
        let file = BufReader::new(layout.open(blob)?);
        let input: Box<dyn Read> = match kind.rsplit(['.', '+']).next() {
            Some("gzip") => Box::new(MultiGzDecoder::new(file)),
            Some("tar") => Box::new(file),
            _ => return Err(ImageError::Kind(kind.chars().take(100).collect())),
        };
        let bytes_max = self.bytes_max.saturating_mul(2).saturating_add(HEADS_BYTES);
        Ok(LayerReader::new(input, bytes_max))
    }

    /// Removes least recently used images that are not in use, until the rest fits.
    fn evict(&self, newest: &Path) -> io::Result<()> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.to)?.flatten() {
            // Incomplete images do not count; removed ones are gone.
            let half = entry.file_name().to_string_lossy().starts_with(NEW);
            let (at, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
            if about.is_dir() && !half {
                // Unmeasurable images sort first.
                let size = files::size(&at);
                all.push((size.whole, about.modified()?, size.bytes, at));
            }
        }
        all.sort();
        let mut bytes: u64 = all.iter().map(|(_, _, bytes, _)| bytes).sum();
        for (_, _, size, at) in all {
            if bytes <= self.bytes_max {
                break;
            }
            let lock = File::options().write(true).open(at.with_extension("lock"));
            let free = |lock: &File| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok();
            if at != newest && lock.as_ref().is_ok_and(free) {
                tracing::info!(bytes = size, "image evicted");
                match files::remove(&at) {
                    Ok(()) => bytes -= size,
                    Err(error) => {
                        tracing::warn!(%error, path = %at.display(), kind = "image", "cleanup failed");
                    }
                }
            }
        }
        Ok(())
    }
}

fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether it is an archive, its name, and its tag.
fn parse(reference: &str) -> Result<(bool, &str, Option<&str>), ImageError> {
    let archive = reference.strip_prefix("oci-archive:");
    let rest = archive.or_else(|| reference.strip_prefix("oci:")).ok_or(ImageError::Reference)?;
    let (name, tag) = match rest.rsplit_once(':') {
        Some((name, tag)) => (name, Some(tag)),
        None => (rest, None),
    };
    match name.is_empty() || tag.is_some_and(str::is_empty) {
        true => Err(ImageError::Reference),
        false => Ok((archive.is_some(), name, tag)),
    }
}

/// Hashes what it reads, under a limit: a small layer can inflate to a large one.
struct LayerReader<R> {
    input: R,
    left: u64,
    hash: Context,
}

impl<R: Read> Read for LayerReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| io::Error::other("too many bytes"))?;
        self.hash.update(&buffer[..read]);
        Ok(read)
    }
}

impl<R: Read> LayerReader<R> {
    fn new(input: R, bytes_max: u64) -> Self {
        Self { input, left: bytes_max, hash: Context::new(&SHA256) }
    }

    /// Reads the rest and returns the hash.
    fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(HEXLOWER.encode(self.hash.finish().as_ref()))
    }
}

#[cfg(test)]
mod tests;
