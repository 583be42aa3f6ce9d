//! Integer formulas that more than one rule uses (SPEC §1, §4).
//!
//! Consensus: a change here forks the chain.
//!
//! Every product is taken in 256 bits and every result is checked: a caller sees `None`, never a wrapped number.

use alloy_primitives::U256;

/// One second's worth of base units in every formula that has a nine-digit fixed point.
pub const NANO: u64 = 1_000_000_000;

/// `floor(log2(n) · 10^9)` as SPEC §4 spells it: squaring the mantissa yields one binary digit after another.
///
/// There is no logarithm of 0; it reads as 0, like that of 1.
pub fn log2_nano(n: u64) -> u64 {
    let Some(e) = n.checked_ilog2() else { return 0 };
    let mut x = u128::from(n) << (63 - e);
    let mut frac = 0u64;
    for bit in (0..32).rev() {
        x = (x * x) >> 63;
        if x >= 1 << 64 {
            x >>= 1;
            frac |= 1 << bit;
        }
    }
    u64::from(e) * NANO + ((frac * NANO) >> 32)
}

/// `floor(a · b / d)` with a 256-bit product. `None` if `d` is 0 or the quotient is 2^128 or more.
pub fn mul_div(a: u128, b: u128, d: u128) -> Option<u128> {
    if d == 0 {
        return None;
    }
    to_u128(wide_mul(a, b) / U256::from(d))
}

/// `floor(a · b / 2^shift)`. `None` if that is 2^128 or more.
pub fn mul_shr(a: u128, b: u128, shift: usize) -> Option<u128> {
    to_u128(wide_mul(a, b) >> shift)
}

/// `a · b`, which always fits.
pub fn wide_mul(a: u128, b: u128) -> U256 {
    U256::from(a) * U256::from(b)
}

/// The number, if it is below 2^128.
pub fn to_u128(n: U256) -> Option<u128> {
    u128::try_from(n).ok()
}

/// `ceil(log2(n))`; 0 for `n` ≤ 1.
pub const fn ceil_log2(n: u64) -> u32 {
    if n <= 1 { 0 } else { u64::BITS - (n - 1).leading_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_have_whole_logarithms() {
        for e in 0..64u32 {
            assert_eq!(log2_nano(1 << e), u64::from(e) * NANO);
        }
    }

    #[test]
    fn known_logarithms_are_floored() {
        // log2 3 = 1.584962500721…, log2 10 = 3.321928094887…, log2 1000 = 9.965784284662…
        assert_eq!(log2_nano(3), 1_584_962_500);
        assert_eq!(log2_nano(10), 3_321_928_094);
        assert_eq!(log2_nano(1000), 9_965_784_284);
        assert!(log2_nano(u64::MAX) < 64 * NANO);
        assert_eq!(log2_nano(0), 0);
    }

    #[test]
    fn logarithm_never_falls() {
        let mut last = 0;
        for n in 1..5000 {
            assert!(log2_nano(n) >= last);
            last = log2_nano(n);
        }
    }

    #[test]
    fn mul_div_keeps_the_whole_product() {
        assert_eq!(mul_div(u128::MAX, u128::MAX, u128::MAX), Some(u128::MAX));
        assert_eq!(mul_div(7, 3, 2), Some(10));
    }

    #[test]
    fn mul_div_refuses_what_does_not_fit() {
        assert_eq!(mul_div(u128::MAX, 2, 1), None);
        assert_eq!(mul_div(1, 1, 0), None);
        assert_eq!(mul_shr(u128::MAX, u128::MAX, 127), None);
        assert_eq!(mul_shr(u128::MAX, 1 << 64, 64), Some(u128::MAX));
    }

    #[test]
    fn ceil_log2_rounds_up() {
        let got: Vec<u32> = [0, 1, 2, 3, 4, 5, 8, 9, u64::MAX].map(ceil_log2).to_vec();
        assert_eq!(got, [0, 0, 1, 2, 2, 3, 3, 4, 64]);
    }
}
