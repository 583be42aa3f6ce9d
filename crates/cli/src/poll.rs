//! Waiting for something that has no other sign than that it is there.

use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long anything may take that should take seconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Looks every now and then until there is something. None: it did not come in time.
pub(crate) async fn until<T>(every: Duration, look: impl AsyncFn() -> Option<T>) -> Option<T> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return Some(found);
        }
        if Instant::now() > until {
            return None;
        }
        sleep(every).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test]
    async fn what_comes_is_found_however_late_it_is_seen() {
        let looks = Cell::new(0);
        let look = async || {
            looks.set(looks.get() + 1);
            (looks.get() == 3).then_some("there")
        };
        assert_eq!(until(Duration::from_millis(1), look).await, Some("there"));
    }
}
