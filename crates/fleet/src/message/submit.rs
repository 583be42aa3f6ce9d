//! What submitters send: a run and its jobs (the seed's planner, in one message).

use super::limit::{
    self, LIST_LENGTH_MAX, NAME_BYTES_MAX, RUN_JOBS_MAX, SECONDS_MAX, TEXT_BYTES_MAX,
};
use super::{Body, JobSpec, Label, MESSAGE_BYTES_MAX, Problem, Tag, spec};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

/// Most attempts of a job.
pub const ATTEMPTS_MAX: u32 = 20;

/// Shortest lease that a job may ask for: three heartbeats, which come once a second at most.
const LEASE_TTL_SECONDS_MIN: u64 = 3;

/// Longest work of a job, as it is sent: the rest of its grant fits into a message beside it.
const SPEC_BYTES_MAX: usize = MESSAGE_BYTES_MAX - 16 * 1024;

/// Jobs that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct RunSubmission {
    /// For people.
    #[serde(default)]
    pub name: String,
    /// At most so many of the jobs at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_parallel: Option<u32>,
    /// The jobs. Their names are unique here.
    pub jobs: Vec<JobSubmission>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct JobSubmission {
    /// What `needs` of others call it.
    pub name: String,
    /// Jobs of the same run that must succeed first.
    #[serde(default)]
    pub needs: BTreeSet<String>,
    /// What a runner must have.
    #[serde(default)]
    pub tags: BTreeSet<Tag>,
    /// Limits that it shares with jobs of other runs.
    #[serde(default)]
    pub labels: BTreeSet<Label>,
    /// Higher goes first.
    #[serde(default)]
    pub priority: i16,
    /// The work ends so long after it began.
    #[serde(default = "hour")]
    pub max_runtime_seconds: u32,
    /// When to try again.
    #[serde(default)]
    pub retry: Retry,
    /// A lease that ends sooner after the last heartbeat than the orchestrator's usual ones: for work that
    /// somebody else must have time for if its runner is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ttl_seconds: Option<u32>,
    /// Nobody begins it later than this after its submission: whoever wants it has given it up by then.
    /// No other job may need such a one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_within_seconds: Option<u32>,
    /// The work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_spec: Option<JobSpec>,
    /// Where the work is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_spec_ref: Option<String>,
}

fn hour() -> u32 {
    3_600
}

/// When a failed job is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Retry {
    /// How often it is tried at most, the first time included.
    pub max_attempts: u32,
    /// Waits so long before the second attempt, and twice as long before each further one.
    pub backoff_seconds: u32,
    /// Whether running out of time is a failure that may go away.
    pub on_timeout: bool,
    /// The work may be begun once only, since it cannot be undone: if its lease is lost after it was
    /// acknowledged, nobody begins it again.
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
        // A grant that no worker can read would be given to one after the other.
        let found = self.job_spec.as_ref().and_then(|spec| serde_json::to_vec(spec).ok());
        limit::long("job_spec", found.map_or(0, |spec| spec.len()), SPEC_BYTES_MAX)
    }
}

/// Names are unique, needs exist, and none waits for itself by any way.
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
