//! Money as people write it, on the command line and in files: `1.5cby`, or base units.

use remuda_protocol::primitives::Amount;
use serde::Deserialize;
use thiserror::Error;

/// Digits after the point that a CBY has.
const DECIMALS: usize = 9;

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AmountError {
    /// Not digits, or a fraction without a unit.
    #[error("write an amount like 1.5cby, or in base units like 1500000000units")]
    NotAnAmount,
    /// A number that may be meant either way.
    #[error("{0} of what? Write {0}cby, or {0}units for base units, of which a CBY has 1000000000")]
    NoUnit(u128),
    /// More digits than there are units.
    #[error("a CBY has {DECIMALS} decimals; write fewer digits after the point")]
    TooFine,
    #[error("that is more money than there can be")]
    TooMuch,
    #[error("an amount of 0 does nothing")]
    Zero,
}

/// On a command line, where a missing unit is a mistake a billion times too small: `1.5cby`, or
/// `1500000000units`.
pub fn parse_with_unit(text: &str) -> Result<Amount, AmountError> {
    let amount = parse_amount(text)?;
    let bare = text.trim().bytes().all(|byte| byte.is_ascii_digit());
    if bare { Err(AmountError::NoUnit(amount.get())) } else { Ok(amount) }
}

/// The same for a limit, where 0 means something.
pub fn parse_limit(text: &str) -> Result<Amount, AmountError> {
    match parse_with_unit(text) {
        Err(AmountError::Zero) => Ok(Amount::ZERO),
        parsed => parsed,
    }
}

/// `1.5cby`, or base units: `1500000000`, `1500000000units`.
pub fn parse_amount(text: &str) -> Result<Amount, AmountError> {
    let lower = text.trim().to_ascii_lowercase();
    let amount = match lower.strip_suffix("cby") {
        Some(number) => in_cby(number.trim_end())?,
        None => digits(lower.strip_suffix("units").unwrap_or(&lower).trim_end())?,
    };
    if amount == 0 { Err(AmountError::Zero) } else { Ok(Amount(amount)) }
}

/// An amount in a file: a text as on the command line, or base units as a number. Here 0 means
/// something: it is a price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Money(pub Amount);

#[derive(Deserialize)]
#[serde(untagged, expecting = "an amount like \"1.5cby\", or base units like \"1500000000\"")]
enum Written {
    Text(String),
    Units(u64),
}

impl TryFrom<Written> for Money {
    type Error = AmountError;
    fn try_from(written: Written) -> Result<Self, AmountError> {
        match written {
            Written::Units(units) => Ok(Self(Amount(units.into()))),
            Written::Text(text) => match parse_amount(&text) {
                Err(AmountError::Zero) => Ok(Self(Amount::ZERO)),
                other => other.map(Self),
            },
        }
    }
}

fn in_cby(number: &str) -> Result<u128, AmountError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if fraction.len() > DECIMALS {
        return Err(AmountError::TooFine);
    }
    let units = digits(whole)?.checked_mul(Amount::CBY.get()).ok_or(AmountError::TooMuch)?;
    // "5" after the point is half a CBY: the missing digits are zeros at the end.
    let rest = digits(fraction)? * 10_u128.pow((DECIMALS - fraction.len()) as u32);
    units.checked_add(rest).ok_or(AmountError::TooMuch)
}

fn digits(text: &str) -> Result<u128, AmountError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(AmountError::NotAnAmount);
    }
    text.parse().map_err(|_| AmountError::TooMuch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_command_line_an_amount_has_a_unit() {
        assert_eq!(parse_with_unit("1.5cby"), Ok(Amount(1_500_000_000)));
        assert_eq!(parse_with_unit("15units"), Ok(Amount(15)));
        assert_eq!(parse_with_unit(" 15 "), Err(AmountError::NoUnit(15)));
        let words = parse_with_unit("15").unwrap_err().to_string();
        assert!(words.contains("15cby") && words.contains("15units"), "{words}");
        assert_eq!(parse_with_unit("1.5units"), Err(AmountError::NotAnAmount));
        assert_eq!(parse_with_unit("units"), Err(AmountError::NotAnAmount));
    }

    #[test]
    fn amounts_come_in_cby_or_in_base_units() {
        assert_eq!(parse_amount("1500000000"), Ok(Amount(1_500_000_000)));
        for text in ["1.5cby", "1.5CBY", "1.5 CBY", "1.500000000cby"] {
            assert_eq!(parse_amount(text), Ok(Amount(1_500_000_000)), "{text}");
        }
        assert_eq!(parse_amount("0.000000001cby"), Ok(Amount(1)));
        assert_eq!(parse_amount(&u128::MAX.to_string()), Ok(Amount(u128::MAX)));
    }

    #[test]
    fn files_may_say_it_in_cby_too() {
        let read = |json: &str| serde_json::from_str::<Money>(json).map(|Money(amount)| amount);
        assert_eq!(read("\"1.5cby\"").unwrap(), Amount(1_500_000_000));
        assert_eq!(read("\"1500000000\"").unwrap(), read("1500000000").unwrap());
        assert_eq!(read("\"0\"").unwrap(), Amount::ZERO);
        for wrong in ["\"1.5\"", "1.5", "-1", "null", "\"much\""] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("1.5cby"), "{wrong}: {error}");
        }
    }

    #[test]
    fn what_could_mean_two_things_means_nothing() {
        for text in ["", "cby", "1.5", ".5cby", "1.cby", "-1", "+1", "1,000cby", "1e9", "0x10"] {
            assert_eq!(parse_amount(text), Err(AmountError::NotAnAmount), "{text}");
        }
        assert_eq!(parse_amount("0.0000000001cby"), Err(AmountError::TooFine));
        assert_eq!(parse_amount(&format!("{}cby", u128::MAX)), Err(AmountError::TooMuch));
        assert_eq!(parse_amount(&"9".repeat(40)), Err(AmountError::TooMuch));
        for zero in ["0", "0cby", "0.0cby"] {
            assert_eq!(parse_amount(zero), Err(AmountError::Zero), "{zero}");
        }
    }
}
