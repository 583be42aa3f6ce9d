//! What came out.

use crate::style::{Align, Cell, Style, Table, Tone};
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

/// Everything.
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

    pub(super) fn words(&self, style: Style) -> String {
        let mut table = Table::new(&[
            ("job", Align::Left),
            ("state", Align::Left),
            ("fence", Align::Right),
            ("leases lost", Align::Right),
            ("done by", Align::Left),
        ]);
        for job in &self.jobs {
            let good = job.state == AttemptState::Succeeded;
            table.row([
                Cell::plain(&job.name),
                Cell::new(if good { Tone::Good } else { Tone::Bad }, job.state.to_string()),
                Cell::plain(job.fence.to_string()),
                Cell::plain(job.losses.to_string()),
                Cell::plain(&job.worker),
            ]);
        }
        let mut text = format!("\n{}\n", table.aligned(style.colours));
        for check in &self.checks {
            let (tone, mark) = if check.ok { (Tone::Good, "ok") } else { (Tone::Bad, "NOT SO") };
            text += &format!("  {:<6}  {}\n", style.paint(tone, mark), check.what);
        }
        let span = crate::format::span(self.millis);
        text + &format!("\n{span}; all processes have ended, and the files are gone.\n")
    }
}
