//! What changed, written back: one statement for each table, however many rows there are. Their texts
//! never change, so they are parsed and planned once for each connection.

use super::Trouble;
use crate::lease::{JobRecord, LabelRecord, LeaseRecord, Rows, WorkerRecord};
use crate::store::Tables;
use crate::store::journal::Changes;
use crate::store::row::{changing, fixed, number, text};
use crate::time::Millis;
use sqlx::PgConnection;
use std::collections::BTreeSet;

/// Writes all of it, into the transaction that loaded it.
pub(super) async fn changes(
    sql: &mut PgConnection,
    tables: &Tables,
    changes: &Changes,
) -> Result<(), Trouble> {
    put_runs(sql, tables, changes).await?;
    let labels = changes.labels.iter().map(|label| tables.label(label));
    put_labels(sql, labels.collect(), PUT_LABELS).await?;
    let jobs = changes.jobs.iter().filter_map(|(id, new)| Some((tables.job(id)?, *new)));
    let (new, old): (Vec<_>, Vec<_>) = jobs.partition(|(_, new)| *new);
    let only_job = |(job, _): (JobRecord, bool)| job;
    put_new_jobs(sql, new.into_iter().map(only_job).collect()).await?;
    put_old_jobs(sql, old.into_iter().map(only_job).collect()).await?;
    let leases = changes.leases.iter().filter_map(|id| tables.lease(id));
    put_leases(sql, leases.collect()).await?;
    put_logs(sql, changes).await?;
    let workers = changes.workers.iter().filter_map(|id| tables.worker(id));
    put_workers(sql, workers.collect()).await?;
    forget(sql, changes).await
}

fn owned(text: &str) -> String {
    text.to_owned()
}

async fn put_runs(
    sql: &mut PgConnection,
    tables: &Tables,
    changes: &Changes,
) -> Result<(), Trouble> {
    let runs: Vec<_> = changes.runs.iter().filter_map(|id| tables.run(id)).collect();
    if runs.is_empty() {
        return Ok(());
    }
    let (mut ids, mut keys, mut created) = (vec![], vec![], vec![]);
    let (mut ended, mut room, mut rows) = (vec![], vec![], vec![]);
    for run in &runs {
        ids.push(owned(run.run_id.as_str()));
        keys.push(run.idempotency.as_ref().map(|idempotency| idempotency.key.clone()));
        created.push(number(run.created_at.0));
        ended.push(run.ended_at.map(|at| number(at.0)));
        room.push(run.has_room());
        rows.push(text("run", run)?);
    }
    let put = "INSERT INTO run (run_id, key, created, ended, room, record)
        SELECT * FROM unnest
            ($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[], $6::text[])
        ON CONFLICT (run_id) DO UPDATE
        SET ended = excluded.ended, room = excluded.room, record = excluded.record";
    let query = sqlx::query(put).bind(ids).bind(keys).bind(created);
    query.bind(ended).bind(room).bind(rows).execute(sql).await?;
    Ok(())
}

const PUT_LABELS: &str = "INSERT INTO label (label, room, record)
    SELECT * FROM unnest ($1::text[], $2::boolean[], $3::text[])
    ON CONFLICT (label) DO UPDATE SET room = excluded.room, record = excluded.record";
const PUT_NEW_LABELS: &str = "INSERT INTO label (label, room, record)
    SELECT * FROM unnest ($1::text[], $2::boolean[], $3::text[]) ON CONFLICT (label) DO NOTHING";

async fn put_labels(
    sql: &mut PgConnection,
    labels: Vec<LabelRecord>,
    put: &'static str,
) -> Result<(), Trouble> {
    if labels.is_empty() {
        return Ok(());
    }
    let (mut names, mut room, mut rows) = (vec![], vec![], vec![]);
    for label in &labels {
        names.push(owned(label.label.as_str()));
        room.push(label.has_room());
        rows.push(text("label", label)?);
    }
    sqlx::query(put).bind(names).bind(room).bind(rows).execute(sql).await?;
    Ok(())
}

/// A list as PostgreSQL writes it: lists of lists cannot be of different lengths.
fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let quoted =
        words.map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")));
    format!("{{{}}}", quoted.collect::<Vec<_>>().join(","))
}

