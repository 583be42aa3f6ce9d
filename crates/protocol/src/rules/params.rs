//! The chain's parameters: one typed table with the seeds' key names, ranges and defaults.
//!
//! Consensus: a change here forks the chain.
//!
//! They are hashed into genesis, so two nodes that disagree on one are on different chains.
//! Numbers of a single process (ports, caches, timeouts of its own) are not here.

use crate::base::codec::Encode;
use crate::base::primitives::{Amount, B256, keccak256};
use crate::rules::presence::{PRESENCE_TIMEOUT_BLOCKS, PresencePolicy};
use thiserror::Error;

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in the seeds' key space.
    pub key: &'static str,
    pub about: &'static str,
    pub value: u128,
    pub min: u128,
    pub max: u128,
}

/// Why a table of parameters is not acceptable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParamError {
    #[error("there is no parameter {0}")]
    UnknownKey(String),
    /// A value outside its range.
    #[error("{key} must be between {min} and {max}, not {value}")]
    OutOfRange {
        key: &'static str,
        /// The value that was asked for.
        value: u128,
        min: u128,
        max: u128,
    },
    /// Values that do not fit each other.
    #[error("{0}")]
    Contradiction(&'static str),
}

macro_rules! params {
    ($( $field:ident: $ty:ty = $default:expr, $min:expr => $max:expr, $key:literal, $about:literal; )*) => {
        /// Every number that consensus depends on.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct ChainParams { $( #[doc = $about] pub $field: $ty, )* }

        impl ChainParams {
            /// The preset for 1 s blocks: the seeds' numbers.
            pub const fn one_second() -> Self {
                Self { $( $field: $default, )* }
            }

            /// The same preset for another block time: counts of blocks are rescaled to the wall time that
            /// they stand for at 1 s. What is counted in cycles, cells and views stays.
            pub fn for_block_time(block_time_ms: u64) -> Self {
                let mut params = Self::one_second();
                $( if let Some(least) = least_blocks(stringify!($field), u128::from(params.$field)) {
                    let wall_ms = u128::from(params.$field) * u128::from(params.block_time_ms);
                    let blocks = wall_ms.div_ceil(u128::from(block_time_ms.max(1)));
                    let blocks = blocks.max(least).clamp($min, $max);
                    params.$field = <$ty>::try_from(blocks).expect("the range is within the type");
                } )*
                params.block_time_ms = block_time_ms;
                params
            }

            /// All rows, in a fixed order.
            pub fn table(&self) -> Vec<Parameter> {
                vec![$( Parameter {
                    key: $key, about: $about,
                    value: u128::from(self.$field), min: $min, max: $max,
                }, )*]
            }

            /// Changes one parameter; the table stays as it was if that is refused.
            pub fn set(&mut self, key: &str, value: u128) -> Result<(), ParamError> {
                let mut changed = self.clone();
                match key {
                    $( $key => {
                        let range = ParamError::OutOfRange { key: $key, value, min: $min, max: $max };
                        changed.$field = <$ty>::try_from(value).map_err(|_| range)?;
                    } )*
                    _ => return Err(ParamError::UnknownKey(key.to_owned())),
                }
                changed.validate()?;
                *self = changed;
                Ok(())
            }
        }
    };
}

/// Windows in which somebody must act have at least this many blocks, however long a block takes: a
/// transaction may miss some.
const WINDOW_MIN: u128 = 20;

/// The least that a count of blocks may become at a long block time; none if the field, by its name, is no
/// such count.
fn least_blocks(field: &str, at_one_second: u128) -> Option<u128> {
    match field {
        // Runners without sessions give a sign of life every 40 blocks.
        "heartbeat_timeout_blocks" => Some(at_one_second),
        _ if field.ends_with("_blocks") || field.ends_with("_blocks_max") => {
            Some(at_one_second.min(WINDOW_MIN))
        }
        _ => None,
    }
}

const CBY: u128 = Amount::CBY.get();
const BLOCKS: u128 = 1 << 40;
/// No attestation may live through a whole phase: those of two phases can be told apart, not three.
const OVERLAP_MIN: u128 = 2 * PRESENCE_TIMEOUT_BLOCKS as u128;

