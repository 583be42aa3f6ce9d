//! The clock of a process.

use super::Millis;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The system's clock, as far off as a test wants it. It goes on when the system's is set back: pauses and leases
/// would else not end until that has caught up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// Milliseconds that are added.
    pub offset: i64,
    /// Milliseconds since 1970 instead of the system's: for tests that make their own time.
    pub frozen: Option<&'static AtomicU64>,
}

/// What this process has seen of the system's clock.
static STEADY: Mutex<Steady> = Mutex::new(Steady { last: 0, behind: 0 });

impl Clock {
    pub fn now(self) -> Millis {
        if let Some(frozen) = self.frozen {
            return Millis(frozen.load(Ordering::SeqCst));
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let millis = STEADY.lock().unwrap_or_else(PoisonError::into_inner).follow(millis);
        Millis(millis.saturating_add_signed(self.offset))
    }
}

/// A time that follows a clock and never goes back.
struct Steady {
    last: u64,
    /// How far the clock was set back, since the process began.
    behind: u64,
}

impl Steady {
    fn follow(&mut self, clock: u64) -> u64 {
        self.behind = self.behind.max(self.last.saturating_sub(clock));
        self.last = clock.saturating_add(self.behind);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_when_the_clock_is_set_back() {
        let mut steady = Steady { last: 0, behind: 0 };
        let told = [10, 20, 5, 6, 7, 30, 29, 31].map(|clock| steady.follow(clock));
        assert_eq!(told, [10, 20, 20, 21, 22, 45, 45, 47]);
    }
}
