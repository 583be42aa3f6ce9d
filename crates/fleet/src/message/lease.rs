//! `LeaseRequest` → `LeaseGranted` or `NoWork`.

use super::limit::{self, LIST_LENGTH_MAX, NAME_BYTES_MAX, SECONDS_MAX};
use super::{Body, JobSpec, Problem, Tag, spec};
use crate::id::{Attempt, CancelToken, Fence, JobId, LeaseId, RunId, RunnerId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// Longest that a request may wait for work.
pub const WAIT_SECONDS_MAX: u32 = 60;

/// A runner has nothing to do (SPEC §14; the seed has no such message).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct LeaseRequest {
    /// Who asks.
    pub runner_id: RunnerId,
    /// What it can do.
    pub capabilities: BTreeSet<Tag>,
    /// How long the answer may wait for work.
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

/// Here is work, and the right to do it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct LeaseGranted {
    /// What to do.
    pub job_id: JobId,
    /// For which run.
    pub run_id: RunId,
    /// The right to do it.
    pub lease_id: LeaseId,
    /// How often the job was tried, this time included (not in the seed).
    #[serde(default = "first")]
    pub attempt: Attempt,
    /// Orders this grant among all of its job (not in the seed, SPEC §14).
    #[serde(default)]
    pub fence: Fence,
    /// The lease ends so long after the last heartbeat.
    pub lease_ttl_seconds: u32,
    /// How often to beat.
    pub heartbeat_interval_seconds: u32,
    /// The work ends so long after AckLease, whatever happens.
    pub max_runtime_seconds: u32,
    /// The work itself, embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_spec: Option<JobSpec>,
    /// Where to find the work, when it is too large to be embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_spec_ref: Option<String>,
    /// Shown again by a cancellation that comes by another way than a heartbeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_token: Option<CancelToken>,
    /// What caches are kept under: the same for all runs of one submitter, and for no other's (not in the seed).
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

/// Nothing to do for this runner, now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct NoWork {
    /// When to ask again.
    pub retry_after_seconds: u32,
}

impl Body for NoWork {
    const TYPE: &'static str = "NoWork";

    fn check(&self) -> Result<(), Problem> {
        limit::range("retry_after_seconds", self.retry_after_seconds, 0, SECONDS_MAX.into())
    }
}
