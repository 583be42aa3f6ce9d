//! Money as people read it.

use core::fmt;
use remuda_protocol::primitives::Amount;

/// Writes an amount in CBY, with as many decimals as it takes: `1,234.5 CBY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InCby(pub Amount);

impl fmt::Display for InCby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = Amount::CBY.get();
        let (whole, rest) = (self.0.get() / unit, self.0.get() % unit);
        let digits = whole.to_string();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        if rest > 0 {
            let decimals = format!("{rest:09}");
            write!(f, ".{}", decimals.trim_end_matches('0'))?;
        }
        f.write_str(" CBY")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_as_many_decimals_as_it_takes() {
        let text = |units| InCby(Amount(units)).to_string();
        assert_eq!(text(0), "0 CBY");
        assert_eq!(text(7), "0.000000007 CBY");
        assert_eq!(text(1_234_500_000_000), "1,234.5 CBY");
        assert_eq!(text(Amount::cby(50_000).get()), "50,000 CBY");
        assert_eq!(text(Amount::cby(100).get() - 1), "99.999999999 CBY");
    }
}
