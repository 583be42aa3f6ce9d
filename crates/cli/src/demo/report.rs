//! How it came out.

use super::script::named;
use crate::format::cby;
use crate::style::{Style, Table, Tone};
use remuda_client::types::{EventBody, HistoryEntry, JobStatusView, JobView};
use remuda_protocol::primitives::{Address, Amount};
use serde_json::{Value, json};

/// Something that had to come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) what: String,
    pub(super) ok: bool,
}

#[derive(Clone, Debug)]
pub(super) struct JobReport {
    name: String,
    id: String,
    submitted_at: u64,
    ended_at: u64,
    millis: u64,
    pub(super) attempts: u32,
    pub(super) paid: Vec<(Address, u128)>,
    pub(super) result: Option<String>,
    pub(super) checks: Vec<Check>,
}

impl JobReport {
    pub(super) fn new(name: &str, job: &JobView, history: &[HistoryEntry]) -> Self {
        let paid: Vec<(Address, u128)> = history
            .iter()
            .filter_map(|entry| match &entry.event {
                EventBody::Paid { runner, amount, .. } => Some((runner.0, amount.0)),
                _ => None,
            })
            .collect();
        let settled = job.status == JobStatusView::Settled {};
        let mut checks = vec![Check { what: "settled".to_owned(), ok: settled }];
        for entry in history {
            if let EventBody::JobSettled { gross, burned, treasury, .. } = &entry.event {
                let shared: u128 = paid.iter().map(|(_, amount)| amount).sum();
                let all = shared + burned.0 + treasury.0;
                let what = "its price is paid out, burned and taxed to the last unit".to_owned();
                checks.push(Check { what, ok: all == gross.0 && gross.0 == spent(job) });
            }
        }
        let (first, last) = (history.first(), history.last());
        let ms = |entry: Option<&HistoryEntry>| entry.map_or(0, |entry| entry.timestamp_ms.0);
        Self {
            name: name.to_owned(),
            id: job.id.to_string(),
            submitted_at: job.submitted_at.0,
            ended_at: last.map_or(0, |entry| entry.height.0),
            millis: ms(last).saturating_sub(ms(first)),
            attempts: job.attempt,
            paid,
            result: job
                .result
                .as_ref()
                .map(|result| String::from_utf8_lossy(&result.result.0).into_owned()),
            checks,
        }
    }

    fn ok(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

/// What the submitter put up.
fn spent(job: &JobView) -> u128 {
    job.spec.max_price.0 + job.spec.tip.0
}

#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) jobs: Vec<JobReport>,
    pub(super) checks: Vec<Check>,
    pub(super) millis: u64,
}

impl Report {
    pub(super) fn ok(&self) -> bool {
        self.jobs.iter().all(JobReport::ok) && self.checks.iter().all(|check| check.ok)
    }

    pub(super) fn json(&self) -> Value {
        let check = |check: &Check| json!({ "what": check.what, "ok": check.ok });
        let job = |job: &JobReport| {
            let paid = job.paid.iter().map(|(who, amount)| {
                json!({ "runner": named((*who).into()), "amount": amount.to_string() })
            });
            json!({
                "name": job.name,
                "id": job.id,
                "submitted_at": job.submitted_at,
                "ended_at": job.ended_at,
                "millis": job.millis,
                "attempts": job.attempts,
                "paid": paid.collect::<Vec<_>>(),
                "result": job.result,
                "checks": job.checks.iter().map(check).collect::<Vec<_>>(),
            })
        };
        json!({
            "ok": self.ok(),
            "millis": self.millis,
            "jobs": self.jobs.iter().map(job).collect::<Vec<_>>(),
            "checks": self.checks.iter().map(check).collect::<Vec<_>>(),
        })
    }

    pub(super) fn render(&self, style: Style) -> String {
        let paid = |job: &JobReport| -> Vec<String> {
            let pay = |(who, amount): &(Address, u128)| {
                format!("{} {}", named((*who).into()), cby(Amount(*amount)))
            };
            job.paid.iter().map(pay).collect()
        };
        let table = Table::of(&self.jobs)
            .left("job", |job| &job.name)
            .right("heights", |job| format!("{}–{}", job.submitted_at, job.ended_at))
            .right("ms", |job| job.millis)
            .right("draws", |job| job.attempts + 1)
            .left("paid", |job| paid(job).join(", "));
        let mut text = format!("\n{}\n", table.render(Style { terminal: true, ..style }));
        let jobs = self.jobs.iter().flat_map(|job| {
            job.checks.iter().map(|check| (check.ok, format!("{}: {}", job.name, check.what)))
        });
        let all = self.checks.iter().map(|check| (check.ok, check.what.clone()));
        for (ok, what) in jobs.chain(all) {
            let (tone, word) = if ok { (Tone::Good, "yes") } else { (Tone::Bad, "NO ") };
            text += &format!("{} {what}\n", style.paint(tone, word));
        }
        let seconds = self.millis as f64 / 1_000.0;
        let end = if self.ok() { "OK: all checks passed" } else { "FAILED: see the checks above" };
        text + &format!("\n{end} in {seconds:.1} s\n")
    }
}
