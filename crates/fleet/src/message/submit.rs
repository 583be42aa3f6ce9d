//! Submissions: a run and its jobs (the seed's planner, in one message).

use super::limit::{
    self, LIST_LENGTH_MAX, NAME_BYTES_MAX, RUN_JOBS_MAX, SECONDS_MAX, TEXT_BYTES_MAX,
};
use super::{Body, JobSpec, Label, MESSAGE_BYTES_MAX, Problem, Tag, spec};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

pub const ATTEMPTS_MAX: u32 = 20;

/// Shortest lease that a job may ask for: three heartbeats, at most one a second.
const LEASE_TTL_SECONDS_MIN: u64 = 3;

/// Longest spec of a job in JSON. It fits into a message with the rest of the grant.
const SPEC_BYTES_MAX: usize = MESSAGE_BYTES_MAX - 16 * 1024;

/// Submits jobs that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct RunSubmission {
    /// Name, for people.
    #[serde(default)]
    pub name: String,
    /// Most jobs of the run with workers at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_parallel: Option<u32>,
    /// The jobs. Their names are unique within the run.
    pub jobs: Vec<JobSubmission>,
}

/// A job of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct JobSubmission {
    /// Name that `needs` of other jobs refer to.
    pub name: String,
    /// Names of jobs of the run that must succeed first.
    #[serde(default)]
    pub needs: BTreeSet<String>,
    /// Capabilities that its runner must have.
    #[serde(default)]
    pub tags: BTreeSet<Tag>,
    /// Labels, whose limits it shares with jobs of other runs.
    #[serde(default)]
    pub labels: BTreeSet<Label>,
    /// A higher priority goes first.
    #[serde(default)]
    pub priority: i16,
    /// Longest time from AckLease until the job times out.
    #[serde(default = "hour")]
    pub max_runtime_seconds: u32,
    /// When a failed job is retried.
    #[serde(default)]
    pub retry: Retry,
    /// Lease TTL, if shorter than the orchestrator's default: leaves time for another runner if this one is
    /// lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ttl_seconds: Option<u32>,
    /// The job is not started later than this after its submission. No other job may need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_within_seconds: Option<u32>,
    /// The spec, embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_spec: Option<JobSpec>,
    /// Reference to the spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_spec_ref: Option<String>,
}

fn hour() -> u32 {
    3_600
}

/// When a failed job is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Retry {
    /// Most attempts, the first included.
    pub max_attempts: u32,
    /// Pause before the second attempt. It doubles before each further one.
    pub backoff_seconds: u32,
    /// Whether a timeout is retried.
    pub on_timeout: bool,
    /// Starts the job at most once, because its effects cannot be undone: it is not restarted if its lease is
    /// lost after it was acknowledged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

impl Default for Retry {
    fn default() -> Self {
        Self { max_attempts: 1, backoff_seconds: 10, on_timeout: false, once: false }
    }
}

impl Body for RunSubmission {
    const TYPE: &'static str = "RunSubmission";

    fn check(&self) -> Result<(), Problem> {
        limit::text("name", &self.name, TEXT_BYTES_MAX)?;
        if self.name.chars().any(char::is_control) {
            let why = "must not contain control characters";
            return Err(Problem::Invalid { field: "name", why });
        }
        limit::range("jobs", self.jobs.len() as u64, 1, RUN_JOBS_MAX as u64)?;
        if let Some(parallel) = self.max_parallel {
            limit::range("max_parallel", parallel, 1, RUN_JOBS_MAX as u64)?;
        }
        for job in &self.jobs {
            job.check()?;
        }
        check_needs(&self.jobs)
    }
}

impl JobSubmission {
    fn check(&self) -> Result<(), Problem> {
        limit::word("jobs.name", &self.name, NAME_BYTES_MAX)?;
        limit::list("jobs.needs", self.needs.len(), LIST_LENGTH_MAX)?;
        limit::list("jobs.tags", self.tags.len(), LIST_LENGTH_MAX)?;
        limit::list("jobs.labels", self.labels.len(), 8)?;
        limit::range("jobs.max_runtime_seconds", self.max_runtime_seconds, 1, SECONDS_MAX.into())?;
        let retry = &self.retry;
        limit::range("jobs.retry.max_attempts", retry.max_attempts, 1, ATTEMPTS_MAX.into())?;
        limit::range("jobs.retry.backoff_seconds", retry.backoff_seconds, 0, 3_600)?;
        if retry.once && retry.max_attempts > 1 {
            let why = "must be 1 where work may be begun once only";
            return Err(Problem::Invalid { field: "jobs.retry.max_attempts", why });
        }
        if let Some(ttl) = self.lease_ttl_seconds {
            limit::range("jobs.lease_ttl_seconds", ttl, LEASE_TTL_SECONDS_MIN, SECONDS_MAX.into())?;
        }
        if let Some(within) = self.start_within_seconds {
            limit::range("jobs.start_within_seconds", within, 1, SECONDS_MAX.into())?;
        }
        spec::check(self.job_spec.as_ref(), self.job_spec_ref.as_deref())?;
        // A grant too large to parse would be passed from worker to worker.
        let found = self.job_spec.as_ref().and_then(|spec| serde_json::to_vec(spec).ok());
        limit::long("job_spec", found.map_or(0, |spec| spec.len()), SPEC_BYTES_MAX)
    }
}

/// Names are unique, needs exist, and there is no cycle.
fn check_needs(jobs: &[JobSubmission]) -> Result<(), Problem> {
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    for job in jobs {
        if waiting.insert(&job.name, job.needs.len()).is_some() {
            return Err(Problem::Invalid { field: "jobs.name", why: "must be unique in the run" });
        }
    }
    let expiring: BTreeSet<&str> = jobs
        .iter()
        .filter(|job| job.start_within_seconds.is_some())
        .map(|job| job.name.as_str())
        .collect();
    let mut dependents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for job in jobs {
        for need in &job.needs {
            if expiring.contains(need.as_str()) {
                let why = "must not name a job with `start_within_seconds`";
                return Err(Problem::Invalid { field: "jobs.needs", why });
            }
            if !waiting.contains_key(need.as_str()) {
                return Err(Problem::Invalid {
                    field: "jobs.needs",
                    why: "must name jobs of the run",
                });
            }
            dependents.entry(need).or_default().push(&job.name);
        }
    }
    let mut ready: Vec<&str> =
        waiting.iter().filter(|(_, open)| **open == 0).map(|(name, _)| *name).collect();
    let mut done = 0;
    while let Some(name) = ready.pop() {
        done += 1;
        for dependent in dependents.remove(name).unwrap_or_default() {
            if let Some(open) = waiting.get_mut(dependent) {
                *open -= 1;
                if *open == 0 {
                    ready.push(dependent);
                }
            }
        }
    }
    if done < jobs.len() {
        return Err(Problem::Invalid { field: "jobs.needs", why: "must not form a circle" });
    }
    Ok(())
}
