//! Faulty parts of the runner: it refuses jobs that need them, pauses on chain, and tests them until they work
//! again. [`crate::daemon::faults`] has the rules.

use super::{Action, RunnerCore};
use crate::daemon::dependencies::capabilities;
use crate::daemon::faults::{Certainty, JOURNAL, PartTest};
use crate::daemon::open_job::Work;
use crate::executor::repeatable;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::JobId;
use std::collections::BTreeSet;
use tracing::{error, info};

impl RunnerCore {
    /// Why a faulty part prevents a job.
    pub(super) fn fault_of(&self, spec: &JobSpec) -> Option<&str> {
        let needed = capabilities(spec);
        self.faults.of(needed.iter().flatten().map(String::as_str))
    }

    pub(super) fn fault_at(&self, job: JobId) -> Option<String> {
        let spec = self.jobs.get(&job)?.spec.as_ref()?;
        self.fault_of(spec).map(str::to_owned)
    }

    /// The part that executes a job.
    fn part(&self, job: JobId) -> Option<String> {
        let spec = self.jobs.get(&job)?.spec.as_ref()?;
        capabilities(spec).into_iter().flatten().next()
    }

    pub(super) fn part_works(&mut self, job: JobId) {
        let Some(part) = self.part(job) else { return };
        if self.faults.works(&part) {
            self.recovered(&part);
        }
    }

    /// A part of the runner failed at a job. Repeatable work is tried once more, and otherwise waits for the
    /// part: it may recover before the deadline.
    pub(super) fn interrupted(&mut self, job: JobId, why: &str, certainty: Certainty) {
        let (Some(part), Some(open)) = (self.part(job), self.jobs.get_mut(&job)) else { return };
        open.failures += u32::from(certainty == Certainty::Suspected);
        let first = open.failures <= 1;
        // A job that breaks its executor every time proves no fault, so it counts once.
        if certainty == Certainty::Certain || first {
            self.fails(&part, why, certainty);
        }
        let waits = self.fault_at(job).is_some();
        let Some(open) = self.jobs.get_mut(&job) else { return };
        let again = open.spec.as_ref().is_some_and(|it| repeatable(&it.job_type));
        if again && (first || waits) {
            open.work = Work::Waiting;
        }
    }

    pub(super) fn journal_probed(&mut self, written: Result<(), String>) {
        match written {
            Ok(()) => self.part_tested(JOURNAL, PartTest::Passed),
            Err(why) => self.fails(JOURNAL, &why, Certainty::Certain),
        }
    }

    fn fails(&mut self, part: &str, why: &str, certainty: Certainty) {
        if !self.faults.strike(part, why, certainty, self.now_ms) {
            return;
        }
        error!(part, why, "part failed, refusing jobs that need it");
        self.act(Action::TestParts(self.faults.open()));
        self.tell_capability(part, false);
        // A pause may be due before the next regular question.
        self.act(Action::GetRegistration);
    }

    pub(super) fn part_tested(&mut self, part: &str, test: PartTest) {
        if self.faults.tested(part, test, self.now_ms) {
            self.recovered(part);
        }
    }

    fn recovered(&mut self, part: &str) {
        info!(part, "part recovered");
        self.act(Action::TestParts(self.faults.open()));
        self.tell_capability(part, true);
        let waiting: Vec<JobId> =
            (self.jobs.values()).filter(|open| open.waiting()).map(|open| open.job_id).collect();
        for job in waiting {
            self.step(job);
        }
    }

    /// The journal is no capability. Without it the runner signals that it accepts no jobs.
    fn tell_capability(&mut self, part: &str, works: bool) {
        let open = self.sessions.open();
        if part == JOURNAL || open.is_empty() {
            return;
        }
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        if works { &mut added } else { &mut removed }.push(part.to_owned());
        self.act(Action::Capability(open, added, removed));
    }

    pub(super) fn lost_capabilities(&self) -> Vec<String> {
        let broken = self.faults.open().into_iter().filter(|part| part != JOURNAL);
        let all: BTreeSet<String> = self.dependencies.lost().into_iter().chain(broken).collect();
        all.into_iter().collect()
    }
}
