//! The API's own counters, for Prometheus.

use prometheus_client::encoding::{EncodeLabelSet, text::encode_registry};
use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};
use prometheus_client::registry::Registry;
use std::time::Duration;

/// Routes are templates, so there are as many label sets as the router has routes times a handful of
/// statuses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answer {
    route: String,
    status: u16,
}

#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Answer, Counter>,
    request_micros: Family<Answer, Counter>,
    pub(super) accepted: Counter,
    pub(super) refused: Counter,
    pub(super) limited: Counter,
    pub(super) slow_readers: Counter,
    streams: Gauge,
    connections: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("remuda_api"),
            requests: Family::default(),
            request_micros: Family::default(),
            accepted: Counter::default(),
            refused: Counter::default(),
            limited: Counter::default(),
            slow_readers: Counter::default(),
            streams: Gauge::default(),
            connections: Gauge::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("requests", "Answers by route and status", metrics.requests.clone());
        let (name, help) = ("request_microseconds", "Time until the answer began");
        registry.register(name, help, metrics.request_micros.clone());
        registry.register("accepted", "Transactions taken", metrics.accepted.clone());
        registry.register("refused", "Transactions not taken", metrics.refused.clone());
        registry.register("limited", "Requests beyond an allowance", metrics.limited.clone());
        let help = "Streams ended because of slow readers";
        registry.register("slow_readers", help, metrics.slow_readers.clone());
        registry.register("streams", "Open event streams", metrics.streams.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        metrics
    }
}

impl Metrics {
    pub(super) fn answered(&self, route: &str, status: u16, took: Duration) {
        let answer = Answer { route: route.to_owned(), status };
        self.requests.get_or_create(&answer).inc();
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.request_micros.get_or_create(&answer).inc_by(micros);
    }

    pub(super) fn render(&self, streams: usize, connections: usize) -> String {
        self.streams.set(i64::try_from(streams).unwrap_or(i64::MAX));
        self.connections.set(i64::try_from(connections).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode_registry(&mut text, &self.registry).expect("a string takes all");
        text
    }
}
