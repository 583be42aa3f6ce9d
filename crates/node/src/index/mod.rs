//! Where things are in the blocks: transactions, jobs, hashes. It follows from the blocks alone.
//!
//! Local: a change here needs no agreement among validators. This holds for the whole folder.
//!
//! On disk, so neither memory nor the time of a start grows with the chain:
//!
//! ```text
//! block ─▶ rows ─▶ log, and the same in memory ─ full? ─▶ segment: four sorted tables in a file
//! ```
//! Lookups ask the rows in memory, then segments from the newest to the oldest. The oldest segments
//! are removed when there is more than [`Limits`] allow.
//!
//! The log is written with every block and not synced: after SIGKILL it is complete, after a power
//! failure its end may be missing, which the checksum of each record shows. What is missing is read
//! from the [history](crate::history), which is on disk before a block comes here, so the index never
//! knows a block that the history lacks. A segment is synced before the log is emptied.

mod open_jobs;
mod rows;
mod segment;

pub use open_jobs::OpenJobs;

use crate::history::{Finalised, History};
use commonware_runtime::Spawner;
use commonware_storage::Context as StorageContext;
use remuda_client::types::JobPlace;
use remuda_protocol::primitives::{Address, B256, Height, JobId, TxHash};
use rows::{BlockRows, Row, Table, WHOLE_BLOCK, after, height_at, place_at, place_bytes};
use segment::{Recent, Segment};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Blocks whose transactions and jobs can be found.
    pub blocks: u64,
    /// Transactions, jobs and blocks that can be found.
    pub entries: u64,
    /// Of those, how many are kept in memory, and go into one file.
    pub segment: u64,
}

impl Default for Limits {
    /// About three months of 1 s blocks, 2 GiB of disk at most, and 122 files. Only a chain that is
    /// busy for days gets to so many entries before it has so many blocks.
    fn default() -> Self {
        Self { blocks: 8_000_000, entries: 16_000_000, segment: 131_072 }
    }
}

/// An index over the newest blocks.
///
/// # Panics
/// Its methods panic if the disk fails.
#[derive(Debug)]
pub struct Index {
    limits: Limits,
    directory: PathBuf,
    /// Locked while a block is added.
    log: Mutex<File>,
    rows: RwLock<Rows>,
}

#[derive(Clone, Debug, Default)]
struct Segments(Vec<Arc<Segment>>);

#[derive(Debug, Default)]
struct Rows {
    recent: Recent,
    /// Oldest first; they and `recent` follow each other without a gap.
    segments: Segments,
}

