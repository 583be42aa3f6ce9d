//! A job's progress.

use crate::base::codec::{codec_enum, codec_struct};
use crate::base::primitives::{Address, Amount, B256, Height, JobId};
use crate::rules::registry::kind::JobKind;
use crate::rules::verifier::excuse::Excuse;

/// Everything the chain keeps of a job besides its specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub submitter: Address,
    pub submitted_at: Height,
    pub kind: JobKind,
    pub status: Status,
    /// Selections so far beyond the first.
    pub attempt: u32,
    /// Committee size that it was submitted for.
    pub committee: u32,
    pub n_threshold: u32,
    /// The candidates it draws from.
    pub snapshot: Snapshot,
    /// Seed of the newest draw.
    pub seed: B256,
    /// Who sits on it, in draw order, newest attempt last.
    pub seats: Vec<Seat>,
    /// Runners that it will not draw again.
    pub excluded: Vec<Address>,
    pub aggregator: Option<Address>,
    /// Last height for a commit; for a single runner, for its result.
    pub commit_by: Height,
    /// Last height that belongs to the aggregator.
    pub aggregator_until: Height,
    /// Last height for a reveal.
    pub reveal_by: Height,
    pub closed_at: Option<Height>,
    /// What is left of price and tip.
    pub escrow: Amount,
    /// Prepaid cycles of the callback.
    pub callback_deposit: Amount,
    /// Price per cycle that was prepaid.
    pub callback_max_fee: u128,
    /// The challenged job, if this one re-executes it.
    pub challenges: Option<JobId>,
}
codec_struct!(Job {
    submitter,
    submitted_at,
    kind,
    status,
    attempt,
    committee,
    n_threshold,
    snapshot,
    seed,
    seats,
    excluded,
    aggregator,
    commit_by,
    aggregator_until,
    reveal_by,
    closed_at,
    escrow,
    callback_deposit,
    callback_max_fee,
    challenges,
});

impl Job {
    /// The seat of a runner that still takes part.
    pub fn seat_of(&mut self, runner: Address) -> Option<&mut Seat> {
        self.seats.iter_mut().find(|seat| seat.runner == runner && seat.progress.takes_part())
    }

    /// Seats that still take part.
    pub fn taking_part(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|seat| seat.progress.takes_part())
    }
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Waits for the seed of its round.
    Pending {
        /// The view of that round.
        view: u64,
    },
    /// Runners work; commits are taken.
    Assigned,
    /// Commits are closed; reveals are taken.
    Committed,
    Settled,
    /// Over without a result; refunded.
    Failed {
        reason: Failure,
    },
    /// Called off by its submitter; refunded.
    Cancelled,
}
codec_enum!(Status {
    1 => Pending { view },
    2 => Assigned {},
    3 => Committed {},
    4 => Settled {},
    5 => Failed { reason },
    6 => Cancelled {},
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Fewer candidates than the mode needs.
    InsufficientRunners,
    /// Nobody worked, three re-selections long.
    NoRunners,
    /// The results do not agree.
    NoAgreement,
    NoSeed,
    /// Its only runner has an excuse, or so many of a committee that the others cannot agree.
    Excused,
}
codec_enum!(Failure {
    1 => InsufficientRunners {},
    2 => NoRunners {},
    3 => NoAgreement {},
    4 => NoSeed {},
    5 => Excused {},
});

/// The candidates of a draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub height: Height,
    /// Roots and sums of the lists that are drawn from, in order.
    pub roots: Vec<(B256, u128)>,
    /// How many seats are drawn.
    pub seats: u32,
    /// The largest committee that the price had to be enough for.
    pub bound: u32,
    /// The runner that is favoured in the first draw.
    pub mru: Option<Address>,
    /// Whether what becomes of its seats counts for their runners' standing.
    pub scored: bool,
}
codec_struct!(Snapshot { height, roots, seats, bound, mru, scored });

/// A job that is to draw again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    pub job: JobId,
    pub attempt: u32,
    pub since: Height,
}
codec_struct!(Retry { job, attempt, since });

/// What a seat takes of its runner's stake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stakes {
    /// The price that the runner's free stake covers 1.5 times.
    pub value: Amount,
    /// Stake that answers for a bonded result, from the draw on.
    pub locked: Amount,
}
codec_struct!(Stakes { value, locked });

/// A runner's place in a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub runner: Address,
    /// In which selection it was drawn.
    pub attempt: u32,
    /// When its candidates were fixed: stake withdrawn before is not liable.
    pub since: Height,
    /// Its reputation when it was drawn.
    pub reputation_nano: u64,
    /// Its effective stake when it was drawn, or when its candidates were fixed if that was more:
    /// what it answers with.
    pub stake: Amount,
    /// Own and delegated stake when it was drawn.
    pub effective: Amount,
    /// The delegators' part of that, and so of its pay.
    pub delegated: Amount,
    /// Its commission when it was drawn.
    pub commission_bps: u16,
    /// What the seat takes of its stake.
    pub stakes: Stakes,
    /// Whether what becomes of it counts for its runner's standing.
    pub scored: bool,
    /// It had no place free when it was drawn: it may let this job pass without blame.
    pub overbooked: bool,
    pub progress: SeatState,
}
codec_struct!(Seat {
    runner,
    attempt,
    since,
    reputation_nano,
    stake,
    effective,
    delegated,
    commission_bps,
    stakes,
    scored,
    overbooked,
    progress,
});

/// What a seated runner did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatState {
    Waiting,
    /// It is bound to a result.
    Committed {
        commitment: B256,
        at: Height,
    },
    Revealed {
        /// keccak256 of the result.
        result_hash: B256,
    },
    /// It committed, then attested a crash; it is out.
    Crashed,
    /// It did not commit in time; it is out.
    TimedOut,
    /// It committed and did not reveal, or revealed something else; it is out.
    Slashed,
    /// It has no result, and said why.
    Excused {
        excuse: Excuse,
    },
}
codec_enum!(SeatState {
    1 => Waiting {},
    2 => Committed { commitment, at },
    3 => Revealed { result_hash },
    4 => Crashed {},
    5 => TimedOut {},
    6 => Slashed {},
    7 => Excused { excuse },
});

impl SeatState {
    /// Whether the seat still counts as taken.
    pub fn takes_part(&self) -> bool {
        !matches!(self, Self::Crashed | Self::TimedOut | Self::Slashed)
    }
}

/// A job in the queue for its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingSelection {
    pub job: JobId,
    /// The view that it is bound to.
    pub view: u64,
    pub snapshot_height: Height,
}
codec_struct!(PendingSelection { job, view, snapshot_height });

/// Who served a submitter last (CIP-11 §9.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MruRecord {
    pub runner_address: Address,
    pub set_at_block: Height,
}
codec_struct!(MruRecord { runner_address, set_at_block });