params! {
    chain_id: u64 = 7_829_367, 1 => u64::MAX as u128, "system:chain:id", "Names the network; part of every signed digest";
    block_time_ms: u64 = 1_000, 1 => 60_000, "system:chain:block_time_ms", "Time between blocks that the block counts below are meant for";
    // A round's seed leaks before the round resolves, so this exceeds the two views to finality.
    selection_seed_delay_views: u64 = 4, 3 => 64, "system:cip11:selection_seed_delay_views", "Views between a job's submission and the round whose seed draws its committee";
    max_seeds_per_block: u64 = 1_024, 16 => 4_096, "system:chain:max_seeds_per_block", "Seeds that one block carries at most; more are carried by its successors";
    max_tx_bytes: u64 = 131_072, 1_024 => 1_048_576, "system:chain:max_tx_bytes", "Size of a transaction";

    cycles_target: u64 = 10_000_000, 1_000_000 => 1_000_000_000, "system:cip3:cycles_target", "Cycles per block at which the basefee stands still; twice that is the limit";
    cells_target: u64 = 500_000, 10_000 => 100_000_000, "system:cip3:cells_target", "Cells per block at which the basefee stands still; twice that is the limit";
    min_basefee: u128 = 1_000, 1 => CBY, "system:cip3:min_basefee", "Floor of both basefees";
    initial_basefee: u128 = 10_000, 1 => CBY, "system:cip3:initial_basefee", "Both basefees at genesis";
    lane_user: u64 = 5_000_000, 100_000 => 1_000_000_000, "system:cip3:lane.user", "Share of the cycles target for users";
    lane_runner: u64 = 2_500_000, 100_000 => 1_000_000_000, "system:cip3:lane.runner", "Share of the cycles target for runners and callbacks";
    lane_timer: u64 = 2_000_000, 100_000 => 1_000_000_000, "system:cip1:lane.timer", "Cycles of the timer lane";
    lane_adjustment_quotient: u64 = 1, 1 => 1_000, "system:cip1:lane_adjustment_quotient", "Divides the step of the timer lane's basefee; 8 is EIP-1559 proper";
    lane_system: u64 = 500_000, 10_000 => 1_000_000_000, "system:cip3:lane.system", "Share of the cycles target for system instructions";

    state_deposit_per_kib: u128 = CBY / 10, 0 => 1_000_000 * CBY, "system:chain:state_deposit_per_kib", "Deposit for 1,024 bytes of state";

    m_min: u64 = 3, 3 => 9, "system:cip2:committee.m_min", "Smallest committee";
    m_max: u64 = 9, 3 => 64, "system:cip2:committee.m_max", "Largest committee";
    hhi_min_nano: u64 = 10_000_000, 1 => 1_000_000_000, "system:cip2:committee.hhi_min", "Floor of the concentration index, in nano";
    hhi_alpha_nano: u64 = 125_000_000, 1 => 1_000_000_000, "system:cip2:committee.hhi_smoothing_alpha", "Weight of the newest concentration index, in nano";
    epoch_blocks: u64 = 3_600, 10 => BLOCKS, "system:cip2:committee.recompute_period", "Blocks between two computations of the committee size";
    max_runners: u64 = 64, 1 => 64, "system:cip2:max_runners", "Runners that a job may ask for";

    // `MIN_STAKE_CBY_WEI` of CIP-11, `MIN_RUNNER_STAKE_CBY` of CIP-2.
    min_stake: u128 = 10_000 * CBY, 1 => u128::MAX, "system:cip2:min_stake", "Least effective stake of a runner that is drawn";
    unbonding_blocks: u64 = 86_400, 1 => BLOCKS, "system:cip2:unbonding_blocks", "Blocks until unstaked money is paid out";
    // Also stands for `STALE_HEARTBEAT_BLOCKS` of CIP-11: being attested counts as a sign of life.
    heartbeat_timeout_blocks: u64 = 100, 1 => BLOCKS, "system:cip2:heartbeat_timeout_blocks", "Blocks after its last sign of life for which a runner counts as healthy";
    min_reputation_nano: u64 = 50_000_000_000, 0 => 200_000_000_000, "system:cip2:min_reputation", "Least reputation of a runner that is drawn, in nano";
    w_min_floor_nano: u64 = 100_000_000, 0 => 1_000_000_000, "system:cip2:w_min_floor", "Least factor of reputation in a runner's weight, in nano";
    min_scored_price: u128 = CBY / 10, 1 => u128::MAX, "system:cip2:reputation.min_scored_price", "Least price of a job that counts for reputation and jail";
    jail_failures: u64 = 3, 1 => 1_000, "system:cip2:reputation.jail_failures", "Failures in a row that send a runner to jail";
    jail_blocks: u64 = 3_600, 1 => BLOCKS, "system:cip2:reputation.jail_blocks", "First jail term; each further one inside the memory doubles it";
    jail_blocks_max: u64 = 86_400, 1 => BLOCKS, "system:cip2:reputation.jail_blocks_max", "Longest jail term";
    jail_memory_blocks: u64 = 1_209_600, 1 => BLOCKS, "system:cip2:reputation.jail_memory_blocks", "For how long a jail term is remembered";

    max_retries: u64 = 3, 0 => 3, "system:cip2:max_retries", "Selections after the first before a job fails";
    commit_share_bps: u64 = 6_000, 1_000 => 10_000, "system:cip2:commit_share_bps", "Part of a job's timeout that is for committing";
    aggregator_blocks: u64 = 30, 1 => BLOCKS, "system:cip2:aggregator_timeout_blocks", "Blocks after the commit deadline that belong to the aggregator";
    reveal_blocks: u64 = 60, 1 => BLOCKS, "system:cip2:reveal_window_blocks", "Blocks after the commit deadline in which reveals are taken";
    max_timeout_blocks: u64 = 86_400, 10 => BLOCKS, "system:cip2:max_timeout_blocks", "Longest timeout of a job";
    // `JOB_TIMEOUT_BLOCKS` of CIP-11, for jobs that name none.
    default_timeout_blocks: u64 = 60, 10 => BLOCKS, "system:cip2:default_timeout_blocks", "Timeout of a job that names none";
    mru_ttl_blocks: u64 = 1_280, 0 => BLOCKS, "system:cip11:mru_ttl_blocks", "For how long the runner that served a submitter last is favoured";
    mru_multiplier: u64 = 4, 1 => 16, "system:cip11:mru_weight_multiplier", "By how much it is favoured in the first draw";

    crash_exemption_blocks: u64 = 50, 0 => BLOCKS, "system:cip2:crash_exemption_blocks", "Blocks after commits were closed in which a runner may attest a crash";
    crash_review_threshold: u64 = 5, 1 => 1_000, "system:cip2:crash_attestation_review_threshold", "Crash attestations in the window that raise a flag";
    crash_review_blocks: u64 = 1_000, 1 => BLOCKS, "system:cip2:crash_attestation_review_blocks", "The window for that";
    job_retention_blocks: u64 = 86_400, 1 => BLOCKS, "system:chain:job_retention_blocks", "For how long a job stays in the state after its end";
    dispute_blocks: u64 = 900, 1 => BLOCKS, "system:cip2:dispute_window_blocks", "For how long a bonded result can be challenged";
    challenge_bond: u128 = CBY, 1 => u128::MAX, "system:cip2:challenge_bond", "Least bond of a challenger; it is a tenth of the locked stake if that is more";

    payout_runners_bps: u16 = 8_900, 0 => 10_000, "system:cip2:payout.runners_bps", "Part of the price that goes to the runners";
    payout_burn_bps: u16 = 1_000, 0 => 10_000, "system:cip2:payout.burn_bps", "Part of the price that is burned";
    payout_treasury_bps: u16 = 100, 0 => 10_000, "system:cip2:payout.treasury_bps", "Part of the price that goes to the treasury";
    excuse_bps: u16 = 1_000, 0 => 10_000, "system:cip2:payout.excuse_bps", "Part of the escrow that a single runner is paid for an excuse that took no work";
    no_agreement_bps: u16 = 5_000, 0 => 10_000, "system:cip2:payout.no_agreement_bps", "Part of a seat's price that a valid result is paid if the committee does not agree";
    aggregator_bonus_bps: u16 = 150, 0 => 1_000, "system:cip2:aggregator.bonus_bps", "The aggregator's bonus, out of the runners' part";
    non_reveal_slash_bps: u16 = 2_500, 0 => 10_000, "system:cip2:non_reveal_slash_bps", "Part of the effective stake that a missing or invalid reveal costs";
    max_non_reveal_slash: u128 = 100_000 * CBY, 0 => u128::MAX, "system:cip2:max_non_reveal_slash_cby", "Most that it costs";
    slash_burn_bps: u16 = 10_000, 0 => 10_000, "system:cip2:slash_distribution.burn_bps", "Part of a slash that is burned";
    slash_submitter_bps: u16 = 0, 0 => 10_000, "system:cip2:slash_distribution.submitter_bps", "Part of a slash that goes to the submitter";
    slash_treasury_bps: u16 = 0, 0 => 10_000, "system:cip2:slash_distribution.treasury_bps", "Part of a slash that goes to the treasury";

    // The only cause of a rotation. `VALIDATOR_CHURN_THRESHOLD` of CIP-11 has no use while genesis fixes
    // the validators.
    subset_epoch_blocks: u64 = 40_960, 60 => BLOCKS, "system:cip11:subset_epoch_blocks", "Blocks for which runners keep the validators that attest them";
    subset_overlap_blocks: u64 = 160, OVERLAP_MIN => BLOCKS, "system:cip11:overlap_blocks", "Blocks after a rotation for which the validators before it count, too";
    subset_hashes_per_block: u64 = 200_000, 1 => 100_000_000, "system:cip11:subset_hashes_per_block", "Hashes that one block computes of the next epoch's subsets; the epoch begins when all are drawn";
    presence_changes_per_block: u64 = 25_000, 1 => 1 << 32, "system:cip11:presence_changes_per_block", "Runners whose presence one block changes at most; its successors change the rest";
    presence_policy: u8 = 1, 0 => 3, "system:cip11:presence_policy", "0 shadow, 1 prefer, 2 require, 3 sunset";

    actor_code_bytes_max: u64 = 262_144, 1_024 => 262_144, "system:actors:code_bytes_max", "Bytes of an actor's code; a transaction's size bounds what one can deploy";
    actor_storage_bytes_max: u64 = 4_194_304, 4_096 => 1 << 32, "system:actors:storage_bytes_max", "Bytes of an actor's storage: values, three times the keys, and 64 for each entry";
    actor_waiting_max: u64 = 100, 1 => 10_000, "system:actors:waiting_max", "Calls of an actor that wait for answers at the same time";
}

