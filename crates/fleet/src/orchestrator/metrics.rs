//! `GET /metrics` in OpenMetrics text, and the number of workers that autoscalers ask for.

use super::answer::{Failure, json};
use super::app::App;
use crate::auth::Scope;
use crate::lease::Outcome;
use crate::store::Store;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use serde_json::json;

pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A counter per value of one label.
type Labelled = Family<[(&'static str, String); 1], Counter>;

#[derive(Debug, Default)]
pub(super) struct Metrics {
    messages: Labelled,
    jobs_ended: Labelled,
    dead_letters: Counter,
    leases_lapsed: Counter,
}

impl Metrics {
    pub(super) fn message(&self, kind: &'static str) {
        self.messages.get_or_create(&[("type", kind.to_owned())]).inc();
    }

    pub(super) fn lapsed(&self, leases: usize) {
        self.leases_lapsed.inc_by(leases as u64);
    }

    pub(super) fn job_ended(&self, outcome: &Outcome) {
        self.jobs_ended.get_or_create(&[("status", outcome.status.to_string())]).inc();
        self.dead_letters.inc_by(outcome.dead_letter.into());
    }
}

pub(super) async fn metrics(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let counts = app.0.store.counts().await?;
    let (objects, objects_max) = app.0.objects.used().await;
    let runners = app.0.roster.count(app.now()) as u64;
    let mut registry = Registry::with_prefix("fleet");
    for (name, help, value) in [
        ("jobs_waiting", "Jobs waiting for a runner", counts.waiting),
        ("jobs_held", "Jobs held by a runner", counts.held),
        ("runners_waiting", "Runners waiting for a job", app.0.waiters.len() as u64),
        ("runners_known", "Runners seen recently that have not left", runners),
        ("workers_desired", "Runners that would be busy, without jobs held back by limits", {
            counts.desired()
        }),
        ("objects_bytes", "Bytes of objects in the folder or on their way to it", objects),
        ("objects_bytes_max", "Limit of objects_bytes", objects_max),
    ] {
        registry.register(name, help, ConstGauge::new(value));
    }
    let metrics = &app.0.metrics;
    registry.register("messages", "Messages of workers", metrics.messages.clone());
    registry.register("jobs_ended", "Jobs that ended", metrics.jobs_ended.clone());
    registry.register("dead_letters", "Jobs given up", metrics.dead_letters.clone());
    registry.register("leases_lapsed", "Leases expired, as sweeps found them", {
        metrics.leases_lapsed.clone()
    });
    let mut text = String::new();
    encode(&mut text, &registry).expect("a string takes every write");
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}

/// `GET /api/v1/workers/desired`
pub(super) async fn desired(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    app.person(&headers, Scope::Viewer)?;
    let counts = app.0.store.counts().await?;
    Ok(json(&json!({
        "desired": counts.desired(),
        "waiting": counts.waiting,
        "held": counts.held,
    })))
}
