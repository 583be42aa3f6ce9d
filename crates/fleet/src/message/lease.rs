//! `LeaseRequest` → `LeaseGranted` or `NoWork`.

use super::limit::{self, LIST_LENGTH_MAX, NAME_BYTES_MAX, SECONDS_MAX};
use super::{Body, JobSpec, Problem, Tag, spec};
use crate::id::{Attempt, CancelToken, Fence, JobId, LeaseId, RunId, RunnerId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// Longest time that a request may wait for a job.
pub const WAIT_SECONDS_MAX: u32 = 60;

/// An idle runner asks for a job (SPEC §14; the seed has no such message).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct LeaseRequest {
    /// The runner that asks.
    pub runner_id: RunnerId,
    /// Its capabilities: a job needs a subset of them.
    pub capabilities: BTreeSet<Tag>,
    /// How long the answer may wait for a job.
    #[serde(default)]
    pub max_wait_seconds: u32,
}

impl Body for LeaseRequest {
    const TYPE: &'static str = "LeaseRequest";

    fn check(&self) -> Result<(), Problem> {
        limit::list("capabilities", self.capabilities.len(), LIST_LENGTH_MAX)?;
        limit::range("max_wait_seconds", self.max_wait_seconds, 0, WAIT_SECONDS_MAX.into())
    }
}

/// Grants a job under a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct LeaseGranted {
    /// The job.
    pub job_id: JobId,
    /// The run that it belongs to.
    pub run_id: RunId,
    /// The lease: the right to execute the job.
    pub lease_id: LeaseId,
    /// Number of the attempt, from 1 (not in the seed).
    #[serde(default = "first")]
    pub attempt: Attempt,
    /// Orders the grants of a job (not in the seed, SPEC §14).
    #[serde(default)]
    pub fence: Fence,
    /// Time from the last heartbeat until the lease expires.
    pub lease_ttl_seconds: u32,
    /// Interval of heartbeats.
    pub heartbeat_interval_seconds: u32,
    /// Time from AckLease until the job times out.
    pub max_runtime_seconds: u32,
    /// The job spec, embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_spec: Option<JobSpec>,
    /// Reference to a job spec that is too large to embed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_spec_ref: Option<String>,
    /// A cancellation that comes by another way than a heartbeat must show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_token: Option<CancelToken>,
    /// Scope of caches: one per submitter (not in the seed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<String>,
}

fn first() -> Attempt {
    Attempt::FIRST
}

impl Body for LeaseGranted {
    const TYPE: &'static str = "LeaseGranted";

    fn check(&self) -> Result<(), Problem> {
        limit::range("lease_ttl_seconds", self.lease_ttl_seconds, 1, SECONDS_MAX.into())?;
        let ttl = self.lease_ttl_seconds.into();
        limit::range("heartbeat_interval_seconds", self.heartbeat_interval_seconds, 1, ttl)?;
        limit::range("max_runtime_seconds", self.max_runtime_seconds, 1, SECONDS_MAX.into())?;
        if let Some(scope) = &self.cache_scope {
            limit::word("cache_scope", scope, NAME_BYTES_MAX)?;
        }
        spec::check(self.job_spec.as_ref(), self.job_spec_ref.as_deref())
    }
}

/// No job for this runner at the moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct NoWork {
    /// Time until it should ask again.
    pub retry_after_seconds: u32,
}

impl Body for NoWork {
    const TYPE: &'static str = "NoWork";

    fn check(&self) -> Result<(), Problem> {
        limit::range("retry_after_seconds", self.retry_after_seconds, 0, SECONDS_MAX.into())
    }
}