impl ChainParams {
    /// The preset for development: quick blocks, present runners only.
    pub const fn development() -> Self {
        let mut params = Self::one_second();
        params.block_time_ms = 250;
        params.presence_policy = 2;
        params.subset_epoch_blocks = 4_096;
        params.subset_overlap_blocks = 32;
        params
    }

    pub const fn policy(&self) -> PresencePolicy {
        match self.presence_policy {
            0 => PresencePolicy::Shadow,
            1 => PresencePolicy::Prefer,
            2 => PresencePolicy::Require,
            _ => PresencePolicy::Sunset,
        }
    }

    /// Checks every range and the relations between parameters.
    pub fn validate(&self) -> Result<(), ParamError> {
        for row in self.table() {
            let Parameter { key, value, min, max, .. } = row;
            if !(min..=max).contains(&value) {
                return Err(ParamError::OutOfRange { key, value, min, max });
            }
        }
        let sum = |a: u16, b: u16, c: u16| u32::from(a) + u32::from(b) + u32::from(c);
        let relations = [
            (
                sum(self.slash_burn_bps, self.slash_submitter_bps, self.slash_treasury_bps)
                    == 10_000,
                "the three parts of a slash must add up to 10000",
            ),
            (
                sum(self.payout_runners_bps, self.payout_burn_bps, self.payout_treasury_bps)
                    == 10_000,
                "the three parts of a payout must add up to 10000",
            ),
            (
                self.aggregator_bonus_bps <= self.payout_runners_bps,
                "the aggregator's bonus comes out of the runners' part",
            ),
            (self.m_min <= self.m_max, "the smallest committee is larger than the largest"),
            (
                self.aggregator_blocks <= self.reveal_blocks,
                "the aggregator's window is part of the reveal window",
            ),
            (
                self.jail_blocks <= self.jail_blocks_max,
                "the first jail term is longer than the longest",
            ),
            (
                self.default_timeout_blocks <= self.max_timeout_blocks,
                "the default timeout is longer than the longest",
            ),
            (
                self.subset_epoch_blocks
                    >= self.subset_overlap_blocks + 2 * PRESENCE_TIMEOUT_BLOCKS,
                "a subset epoch must outlast its overlap by 30 blocks",
            ),
        ];
        match relations.iter().find(|(holds, _)| !holds) {
            Some((_, why)) => Err(ParamError::Contradiction(why)),
            None => Ok(()),
        }
    }

