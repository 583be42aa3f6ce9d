//! `GET /job/{id}/history` and `/job/{id}/receipt`: a job's whole life, from the blocks.

use super::App;
use super::error::Failure;
use super::extract::{Part, Peer};
use super::job::unknown_job;
use crate::backend::{Finalised, Tip};
use axum::Json;
use axum::extract::State;
use remuda_client::types::{
    ApiError, BlockView, CauseName, DrawView, EventBody, HexBytes, HexHash, HistoryEntry,
    JobHistory, JobReceipt, RootView, Subject, Uint, code,
};
use remuda_protocol::beacon::{Round, SelectionMode, beacon, retry_seed, selection_seed};
use remuda_protocol::block::Block;
use remuda_protocol::dispatcher::job::Job;
use remuda_protocol::event::Event;
use remuda_protocol::key::{BeaconKey, JobKey};
use remuda_protocol::primitives::{B256, Height, JobId};
use remuda_protocol::state::{StateKey, read};

/// Blocks that are as much work to read as a request.
const BLOCKS_PER_TOKEN: usize = 4;

/// Everything that happened to a job: submission, candidates, draws with their beacons, commits,
/// reveals, verdict, payments.
#[utoipa::path(
    get, path = "/job/{id}/history", operation_id = "job_history", tag = "jobs",
    params(("id" = HexHash, Path, description = "The job's id")),
    responses((status = 200, body = JobHistory), (status = "4XX", body = ApiError))
)]
pub(super) async fn history(
    State(app): State<App>,
    peer: Peer,
    Part(HexHash(id)): Part<HexHash>,
) -> Result<Json<JobHistory>, Failure> {
    app.job_history(&app.tip(), id, peer).await.map(Json)
}

/// A job, its history and a proof of its record, in one document.
#[utoipa::path(
    get, path = "/job/{id}/receipt", operation_id = "job_receipt", tag = "jobs",
    params(("id" = HexHash, Path, description = "The job's id")),
    responses(
        (status = 200, body = JobReceipt),
        (status = "4XX", body = ApiError), (status = "5XX", body = ApiError),
    )
)]
pub(super) async fn receipt(
    State(app): State<App>,
    peer: Peer,
    Part(HexHash(id)): Part<HexHash>,
) -> Result<Json<JobReceipt>, Failure> {
    let tip = app.tip();
    let job = app.job_view(&tip, id).ok_or_else(unknown_job)?;
    let history = app.job_history(&tip, id, peer).await?;
    let proof = app.prove(JobKey { job: id }.bytes()).await?;
    let block = app.read_block(peer, Height(proof.height.0)).await.ok_or_else(|| {
        Failure::new(code::UNKNOWN_BLOCK, "this node no longer has the block of the proof")
    })?;
    let block = BlockView::new(&block.block, block.hash);
    Ok(Json(JobReceipt { job, history, proof, block }))
}

impl App {
    async fn job_history(&self, tip: &Tip, id: JobId, peer: Peer) -> Result<JobHistory, Failure> {
        let job = read(&tip.state, &JobKey { job: id }).ok_or_else(unknown_job)?;
        let mut heights = self.backend.job_heights(id);
        heights.retain(|height| *height <= tip.finalised.height());
        self.allow(peer, self.price_of_blocks(heights.len()))?;
        let mut reading = self.reading(peer)?;
        let (mut found_entries, mut draws) = (Vec::new(), Vec::new());
        let mut found = 0;
        for height in heights.iter().take(self.limits.history_blocks) {
            if reading.is_over() {
                break;
            }
            // One block at a time: all of them at once may be more than memory holds.
            let Some(block) = reading.block(*height).await else { continue };
            found += 1;
            let about = |event: &Event| Subject::of(event).jobs.contains(&id);
            found_entries.extend(entries(&block, about));
            note_draws(&mut draws, tip, id, &job, &block);
        }
        name_candidates(&mut draws, &job);
        // A job that re-executes a challenged one begins with the challenge.
        let begins = |entry: &HistoryEntry| {
            matches!(
                entry.event,
                EventBody::JobSubmitted { .. } | EventBody::ResultChallenged { .. }
            )
        };
        Ok(JobHistory {
            id: HexHash(id),
            height: Uint(tip.finalised.height().get()),
            complete: found_entries.first().is_some_and(begins) && found == heights.len(),
            draws,
            entries: found_entries,
        })
    }

    /// Tokens for reading so many blocks: never more than half of an allowance, or nobody could
    /// ever see the longest histories.
    pub(super) fn price_of_blocks(&self, count: usize) -> u32 {
        let blocks = count.min(self.limits.history_blocks) / BLOCKS_PER_TOKEN;
        u32::try_from(blocks).unwrap_or(u32::MAX).min(self.limits.burst / 2)
    }
}

