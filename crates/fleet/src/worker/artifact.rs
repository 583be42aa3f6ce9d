//! Files that a job wants kept.

use super::beat::insist;
use super::link::{Link, LinkError};
use crate::auth::sha256_hex;
use crate::id::{LeaseId, RunnerId};
use crate::message::{Artifact, ArtifactSpec, OBJECT_BYTES_MAX, UploadGranted, UploadRequest};
use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use tokio::fs::File;
use tokio::io::AsyncReadExt;

/// Files of one job at most; more cannot be named in its `Complete`.
const FILES_MAX: usize = 255;
/// How often a grant is asked for again when it is not believed: the orchestrator was restarted.
const GRANT_TRIES: u32 = 3;

/// A file that fits a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// What it is.
    pub(super) kind: String,
    /// Where it is.
    pub(super) at: PathBuf,
    /// What it will be called.
    pub(super) name: String,
}

/// The files that the patterns mean, each once, under the first that fits. Links that lead out of the
/// job's folder are none of its files.
pub(super) fn find(work: &Path, specs: &[ArtifactSpec]) -> Vec<Found> {
    let Ok(root) = work.canonicalize() else { return vec![] };
    let mut found = Vec::new();
    let (mut seen, mut names) = (BTreeSet::new(), BTreeSet::new());
    for spec in specs {
        if super::place::inside(&spec.path_glob).is_none() {
            continue;
        }
        let pattern =
            format!("{}/{}", glob::Pattern::escape(&root.to_string_lossy()), spec.path_glob);
        for at in glob::glob(&pattern).into_iter().flatten().flatten() {
            let Ok(real) = at.canonicalize() else { continue };
            let file = real.starts_with(&root) && real.is_file();
            if !file || found.len() >= FILES_MAX || !seen.insert(real.clone()) {
                continue;
            }
            let mut name = object_name(&spec.kind, at.strip_prefix(&root).unwrap_or(&at));
            while !names.insert(name.clone()) {
                name.push('_');
            }
            found.push(Found { kind: spec.kind.clone(), at: real, name });
        }
    }
    found
}

/// A name that an object can have: other characters become `_`.
fn object_name(kind: &str, path: &Path) -> String {
    let clean = |text: &str| -> String {
        let fine = |c: char| c.is_ascii_alphanumeric() || "-_.+@=".contains(c);
        text.chars().map(|c| if fine(c) { c } else { '_' }).collect()
    };
    let parts = path.iter().map(|part| clean(&part.to_string_lossy()));
    let name = std::iter::once(clean(kind)).chain(parts).collect::<Vec<_>>().join("/");
    // Names have a longest length; a long one keeps its end, and a hash of all of it.
    match name.len() {
        0..=200 => name,
        _ => format!(
            "{}/{}",
            &sha256_hex(name.as_bytes())[..16],
            name.rsplit('/').next().map_or("", |end| &end[end.len().saturating_sub(150)..])
        ),
    }
}

async fn measure(at: &Path) -> io::Result<(u64, String)> {
    let (mut file, mut hash, mut bytes) = (File::open(at).await?, Context::new(&SHA256), 0);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer).await? {
            0 => return Ok((bytes, HEXLOWER.encode(hash.finish().as_ref()))),
            read => {
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

/// Sends a file; what `Complete` says of it.
pub(super) async fn upload(
    link: &Link,
    lease_id: &LeaseId,
    runner_id: &RunnerId,
    found: &Found,
) -> Result<Artifact, LinkError> {
    let broken = |error: io::Error| LinkError::Refused {
        code: "FILE".to_owned(),
        message: error.to_string(),
    };
    let (bytes, sha256) = measure(&found.at).await.map_err(broken)?;
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
        let granted: UploadGranted = insist(|| link.send("upload", &request)).await?;
        let grant = granted.grant.clone().unwrap_or_default();
        let sent = insist(async || {
            let file = File::open(&found.at).await.map_err(broken)?;
            link.put(&granted.path, (lease_id, runner_id), &grant, &sha256, file).await
        });
        match sent.await {
            Ok(()) => {
                let uri = format!("/api/v1/objects/{}", granted.path);
                return Ok(Artifact { kind: found.kind.clone(), uri });
            }
            Err(LinkError::Refused { code, .. }) if code == "BAD_GRANT" && tries < GRANT_TRIES => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kind: &str, path_glob: &str) -> ArtifactSpec {
        ArtifactSpec { kind: kind.to_owned(), path_glob: path_glob.to_owned() }
    }

    #[test]
    fn patterns_find_files_of_the_job_and_no_others() {
        let folder = std::env::temp_dir().join(format!("fleet-glob-{}", std::process::id()));
        let work = folder.join("wo[r]k");
        std::fs::create_dir_all(work.join("a/TestResults")).expect("folders");
        for file in ["a/TestResults/x y.trx", "b.txt"] {
            std::fs::write(work.join(file), "x").expect("a file");
        }
        std::fs::write(folder.join("secret.trx"), "x").expect("a file");
        std::os::unix::fs::symlink(folder.join("secret.trx"), work.join("link.trx"))
            .expect("a link");
        let specs =
            [spec("junit", "**/TestResults/*.trx"), spec("all", "**/*"), spec("no", "../*")];
        let found = find(&work, &specs);
        let names: Vec<_> = found.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["junit/a/TestResults/x_y.trx", "all/b.txt"]);
        assert!(found.iter().all(|found| crate::object::is_path(&found.name)));
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn long_names_become_names_that_can_be() {
        let name = object_name("kind", Path::new(&"x".repeat(250)));
        assert!(name.len() <= 200 && crate::object::is_path(&name), "{name}");
    }
}
