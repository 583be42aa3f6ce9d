//! Jobs in JSON: where one stands.

use super::event::{ExcuseName, FailureName, RootView};
use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, JobPlace, Uint};
use super::spec::{JobSpecView, KindName};
use super::view::{ToView, view};
use remuda_protocol::dispatcher::job::{Job, Seat, SeatState, Snapshot, Status};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{Height, JobId};
use remuda_protocol::verifier::challenge::Bond;
use remuda_protocol::verifier::settle::VerifiedResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A job: what it asks for, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobView {
    pub id: HexHash,
    /// Account that pays.
    pub submitter: HexAddress,
    /// Height of the submission.
    pub submitted_at: Uint,
    pub kind: KindName,
    pub status: JobStatusView,
    /// Whether the status is final.
    pub over: bool,
    /// Selections so far beyond the first.
    pub attempt: u32,
    /// Committee size that it was submitted for.
    pub committee: u32,
    /// Winners that it needs.
    pub n_threshold: u32,
    /// The candidates it draws from.
    pub snapshot: SnapshotView,
    /// Seed of the newest draw.
    pub seed: HexHash,
    /// Who sits on it, in draw order, newest attempt last.
    pub seats: Vec<SeatView>,
    /// Runners that it will not draw again.
    pub excluded: Vec<HexAddress>,
    /// Runner that collects the results.
    pub aggregator: Option<HexAddress>,
    /// Last height for a commit; for a single runner, for its result.
    pub commit_by: Uint,
    /// Last height that belongs to the aggregator.
    pub aggregator_until: Uint,
    /// Last height for a reveal.
    pub reveal_by: Uint,
    /// What is left of price and tip.
    pub escrow: BigUint,
    /// Prepaid cycles of the callback.
    pub callback_deposit: BigUint,
    /// The challenged job, if this one re-executes it.
    pub challenges: Option<HexHash>,
    pub spec: JobSpecView,
    /// The verified result of a settled job.
    pub result: Option<ResultView>,
    /// Stake that answers for a bonded result.
    pub bond: Option<BondView>,
    /// The height that all of this is from.
    pub height: Uint,
}

/// A job in a list. All that can be said in a few bytes; the rest is at `/job/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    pub id: HexHash,
    /// Account that pays.
    pub submitter: HexAddress,
    /// Height of the submission.
    pub submitted_at: Uint,
    pub kind: KindName,
    pub status: JobStatusView,
    /// Whether the status is final.
    pub over: bool,
    /// Selections so far beyond the first.
    pub attempt: u32,
    /// What is left of price and tip.
    pub escrow: BigUint,
    /// The challenged job, if this one re-executes it.
    pub challenges: Option<HexHash>,
}

impl JobSummary {
    /// The job as its record says.
    pub fn new(id: JobId, job: &Job) -> Self {
        let status = job.status.to_view();
        Self {
            id: HexHash(id),
            submitter: job.submitter.to_view(),
            submitted_at: job.submitted_at.to_view(),
            kind: job.kind.into(),
            status,
            over: status.is_over(),
            attempt: job.attempt,
            escrow: job.escrow.to_view(),
            challenges: job.challenges.to_view(),
        }
    }
}

/// Some of all jobs, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobsPage {
    /// The height that all of this is from.
    pub height: Uint,
    pub jobs: Vec<JobSummary>,
    /// Ask with `after` set to this for older ones; none on the last page.
    pub next: Option<JobPlace>,
}

view! {
    /// How far a job is: `{"Pending":{"view":7}}`.
    #[derive(Copy)]
    pub enum JobStatusView of Status {
        /// Waits for the seed of its round.
        Pending {
            /// The view of that round.
            view: Uint,
        },
        /// Runners work; commits are taken.
        Assigned {},
        /// Commits are closed; reveals are taken.
        Committed {},
        /// Verified and paid.
        Settled {},
        /// Over without a result; refunded.
        Failed {
            reason: FailureName,
        },
        /// Called off by its submitter; refunded.
        Cancelled {},
    }
}

impl JobStatusView {
    /// Whether nothing more can happen.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Settled {} | Self::Failed { .. } | Self::Cancelled {})
    }
}

