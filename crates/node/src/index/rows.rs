//! What a block adds to the index, as rows of bytes that sort as they are looked up.

use crate::history::Finalised;
use remuda_client::types::{JobPlace, Subject};
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Address, JobId, keccak256};
use remuda_protocol::transaction::tx_hash;
use std::collections::BTreeSet;

/// Numbers are big-endian, so rows of a table sort by key, then by height.
pub(super) type Row = Vec<u8>;

pub(super) const TABLES: usize = 4;

/// A sorted table of rows of one width.
#[derive(Clone, Copy, Debug)]
pub(super) enum Table {
    /// Hash of a block or a transaction, height, number in the block ([`WHOLE_BLOCK`] for the block).
    Places,
    /// Job, height of a block with events about it.
    Mentions,
    /// Height, number among the submissions of that block, job.
    Submitted,
    /// Submitter, then as [`Table::Submitted`].
    Submitters,
}

/// The number of a row that names a block. No block has as many transactions.
pub(super) const WHOLE_BLOCK: u32 = u32::MAX;

/// Bytes of a row, by table.
pub(super) const WIDTHS: [usize; TABLES] = [32 + 8 + 4, 32 + 8, 8 + 4 + 32, 20 + 8 + 4 + 32];

/// Sorts after every row that begins with `prefix`.
pub(super) fn after(prefix: &[u8]) -> Row {
    [prefix, &[0xff; 64]].concat()
}

pub(super) fn place_bytes(place: JobPlace) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&place.height.to_be_bytes());
    bytes[8..].copy_from_slice(&place.index.to_be_bytes());
    bytes
}

/// Height and number that a row has at an offset.
pub(super) fn place_at(row: &[u8], at: usize) -> JobPlace {
    let index = row[at + 8..at + 12].try_into().expect("four bytes");
    JobPlace { height: height_at(row, at), index: u32::from_be_bytes(index) }
}

pub(super) fn height_at(row: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(row[at..at + 8].try_into().expect("eight bytes"))
}

/// The rows of one block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BlockRows {
    pub(super) height: u64,
    pub(super) tables: [Vec<Row>; TABLES],
}

/// Length of a record without its rows: height, and the number of rows of each table.
const HEAD: usize = 8 + 4 * TABLES;
const CHECKSUM: usize = 8;

impl BlockRows {
    pub(super) fn of(finalised: &Finalised) -> Self {
        let height = finalised.height().get();
        let place =
            |hash: &[u8], index: u32| [hash, &place_bytes(JobPlace { height, index })].concat();
        let transactions = (0..).zip(&finalised.block.transactions);
        let mut places: Vec<Row> =
            transactions.map(|(index, bytes)| place(tx_hash(bytes).as_slice(), index)).collect();
        places.push(place(finalised.hash.as_slice(), WHOLE_BLOCK));
        let mut jobs = BTreeSet::new();
        let (mut submitted, mut submitters) = (Vec::new(), Vec::new());
        for event in finalised.receipts.iter().flat_map(|receipt| &receipt.events) {
            jobs.extend(Subject::of(event).jobs);
            if let Some((job, submitter)) = submission(event) {
                let index = u32::try_from(submitted.len()).unwrap_or(u32::MAX);
                let row = [&place_bytes(JobPlace { height, index })[..], job.as_slice()].concat();
                submitters.push([submitter.as_slice(), &row].concat());
                submitted.push(row);
            }
        }
        let mention = |job: JobId| [job.as_slice(), &height.to_be_bytes()].concat();
        let mentions = jobs.into_iter().map(mention).collect();
        Self { height, tables: [places, mentions, submitted, submitters] }
    }

    /// A record of the log: length, checksum, rows.
    pub(super) fn to_record(&self) -> Vec<u8> {
        let mut body = self.height.to_be_bytes().to_vec();
        for rows in &self.tables {
            body.extend(u32::try_from(rows.len()).expect("rows of one block").to_be_bytes());
        }
        body.extend(self.tables.iter().flatten().flatten());
        let length = u32::try_from(body.len()).expect("rows of one block");
        let checksum = keccak256(&body);
        [&length.to_be_bytes()[..], &checksum[..CHECKSUM], &body].concat()
    }

    /// The first record, and its length. `None` if it is cut off or damaged.
    pub(super) fn from_record(bytes: &[u8]) -> Option<(Self, usize)> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        let (checksum, rest) = rest.split_at_checked(CHECKSUM)?;
        let body = rest.get(..length)?;
        if keccak256(body)[..CHECKSUM] != *checksum {
            return None;
        }
        let (head, mut rest) = body.split_at_checked(HEAD)?;
        let mut tables: [Vec<Row>; TABLES] = Default::default();
        for (i, rows) in tables.iter_mut().enumerate() {
            let count = head[8 + 4 * i..12 + 4 * i].try_into().expect("four bytes");
            for _ in 0..u32::from_be_bytes(count) {
                let (row, after) = rest.split_at_checked(WIDTHS[i])?;
                rows.push(row.to_vec());
                rest = after;
            }
        }
        Some((Self { height: height_at(head, 0), tables }, 4 + CHECKSUM + length))
    }
}

/// The job that an event brings into being, and who pays for it.
fn submission(event: &Event) -> Option<(JobId, Address)> {
    match event {
        Event::JobSubmitted { job, submitter, .. } => Some((*job, *submitter)),
        // A challenged result is worked out again by a job of the challenger's.
        Event::ResultChallenged { by_job, challenger, .. } => Some((*by_job, *challenger)),
        _ => None,
    }
}
