//! Rows of runs, jobs and leases as columns, and the one statement that writes them.

use super::Trouble;
use crate::auth::sha256_hex;
use crate::lease::{JobRecord, LeaseRecord, Rows, RunRecord};
use crate::message::Tag;
use crate::store::Tables;
use crate::store::journal::Changes;
use crate::store::row::{changing, fixed, number, text};
use sqlx::PgConnection;
use std::collections::BTreeSet;

/// Each part writes rows of its own: none depends on what another has done. A lease whose end only moves
/// away keeps the earlier time beside it: that is in an index, and a heartbeat that does not touch it
/// writes the row and no index. Sweeps move it.
const PUT: &str = "
    WITH runs AS (
        INSERT INTO run (run_id, key, created, ended, room, record)
        SELECT * FROM unnest
            ($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[], $6::text[])
        ON CONFLICT (run_id) DO UPDATE
        SET ended = excluded.ended, room = excluded.room, record = excluded.record
    ), new_jobs AS (
        INSERT INTO job
            (seq, job_id, run_id, priority, tags, labels, waiting, not_before, late, fixed, changing,
                tag_set)
        SELECT n.seq, n.job_id, n.run_id, n.priority, n.tags::text[], n.labels::text[], n.waiting,
            n.not_before, n.late, n.fixed, n.changing, n.tag_set
        FROM unnest ($7::bigint[], $8::text[], $9::text[], $10::smallint[], $11::text[], $12::text[],
                $13::boolean[], $14::bigint[], $15::bigint[], $16::text[], $17::text[], $32::text[])
            AS n (seq, job_id, run_id, priority, tags, labels, waiting, not_before, late, fixed,
                changing, tag_set)
    ), old_jobs AS (
        UPDATE job SET waiting = n.waiting, not_before = n.not_before, late = n.late,
            changing = n.changing
        FROM unnest ($18::bigint[], $19::boolean[], $20::bigint[], $21::bigint[], $22::text[])
            AS n (seq, waiting, not_before, late, changing)
        WHERE job.seq = n.seq
    ), needs AS (
        INSERT INTO need (needed, job_id) SELECT * FROM unnest ($23::text[], $24::text[])
    )
    INSERT INTO lease (lease_id, job_id, run_id, fence, runner_id, due, record)
    SELECT * FROM unnest ($25::text[], $26::text[], $27::text[], $28::bigint[], $29::text[],
        $30::bigint[], $31::text[])
    ON CONFLICT (lease_id) DO UPDATE SET record = excluded.record,
        due = CASE WHEN excluded.due > lease.due THEN lease.due ELSE excluded.due END";

#[derive(Default)]
struct Runs {
    ids: Vec<String>,
    keys: Vec<Option<String>>,
    created: Vec<i64>,
    ended: Vec<Option<i64>>,
    room: Vec<bool>,
    records: Vec<String>,
}

#[derive(Default)]
struct NewJobs {
    places: Vec<i64>,
    ids: Vec<String>,
    runs: Vec<String>,
    priorities: Vec<i16>,
    tags: Vec<String>,
    labels: Vec<String>,
    waiting: Vec<bool>,
    pauses: Vec<i64>,
    late: Vec<Option<i64>>,
    fixed: Vec<String>,
    changing: Vec<String>,
    tag_sets: Vec<String>,
    needed: Vec<String>,
    needing: Vec<String>,
}

#[derive(Default)]
struct OldJobs {
    places: Vec<i64>,
    waiting: Vec<bool>,
    pauses: Vec<i64>,
    late: Vec<Option<i64>>,
    changing: Vec<String>,
}

#[derive(Default)]
struct Leases {
    ids: Vec<String>,
    jobs: Vec<String>,
    runs: Vec<String>,
    fences: Vec<i64>,
    runners: Vec<String>,
    due: Vec<Option<i64>>,
    records: Vec<String>,
}

/// What is to be written.
#[derive(Default)]
pub(super) struct Columns {
    runs: Runs,
    new_jobs: NewJobs,
    old_jobs: OldJobs,
    leases: Leases,
}

fn owned(text: &str) -> String {
    text.to_owned()
}

/// A list as PostgreSQL writes it: lists of lists cannot be of different lengths.
fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let quoted =
        words.map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")));
    format!("{{{}}}", quoted.collect::<Vec<_>>().join(","))
}

