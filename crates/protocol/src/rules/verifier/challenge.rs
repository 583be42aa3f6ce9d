//! The stake that answers for a bonded result, and the challenge that puts it on trial.

use crate::base::codec::codec_struct;
use crate::base::primitives::{Address, Amount, Height, JobId};

/// Runners that do a challenged job again.
pub const JUDGES: u32 = 5;
/// How many of them must give the same result.
pub const JUDGES_NEEDED: u32 = 4;
/// Trials of one result. Each holds the runner's stake for its time.
pub const TRIALS_MAX: u32 = 3;

/// Stake that answers for a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bond {
    pub runner: Address,
    pub locked: Amount,
    /// When the candidates were fixed that it was drawn from.
    pub since: Height,
    /// Last height at which it can be challenged.
    pub until: Height,
    /// Trials so far, the present one included.
    pub trials: u32,
    pub trial: Option<Challenge>,
}
codec_struct!(Bond { runner, locked, since, until, trials, trial });

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub challenger: Address,
    pub bond: Amount,
    /// The price of the trial.
    pub cost: Amount,
    /// The job that does the work again.
    pub by_job: JobId,
}
codec_struct!(Challenge { challenger, bond, cost, by_job });
