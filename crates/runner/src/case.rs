//! The next step about one job, as a function of what the runner holds and of what the chain says.
//!
//! ```text
//! drawn ─▶ execute ─▶ one runner:  send the result ─▶ settled
//!                  └▶ a committee: commit ─▶ (commits close) ─▶ hand over to the aggregator, or
//!                     reveal for all as the aggregator; reveal alone when that takes too long
//! ```
//! Nothing here acts, and nothing is remembered here: after a restart the same files and the same
//! chain lead to the same step.

use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Failure, Job, SeatState, Status};
use remuda_protocol::primitives::Address;

#[cfg(test)]
mod tests;

/// Blocks before the end of the reveals from which members reveal without the aggregator.
const LAST_CALL: u64 = 20;
/// Blocks before the end of its time at which an aggregator opens what it has.
const AGGREGATOR_CALL: u64 = 5;

/// What the runner holds for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nothing yet; the work goes on, or has to begin.
    Nothing,
    /// A result with its salt and signature, on disk.
    Result,
    /// It tried, and there is none.
    NoResult,
    /// There was one, but the disk lost it.
    Lost,
}

/// Results of others that an aggregator has, checked against their commitments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    pub(crate) from: Vec<Address>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Execute,
    Wait,
    /// Deliver the result as the only runner.
    Submit,
    Commit,
    /// Give the result to the aggregator.
    HandOver(Address),
    /// Open these results, as the aggregator; the own one among them.
    RevealAll(Vec<Address>),
    RevealOwn,
    /// Say that the result is lost.
    AttestCrash,
    Close(End),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The receipt tells whether the runner's result won.
    Settled,
    Failed(Failure),
    /// The submitter called it off.
    Cancelled,
    /// This runner is not, or no more, seated.
    Unseated,
    /// This runner has nothing to commit, or its time is over.
    Missed,
}

/// What to do at this height, the height of the block that the view of the job is of.
pub(crate) fn next(
    me: Address,
    job: &Job,
    mode: VerificationMode,
    held: Held,
    collected: &Collected,
    height: u64,
) -> Step {
    match &job.status {
        Status::Settled => return Step::Close(End::Settled),
        Status::Failed { reason } => return Step::Close(End::Failed(*reason)),
        Status::Cancelled => return Step::Close(End::Cancelled),
        Status::Pending { .. } | Status::Assigned | Status::Committed => {}
    }
    let Some(seat) = job.taking_part().find(|seat| seat.runner == me) else {
        return Step::Close(End::Unseated);
    };
    // What is sent now is in the next block at the earliest.
    let soon = height.saturating_add(1);
    match seat.progress {
        SeatState::Waiting if soon > job.commit_by.get() => Step::Close(End::Missed),
        SeatState::Waiting => match held {
            Held::Nothing | Held::Lost => Step::Execute,
            Held::NoResult => Step::Close(End::Missed),
            Held::Result if alone(mode) => Step::Submit,
            Held::Result => Step::Commit,
        },
        SeatState::Committed { .. } if held != Held::Result => Step::AttestCrash,
        SeatState::Committed { .. } if job.status != Status::Committed => Step::Wait,
        SeatState::Committed { .. } => reveal(me, job, collected, soon),
        SeatState::Revealed { .. } | SeatState::Excused { .. } if job.aggregator == Some(me) => {
            gather(me, job, collected, soon)
        }
        SeatState::Revealed { .. } | SeatState::Excused { .. } => Step::Wait,
        SeatState::Crashed | SeatState::TimedOut | SeatState::Slashed => Step::Close(End::Unseated),
    }
}

/// Whether one runner's result is all there is: it is delivered, and never committed to.
pub(crate) fn alone(mode: VerificationMode) -> bool {
    matches!(mode, VerificationMode::None | VerificationMode::EconomicBond)
}

fn reveal(me: Address, job: &Job, collected: &Collected, soon: u64) -> Step {
    match job.aggregator {
        Some(aggregator) if aggregator == me => gather(me, job, collected, soon),
        Some(aggregator) => {
            let late = soon > job.aggregator_until.get();
            let last = soon.saturating_add(LAST_CALL) > job.reveal_by.get();
            if late || last { Step::RevealOwn } else { Step::HandOver(aggregator) }
        }
        None => Step::RevealOwn,
    }
}

/// The aggregator opens everything at once when it has everything, or when its time is nearly over.
fn gather(me: Address, job: &Job, collected: &Collected, soon: u64) -> Step {
    let missing = |seat: &&remuda_protocol::dispatcher::job::Seat| {
        matches!(seat.progress, SeatState::Committed { .. })
    };
    let open: Vec<Address> = job.taking_part().filter(missing).map(|seat| seat.runner).collect();
    let have = |runner: &Address| *runner == me || collected.from.contains(runner);
    let ready: Vec<Address> = open.iter().copied().filter(have).collect();
    let pressed = soon.saturating_add(AGGREGATOR_CALL) > job.aggregator_until.get();
    if ready.is_empty() || (ready.len() < open.len() && !pressed) {
        Step::Wait
    } else {
        Step::RevealAll(ready)
    }
}