view! {
    /// The candidates of a draw.
    pub struct SnapshotView of Snapshot {
        /// Height at which they were fixed.
        height: Uint,
        /// The lists that are drawn from, in order.
        roots: Vec<RootView>,
        /// How many seats are drawn.
        seats: u32,
        /// The largest committee that the price had to be enough for.
        bound: u32,
        /// The runner that is favoured in the first draw.
        mru: Option<HexAddress>,
        /// Whether what becomes of its seats counts for their runners' standing.
        scored: bool,
    }
}

view! {
    /// A runner's place in a job.
    pub struct SeatView of Seat {
        runner: HexAddress,
        /// In which selection it was drawn.
        attempt: u32,
        /// Its reputation when it was drawn.
        reputation_nano: Uint,
        /// Stake that can be slashed.
        stake: BigUint,
        /// Own and delegated stake when it was drawn.
        effective: BigUint,
        /// The delegators' part of that.
        delegated: BigUint,
        /// Its commission when it was drawn.
        commission_bps: u16,
        /// It may let this job pass without blame.
        overbooked: bool,
        progress: ProgressView,
    }
}

view! {
    /// What a seated runner did.
    #[derive(Copy)]
    pub enum ProgressView of SeatState {
        /// No commit yet.
        Waiting {},
        /// It is bound to a result.
        Committed {
            commitment: HexHash,
            /// Height of the commit.
            at: Uint,
        },
        /// Its result is known.
        Revealed {
            /// keccak256 of the result.
            result_hash: HexHash,
        },
        /// It committed, then attested a crash.
        Crashed {},
        /// It did not commit in time.
        TimedOut {},
        /// It committed and did not reveal, or revealed something else.
        Slashed {},
        /// It has no result, and said why.
        Excused {
            excuse: ExcuseName,
        },
    }
}

view! {
    /// A verified result.
    pub struct ResultView of VerifiedResult {
        /// Canonical JSON of the fields that the winners agree on.
        agreed: Option<HexBytes>,
        /// The whole result of the first winner: that runner's word.
        result: HexBytes,
        /// Runner that revealed `result`.
        runner: HexAddress,
    }
}

/// Stake that answers for a bonded result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BondView {
    pub runner: HexAddress,
    /// Amount of the locked stake.
    pub locked: BigUint,
    /// Last height for a challenge.
    pub until: Uint,
    /// Challenges so far.
    pub trials: u32,
    /// The job that re-executes this one, while it does.
    pub challenged_by: Vec<HexHash>,
}

/// The records of a job in the state.
#[derive(Clone, Copy, Debug)]
pub struct JobRecords<'a> {
    pub job: &'a Job,
    pub spec: &'a JobSpec,
    /// Its result, if it has one.
    pub result: Option<&'a VerifiedResult>,
    /// The bond on it, if there is one.
    pub bond: Option<&'a Bond>,
}

impl JobView {
    /// The job after the block of `height`.
    pub fn new(id: JobId, records: JobRecords<'_>, height: Height) -> Self {
        let JobRecords { job, spec, result, bond } = records;
        let status = job.status.to_view();
        Self {
            id: HexHash(id),
            submitter: job.submitter.to_view(),
            submitted_at: job.submitted_at.to_view(),
            kind: job.kind.into(),
            status,
            over: status.is_over(),
            attempt: job.attempt,
            committee: job.committee,
            n_threshold: job.n_threshold,
            snapshot: job.snapshot.to_view(),
            seed: job.seed.to_view(),
            seats: job.seats.to_view(),
            excluded: job.excluded.to_view(),
            aggregator: job.aggregator.to_view(),
            commit_by: job.commit_by.to_view(),
            aggregator_until: job.aggregator_until.to_view(),
            reveal_by: job.reveal_by.to_view(),
            escrow: job.escrow.to_view(),
            callback_deposit: job.callback_deposit.to_view(),
            challenges: job.challenges.to_view(),
            spec: spec.into(),
            result: result.map(ToView::to_view),
            bond: bond.map(ToView::to_view),
            height: height.to_view(),
        }
    }
}

impl ToView for Bond {
    type View = BondView;
    fn to_view(&self) -> BondView {
        let by = self.trial.iter().map(|trial| trial.by_job.to_view());
        BondView {
            runner: self.runner.to_view(),
            locked: self.locked.to_view(),
            until: self.until.to_view(),
            trials: self.trials,
            challenged_by: by.collect(),
        }
    }
}
