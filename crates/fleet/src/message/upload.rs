//! `UploadRequest` → `UploadGranted`: the right to write one object (not in the seed; SPEC §14).

use super::limit::{self, NAME_BYTES_MAX, SECONDS_MAX, URI_BYTES_MAX};
use super::{Body, Problem};
use crate::id::{Attempt, Fence, LeaseId, RunnerId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const OBJECT_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

/// Asks to store a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct UploadRequest {
    /// The lease of the job.
    pub lease_id: LeaseId,
    /// The runner that holds it.
    pub runner_id: RunnerId,
    /// Name of the object below the job, with `/` between parts.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
}

impl Body for UploadRequest {
    const TYPE: &'static str = "UploadRequest";

    fn check(&self) -> Result<(), Problem> {
        limit::word("name", &self.name, NAME_BYTES_MAX)?;
        if !is_object_path(&self.name) {
            return Err(Problem::Invalid {
                field: "name",
                why: "must be parts of letters, digits and -_.+@= with `/` between them",
            });
        }
        limit::range("bytes", self.bytes, 0, OBJECT_BYTES_MAX)
    }
}

/// Allows one upload while the lease holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct UploadGranted {
    /// The lease.
    pub lease_id: LeaseId,
    /// `runs/{run}/jobs/{job}/{attempt}-{fence}/{name}`: each grant of a job has its own paths.
    pub path: String,
    /// Part of the path.
    pub attempt: Attempt,
    /// Part of the path, checked again when the bytes arrive.
    pub fence: Fence,
    /// Most bytes of the object.
    pub bytes: u64,
    /// Proof of the fields above, sent with the bytes. A secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// Time until the grant expires, unless a heartbeat extends the lease.
    pub expires_seconds: u32,
}

impl Body for UploadGranted {
    const TYPE: &'static str = "UploadGranted";

    fn check(&self) -> Result<(), Problem> {
        limit::word("path", &self.path, URI_BYTES_MAX)?;
        limit::range("expires_seconds", self.expires_seconds, 0, SECONDS_MAX.into())
    }
}

/// Whether a path names an object. No part of it leads out of the folder.
pub fn is_object_path(path: &str) -> bool {
    let fine = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+@=".contains(&b))
    };
    path.len() <= 1_024 && path.split('/').all(fine)
}

#[cfg(test)]
mod tests {
    use super::is_object_path;

    #[test]
    fn no_path_leads_out_of_the_folder() {
        assert!(is_object_path("runs/run_1/jobs/job_1-0/1-2/test.trx"));
        for bad in ["", "/etc/passwd", "a//b", "a/../b", "..", "a/./b", "a\\b", "a/b\0", "a b"] {
            assert!(!is_object_path(bad), "{bad:?}");
        }
    }
}
