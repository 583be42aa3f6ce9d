//! Job specs, in the format of the seed's example.

use super::limit::{self, LIST_LENGTH_MAX, NAME_BYTES_MAX, SCRIPT_BYTES_MAX, URI_BYTES_MAX};
use super::{Call, Problem};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A job spec: shell steps, or a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct JobSpec {
    /// Name, for people.
    pub name: String,
    /// Working directory of steps, below the job's directory.
    #[serde(default = "here")]
    pub workdir: String,
    /// Container image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Shell scripts, run in order.
    pub steps: Vec<String>,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files to store.
    #[serde(default)]
    pub artifacts: Vec<ArtifactSpec>,
    /// Directories to restore and save.
    #[serde(default)]
    pub caches: Vec<CacheSpec>,
    /// A call of an executor, instead of steps (not in the seed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
}

fn here() -> String {
    ".".to_owned()
}

/// Files to store as artifacts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct ArtifactSpec {
    /// Kind of artifact.
    #[serde(rename = "type")]
    pub kind: String,
    /// Pattern of their paths.
    pub path_glob: String,
}

/// Directories that jobs with the same key share.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct CacheSpec {
    /// Kind of content.
    #[serde(rename = "type")]
    pub kind: String,
    /// Key of the cache.
    pub key: String,
    /// Paths of the directories.
    pub paths: Vec<String>,
}

/// The spec of a job, embedded or by reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub enum Work {
    Spec(JobSpec),
    Ref(String),
}

impl JobSpec {
    fn check(&self) -> Result<(), Problem> {
        limit::word("job_spec.name", &self.name, NAME_BYTES_MAX)?;
        limit::word("job_spec.workdir", &self.workdir, URI_BYTES_MAX)?;
        if let Some(image) = &self.image {
            limit::word("job_spec.image", image, URI_BYTES_MAX)?;
        }
        limit::list("job_spec.steps", self.steps.len(), LIST_LENGTH_MAX)?;
        for step in &self.steps {
            limit::word("job_spec.steps", step, SCRIPT_BYTES_MAX)?;
        }
        limit::env("job_spec.env", &self.env)?;
        limit::list("job_spec.artifacts", self.artifacts.len(), LIST_LENGTH_MAX)?;
        for artifact in &self.artifacts {
            limit::word("job_spec.artifacts.type", &artifact.kind, NAME_BYTES_MAX)?;
            limit::word("job_spec.artifacts.path_glob", &artifact.path_glob, URI_BYTES_MAX)?;
        }
        limit::list("job_spec.caches", self.caches.len(), LIST_LENGTH_MAX)?;
        for cache in &self.caches {
            limit::word("job_spec.caches.type", &cache.kind, NAME_BYTES_MAX)?;
            limit::word("job_spec.caches.key", &cache.key, NAME_BYTES_MAX)?;
            limit::list("job_spec.caches.paths", cache.paths.len(), LIST_LENGTH_MAX)?;
            for path in &cache.paths {
                limit::word("job_spec.caches.paths", path, URI_BYTES_MAX)?;
            }
        }
        match &self.call {
            Some(_) if !self.steps.is_empty() => {
                let why = "must be empty where there is a `call`";
                Err(Problem::Invalid { field: "job_spec.steps", why })
            }
            Some(call) => call.check(),
            None => Ok(()),
        }
    }
}

/// Exactly one of both, and valid.
pub(super) fn check(spec: Option<&JobSpec>, at: Option<&str>) -> Result<(), Problem> {
    match (spec, at) {
        (Some(spec), None) => spec.check(),
        (None, Some(at)) => limit::word("job_spec_ref", at, URI_BYTES_MAX),
        _ => Err(Problem::Invalid {
            field: "job_spec",
            why: "or `job_spec_ref` must be there, and not both",
        }),
    }
}
