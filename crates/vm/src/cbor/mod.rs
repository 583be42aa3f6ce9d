//! Canonical CBOR (RFC 8949): one form for one value.
//!
//! Consensus: a change here forks the chain.
//!
//! Integers take their shortest form, and tags 2 and 3 beyond 64 bits; floats always have 64 bits;
//! lengths are definite; the keys of a map are sorted by the length of their bytes, then by the bytes,
//! as `cowboy-sdk` does it. `decode` reads that form and no other, so that what it accepts is what
//! `encode` would have written.

mod read;
mod write;

pub(crate) use read::{Form, Sink, read, text_under};
pub(crate) use write::{put_big, put_bytes, put_float, put_head, put_int, put_text};

use std::fmt;

use num_bigint::BigInt;

use crate::host::HostValue;

pub const DEPTH_MAX: usize = 64;
/// Bytes of an integer beyond 64 bits: what the machine's integers can hold.
pub(crate) const BIG_BYTES_MAX: usize = (crate::limits::INT_BITS_MAX / 8) as usize;

pub(crate) mod major {
    pub(crate) const UNSIGNED: u8 = 0;
    pub(crate) const NEGATIVE: u8 = 1;
    pub(crate) const BYTES: u8 = 2;
    pub(crate) const TEXT: u8 = 3;
    pub(crate) const LIST: u8 = 4;
    pub(crate) const MAP: u8 = 5;
    pub(crate) const TAG: u8 = 6;
    pub(crate) const SIMPLE: u8 = 7;
}

/// Why bytes are no value, or a value has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CborError {
    /// The bytes end too early.
    Truncated,
    /// Bytes follow the value.
    Trailing,
    /// Lengths must be known at the front.
    Indefinite,
    /// More than `DEPTH_MAX` containers inside each other.
    Depth,
    /// Text that is not UTF-8.
    Text,
    /// A list or a map as the key of a map.
    Key,
    /// The same key twice in a map.
    Duplicate,
    /// Not the canonical form of its value.
    Form,
    /// An integer beyond what the machine can hold.
    Number,
    /// A tag or simple value that stands for nothing here.
    Unsupported,
}

impl fmt::Display for CborError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CborError::Truncated => "CBOR ends too early",
            CborError::Trailing => "bytes follow the CBOR value",
            CborError::Indefinite => "CBOR of indefinite length is not read here",
            CborError::Depth => "the value is nested more than 64 deep",
            CborError::Text => "CBOR text is not UTF-8",
            CborError::Key => "lists and maps cannot be keys of a map",
            CborError::Duplicate => "a key stands twice in a map",
            CborError::Form => "CBOR is not in its canonical form",
            CborError::Number => "the integer has more than 4096 bits",
            CborError::Unsupported => "CBOR has a tag or simple value that is not read here",
        })
    }
}

impl std::error::Error for CborError {}

/// The canonical bytes of a value.
pub fn encode(value: &HostValue) -> Result<Vec<u8>, CborError> {
    let mut out = Vec::new();
    put(&mut out, value, 0)?;
    Ok(out)
}

/// The value of canonical bytes.
pub fn decode(bytes: &[u8]) -> Result<HostValue, CborError> {
    read(bytes, Form::Canonical, &mut Plain)
}

fn put(out: &mut Vec<u8>, value: &HostValue, depth: usize) -> Result<(), CborError> {
    if depth > DEPTH_MAX {
        return Err(CborError::Depth);
    }
    match value {
        HostValue::None => out.push(0xf6),
        HostValue::Bool(truth) => out.push(0xf4 + u8::from(*truth)),
        HostValue::Int(int) => put_int(out, i128::from(*int)),
        HostValue::Big(bytes) => put_big(out, &BigInt::from_signed_bytes_be(bytes))?,
        HostValue::Float(float) => put_float(out, *float),
        HostValue::Str(text) => put_text(out, text),
        HostValue::Bytes(bytes) => put_bytes(out, bytes),
        HostValue::List(items) => {
            put_head(out, major::LIST, items.len() as u64);
            for item in items {
                put(out, item, depth + 1)?;
            }
        }
        HostValue::Dict(pairs) => {
            let mut sorted = Vec::with_capacity(pairs.len());
            for (key, value) in pairs {
                if matches!(key, HostValue::List(_) | HostValue::Dict(_)) {
                    return Err(CborError::Key);
                }
                sorted.push((encode(key)?, value));
            }
            write::sort_keys(&mut sorted)?;
            put_head(out, major::MAP, sorted.len() as u64);
            for (key, value) in sorted {
                out.extend(key);
                put(out, value, depth + 1)?;
            }
        }
    }
    Ok(())
}

pub(crate) use write::sort_keys;

/// Makes values of the host.
struct Plain;

impl Sink for Plain {
    type Item = HostValue;
    type Fault = CborError;

    fn pay(&mut self, _: usize) -> Result<(), CborError> {
        Ok(())
    }
    fn none(&mut self) -> HostValue {
        HostValue::None
    }
    fn truth(&mut self, truth: bool) -> HostValue {
        HostValue::Bool(truth)
    }
    fn float(&mut self, float: f64) -> HostValue {
        HostValue::Float(float)
    }
    fn int(&mut self, int: i128) -> Result<HostValue, CborError> {
        Ok(match i64::try_from(int) {
            Ok(int) => HostValue::Int(int),
            Err(_) => HostValue::Big(BigInt::from(int).to_signed_bytes_be()),
        })
    }
    fn big(&mut self, big: BigInt) -> Result<HostValue, CborError> {
        Ok(HostValue::Big(big.to_signed_bytes_be()))
    }
    fn text(&mut self, text: &str) -> Result<HostValue, CborError> {
        Ok(HostValue::Str(text.to_owned()))
    }
    fn bytes(&mut self, bytes: &[u8]) -> Result<HostValue, CborError> {
        Ok(HostValue::Bytes(bytes.to_vec()))
    }
    fn list(&mut self, items: Vec<HostValue>) -> Result<HostValue, CborError> {
        Ok(HostValue::List(items))
    }
    fn map(&mut self, pairs: Vec<(HostValue, HostValue)>) -> Result<HostValue, CborError> {
        Ok(HostValue::Dict(pairs))
    }
}

#[cfg(test)]
mod tests;
