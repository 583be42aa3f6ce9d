//! `remuda run artifacts`: what jobs left behind.

use super::Target;
use super::logs::jobs;
use crate::failure::Failure;
use crate::fleet::{FleetFailure, Session};
use crate::style::{Cell, Style, Table};
use futures::{Stream, StreamExt as _};
use remuda_fleet::id::Fence;
use remuda_fleet::view::JobView;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

/// Path of the object API. It takes a viewer's token.
const OBJECTS: &str = "/api/v1/objects/";
/// Longest name of a job's folder, before what is put behind it.
const FOLDER_BYTES_MAX: usize = 200;
/// Longest part of a file's name that file systems take, and what is left of a longer one.
const PART_BYTES_MAX: usize = 255;
const CUT_BYTES: usize = 240;
/// What a file is called until it is whole: no object's name has such a sign.
const HALF: &str = "~half";

/// Says in a job's folder what it was fetched from. No object's name has such a sign either.
const NOTE: &str = ".~fetched";

#[derive(Debug, Serialize)]
struct Kept {
    job: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct List {
    artifacts: Vec<Kept>,
}

pub(super) async fn artifacts(
    session: &Session,
    target: &Target,
    name: Option<&str>,
    to: Option<&Path>,
) -> Result<(), Failure> {
    let (mut artifacts, mut failed) = (Vec::new(), None);
    for job in jobs(session, target, name, false).await? {
        // Artifacts come with a job that is asked for by itself.
        if job.fence == Fence(0) {
            continue;
        }
        let job = session.client.job(&job.job_id).await.map_err(|error| session.explain(error))?;
        let folder = to.map(|to| to.join(folder(&job)));
        let kept = kept(&job);
        let own = match &folder {
            Some(folder) if !kept.is_empty() => is_own(folder, &job),
            _ => false,
        };
        for mut kept in kept {
            if let Some(folder) = &folder {
                match fetch(session, &kept, folder, own).await {
                    Ok(file) => kept.file = Some(file),
                    // One that cannot be written keeps nobody from the others.
                    Err(
                        error @ (Failure::File { .. } | Failure::Fleet(FleetFailure::Differs(_))),
                    ) => {
                        failed.get_or_insert(error);
                    }
                    Err(error) => return Err(error),
                }
            }
            artifacts.push(kept);
        }
    }
    session.out.show(&List { artifacts }, render)?;
    failed.map_or(Ok(()), Err)
}

/// The folder of a job: its name, as far as that can be one. A name that had to be changed, or cut, has its
/// job's place in the run behind it: no two jobs have the same folder.
fn folder(job: &JobView) -> String {
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut name = String::new();
    for c in job.name.chars().map(|c| if fine(c) { c } else { '_' }) {
        if name.len() + c.len_utf8() > FOLDER_BYTES_MAX {
            break;
        }
        // A folder that begins with a dot is not seen.
        name.push(if name.is_empty() && c == '.' { '_' } else { c });
    }
    if name == job.name && !name.is_empty() {
        return name;
    }
    let place = job.job_id.as_str().rsplit('-').next().unwrap_or_default();
    format!("{name}~{place}")
}

/// Objects of a job. A worker has named them: whatever is not this job's, or no path below a folder, is
/// left out, as are logs, which have a command of their own.
fn kept(job: &JobView) -> Vec<Kept> {
    let Some(run) = job.job_id.run() else { return Vec::new() };
    let own = format!("runs/{run}/jobs/{}/", job.job_id);
    let kept = job.artifacts.iter().filter_map(|artifact| {
        let path = artifact.uri.strip_prefix(OBJECTS)?.strip_prefix(&own)?;
        let (_attempt, name) = path.split_once('/')?;
        let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        (plain && !name.is_empty()).then(|| Kept {
            job: job.name.clone(),
            kind: artifact.kind.clone(),
            name: name.to_owned(),
            uri: artifact.uri.clone(),
            file: None,
        })
    });
    // A worker may name one twice.
    let mut seen = BTreeSet::new();
    kept.filter(|kept| seen.insert(kept.name.clone())).collect()
}

/// A name that a file can have: a part of it that is too long keeps its end.
fn file_name(name: &str) -> PathBuf {
    let cut = |part: &str| match part.len() {
        0..=PART_BYTES_MAX => part.to_owned(),
        bytes => {
            let from = (bytes - CUT_BYTES..bytes).find(|at| part.is_char_boundary(*at));
            format!("~{}", &part[from.unwrap_or(bytes)..])
        }
    };
    name.split('/').map(cut).collect()
}

/// Whether all that is in a folder was fetched from this grant of this job, which a file in it says. A new folder
/// gets one.
fn is_own(folder: &Path, job: &JobView) -> bool {
    let note = folder.join(NOTE);
    let text = format!("{} {}-{}\n", job.job_id, job.attempt, job.fence);
    match folder.symlink_metadata() {
        Ok(_) => fs::read_to_string(&note).is_ok_and(|noted| noted == text),
        // If it cannot be made, that is told with its first file.
        Err(_) => fs::create_dir_all(folder).and_then(|()| fs::write(&note, text)).is_ok(),
    }
}

/// Whether a file has what comes.
async fn same(
    at: &Path,
    mut pieces: impl Stream<Item = Result<Vec<u8>, Failure>> + Unpin,
) -> Result<bool, Failure> {
    let failed = |source: io::Error| Failure::File { path: at.to_owned(), source };
    let mut file = io::BufReader::new(fs::File::open(at).map_err(failed)?);
    let mut there = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        there.resize(piece.len(), 0);
        match file.read_exact(&mut there) {
            Ok(()) if there == piece => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(file.fill_buf().map_err(failed)?.is_empty())
}

/// Writes an object to FOLDER/NAME. What is there stays, and is an error if it is something else. In a folder
/// that is this job's own, a file of the same length was fetched before; in any other it is compared.
async fn fetch(
    session: &Session,
    kept: &Kept,
    folder: &Path,
    own: bool,
) -> Result<PathBuf, Failure> {
    let at = folder.join(file_name(&kept.name));
    let failed = |source: io::Error| Failure::File { path: at.clone(), source };
    let path = kept.uri.strip_prefix(OBJECTS).unwrap_or_default();
    let (bytes, pieces) =
        session.client.object(path).await.map_err(|error| session.explain(error))?;
    let mut pieces =
        std::pin::pin!(pieces.map(|piece| piece.map_err(|error| session.explain(error))));
    if let Ok(there) = at.symlink_metadata() {
        let long = there.is_file() && bytes.is_none_or(|bytes| bytes == there.len());
        return match long && ((own && bytes.is_some()) || same(&at, pieces).await?) {
            true => Ok(at),
            false => Err(FleetFailure::Differs(at).into()),
        };
    }
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // Download to a temporary name, so that an interrupted download cannot be taken for a whole file.
    let (half, whole) = (at.with_file_name(HALF), at.clone());
    let _ = fs::remove_file(&half);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&half).map_err(failed)?;
    let fetched = async {
        while let Some(piece) = pieces.next().await {
            file.write_all(&piece?).map_err(failed)?;
        }
        fs::rename(&half, &whole).map_err(failed)
    };
    let fetched: Result<(), Failure> = fetched.await;
    if fetched.is_err() {
        // Half a file is worse than none.
        let _ = fs::remove_file(&half);
    }
    fetched.map(|()| at)
}

fn render(list: &List, style: Style) -> String {
    if list.artifacts.is_empty() {
        let text = "no artifacts: jobs keep what their `artifacts` name, and that is there\n";
        return if style.terminal { text.to_owned() } else { String::new() };
    }
    let file = |kept: &Kept| match &kept.file {
        Some(file) => file.display().into(),
        None => "fetch it with --to DIR".into(),
    };
    Table::of(&list.artifacts)
        .left("job", |kept| &kept.job)
        .left("type", |kept| &kept.kind)
        .left("name", |kept| &kept.name)
        .left("file", |kept| -> Cell { file(kept) })
        .render(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, place: usize, names: &[&str]) -> JobView {
        let artifacts: Vec<_> = names
            .iter()
            .map(|name| {
                let uri = format!("/api/v1/objects/runs/run_1/jobs/job_1-{place}/1-1/{name}");
                serde_json::json!({ "type": "x", "uri": uri })
            })
            .collect();
        let view = serde_json::json!({ "job_id": format!("job_1-{place}"), "name": name,
            "state": "SUCCEEDED", "attempt": 1, "fence": 1, "losses": 0, "log_bytes": 0,
            "artifacts": artifacts });
        serde_json::from_value(view).expect("a job")
    }

    #[test]
    fn no_two_jobs_share_a_folder() {
        let names =
            ["build-linux", "a b", "a_b", "a/b", "a_b~1", "..", ".", "", ".git", "\u{1f600}"];
        let folders: Vec<String> =
            names.iter().enumerate().map(|(place, name)| folder(&job(name, place, &[]))).collect();
        let distinct: BTreeSet<&String> = folders.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{folders:?}");
        assert_eq!((&*folders[0], &*folders[1], &*folders[2]), ("build-linux", "a_b~1", "a_b"));
        for name in &folders {
            let parts: Vec<_> = Path::new(name).components().collect();
            assert!(matches!(parts[..], [Component::Normal(_)]), "{name}");
        }
        let long: BTreeSet<_> =
            (0..2).map(|place| folder(&job(&"\u{e9}".repeat(300), place, &[]))).collect();
        assert!(long.len() == 2 && long.iter().all(|name| name.len() < 255), "{long:?}");
    }

    /// Two runs of one build leave files of the same names and lengths.
    #[tokio::test]
    async fn a_file_of_another_run_is_not_taken_for_this_ones() {
        let folder = std::env::temp_dir().join(format!("remuda-fetched-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let (first, second) = (job("build", 0, &[]), job("build", 1, &[]));
        assert!(is_own(&folder, &first) && is_own(&folder, &first));
        assert!(!is_own(&folder, &second), "it is another's");
        fs::write(folder.join("version"), "1.2.3").expect("a file");
        for (pieces, wanted) in [
            (vec!["1.2", ".3"], true),
            (vec!["1.2.4"], false),
            (vec!["1.2."], false),
            (vec!["1.2.3", "4"], false),
        ] {
            let pieces = pieces.into_iter().map(|piece| Ok(piece.as_bytes().to_vec()));
            let same = same(&folder.join("version"), futures::stream::iter(pieces)).await;
            assert_eq!(same.expect("read"), wanted);
        }
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn what_a_worker_names_twice_or_too_long_is_fetched_all_the_same() {
        let long = "x".repeat(256);
        let kept = kept(&job("a", 0, &["b", "b", &long, "../c", "d/e"]));
        let names: Vec<_> = kept.iter().map(|kept| kept.name.as_str()).collect();
        assert_eq!(names, ["b", &long, "d/e"]);
        assert_eq!(file_name("d/e"), Path::new("d/e"));
        assert!(file_name(&long).as_os_str().len() <= 255);
    }
}
