//! Who did what, one JSON object per line, in a file that is appended to, and put aside when it is long.
//!
//! Whoever is refused can ask as often as they like, so of refusals only a few are written down for each name and
//! action, and how many were not.

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
    /// The token's name, the key's, or nobody's.
    pub who: &'a str,
    /// What was asked for: a word.
    pub action: &'a str,
    /// Of what: a run, a job, a label, a key.
    pub of: &'a str,
    /// `ok`, or the code of the refusal.
    pub outcome: &'a str,
}

/// A file this long is put aside.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// So many of those are kept.
const ASIDE_MAX: u32 = 16;
/// Of what one name is refused of one kind, one in so long is written down.
const REFUSALS_EVERY: Duration = Duration::from_secs(1);

/// How a line says that it was done.
pub const OK: &str = "ok";

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
    /// By name and action, of which there are few: when a refusal was last written down, and how many were
    /// not since.
    refusals: BTreeMap<(String, String), (Instant, u64)>,
}

/// A line as it is written.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry<'a>,
    /// Such refusals before this one that have no line.
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
        let log = Log { path, file, bytes, bytes_max, refusals: BTreeMap::new() };
        Ok(Self(Some(Mutex::new(log))))
    }

    /// Writes a line. If that fails the request goes on: a full disk must not stop the fleet, and is
    /// told in the program's own log.
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
            tracing::error!(%error, "a line of the audit log is lost");
        }
    }
}

fn tell(entry: &Entry<'_>) {
    tracing::info!(who = entry.who, action = entry.action, of = entry.of, outcome = entry.outcome);
}

impl Log {
    /// How many such refusals were left out since the last line. None: this one is, too.
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

    /// Puts the file aside. What came first goes.
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

    /// One write for the whole line, so that lines stay whole.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.bytes >= self.bytes_max {
            // Lines go on in the file that is open, whatever became of it.
            if let Err(error) = self.rotate() {
                tracing::warn!(%error, "the audit log is not put aside; it is tried again later");
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
        // A machine may be so busy that a second passes in between.
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

        // Somebody else has put it aside.
        std::fs::remove_file(&path).expect("removed");
        for _ in 0..200 {
            audit.write(&entry("somebody", OK));
        }
        audit.write(&entry("last", OK));
        assert_eq!(written(&path).last().expect("a line")["who"], "last");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
