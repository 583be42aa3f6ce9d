//! Limits how much a runner may send about one job. Both ends keep the same count, so an honest runner knows before
//! it sends a frame that the validator will accept it.
//!
//! ```text
//! assignment  ─▶ FRAMES tokens
//! final block ─▶ one token more, up to FRAMES
//! frame       ─▶ costs one token, and one more for each full 16 KiB
//! ```
//! A runner with n open jobs may send what n budgets hold. It has as many jobs as the chain drew it for, and each is
//! paid for. The runner holds back frames that its budget does not cover; the validator ends a session that exceeds
//! it. The validator counts a block before it announces it, the runner counts a frame before it sends it, and the
//! validator allows for what is in flight meanwhile.

use crate::wire::FRAME_OVERHEAD;

/// Tokens that an assignment brings: an ack, progress in tenths, a commit and a reveal of several results,
/// each of them sent twice.
pub const FRAMES: u32 = 32;
/// Extra tokens on the validator's side. A block adds nothing to a full budget, and the validator's budget is full
/// until the runner's frames arrive. A runner more than this many blocks behind counts as absent anyway.
const IN_FLIGHT: u32 = 16;
/// Tokens that progress reports leave for transactions.
const RESERVE: u32 = FRAMES / 2;
/// Bytes per additional token.
const STEP: usize = 16 * 1024;

/// The tokens that a frame of so many bytes costs: at most what an assignment brings, so that no
/// transaction is too large to be sent.
pub fn cost(bytes: usize) -> u32 {
    u32::try_from(1 + bytes / STEP).unwrap_or(u32::MAX).min(FRAMES)
}

/// Upper bound of the cost of a frame with so many bytes of payload.
pub fn payload_cost(bytes: usize) -> u32 {
    cost(bytes.saturating_add(FRAME_OVERHEAD))
}

#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: u32,
    most: u32,
}

impl Budget {
    pub const fn of_runner() -> Self {
        Self { left: FRAMES, most: FRAMES }
    }

    pub const fn of_validator() -> Self {
        let most = FRAMES + IN_FLIGHT;
        Self { left: most, most }
    }

    /// Refills for so many final blocks.
    pub fn blocks(&mut self, count: u64) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(count).min(self.most);
    }

    /// `false` if the budget does not cover it.
    #[must_use]
    pub fn pay(&mut self, cost: u32) -> bool {
        let rest = self.left.checked_sub(cost);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }

    /// Pays for a progress report, unless that would use the reserve.
    #[must_use]
    pub fn pay_for_progress(&mut self) -> bool {
        self.left > RESERVE && self.pay(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_covers_the_largest_honest_job() {
        let mut budget = Budget::of_runner();
        let (answer, transaction) = (payload_cost(200), payload_cost(128 * 1024));
        assert!(budget.pay(answer));
        let told = (0..10).filter(|_| budget.pay_for_progress()).count();
        assert_eq!(told, 10, "in tenths");
        assert!(budget.pay(payload_cost(300)), "a commit");
        assert!(budget.pay(transaction) && budget.pay(transaction), "all results, twice");
    }

    #[test]
    fn progress_leaves_the_reserve_to_results() {
        let mut budget = Budget::of_runner();
        assert_eq!((0..100).filter(|_| budget.pay_for_progress()).count(), 16);
        assert!(budget.pay(payload_cost(128 * 1024)));
    }

    #[test]
    fn blocks_refill_a_budget_up_to_its_maximum() {
        let mut budget = Budget::of_runner();
        assert!(budget.pay(FRAMES) && !budget.pay(1));
        budget.blocks(2);
        assert!(budget.pay(2) && !budget.pay(1));
        budget.blocks(u64::MAX);
        assert!(budget.pay(FRAMES) && !budget.pay(1));
    }

    #[test]
    fn no_transaction_is_too_large_for_a_full_budget() {
        assert_eq!(payload_cost(usize::MAX), FRAMES);
        assert!(Budget::of_runner().pay(cost(2 << 20)));
    }
}
