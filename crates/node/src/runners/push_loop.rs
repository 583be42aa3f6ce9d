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
use std::sync::{Arc, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{broadcast, mpsc};

/// Assignments without a stream are pushed again every so many blocks: a push may be lost with its stream, or
/// refused for want of a place.
const REPUSH_BLOCKS: u64 = 16;
/// Assignments of one runner that are pushed again at once.
const REPUSH_BATCH_MAX: usize = 256;

fn to_micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

pub(super) fn head(state: &MemoryState, height: Height) -> Head {
    let subset_epoch = read(state, &PresenceKey {}).map_or(0, |state| state.epoch.number);
    Head { height: height.get(), subset_epoch }
}

pub(super) struct PushLoop {
    pub(super) runners: Arc<Runners>,
    pub(super) server: Server,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) sessions: Sessions,
}

impl PushLoop {
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
                        self.runners.push_log.clear();
                        self.runners.timed().clear();
                        self.runners.handed.lock().unwrap_or_else(PoisonError::into_inner).clear();
                        for runner in self.server.runners() {
                            self.repush(runner);
                        }
                    }
                    Err(broadcast::error::RecvError::Closed) => return,
                },
                event = events.recv() => match event {
                    Some((place, event)) => self.on_event(place, event),
                    None => return,
                },
            }
        }
    }

    fn block(&self, block: &Finalised) {
        let state = &self.backend.tip().state;
        // Assignments first: runners wait for them.
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
        // Last, so that cancellations are never delayed.
        let turn = |runner: &Address| {
            (u64::from(runner[19]) + block.height().get()).is_multiple_of(REPUSH_BLOCKS)
        };
        self.server.runners().into_iter().filter(turn).for_each(|runner| self.repush(runner));
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
        // Read only if the runner has a session: a specification may be long.
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
            self.runners.push_log.add(runner, job);
            let mut timed = self.runners.timed();
            if timed.len() < TIMED_MAX {
                timed.insert((job, runner), Instant::now());
            }
        }
    }

    /// Pushes the assignments that a runner has no stream for.
    fn repush(&self, runner: Address) {
        let tip = self.backend.tip();
        // No more than a session takes at once, and in rotation, so that every job gets through.
        let mut jobs = self.backend.open_jobs(runner);
        let turns = tip.finalised.height().get() / REPUSH_BLOCKS;
        let first = (turns * REPUSH_BATCH_MAX as u64) % (jobs.len().max(1) as u64);
        jobs.rotate_left(first as usize);
        // Without those that were pushed in this session already.
        jobs.retain(|job| self.runners.push_log.has(runner, *job) != Some(true));
        for id in jobs.into_iter().take(REPUSH_BATCH_MAX) {
            let Some(job) = read(&tip.state, &JobKey { job: id }) else { continue };
            let Some(seat) = job.taking_part().find(|seat| seat.runner == runner) else { continue };
            // Committed ones too: an aggregator gets the others' results through their stream.
            if matches!(seat.progress, SeatState::Waiting | SeatState::Committed { .. }) {
                let height = tip.finalised.height();
                self.push(&tip.state, id, runner, seat.attempt, height, job.commit_by);
            }
        }
    }

    fn on_event(&self, place: Place, event: Event) {
        let runner = place.address;
        match event {
            Event::Opened(_) => {
                tracing::info!(%runner, "runner connected");
                self.runners.push_log.forget_runner(runner);
                self.repush(runner);
            }
            Event::Presence(present) => {
                tracing::debug!(%runner, present, "runner presence");
                self.sessions.set(place.slot, present);
            }
            Event::Outcome(job, outcome) => {
                self.runners.metrics.pushes(outcome).inc();
                if matches!(outcome, Outcome::SoftFailure | Outcome::HardFailure) {
                    self.runners.push_log.remove(runner, job);
                }
                let since = self.runners.timed().remove(&(job, runner));
                let micros = since.map(|since| since.elapsed().as_micros() as u64);
                tracing::debug!(%job, %runner, ?outcome, micros, "push acknowledged");
            }
            Event::NoStream(job) => {
                self.runners.push_log.remove(runner, job);
            }
            Event::Progress(progress) => {
                // There may be no listener.
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
                    tracing::debug!(%runner, %job, code = refusal.code, "runner transaction refused");
                }
            }
            Event::Load(load) => {
                tracing::debug!(%runner, accepting = load.accepting_new, "runner load");
            }
        }
    }
}
