//! Sandboxes of jobs without an image.

use super::descriptors;
use super::files;
use super::network::{Joined, Network, program};
use crate::auth::random_hex;
use rustix::fd::OwnedFd;
use rustix::process::{getegid, geteuid};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The sandbox of a job's processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// Bubblewrap: own namespaces, a read-only root, no capabilities.
    Bubblewrap {
        program: PathBuf,
        /// What this version supports.
        features: BwrapFeatures,
    },
    /// None: the job can do whatever the worker can. For trusted jobs.
    Process,
}

/// Optional features of bubblewrap, found by trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BwrapFeatures {
    /// Bounded tmpfs: not before 0.7, nor if setuid.
    pub sized: bool,
    /// No nested user namespaces, in which a job could mount unbounded tmpfs: since 0.8.
    pub shut: bool,
}

impl BwrapFeatures {
    const ALL: [Self; 4] = [
        Self { sized: true, shut: true },
        Self { sized: true, shut: false },
        Self { sized: false, shut: true },
        Self { sized: false, shut: false },
    ];
}

/// Size of `/dev/shm`. Not attributed to processes, so it comes on top of a job's memory limit.
const SHARED_BYTES: u64 = 64 << 20;
/// Bubblewrap reads its options from the descriptor after the script's.
pub(super) const ARGUMENTS: [&str; 2] = ["--args", "4"];
const _: () = assert!(descriptors::FIRST == 3, "ARGUMENTS comes next");
/// Directories in [`View::temporary`] for `/tmp`, and for `/dev/shm` if tmpfs cannot be bounded.
const TEMPORARY: &str = "tmp";
const SHARED: &str = "shm";
/// Checks that a job can write where it may, and nowhere else.
const TRIAL: &str = r#"
for at in "$1" /tmp /dev/shm; do : > "$at/x"; done
for at in "$1/.." /dev /; do
    if (: > "$at/x") 2>/dev/null; then exit 1; fi
done
echo works
"#;

impl Sandbox {
    /// Bubblewrap from the search path, if it works here.
    pub fn find(network: &Network) -> Option<Self> {
        Self::with(program("bwrap")?, network)
    }

    /// This bubblewrap, if it works here. It is tried with the options of steps: the machine may forbid user
    /// namespaces, and versions differ.
    pub fn with(program: PathBuf, network: &Network) -> Option<Self> {
        let sandbox = |features| Self::Bubblewrap { program: program.clone(), features };
        let found =
            BwrapFeatures::ALL.map(sandbox).into_iter().find(|sandbox| sandbox.works(network));
        if matches!(
            found,
            Some(Self::Bubblewrap { features: BwrapFeatures { shut: false, .. }, .. })
        ) {
            tracing::warn!("bubblewrap before 0.8 lets jobs create user namespaces");
        }
        found
    }

    fn works(&self, network: &Network) -> bool {
        let folder = std::env::temp_dir().join(format!("remuda-sandbox-{}", random_hex::<8>()));
        let works = self.tried(&folder, network).unwrap_or(false);
        if let Err(error) = files::remove(&folder) {
            tracing::warn!(%error, path = %folder.display(), kind = "sandbox trial", "cleanup failed");
        }
        works
    }

    fn tried(&self, folder: &Path, network: &Network) -> io::Result<bool> {
        let Self::Bubblewrap { program, features } = self else { return Ok(true) };
        fs::create_dir_all(folder.join("job"))?;
        let hidden = [folder.canonicalize()?];
        let (job, temporary) = (hidden[0].join("job"), hidden[0].join("temporary"));
        renew(&temporary)?;
        let (folder, temporary, hidden) = (&*job, &*temporary, &hidden[..]);
        let view = View { folder, temporary, hidden, network, joined: None };
        let mut command = Command::new(program);
        // The script's descriptor comes first, even without a script.
        let handed = vec![descriptors::sealed(&[])?, view.arguments(*features, &BTreeMap::new())?];
        descriptors::hand(&mut command, handed)?;
        let said = command
            .args(ARGUMENTS)
            .args(["/bin/sh", "-e", "-c", TRIAL, "sh"])
            .arg(&job)
            .current_dir("/")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()?;
        Ok(said.status.success() && said.stdout == b"works\n")
    }
}

/// Creates an empty `/tmp` for a step. Outside of the job's directory: a step could replace it by a link
/// there, which bubblewrap would follow.
pub(super) fn renew(temporary: &Path) -> io::Result<()> {
    files::remove(temporary)?;
    [TEMPORARY, SHARED].iter().try_for_each(|name| fs::create_dir_all(temporary.join(name)))
}

/// A sandboxed step's view of the machine.
pub(super) struct View<'a> {
    pub(super) folder: &'a Path,
    /// Made by [`renew`].
    pub(super) temporary: &'a Path,
    /// Hidden paths: resolved, none inside another.
    pub(super) hidden: &'a [PathBuf],
    pub(super) network: &'a Network,
    /// Network namespace to start bubblewrap in, if not the host's.
    pub(super) joined: Option<&'a Joined>,
}

struct CommandLine(Vec<OsString>);

