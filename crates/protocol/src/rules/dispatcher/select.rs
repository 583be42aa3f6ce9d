//! What a selection follows from: the candidates that a job asks for, the stake that its seats hold, and
//! the runners that are left out.

use crate::base::primitives::{Address, Amount};
use crate::rules::dispatcher::committee::VerificationMode;
use crate::rules::dispatcher::filter::Query;
use crate::rules::dispatcher::job::{Job, Stakes};
use crate::rules::dispatcher::judging::bonded_stake;
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::params::ChainParams;
use crate::rules::verifier::challenge::JUDGES;

/// What a job asks of its candidates.
pub(crate) fn query_of(job: &Job, spec: &JobSpec, params: &ChainParams, bound: u64) -> Query {
    let value = stakes_of(job, spec).value;
    let query = Query::of(spec, params, bound);
    if job.challenges.is_some() { Query { value, ..query } } else { query }
}

/// What a seat of a job takes of its runner's stake. A trial pays all its judges at once, and each
/// is worth what the tried job was.
pub(crate) fn stakes_of(job: &Job, spec: &JobSpec) -> Stakes {
    if spec.verification.mode == VerificationMode::EconomicBond {
        return Stakes { value: Amount::ZERO, locked: bonded_stake(spec) };
    }
    let parts = if job.challenges.is_some() { u128::from(JUDGES) } else { 1 };
    Stakes { value: Amount(spec.max_price.get() / parts), locked: Amount::ZERO }
}

/// Runners that a job does not draw again: those it excludes, and those that sat on it already.
pub(crate) fn barred(job: &Job) -> Vec<Address> {
    job.excluded.iter().copied().chain(job.seats.iter().map(|seat| seat.runner)).collect()
}