async fn put_new_jobs(sql: &mut PgConnection, jobs: Vec<JobRecord>) -> Result<(), Trouble> {
    if jobs.is_empty() {
        return Ok(());
    }
    let (mut places, mut ids, mut runs, mut priorities) = (vec![], vec![], vec![], vec![]);
    let (mut tags, mut labels, mut waiting, mut pauses) = (vec![], vec![], vec![], vec![]);
    let (mut fixed_parts, mut changing_parts) = (vec![], vec![]);
    let (mut needed, mut needing) = (vec![], vec![]);
    for job in &jobs {
        places.push(number(job.seq));
        ids.push(owned(job.job_id.as_str()));
        runs.push(owned(job.run_id.as_str()));
        priorities.push(job.order.priority);
        tags.push(list(job.order.tags.iter().map(|tag| tag.as_str())));
        labels.push(list(job.order.labels.iter().map(|label| label.as_str())));
        waiting.push(job.waiting());
        pauses.push(number(job.not_before.0));
        fixed_parts.push(fixed(job)?);
        changing_parts.push(changing(job)?);
        for need in &job.needs {
            needed.push(owned(need.as_str()));
            needing.push(owned(job.job_id.as_str()));
        }
    }
    let put = "INSERT INTO job
            (seq, job_id, run_id, priority, tags, labels, waiting, not_before, fixed, changing)
        SELECT n.seq, n.job_id, n.run_id, n.priority, n.tags::text[], n.labels::text[], n.waiting,
            n.not_before, n.fixed, n.changing
        FROM unnest ($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::text[],
                $7::boolean[], $8::bigint[], $9::text[], $10::text[])
            AS n (seq, job_id, run_id, priority, tags, labels, waiting, not_before, fixed, changing)";
    let query = sqlx::query(put).bind(places).bind(ids).bind(runs).bind(priorities).bind(tags);
    let query = query.bind(labels).bind(waiting).bind(pauses).bind(fixed_parts);
    query.bind(changing_parts).execute(&mut *sql).await?;
    if !needed.is_empty() {
        let put = "INSERT INTO need (needed, job_id) SELECT * FROM unnest ($1::text[], $2::text[])";
        sqlx::query(put).bind(needed).bind(needing).execute(&mut *sql).await?;
    }
    // A row that is not there cannot be locked: labels are there before their first job is granted.
    let labels: BTreeSet<_> =
        jobs.iter().flat_map(|job| job.order.labels.iter().cloned()).collect();
    let new = |label| LabelRecord { label, limit: None, in_use: 0 };
    put_labels(sql, labels.into_iter().map(new).collect(), PUT_NEW_LABELS).await
}

async fn put_old_jobs(sql: &mut PgConnection, jobs: Vec<JobRecord>) -> Result<(), Trouble> {
    if jobs.is_empty() {
        return Ok(());
    }
    let (mut places, mut waiting, mut pauses, mut parts) = (vec![], vec![], vec![], vec![]);
    for job in &jobs {
        places.push(number(job.seq));
        waiting.push(job.waiting());
        pauses.push(number(job.not_before.0));
        parts.push(changing(job)?);
    }
    let put = "UPDATE job
        SET waiting = n.waiting, not_before = n.not_before, changing = n.changing
        FROM unnest ($1::bigint[], $2::boolean[], $3::bigint[], $4::text[])
            AS n (seq, waiting, not_before, changing)
        WHERE job.seq = n.seq";
    let query = sqlx::query(put).bind(places).bind(waiting).bind(pauses).bind(parts);
    query.execute(sql).await?;
    Ok(())
}

/// A lease whose end only moves away keeps the earlier time beside it: that is in an index, and a
/// heartbeat that does not touch it writes the row and no index. Sweeps move it ([`postpone`]).
async fn put_leases(sql: &mut PgConnection, leases: Vec<LeaseRecord>) -> Result<(), Trouble> {
    if leases.is_empty() {
        return Ok(());
    }
    let (mut ids, mut jobs, mut runs, mut fences) = (vec![], vec![], vec![], vec![]);
    let (mut runners, mut due, mut rows) = (vec![], vec![], vec![]);
    for lease in &leases {
        ids.push(owned(lease.lease_id.as_str()));
        jobs.push(owned(lease.job_id.as_str()));
        runs.push(owned(lease.run_id.as_str()));
        fences.push(number(lease.fence.0));
        runners.push(owned(lease.runner_id.as_str()));
        due.push(lease.due_at().map(|due| number(due.0)));
        rows.push(text("lease", lease)?);
    }
    let put = "INSERT INTO lease (lease_id, job_id, run_id, fence, runner_id, due, record)
        SELECT * FROM unnest ($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[],
            $6::bigint[], $7::text[])
        ON CONFLICT (lease_id) DO UPDATE SET record = excluded.record,
            due = CASE WHEN excluded.due > lease.due THEN lease.due ELSE excluded.due END";
    let query = sqlx::query(put).bind(ids).bind(jobs).bind(runs).bind(fences);
    query.bind(runners).bind(due).bind(rows).execute(sql).await?;
    Ok(())
}

