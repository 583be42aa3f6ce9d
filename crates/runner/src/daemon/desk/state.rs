//! Parts of the desk's state.

use crate::daemon::purse::Purse;
use crate::daemon::status::{FalseAssignmentView, FinishedView, TotalsView};
use remuda_client::types::RunnerView;
use remuda_protocol::primitives::JobId;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// The block time, until a node has told.
const BLOCK_TIME: Duration = Duration::from_secs(1);

/// The runner's registration, as a node told it last.
#[derive(Debug)]
pub(super) enum Standing {
    /// No node has told it yet.
    Unknown,
    /// Nothing is known that has changed it since.
    Current(Registration),
    /// The runner drains, or one of its transactions may have changed it since.
    Outdated(Registration),
}

#[derive(Debug)]
pub(super) struct Registration {
    /// The block at which it was asked for.
    pub(super) height: u64,
    /// None: the runner is not registered.
    pub(super) view: Option<RunnerView>,
}

impl Standing {
    /// What a node told last, current or not.
    pub(super) fn last(&self) -> Option<&Registration> {
        match self {
            Self::Unknown => None,
            Self::Current(last) | Self::Outdated(last) => Some(last),
        }
    }

    /// The runner, if it was registered when a node told last.
    pub(super) fn view(&self) -> Option<&RunnerView> {
        self.last()?.view.as_ref()
    }

    pub(super) fn outdate(&mut self) {
        *self = match std::mem::replace(self, Self::Unknown) {
            Self::Current(last) => Self::Outdated(last),
            other => other,
        };
    }
}

/// A pause that the runner made itself, because it cannot do what it would be drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// The chain has not shown the runner active since it started: a pause may be from before.
    Unknown,
    /// There is none.
    Off,
    /// The runner paused at this block.
    On { since: u64 },
    /// The runner asked at this block to come back, and the chain does not show it yet.
    Resuming { since: u64 },
}

impl Pause {
    /// The block at which the runner paused, or asked to come back.
    pub(super) fn since(self) -> Option<u64> {
        match self {
            Self::Unknown | Self::Off => None,
            Self::On { since } | Self::Resuming { since } => Some(since),
        }
    }

    /// Whether the runner has paused itself.
    pub(super) fn is_on(self) -> bool {
        self.since().is_some()
    }

    /// The transaction to come back had no effect: the next attempt need not wait.
    pub(super) fn not_resumed(self) -> Self {
        match self {
            Self::Resuming { .. } => Self::Resuming { since: 0 },
            _ => Self::On { since: 0 },
        }
    }
}

/// What nodes have answered to the question for the jobs that the runner sits on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polling {
    Unanswered,
    /// A list of jobs, once at least.
    Answered,
    /// That they are not to be asked: sessions are enough.
    Over,
}

/// Rounds of questions to the nodes.
#[derive(Debug)]
pub(super) struct Rounds {
    /// When the last one began.
    pub(super) last_ms: u64,
    /// A block was heard of that no round has asked for.
    pub(super) due: bool,
    /// Whether a node is being asked for the chain and the account.
    pub(super) asking: bool,
}

/// The chain and the runner's account, as the operator's nodes told them last.
#[derive(Debug)]
pub(super) struct Chain {
    /// The newest block that they know; none until one has answered.
    pub(super) height: Option<u64>,
    pub(super) block_time: Duration,
    pub(super) policy: String,
    /// The balance, and what the next block asks; none until a node has told.
    pub(super) money: Option<(u128, Purse)>,
    /// Why no node tells where the chain is.
    pub(super) problem: Option<String>,
    /// Whether a node answered when last asked.
    pub(super) reachable: bool,
    /// What is wrong with nodes of another chain.
    pub(super) strangers: Vec<String>,
    /// Rounds in which the nodes were far behind the validators.
    pub(super) lags: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            height: None,
            block_time: BLOCK_TIME,
            policy: String::new(),
            money: None,
            problem: None,
            reachable: false,
            strangers: Vec::new(),
            lags: 0,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct History {
    /// Finished jobs and their attempts: a late validator may push them again.
    pub(super) done: BTreeSet<(JobId, u32)>,
    /// The same, oldest first.
    pub(super) done_order: VecDeque<(JobId, u32)>,
    /// The newest finished jobs, for people.
    pub(super) finished: VecDeque<FinishedView>,
    pub(super) totals: TotalsView,
    pub(super) lies: VecDeque<FalseAssignmentView>,
}
