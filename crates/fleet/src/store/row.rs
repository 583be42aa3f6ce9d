//! Rows as SQL stores write them: keys as columns, what nobody asks SQL for as JSON.

use super::StoreError;
use crate::id::{Attempt, Fence, JobId, RunId};
use crate::lease::{JobRecord, Standing};
use crate::message::JobSubmission;
use crate::time::{LeaseTime, Millis};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// What of a job never changes, and may be large: written once.
#[derive(Serialize, Deserialize)]
struct Fixed<'a> {
    job_id: Cow<'a, JobId>,
    run_id: Cow<'a, RunId>,
    order: Cow<'a, JobSubmission>,
    needs: Cow<'a, [JobId]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_after: Option<Millis>,
}

#[derive(Serialize, Deserialize)]
struct Changing<'a> {
    needs_open: u32,
    attempt: Attempt,
    fence: Fence,
    losses: u32,
    #[serde(default)]
    returns: u32,
    not_before: LeaseTime,
    standing: Cow<'a, Standing>,
}

fn corrupt(table: &'static str) -> impl Fn(serde_json::Error) -> StoreError {
    move |error| StoreError::Corrupt { table, why: error.to_string() }
}

pub(super) fn text<T: Serialize>(table: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(corrupt(table))
}

pub(super) fn read<T: DeserializeOwned>(table: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(corrupt(table))
}

pub(super) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The part of a job's row that is written once.
pub(super) fn fixed(job: &JobRecord) -> Result<String, StoreError> {
    let fixed = Fixed {
        job_id: Cow::Borrowed(&job.job_id),
        run_id: Cow::Borrowed(&job.run_id),
        order: Cow::Borrowed(&job.order),
        needs: Cow::Borrowed(&job.needs),
        not_after: job.not_after,
    };
    text("job", &fixed)
}

/// The part that is written often.
pub(super) fn changing(job: &JobRecord) -> Result<String, StoreError> {
    let JobRecord { needs_open, attempt, fence, losses, returns, not_before, ref standing, .. } =
        *job;
    let standing = Cow::Borrowed(standing);
    let changing = Changing { needs_open, attempt, fence, losses, returns, not_before, standing };
    text("job", &changing)
}

pub(super) fn read_job(seq: i64, fixed: &str, changing: &str) -> Result<JobRecord, StoreError> {
    let Fixed { job_id, run_id, order, needs, not_after } = read("job", fixed)?;
    let Changing { needs_open, attempt, fence, losses, returns, not_before, standing } =
        read("job", changing)?;
    Ok(JobRecord {
        job_id: job_id.into_owned(),
        run_id: run_id.into_owned(),
        seq: seq.unsigned_abs(),
        order: Arc::new(order.into_owned()),
        needs: needs.into_owned(),
        needs_open,
        attempt,
        fence,
        losses,
        returns,
        not_before,
        not_after,
        standing: standing.into_owned(),
    })
}

/// What of a piece of log, which begins at `begins`, lies behind an offset.
pub(super) fn rest(begins: i64, piece: Vec<u8>, offset: u64) -> impl Iterator<Item = u8> {
    let before = offset.saturating_sub(begins.unsigned_abs());
    piece.into_iter().skip(usize::try_from(before).unwrap_or(usize::MAX))
}
