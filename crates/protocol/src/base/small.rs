//! Byte strings of which short ones are kept in place.
//!
//! Local: a change here needs no agreement among validators: equality and order are those of
//! the bytes.
//!
//! Keys and most values of the state have a few dozen bytes. Kept in place they cost no allocation,
//! and comparing or copying one follows no pointer.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes, up to `N` of them in place.
#[derive(Clone)]
pub struct Small<const N: usize>(Stored<N>);

#[derive(Clone)]
enum Stored<const N: usize> {
    Short(u8, [u8; N]),
    Long(Arc<[u8]>),
}

impl<const N: usize> Small<N> {
    /// A copy of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(match u8::try_from(bytes.len()) {
            Ok(length) if bytes.len() <= N => {
                let mut short = [0; N];
                short[..bytes.len()].copy_from_slice(bytes);
                Stored::Short(length, short)
            }
            _ => Stored::Long(bytes.into()),
        })
    }

    /// The first bytes as a number. Short strings are filled up with zeros, long ones have as many.
    pub(crate) fn head(&self) -> u64 {
        let first = match &self.0 {
            Stored::Short(_, bytes) => bytes.first_chunk(),
            Stored::Long(bytes) => bytes.first_chunk(),
        };
        first.copied().map_or(0, u64::from_be_bytes)
    }
}

impl<const N: usize> Deref for Small<N> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Stored::Short(length, bytes) => &bytes[..usize::from(*length)],
            Stored::Long(bytes) => bytes,
        }
    }
}

impl<const N: usize> Borrow<[u8]> for Small<N> {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl<const N: usize> From<&[u8]> for Small<N> {
    fn from(bytes: &[u8]) -> Self {
        Self::new(bytes)
    }
}

impl<const N: usize> From<Vec<u8>> for Small<N> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(&bytes)
    }
}

impl<const N: usize> fmt::Debug for Small<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// As byte strings are ordered; mostly the heads tell.
impl<const N: usize> Ord for Small<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.head().cmp(&other.head()).then_with(|| (**self).cmp(&**other))
    }
}
impl<const N: usize> PartialOrd for Small<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<const N: usize> PartialEq for Small<N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
impl<const N: usize> Eq for Small<N> {}
