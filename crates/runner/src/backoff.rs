//! How long to wait before connecting again (CIP-11 §11.3): 100 ms · 2^n, at most 30 s, ± 25 %.

use std::time::Duration;

/// The first pause.
const BASE_MS: u64 = 100;
/// The longest, before jitter.
const MAX_MS: u64 = 30_000;

/// The pause after `n` failures in a row, counted from 0. `random` is any number: it moves the pause
/// by up to a quarter either way, so that runners of a validator that restarts do not come at once.
pub fn pause(n: u32, random: u64) -> Duration {
    let whole = if n >= 9 { MAX_MS } else { (BASE_MS << n).min(MAX_MS) };
    let quarter = whole / 4;
    Duration::from_millis(whole - quarter + random % (2 * quarter + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_half_a_minute_within_a_quarter() {
        for n in 0..100 {
            let whole = if n > 8 { 30_000 } else { (100 << n).min(30_000) };
            for random in [0, 1, 17, 49, 50, 51, 12_345, u64::MAX] {
                let pause = u64::try_from(pause(n, random).as_millis()).unwrap();
                assert!((whole * 3 / 4..=whole * 5 / 4).contains(&pause), "{n}: {pause}");
            }
        }
        assert_eq!(pause(u32::MAX, 0), Duration::from_millis(22_500));
    }

    #[test]
    fn both_ends_of_the_jitter_are_reached() {
        assert_eq!(pause(0, 0), Duration::from_millis(75));
        assert_eq!(pause(0, 50), Duration::from_millis(125));
    }
}
