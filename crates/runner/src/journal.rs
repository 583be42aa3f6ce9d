//! What a runner must not forget: one file for each job it took.
//!
//! A file is written before the deed that it is about: before the work begins, and before the commit
//! is sent. So a restart finds every result that anybody may be waiting for, and knows which work had
//! begun. A file is replaced as a whole, so it is the old one or the new one, never half of each. Only
//! the runner's own user can read them: a result and its salt must stay secret until they are opened.

use crate::private::{self, PrivateError};
use alloy_primitives::hex;
use remuda_protocol::codec::{Decode as _, Encode as _};
use remuda_protocol::crypto::Signature;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{B256, JobId};
use remuda_protocol::verifier::excuse::{Delivery, Excuse};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub job_id: JobId,
    /// The selection that drew this runner.
    pub attempt: u32,
    pub spec: JobSpec,
    pub stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The work has not begun.
    Taken,
    /// The work has begun. After a restart its effects are unknown.
    Begun,
    /// With a result or an excuse.
    Done(Outcome),
    Failed(String),
}

/// A result or an excuse, and what proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub delivery: Delivery,
    /// Hides the delivery in the commitment.
    pub salt: B256,
    pub result_sig: Signature,
}

/// Without a journal the runner accepts no jobs.
#[derive(Debug, Error)]
pub enum JournalError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Private(#[from] PrivateError),
}

/// The format of a file.
#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    job_id: String,
    attempt: u32,
    spec: String,
    begun: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    excuse: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result_sig: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// The version of the files. The first one has no excuses.
const VERSION: u32 = 2;
const VERSION_MIN: u32 = 1;
/// Free disk space that a probe requires: a dozen entries of the largest size.
const FREE_BYTES_MIN: u64 = 16 * 1024 * 1024;
/// A file is at most this long: a specification and a result in hex, and some.
const FILE_MAX: u64 = 8 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct Journal {
    directory: PathBuf,
}

impl Journal {
    /// Opens a directory, and makes it if it is not there. What others can read is taken from them.
    pub fn open(directory: &Path) -> Result<Self, JournalError> {
        private::make_folder(directory).map_err(|error| io(directory, error))?;
        private::tighten(directory)?;
        private::tighten_files(directory).map_err(|error| io(directory, error))??;
        Ok(Self { directory: directory.to_owned() })
    }

    fn path(&self, job_id: JobId, attempt: u32) -> PathBuf {
        self.directory.join(format!("{job_id:x}-{attempt}.json"))
    }

    /// Writes an entry; when this returns, it is on the disk.
    pub fn write(&self, entry: &Entry) -> Result<(), JournalError> {
        let path = self.path(entry.job_id, entry.attempt);
        let draft = path.with_extension("new");
        let text = serde_json::to_vec_pretty(&Written::from(entry)).expect("strings and numbers");
        let wrote = (|| {
            let mut file = private::create(&draft)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&draft, &path)?;
            File::open(&self.directory)?.sync_all()
        })();
        wrote.map_err(|error| io(&path, error))
    }

    /// Whether an entry could be written now.
    pub fn probe(&self) -> Result<(), JournalError> {
        let path = self.directory.join("probe.new");
        let wrote = (|| {
            let disk = rustix::fs::statvfs(&self.directory)?;
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            if free < FREE_BYTES_MIN {
                let why =
                    format!("no space left: {free} bytes are free, {FREE_BYTES_MIN} are needed");
                return Err(std::io::Error::new(std::io::ErrorKind::StorageFull, why));
            }
            let mut file = private::create(&path)?;
            file.write_all(&[0; 4_096])?;
            file.sync_all()?;
            fs::remove_file(&path)
        })();
        wrote.map_err(|error| io(&path, error))
    }

    /// Everything that is there. Files that cannot be read are named and left alone: a result that
    /// somebody waits for may be in one.
    pub fn read(&self) -> Result<(Vec<Entry>, Vec<PathBuf>), JournalError> {
        let (mut entries, mut unreadable) = (Vec::new(), Vec::new());
        let listed = fs::read_dir(&self.directory).map_err(|error| io(&self.directory, error))?;
        for item in listed {
            let path = item.map_err(|error| io(&self.directory, error))?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            match read_entry(&path) {
                Some(entry) if self.path(entry.job_id, entry.attempt) == path => {
                    entries.push(entry);
                }
                _ => unreadable.push(path),
            }
        }
        entries.sort_by_key(|entry| (entry.job_id, entry.attempt));
        Ok((entries, unreadable))
    }

    pub fn remove(&self, job_id: JobId, attempt: u32) -> Result<(), JournalError> {
        let path = self.path(job_id, attempt);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(&path, error)),
            _ => Ok(()),
        }
    }
}

fn io(path: &Path, error: std::io::Error) -> JournalError {
    JournalError::Io { path: path.to_owned(), error }
}

fn read_entry(path: &Path) -> Option<Entry> {
    if fs::metadata(path).ok()?.len() > FILE_MAX {
        return None;
    }
    let written: Written = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    if !(VERSION_MIN..=VERSION).contains(&written.version) {
        return None;
    }
    let hash = |text: &str| <[u8; 32]>::try_from(hex::decode(text).ok()?).ok().map(B256::from);
    let delivery = match (written.result, written.excuse) {
        (Some(_), Some(_)) => return None,
        (Some(result), None) => Some(Delivery::from(hex::decode(result).ok()?)),
        (None, Some(name)) => Some(Excuse::from_name(&name)?.into()),
        (None, None) => None,
    };
    let stage = match (delivery, written.failed) {
        (Some(delivery), _) => Stage::Done(Outcome {
            delivery,
            salt: hash(&written.salt?)?,
            result_sig: Signature {
                bytes: hex::decode(written.result_sig?).ok()?.try_into().ok()?,
            },
        }),
        (None, Some(reason)) => Stage::Failed(reason),
        (None, None) if written.begun => Stage::Begun,
        (None, None) => Stage::Taken,
    };
    Some(Entry {
        job_id: hash(&written.job_id)?,
        attempt: written.attempt,
        spec: JobSpec::from_bytes(&hex::decode(written.spec).ok()?).ok()?,
        stage,
    })
}

impl From<&Entry> for Written {
    fn from(entry: &Entry) -> Self {
        let (mut begun, mut failed, mut outcome) = (true, None, None::<&Outcome>);
        match &entry.stage {
            Stage::Taken => begun = false,
            Stage::Begun => {}
            Stage::Done(done) => outcome = Some(done),
            Stage::Failed(reason) => failed = Some(reason.clone()),
        }
        Self {
            version: VERSION,
            job_id: hex::encode(entry.job_id),
            attempt: entry.attempt,
            spec: hex::encode(entry.spec.to_bytes()),
            begun,
            result: outcome
                .and_then(|outcome| outcome.delivery.bytes())
                .map(|it| hex::encode(&it[..])),
            excuse: outcome
                .and_then(|outcome| outcome.delivery.excuse())
                .map(|code| code.name().to_owned()),
            salt: outcome.map(|outcome| hex::encode(outcome.salt)),
            result_sig: outcome.map(|outcome| hex::encode(outcome.result_sig.bytes)),
            failed,
        }
    }
}