    /// Digest of the whole table, part of the genesis hash.
    pub fn hash(&self) -> B256 {
        let mut bytes = b"cowboy-params-v1:".to_vec();
        for row in self.table() {
            keccak256(row.key).encode(&mut bytes);
            row.value.encode(&mut bytes);
        }
        keccak256(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn presets_are_valid_and_differ() {
        assert_eq!(ChainParams::one_second().validate(), Ok(()));
        assert_eq!(ChainParams::development().validate(), Ok(()));
        assert_ne!(ChainParams::one_second().hash(), ChainParams::development().hash());
    }

    #[test]
    fn counts_of_blocks_stand_for_the_same_wall_time_at_every_block_time() {
        assert_eq!(ChainParams::for_block_time(1_000), ChainParams::one_second());
        let quick = ChainParams::for_block_time(250);
        assert_eq!((quick.subset_epoch_blocks, quick.subset_overlap_blocks), (163_840, 640));
        assert_eq!((quick.mru_ttl_blocks, quick.epoch_blocks), (5_120, 14_400));
        assert_eq!((quick.jail_blocks_max, quick.default_timeout_blocks), (345_600, 240));
        // CIP-11's own numbers, at the block time that it was written for.
        let slow = ChainParams::for_block_time(5_000);
        assert_eq!((slow.subset_epoch_blocks, slow.subset_overlap_blocks), (8_192, 32));
        assert_eq!(slow.mru_ttl_blocks, 256);
        let rows = ChainParams::one_second().table().into_iter().zip(quick.table());
        for (row, quick) in rows.filter(|(row, _)| row.key != "system:chain:block_time_ms") {
            let times = if row.max == BLOCKS { 4 } else { 1 };
            assert_eq!(row.value * times, quick.value, "{}", row.key);
        }
    }

    #[test]
    fn every_block_time_gives_parameters_that_are_valid() {
        for block_time_ms in (1..2_000).chain((2_000..=60_000).step_by(97)).chain([60_000]) {
            let params = ChainParams::for_block_time(block_time_ms);
            assert_eq!(params.validate(), Ok(()), "{block_time_ms} ms");
        }
        let slowest = ChainParams::for_block_time(60_000);
        assert_eq!((slowest.aggregator_blocks, slowest.reveal_blocks), (20, 20));
        assert_eq!((slowest.heartbeat_timeout_blocks, slowest.subset_overlap_blocks), (100, 30));
        assert!(ChainParams::for_block_time(0).validate().is_err());
    }

    #[test]
    fn keys_are_unique() {
        let table = ChainParams::one_second().table();
        let keys: BTreeSet<_> = table.iter().map(|row| row.key).collect();
        assert_eq!(keys.len(), table.len());
    }

    #[test]
    fn a_slash_distribution_must_add_up() {
        let mut params = ChainParams::one_second();
        let refused = params.set("system:cip2:slash_distribution.burn_bps", 9_999);
        assert!(matches!(refused, Err(ParamError::Contradiction(_))));
        assert_eq!(params, ChainParams::one_second());
    }

    #[test]
    fn no_attestation_can_live_through_a_phase_of_a_subset_epoch() {
        let mut params = ChainParams::development();
        let epoch = u128::from(params.subset_overlap_blocks + 30);
        assert_eq!(params.set("system:cip11:subset_epoch_blocks", epoch), Ok(()));
        let refused = params.set("system:cip11:subset_epoch_blocks", epoch - 1);
        assert!(matches!(refused, Err(ParamError::Contradiction(_))));
        let refused = params.set("system:cip11:overlap_blocks", 29);
        assert!(matches!(refused, Err(ParamError::OutOfRange { .. })));
    }

    #[test]
    fn values_outside_their_range_are_refused_whatever_their_size() {
        let mut params = ChainParams::one_second();
        for value in [65, u128::MAX] {
            let refused = params.set("system:cip2:max_runners", value);
            assert!(matches!(refused, Err(ParamError::OutOfRange { .. })));
        }
        assert!(matches!(params.set("system:nothing", 1), Err(ParamError::UnknownKey(_))));
    }
}
