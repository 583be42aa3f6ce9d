//! Paths that sandboxed jobs must not see, although their user could read them.

use super::config::{Config, Images};
use rustix::fs::{Access, access};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files that mark our directories: tokens or keys lie beside them.
const SETTINGS: [&str; 3] = ["orchestrator.toml", "runner.toml", "worker.toml"];
const KEY: &str = "key";
/// Most names that are searched for keys before each step.
const NAMES_MAX: usize = 100_000;

/// Resolved paths, none inside another. Missing paths are ignored. If a path exists but cannot be resolved,
/// it is an error, and no job starts.
pub(super) fn hidden(config: &Config) -> io::Result<Vec<PathBuf>> {
    let mut all = vec![config.folder.clone(), config.key.clone()];
    all.extend(config.hidden.iter().cloned());
    if let Images::Runc(runc) = &config.images {
        all.extend([runc.from.clone(), runc.store.clone()]);
    }
    if let Some(beside) = &config.beside {
        all.extend(neighbours(beside, NAMES_MAX)?);
    }
    let mut found = Vec::new();
    for at in all {
        match at.canonicalize() {
            // A sandbox would cover the link, not its target.
            Ok(at) => found.push(at),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let why = format!("{} cannot be hidden from jobs: {error}", at.display());
                return Err(io::Error::new(error.kind(), why));
            }
        }
    }
    // A step has its own `/tmp`.
    found.retain(|at| at != Path::new("/tmp") && at.parent().is_some());
    // A directory sorts right before its content.
    found.sort();
    found.dedup_by(|at, above| at.starts_with(&*above));
    Ok(found)
}

/// Siblings of a directory with settings or keys. Below `/` only settings count: systems have keys of their
/// own there. An error if a directory cannot be searched: a job could still guess its names.
fn neighbours(folder: &Path, names_max: usize) -> io::Result<Vec<PathBuf>> {
    let folder = match folder.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        found => found?,
    };
    let Some(above) = folder.parent() else { return Ok(vec![]) };
    let unlisted = |error: io::Error| {
        let why = format!(
            "what is beside {} cannot be hidden from jobs: {} cannot be listed: {error}; put the worker \
             into a folder that it can list",
            folder.display(),
            above.display()
        );
        io::Error::new(error.kind(), why)
    };
    let (top, mut left) = (above.parent().is_none(), names_max);
    let mut ours = vec![];
    for entry in fs::read_dir(above).map_err(unlisted)? {
        let at = entry.map_err(unlisted)?.path();
        let settings = || SETTINGS.iter().any(|name| at.join(name).exists());
        if at != folder && (settings() || !top && has_key(&at, &mut left)?) {
            ours.push(at);
        }
    }
    Ok(ours)
}

fn has_key(folder: &Path, left: &mut usize) -> io::Result<bool> {
    let names = match fs::read_dir(folder) {
        Ok(names) => names,
        // Not listable, but its files can be opened by name: it may have a key.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(access(folder, Access::EXEC_OK).is_ok());
        }
        // Not a directory, or removed.
        Err(_) => return Ok(false),
    };
    for entry in names {
        if *left == 0 {
            let why = format!(
                "{} has too many files to search for keys; put the worker into a folder of its own",
                folder.display()
            );
            return Err(io::Error::other(why));
        }
        *left -= 1;
        if Path::new(&entry?.file_name()).extension().is_some_and(|end| end == KEY) {
            return Ok(true);
        }
    }
    Ok(false)
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
    /// Fault 19: with too many siblings, jobs saw a directory with a key.
    #[test]
    fn what_cannot_be_looked_through_is_an_error() {
        let base = std::env::temp_dir().join(format!("fleet-beside-{}", std::process::id()));
        for folder in ["worker", "many", "runner"] {
            fs::create_dir_all(base.join(folder)).expect("a folder");
        }
        for n in 0..10 {
            fs::write(base.join(format!("many/{n}")), "x").expect("a file");
        }
        fs::write(base.join("runner/a.key"), "x").expect("a file");
        let base = base.canonicalize().expect("a folder");
        let look = |names_max| neighbours(&base.join("worker"), names_max);
        assert_eq!(look(11).expect("looked through"), [base.join("runner")]);
        // The order of directory entries is undefined.
        let error = look(9).expect_err("too many names");
        assert!(error.to_string().contains("many"), "{error}");
        assert_eq!(neighbours(&base.join("nowhere"), 1).expect("nothing"), [] as [PathBuf; 0]);
        // The parent is a file.
        let below = base.join("runner/a.key/worker");
        assert!(neighbours(&below, 1).is_err());
        fs::remove_dir_all(&base).expect("removed");
    }
}
