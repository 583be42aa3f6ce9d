//! What rows take, run by run: memory, and logs on the disk. Not to the byte: what programs choose the
//! size of is counted, the rest is a number.

use crate::id::RunId;
use crate::lease::{JobRecord, LeaseRecord, RunRecord};
use crate::message::Artifact;
use std::collections::BTreeMap;
use std::io;

/// A job's row without its order, and its places in the indices.
const JOB_BYTES: u64 = 1_024;
/// A lease's row without the answer.
const LEASE_BYTES: u64 = 1_024;
/// What a text takes besides its letters, for each of its two quotation marks: its place in a list or
/// map, and an allocation of its own.
const QUOTE_BYTES: u64 = 32;

/// How large the rows of each run are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sizes {
    runs: BTreeMap<RunId, Size>,
    total: u64,
    logs: u64,
    /// Of runs that have not ended, by their submitters.
    open: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Size {
    rows: u64,
    logs: u64,
    /// Whose share it is in, while the run is open.
    open: Option<String>,
}

impl Sizes {
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Of logs, which are on the disk.
    pub(super) fn logs(&self) -> u64 {
        self.logs
    }

    /// Of a submitter's open runs.
    pub(super) fn open_of(&self, submitter: &str) -> u64 {
        self.open.get(submitter).copied().unwrap_or(0)
    }

    /// A run as it is now.
    pub(super) fn put_run(&mut self, run: &RunRecord) {
        let submitter = run.submitter().filter(|_| run.ended_at.is_none());
        let size = self.runs.entry(run.run_id.clone()).or_default();
        if size.open.as_deref() == submitter {
            return;
        }
        let was = std::mem::replace(&mut size.open, submitter.map(str::to_owned));
        let rows = size.rows;
        self.close(was, rows);
        if let Some(submitter) = submitter {
            *self.open.entry(submitter.to_owned()).or_default() += rows;
        }
    }

    fn close(&mut self, submitter: Option<String>, rows: u64) {
        let Some(submitter) = submitter else { return };
        if let Some(open) = self.open.get_mut(&submitter) {
            *open = open.saturating_sub(rows);
            if *open == 0 {
                self.open.remove(&submitter);
            }
        }
    }

    /// A row of a run took so much, and takes so much now: in memory, and in logs.
    pub(super) fn change(&mut self, run: &RunId, old: (u64, u64), new: (u64, u64)) {
        if old == new {
            return;
        }
        let size = self.runs.entry(run.clone()).or_default();
        // What was there is in each of these sums.
        let moved = |sum: &mut u64, old: u64, new: u64| *sum = (*sum + new).saturating_sub(old);
        moved(&mut size.rows, old.0, new.0);
        moved(&mut size.logs, old.1, new.1);
        if let Some(submitter) = &size.open {
            moved(self.open.entry(submitter.clone()).or_default(), old.0, new.0);
        }
        moved(&mut self.total, old.0, new.0);
        moved(&mut self.logs, old.1, new.1);
    }

    pub(super) fn remove(&mut self, run: &RunId) {
        let Some(size) = self.runs.remove(run) else { return };
        self.total -= size.rows;
        self.logs -= size.logs;
        self.close(size.open, size.rows);
    }

    /// As many of these as have to go until so many bytes are left.
    pub(super) fn beyond<'a>(
        &self,
        bytes: u64,
        runs: impl Iterator<Item = &'a RunId>,
    ) -> Vec<RunId> {
        let mut left = self.total;
        let mut gone = Vec::new();
        for run in runs {
            if left <= bytes {
                break;
            }
            left -= self.runs.get(run).map_or(0, |size| size.rows);
            gone.push(run.clone());
        }
        gone
    }
}

/// A job with its order, which never changes.
pub(super) fn job(job: &JobRecord) -> u64 {
    let mut order = Counted(JOB_BYTES);
    // Counting does not fail, and what cannot be written is not kept either.
    let _ = serde_json::to_writer(&mut order, &*job.order);
    order.0
}

/// A lease. Only its answer and what it last said of its progress may be large.
pub(super) fn lease(lease: &LeaseRecord) -> u64 {
    let progress = lease.progress.as_ref().map_or(0, |progress| {
        let texts = [&progress.current_step, &progress.message];
        texts.into_iter().flatten().map(String::len).sum()
    });
    let Some(answer) = &lease.answer else { return LEASE_BYTES + progress as u64 };
    let output = answer.output.as_ref().map_or(0, |output| output.bytes().len());
    let artifact = |artifact: &Artifact| artifact.kind.len() + artifact.uri.len() + 64;
    let artifacts: usize = answer.artifacts.iter().map(artifact).sum();
    LEASE_BYTES + (progress + output + answer.summary.len() + artifacts) as u64
}

struct Counted(u64);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let quotes = bytes.iter().filter(|byte| **byte == b'"').count();
        self.0 += bytes.len() as u64 + quotes as u64 * QUOTE_BYTES;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