impl CommandLine {
    fn say<const N: usize>(&mut self, option: &str, values: [&Path; N]) {
        self.0.push(option.into());
        self.0.extend(values.map(|value| value.as_os_str().to_owned()));
    }
}

fn at(path: &str) -> &Path {
    Path::new(path)
}

impl View<'_> {
    /// The options for [`ARGUMENTS`], with the job's variables.
    pub(super) fn arguments(
        &self,
        features: BwrapFeatures,
        env: &BTreeMap<OsString, OsString>,
    ) -> io::Result<OwnedFd> {
        let mut words = self.words(features);
        for (name, value) in env {
            words.extend(["--setenv".into(), name.clone(), value.clone()]);
        }
        let mut text = Vec::new();
        for word in words {
            text.extend(word.as_bytes());
            text.push(0);
        }
        descriptors::sealed(&text)
    }

    /// Options up to the program. Only disk files and bounded tmpfs are writable: memory of a tmpfs belongs
    /// to no process. Kernel memory for other objects is not bounded (docs/fleet-jobs.md).
    fn words(&self, features: BwrapFeatures) -> Vec<OsString> {
        let mut words = CommandLine(vec![]);
        // A new session: jobs must not reach the worker's terminal.
        for option in ["--unshare-all", "--die-with-parent", "--new-session"] {
            words.say(option, []);
        }
        if features.shut {
            // In a nested user namespace a job could mount unbounded tmpfs.
            words.say("--unshare-user", []);
            words.say("--disable-userns", []);
        }
        words.say("--cap-drop", [at("ALL")]);
        if *self.network != Network::None {
            words.say("--share-net", []);
        }
        if self.joined.is_some_and(|joined| joined.as_zero) {
            // bubblewrap starts as user 0 of a user namespace; the job gets the worker's own ids.
            words.say("--unshare-user", []);
            words.say("--uid", [at(&geteuid().to_string())]);
            words.say("--gid", [at(&getegid().to_string())]);
        }
        words.say("--ro-bind", [at("/"), at("/")]);
        words.say("--dev", [at("/dev")]);
        words.say("--proc", [at("/proc")]);
        if features.sized {
            words.say("--size", [at(&SHARED_BYTES.to_string())]);
            words.say("--tmpfs", [at("/dev/shm")]);
        } else {
            words.say("--bind", [self.temporary.join(SHARED).as_path(), at("/dev/shm")]);
        }
        words.say("--bind", [self.temporary.join(TEMPORARY).as_path(), at("/tmp")]);
        // Sockets of the machine's services are hidden, but name resolution works.
        let always = ["/root", "/home", "/run"].map(Path::new).into_iter();
        // The worker's key, settings and other jobs' files are hidden.
        let (folders, files): (Vec<&Path>, Vec<&Path>) =
            self.hidden.iter().map(PathBuf::as_path).partition(|at| at.is_dir());
        let empty: Vec<&Path> = always.filter(|at| at.is_dir()).chain(folders).collect();
        for folder in &empty {
            words.say("--tmpfs", [*folder]);
        }
        for file in files {
            words.say("--ro-bind", [at("/dev/null"), file]);
        }
        let names = at("/run/systemd/resolve");
        words.say("--ro-bind-try", [names, names]);
        let resolver = Path::new("/etc/resolv.conf").canonicalize();
        if let (Some(joined), Ok(resolver)) = (self.joined, resolver) {
            words.say("--ro-bind", [joined.names.as_path(), resolver.as_path()]);
        }
        words.say("--bind", [self.folder, self.folder]);
        // Last, because mounts inside them need mount points. Does not affect those.
        for folder in empty.into_iter().chain([at("/dev")]) {
            words.say("--remount-ro", [folder]);
        }
        words.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_mounted_in_what_was_shut_and_no_memory_is_unbounded() {
        let hidden = [std::env::temp_dir()];
        let (folder, temporary) = (hidden[0].join("a/job"), hidden[0].join("a/tmp"));
        let (folder, temporary, hidden) = (&*folder, &*temporary, &hidden[..]);
        let view = View { folder, temporary, hidden, network: &Network::None, joined: None };
        for features in BwrapFeatures::ALL {
            let words = view.words(features);
            let places = |word: &str| -> Vec<usize> {
                (0..words.len()).filter(|index| words[*index] == word).collect()
            };
            let shut = places("--remount-ro");
            let mounted = ["--bind", "--ro-bind", "--ro-bind-try", "--tmpfs"].map(places).concat();
            assert!(mounted.iter().max() < shut.iter().min(), "{words:?}");
            let shut: Vec<_> = shut.iter().map(|index| &words[index + 1]).collect();
            for index in places("--tmpfs") {
                let (before, folder) = (&words[index - 2], &words[index + 1]);
                assert!(shut.contains(&folder) || before == "--size", "{folder:?}");
            }
            assert_eq!(places("--size").len(), usize::from(features.sized));
            assert_eq!(places("--disable-userns").len(), usize::from(features.shut));
        }
    }

    #[test]
    fn a_program_that_is_no_sandbox_is_none() {
        for program in ["/bin/true", "/bin/false", "/nonexistent/bwrap"] {
            assert_eq!(Sandbox::with(program.into(), &Network::Host), None, "{program}");
        }
    }
}
