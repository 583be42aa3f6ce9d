//! Limits on sizes, checked before use.

use std::collections::BTreeMap;

/// Longest text for people: summaries, messages.
pub const TEXT_BYTES_MAX: usize = 4 * 1024;
pub(super) const NAME_BYTES_MAX: usize = 256;
pub(super) const URI_BYTES_MAX: usize = 2 * 1024;
/// Longest script of a step, and longest value of a variable.
pub(super) const SCRIPT_BYTES_MAX: usize = 32 * 1024;
pub(super) const LIST_LENGTH_MAX: usize = 256;
pub const RUN_JOBS_MAX: usize = 1_000;
/// A week: longest runtime, and longest of any other duration in a message.
pub(super) const SECONDS_MAX: u32 = 7 * 24 * 60 * 60;

/// An invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("`{field}` has {found} bytes; at most {limit} fit, shorten it")]
    Long { field: &'static str, found: usize, limit: usize },
    #[error("`{field}` has {found} entries; at most {limit} fit, send fewer")]
    Many { field: &'static str, found: usize, limit: usize },
    #[error("`{field}` is {found}; it must lie between {low} and {high}")]
    Range { field: &'static str, found: u64, low: u64, high: u64 },
    #[error("`{field}` {why}")]
    Invalid { field: &'static str, why: &'static str },
}

impl Problem {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Long { .. } | Self::Many { .. } => "FIELD_TOO_LARGE",
            Self::Range { .. } | Self::Invalid { .. } => "BAD_VALUE",
        }
    }
}

pub(super) fn text(field: &'static str, text: &str, limit: usize) -> Result<(), Problem> {
    long(field, text.len(), limit)
}

pub(super) fn long(field: &'static str, found: usize, limit: usize) -> Result<(), Problem> {
    match found > limit {
        true => Err(Problem::Long { field, found, limit }),
        false => Ok(()),
    }
}

pub(super) fn maybe(
    field: &'static str,
    value: Option<&String>,
    limit: usize,
) -> Result<(), Problem> {
    value.map_or(Ok(()), |value| text(field, value, limit))
}

/// For texts that go into command lines, paths or environments.
pub(super) fn word(field: &'static str, value: &str, limit: usize) -> Result<(), Problem> {
    text(field, value, limit)?;
    if value.is_empty() {
        return Err(Problem::Invalid { field, why: "must not be empty" });
    }
    if value.contains('\0') {
        return Err(Problem::Invalid { field, why: "must not contain a NUL" });
    }
    Ok(())
}

pub(super) fn list(field: &'static str, found: usize, limit: usize) -> Result<(), Problem> {
    if found > limit {
        return Err(Problem::Many { field, found, limit });
    }
    Ok(())
}

pub(super) fn range(
    field: &'static str,
    found: impl Into<u64>,
    low: u64,
    high: u64,
) -> Result<(), Problem> {
    let found = found.into();
    if (low..=high).contains(&found) {
        return Ok(());
    }
    Err(Problem::Range { field, found, low, high })
}

pub(super) fn env(field: &'static str, env: &BTreeMap<String, String>) -> Result<(), Problem> {
    list(field, env.len(), LIST_LENGTH_MAX)?;
    for (name, value) in env {
        word(field, name, NAME_BYTES_MAX)?;
        text(field, value, SCRIPT_BYTES_MAX)?;
        if name.contains('=') || value.contains('\0') {
            return Err(Problem::Invalid { field, why: "must be names and values of a process" });
        }
    }
    Ok(())
}