impl Index {
    /// Opens what is in a directory, or begins there. What cannot be used is removed.
    pub fn open(directory: &Path, limits: Limits) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let mut segments = Segments::default();
        for path in Segment::paths(directory)? {
            match Segment::open(path.clone())? {
                // What is older than a gap is not found any more.
                Some(segment) => {
                    if segments.next().is_some_and(|next| next != segment.heights.0) {
                        segments.remove_all()?;
                    }
                    segments.0.push(Arc::new(segment));
                }
                None => {
                    tracing::warn!(path = %path.display(), "index segment damaged, rebuilding");
                    fs::remove_file(path)?;
                }
            }
        }
        let path = directory.join("log");
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let log = OpenOptions::new().create(true).append(true).open(path)?;
        let mut rows = Rows { recent: Recent::default(), segments };
        let mut read = 0;
        while let Some((block, length)) = BlockRows::from_record(&bytes[read..]) {
            match rows.next() {
                // The log was not emptied after its segment was written.
                Some(next) if block.height < next => {}
                Some(next) if block.height > next => break,
                _ => rows.recent.add(block),
            }
            read += length;
        }
        if read < bytes.len() {
            tracing::warn!(bytes = bytes.len() - read, "index log truncated at a damaged record");
            log.set_len(read as u64)?;
        }
        let (log, rows) = (Mutex::new(log), RwLock::new(rows));
        Ok(Self { limits, directory: directory.to_owned(), log, rows })
    }

    /// Reads the blocks of a history that the index lacks, and says how many.
    pub async fn catch_up<E>(&self, history: &History<E>, genesis: &Finalised) -> u64
    where
        E: Spawner + StorageContext,
    {
        let newest = history.newest().await;
        let oldest = (newest + 1).saturating_sub(self.limits.blocks);
        let mut read = 0;
        for height in self.next().get().max(oldest)..=newest {
            if height == 0 {
                self.apply(genesis);
                continue;
            }
            let block = history.finalised(height).await;
            self.apply(&block.unwrap_or_else(|| panic!("final block {height} is not on disk")));
            read += 1;
        }
        read
    }

    /// Adds a block. A known block is ignored; a gap clears the index and restarts it at this block.
    pub fn apply(&self, finalised: &Finalised) {
        self.add(BlockRows::of(finalised)).unwrap_or_else(|error| {
            panic!("cannot write the index in {}: {error}", self.directory.display())
        });
    }

    fn add(&self, block: BlockRows) -> io::Result<()> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.read().next().unwrap_or(block.height);
        if block.height < next {
            return Ok(());
        }
        if block.height > next {
            log.set_len(0)?;
            let mut old = std::mem::take(&mut *self.write());
            old.segments.remove_all()?;
        }
        log.write_all(&block.to_record())?;
        self.write().recent.add(block);
        if self.read().recent.entries() >= self.limits.segment {
            let segment = Segment::write(&self.directory, &self.read().recent)?;
            log.set_len(0)?;
            let mut rows = self.write();
            rows.segments.0.push(Arc::new(segment));
            rows.recent = Recent::default();
        }
        while self.exceeds_limits() {
            let oldest = self.write().segments.0.remove(0);
            oldest.remove()?;
        }
        Ok(())
    }

    fn exceeds_limits(&self) -> bool {
        let rows = self.read();
        let Some(oldest) = rows.segments.0.first() else { return false };
        let sealed: u64 = rows.segments.0.iter().map(|segment| segment.entries).sum();
        let blocks = rows.next().unwrap_or(0) - oldest.heights.0;
        let entries = sealed + rows.recent.entries();
        // The newest blocks stay in any case.
        rows.segments.0.len() + usize::from(rows.recent.entries() > 0) > 1
            && (blocks > self.limits.blocks || entries > self.limits.entries)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Rows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Up to `limit` rows of a range in which rows sort by height, the greatest first. No lock is held
    /// while the disk is read.
    fn newest(&self, table: Table, from: &[u8], to: &[u8], limit: usize) -> Vec<Row> {
        let (mut found, segments) = {
            let rows = self.read();
            (rows.recent.last(table, from, to, limit), rows.segments.clone())
        };
        found.reverse();
        for segment in segments.0.iter().rev() {
            if found.len() >= limit {
                break;
            }
            let rows = segment.last(table, from, to, limit - found.len());
            found.extend(
                rows.unwrap_or_else(|e| panic!("cannot read the index: {e}")).into_iter().rev(),
            );
        }
        found
    }

    /// Height of the block that comes next.
    pub fn next(&self) -> Height {
        Height(self.read().next().unwrap_or(0))
    }

    fn place(&self, hash: B256) -> Option<JobPlace> {
        let rows = self.newest(Table::Places, hash.as_slice(), &after(hash.as_slice()), 1);
        rows.first().map(|row| place_at(row, 32))
    }

    /// The height of a block.
    pub fn height_of(&self, hash: B256) -> Option<Height> {
        let place = self.place(hash).filter(|place| place.index == WHOLE_BLOCK)?;
        Some(Height(place.height))
    }

    pub fn transaction(&self, hash: TxHash) -> Option<(Height, u32)> {
        let place = self.place(hash).filter(|place| place.index != WHOLE_BLOCK)?;
        Some((Height(place.height), place.index))
    }

    /// Blocks with events about a job, ascending.
    pub fn job_heights(&self, job: JobId) -> Vec<Height> {
        let job = job.as_slice();
        let rows = self.newest(Table::Mentions, job, &after(job), usize::MAX);
        rows.iter().rev().map(|row| Height(height_at(row, 32))).collect()
    }

    /// Jobs, or one submitter's, newest first: up to `limit` that come after a place in this order.
    pub fn jobs(
        &self,
        submitter: Option<Address>,
        before: Option<JobPlace>,
        limit: usize,
    ) -> Vec<(JobPlace, JobId)> {
        let (table, key) = match &submitter {
            Some(submitter) => (Table::Submitters, submitter.as_slice()),
            None => (Table::Submitted, &[][..]),
        };
        let end = match before {
            Some(place) => [key, &place_bytes(place)].concat(),
            None => after(key),
        };
        let job = |row: &Row| JobId::from_slice(&row[key.len() + 12..]);
        let rows = self.newest(table, key, &end, limit);
        rows.iter().map(|row| (place_at(row, key.len()), job(row))).collect()
    }
}

impl Rows {
    /// Height of the block that comes next; none if there is no block.
    fn next(&self) -> Option<u64> {
        let recent = (self.recent.entries() > 0).then_some(self.recent.heights.1);
        recent.or_else(|| self.segments.next())
    }
}

impl Segments {
    fn next(&self) -> Option<u64> {
        self.0.last().map(|segment| segment.heights.1)
    }

    fn remove_all(&mut self) -> io::Result<()> {
        self.0.drain(..).try_for_each(|segment| segment.remove())
    }
}

#[cfg(test)]
mod tests;
