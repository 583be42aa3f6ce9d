//! What a job does. The seed shows this format and leaves it to others; this is what it shows.

use super::limit::{self, LIST_LENGTH_MAX, NAME_BYTES_MAX, SCRIPT_BYTES_MAX, URI_BYTES_MAX};
use super::{Call, Problem};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Steps in an environment, or a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct JobSpec {
    /// For people.
    pub name: String,
    /// Where steps begin, under the job's own folder.
    #[serde(default = "here")]
    pub workdir: String,
    /// A container image, if one is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Scripts for the shell, one after the other.
    pub steps: Vec<String>,
    /// Variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files to keep.
    #[serde(default)]
    pub artifacts: Vec<ArtifactSpec>,
    /// Folders to find again next time.
    #[serde(default)]
    pub caches: Vec<CacheSpec>,
    /// Work that the worker does itself, instead of steps (not in the seed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
}

fn here() -> String {
    ".".to_owned()
}

/// Files to keep.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct ArtifactSpec {
    /// What they are.
    #[serde(rename = "type")]
    pub kind: String,
    /// Which they are.
    pub path_glob: String,
}

/// Folders to find again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct CacheSpec {
    /// What is in them.
    #[serde(rename = "type")]
    pub kind: String,
    /// Found again under this.
    pub key: String,
    /// Which they are.
    pub paths: Vec<String>,
}

/// The work of a job: embedded, or somewhere else.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub enum Work {
    /// `job_spec`.
    Spec(JobSpec),
    /// `job_spec_ref`.
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

/// Exactly one of the two, and that in order.
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
