//! What it costs to judge the results of a job, which of them can be judged, and which stake answers for
//! a bonded one.

use crate::base::primitives::Amount;
use crate::rules::dispatcher::spec::{DataFormat, JobSpec};
use crate::rules::verifier::challenge::JUDGES;
use crate::rules::verifier::check::VerifierCheck;
use crate::rules::verifier::json;
use crate::rules::work::{CHECKED_BYTE_CYCLES, SIGNATURE_CYCLES};

/// Stake that a bonded job locks: what its trial costs, and 1.5 times its price and tip.
pub fn bonded_stake(spec: &JobSpec) -> Amount {
    let gross = spec.max_price.get().saturating_add(spec.tip.get());
    let halves = gross.saturating_mul(2 * u128::from(JUDGES) + 3);
    Amount(halves.div_ceil(2))
}

/// How often a byte of a result is looked at: once to read it, once for each check and field.
pub(crate) fn judging_factor(spec: &JobSpec) -> u64 {
    let fields = spec.verification.checks.iter().map(|check| match check {
        VerifierCheck::StructuredMatch { fields } => fields.len() as u64,
        _ => 1,
    });
    1 + fields.sum::<u64>()
}

/// Whether a result has the size and form that the job declares.
pub(crate) fn fits_schema(spec: &JobSpec, result: &[u8]) -> bool {
    result.len() <= spec.result_schema.max_return_bytes as usize
        && match spec.result_schema.data_format {
            DataFormat::Json => json::parse(result).is_ok(),
            DataFormat::Text => core::str::from_utf8(result).is_ok(),
            DataFormat::Bytes => true,
        }
}

/// What judging a result of this many bytes costs its sender.
pub fn judging_cycles(spec: &JobSpec, bytes: usize) -> u64 {
    let bytes = bytes as u64;
    SIGNATURE_CYCLES + bytes * judging_factor(spec) * CHECKED_BYTE_CYCLES
}
