//! Explains why a job makes no progress: what holds back a queued job, and how long the worker of a leased job has
//! been silent. For display only: it reads rows and decides nothing.

use super::clock::LeaseClock;
use super::policy::Policy;
use super::queue::Gate;
use super::record::{JobRecord, LabelRecord, LeaseRecord, RunRecord, Standing};
use super::state::LeaseState;
use crate::time::Millis;

/// A limit that is reached: until one of the jobs under it ends, no other is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    pub gate: Gate,
    /// How many jobs it allows.
    pub limit: u32,
    pub in_use: u32,
}

impl Reached {
    /// The first that holds a job of this run and with these labels back.
    pub fn first<'a>(
        run: Option<&RunRecord>,
        labels: impl IntoIterator<Item = &'a LabelRecord>,
    ) -> Option<Self> {
        let run = run.filter(|run| !run.has_room()).and_then(|run| {
            let gate = Gate::Run(run.run_id.clone());
            Some(Self { gate, limit: run.max_parallel?, in_use: run.in_use })
        });
        run.or_else(|| {
            let label = labels.into_iter().find(|label| !label.has_room())?;
            let gate = Gate::Label(label.label.clone());
            Some(Self { gate, limit: label.limit?, in_use: label.in_use })
        })
    }
}

/// What a job that nobody has waits for. In this order: what comes later may be so, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    Needs,
    /// The end of the pause before its next attempt.
    Pause(Millis),
    Limit(Reached),
    /// Nothing but a worker: it is granted to the next that has its tags, after those before it.
    Turn,
}

/// Why nobody has this job now. None: somebody has, or it has ended.
pub fn wait(now: &LeaseClock, job: &JobRecord, reached: Option<&Reached>) -> Option<Wait> {
    let wait = match reached {
        _ if job.needs_open > 0 => Wait::Needs,
        _ if job.not_before > now.lease => Wait::Pause(now.wall_at(job.not_before)),
        Some(reached) => Wait::Limit(reached.clone()),
        None => Wait::Turn,
    };
    Some(wait).filter(|_| job.standing == Standing::Queued)
}

/// Heartbeats of a lease's holder are overdue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    pub seconds: u32,
    /// Until the lease ends without another heartbeat.
    pub ends_in_seconds: u32,
}

/// Whether the holder of this lease has missed a heartbeat, or was given the lease and has not said that it
/// takes it.
pub fn silence(policy: &Policy, now: &LeaseClock, lease: &LeaseRecord) -> Option<Silence> {
    let due = lease.due_at(now)?;
    let patience = match lease.state {
        // It should answer at once.
        LeaseState::Granted => policy.ack_window_seconds / 3,
        // A beat may be late.
        _ => 2 * lease.beats_seconds(policy),
    };
    let millis = now.lease.0.saturating_sub(lease.expires.since.0);
    let seconds = u32::try_from(millis / 1_000).unwrap_or(u32::MAX);
    let silence = Silence { seconds, ends_in_seconds: now.lease.seconds_until(due) };
    Some(silence).filter(|_| seconds > patience)
}
