//! Reads tar archives: ustar with the GNU and POSIX extensions for long names, under limits.
//!
//! Not the crate `tar`: it reads name and pax records of any length into memory, and its raw mode, which
//! could avoid that, ignores pax sizes.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

const BLOCK: usize = 512;
/// Longest path of the system.
const NAME_BYTES_MAX: u64 = 4_096;
/// Longest pax record: names, times and labels.
const FIELDS_BYTES_MAX: u64 = 64 * 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Symlink(PathBuf),
    /// Hard link.
    Link(PathBuf),
    /// Devices, pipes and unknown types.
    Other,
}

/// An entry. [`Tar::body`] reads its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) bytes: u64,
}

pub(super) struct Tar<R> {
    input: R,
    /// Unread bytes of the current entry, and its padding.
    left: u64,
    filling: u64,
}

fn wrong(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// An octal number, or base 256 if the first bit is set.
fn number(field: &[u8]) -> io::Result<u64> {
    if field.first().is_some_and(|first| first & 0x80 != 0) {
        let (head, tail) = field.split_at(field.len().saturating_sub(8));
        let zero = head.iter().enumerate().all(|(at, b)| *b == if at == 0 { 0x80 } else { 0 });
        let tail: [u8; 8] = tail.try_into().map_err(|_| wrong("malformed number"))?;
        return zero.then(|| u64::from_be_bytes(tail)).ok_or_else(|| wrong("number too large"));
    }
    let digits = field.iter().skip_while(|b| **b == b' ').take_while(|b| !matches!(**b, b' ' | 0));
    digits.into_iter().try_fold(0_u64, |sum, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 8);
        let digit = digit.ok_or_else(|| wrong("malformed octal number"))?;
        let sum = sum.checked_mul(8).and_then(|sum| sum.checked_add(digit.into()));
        sum.ok_or_else(|| wrong("number too large"))
    })
}

fn text(field: &[u8]) -> Vec<u8> {
    field.iter().copied().take_while(|b| *b != 0).collect()
}

fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// Values from extension records before an entry.
#[derive(Default)]
struct Said {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    bytes: Option<u64>,
}

impl<R: Read> Tar<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, left: 0, filling: 0 }
    }

    /// The next entry. Skips unread bytes of the current one.
    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        let mut said = Said::default();
        loop {
            self.pass()?;
            let Some(head) = self.head()? else { return Ok(None) };
            let bytes = number(&head[124..136])?;
            match head[156] {
                b'L' => said.path = Some(text(&self.record(bytes, NAME_BYTES_MAX)?)),
                b'K' => said.target = Some(text(&self.record(bytes, NAME_BYTES_MAX)?)),
                b'x' => fields(&self.record(bytes, FIELDS_BYTES_MAX)?, &mut said)?,
                // Global records: comments in practice.
                b'g' => drop(self.record(bytes, FIELDS_BYTES_MAX)?),
                kind => return self.entry(&head, kind, bytes, said).map(Some),
            }
        }
    }

    /// Reads bytes of the current entry.
    pub(super) fn body(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.input.read(&mut buffer[..most])?;
        if read == 0 && most > 0 {
            return Err(wrong("truncated file"));
        }
        self.left -= read as u64;
        Ok(read)
    }

    fn entry(&mut self, head: &[u8; BLOCK], kind: u8, bytes: u64, said: Said) -> io::Result<Entry> {
        let name = match said.path {
            Some(name) => name,
            // The prefix of a long name.
            None if &head[257..263] == b"ustar\0" && head[345] != 0 => {
                [text(&head[345..500]), text(&head[..100])].join(&b'/')
            }
            None => text(&head[..100]),
        };
        let target = said.target.unwrap_or_else(|| text(&head[157..257]));
        let bytes = said.bytes.unwrap_or(bytes);
        if name.len() as u64 > NAME_BYTES_MAX || target.len() as u64 > NAME_BYTES_MAX {
            return Err(wrong("name too long"));
        }
        let kind = match kind {
            // Old archives mark directories by a trailing slash.
            b'0' | 0 | b'7' if name.ends_with(b"/") => Kind::Folder,
            b'0' | 0 | b'7' => Kind::File,
            b'1' => Kind::Link(path(target)),
            b'2' => Kind::Symlink(path(target)),
            b'5' => Kind::Folder,
            _ => Kind::Other,
        };
        // Only files have bytes, whatever the size says; sparse files and the like are skipped.
        let has = if matches!(kind, Kind::File | Kind::Other) { bytes } else { 0 };
        self.expect(has)?;
        let mode = u32::try_from(number(&head[100..108])?).unwrap_or_default();
        Ok(Entry { path: path(name), kind, mode, bytes: has })
    }

    fn expect(&mut self, bytes: u64) -> io::Result<()> {
        let whole = bytes.checked_next_multiple_of(BLOCK as u64);
        self.filling = whole.ok_or_else(|| wrong("file too large"))? - bytes;
        self.left = bytes;
        Ok(())
    }

    fn record(&mut self, bytes: u64, most: u64) -> io::Result<Vec<u8>> {
        if bytes > most {
            return Err(wrong("extension record too long"));
        }
        self.expect(bytes)?;
        let mut record = Vec::new();
        (&mut self.input).take(bytes).read_to_end(&mut record)?;
        if record.len() as u64 != bytes {
            return Err(wrong("truncated extension record"));
        }
        self.left = 0;
        Ok(record)
    }

    fn pass(&mut self) -> io::Result<()> {
        let rest = self.left + self.filling;
        let passed = io::copy(&mut (&mut self.input).take(rest), &mut io::sink())?;
        (self.left, self.filling) = (0, 0);
        match passed == rest {
            true => Ok(()),
            false => Err(wrong("truncated file")),
        }
    }

    /// The next header. None at the end: a block of zeros, or the end of input.
    fn head(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        let mut head = [0; BLOCK];
        let mut read = 0;
        while read < BLOCK {
            match self.input.read(&mut head[read..])? {
                0 if read == 0 => return Ok(None),
                0 => return Err(wrong("truncated header")),
                more => read += more,
            }
        }
        if head.iter().all(|b| *b == 0) {
            return Ok(None);
        }
        let spaces = |at: usize| (148..156).contains(&at);
        let sum =
            head.iter().enumerate().map(|(at, b)| if spaces(at) { 32 } else { u64::from(*b) });
        match number(&head[148..156])? == sum.sum::<u64>() {
            true => Ok(Some(head)),
            false => Err(wrong("wrong header checksum")),
        }
    }
}