/// What happened in one block, as far as it is wanted.
pub(super) fn entries(block: &Finalised, wanted: impl Fn(&Event) -> bool) -> Vec<HistoryEntry> {
    let (header, hash) = (&block.block.header, block.hash);
    let mut entries = Vec::new();
    for receipt in block.receipts.iter() {
        let (cause, transaction) = CauseName::of(&receipt.cause);
        let found = receipt.events.iter().filter(|event| wanted(event));
        entries.extend(found.map(|event| HistoryEntry {
            height: Uint(header.height.get()),
            view: Uint(header.round.view),
            timestamp_ms: Uint(header.timestamp_ms),
            block: HexHash(hash),
            cause,
            transaction,
            event: event.into(),
        }));
    }
    entries
}

/// The selections of a job that a block tells of. A draw at once has no `JobBound`.
fn note_draws(draws: &mut Vec<DrawView>, tip: &Tip, id: JobId, job: &Job, block: &Finalised) {
    let height = block.height();
    let about = |event: &&Event| match event {
        Event::JobBound { job, .. } | Event::JobAssigned { job, .. } => *job == id,
        _ => false,
    };
    for event in block.receipts.iter().flat_map(|receipt| &receipt.events).filter(about) {
        match (event, EventBody::from(event)) {
            (_, EventBody::JobBound { attempt, view, roots, seats, .. }) => {
                let bound_view = Some(view);
                draws.push(DrawView { roots, seats, bound_view, ..waiting(attempt, height) });
            }
            (
                Event::JobAssigned { attempt, seed, .. },
                EventBody::JobAssigned { runners, aggregator, .. },
            ) => {
                if draws.last().is_none_or(|draw| draw.attempt != *attempt) {
                    draws.push(waiting(*attempt, height));
                }
                let Some(draw) = draws.last_mut() else { continue };
                if draw.bound_view.is_none() {
                    draw.seats = u32::try_from(runners.len()).unwrap_or(u32::MAX);
                }
                draw.assigned_at = Some(Uint(height.get()));
                draw.seed = Some(HexHash(*seed));
                (draw.runners, draw.aggregator) = (runners, aggregator);
                let source = Source { id, submitted_at: job.submitted_at, draw, seed: *seed };
                let (beacon, signature) = source.trace(tip, &block.block);
                (draw.beacon, draw.seed_signature) = (beacon, signature);
            }
            _ => {}
        }
    }
}

/// The state keeps the candidates of the newest selection, whichever way it was drawn.
fn name_candidates(draws: &mut [DrawView], job: &Job) {
    for draw in draws.iter_mut().filter(|draw| draw.roots.is_empty()) {
        if draw.snapshot_height.0 == job.snapshot.height.get() {
            draw.roots = job.snapshot.roots.iter().map(root).collect();
        }
    }
}

fn root((root, sum): &(B256, u128)) -> RootView {
    RootView { root: root.into(), sum: sum.into() }
}

fn waiting(attempt: u32, height: Height) -> DrawView {
    DrawView {
        attempt,
        snapshot_height: Uint(height.get()),
        roots: Vec::new(),
        seats: 0,
        bound_view: None,
        beacon: None,
        seed_signature: None,
        assigned_at: None,
        seed: None,
        runners: Vec::new(),
        aggregator: None,
    }
}

/// Where a draw's seed comes from.
struct Source<'a> {
    id: JobId,
    submitted_at: Height,
    draw: &'a DrawView,
    seed: B256,
}

impl Source<'_> {
    /// The beacon and the signature from which the seed follows: looked for in the block of the
    /// draw, whose seed log usually brought them, then in the state. Nothing is claimed that does
    /// not lead to the seed.
    fn trace(&self, tip: &Tip, block: &Block) -> (Option<HexHash>, Option<HexBytes>) {
        let Round { epoch, view: own } = block.header.round;
        // A draw at once takes the newest beacon on chain: that of the view before the block's.
        let view = self.draw.bound_view.map_or(own.saturating_sub(1), |view| view.0);
        for seed in &block.seeds {
            let found = beacon(Round { epoch, view }, &seed.bytes);
            if self.follows_from(found) {
                return (Some(HexHash(found)), Some(HexBytes(seed.bytes.to_vec())));
            }
        }
        let kept = read(&tip.state, &BeaconKey { view }).filter(|kept| self.follows_from(*kept));
        (kept.map(HexHash), None)
    }

    fn follows_from(&self, beacon: B256) -> bool {
        let mode = match self.draw.bound_view {
            Some(_) => SelectionMode::Delayed,
            None => SelectionMode::Immediate,
        };
        let first = selection_seed(mode, beacon, self.id, self.submitted_at.get());
        let attempt = self.draw.attempt;
        let seed = if attempt > 0 { retry_seed(first, attempt) } else { first };
        seed == self.seed
    }
}
