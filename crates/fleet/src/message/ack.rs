//! `AckLease`: the runner has the lease and begins. It does not begin before `AckLeaseAck`.

use super::limit::{self, SECONDS_MAX};
use super::{Body, Problem};
use crate::id::{JobId, LeaseId, RunnerId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The runner accepts the lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct AckLease {
    /// The job that it was granted.
    pub job_id: JobId,
    /// The accepted lease.
    pub lease_id: LeaseId,
    /// The runner that accepts it.
    pub runner_id: RunnerId,
    /// By the runner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<Timestamp>,
}

impl Body for AckLease {
    const TYPE: &'static str = "AckLease";

    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// The lease is active (SPEC §14; the seed leaves the answer open).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct AckLeaseAck {
    /// The acknowledged lease.
    pub lease_id: LeaseId,
    /// Always true: the runner may start the job.
    pub accepted: bool,
    /// Time until the lease expires without a heartbeat.
    pub lease_ttl_seconds: u32,
}

impl Body for AckLeaseAck {
    const TYPE: &'static str = "AckLeaseAck";

    fn check(&self) -> Result<(), Problem> {
        limit::range("lease_ttl_seconds", self.lease_ttl_seconds, 0, SECONDS_MAX.into())
    }
}
