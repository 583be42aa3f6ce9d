//! Money in a file: `"1.5cby"`, or base units.

use remuda_protocol::primitives::Amount;
use serde::Deserialize;
use thiserror::Error;

/// Digits after the point that a CBY has.
const DECIMALS: usize = 9;

/// An amount in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Money(pub Amount);

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("write an amount like \"1.5cby\", or in base units like 1500000000")]
pub struct NotAnAmount;

#[derive(Deserialize)]
#[serde(untagged, expecting = "an amount like \"1.5cby\", or base units like 1500000000")]
enum Written {
    Text(String),
    Units(u64),
}

impl TryFrom<Written> for Money {
    type Error = NotAnAmount;

    fn try_from(written: Written) -> Result<Self, NotAnAmount> {
        match written {
            Written::Units(units) => Ok(Self(Amount(units.into()))),
            Written::Text(text) => parse(&text).map(Self).ok_or(NotAnAmount),
        }
    }
}

fn parse(text: &str) -> Option<Amount> {
    let lower = text.trim().to_ascii_lowercase();
    let Some(number) = lower.strip_suffix("cby") else { return digits(&lower).map(Amount) };
    let (whole, fraction) = number.trim_end().split_once('.').unwrap_or((number.trim_end(), "0"));
    // "5" after the point is half a CBY: the missing digits are zeros at the end.
    let missing = DECIMALS.checked_sub(fraction.len())?;
    let rest = digits(fraction)? * 10_u128.pow(u32::try_from(missing).ok()?);
    digits(whole)?.checked_mul(Amount::CBY.get())?.checked_add(rest).map(Amount)
}

fn digits(text: &str) -> Option<u128> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_come_in_cby_or_in_base_units() {
        assert_eq!(parse("1.5cby"), Some(Amount(1_500_000_000)));
        assert_eq!(parse("10000 CBY"), Some(Amount::cby(10_000)));
        assert_eq!(parse("7"), Some(Amount(7)));
        assert_eq!(parse("0.000000001cby"), Some(Amount(1)));
        for wrong in ["", "cby", "1.5", "-1cby", "0.0000000001cby", "1e3cby", "1..2cby"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
