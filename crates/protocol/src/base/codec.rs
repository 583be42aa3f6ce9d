//! Canonical encoding: one value, one byte string.
//!
//! Consensus: a change here forks the chain.
//!
//! Integers are fixed-width big-endian; lists are a `u32` count and their items; options and
//! booleans are one byte, 0 or 1; enums are one tag byte. Decoding is strict: every other byte
//! string is refused, and what it allocates is bounded by the length of the input, because every
//! encoded item takes at least one byte. No type here is recursive, so neither is decoding.

use alloy_primitives::{Address, B256};
use thiserror::Error;

/// Why a byte string is not the encoding of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The input ends inside a value.
    #[error("the input ends inside a value")]
    Truncated,
    /// Bytes are left after the value.
    #[error("{0} bytes are left after the value")]
    TrailingBytes(usize),
    /// A tag that no variant has.
    #[error("{0} is not a known tag of {1}")]
    UnknownTag(u8, &'static str),
    /// A boolean or option byte that is neither 0 nor 1.
    #[error("{0} is neither 0 nor 1")]
    NotABit(u8),
    /// A text that is not UTF-8.
    #[error("a text is not UTF-8")]
    NotText,
    /// A list that claims more items than there are bytes.
    #[error("a list claims {0} items, more than there are bytes")]
    ListTooLong(u32),
    /// A value outside its range.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
}

/// The rest of an input.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn take(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let (head, tail) = self.0.split_at_checked(n).ok_or(DecodeError::Truncated)?;
        self.0 = tail;
        Ok(head)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, tail) = self.0.split_first_chunk().ok_or(DecodeError::Truncated)?;
        self.0 = tail;
        Ok(*head)
    }

    /// The count of a list, refused if there cannot be that many items.
    pub fn count(&mut self) -> Result<usize, DecodeError> {
        let n = u32::decode(self)?;
        if n as usize > self.0.len() {
            return Err(DecodeError::ListTooLong(n));
        }
        Ok(n as usize)
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> usize {
        self.0.len()
    }
}

pub trait Encode {
    fn encode(&self, out: &mut Vec<u8>);

    fn to_bytes(&self) -> Vec<u8> {
        // Records of fixed length take no more than they do in memory: one allocation.
        let mut out = Vec::with_capacity(core::mem::size_of_val(self));
        self.encode(&mut out);
        out
    }
}

pub trait Decode: Sized {
    /// Reads one value from the front.
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// Reads one value that must take all of `bytes`.
    fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut input = Reader::new(bytes);
        let value = Self::decode(&mut input)?;
        match input.remaining() {
            0 => Ok(value),
            n => Err(DecodeError::TrailingBytes(n)),
        }
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Encode for $ty {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }
        }
        impl Decode for $ty {
            fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self::from_be_bytes(input.array()?))
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, u128, i128);

impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
}
impl Decode for bool {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match u8::decode(input)? {
            0 => Ok(false),
            1 => Ok(true),
            n => Err(DecodeError::NotABit(n)),
        }
    }
}

impl<const N: usize> Encode for [u8; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}
impl<const N: usize> Decode for [u8; N] {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.array()
    }
}

impl Encode for Address {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_slice());
    }
}
impl Decode for Address {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self::new(input.array()?))
    }
}
impl Encode for B256 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_slice());
    }
}
impl Decode for B256 {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self::new(input.array()?))
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            None => out.push(0),
            Some(value) => {
                out.push(1);
                value.encode(out);
            }
        }
    }
}
impl<T: Decode> Decode for Option<T> {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(if bool::decode(input)? { Some(T::decode(input)?) } else { None })
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
        self.1.encode(out);
    }
}
impl<A: Decode, B: Decode> Decode for (A, B) {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((A::decode(input)?, B::decode(input)?))
    }
}

fn encode_count(n: usize, out: &mut Vec<u8>) {
    // Nothing in the protocol holds 2^32 items: transactions are at most 128 KiB.
    u32::try_from(n).expect("a list of fewer than 2^32 items").encode(out);
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_count(self.len(), out);
        for item in self {
            item.encode(out);
        }
    }
}
impl<T: Decode> Decode for Vec<T> {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        // Grown item by item: a count alone must not allocate `count · size_of::<T>()`.
        (0..input.count()?).map(|_| T::decode(input)).collect::<Result<_, _>>()
    }
}

impl Encode for String {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_count(self.len(), out);
        out.extend_from_slice(self.as_bytes());
    }
}
impl Decode for String {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let n = input.count()?;
        let text = core::str::from_utf8(input.take(n)?).map_err(|_| DecodeError::NotText)?;
        Ok(text.to_owned())
    }
}

/// A byte string. (`Vec<u8>` would do, but byte by byte.)
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub Vec<u8>);

impl core::ops::Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}
impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}
impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}
impl Encode for Bytes {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_count(self.0.len(), out);
        out.extend_from_slice(&self.0);
    }
}
impl Decode for Bytes {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let n = input.count()?;
        Ok(Self(input.take(n)?.to_vec()))
    }
}

/// Encodes a struct field by field, in the order given.
macro_rules! codec_struct {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::base::codec::Encode for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                $( $crate::base::codec::Encode::encode(&self.$field, out); )*
            }
        }
        impl $crate::base::codec::Decode for $name {
            fn decode(
                input: &mut $crate::base::codec::Reader<'_>,
            ) -> Result<Self, $crate::base::codec::DecodeError> {
                Ok(Self { $( $field: $crate::base::codec::Decode::decode(input)?, )* })
            }
        }
    };
}
pub(crate) use codec_struct;

/// Encodes an enum as its tag and the fields of the variant.
macro_rules! codec_enum {
    ($name:ident { $($tag:literal => $variant:ident { $($field:tt),* $(,)? }),* $(,)? }) => {
        impl $crate::base::codec::Encode for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $( codec_enum!(@pattern $variant { $($field),* }) => {
                        out.push($tag);
                        $( $crate::base::codec::Encode::encode(codec_enum!(@name $field), out); )*
                    } )*
                }
            }
        }
        impl $crate::base::codec::Decode for $name {
            fn decode(
                input: &mut $crate::base::codec::Reader<'_>,
            ) -> Result<Self, $crate::base::codec::DecodeError> {
                match <u8 as $crate::base::codec::Decode>::decode(input)? {
                    $( $tag => Ok(Self::$variant {
                        $( $field: $crate::base::codec::Decode::decode(input)?, )*
                    }), )*
                    tag => Err($crate::base::codec::DecodeError::UnknownTag(tag, stringify!($name))),
                }
            }
        }
    };
    (@pattern $variant:ident { $($field:tt),* }) => { Self::$variant { $($field),* } };
    (@name $field:tt) => { $field };
}
pub(crate) use codec_enum;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_bytes_are_refused() {
        assert_eq!(u16::from_bytes(&[0, 1, 2]), Err(DecodeError::TrailingBytes(1)));
    }

    #[test]
    fn a_list_cannot_claim_more_items_than_bytes() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 1, 2, 3];
        assert_eq!(Vec::<u8>::from_bytes(&bytes), Err(DecodeError::ListTooLong(u32::MAX)));
    }

    #[test]
    fn booleans_have_one_encoding() {
        assert_eq!(bool::from_bytes(&[2]), Err(DecodeError::NotABit(2)));
        assert_eq!(Option::<u8>::from_bytes(&[0]), Ok(None));
        assert_eq!(Option::<u8>::from_bytes(&[0, 1]), Err(DecodeError::TrailingBytes(1)));
    }
}
