//! The audit log: one JSON object per line, in a file that is rotated by size.
//!
//! Refusals are limited to one line per second, name and action, with a count of the omitted ones: anybody
//! can cause them.

use crate::time::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Clone, Debug, Serialize)]
pub struct Entry<'a> {
    /// By the orchestrator's clock.
    pub at: Timestamp,
    /// Name of the token or key, or [`NOBODY`].
    pub who: &'a str,
    /// The requested action.
    pub action: &'a str,
    /// Its object: a run, a job, a label, a key.
    pub of: &'a str,
    /// `ok`, or the code of the refusal.
    pub outcome: &'a str,
}

/// Size at which the file is rotated.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Rotated files that are kept.
const ASIDE_MAX: u32 = 16;
/// Interval of lines about refusals of one name and action.
const REFUSALS_EVERY: Duration = Duration::from_secs(1);

/// Outcome of a successful action.
pub const OK: &str = "ok";

pub const NOBODY: &str = "nobody";

/// Writes to a file, if one is configured, and to the program's log.
#[derive(Debug, Default)]
pub struct Audit(Option<Mutex<Log>>);

#[derive(Debug)]
struct Log {
    path: PathBuf,
    file: File,
    bytes: u64,
    bytes_max: u64,
    /// By name and action: time of the last line about a refusal, and refusals omitted since.
    refusals: BTreeMap<(String, String), (Instant, u64)>,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry<'a>,
    /// Refusals omitted before this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

impl Audit {
    /// Opens or creates the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::bounded(path, FILE_BYTES_MAX)
    }

    fn bounded(path: &Path, bytes_max: u64) -> io::Result<Self> {
        let file = append(path)?;
        let bytes = file.metadata()?.len();
        let path = path.to_owned();
        let log = Log { path, file, bytes, bytes_max, refusals: BTreeMap::new() };
        Ok(Self(Some(Mutex::new(log))))
    }

    /// Writes a line. A failure is logged and the request proceeds: a full disk must not stop the fleet.
    pub fn write(&self, entry: &Entry<'_>) {
        let Some(log) = &self.0 else { return tell(entry) };
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = match entry.outcome {
            OK => None,
            _ => match log.refused(entry) {
                Some(left_out) => Some(left_out).filter(|count| *count > 0),
                None => return,
            },
        };
        tell(entry);
        let mut line = serde_json::to_vec(&Line { entry, left_out }).unwrap_or_default();
        line.push(b'\n');
        if let Err(error) = log.append(&line) {
            tracing::error!(%error, "audit log write failed, line lost");
        }
    }
}

fn tell(entry: &Entry<'_>) {
    let Entry { who, action, of, outcome, .. } = entry;
    tracing::info!(who, action, of, outcome, "audit");
}

impl Log {
    /// Refusals omitted since the last line. None: this one is omitted too.
    fn refused(&mut self, entry: &Entry<'_>) -> Option<u64> {
        let kind = (entry.who.to_owned(), entry.action.to_owned());
        if let Some((last, left_out)) = self.refusals.get_mut(&kind)
            && last.elapsed() < REFUSALS_EVERY
        {
            *left_out += 1;
            return None;
        }
        let before = self.refusals.insert(kind, (Instant::now(), 0));
        Some(before.map_or(0, |(_, left_out)| left_out))
    }

    /// Rotates the file and drops the oldest one.
    fn rotate(&mut self) -> io::Result<()> {
        let aside = |n: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{n}"));
            PathBuf::from(name)
        };
        let there = |renamed: io::Result<()>| match renamed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        };
        for n in (1..ASIDE_MAX).rev() {
            there(std::fs::rename(aside(n), aside(n + 1)))?;
        }
        there(std::fs::rename(&self.path, aside(1)))?;
        self.file = append(&self.path)?;
        Ok(())
    }

    /// Writes a line with one call, so lines stay whole.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.bytes >= self.bytes_max {
            // After a failure lines continue in the open file.
            if let Err(error) = self.rotate() {
                tracing::warn!(%error, "audit log rotation failed, retrying later");
            }
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
        let entry = |who, outcome| {
            let at = Millis(1).timestamp();
            Entry { at, who, action: "submit", of: "", outcome }
        };
        for _ in 0..1_000 {
            audit.write(&entry(NOBODY, "UNAUTHORIZED"));
            audit.write(&entry("viewer", "FORBIDDEN"));
        }
        // On a busy machine a second may pass in between.
        assert!(written(&path).len() < 100, "{}", written(&path).len());
        audit.write(&entry("somebody", OK));
        assert_eq!(written(&path).last().expect("a line")["who"], "somebody");
        // Each line is about 90 bytes.
        for _ in 0..4_000 {
            audit.write(&entry("somebody", OK));
        }
        let files = std::fs::read_dir(&folder).expect("a folder").map(|file| file.expect("a file"));
        let sizes: Vec<u64> = files.map(|file| file.metadata().expect("a size").len()).collect();
        assert!(sizes.iter().all(|bytes| *bytes < 11_000), "{sizes:?}");
        assert_eq!(sizes.len(), 1 + ASIDE_MAX as usize);

        // Rotated by another process.
        std::fs::remove_file(&path).expect("removed");
        for _ in 0..200 {
            audit.write(&entry("somebody", OK));
        }
        audit.write(&entry("last", OK));
        assert_eq!(written(&path).last().expect("a line")["who"], "last");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
