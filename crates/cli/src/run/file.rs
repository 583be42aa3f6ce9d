//! A run as people write it: jobs with their steps, in TOML or JSON.

use crate::failure::Failure;
use crate::fleet::FleetFailure;
use crate::session::read_input;
use remuda_fleet::message::{
    ArtifactSpec, Body as _, CacheSpec, JobSpec, JobSubmission, Label, Retry, RunSubmission, Tag,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunFile {
    #[serde(default)]
    name: String,
    max_parallel: Option<u32>,
    jobs: Vec<JobEntry>,
}

/// A job: what the planner says of it and what the worker does, in one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobEntry {
    name: String,
    steps: Vec<String>,
    #[serde(default)]
    needs: BTreeSet<String>,
    #[serde(default)]
    tags: BTreeSet<Tag>,
    #[serde(default)]
    labels: BTreeSet<Label>,
    #[serde(default)]
    priority: i16,
    #[serde(default = "hour")]
    max_runtime_seconds: u32,
    start_within_seconds: Option<u32>,
    #[serde(default)]
    retry: RetryEntry,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default = "here")]
    workdir: String,
    image: Option<String>,
    #[serde(default)]
    artifacts: Vec<ArtifactSpec>,
    #[serde(default)]
    caches: Vec<CacheSpec>,
}

fn hour() -> u32 {
    3_600
}

fn here() -> String {
    ".".to_owned()
}

/// The same as on the wire, but a misspelt word is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RetryEntry {
    max_attempts: Option<u32>,
    backoff_seconds: Option<u32>,
    on_timeout: bool,
}

impl From<RetryEntry> for Retry {
    fn from(entry: RetryEntry) -> Self {
        let usual = Self::default();
        Self {
            max_attempts: entry.max_attempts.unwrap_or(usual.max_attempts),
            backoff_seconds: entry.backoff_seconds.unwrap_or(usual.backoff_seconds),
            on_timeout: entry.on_timeout,
            once: usual.once,
        }
    }
}

impl From<JobEntry> for JobSubmission {
    fn from(job: JobEntry) -> Self {
        let spec = JobSpec {
            name: job.name.clone(),
            workdir: job.workdir,
            image: job.image,
            steps: job.steps,
            env: job.env,
            artifacts: job.artifacts,
            caches: job.caches,
            call: None,
        };
        Self {
            name: job.name,
            needs: job.needs,
            tags: job.tags,
            labels: job.labels,
            priority: job.priority,
            max_runtime_seconds: job.max_runtime_seconds,
            start_within_seconds: job.start_within_seconds,
            retry: job.retry.into(),
            lease_ttl_seconds: None,
            job_spec: Some(spec),
            job_spec_ref: None,
        }
    }
}

/// Reads a file, and refuses what an orchestrator would refuse.
pub(super) fn read(path: &Path) -> Result<RunSubmission, Failure> {
    let bytes = read_input(path)?;
    let wrong = |why: String| FleetFailure::Content { path: path.to_owned(), why };
    Ok(parse(&bytes).map_err(wrong)?)
}

/// JSON begins with a brace, and TOML never does.
pub(super) fn parse(bytes: &[u8]) -> Result<RunSubmission, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let file: RunFile = match text.trim_start().starts_with('{') {
        true => {
            let mut json = serde_json::Deserializer::from_str(text);
            let read = serde_path_to_error::deserialize(&mut json);
            let file = read.map_err(|error| format!("{}: {}", error.path(), error.inner()))?;
            json.end().map_err(|error| error.to_string())?;
            file
        }
        false => toml::from_str(text).map_err(|error| error.to_string())?,
    };
    let run = RunSubmission {
        name: file.name,
        max_parallel: file.max_parallel,
        jobs: file.jobs.into_iter().map(JobSubmission::from).collect(),
    };
    run.check().map_err(|problem| problem.to_string())?;
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_run_in_toml_and_in_json_is_the_same() {
        let toml = "[[jobs]]\nname = \"a\"\nsteps = [\"true\"]\nretry = { max_attempts = 3 }\n";
        let json = r#"{"jobs":[{"name":"a","steps":["true"],"retry":{"max_attempts":3}}]}"#;
        let (toml, json) = (parse(toml.as_bytes()).unwrap(), parse(json.as_bytes()).unwrap());
        assert_eq!(toml, json);
        assert_eq!(toml.jobs[0].retry.max_attempts, 3);
        assert_eq!(toml.jobs[0].retry.backoff_seconds, Retry::default().backoff_seconds);
    }

    #[test]
    fn mistakes_are_named_before_anything_is_sent() {
        let wrong = |text: &str| parse(text.as_bytes()).unwrap_err();
        let misspelt = wrong("[[jobs]]\nname = \"a\"\nstep = [\"true\"]\n");
        assert!(misspelt.contains("step") && misspelt.contains("line 3"), "{misspelt}");
        let misspelt = wrong(r#"{"jobs":[{"name":"a","steps":["true"],"tag":[]}]}"#);
        assert!(misspelt.contains("jobs[0]"), "{misspelt}");
        let circle = "[[jobs]]\nname = \"a\"\nsteps = [\"true\"]\nneeds = [\"a\"]\n";
        assert!(wrong(circle).contains("circle"), "{}", wrong(circle));
        assert!(wrong("").contains("jobs"));
    }
}
