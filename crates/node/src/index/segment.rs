//! Rows of consecutive blocks in a file that never changes: four sorted tables, searched on disk.
//!
//! A file appears under its name only when it is complete and on disk, so its header and its length
//! tell whether it can be used.

use super::rows::{BlockRows, Row, TABLES, Table, WIDTHS, height_at};
use remuda_protocol::primitives::keccak256;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::ops::Bound;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"RMDINDX1";
const PREFIX: &str = "segment-";
const UNFINISHED: &str = "new";
/// Magic, first height, next height, rows of each table.
const FIELDS: usize = 8 + 8 + 8 + 8 * TABLES;
const CHECKSUM: usize = 8;
const HEADER: usize = FIELDS + CHECKSUM;

/// Rows in memory: what is not in a segment yet.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// Heights that it has rows of: from the first to before the second.
    pub(super) heights: (u64, u64),
    pub(super) tables: [BTreeSet<Row>; TABLES],
}

impl Recent {
    /// Adds the next block, or the first one.
    pub(super) fn add(&mut self, block: BlockRows) {
        if self.tables.iter().all(BTreeSet::is_empty) {
            self.heights.0 = block.height;
        }
        self.heights.1 = block.height + 1;
        for (table, rows) in self.tables.iter_mut().zip(block.tables) {
            table.extend(rows);
        }
    }

    pub(super) fn entries(&self) -> u64 {
        self.tables[..TABLES - 1].iter().map(|table| table.len() as u64).sum()
    }

    /// Up to `limit` of the greatest rows in a range, ascending.
    pub(super) fn last(&self, table: Table, from: &[u8], to: &[u8], limit: usize) -> Vec<Row> {
        let range = self.tables[table as usize]
            .range::<[u8], _>((Bound::Included(from), Bound::Excluded(to)));
        let mut rows: Vec<Row> = range.rev().take(limit).cloned().collect();
        rows.reverse();
        rows
    }
}

#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    file: File,
    pub(super) heights: (u64, u64),
    pub(super) entries: u64,
    rows: [u64; TABLES],
}

impl Segment {
    /// Writes rows to a file of their own, on disk when this returns.
    pub(super) fn write(directory: &Path, recent: &Recent) -> io::Result<Self> {
        let (first, next) = recent.heights;
        let mut header = MAGIC.to_vec();
        header.extend(first.to_be_bytes());
        header.extend(next.to_be_bytes());
        for table in &recent.tables {
            header.extend((table.len() as u64).to_be_bytes());
        }
        let checksum = keccak256(&header);
        header.extend(&checksum[..CHECKSUM]);
        let path = directory.join(format!("{PREFIX}{first:020}"));
        let unfinished = path.with_extension(UNFINISHED);
        let mut out = BufWriter::new(File::create(&unfinished)?);
        out.write_all(&header)?;
        for row in recent.tables.iter().flatten() {
            out.write_all(row)?;
        }
        out.into_inner()?.sync_all()?;
        fs::rename(&unfinished, &path)?;
        File::open(directory)?.sync_all()?;
        Self::open(path)?.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// `None` if the file is cut off or damaged.
    pub(super) fn open(path: PathBuf) -> io::Result<Option<Self>> {
        let file = File::open(&path)?;
        let length = file.metadata()?.len();
        let mut header = [0; HEADER];
        if length < HEADER as u64 {
            return Ok(None);
        }
        file.read_exact_at(&mut header, 0)?;
        if header[..8] != *MAGIC || keccak256(&header[..FIELDS])[..CHECKSUM] != header[FIELDS..] {
            return Ok(None);
        }
        let rows: [u64; TABLES] = std::array::from_fn(|i| height_at(&header, 24 + 8 * i));
        let bytes: u64 = rows.iter().zip(WIDTHS).map(|(rows, width)| rows * width as u64).sum();
        let heights = (height_at(&header, 8), height_at(&header, 16));
        let entries = rows[..TABLES - 1].iter().sum();
        let complete = length == HEADER as u64 + bytes && heights.0 < heights.1;
        Ok(complete.then_some(Self { path, file, heights, entries, rows }))
    }

    /// The files of a directory, by their first heights. Those that were never finished go.
    pub(super) fn paths(directory: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == UNFINISHED) {
                fs::remove_file(path)?;
            } else if path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(PREFIX)) {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Readers that have it open go on.
    pub(super) fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// Up to `limit` of the greatest rows in a range, ascending.
    pub(super) fn last(
        &self,
        table: Table,
        from: &[u8],
        to: &[u8],
        limit: usize,
    ) -> io::Result<Vec<Row>> {
        let end = self.position(table, to)?;
        let start = self.position(table, from)?.max(end.saturating_sub(limit as u64));
        let width = WIDTHS[table as usize];
        let mut bytes = vec![0; end.saturating_sub(start) as usize * width];
        self.file.read_exact_at(&mut bytes, self.offset(table, start))?;
        Ok(bytes.chunks_exact(width).map(<[u8]>::to_vec).collect())
    }

    fn offset(&self, table: Table, row: u64) -> u64 {
        let before = self.rows.iter().zip(WIDTHS).take(table as usize);
        let tables: u64 = before.map(|(rows, width)| rows * width as u64).sum();
        HEADER as u64 + tables + row * WIDTHS[table as usize] as u64
    }

    /// Number of the first row that is not less than `bound`. Every other guess is where the row is
    /// if keys are spread evenly, as hashes are: some five reads instead of seventeen.
    fn position(&self, table: Table, bound: &[u8]) -> io::Result<u64> {
        let wanted = leading(bound);
        let (mut low, mut high) = (0, self.rows[table as usize]);
        let (mut least, mut most) = (0, u64::MAX);
        let mut row = vec![0; WIDTHS[table as usize]];
        for step in 0.. {
            if low >= high {
                break;
            }
            let share = match step % 2 {
                0 if least <= wanted && wanted <= most && least < most => {
                    let (part, whole) = (wanted - least, most - least);
                    u128::from(part) * u128::from(high - low) / u128::from(whole)
                }
                _ => u128::from(high - low) / 2,
            };
            let middle = (low + share as u64).min(high - 1);
            self.file.read_exact_at(&mut row, self.offset(table, middle))?;
            if row.as_slice() < bound {
                (low, least) = (middle + 1, leading(&row));
            } else {
                (high, most) = (middle, leading(&row));
            }
        }
        Ok(low)
    }
}

/// The first eight bytes as a number; what is missing counts as zero.
fn leading(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = bytes.len().min(8);
    first[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(first)
}
