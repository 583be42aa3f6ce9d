//! `StaleLease`: stop, release, say no more.

use super::{Body, Problem};
use crate::id::LeaseId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The lease gives no rights any more.
///
/// The seed has a stale heartbeat answered in two ways: with `extend_lease: false, stale: true` in
/// its text, with this message in its example. This is both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct StaleLease {
    /// The lease.
    pub lease_id: LeaseId,
    /// Why.
    pub reason: StaleReason,
    /// Always.
    #[serde(default = "yes")]
    pub stale: bool,
    /// Never.
    #[serde(default)]
    pub extend_lease: bool,
}

fn yes() -> bool {
    true
}

/// Why a lease gives no rights any more.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StaleReason {
    /// No heartbeat within its TTL.
    LeaseExpired,
    /// The orchestrator ended it: never acknowledged, out of time, canceled, or already completed.
    LeaseRevoked,
    /// No such lease, or it is long forgotten.
    UnknownLease,
    /// Somebody else has had the job since.
    Superseded,
    /// One that this reader does not know yet. It stops all the same.
    #[serde(other)]
    Other,
}

impl StaleLease {
    /// To be sent.
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
