//! The API's own counters, in Prometheus' text form.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Counters since the start.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// By route and status. Routes are templates, so there are as many entries as the router has
    /// routes times a handful of statuses.
    requests: Mutex<BTreeMap<(String, u16), Timed>>,
    pub(super) accepted: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) limited: AtomicU64,
    /// Streams whose readers were too slow.
    pub(super) slow_readers: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    count: u64,
    micros: u64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Metrics {
    pub(super) fn answered(&self, route: &str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let timed = requests.entry((route.to_owned(), status)).or_default();
        timed.count += 1;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        timed.micros = timed.micros.saturating_add(micros);
    }

    pub(super) fn render(&self, streams: usize, connections: usize) -> String {
        let mut out = String::new();
        out.push_str("# HELP remuda_api_requests_total Answers by route and status\n");
        out.push_str("# TYPE remuda_api_requests_total counter\n");
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for ((route, status), timed) in &requests {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            let _ = writeln!(out, "remuda_api_requests_total{{{labels}}} {}", timed.count);
        }
        out.push_str("# HELP remuda_api_request_microseconds_total Time until the answer began\n");
        out.push_str("# TYPE remuda_api_request_microseconds_total counter\n");
        for ((route, status), timed) in &requests {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            let micros = timed.micros;
            let _ = writeln!(out, "remuda_api_request_microseconds_total{{{labels}}} {micros}");
        }
        let counters = [
            ("accepted_total", "Transactions taken", &self.accepted),
            ("refused_total", "Transactions not taken", &self.refused),
            ("limited_total", "Requests beyond an allowance", &self.limited),
            ("slow_readers_total", "Streams ended because of slow readers", &self.slow_readers),
        ];
        for (name, about, counter) in counters {
            let value = counter.load(Ordering::Relaxed);
            let _ = writeln!(out, "# HELP remuda_api_{name} {about}");
            let _ = writeln!(out, "# TYPE remuda_api_{name} counter\nremuda_api_{name} {value}");
        }
        let gauges = [
            ("streams", "Open event streams", streams),
            ("connections", "Open connections", connections),
        ];
        for (name, about, value) in gauges {
            let _ = writeln!(out, "# HELP remuda_api_{name} {about}");
            let _ = writeln!(out, "# TYPE remuda_api_{name} gauge\nremuda_api_{name} {value}");
        }
        out
    }
}