/// A short name of a set of tags, which an index can have however many and long they are.
fn tag_set(tags: &BTreeSet<Tag>) -> String {
    let words: Vec<&str> = tags.iter().map(Tag::as_str).collect();
    sha256_hex(words.join("\n").as_bytes())
}

impl Columns {
    /// Adds what changed on one side.
    pub(super) fn add(&mut self, tables: &Tables, changes: &Changes) -> Result<(), Trouble> {
        let mut runs = changes.runs.iter().filter_map(|id| tables.run(id));
        runs.try_for_each(|run| self.run(&run))?;
        for (id, new) in &changes.jobs {
            match tables.job(id) {
                Some(job) if *new => self.new_job(&job)?,
                Some(job) => self.old_job(&job)?,
                None => {}
            }
        }
        let mut leases = changes.leases.iter().filter_map(|id| tables.lease(id));
        leases.try_for_each(|lease| self.lease(&lease))
    }

    fn run(&mut self, run: &RunRecord) -> Result<(), Trouble> {
        let to = &mut self.runs;
        to.ids.push(owned(run.run_id.as_str()));
        to.keys.push(run.idempotency.as_ref().map(|idempotency| idempotency.key.clone()));
        to.created.push(number(run.created_at.0));
        to.ended.push(run.ended_at.map(|at| number(at.0)));
        to.room.push(run.has_room());
        to.records.push(text("run", run)?);
        Ok(())
    }

    fn new_job(&mut self, job: &JobRecord) -> Result<(), Trouble> {
        let to = &mut self.new_jobs;
        to.places.push(number(job.seq));
        to.ids.push(owned(job.job_id.as_str()));
        to.runs.push(owned(job.run_id.as_str()));
        to.priorities.push(job.order.priority);
        to.tags.push(list(job.order.tags.iter().map(|tag| tag.as_str())));
        to.labels.push(list(job.order.labels.iter().map(|label| label.as_str())));
        to.waiting.push(job.waiting());
        to.pauses.push(number(job.not_before.0));
        to.late.push(job.queued_until().map(|end| number(end.0)));
        to.fixed.push(fixed(job)?);
        to.changing.push(changing(job)?);
        to.tag_sets.push(tag_set(&job.order.tags));
        for need in &job.needs {
            to.needed.push(owned(need.as_str()));
            to.needing.push(owned(job.job_id.as_str()));
        }
        Ok(())
    }

    fn old_job(&mut self, job: &JobRecord) -> Result<(), Trouble> {
        let to = &mut self.old_jobs;
        to.places.push(number(job.seq));
        to.waiting.push(job.waiting());
        to.pauses.push(number(job.not_before.0));
        to.late.push(job.queued_until().map(|end| number(end.0)));
        to.changing.push(changing(job)?);
        Ok(())
    }

    fn lease(&mut self, lease: &LeaseRecord) -> Result<(), Trouble> {
        let to = &mut self.leases;
        to.ids.push(owned(lease.lease_id.as_str()));
        to.jobs.push(owned(lease.job_id.as_str()));
        to.runs.push(owned(lease.run_id.as_str()));
        to.fences.push(number(lease.fence.0));
        to.runners.push(owned(lease.runner_id.as_str()));
        to.due.push(lease.due_at_earliest().map(|due| number(due.0)));
        to.records.push(text("lease", lease)?);
        Ok(())
    }

    /// Writes it, if there is anything.
    pub(super) async fn put(self, sql: &mut PgConnection) -> Result<(), Trouble> {
        let Self { runs, new_jobs: new, old_jobs: old, leases } = self;
        let none = runs.ids.is_empty() && new.ids.is_empty();
        if none && old.places.is_empty() && leases.ids.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(PUT).bind(runs.ids).bind(runs.keys).bind(runs.created);
        let query = query.bind(runs.ended).bind(runs.room).bind(runs.records);
        let query = query.bind(new.places).bind(new.ids).bind(new.runs).bind(new.priorities);
        let query = query.bind(new.tags).bind(new.labels).bind(new.waiting).bind(new.pauses);
        let query = query.bind(new.late).bind(new.fixed).bind(new.changing);
        let query = query.bind(old.places).bind(old.waiting).bind(old.pauses).bind(old.late);
        let query = query.bind(old.changing);
        let query = query.bind(new.needed).bind(new.needing);
        let query = query.bind(leases.ids).bind(leases.jobs).bind(leases.runs).bind(leases.fences);
        let query = query.bind(leases.runners).bind(leases.due).bind(leases.records);
        query.bind(new.tag_sets).execute(sql).await?;
        Ok(())
    }
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
