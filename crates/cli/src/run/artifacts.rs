//! `remuda run artifacts`: what jobs left behind.

use super::Target;
use super::logs::jobs;
use crate::failure::Failure;
use crate::fleet::Session;
use crate::style::{Align, Cell, Style, Table, clean};
use futures::StreamExt as _;
use remuda_fleet::view::JobView;
use serde::Serialize;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// Where objects are, for whoever has a viewer's token.
const OBJECTS: &str = "/api/v1/objects/";

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
    let mut artifacts = Vec::new();
    for job in jobs(session, target, name, false).await? {
        for mut kept in kept(&job) {
            if let Some(to) = to {
                kept.file = Some(fetch(session, &kept, to).await?);
            }
            artifacts.push(kept);
        }
    }
    session.out.show(&List { artifacts }, words)
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
    kept.collect()
}

/// Writes an object to DIR/JOB/NAME. What is there stays.
async fn fetch(session: &Session, kept: &Kept, to: &Path) -> Result<PathBuf, Failure> {
    // A job's name may be any text.
    let folder: String =
        kept.job.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let at = to.join(folder).join(&kept.name);
    let failed = |source: io::Error| Failure::File { path: at.clone(), source };
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(&at).map_err(failed)?;
    let path = kept.uri.strip_prefix(OBJECTS).unwrap_or_default();
    let fetched = async {
        let pieces = session.client.object(path).await.map_err(|error| session.explain(error))?;
        let mut pieces = std::pin::pin!(pieces);
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| session.explain(error))?;
            file.write_all(&piece).map_err(failed)?;
        }
        Ok(())
    };
    let fetched: Result<(), Failure> = fetched.await;
    if fetched.is_err() {
        // Half a file is worse than none, and would be in the way of the next try.
        let _ = fs::remove_file(&at);
    }
    fetched.map(|()| at)
}

fn words(list: &List, style: Style) -> String {
    if list.artifacts.is_empty() {
        let text = "no artifacts: jobs keep what their `artifacts` name, and that is there\n";
        return if style.terminal { text.to_owned() } else { String::new() };
    }
    let mut table = Table::new(&[
        ("job", Align::Left),
        ("type", Align::Left),
        ("name", Align::Left),
        ("file", Align::Left),
    ]);
    for kept in &list.artifacts {
        let file = kept.file.as_ref().map(|file| file.display().to_string());
        table.row([
            Cell::plain(clean(&kept.job)),
            Cell::plain(clean(&kept.kind)),
            Cell::plain(clean(&kept.name)),
            Cell::plain(file.unwrap_or_else(|| "fetch it with --to DIR".to_owned())),
        ]);
    }
    table.render(style)
}
