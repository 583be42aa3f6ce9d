//! `UploadRequest` → `UploadGranted`: the right to write one object (not in the seed; SPEC §14).

use super::limit::{self, NAME_BYTES_MAX, SECONDS_MAX, URI_BYTES_MAX};
use super::{Body, Problem};
use crate::id::{Attempt, Fence, LeaseId, RunnerId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Largest object.
pub const OBJECT_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

/// The runner wants to keep a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct UploadRequest {
    /// The lease under which it was made.
    pub lease_id: LeaseId,
    /// Who made it.
    pub runner_id: RunnerId,
    /// Its name under the job: parts with `/` between them.
    pub name: String,
    /// Its size.
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

/// It may, here, once, as long as the lease lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub struct UploadGranted {
    /// The lease that the right ends with.
    pub lease_id: LeaseId,
    /// `runs/{run}/jobs/{job}/{attempt}-{fence}/{name}`: no two grants share a path.
    pub path: String,
    /// Part of the path.
    pub attempt: Attempt,
    /// Part of the path, and checked again when the bytes arrive.
    pub fence: Fence,
    /// At most so many bytes.
    pub bytes: u64,
    /// Shown when the bytes are sent: proof of all of the above. A secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The right ends so long from now, if no heartbeat extends the lease.
    pub expires_seconds: u32,
}

impl Body for UploadGranted {
    const TYPE: &'static str = "UploadGranted";

    fn check(&self) -> Result<(), Problem> {
        limit::word("path", &self.path, URI_BYTES_MAX)?;
        limit::range("expires_seconds", self.expires_seconds, 0, SECONDS_MAX.into())
    }
}

/// Whether a path is one of an object: parts that are no way out of the folder.
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
