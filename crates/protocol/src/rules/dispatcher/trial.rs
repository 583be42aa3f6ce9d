//! The trial of a challenged result: who may judge it, and what they are asked.

use crate::base::primitives::Amount;
use crate::rules::dispatcher::committee::VerificationMode;
use crate::rules::dispatcher::spec::{DataFormat, JobSpec, Verification};
use crate::rules::verifier::challenge::{JUDGES, JUDGES_NEEDED};
use crate::rules::verifier::check::VerifierCheck;
use crate::rules::verifier::json;
use crate::rules::verifier::settle::VerifiedResult;

/// Part of the network's weight that the judges have, in percent: two thirds, so that less than a
/// third of the network is less than half of the judges.
pub(crate) const FAIR: u128 = 67;
/// The same when the job is submitted, so that a change of some runners does not leave its result
/// beyond trial.
pub(crate) const SURELY_FAIR: u128 = 75;
/// Part of the locked stake that a challenger puts up.
pub(crate) const BOND_PART: u128 = 10;
/// After an undecided trial `dispute_blocks` divided by this are left to challenge again.
pub(crate) const REOPENED_PART: u64 = 4;

/// Those that a trial would draw from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judges {
    pub(crate) number: usize,
    pub(crate) weight: u128,
    /// The weight of all other runners.
    pub(crate) of: u128,
}

impl Judges {
    /// Whether they are so many, and such a part of the network in percent.
    pub(crate) fn are(&self, least: u32, percent: u128) -> bool {
        // Weights are below 2^126, and so is a hundred times what is left of them here.
        let part = self.weight / 128 * 100 >= self.of.div_ceil(128) * percent;
        self.number >= least as usize && part
    }
}

/// The same work by all judges at once, under majority vote on the whole result.
pub(crate) fn again(spec: JobSpec) -> JobSpec {
    let whole = VerifierCheck::MajorityVote { field: String::new() };
    let all = |amount: Amount| Amount(amount.get().saturating_mul(u128::from(JUDGES)));
    JobSpec {
        verification: Verification {
            mode: VerificationMode::MajorityVote,
            runners: JUDGES,
            threshold: JUDGES_NEEDED,
            checks: vec![whole],
        },
        max_price: all(spec.max_price),
        tip: all(spec.tip),
        required_runner_pool: None,
        callback: None,
        // A committee has six tenths of it for its commits; the runner had all of it.
        timeout_blocks: spec.timeout_blocks.saturating_mul(2),
        ..spec
    }
}

pub(crate) fn same_result(
    spec: &JobSpec,
    claimed: &VerifiedResult,
    found: &VerifiedResult,
) -> bool {
    match spec.result_schema.data_format {
        DataFormat::Json => match (json::parse(&claimed.result), json::parse(&found.result)) {
            (Ok(claimed), Ok(found)) => claimed == found,
            _ => false,
        },
        DataFormat::Text | DataFormat::Bytes => claimed.result == found.result,
    }
}
