//! The chain and the runner's account, as the operator's nodes reported them last.

use crate::daemon::fee_budget::FeeBudget;
use std::time::Duration;

/// A node may be this many blocks behind the validators, for this many rounds, before another node is
/// asked first.
const LAG_BLOCKS: u64 = 2;
const LAG_ROUNDS: u32 = 3;
/// Interval of the attempts to reach a node at all.
const CONNECT_RETRY_MS: u64 = 1_000;

#[derive(Debug)]
pub(super) struct Chain {
    /// None until a node has answered.
    pub(super) height: Option<u64>,
    pub(super) block_time: Duration,
    pub(super) policy: String,
    /// The balance, and prices at the next block's basefees.
    pub(super) money: Option<(u128, FeeBudget)>,
    /// Why the newest answer of the nodes is missing, or cannot be used.
    pub(super) problem: Option<String>,
    /// Whether a node answered the last question.
    pub(super) reachable: bool,
    /// Problems with nodes of another chain.
    pub(super) wrong_chain_nodes: Vec<String>,
    lag_rounds: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            height: None,
            block_time: Duration::from_secs(1),
            policy: String::new(),
            money: None,
            problem: None,
            reachable: false,
            wrong_chain_nodes: Vec::new(),
            lag_rounds: 0,
        }
    }
}

impl Chain {
    /// 0 until a node has answered.
    pub(super) fn at(&self) -> u64 {
        self.height.unwrap_or(0)
    }

    fn block_ms(&self) -> u64 {
        u64::try_from(self.block_time.as_millis()).unwrap_or(u64::MAX)
    }

    /// Least time between two rounds, however many blocks validators announce.
    pub(super) fn spacing_ms(&self) -> u64 {
        (self.block_ms() / 8).clamp(10, 250)
    }

    /// Time after which a round begins although no validator announced a block.
    pub(super) fn idle_ms(&self, any_session: bool) -> u64 {
        match (self.height, any_session) {
            (None, _) => CONNECT_RETRY_MS,
            (Some(_), true) => self.block_ms().saturating_mul(2),
            (Some(_), false) => self.block_ms(),
        }
    }

    /// Compares the nodes with the height that most validators announce. Returns whether to ask another node
    /// first from now on.
    pub(super) fn lags(&mut self, announced: Option<u64>) -> bool {
        let behind = announced.is_some_and(|head| head > self.at().saturating_add(LAG_BLOCKS));
        self.lag_rounds = if behind { self.lag_rounds + 1 } else { 0 };
        let rotate = self.lag_rounds >= LAG_ROUNDS;
        if rotate {
            self.lag_rounds = 0;
        }
        rotate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lag_of_several_rounds_in_a_row_rotates_the_nodes() {
        let mut chain = Chain { height: Some(100), ..Chain::default() };
        let announced = [103, 103, 102, 103, 103, 103, 103];
        let rotations = announced.map(|head| chain.lags(Some(head)));
        assert_eq!(rotations, [false, false, false, false, false, true, false]);
        assert!(!chain.lags(None));
    }

    #[test]
    fn rounds_follow_the_block_time_within_limits() {
        for (block_ms, spacing_ms) in [(8, 10), (400, 50), (60_000, 250)] {
            let block_time = Duration::from_millis(block_ms);
            let chain = Chain { height: Some(1), block_time, ..Chain::default() };
            assert_eq!(chain.spacing_ms(), spacing_ms);
            assert_eq!((chain.idle_ms(true), chain.idle_ms(false)), (2 * block_ms, block_ms));
        }
        assert_eq!(Chain::default().idle_ms(true), CONNECT_RETRY_MS);
    }
}
