//! What runs take: memory for rows, and room on the disk for logs and objects. Not to the byte: what programs choose the
//! size of is counted, the rest is a number.

use super::keyed::Keyed;
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

/// What a row takes: in memory, in logs, and in objects that were announced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Bytes {
    pub(super) rows: u64,
    pub(super) logs: u64,
    pub(super) objects: u64,
}

impl Bytes {
    /// What was there is in the sum.
    fn moved(&mut self, old: Self, new: Self) {
        let moved = |sum: &mut u64, old: u64, new: u64| *sum = (*sum + new).saturating_sub(old);
        moved(&mut self.rows, old.rows, new.rows);
        moved(&mut self.logs, old.logs, new.logs);
        moved(&mut self.objects, old.objects, new.objects);
    }

    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// How large each run is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sizes {
    runs: Keyed<RunId, Size>,
    total: Bytes,
    /// By their submitters: of all runs that are kept, and of those that have not ended.
    kept: BTreeMap<String, Bytes>,
    open: BTreeMap<String, Bytes>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Size {
    bytes: Bytes,
    /// Whose share it is in.
    submitter: Option<String>,
    /// Whether it is in the share of what is open, too.
    open: bool,
}

/// Changes somebody's share, of which nothing stays if nothing is in it.
fn share(shares: &mut BTreeMap<String, Bytes>, submitter: &str, old: Bytes, new: Bytes) {
    if !shares.contains_key(submitter) {
        shares.insert(submitter.to_owned(), Bytes::default());
    }
    if let Some(share) = shares.get_mut(submitter) {
        share.moved(old, new);
        if share.is_nothing() {
            shares.remove(submitter);
        }
    }
}

impl Sizes {
    pub(super) fn total(&self) -> u64 {
        self.total.rows
    }

    /// Of logs, which are on the disk.
    pub(super) fn logs(&self) -> u64 {
        self.total.logs
    }

    pub(super) fn logs_of(&self, run: &RunId) -> u64 {
        self.runs.get(run).map_or(0, |size| size.bytes.logs)
    }

    /// Memory that a submitter's open runs take.
    pub(super) fn open_of(&self, submitter: &str) -> u64 {
        self.open.get(submitter).map_or(0, |share| share.rows)
    }

    /// Logs and objects of all runs of a submitter.
    pub(super) fn kept_of(&self, submitter: &str) -> (u64, u64) {
        self.kept.get(submitter).map_or((0, 0), |share| (share.logs, share.objects))
    }

    /// A run as it is now.
    pub(super) fn put_run(&mut self, run: &RunRecord) {
        let nothing = Bytes::default();
        let size = self.runs.at(run.run_id.clone());
        let (submitter, open) = (run.submitter(), run.ended_at.is_none());
        if size.submitter.as_deref() == submitter && size.open == open {
            return;
        }
        if let Some(was) = &size.submitter {
            share(&mut self.kept, was, size.bytes, nothing);
            if size.open {
                share(&mut self.open, was, size.bytes, nothing);
            }
        }
        (size.submitter, size.open) = (submitter.map(str::to_owned), open);
        if let Some(submitter) = submitter {
            share(&mut self.kept, submitter, nothing, size.bytes);
            if open {
                share(&mut self.open, submitter, nothing, size.bytes);
            }
        }
    }

    /// A row of a run took so much, and takes so much now.
    pub(super) fn change(&mut self, run: &RunId, old: Bytes, new: Bytes) {
        if old == new {
            return;
        }
        self.total.moved(old, new);
        let size = self.runs.at(run.clone());
        size.bytes.moved(old, new);
        if let Some(submitter) = &size.submitter {
            share(&mut self.kept, submitter, old, new);
            if size.open {
                share(&mut self.open, submitter, old, new);
            }
        }
    }

    pub(super) fn remove(&mut self, run: &RunId) {
        let Some(size) = self.runs.remove(run) else { return };
        let nothing = Bytes::default();
        self.total.moved(size.bytes, nothing);
        if let Some(submitter) = &size.submitter {
            share(&mut self.kept, submitter, size.bytes, nothing);
            if size.open {
                share(&mut self.open, submitter, size.bytes, nothing);
            }
        }
    }

    /// As many of these as have to go until so many bytes are left.
    pub(super) fn beyond<'a>(
        &self,
        bytes: u64,
        runs: impl Iterator<Item = &'a RunId>,
    ) -> Vec<RunId> {
        let mut left = self.total.rows;
        let mut gone = Vec::new();
        for run in runs {
            if left <= bytes {
                break;
            }
            left -= self.runs.get(run).map_or(0, |size| size.bytes.rows);
            gone.push(run.clone());
        }
        gone
    }
}

/// A job with its order, which never changes.
pub(super) fn job(job: &JobRecord) -> Bytes {
    let mut order = Counted(JOB_BYTES);
    // Counting does not fail, and what cannot be written is not kept either.
    let _ = serde_json::to_writer(&mut order, &*job.order);
    Bytes { rows: order.0, ..Bytes::default() }
}

/// A lease, with what it has kept.
pub(super) fn lease(lease: &LeaseRecord) -> Bytes {
    Bytes { rows: lease_row(lease), logs: lease.log.next_offset, objects: lease.upload_bytes }
}

/// Only its answer and what it last said of its progress may be large.
fn lease_row(lease: &LeaseRecord) -> u64 {
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
