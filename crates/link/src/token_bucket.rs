//! The token bucket of every rate limit on the link.

/// Refills at a steady rate up to its burst. Counts thousandths of a token, so that no time is lost to
/// rounding.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    burst: i64,
    per_second: i64,
    /// Below zero after a large frame: the debt is paid off before the next frame.
    millis: i64,
    at_ms: u64,
}

impl TokenBucket {
    pub fn new(burst: u32, per_second: u32, now_ms: u64) -> Self {
        let burst = i64::from(burst) * 1_000;
        Self { burst, per_second: i64::from(per_second), millis: burst, at_ms: now_ms }
    }

    fn at(&self, now_ms: u64) -> i64 {
        let waited = i64::try_from(now_ms.saturating_sub(self.at_ms)).unwrap_or(i64::MAX);
        let gained = waited.saturating_mul(self.per_second);
        self.millis.saturating_add(gained).min(self.burst)
    }

    pub fn take(&mut self, now_ms: u64) -> bool {
        self.take_many(1, now_ms)
    }

    /// Takes `count` tokens if there is at least one, and goes into debt for the rest.
    pub fn take_many(&mut self, count: u32, now_ms: u64) -> bool {
        self.millis = self.at(now_ms);
        self.at_ms = self.at_ms.max(now_ms);
        let enough = self.millis >= 1_000;
        if enough {
            self.millis -= i64::from(count) * 1_000;
        }
        enough
    }

    /// When the next token is there, if none is there now.
    pub fn ready_ms(&self, now_ms: u64) -> Option<u64> {
        let missing = 1_000 - self.at(now_ms);
        let wait = missing.checked_add(self.per_second - 1)? / self.per_second.max(1);
        (missing > 0).then(|| now_ms.saturating_add(wait.unsigned_abs()))
    }

    /// Adds tokens beyond the steady rate.
    pub fn grant(&mut self, count: u64) {
        let count = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(1_000);
        self.millis = self.millis.saturating_add(count).min(self.burst);
    }

    /// A full bucket equals a new one and may be forgotten.
    pub fn full(&self, now_ms: u64) -> bool {
        self.at(now_ms) >= self.burst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_tells_when_the_next_token_is_there() {
        let mut bucket = TokenBucket::new(2, 4, 0);
        assert_eq!(bucket.ready_ms(0), None);
        assert!(bucket.take(0) && bucket.take(0) && !bucket.take(0));
        assert_eq!(bucket.ready_ms(0), Some(250));
        assert!(!bucket.take(249) && bucket.take(250));
    }

    #[test]
    fn debt_is_paid_off_before_the_next_token() {
        let mut bucket = TokenBucket::new(2, 4, 0);
        assert!(bucket.take_many(6, 0));
        assert_eq!(bucket.ready_ms(0), Some(1_250));
        assert!(!bucket.take(1_249) && bucket.take(1_250));
        assert!(!bucket.full(1_250) && bucket.full(2_000));
    }
}