/// These leases are not over yet: the times beside them are moved to their ends. How many were.
pub(super) async fn postpone(
    sql: &mut PgConnection,
    now: Millis,
    leases: &[LeaseRecord],
) -> Result<u64, Trouble> {
    if leases.is_empty() {
        return Ok(0);
    }
    let ids: Vec<String> = leases.iter().map(|lease| owned(lease.lease_id.as_str())).collect();
    let due: Vec<_> = leases.iter().map(|lease| lease.due_at().map(|due| number(due.0))).collect();
    // Only a row that nobody has at the moment, and as it was when it was looked at: a request to
    // stop may have shortened it since.
    let rows: Vec<String> = leases.iter().map(|l| text("lease", l)).collect::<Result<_, _>>()?;
    let put = "WITH free AS (
            SELECT l.lease_id, n.due FROM lease l
            JOIN unnest ($1::text[], $2::bigint[], $3::text[]) AS n (lease_id, due, record)
                ON l.lease_id = n.lease_id AND l.record = n.record
            WHERE l.due <= $4 FOR UPDATE OF l SKIP LOCKED
        )
        UPDATE lease SET due = free.due FROM free WHERE lease.lease_id = free.lease_id";
    let query = sqlx::query(put).bind(ids).bind(due).bind(rows).bind(number(now.0));
    Ok(query.execute(sql).await?.rows_affected())
}

async fn put_logs(sql: &mut PgConnection, changes: &Changes) -> Result<(), Trouble> {
    if changes.logs.is_empty() {
        return Ok(());
    }
    let (mut jobs, mut fences, mut numbers) = (vec![], vec![], vec![]);
    let (mut offsets, mut data) = (vec![], vec![]);
    for (job, fence, piece) in &changes.logs {
        jobs.push(owned(job.as_str()));
        fences.push(number(fence.0));
        numbers.push(number(piece.number));
        offsets.push(number(piece.offset));
        data.push(piece.data.clone());
    }
    let put = "INSERT INTO log (job_id, fence, number, byte_offset, data)
        SELECT * FROM unnest ($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[])";
    let query = sqlx::query(put).bind(jobs).bind(fences).bind(numbers);
    query.bind(offsets).bind(data).execute(sql).await?;
    Ok(())
}

async fn put_workers(sql: &mut PgConnection, workers: Vec<WorkerRecord>) -> Result<(), Trouble> {
    for worker in workers {
        let put = "INSERT INTO worker (id, record) VALUES ($1, $2)
            ON CONFLICT (id) DO UPDATE SET record = excluded.record";
        let (id, record) = (worker.key.id(), text("worker", &worker)?);
        sqlx::query(put).bind(id.as_str()).bind(record).execute(&mut *sql).await?;
    }
    Ok(())
}

async fn forget(sql: &mut PgConnection, changes: &Changes) -> Result<(), Trouble> {
    if changes.forgotten.is_empty() {
        return Ok(());
    }
    let runs: Vec<_> = changes.forgotten.iter().map(|(run, _)| owned(run.as_str())).collect();
    for delete in [
        "DELETE FROM log WHERE job_id IN (SELECT job_id FROM job WHERE run_id = ANY ($1))",
        "DELETE FROM need WHERE needed IN (SELECT job_id FROM job WHERE run_id = ANY ($1))",
        "DELETE FROM lease WHERE run_id = ANY ($1)",
        "DELETE FROM job WHERE run_id = ANY ($1)",
        "DELETE FROM run WHERE run_id = ANY ($1)",
    ] {
        sqlx::query(delete).bind(&runs).execute(&mut *sql).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn words_of_a_list_are_quoted() {
        assert_eq!(list(["a", "b\"c\\"].into_iter()), r#"{"a","b\"c\\"}"#);
        assert_eq!(list([].into_iter()), "{}");
    }
}
