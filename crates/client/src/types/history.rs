//! A job's whole life, in the order of the chain.

use super::block::BlockView;
use super::event::{EventBody, RootView};
use super::job::JobView;
use super::proof::ProofView;
use super::receipt::CauseName;
use super::scalar::{HexAddress, HexBytes, HexHash, Uint};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Everything that happened to a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobHistory {
    pub id: HexHash,
    /// The height up to which this is known.
    pub height: Uint,
    /// Whether nothing is missing from the submission on. A node that joined late, or keeps only
    /// some blocks, may know no more than a part.
    pub complete: bool,
    /// Events in chain order.
    pub entries: Vec<HistoryEntry>,
    /// How its committees were drawn, one per selection.
    pub draws: Vec<DrawView>,
}

/// One event, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryEntry {
    /// Height of its block.
    pub height: Uint,
    /// View of its block's round.
    pub view: Uint,
    /// Time of the block, in milliseconds since 1970.
    pub timestamp_ms: Uint,
    /// Hash of its block.
    pub block: HexHash,
    pub cause: CauseName,
    /// The transaction, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction: Option<HexHash>,
    pub event: EventBody,
}

/// One selection: from the candidates to the committee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DrawView {
    /// 0, or the number of the retry.
    pub attempt: u32,
    /// When the candidates were fixed.
    pub snapshot_height: Uint,
    /// The lists of candidates, if their roots are known.
    pub roots: Vec<RootView>,
    /// Seats to fill.
    pub seats: u32,
    /// The view whose seed it was bound to; none for a draw at once, by the parent beacon.
    pub bound_view: Option<Uint>,
    /// `keccak256` of that view's round and signature, if it is still known.
    pub beacon: Option<HexHash>,
    /// The network's signature on that round, if it is still known.
    pub seed_signature: Option<HexBytes>,
    /// Height of the draw; none while it waits.
    pub assigned_at: Option<Uint>,
    /// Seed of the draw. It follows from the beacon; the two above are given only if it does.
    pub seed: Option<HexHash>,
    /// Who was drawn, in order.
    pub runners: Vec<HexAddress>,
    /// Runner that collects the results.
    pub aggregator: Option<HexAddress>,
}

/// What a node can say about a job in one document: where it stands, all that happened, and a proof
/// of its record. It is not yet the receipt of SPEC §15: draws come without the proofs of their
/// sum trees, the block without its finalization certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobReceipt {
    /// Status, seats and result.
    pub job: JobView,
    pub history: JobHistory,
    /// Proof of the job's record.
    pub proof: ProofView,
    /// The block whose state the proof is about.
    pub block: BlockView,
}

/// Jobs that a runner sits on: the answer to its poll.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnerJobs {
    pub runner: HexAddress,
    /// The height that all of this is from.
    pub height: Uint,
    /// Its jobs that are not over.
    pub jobs: Vec<JobView>,
}
