//! Uploads files of a job.

use super::artifact::Found;
use super::link::{BAD_CLOCK, Link, LinkError};
use super::retry::{RETRY_FOR, retry_until_answered, retry_within};
use crate::auth::sha256_of;
use crate::id::{LeaseId, RunnerId};
use crate::message::{Artifact, Failure, OBJECT_BYTES_MAX, UploadGranted, UploadRequest};
use std::io;
use std::path::Path;
use tokio::fs::File;

const BAD_GRANT: &str = "BAD_GRANT";
const TOO_SLOW: &str = "TOO_SLOW";
/// Attempts with a new grant. A restarted orchestrator does not know older ones.
const GRANT_TRIES: u32 = 3;

/// Opens a file of a job. It may have been replaced by a link or a pipe meanwhile.
async fn open(at: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    File::options().read(true).custom_flags(flags).open(at).await
}

/// The job's failure if a file cannot be stored. None: this worker's failure, and another may succeed. A
/// refusal holds for every worker, so the job is not retried.
pub(super) fn blame(error: &LinkError) -> Option<Failure> {
    let code = match error {
        LinkError::Refused { code, .. } | LinkError::Failing { code, .. } => code.as_str(),
        // A proxy's limit holds for every worker.
        LinkError::Between(_) => return Some(Failure::NotKept),
        LinkError::Own(_) | LinkError::Stale(_) | LinkError::Unreachable(_) => return None,
    };
    (![BAD_GRANT, BAD_CLOCK, TOO_SLOW].contains(&code)).then_some(Failure::NotKept)
}

/// Uploads a file and returns its artifact.
pub(super) async fn upload(
    link: &Link,
    lease_id: &LeaseId,
    runner_id: &RunnerId,
    found: &Found,
) -> Result<Artifact, LinkError> {
    let broken = |error: io::Error| LinkError::Own(error.to_string());
    let mut file = open(&found.at).await.map_err(broken)?;
    let (bytes, sha256) = sha256_of(&mut file).await.map_err(broken)?;
    if bytes > OBJECT_BYTES_MAX {
        return Err(LinkError::Refused {
            code: "TOO_MUCH".to_owned(),
            message: "the file is too large".to_owned(),
        });
    }
    let request = UploadRequest {
        lease_id: lease_id.clone(),
        runner_id: runner_id.clone(),
        name: found.name.clone(),
        bytes,
    };
    let mut tries = 0;
    loop {
        tries += 1;
        let granted: UploadGranted = retry_until_answered(|| link.send("upload", &request)).await?;
        let grant = granted.grant.clone().unwrap_or_default();
        let sent = retry_within(RETRY_FOR, async || {
            let file = open(&found.at).await.map_err(broken)?;
            link.put(&granted.path, (lease_id, runner_id), &grant, &sha256, file).await
        });
        match sent.await {
            Ok(()) => {
                let uri = format!("/api/v1/objects/{}", granted.path);
                return Ok(Artifact { kind: found.kind.clone(), uri });
            }
            Err(LinkError::Refused { code, .. }) if code == BAD_GRANT && tries < GRANT_TRIES => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workers_own_trouble_is_not_the_jobs() {
        let refused =
            |code: &str| LinkError::Refused { code: code.to_owned(), message: String::new() };
        for code in ["TOO_MUCH", "OBJECTS_FULL", "OBJECT_EXISTS", "WRONG_SIZE"] {
            assert_eq!(blame(&refused(code)), Some(Failure::NotKept), "{code}");
        }
        for code in [BAD_CLOCK, BAD_GRANT] {
            assert_eq!(blame(&refused(code)), None, "{code}");
        }
        assert_eq!(blame(&LinkError::Own("EIO".to_owned())), None);
        let failing =
            |code: &str| LinkError::Failing { code: code.to_owned(), message: String::new() };
        assert_eq!(blame(&failing("DISK_FAILED")), Some(Failure::NotKept));
        assert_eq!(blame(&failing(TOO_SLOW)), None);
        assert_eq!(blame(&LinkError::Between(413)), Some(Failure::NotKept));
    }
}
