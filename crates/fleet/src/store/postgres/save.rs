//! What changed, written back.

use super::Trouble;
use crate::lease::{JobRecord, LabelRecord, Rows};
use crate::store::Tables;
use crate::store::journal::Changes;
use crate::store::row::{changing, fixed, number, text};
use sqlx::{PgConnection, Postgres, QueryBuilder};

/// Rows in one statement: ten columns each stay below the limit of 65,535 values.
const STATEMENT_ROWS_MAX: usize = 1_000;

/// Writes all of it, into the transaction that loaded it.
pub(super) async fn changes(
    sql: &mut PgConnection,
    tables: &Tables,
    changes: &Changes,
) -> Result<(), Trouble> {
    for run in changes.runs.iter().filter_map(|id| tables.run(id)) {
        let put = "INSERT INTO run (run_id, key, created, ended, room, record)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (run_id) DO UPDATE
            SET ended = excluded.ended, room = excluded.room, record = excluded.record";
        sqlx::query(put)
            .bind(run.run_id.as_str())
            .bind(run.idempotency.as_ref().map(|idempotency| idempotency.key.as_str()))
            .bind(number(run.created_at.0))
            .bind(run.ended_at.map(|at| number(at.0)))
            .bind(run.has_room())
            .bind(text("run", &run)?)
            .execute(&mut *sql)
            .await?;
    }
    for label in &changes.labels {
        put_label(sql, &tables.label(label), false).await?;
    }
    let jobs = changes.jobs.iter().filter_map(|(id, new)| Some((tables.job(id)?, *new)));
    let (new, old): (Vec<_>, Vec<_>) = jobs.partition(|(_, new)| *new);
    for chunk in new.chunks(STATEMENT_ROWS_MAX) {
        put_new_jobs(sql, chunk).await?;
    }
    for (job, _) in &old {
        let put = "UPDATE job SET waiting = $2, not_before = $3, changing = $4 WHERE seq = $1";
        sqlx::query(put)
            .bind(number(job.seq))
            .bind(job.waiting())
            .bind(number(job.not_before.0))
            .bind(changing(job)?)
            .execute(&mut *sql)
            .await?;
    }
    for lease in changes.leases.iter().filter_map(|id| tables.lease(id)) {
        let put = "INSERT INTO lease (lease_id, job_id, run_id, fence, runner_id, due, record)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (lease_id) DO UPDATE SET due = excluded.due, record = excluded.record";
        sqlx::query(put)
            .bind(lease.lease_id.as_str())
            .bind(lease.job_id.as_str())
            .bind(lease.run_id.as_str())
            .bind(number(lease.fence.0))
            .bind(lease.runner_id.as_str())
            .bind(lease.due_at().map(|due| number(due.0)))
            .bind(text("lease", &lease)?)
            .execute(&mut *sql)
            .await?;
    }
    for (job, fence, piece) in &changes.logs {
        let put = "INSERT INTO log (job_id, fence, number, byte_offset, data)
            VALUES ($1, $2, $3, $4, $5)";
        sqlx::query(put)
            .bind(job.as_str())
            .bind(number(fence.0))
            .bind(number(piece.number))
            .bind(number(piece.offset))
            .bind(piece.data.as_slice())
            .execute(&mut *sql)
            .await?;
    }
    for (run, _) in &changes.forgotten {
        for delete in [
            "DELETE FROM log WHERE job_id IN (SELECT job_id FROM job WHERE run_id = $1)",
            "DELETE FROM need WHERE job_id IN (SELECT job_id FROM job WHERE run_id = $1)",
            "DELETE FROM lease WHERE run_id = $1",
            "DELETE FROM job WHERE run_id = $1",
            "DELETE FROM run WHERE run_id = $1",
        ] {
            sqlx::query(delete).bind(run.as_str()).execute(&mut *sql).await?;
        }
    }
    for worker in changes.workers.iter().filter_map(|id| tables.worker(id)) {
        let put = "INSERT INTO worker (id, record) VALUES ($1, $2)
            ON CONFLICT (id) DO UPDATE SET record = excluded.record";
        let (id, record) = (worker.key.id(), text("worker", &worker)?);
        sqlx::query(put).bind(id.as_str()).bind(record).execute(&mut *sql).await?;
    }
    Ok(())
}

async fn put_label(
    sql: &mut PgConnection,
    label: &LabelRecord,
    only_new: bool,
) -> Result<(), Trouble> {
    let put = match only_new {
        true => "INSERT INTO label VALUES ($1, $2, $3) ON CONFLICT (label) DO NOTHING",
        false => {
            "INSERT INTO label VALUES ($1, $2, $3) ON CONFLICT (label)
            DO UPDATE SET room = excluded.room, record = excluded.record"
        }
    };
    let record = text("label", label)?;
    let query = sqlx::query(put).bind(label.label.as_str()).bind(label.has_room()).bind(record);
    query.execute(sql).await?;
    Ok(())
}

async fn put_new_jobs(sql: &mut PgConnection, jobs: &[(JobRecord, bool)]) -> Result<(), Trouble> {
    let mut rows = Vec::with_capacity(jobs.len());
    for (job, _) in jobs {
        rows.push((job, fixed(job)?, changing(job)?));
    }
    let columns = "INSERT INTO job
        (seq, job_id, run_id, priority, tags, labels, waiting, not_before, fixed, changing) ";
    let mut query = QueryBuilder::<Postgres>::new(columns);
    query.push_values(&rows, |mut row, (job, fixed, changing)| {
        let words = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect::<Vec<_>>();
        row.push_bind(number(job.seq))
            .push_bind(job.job_id.as_str())
            .push_bind(job.run_id.as_str())
            .push_bind(job.order.priority)
            .push_bind(words(job.order.tags.iter().map(|tag| tag.as_str()).collect()))
            .push_bind(words(job.order.labels.iter().map(|label| label.as_str()).collect()))
            .push_bind(job.waiting())
            .push_bind(number(job.not_before.0))
            .push_bind(fixed.as_str())
            .push_bind(changing.as_str());
    });
    query.build().persistent(false).execute(&mut *sql).await?;
    let needs: Vec<_> =
        jobs.iter().flat_map(|(job, _)| job.needs.iter().map(|need| (need, &job.job_id))).collect();
    for chunk in needs.chunks(STATEMENT_ROWS_MAX) {
        let mut query = QueryBuilder::<Postgres>::new("INSERT INTO need (needed, job_id) ");
        query.push_values(chunk, |mut row, (need, job)| {
            row.push_bind(need.as_str()).push_bind(job.as_str());
        });
        query.build().persistent(false).execute(&mut *sql).await?;
    }
    // A row that is not there cannot be locked: labels are there before their first job is granted.
    let labels: std::collections::BTreeSet<_> =
        jobs.iter().flat_map(|(job, _)| job.order.labels.iter().cloned()).collect();
    for label in labels {
        put_label(sql, &LabelRecord { label, limit: None, in_use: 0 }, true).await?;
    }
    Ok(())
}
