//! Moves messages between the chain and the sessions.

use super::{JobNews, Runners, TIMED_MAX};
use crate::backend::{Backend, Finalised};
use crate::chain::Sessions;
use remuda_link::frame::CancelReason;
use remuda_link::quic::server::Server;
use remuda_link::session::validator::{Assignment, Event, Head, Outcome, Place};
use remuda_protocol::dispatcher::job::{Job, SeatState};
use remuda_protocol::event::Event as Happened;
use remuda_protocol::key::{JobKey, JobSpecKey, PresenceKey};
use remuda_protocol::primitives::{Address, Height, JobId};
use remuda_protocol::state::{MemoryState, StateKey as _, View as _, read};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{broadcast, mpsc};

/// A runner is told again what it sits on every so many blocks, if it has no stream for it: a push may be lost
/// with its stream, or refused for want of a place.
const SAY_AGAIN_BLOCKS: u64 = 16;
/// Jobs that it is told then.
const SAID_AT_ONCE: usize = 256;

/// Microseconds since 1970.
fn to_micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

pub(super) fn head(state: &MemoryState, height: Height) -> Head {
    let subset_epoch = read(state, &PresenceKey {}).map_or(0, |state| state.epoch.number);
    Head { height: height.get(), subset_epoch }
}

pub(super) struct Desk {
    pub(super) runners: Arc<Runners>,
    pub(super) server: Server,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) sessions: Sessions,
}

impl Desk {
    pub(super) async fn run(
        self,
        mut blocks: broadcast::Receiver<Arc<Finalised>>,
        mut events: mpsc::Receiver<(Place, Event)>,
    ) {
        loop {
            tokio::select! {
                // Blocks first: an assignment does not wait behind what sessions say.
                biased;
                block = blocks.recv() => match block {
                    Ok(block) => self.block(&block),
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        // What ended in blocks that were missed is not known.
                        self.runners.told.clear();
                        self.runners.timed().clear();
                        self.runners.handed.lock().unwrap_or_else(PoisonError::into_inner).clear();
                        for runner in self.server.runners() {
                            self.say_again(runner);
                        }
                    }
                    Err(broadcast::error::RecvError::Closed) => return,
                },
                event = events.recv() => match event {
                    Some((place, event)) => self.heard(place, event),
                    None => return,
                },
            }
        }
    }

    fn block(&self, block: &Finalised) {
        let state = &self.backend.tip().state;
        // Assignments leave before anything else is told: they are what somebody waits for.
        for event in block.receipts.iter().flat_map(|receipt| &receipt.events) {
            if let Happened::JobAssigned { job, attempt, runners, commit_by, .. } = event {
                for runner in runners {
                    self.push(state, *job, *runner, *attempt, block.height(), *commit_by);
                }
            }
        }
        self.server.head(head(state, block.height()));
        for event in block.receipts.iter().flat_map(|receipt| &receipt.events) {
            match event {
                Happened::RunnerTimedOut { job, runner, .. } => {
                    self.server.cancel(runner, *job, CancelReason::Expired);
                    self.runners.forget(*job, *runner);
                }
                Happened::JobSettled { job, .. }
                | Happened::JobFailed { job, .. }
                | Happened::JobCancelled { job, .. } => {
                    let seats = read(state, &JobKey { job: *job }).map(|job: Job| job.seats);
                    for seat in seats.unwrap_or_default() {
                        self.server.cancel(&seat.runner, *job, CancelReason::Failed);
                        self.runners.forget(*job, seat.runner);
                    }
                }
                _ => {}
            }
        }
        // Last: what is over must be told whatever else there is.
        let turn = |runner: &Address| {
            (u64::from(runner[19]) + block.height().get()).is_multiple_of(SAY_AGAIN_BLOCKS)
        };
        self.server.runners().into_iter().filter(turn).for_each(|runner| self.say_again(runner));
    }

    fn push(
        &self,
        state: &MemoryState,
        job: JobId,
        runner: Address,
        attempt: u32,
        at: Height,
        by: Height,
    ) {
        let now = to_micros(SystemTime::now());
        tracing::debug!(%job, %runner, at_micros = now, "push assigned");
        // Read only where somebody is to be told: it may be long.
        if !self.server.has(&runner) {
            return;
        }
        let Some(job_spec) = state.get(&JobSpecKey { job }.bytes()) else { return };
        let assignment = Assignment {
            job_id: job,
            attempt,
            job_spec,
            block_height: at.get(),
            deadline_block: by.get(),
        };
        if self.server.push(&runner, assignment) {
            self.runners.told.add(runner, job);
            let mut timed = self.runners.timed();
            if timed.len() < TIMED_MAX {
                timed.insert((job, runner), Instant::now());
            }
        }
    }

    /// Pushes whatever a runner sits on.
    fn say_again(&self, runner: Address) {
        let tip = self.backend.tip();
        // Not more than a session takes at a time, and in turn, so that each gets through.
        let mut jobs = self.backend.open_jobs(runner);
        let turns = tip.finalised.height().get() / SAY_AGAIN_BLOCKS;
        let first = (turns * SAID_AT_ONCE as u64) % (jobs.len().max(1) as u64);
        jobs.rotate_left(first as usize);
        // What it was told of in this session it need not hear again.
        jobs.retain(|job| self.runners.told.has(runner, *job) != Some(true));
        for id in jobs.into_iter().take(SAID_AT_ONCE) {
            let Some(job) = read(&tip.state, &JobKey { job: id }) else { continue };
            let Some(seat) = job.taking_part().find(|seat| seat.runner == runner) else { continue };
            // Also what it has committed to: the results of others reach an aggregator this way.
            if matches!(seat.progress, SeatState::Waiting | SeatState::Committed { .. }) {
                let height = tip.finalised.height();
                self.push(&tip.state, id, runner, seat.attempt, height, job.commit_by);
            }
        }
    }

    fn heard(&self, place: Place, event: Event) {
        let runner = place.address;
        match event {
            Event::Opened(_) => {
                tracing::info!(%runner, "a runner has connected");
                self.runners.told.forget_runner(runner);
                self.say_again(runner);
            }
            Event::Presence(present) => {
                tracing::debug!(%runner, present, "presence");
                self.sessions.set(place.slot, present);
            }
            Event::Outcome(job, outcome) => {
                self.runners.counts.of(outcome).fetch_add(1, Relaxed);
                if matches!(outcome, Outcome::SoftFailure | Outcome::HardFailure) {
                    self.runners.told.remove(runner, job);
                }
                let since = self.runners.timed().remove(&(job, runner));
                let micros = since.map(|since| since.elapsed().as_micros() as u64);
                tracing::debug!(%job, %runner, ?outcome, micros, "push answered");
            }
            Event::NoStream(job) => {
                self.runners.told.remove(runner, job);
            }
            Event::Progress(progress) => {
                // Nobody may be listening.
                let _ = self.runners.news.send(Arc::new(JobNews {
                    job: progress.job_id,
                    runner,
                    percent: progress.fraction,
                    detail: progress.detail,
                }));
            }
            Event::Transaction(job, bytes) => {
                if let Err(refusal) = self.backend.submit(bytes) {
                    // The same one comes through several validators, so this is nothing special.
                    tracing::debug!(%runner, %job, code = refusal.code, "not taken");
                }
            }
            Event::Load(load) => {
                tracing::debug!(%runner, accepting = load.accepting_new, "load");
            }
        }
    }
}
