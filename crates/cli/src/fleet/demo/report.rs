//! What came out.

use crate::style::{Cell, Style, Table, Tone};
use remuda_fleet::lease::AttemptState;
use serde::Serialize;
use serde_json::Value;

/// A job, at the end.
#[derive(Clone, Debug, Serialize)]
pub(super) struct JobEnd {
    pub(super) name: String,
    pub(super) state: AttemptState,
    pub(super) fence: u64,
    pub(super) losses: u32,
    pub(super) worker: String,
}

/// Something that must be so.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    pub(super) what: &'static str,
    pub(super) ok: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) run: String,
    pub(super) killed: String,
    pub(super) job: String,
    pub(super) late_answer: String,
    pub(super) jobs: Vec<JobEnd>,
    pub(super) checks: Vec<Check>,
    pub(super) millis: u64,
}

impl Report {
    pub(super) fn ok(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }

    pub(super) fn json(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        json["ok"] = self.ok().into();
        json
    }

    pub(super) fn render(&self, style: Style) -> String {
        let state = |job: &JobEnd| match job.state {
            AttemptState::Succeeded => Cell::new(Tone::Good, job.state),
            _ => Cell::new(Tone::Bad, job.state),
        };
        let table = Table::of(&self.jobs)
            .left("job", |job| &job.name)
            .left("state", state)
            .right("fence", |job| job.fence)
            .right("leases lost", |job| job.losses)
            .left("done by", |job| &job.worker);
        let mut text = format!("\n{}\n", table.render(Style { terminal: true, ..style }));
        for check in &self.checks {
            let (tone, mark) = if check.ok { (Tone::Good, "ok") } else { (Tone::Bad, "NOT SO") };
            text += &format!("  {:<6}  {}\n", style.paint(tone, mark), check.what);
        }
        let span = crate::format::span(self.millis);
        text + &format!("\n{span}; all processes have ended, and the files are gone.\n")
    }
}
