//! A backlog: how what is next is found in it, and how it is counted.

use super::Server;
use crate::parts::suite::common::{job, runner_id, submission};
use remuda_fleet::auth::random_id;
use remuda_fleet::id::{LeaseId, RunId};
use remuda_fleet::lease::Event;
use remuda_fleet::message::{Label, LeaseRequest, Tag};
use remuda_fleet::store::{Postgres, Store as _, Time};
use remuda_fleet::time::Millis;
use std::collections::BTreeSet;

/// Runs that wait, many of them under limits, and some jobs that somebody has.
async fn backlog(store: &Postgres, runs: usize) {
    let label = Label::new("few").expect("a label");
    let limit = Event::SetLimit { label: label.clone(), limit: Some(3) };
    store.handle(Millis(0), limit).await.expect("a store").reply.expect("set");
    for index in 0..runs {
        let mut jobs: Vec<_> = (0..20).map(|n| job(&format!("j{n}"))).collect();
        jobs[index % 20].labels.insert(label.clone());
        // Two of each run: among the eight that are had are both of a run that allows two.
        for first in &mut jobs[..2] {
            first.priority = i16::try_from(index % 5).expect("small");
        }
        let mut submission = submission(jobs);
        submission.max_parallel = (index % 3 == 0).then_some(2);
        let run_id = random_id(RunId::PREFIX, RunId::new);
        let event = Event::Submit { run_id, key: None, submission };
        store.handle(Millis(0), event).await.expect("a store").reply.expect("submitted");
    }
    for n in 0..8 {
        let request = LeaseRequest {
            runner_id: runner_id(&n.to_string()),
            capabilities: BTreeSet::new(),
            max_wait_seconds: 0,
        };
        let lease_id = random_id(LeaseId::PREFIX, LeaseId::new);
        let event = Event::Lease { lease_id, cancel_token: None, request };
        store.handle(Millis(0), event).await.expect("a store").reply.expect("granted");
    }
}

/// Jobs for runners that are not there, more urgent than all others.
async fn strange(store: &Postgres, runs: usize) {
    for index in 0..runs {
        let strange = |n: usize| {
            let mut job = job(&format!("j{n}"));
            job.priority = 100;
            job.tags = [format!("strange-{}", index % 10)]
                .map(|tag| Tag::new(&tag).expect("a tag"))
                .into();
            job
        };
        let submission = submission((0..100).map(strange).collect());
        let run_id = random_id(RunId::PREFIX, RunId::new);
        let event = Event::Submit { run_id, key: None, submission };
        store.handle(Millis(0), event).await.expect("a store").reply.expect("submitted");
    }
}

/// Rows of jobs that a plan's scans gave or passed over.
fn looked_at(plan: &[String]) -> u64 {
    let number = |line: &str, name: &str| {
        let (_, text) = line.rsplit_once(name)?;
        text.split([' ', '.', ')']).next()?.parse::<u64>().ok()
    };
    let mut rows = 0;
    let mut loops = 0;
    for line in plan {
        if line.contains("->") {
            let on_jobs = line.contains(" on job");
            loops = if on_jobs { number(line, "loops=").unwrap_or(0) } else { 0 };
            rows += loops * number(line, "rows=").unwrap_or(0);
        } else if line.contains("Rows Removed by Filter") {
            rows += loops * number(line, "Filter: ").unwrap_or(0);
        }
    }
    rows
}

/// Before the tables have been looked at by the server, and after: plans are made from what it knows of them.
#[tokio::test]
async fn what_is_next_is_picked_in_the_order_of_an_index_however_much_waits() {
    let server = Server::start("pg-plan");
    let store = server.store(Time::Database).await;
    backlog(&store, 150).await;
    strange(&store, 20).await;
    let mut sql = server.sql().await;
    for analyzed in [false, true] {
        if analyzed {
            sqlx::raw_sql("ANALYZE").execute(&mut sql).await.expect("analyzed");
        }
        for plan in store.pick_plans().await.expect("plans") {
            let text = plan.join("\n");
            assert!(text.contains("Index Scan using job_set on job"), "{analyzed}: {text}");
            // What is sorted is what was found in each set.
            assert_eq!(text.matches("Sort  ").count(), 1, "{analyzed}: {text}");
            for bad in ["Seq Scan on job", "Bitmap", "Hash Join", "Merge Join"] {
                assert!(!text.contains(bad), "{bad}, {analyzed}: {text}");
            }
            // As many as are wanted and those that limits hold back, and neither the 3,000 that wait nor the 2,000
            // that wait for others.
            assert!(looked_at(&plan) < 400, "{text}");
        }
    }
}

#[tokio::test]
async fn the_server_counts_what_waits_as_the_rows_do() {
    let server = Server::start("pg-counts");
    let store = server.store(Time::Database).await;
    backlog(&store, 30).await;
    let tables = store.snapshot().await.expect("rows");
    let counts = store.counts().await.expect("counts");
    assert_eq!((counts.held, counts.waiting), (8, 592));
    assert_eq!(counts, tables.counts());
    assert!(counts.ready < counts.waiting, "{counts:?}");
    let open = store.open_jobs(1_000).await.expect("rows");
    assert_eq!(open, tables.open_jobs(1_000));
    assert!(open.iter().any(|rows| rows.reached.is_some()));
}
