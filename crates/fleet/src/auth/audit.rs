//! Who did what, one JSON object per line, in a file that is only ever appended to.

use crate::time::Timestamp;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A line.
#[derive(Clone, Debug, Serialize)]
pub struct Entry<'a> {
    /// By the orchestrator's clock.
    pub at: Timestamp,
    /// The token's name, the key's, or nobody's.
    pub who: &'a str,
    /// What was asked for: a word.
    pub action: &'a str,
    /// Of what: a run, a job, a label, a key.
    pub of: &'a str,
    /// `ok`, or the code of the refusal.
    pub outcome: &'a str,
}

/// The file, if there is one.
#[derive(Debug, Default)]
pub struct Audit(Option<Mutex<File>>);

impl Audit {
    /// Opens it, or makes it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        Ok(Self(Some(Mutex::new(file))))
    }

    /// Writes a line. If that fails the request goes on: a full disk must not stop the fleet, and is
    /// told in the program's own log.
    pub fn write(&self, entry: &Entry<'_>) {
        tracing::info!(
            who = entry.who,
            action = entry.action,
            of = entry.of,
            outcome = entry.outcome
        );
        let Some(file) = &self.0 else { return };
        let mut line = serde_json::to_vec(entry).unwrap_or_default();
        line.push(b'\n');
        // One write for the whole line, so that lines stay whole.
        let written = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
        if let Err(error) = written {
            tracing::error!(%error, "a line of the audit log is lost");
        }
    }
}
