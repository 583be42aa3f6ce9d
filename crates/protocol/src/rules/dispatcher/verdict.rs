//! The verdict on the results of a job.

use crate::base::codec::Bytes;
use crate::base::primitives::Address;
use crate::rules::dispatcher::job::Job;
use crate::rules::dispatcher::judging::fits_schema;
use crate::rules::dispatcher::spec::{DataFormat, JobSpec};
use crate::rules::dispatcher::validate::{compile_checks, judged_mode};
use crate::rules::verifier::decide::{Decision, ResultFormat, Submission, decide};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// In draw order, at least one.
    pub(crate) winners: Vec<Address>,
    /// Canonical JSON of what they agree on.
    pub(crate) agreed: Option<Bytes>,
    /// The whole result of the first of them.
    pub(crate) result: Bytes,
}

/// Applies the job's mode to its results, which are in draw order.
pub(crate) fn judge(job: &Job, spec: &JobSpec, results: &[(Address, Bytes)]) -> Option<Verdict> {
    let mode = judged_mode(spec.verification.mode)?;
    let checks = compile_checks(spec).ok()?;
    let submissions: Vec<Submission<'_>> = results
        .iter()
        .filter(|(_, result)| fits_schema(spec, result))
        .map(|(runner, result)| Submission { runner: *runner, result })
        .collect();
    let format = match spec.result_schema.data_format {
        DataFormat::Json => ResultFormat::Json,
        DataFormat::Text | DataFormat::Bytes => ResultFormat::Raw,
    };
    let (m, needed) = (job.committee as usize, job.n_threshold as usize);
    let Decision { winners, agreed } = decide(mode, m, needed, &checks, format, &submissions)?;
    let in_draw_order: Vec<Address> =
        results.iter().map(|(runner, _)| *runner).filter(|r| winners.contains(r)).collect();
    let first = in_draw_order.first()?;
    let (_, result) = results.iter().find(|(runner, _)| runner == first)?;
    let agreed = agreed.map(|value| Bytes(value.canonical().into_bytes()));
    Some(Verdict { winners: in_draw_order.clone(), agreed, result: result.clone() })
}
