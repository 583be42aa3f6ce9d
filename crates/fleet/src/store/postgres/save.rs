//! What changed, written back. Runs, jobs and leases, which almost every batch changes, go in one
//! statement however many there are: a statement is a way to the server and back. Its text never changes,
//! so it is parsed and planned once for each connection. What is rarer has statements of its own.

use super::Trouble;
use super::rows::Columns;
use crate::lease::{LabelRecord, LeaseClock, LeaseRecord, Rows, WorkerRecord};
use crate::store::Tables;
use crate::store::journal::Changes;
use crate::store::row::{number, text};
use sqlx::PgConnection;

/// Writes all of it, into the transaction that loaded it. No row is on two sides.
pub(super) async fn changes(
    sql: &mut PgConnection,
    sides: &[(&Tables, &Changes)],
) -> Result<(), Trouble> {
    let mut columns = Columns::default();
    for (tables, changes) in sides {
        columns.add(tables, changes)?;
    }
    columns.put(sql).await?;
    for (tables, changes) in sides {
        let labels = changes.labels.iter().map(|label| tables.label(label));
        put_labels(sql, labels.collect()).await?;
        put_logs(sql, changes).await?;
        let workers = changes.workers.iter().filter_map(|id| tables.worker(id));
        put_workers(sql, workers.collect()).await?;
        forget(sql, changes).await?;
    }
    Ok(())
}

fn owned(text: &str) -> String {
    text.to_owned()
}

const PUT_LABELS: &str = "INSERT INTO label (label, room, record)
    SELECT * FROM unnest ($1::text[], $2::boolean[], $3::text[])
    ON CONFLICT (label) DO UPDATE SET room = excluded.room, record = excluded.record";
async fn put_labels(sql: &mut PgConnection, labels: Vec<LabelRecord>) -> Result<(), Trouble> {
    if labels.is_empty() {
        return Ok(());
    }
    let (mut names, mut room, mut rows) = (vec![], vec![], vec![]);
    for label in &labels {
        names.push(owned(label.label.as_str()));
        room.push(label.has_room());
        rows.push(text("label", label)?);
    }
    sqlx::query(PUT_LABELS).bind(names).bind(room).bind(rows).execute(sql).await?;
    Ok(())
}

/// These leases are not over yet: the times beside them are moved to their ends. How many were.
pub(super) async fn postpone(
    sql: &mut PgConnection,
    now: &LeaseClock,
    leases: &[LeaseRecord],
) -> Result<u64, Trouble> {
    if leases.is_empty() {
        return Ok(0);
    }
    let ids: Vec<String> = leases.iter().map(|lease| owned(lease.lease_id.as_str())).collect();
    let due: Vec<_> =
        leases.iter().map(|lease| lease.due_at(now).map(|due| number(due.0))).collect();
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
    let query = sqlx::query(put).bind(ids).bind(due).bind(rows).bind(number(now.lease.0));
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
