//! Money, numbers and times as people read them.

use remuda_client::money::InCby;
use remuda_protocol::primitives::Amount;

/// "1,234.5 CBY": as many decimals as it takes.
pub fn cby(amount: Amount) -> String {
    InCby(amount).to_string()
}

/// "1,234.500000000": down to the base unit, so that columns line up.
pub fn exact(amount: Amount) -> String {
    let unit = Amount::CBY.get();
    format!("{}.{:09}", grouped(amount.get() / unit), amount.get() % unit)
}

/// Nano points or shares with three decimals, rounded down.
pub fn thousandths(nano: u64) -> String {
    format!("{}.{:03}", nano / 1_000_000_000, nano % 1_000_000_000 / 1_000_000)
}

/// The first bytes of a hash or an address.
pub fn short(bytes: &[u8]) -> String {
    let start: String = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("0x{start}…")
}

/// "1,234,567".
pub fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 runner", "2 runners".
pub fn count(number: usize, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(number as u128))
}

/// A stretch of time in its two largest units: "0.42 s", "3 min 20 s", "2 d 4 h".
pub fn span(ms: u64) -> String {
    let (seconds, minutes, hours) = (ms / 1_000, ms / 60_000, ms / 3_600_000);
    match () {
        () if minutes == 0 => format!("{seconds}.{:02} s", ms % 1_000 / 10),
        () if hours == 0 => format!("{minutes} min {} s", seconds % 60),
        () if hours < 24 => format!("{hours} h {} min", minutes % 60),
        () => format!("{} d {} h", hours / 24, hours % 24),
    }
}

/// A block's time: "2026-10-01 12:00:00.250 UTC".
pub fn utc(ms: u64) -> String {
    let (days, rest) = (ms / 86_400_000, ms % 86_400_000);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03} UTC", rest % 1_000)
}

/// Year, month and day of a count of days since 1970. Years begin in March here, so that the day
/// that some years lack comes last.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_400_YEARS: u64 = 146_097;
    // From 0000-03-01 to 1970-01-01.
    let days = days + 719_468;
    let (era, day) = (days / DAYS_PER_400_YEARS, days % DAYS_PER_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march_month = (5 * day + 2) / 153;
    let day = day - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_to_the_unit() {
        assert_eq!(cby(Amount(1_234_500_000_000)), "1,234.5 CBY");
        assert_eq!(cby(Amount(7)), "0.000000007 CBY");
        assert_eq!(cby(Amount::cby(100)), "100 CBY");
        assert_eq!(exact(Amount::cby(1_000_000)), "1,000,000.000000000");
    }

    #[test]
    fn reputation_is_never_rounded_up() {
        assert_eq!(thousandths(61_904_999_999), "61.904");
        assert_eq!(thousandths(7_000_000), "0.007");
    }

    #[test]
    fn times_have_their_two_largest_units() {
        assert_eq!(span(425), "0.42 s");
        assert_eq!(span(59_999), "59.99 s");
        assert_eq!(span(200_000), "3 min 20 s");
        assert_eq!(span(3_600_000), "1 h 0 min");
        assert_eq!(span(187_200_000), "2 d 4 h");
    }

    #[test]
    fn days_have_their_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00.000 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00.000 UTC");
        assert_eq!(utc(1_735_689_599_999), "2024-12-31 23:59:59.999 UTC");
        assert!(utc(u64::MAX).ends_with("UTC"), "no date is too far away");
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(count(1, "runner"), "1 runner");
        assert_eq!(count(1_000, "runner"), "1,000 runners");
    }
}
