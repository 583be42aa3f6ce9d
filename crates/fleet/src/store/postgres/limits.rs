//! Limits, as people and autoscalers want to know of them; nothing is locked.

use super::read::records;
use crate::id::RunId;
use crate::lease::{Gate, JobRecord, LabelRecord, Reached, RunRecord, grantable};
use crate::message::Label;
use crate::store::{Counts, JobRows, StoreError};
use sqlx::{PgConnection, PgPool, Row};
use std::collections::{BTreeMap, BTreeSet};

/// Jobs that wait, as lots under the same limits: runs without a limit of their own are one.
const LOTS: &str = "
    WITH lot AS (
        SELECT run_id, labels, count(*) AS jobs FROM job WHERE waiting GROUP BY run_id, labels
    ), limited AS (
        SELECT lot.labels, lot.jobs, lot.run_id, (run.record::json ->> 'max_parallel')::bigint
            - (run.record::json ->> 'in_use')::bigint AS room
        FROM lot JOIN run ON run.run_id = lot.run_id
    )
    SELECT labels, CASE WHEN room IS NOT NULL THEN run_id END, room, sum(jobs)::bigint FROM limited
    GROUP BY 1, 2, 3";

/// Jobs, each with the limit that holds it back; `runs` has theirs.
pub(super) async fn with_limits(
    sql: &mut PgConnection,
    runs: &[RunRecord],
    rows: &mut [JobRows],
) -> Result<(), StoreError> {
    let names = rows.iter().filter(|rows| rows.job.waiting());
    let names: BTreeSet<&Label> = names.flat_map(|rows| &rows.job.order.labels).collect();
    let labels = labels(sql, names.into_iter().map(Label::as_str)).await?;
    let runs: BTreeMap<_, _> = runs.iter().map(|run| (&run.run_id, run)).collect();
    for JobRows { job, reached, .. } in rows.iter_mut().filter(|rows| rows.job.waiting()) {
        let own = job.order.labels.iter().filter_map(|label| labels.get(label));
        *reached = Reached::first(runs.get(&job.run_id).copied(), own);
    }
    Ok(())
}

/// The runs of these jobs, as far as these wait.
pub(super) async fn runs(
    sql: &mut PgConnection,
    jobs: impl Iterator<Item = &JobRecord>,
) -> Result<Vec<RunRecord>, StoreError> {
    let ids: BTreeSet<&str> =
        jobs.filter(|job| job.waiting()).map(|job| job.run_id.as_str()).collect();
    let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
    let query = "SELECT record FROM run WHERE run_id = ANY ($1)";
    records(&sqlx::query(query).bind(ids).fetch_all(sql).await?, "run")
}

async fn labels(
    sql: &mut PgConnection,
    names: impl Iterator<Item = &str>,
) -> Result<BTreeMap<Label, LabelRecord>, StoreError> {
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let query = "SELECT record FROM label WHERE label = ANY ($1)";
    let found = sqlx::query(query).bind(names).fetch_all(sql).await?;
    let found: Vec<LabelRecord> = records(&found, "label")?;
    Ok(found.into_iter().map(|record| (record.label.clone(), record)).collect())
}

/// How much there is to do.
pub(super) async fn counts(pool: &PgPool) -> Result<Counts, StoreError> {
    let mut sql = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let held = "SELECT count(*) FROM lease WHERE due IS NOT NULL";
    let held: i64 = sqlx::query_scalar(held).fetch_one(&mut *sql).await?;
    let rows = sqlx::query(LOTS).fetch_all(&mut *sql).await?;
    let names: BTreeSet<String> =
        rows.iter().flat_map(|row| row.get::<Vec<String>, _>(0)).collect();
    let labels = labels(&mut sql, names.iter().map(String::as_str)).await?;
    let mut rooms: BTreeMap<Gate, u64> = BTreeMap::new();
    for LabelRecord { label, limit, in_use } in labels.into_values() {
        let room = limit.map(|limit| limit.saturating_sub(in_use).into());
        rooms.extend(room.map(|room| (Gate::Label(label), room)));
    }
    let mut lots = Vec::new();
    for row in &rows {
        let names: Vec<String> = row.get(0);
        let mut gates: Vec<Gate> =
            names.iter().filter_map(|name| Label::new(name).ok()).map(Gate::Label).collect();
        if let (Some(id), Some(room)) =
            (row.get::<Option<&str>, _>(1), row.get::<Option<i64>, _>(2))
            && let Ok(id) = RunId::new(id)
        {
            rooms.insert(Gate::Run(id.clone()), u64::try_from(room).unwrap_or(0));
            gates.push(Gate::Run(id));
        }
        lots.push((gates, row.get::<i64, _>(3).unsigned_abs()));
    }
    let waiting = lots.iter().map(|(_, jobs)| jobs).sum();
    let ready = grantable(lots, |gate| rooms.get(gate).copied());
    Ok(Counts { waiting, held: held.unsigned_abs(), ready })
}