/// Parses pax records: `LENGTH NAME=VALUE\n`, repeated.
fn fields(mut record: &[u8], said: &mut Said) -> io::Result<()> {
    while !record.is_empty() {
        let space = record
            .iter()
            .position(|b| *b == b' ')
            .ok_or_else(|| wrong("pax field without length"))?;
        let length = std::str::from_utf8(&record[..space]).ok().and_then(|text| text.parse().ok());
        let length: usize = length.ok_or_else(|| wrong("pax field without length"))?;
        let field = record.get(space + 1..length).and_then(|field| field.strip_suffix(b"\n"));
        let field = field.ok_or_else(|| wrong("wrong length of a pax field"))?;
        record = &record[length..];
        let Some(at) = field.iter().position(|b| *b == b'=') else {
            return Err(wrong("pax field without value"));
        };
        let (name, value) = (&field[..at], &field[at + 1..]);
        match name {
            b"path" => said.path = Some(value.to_vec()),
            b"linkpath" => said.target = Some(value.to_vec()),
            b"size" => {
                let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                said.bytes = Some(size.ok_or_else(|| wrong("malformed size"))?);
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An entry as in an archive.
    pub(in super::super) fn entry(name: &str, kind: u8, target: &str, body: &[u8]) -> Vec<u8> {
        sized(name, kind, target, body, body.len() as u64)
    }

    fn sized(name: &str, kind: u8, target: &str, body: &[u8], size: u64) -> Vec<u8> {
        let mut head = [0; BLOCK];
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[100..107].copy_from_slice(b"0000755");
        head[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        head[156] = kind;
        head[157..157 + target.len()].copy_from_slice(target.as_bytes());
        head[257..263].copy_from_slice(b"ustar\0");
        head[148..156].fill(b' ');
        let sum: u32 = head.iter().map(|b| u32::from(*b)).sum();
        head[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let mut all = head.to_vec();
        all.extend(body);
        all.resize(all.len().next_multiple_of(BLOCK), 0);
        all
    }

    fn read(archive: &[u8]) -> io::Result<Vec<(String, Kind, String)>> {
        let mut tar = Tar::new(archive);
        let mut all = Vec::new();
        while let Some(entry) = tar.next()? {
            let mut body = vec![0; entry.bytes as usize];
            let mut read = 0;
            while read < body.len() {
                read += tar.body(&mut body[read..])?;
            }
            let body = String::from_utf8_lossy(&body).into_owned();
            all.push((entry.path.to_string_lossy().into_owned(), entry.kind, body));
        }
        Ok(all)
    }

    #[test]
    fn names_files_and_links_are_read_as_they_were_written() {
        let long = "d/".repeat(100) + "x";
        let pax = format!("{} path={long}\n", "211 path=\n".len() + long.len());
        assert_eq!(pax.len(), 211);
        let archive = [
            entry("a/", b'5', "", b""),
            entry("a/f", b'0', "", b"hello"),
            entry("a/s", b'2', "../f", b""),
            entry("a/h", b'1', "a/f", b""),
            entry("././@LongLink", b'L', "", format!("{long}\0").as_bytes()),
            entry("cut", b'0', "", b"1"),
            entry("pax", b'x', "", pax.as_bytes()),
            entry("cut", b'0', "", b"2"),
            entry("null", b'3', "", b""),
            vec![0; 1_024],
        ]
        .concat();
        let found = read(&archive).expect("an archive");
        let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["a/", "a/f", "a/s", "a/h", &long, &long, "null"]);
        assert_eq!(found[1].2, "hello");
        assert_eq!(found[2].1, Kind::Symlink("../f".into()));
        assert_eq!(found[3].1, Kind::Link("a/f".into()));
        assert_eq!((found[4].2.as_str(), found[5].2.as_str()), ("1", "2"));
        assert_eq!(found[6].1, Kind::Other);
    }

    #[test]
    fn what_is_cut_off_or_lies_is_refused() {
        let whole = entry("f", b'0', "", &[7; 600]);
        for length in [1, 100, 511, 513, 1_000, 1_100] {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        let mut sum = whole.clone();
        sum[0] = b'g';
        assert!(read(&sum).is_err());
        // A name of a gigabyte is not read at all.
        assert!(read(&sized("x", b'L', "", b"", 1 << 30)).is_err());
        assert!(read(&sized("x", b'x', "", b"", 1 << 30)).is_err());
        assert!(read(&entry("x", b'x', "", b"999 path=a\n")).is_err());
        assert!(read(&entry("x", b'x', "", b"3 a\n")).is_err());
    }

    #[test]
    fn large_numbers_have_their_own_spelling() {
        let mut field = [0; 12];
        field[0] = 0x80;
        field[11] = 9;
        assert_eq!(number(&field).expect("a number"), 9);
        field[1] = 1;
        assert!(number(&field).is_err());
        assert_eq!(number(b" 0000644\0").expect("a number"), 0o644);
        assert!(number(b"0000648\0").is_err());
    }
}
