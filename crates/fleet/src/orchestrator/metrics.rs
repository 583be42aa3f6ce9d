//! `GET /metrics`, as Prometheus reads it, and what autoscalers want to know.

use super::answer::{Failure, shown};
use super::app::App;
use crate::auth::Scope;
use crate::lease::{AttemptState, Outcome};
use crate::store::Store;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(super) struct Metrics {
    messages: Mutex<BTreeMap<&'static str, u64>>,
    ended: Mutex<BTreeMap<AttemptState, u64>>,
    dead_letters: AtomicU64,
    lapsed: AtomicU64,
}

fn count<K: Ord>(counts: &Mutex<BTreeMap<K, u64>>, key: K) {
    *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
}

impl Metrics {
    pub(super) fn message(&self, kind: &'static str) {
        count(&self.messages, kind);
    }

    pub(super) fn lapsed(&self, leases: usize) {
        self.lapsed.fetch_add(leases as u64, Ordering::Relaxed);
    }

    pub(super) fn job_ended(&self, outcome: &Outcome) {
        count(&self.ended, outcome.status);
        self.dead_letters.fetch_add(outcome.dead_letter.into(), Ordering::Relaxed);
    }
}

pub(super) async fn metrics(State(app): State<App>, headers: HeaderMap) -> Result<String, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let counts = app.0.store.counts().await?;
    let (objects, objects_max) = app.0.objects.used().await;
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, value: u64| {
        // Writing into a string does not fail.
        let _ = writeln!(text, "# HELP fleet_{name} {help}\n# TYPE fleet_{name} gauge");
        let _ = writeln!(text, "fleet_{name} {value}");
    };
    gauge("jobs_waiting", "Jobs that wait for a runner.", counts.waiting);
    gauge("jobs_held", "Jobs that a runner has.", counts.held);
    gauge("runners_waiting", "Runners that wait for a job.", app.0.waiters.len() as u64);
    let known = app.0.roster.count(app.now()) as u64;
    gauge("runners_known", "Runners that were heard of lately and have not left.", known);
    let help = "Runners that would be busy; jobs that limits hold back do not count.";
    gauge("workers_desired", help, counts.desired());
    gauge("objects_bytes", "Bytes of objects in the folder, or on their way.", objects);
    gauge("objects_bytes_max", "Bytes that they may have.", objects_max);
    let _ = writeln!(text, "# HELP fleet_messages_total Messages of workers.");
    let _ = writeln!(text, "# TYPE fleet_messages_total counter");
    for (kind, n) in app.0.metrics.messages.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = writeln!(text, "fleet_messages_total{{type=\"{kind}\"}} {n}");
    }
    let _ = writeln!(text, "# HELP fleet_jobs_ended_total Jobs that ended.");
    let _ = writeln!(text, "# TYPE fleet_jobs_ended_total counter");
    for (status, n) in app.0.metrics.ended.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = writeln!(text, "fleet_jobs_ended_total{{status=\"{status}\"}} {n}");
    }
    let lapsed = "Leases whose time was over, as sweeps found them.";
    for (name, help, count) in [
        ("dead_letters", "Jobs that were given up.", &app.0.metrics.dead_letters),
        ("leases_lapsed", lapsed, &app.0.metrics.lapsed),
    ] {
        let _ = writeln!(text, "# HELP fleet_{name}_total {help}");
        let _ = writeln!(text, "# TYPE fleet_{name}_total counter");
        let _ = writeln!(text, "fleet_{name}_total {}", count.load(Ordering::Relaxed));
    }
    Ok(text)
}

/// `GET /api/v1/workers/desired`
pub(super) async fn desired(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let counts = app.0.store.counts().await?;
    Ok(shown(&json!({
        "desired": counts.desired(),
        "waiting": counts.waiting,
        "held": counts.held,
    })))
}
