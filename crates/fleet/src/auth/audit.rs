//! Who did what, one JSON object per line, in a file that is appended to, and put aside when it is long.
//!
//! Who has no token may ask as often as they like, so of them only a few are written down, and how many were
//! not.

use crate::time::Timestamp;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

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

/// A file this long is put aside, and replaces the one that was before it.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Of requests that nobody's token came with, one in so long is written down.
const STRANGERS_EVERY: Duration = Duration::from_secs(1);

/// Who is nobody.
pub const NOBODY: &str = "nobody";

/// The file, if there is one.
#[derive(Debug, Default)]
pub struct Audit(Option<Mutex<Log>>);

#[derive(Debug)]
struct Log {
    path: PathBuf,
    file: File,
    bytes: u64,
    bytes_max: u64,
    /// When a stranger was last written down, and how many were not since.
    stranger: Option<Instant>,
    left_out: u64,
}

/// A line as it is written.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry<'a>,
    /// Strangers before this one that have no line.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

impl Audit {
    /// Opens it, or makes it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::bounded(path, FILE_BYTES_MAX)
    }

    fn bounded(path: &Path, bytes_max: u64) -> io::Result<Self> {
        let file = append(path)?;
        let bytes = file.metadata()?.len();
        let path = path.to_owned();
        let log = Log { path, file, bytes, bytes_max, stranger: None, left_out: 0 };
        Ok(Self(Some(Mutex::new(log))))
    }

    /// Writes a line. If that fails the request goes on: a full disk must not stop the fleet, and is
    /// told in the program's own log.
    pub fn write(&self, entry: &Entry<'_>) {
        let Some(log) = &self.0 else { return tell(entry) };
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = match entry.who == NOBODY {
            true if log.too_many() => return,
            true => Some(std::mem::take(&mut log.left_out)).filter(|count| *count > 0),
            false => None,
        };
        tell(entry);
        let mut line = serde_json::to_vec(&Line { entry, left_out }).unwrap_or_default();
        line.push(b'\n');
        if let Err(error) = log.append(&line) {
            tracing::error!(%error, "a line of the audit log is lost");
        }
    }
}

fn tell(entry: &Entry<'_>) {
    tracing::info!(who = entry.who, action = entry.action, of = entry.of, outcome = entry.outcome);
}

impl Log {
    /// Whether one more stranger is one too many: they need no token to fill a disk.
    fn too_many(&mut self) -> bool {
        if self.stranger.is_some_and(|last| last.elapsed() < STRANGERS_EVERY) {
            self.left_out += 1;
            return true;
        }
        self.stranger = Some(Instant::now());
        false
    }

    /// One write for the whole line, so that lines stay whole.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.bytes >= self.bytes_max {
            let mut aside = self.path.clone().into_os_string();
            aside.push(".1");
            std::fs::rename(&self.path, aside)?;
            self.file = append(&self.path)?;
            self.bytes = 0;
        }
        self.file.write_all(line)?;
        self.bytes += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;

    fn written(path: &Path) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(path).expect("a log");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn strangers_cannot_fill_a_disk_and_others_only_so_much_of_it() {
        let folder = std::env::temp_dir().join(format!("fleet-audit-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("audit.jsonl");
        let audit = Audit::bounded(&path, 10_000).expect("a log");
        let entry = |who| {
            let at = Millis(1).timestamp();
            Entry { at, who, action: "submit", of: "", outcome: "UNAUTHORIZED" }
        };
        for _ in 0..1_000 {
            audit.write(&entry(NOBODY));
        }
        // A machine may be so busy that a second passes in between.
        assert!(written(&path).len() < 100, "{}", written(&path).len());
        audit.write(&entry("somebody"));
        assert_eq!(written(&path).last().expect("a line")["who"], "somebody");
        for _ in 0..1_000 {
            audit.write(&entry("somebody"));
        }
        let kept = |name: &str| std::fs::metadata(folder.join(name)).expect("a file").len();
        assert!(kept("audit.jsonl") < 11_000 && kept("audit.jsonl.1") < 11_000);
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 2);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
