//! `StaleLease`: the runner stops and releases its resources.

use super::{Body, Problem};
use crate::id::LeaseId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The lease is no longer valid.
///
/// The seed answers a stale heartbeat with `extend_lease: false, stale: true` in its text, and with this
/// message in its example. This is both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct StaleLease {
    /// The lease.
    pub lease_id: LeaseId,
    /// Why it is stale.
    pub reason: StaleReason,
    /// Always true.
    #[serde(default = "yes")]
    pub stale: bool,
    /// Always false.
    #[serde(default)]
    pub extend_lease: bool,
}

fn yes() -> bool {
    true
}

/// Why a lease is stale.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StaleReason {
    /// No heartbeat within the TTL.
    LeaseExpired,
    /// The orchestrator ended it: not acknowledged, timed out, canceled, or completed.
    LeaseRevoked,
    /// No such lease, or it was removed.
    UnknownLease,
    /// The job was granted again since.
    Superseded,
    /// Unknown to this version. The runner stops all the same.
    #[serde(other)]
    Other,
}

impl StaleLease {
    pub fn new(lease_id: LeaseId, reason: StaleReason) -> Self {
        Self { lease_id, reason, stale: true, extend_lease: false }
    }
}

impl Body for StaleLease {
    const TYPE: &'static str = "StaleLease";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}
