//! What rows take in memory, run by run. Not to the byte: what programs choose the size of is counted,
//! the rest is a number.

use crate::id::RunId;
use crate::lease::{JobRecord, LeaseRecord};
use std::collections::BTreeMap;
use std::io;

/// A job's row without its order, and its places in the indices.
const JOB_BYTES: u64 = 1_024;
/// A lease's row without the answer.
const LEASE_BYTES: u64 = 1_024;

/// How large the rows of each run are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sizes {
    runs: BTreeMap<RunId, u64>,
    total: u64,
}

impl Sizes {
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn add(&mut self, run: &RunId, bytes: u64) {
        if bytes > 0 {
            *self.runs.entry(run.clone()).or_default() += bytes;
            self.total += bytes;
        }
    }

    pub(super) fn remove(&mut self, run: &RunId) {
        self.total -= self.runs.remove(run).unwrap_or(0);
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
            left -= self.runs.get(run).copied().unwrap_or(0);
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

/// A lease. Only its answer may be large.
pub(super) fn lease(lease: &LeaseRecord) -> u64 {
    let Some(answer) = &lease.answer else { return LEASE_BYTES };
    let output = answer.output.as_ref().map_or(0, |output| output.bytes().len());
    let texts = answer.summary.len() + answer.artifacts.len() * 256;
    LEASE_BYTES + (output + texts) as u64
}

struct Counted(u64);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
