//! What is out of order here, and what follows from that: no new jobs for it, a pause on chain, trials
//! until it works again. The rules are in [`crate::daemon::faults`].

use super::{Action, Desk};
use crate::daemon::dependencies::capabilities;
use crate::daemon::faults::{Doubt, JOURNAL, Trial};
use crate::executor::repeatable;
use crate::journal::Stage;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::JobId;
use std::collections::BTreeSet;
use tracing::{error, info};

impl Desk {
    /// Why a job cannot be done because of a fault.
    pub(super) fn fault_of(&self, spec: &JobSpec) -> Option<&str> {
        let needed = capabilities(spec);
        self.faults.of(needed.iter().flatten().map(String::as_str))
    }

    pub(super) fn fault_at(&self, job: JobId) -> Option<String> {
        let spec = self.jobs.get(&job)?.spec.as_ref()?;
        self.fault_of(spec).map(str::to_owned)
    }

    /// The part that does a job's own work.
    fn part(&self, job: JobId) -> Option<String> {
        let spec = self.jobs.get(&job)?.spec.as_ref()?;
        capabilities(spec).into_iter().flatten().next()
    }

    pub(super) fn part_works(&mut self, job: JobId) {
        let Some(part) = self.part(job) else { return };
        if self.faults.works(&part) {
            self.mended(&part);
        }
    }

    /// A part of the runner's own failed at a job. What may be done twice is tried once more, or waits
    /// until the part works again: that may be before the job's time is over.
    pub(super) fn interrupted(&mut self, job: JobId, why: &str, doubt: Doubt) {
        let (Some(part), Some(open)) = (self.part(job), self.jobs.get_mut(&job)) else { return };
        open.failures += u32::from(doubt == Doubt::Some);
        let first = open.failures <= 1;
        // One job that breaks its executor every time is no proof of a fault.
        if doubt == Doubt::None || first {
            self.fails(&part, why, doubt);
        }
        let waits = self.fault_at(job).is_some();
        let Some(open) = self.jobs.get_mut(&job) else { return };
        let again = open.spec.as_ref().is_some_and(|it| repeatable(&it.job_type));
        if again && (first || waits) {
            open.stage = Stage::Taken;
        }
    }

    pub(super) fn journal_written(&mut self, written: Result<(), String>) {
        match written {
            Ok(()) => self.tried(JOURNAL, Trial::Works),
            Err(why) => self.fails(JOURNAL, &why, Doubt::None),
        }
    }

    fn fails(&mut self, part: &str, why: &str, doubt: Doubt) {
        if !self.faults.strike(part, why, doubt, self.now_ms) {
            return;
        }
        error!(part, why, "part failed, refusing jobs that need it");
        self.act(Action::Try(self.faults.open()));
        self.tell_capability(part, false);
        // It is not to be drawn again: the pause does not wait for its turn.
        self.act(Action::Standing);
    }

    pub(super) fn tried(&mut self, part: &str, trial: Trial) {
        if self.faults.tried(part, trial, self.now_ms) {
            self.mended(part);
        }
    }

    fn mended(&mut self, part: &str) {
        info!(part, "part recovered");
        self.act(Action::Try(self.faults.open()));
        self.tell_capability(part, true);
        let waiting: Vec<JobId> = (self.jobs.values())
            .filter(|open| open.checked && !open.working && open.stage == Stage::Taken)
            .map(|open| open.job_id)
            .collect();
        for job in waiting {
            self.step(job);
        }
    }

    /// The journal is no capability: without it nothing can be done, which sessions hear otherwise.
    fn tell_capability(&mut self, part: &str, works: bool) {
        let open = self.sessions.open();
        if part == JOURNAL || open.is_empty() {
            return;
        }
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        if works { &mut added } else { &mut removed }.push(part.to_owned());
        self.act(Action::Capability(open, added, removed));
    }

    /// What sessions are told that cannot be done now.
    pub(super) fn lost(&self) -> Vec<String> {
        let broken = self.faults.open().into_iter().filter(|part| part != JOURNAL);
        let all: BTreeSet<String> = self.dependencies.lost().into_iter().chain(broken).collect();
        all.into_iter().collect()
    }
}
