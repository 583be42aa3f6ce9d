//! Numbers and strings of bytes, written and read. Reading takes nothing that is not there.

use super::ThawError;

pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

type Read<T> = Result<T, ThawError>;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(ThawError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Read<u8> {
        self.take(1).map(|taken| taken[0])
    }

    pub(super) fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(ThawError::Malformed("a flag")),
        }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| ThawError::Truncated)
    }

    /// Seven bits a byte, the lowest first.
    pub(super) fn number(&mut self) -> Read<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ThawError::Malformed("a number"))
    }

    pub(super) fn signed(&mut self) -> Read<i64> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(super) fn small(&mut self) -> Read<u32> {
        u32::try_from(self.number()?).map_err(|_| ThawError::Malformed("a number"))
    }

    /// How many things follow, each of at least one byte.
    pub(super) fn count(&mut self) -> Read<usize> {
        let count = usize::try_from(self.number()?).map_err(|_| ThawError::Truncated)?;
        if count > self.left() { Err(ThawError::Truncated) } else { Ok(count) }
    }

    pub(super) fn blob(&mut self) -> Read<&'a [u8]> {
        let count = self.count()?;
        self.take(count)
    }
}

pub(super) fn put_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_number(out, (value << 1 ^ value >> 63) as u64);
}
