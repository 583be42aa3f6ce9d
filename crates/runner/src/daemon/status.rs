//! What an operator wants to know.

use remuda_client::types::{BigUint, HexAddress, HexHash, RunnerStatusName, Uint};
use serde::{Deserialize, Serialize};

/// Finished jobs, and false assignments, that are remembered.
pub(crate) const REMEMBERED: usize = 50;

/// The runner at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusView {
    pub version: String,
    pub runner: HexAddress,
    pub state: RunState,
    /// What keeps it from working, the worst first.
    pub problems: Vec<String>,
    /// Whether a node of its operator answers. If not, what is said of the chain is what was last known.
    pub reachable: bool,
    /// Which chain; none until a node has answered.
    pub chain_id: Option<Uint>,
    /// The newest block that its nodes know.
    pub height: Uint,
    /// What the network makes of presence.
    pub policy: String,
    /// Where it stands on chain; none until a node has answered, or if it is not registered.
    pub standing: Option<StandingView>,
    pub slots: u32,
    /// Jobs that it works on.
    pub busy: u32,
    /// Transactions that are in no block yet.
    pub sending: u32,
    pub sessions: Vec<SessionView>,
    pub jobs: Vec<OpenJobView>,
    /// The last jobs that ended, newest first.
    pub finished: Vec<FinishedView>,
    /// Counted since it started.
    pub totals: TotalsView,
    /// Assignments that the chain knows nothing of, newest first.
    pub false_assignments: Vec<FalseAssignmentView>,
    /// Files of the journal that cannot be read. A result may be in one.
    pub unreadable: Vec<String>,
}

/// What the daemon is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// No node has answered yet.
    #[default]
    Starting,
    Running,
    /// It finishes what it has.
    Draining,
    Drained,
}

/// Where a runner stands on chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingView {
    /// The block of which this is.
    pub height: Uint,
    pub status: RunnerStatusName,
    /// Whether it can be drawn at all.
    pub healthy: bool,
    /// Whether the validators attest it.
    pub present: bool,
    pub stake: BigUint,
    pub effective_stake: BigUint,
    /// Its reputation, in nano points.
    pub reputation_nano: Uint,
    /// Failures since the last success.
    pub failures: u32,
    /// In jail until this height.
    pub jailed_until: Option<Uint>,
    pub balance: BigUint,
}

/// A session with a validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    pub validator: HexHash,
    pub index: u32,
    /// Whether it is one of the running epoch.
    pub current: bool,
    /// Whether the session is open.
    pub open: bool,
    pub why: Option<String>,
    /// Time of a message to it and back.
    pub rtt_micros: Option<Uint>,
    /// The newest block that it told of.
    pub head: Option<Uint>,
    pub pushed: Uint,
}

/// A job that is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenJobView {
    pub job: HexHash,
    /// The selection that drew this runner.
    pub attempt: u32,
    pub kind: Option<String>,
    /// What the runner does about it.
    pub doing: String,
    /// How far the work is.
    pub percent: u8,
    /// The last block for a commit, or for the result of a single runner.
    pub deadline: Option<Uint>,
    /// Why there is no result.
    pub failure: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedView {
    pub job: HexHash,
    /// The selection that drew this runner.
    pub attempt: u32,
    pub kind: Option<String>,
    pub end: String,
    /// Why, if it did not go well.
    pub why: Option<String>,
    /// The block at which the runner was done with it.
    pub height: Uint,
    /// What it earned; none until a node has told.
    pub paid: Option<BigUint>,
}

/// Counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalsView {
    pub settled: Uint,
    /// Those of them in which others found something else: this runner was scored 0.
    #[serde(default)]
    pub outvoted: Uint,
    /// Jobs that failed or were called off.
    pub failed: Uint,
    /// Jobs that this runner had no result for, or not in time.
    pub missed: Uint,
    pub paid: BigUint,
}

/// An assignment that the chain knows nothing of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FalseAssignmentView {
    pub validator: HexHash,
    pub job: HexHash,
    pub reason: String,
    /// The block at which that was clear.
    pub height: Uint,
}
