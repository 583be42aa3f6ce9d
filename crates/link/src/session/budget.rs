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

/// Tokens that an assignment brings: an answer, progress in tenths, a commit and a reveal of several
/// results, each of them sent a second time.
pub const FRAMES: u32 = 32;
/// Extra tokens on the validator's side. A block adds nothing to a full budget, and the validator's budget is full
/// until the runner's frames arrive. A runner more than this many blocks behind counts as absent anyway.
const ON_THE_WAY: u32 = 16;
/// Tokens that progress leaves to what the chain waits for.
const RESERVE: u32 = FRAMES / 2;
/// Bytes that one token more is for.
const STEP: usize = 16 * 1024;

/// The tokens that a frame of so many bytes costs. None costs more than an assignment brings: a
/// transaction is never too large to be sent.
pub fn cost(bytes: usize) -> u32 {
    u32::try_from(1 + bytes / STEP).unwrap_or(u32::MAX).min(FRAMES)
}

/// The most that a frame can cost that carries so many bytes.
pub fn cost_of_carrying(bytes: usize) -> u32 {
    cost(bytes.saturating_add(FRAME_OVERHEAD))
}

#[derive(Clone, Copy, Debug)]
pub struct Budget {
    left: u32,
    most: u32,
}

impl Budget {
    /// What a runner reckons with.
    pub const fn of_runner() -> Self {
        Self { left: FRAMES, most: FRAMES }
    }

    pub const fn of_validator() -> Self {
        let most = FRAMES + ON_THE_WAY;
        Self { left: most, most }
    }

    /// So many final blocks have passed.
    pub fn blocks(&mut self, count: u64) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(count).min(self.most);
    }

    /// Pays for a frame, if there is enough.
    #[must_use]
    pub fn pay(&mut self, cost: u32) -> bool {
        let rest = self.left.checked_sub(cost);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }

    /// Pays for a frame that only informs, if enough is left for those that matter.
    #[must_use]
    pub fn pay_for_news(&mut self) -> bool {
        self.left > RESERVE && self.pay(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_pays_for_an_honest_life_of_the_largest_kind() {
        let mut budget = Budget::of_runner();
        let (answer, transaction) = (cost_of_carrying(200), cost_of_carrying(128 * 1024));
        assert!(budget.pay(answer));
        let told = (0..10).filter(|_| budget.pay_for_news()).count();
        assert_eq!(told, 10, "in tenths");
        assert!(budget.pay(cost_of_carrying(300)), "a commit");
        assert!(budget.pay(transaction) && budget.pay(transaction), "all results, twice");
    }

    #[test]
    fn news_do_not_use_up_what_results_need() {
        let mut budget = Budget::of_runner();
        assert_eq!((0..100).filter(|_| budget.pay_for_news()).count(), 16);
        assert!(budget.pay(cost_of_carrying(128 * 1024)));
    }

    #[test]
    fn blocks_fill_a_budget_and_no_more() {
        let mut budget = Budget::of_runner();
        assert!(budget.pay(FRAMES) && !budget.pay(1));
        budget.blocks(2);
        assert!(budget.pay(2) && !budget.pay(1));
        budget.blocks(u64::MAX);
        assert!(budget.pay(FRAMES) && !budget.pay(1));
    }

    #[test]
    fn no_transaction_is_too_large_for_a_full_budget() {
        assert_eq!(cost_of_carrying(usize::MAX), FRAMES);
        assert!(Budget::of_runner().pay(cost(2 << 20)));
    }
}
