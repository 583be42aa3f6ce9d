//! When to say something again: never many at once.

use ring::rand::{SecureRandom, SystemRandom};
use std::time::Duration;

/// The time until the next heartbeat, between 4/5 of the interval and all of it: thousands of runners
/// that began together do not stay together.
pub(super) fn beat_pause(interval: Duration, random: u16) -> Duration {
    let least = interval * 4 / 5;
    least + (interval - least) * u32::from(random) / u32::from(u16::MAX)
}

/// The time until the same is tried again, after so many failures: up to twice as long each time, at
/// least a part of it, and no more than ten seconds.
pub(super) fn retry_pause(failures: u32, random: u16) -> Duration {
    let longest = Duration::from_millis(100 << failures.min(7)).min(Duration::from_secs(10));
    longest / 4 + longest * 3 / 4 * u32::from(random) / u32::from(u16::MAX)
}

pub(super) fn random() -> u16 {
    let mut bytes = [0; 2];
    // Without randomness the pace is only less even.
    let _ = SystemRandom::new().fill(&mut bytes);
    u16::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fault 13: runners that beat in phase.
    #[test]
    fn beats_spread_over_a_fifth_of_the_interval_and_are_never_late() {
        let interval = Duration::from_secs(20);
        assert_eq!(beat_pause(interval, 0), Duration::from_secs(16));
        assert_eq!(beat_pause(interval, u16::MAX), interval);
        // 3,000 runners that began in the same moment: after five beats no second has more than a
        // few hundred of them.
        let mut seconds = std::collections::BTreeMap::<u64, u32>::new();
        let mut state = 1_u64;
        for _ in 0..3_000 {
            let beats = (0..5).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                beat_pause(interval, (state >> 48) as u16)
            });
            *seconds.entry(beats.sum::<Duration>().as_secs()).or_default() += 1;
        }
        assert!(seconds.values().all(|runners| *runners < 600), "{seconds:?}");
    }

    #[test]
    fn tries_grow_apart_and_never_stop() {
        assert!(retry_pause(0, 0) >= Duration::from_millis(25));
        assert!(retry_pause(3, u16::MAX) <= Duration::from_millis(800));
        assert_eq!(retry_pause(u32::MAX, u16::MAX), Duration::from_secs(10));
    }
}
