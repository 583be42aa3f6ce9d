//! Who wins: the verdict over the valid reveals of a job, in the modes that compare them (SPEC §5).
//!
//! A result that is no acceptable document is dropped; then each check keeps a part of what is
//! left. A check that groups keeps the unique largest group of equal values. Results without the
//! field form one group that cannot be kept: if it is the largest, or the largest is not unique,
//! nobody is left. What is left wins if it has `n_threshold` members.
//!
//! Not here: modes without a comparison, and semantic similarity, which needs embeddings.

use super::check::{Check, CheckError};
use super::dns;
use super::json::{self, Decimal, Json};
use super::path::Path;
use alloy_primitives::Address;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The largest group by one field.
    MajorityVote,
    /// What passes every check, in order.
    StructuredMatch,
    /// All results are there and byte-identical.
    Deterministic,
}

/// What a job declares its results to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFormat {
    Json,
    /// Bytes, which can be compared as a whole only.
    Raw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission<'a> {
    pub runner: Address,
    pub result: &'a [u8],
}

/// The outcome of a job that has winners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Ascending.
    pub winners: Vec<Address>,
    /// What the winners agree on: the voted value, or for `StructuredMatch` an object of the
    /// grouped fields by path. It may have one level more than a document. None where nothing was
    /// parsed.
    pub agreed: Option<Json>,
}

/// Whether a mode can work with these checks.
pub fn validate_checks(mode: Mode, checks: &[Check]) -> Result<(), CheckError> {
    let votes = checks.iter().filter(|check| matches!(check, Check::MajorityVote { .. })).count();
    let dns = checks.iter().filter(|check| is_dns(check)).count();
    match mode {
        Mode::MajorityVote if votes != 1 || votes + dns != checks.len() => {
            Err(CheckError::NotOneVote)
        }
        Mode::Deterministic if !checks.is_empty() => Err(CheckError::DeterministicTakesNone),
        _ => Ok(()),
    }
}

/// Whether results have to agree on something. A rule of submission: without it every plausible
/// result wins, which makes a useless job, but one that can be decided.
pub fn require_grouping(mode: Mode, checks: &[Check]) -> Result<(), CheckError> {
    match mode {
        Mode::StructuredMatch if !checks.iter().any(Check::groups) => {
            Err(CheckError::NothingGroups)
        }
        _ => Ok(()),
    }
}

/// Decides a job with a committee of `m`, of which `n_threshold` must win. `None` if no group wins.
///
/// Nobody wins either if a runner is there twice, results or threshold exceed the committee, or
/// `validate_checks` refuses the checks; callers rule these out before.
pub fn decide(
    mode: Mode,
    m: usize,
    n_threshold: usize,
    checks: &[Check],
    format: ResultFormat,
    results: &[Submission<'_>],
) -> Option<Decision> {
    let runners: BTreeSet<_> = results.iter().map(|submission| submission.runner).collect();
    let is_sound = runners.len() == results.len() && results.len() <= m && n_threshold <= m;
    if !is_sound || validate_checks(mode, checks).is_err() {
        return None;
    }
    if mode == Mode::Deterministic {
        return decide_deterministic(m, results);
    }
    let entries: Vec<_> =
        results.iter().filter_map(|submission| Entry::read(format, submission)).collect();
    let mut kept: Vec<_> = entries.iter().collect();
    for step in steps(mode, checks) {
        kept = step.keep(kept);
    }
    let first = kept.first().filter(|_| kept.len() >= n_threshold)?;
    let agreed = first.agreed(mode, checks);
    Some(Decision { winners: ascending(kept.iter().map(|entry| entry.runner)), agreed })
}

fn decide_deterministic(m: usize, results: &[Submission<'_>]) -> Option<Decision> {
    let first = results.first()?;
    let unanimous = results.len() == m && results.iter().all(|other| other.result == first.result);
    let winners = ascending(results.iter().map(|submission| submission.runner));
    unanimous.then_some(Decision { winners, agreed: None })
}

fn ascending(runners: impl Iterator<Item = Address>) -> Vec<Address> {
    let mut runners: Vec<_> = runners.collect();
    runners.sort();
    runners
}

fn is_dns(check: &Check) -> bool {
    matches!(check, Check::Dns { .. })
}

/// A check in its turn.
struct Step<'a> {
    check: &'a Check,
    /// How many DNS checks come before it in the job: its entry in a DNS report.
    dns_index: usize,
}

/// The checks in the order in which they apply. DNS checks filter before a majority vote wherever
/// they stand.
fn steps(mode: Mode, checks: &[Check]) -> Vec<Step<'_>> {
    let mut dns_seen = 0;
    let mut steps = Vec::new();
    for check in checks {
        steps.push(Step { check, dns_index: dns_seen });
        dns_seen += usize::from(is_dns(check));
    }
    if mode == Mode::MajorityVote {
        steps.sort_by_key(|step| !is_dns(step.check));
    }
    steps
}

