//! A value that can still be read as it was when a waiting job was submitted.
//!
//! A job draws its committee some views after its submission, from the candidates of the
//! submission block. A node that was running kept them; a node that restarts has only the state.
//! So a value that selection reads keeps its older versions for as long as a waiting job may
//! need them, which is a handful of blocks.

use crate::base::codec::{Decode, DecodeError, Encode, Reader};
use crate::base::primitives::Height;

/// A moment inside a block. Selections in a block see what was written before its transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

impl Stamp {
    /// Before the transactions: visible to the block's own selections.
    pub const fn opening(height: Height) -> Self {
        Self(height.get().saturating_mul(2))
    }

    /// From the transactions on: visible from the next block.
    pub const fn body(height: Height) -> Self {
        Self(height.get().saturating_mul(2).saturating_add(1))
    }
}

impl Encode for Stamp {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
}
impl Decode for Stamp {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(u64::decode(input)?))
    }
}

/// The newest version, and older ones that may still be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned<T> {
    current: T,
    since: Stamp,
    /// Ascending by stamp, all before `since`.
    past: Vec<(Stamp, T)>,
}

impl<T: Clone + PartialEq> Versioned<T> {
    pub fn new(current: T, since: Stamp) -> Self {
        Self { current, since, past: Vec::new() }
    }

    pub fn current(&self) -> &T {
        &self.current
    }

    /// The version that was the newest at `stamp`, if there was one and it is kept.
    pub fn at(&self, stamp: Stamp) -> Option<&T> {
        if self.since <= stamp {
            return Some(&self.current);
        }
        self.past.iter().rev().find(|(since, _)| *since <= stamp).map(|(_, value)| value)
    }

    /// Writes a version. `oldest` is the earliest stamp that may still be asked for.
    pub fn write(&mut self, value: T, now: Stamp, oldest: Option<Stamp>) {
        if value != self.current {
            if self.since < now {
                let old = core::mem::replace(&mut self.current, value);
                self.past.push((self.since, old));
                self.since = now;
            } else {
                self.current = value;
            }
        }
        self.forget(oldest);
    }

    /// Drops versions that no read may need: those that were replaced at or before `oldest`.
    fn forget(&mut self, oldest: Option<Stamp>) {
        let Some(oldest) = oldest else {
            self.past.clear();
            return;
        };
        let replaced_at = |i: usize| self.past.get(i + 1).map_or(self.since, |(since, _)| *since);
        let stale = (0..self.past.len()).take_while(|&i| replaced_at(i) <= oldest).count();
        self.past.drain(..stale);
    }
}

impl<T: Encode> Encode for Versioned<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.current.encode(out);
        self.since.encode(out);
        self.past.encode(out);
    }
}
impl<T: Decode> Decode for Versioned<T> {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            current: T::decode(input)?,
            since: Stamp::decode(input)?,
            past: Vec::decode(input)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_version_that_may_be_asked_for_is_kept(
            writes in proptest::collection::vec((1u64..4, 0u8..4), 1..40),
            lag in 0u64..12,
        ) {
            let mut now = 0;
            let mut versioned = Versioned::new(0u8, Stamp(0));
            let mut history = vec![(0u64, 0u8)];
            for (step, value) in writes {
                now += step;
                history.push((now, value));
                let oldest = now.saturating_sub(lag);
                versioned.write(value, Stamp(now), Some(Stamp(oldest)));
                for stamp in oldest..=now {
                    let expected = history.iter().rev().find(|(s, _)| *s <= stamp).unwrap().1;
                    prop_assert_eq!(versioned.at(Stamp(stamp)), Some(&expected));
                }
                prop_assert!(versioned.past.len() as u64 <= lag + 1);
            }
            versioned.write(9, Stamp(now + 1), None);
            prop_assert!(versioned.past.is_empty());
        }
    }
}
