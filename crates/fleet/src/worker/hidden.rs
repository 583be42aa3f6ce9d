//! What jobs in a sandbox do not see of the machine, though their user could read it.

use super::config::{Config, Images};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is in folders of ours: an orchestrator's has tokens beside it, a runner's its key.
const SETTINGS: [&str; 3] = ["orchestrator.toml", "runner.toml", "worker.toml"];
const KEY: &str = "key";
/// Most names that are looked at for keys before each step.
const NAMES_MAX: usize = 100_000;

/// Each by no link, and none within another. What is not there need not be hidden; an error if something is
/// there and it cannot be said where: then no job begins.
pub(super) fn hidden(config: &Config) -> io::Result<Vec<PathBuf>> {
    let mut all = vec![config.folder.clone(), config.key.clone()];
    all.extend(config.hidden.iter().cloned());
    if let Images::Runc(runc) = &config.images {
        all.extend([runc.from.clone(), runc.store.clone()]);
    }
    all.extend(config.beside.as_deref().map(neighbours).unwrap_or_default());
    let mut found = Vec::new();
    for at in all {
        match at.canonicalize() {
            // A sandbox would put something over a link, and the place would be seen elsewhere.
            Ok(at) => found.push(at),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let why = format!("{} cannot be hidden from jobs: {error}", at.display());
                return Err(io::Error::new(error.kind(), why));
            }
        }
    }
    // What is there of the first is a step's own.
    found.retain(|at| at != Path::new("/tmp") && at.parent().is_some());
    // A folder comes right before what is in it.
    found.sort();
    found.dedup_by(|at, above| at.starts_with(&*above));
    Ok(found)
}

/// Folders beside one that have settings or keys in them. At the top of the machine only settings count:
/// systems have keys of their own in their folders.
fn neighbours(folder: &Path) -> Vec<PathBuf> {
    let Ok(folder) = folder.canonicalize() else { return vec![] };
    let Some(above) = folder.parent() else { return vec![] };
    let (top, mut left) = (above.parent().is_none(), NAMES_MAX);
    let beside = fs::read_dir(above).into_iter().flatten().flatten().map(|entry| entry.path());
    let ours = beside.filter(|at| {
        let settings = || SETTINGS.iter().any(|name| at.join(name).exists());
        *at != folder && (settings() || !top && has_key(at, &mut left))
    });
    ours.collect()
}

fn has_key(folder: &Path, left: &mut usize) -> bool {
    // What the worker may not list, nor may its jobs.
    let mut names = fs::read_dir(folder).into_iter().flatten().flatten().take(*left);
    names.any(|entry| {
        *left -= 1;
        Path::new(&entry.file_name()).extension().is_some_and(|end| end == KEY)
    })
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::Sandbox;
    use super::*;

    #[test]
    fn what_is_beside_a_worker_is_hidden_and_nothing_is_left_out_unsaid() {
        let base = std::env::temp_dir().join(format!("fleet-hidden-{}", std::process::id()));
        for folder in ["worker/place-1", "fleet", "runner", "tools", "named/in"] {
            fs::create_dir_all(base.join(folder)).expect("a folder");
        }
        for file in ["worker/worker.key", "fleet/orchestrator.toml", "runner/a.key", "tools/key"] {
            fs::write(base.join(file), "x").expect("a file");
        }
        let base = base.canonicalize().expect("a folder");
        let mut config = Config::new("", base.join("worker/place-1"), Sandbox::Process);
        config.key = base.join("worker/worker.key");
        config.beside = Some(base.join("worker"));
        std::os::unix::fs::symlink("named/in", base.join("link")).expect("a link");
        config.hidden = vec![base.join("worker"), base.join("link"), base.join("nowhere")];
        let wanted = ["fleet", "named/in", "runner", "worker"].map(|name| base.join(name));
        assert_eq!(hidden(&config).expect("found"), wanted);
        std::os::unix::fs::symlink("circle", base.join("circle")).expect("a link");
        config.hidden.push(base.join("circle"));
        let error = hidden(&config).expect_err("it is there, and nobody knows where");
        assert!(error.to_string().contains("circle"), "{error}");
        fs::remove_dir_all(&base).expect("removed");
    }
}
