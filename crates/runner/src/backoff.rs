//! Exponential backoff.

use std::time::Duration;

/// Doubles the pause with every failure in a row.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pub first: Duration,
    pub max: Duration,
}

/// Connections to validators (CIP-11 §11.3): 100 ms · 2^n, at most 30 s, ± 25 %.
pub const CONNECT: Backoff =
    Backoff { first: Duration::from_millis(100), max: Duration::from_secs(30) };

impl Backoff {
    /// The pause after `failures` earlier ones.
    pub fn pause(&self, failures: u32) -> Duration {
        let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.max)
    }

    /// The same, ± 25 % by any `random` number, so that the peers of a server that restarts do not return at
    /// once.
    pub fn jittered(&self, failures: u32, random: u64) -> Duration {
        let whole = u64::try_from(self.pause(failures).as_millis()).unwrap_or(u64::MAX);
        let quarter = whole / 4;
        Duration::from_millis(whole - quarter + random % (2 * quarter + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_maximum_within_the_jitter() {
        for n in 0..100 {
            let whole = if n > 8 { 30_000 } else { (100 << n).min(30_000) };
            assert_eq!(CONNECT.pause(n), Duration::from_millis(whole));
            for random in [0, 1, 17, 49, 50, 51, 12_345, u64::MAX] {
                let pause = u64::try_from(CONNECT.jittered(n, random).as_millis()).unwrap();
                assert!((whole * 3 / 4..=whole * 5 / 4).contains(&pause), "{n}: {pause}");
            }
        }
        assert_eq!(CONNECT.jittered(u32::MAX, 0), Duration::from_millis(22_500));
    }

    #[test]
    fn both_ends_of_the_jitter_are_reached() {
        assert_eq!(CONNECT.jittered(0, 0), Duration::from_millis(75));
        assert_eq!(CONNECT.jittered(0, 50), Duration::from_millis(125));
    }
}