impl Step<'_> {
    fn keep<'e>(&self, mut kept: Vec<&'e Entry<'e>>) -> Vec<&'e Entry<'e>> {
        match self.check {
            Check::MajorityVote { .. } | Check::StructuredMatch { .. } => {
                return largest_group(kept, self.check.grouped_fields());
            }
            Check::JsonSchemaValid { schema } => {
                kept.retain(|entry| entry.json().is_some_and(|document| schema.accepts(document)));
            }
            Check::NumericTolerance { field, tolerance } => {
                return near_median(&kept, field, *tolerance);
            }
            Check::NumericRange { field, min, max } => {
                kept.retain(|entry| entry.number(field).is_some_and(|x| *min <= x && x <= *max));
            }
            Check::Dns { min_resolvers } => kept.retain(|entry| {
                entry
                    .json()
                    .is_some_and(|document| dns::passes(document, self.dns_index, *min_resolvers))
            }),
            // It cannot be judged from the results alone, and is refused at submission.
            Check::Custom { .. } => kept.clear(),
        }
        kept
    }
}

/// The unique largest group by the values at `fields`, unless it is the group that lacks one of
/// them.
fn largest_group<'e>(kept: Vec<&'e Entry<'e>>, fields: &[Path]) -> Vec<&'e Entry<'e>> {
    let mut groups: BTreeMap<Option<Vec<Value<'e>>>, Vec<&'e Entry<'e>>> = BTreeMap::new();
    for entry in kept {
        groups.entry(entry.values(fields)).or_default().push(entry);
    }
    let largest = groups.values().map(Vec::len).max().unwrap_or(0);
    let mut winners = groups.into_iter().filter(|(_, members)| members.len() == largest);
    match (winners.next(), winners.next()) {
        (Some((Some(_), members)), None) => members,
        _ => Vec::new(),
    }
}

/// The results whose number is at most `tolerance` away from the lower median of all the numbers.
fn near_median<'e>(kept: &[&'e Entry<'e>], field: &Path, tolerance: Decimal) -> Vec<&'e Entry<'e>> {
    let mut numbers: Vec<_> =
        kept.iter().filter_map(|entry| Some((entry.number(field)?.nanos(), *entry))).collect();
    numbers.sort_by_key(|(x, _)| *x);
    let Some((median, _)) = numbers.get(numbers.len().saturating_sub(1) / 2).copied() else {
        return Vec::new();
    };
    numbers.retain(|(x, _)| (x - median).abs() <= tolerance.nanos());
    numbers.into_iter().map(|(_, entry)| entry).collect()
}

/// A result that was read.
struct Entry<'a> {
    runner: Address,
    content: Content<'a>,
}

enum Content<'a> {
    Json(Json),
    Raw(&'a [u8]),
}

/// What results are grouped by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Value<'a> {
    Json(&'a Json),
    Raw(&'a [u8]),
}

impl<'a> Entry<'a> {
    fn read(format: ResultFormat, submission: &Submission<'a>) -> Option<Self> {
        let content = match format {
            ResultFormat::Json => Content::Json(json::parse(submission.result).ok()?),
            ResultFormat::Raw => Content::Raw(submission.result),
        };
        Some(Self { runner: submission.runner, content })
    }

    fn json(&self) -> Option<&Json> {
        match &self.content {
            Content::Json(document) => Some(document),
            Content::Raw(_) => None,
        }
    }

    fn number(&self, field: &Path) -> Option<Decimal> {
        match field.get(self.json()?)? {
            Json::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The values at all of `fields`; raw bytes have the empty path only.
    fn values(&self, fields: &[Path]) -> Option<Vec<Value<'_>>> {
        let value = |field: &Path| match &self.content {
            Content::Json(document) => field.get(document).map(Value::Json),
            Content::Raw(bytes) => field.is_whole().then_some(Value::Raw(bytes)),
        };
        fields.iter().map(value).collect()
    }

    /// What every result that was kept together with this one agrees on.
    fn agreed(&self, mode: Mode, checks: &[Check]) -> Option<Json> {
        let document = self.json()?;
        let fields = checks.iter().flat_map(Check::grouped_fields);
        let values: BTreeMap<_, _> =
            fields.filter_map(|field| Some((field.text(), field.get(document)?))).collect();
        match mode {
            Mode::MajorityVote => values.into_values().next().cloned(),
            Mode::StructuredMatch => {
                let own = |(path, value): (&str, &Json)| (path.to_owned(), value.clone());
                Some(Json::Object(values.into_iter().map(own).collect()))
            }
            Mode::Deterministic => None,
        }
    }
}

#[cfg(test)]
mod tests;
