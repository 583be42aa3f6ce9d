//! The status for operators, as JSON.

use remuda_client::types::{BigUint, HexAddress, HexHash, RunnerStatusName, Uint};
use serde::{Deserialize, Serialize};

/// Bounds the lists of finished jobs and false assignments.
pub(crate) const REMEMBERED: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusView {
    pub version: String,
    pub runner: HexAddress,
    pub state: RunState,
    /// The worst first.
    pub problems: Vec<String>,
    /// A node of the operator answers. Otherwise what concerns the chain may be outdated.
    pub reachable: bool,
    /// None until a node has answered.
    pub chain_id: Option<Uint>,
    /// Of the newest block that the nodes know.
    pub height: Uint,
    /// The presence policy of the network.
    pub policy: String,
    /// None until a node has answered, or if the runner is not registered.
    pub standing: Option<StandingView>,
    pub slots: u32,
    /// Slots in use.
    pub busy: u32,
    /// Transactions in flight.
    pub sending: u32,
    pub sessions: Vec<SessionView>,
    pub jobs: Vec<OpenJobView>,
    /// Newest first.
    pub finished: Vec<FinishedView>,
    /// Counted since it started.
    pub totals: TotalsView,
    /// Newest first.
    pub false_assignments: Vec<FalseAssignmentView>,
    /// Files of the journal that cannot be read, and may hold results.
    pub unreadable: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// No node has answered yet.
    #[default]
    Starting,
    Running,
    /// Finishes open jobs, and accepts no new ones.
    Draining,
    Drained,
}

/// The registration on chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingView {
    /// Of this view.
    pub height: Uint,
    pub status: RunnerStatusName,
    /// Can be drawn.
    pub healthy: bool,
    /// Attested by validators.
    pub present: bool,
    pub stake: BigUint,
    pub effective_stake: BigUint,
    /// Nano points.
    pub reputation_nano: Uint,
    /// Since the last success.
    pub failures: u32,
    pub jailed_until: Option<Uint>,
    pub balance: BigUint,
}

/// A session with a validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    pub validator: HexHash,
    pub index: u32,
    /// Of the current subset epoch.
    pub current: bool,
    pub open: bool,
    pub why: Option<String>,
    pub rtt_micros: Option<Uint>,
    /// The newest height that it announced.
    pub head: Option<Uint>,
    pub pushed: Uint,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenJobView {
    pub job: HexHash,
    /// The selection that drew this runner.
    pub attempt: u32,
    pub kind: Option<String>,
    pub doing: String,
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
    pub why: Option<String>,
    /// At which the job was closed.
    pub height: Uint,
    /// None until a node has told.
    pub paid: Option<BigUint>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalsView {
    pub settled: Uint,
    /// Settled with another result: the runner was scored 0.
    #[serde(default)]
    pub outvoted: Uint,
    /// Failed or cancelled.
    pub failed: Uint,
    /// Without a result in time.
    pub missed: Uint,
    pub paid: BigUint,
}

/// An assignment that the chain contradicts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FalseAssignmentView {
    pub validator: HexHash,
    pub job: HexHash,
    pub reason: String,
    /// At which it was refuted.
    pub height: Uint,
}
