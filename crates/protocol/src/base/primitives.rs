//! The numbers and names of the chain, one type for each that could be swapped with another.
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::{Decode, DecodeError, Encode, Reader};
pub use crate::base::math::NANO;
use crate::base::math::mul_div;
pub use alloy_primitives::{Address, B256, U256, keccak256};

/// Identifies a job: `keccak256("cowboy-job-v1:" ‖ chain_id ‖ tx_hash ‖ index)` (SPEC §4).
pub type JobId = B256;
/// Hash of a signed transaction.
pub type TxHash = B256;

/// Parts of the whole in basis points.
pub const BPS: u128 = 10_000;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub $inner);

        impl $name {
            pub const ZERO: Self = Self(0);

            pub const fn get(self) -> $inner {
                self.0
            }
        }
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.0.fmt(f)
            }
        }
        impl From<$inner> for $name {
            fn from(n: $inner) -> Self {
                Self(n)
            }
        }
        impl Encode for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                self.0.encode(out);
            }
        }
        impl Decode for $name {
            fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self(<$inner>::decode(input)?))
            }
        }
    };
}

number! {
    /// A block's height. The only clock there is.
    Height(u64)
}
number! {
    /// A runner's index in presence bitmaps; never reused.
    Slot(u32)
}
number! {
    /// Computation, the first meter.
    Cycles(u64)
}
number! {
    /// Bytes, the second meter.
    Cells(u64)
}
number! {
    /// Money in base units.
    Amount(u128)
}

impl Height {
    /// `blocks` later. Saturates: no rule ever means a height that does not exist.
    pub const fn plus(self, blocks: u64) -> Self {
        Self(self.0.saturating_add(blocks))
    }

    /// `blocks` earlier, at least zero.
    pub const fn minus(self, blocks: u64) -> Self {
        Self(self.0.saturating_sub(blocks))
    }
}

impl Amount {
    pub const CBY: Self = Self(1_000_000_000);

    /// `n` CBY. Only for constants and tests: `n` is small.
    pub const fn cby(n: u128) -> Self {
        Self(n * Self::CBY.0)
    }

    /// The sum, unless it overflows.
    pub fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, unless it is negative.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    pub fn at_most(self, other: Self) -> Self {
        self.min(other)
    }

    /// floor(self · num / den) with a 256-bit product; `None` if it does not fit or `den` is 0.
    pub fn scale(self, num: u128, den: u128) -> Option<Self> {
        mul_div(self.0, num, den).map(Self)
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl core::iter::Sum for Amount {
    /// Sums of money that exists cannot overflow: the supply is a `u128`.
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        Self(iter.map(|a| a.0).sum())
    }
}
