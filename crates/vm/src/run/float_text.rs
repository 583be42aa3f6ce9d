//! How floats are shown: as CPython shows them.

/// A float as Python writes it: the shortest digits that read back the same.
pub(crate) fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = shortest(value);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        return positional(digits, exponent);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// The fewest digits that read back as the value; of those, the ones nearest to it, the even ones of two
/// that are equally near.
fn shortest(value: f64) -> String {
    let scientific = format!("{value:e}");
    let digits = scientific.bytes().filter(u8::is_ascii_digit).count();
    // Two can be equally near only where the digits are about to run out.
    if digits < 15 {
        return scientific;
    }
    let mantissa = scientific.split('e').next().unwrap_or("");
    let count = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let nearest = format!("{value:.*e}", count - 1);
    if nearest.parse() == Ok(value) { nearest } else { scientific }
}

/// Digits such as `-1.25` with an exponent, without one.
fn positional(digits: &str, exponent: i32) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let digits: String = digits.chars().filter(|char| *char != '.').collect();
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits:0<whole$}.0");
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}
