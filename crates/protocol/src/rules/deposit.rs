//! What bytes of the state are held against.
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::codec_struct;
use crate::base::primitives::Amount;
use crate::rules::params::ChainParams;

/// Bytes that a price is for.
const KIB: u128 = 1_024;
/// Overhead of a record: its keys, its indexes, and its fixed fields.
pub const RECORD_BYTES: u64 = 256;
/// Bytes of a runner's records besides its offer: standing, slot, and what selection reads, some of
/// it in older versions.
pub(crate) const RUNNER_BYTES: u64 = 1_024;
/// Default room for the writes of called code: a few small entries.
pub const PROGRAM_BYTES: u64 = 4_096;

/// What this many bytes of the state are held against.
pub fn price(params: &ChainParams, bytes: u64) -> Amount {
    price_of(params.state_deposit_per_kib, bytes)
}

/// The same from the parameter alone.
pub fn price_of(state_deposit_per_kib: u128, bytes: u64) -> Amount {
    // The parameter's range and a state that fits a disk leave room in 128 bits.
    Amount(state_deposit_per_kib.saturating_mul(u128::from(bytes)).div_ceil(KIB))
}

/// What a record that changes in size holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub bytes: u64,
    /// So much, in 1,024ths of a unit: bytes that go and come again change nothing by rounding.
    pub parts: u128,
}
codec_struct!(Held { bytes, parts });

impl Held {
    pub fn amount(&self) -> Amount {
        Amount(self.parts.div_ceil(KIB))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_rounded_up_so_that_no_byte_is_free() {
        let params = ChainParams::one_second();
        assert_eq!(price(&params, 0), Amount::ZERO);
        assert_eq!(price(&params, 1), Amount(97_657));
        assert_eq!(price(&params, 1_024), Amount(params.state_deposit_per_kib));
        assert_eq!(price(&params, 1 << 30), Amount(params.state_deposit_per_kib << 20));
    }
}
