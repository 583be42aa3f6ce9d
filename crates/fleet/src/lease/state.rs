//! The states and their names.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Of a job's attempt. A job's state is that of its last one.
///
/// ```text
/// QUEUED ─▶ LEASED ─▶ STARTING ─▶ RUNNING ─▶ UPLOADING ─▶ SUCCEEDED │ FAILED │ TIMED_OUT
///   ▲          │          │          │           │
///   │          │          └──────────┴───────────┴──▶ CANCEL_REQUESTED ─▶ CANCELED, or as above
///   └─ STALE ◀─┴── the lease was lost: the grant is over, its attempt is not
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AttemptState {
    /// Nobody has it: it waits for a runner, for others that it needs, or for its next attempt.
    Queued,
    /// Granted, not acknowledged.
    Leased,
    /// Acknowledged; no heartbeat yet.
    Starting,
    /// Steps run.
    Running,
    /// Artifacts and caches are being saved.
    Uploading,
    /// The runner was told to stop, or will be with its next heartbeat.
    CancelRequested,
    /// Over, and well.
    Succeeded,
    /// Over, and not.
    Failed,
    /// Stopped because somebody asked, or because what it needs did not succeed.
    Canceled,
    /// Stopped because its time was over.
    TimedOut,
    /// This grant lost its lease and decided nothing.
    Stale,
}

impl AttemptState {
    /// Whether nothing comes after it.
    pub fn terminal(self) -> bool {
        use AttemptState::*;
        matches!(self, Succeeded | Failed | Canceled | TimedOut | Stale)
    }
}

/// Of a lease.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LeaseState {
    /// Sent, not acknowledged: it can be acknowledged and nothing else.
    Granted,
    /// Acknowledged.
    Active,
    /// No heartbeat within its TTL.
    Expired,
    /// Ended by the orchestrator: never acknowledged, or out of time.
    Revoked,
    /// The runner reported a result and it was accepted.
    Completed,
    /// The job was canceled under it: the runner acknowledged, or did not in time.
    Canceled,
}

impl LeaseState {
    /// Whether it gives any right.
    pub fn live(self) -> bool {
        matches!(self, Self::Granted | Self::Active)
    }
}

/// Of a run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RunStatus {
    /// Jobs wait or run.
    Running,
    /// Every job did.
    Succeeded,
    /// A job failed or ran out of time.
    Failed,
    /// None failed, but some were canceled.
    Canceled,
}

macro_rules! named {
    ($($name:ident),+) => {
        $(impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // The names are those of the wire, and they are written in one place.
                self.serialize(f)
            }
        })+
    };
}
named!(AttemptState, LeaseState, RunStatus);
