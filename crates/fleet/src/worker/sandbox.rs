//! What jobs without an image run in.

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

/// What a job's processes run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// Bubblewrap: namespaces of their own, a root that they cannot write, no capabilities.
    Bubblewrap {
        program: PathBuf,
        /// What it can do besides.
        features: BwrapFeatures,
    },
    /// Nothing: the job can do whatever the worker can. For jobs that are trusted like the worker.
    Process,
}

/// What not every bubblewrap can do. It is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BwrapFeatures {
    /// Bound what is in memory: versions before 0.7 cannot, nor can one that is setuid.
    pub sized: bool,
    /// Keep jobs from namespaces of their own, in which they could mount memory: since 0.8.
    pub shut: bool,
}

impl BwrapFeatures {
    /// The best first.
    const ALL: [Self; 4] = [
        Self { sized: true, shut: true },
        Self { sized: true, shut: false },
        Self { sized: false, shut: true },
        Self { sized: false, shut: false },
    ];
}

/// Most bytes of memory that processes share by names. The worker does not see who uses them, so they come
/// on top of a job's bound.
const SHARED_BYTES: u64 = 64 << 20;
/// Tells bubblewrap to read its options from the descriptor after the script's.
pub(super) const ARGUMENTS: [&str; 2] = ["--args", "4"];
const _: () = assert!(descriptors::FIRST == 3, "ARGUMENTS comes next");
/// What is `/tmp`, and `/dev/shm` if that cannot be bounded, in [`View::temporary`].
const TEMPORARY: &str = "tmp";
const SHARED: &str = "shm";
/// What a sandbox must do to be one: its job writes where it may, and nowhere else.
const TRIAL: &str = r#"
for at in "$1" /tmp /dev/shm; do : > "$at/x"; done
for at in "$1/.." /dev /; do
    if (: > "$at/x") 2>/dev/null; then exit 1; fi
done
echo works
"#;

impl Sandbox {
    /// Bubblewrap, if it is on the search path and does here what is asked of it.
    pub fn find(network: &Network) -> Option<Self> {
        Self::with(program("bwrap")?, network)
    }

    /// Bubblewrap, a program, if it does here what is asked of it. It is tried with what steps are started
    /// with: user namespaces may be forbidden on this machine, and versions differ.
    pub fn with(program: PathBuf, network: &Network) -> Option<Self> {
        let sandbox = |features| Self::Bubblewrap { program: program.clone(), features };
        let found =
            BwrapFeatures::ALL.map(sandbox).into_iter().find(|sandbox| sandbox.works(network));
        if matches!(
            found,
            Some(Self::Bubblewrap { features: BwrapFeatures { shut: false, .. }, .. })
        ) {
            tracing::warn!("this bubblewrap lets jobs make namespaces; take 0.8 or later");
        }
        found
    }

    fn works(&self, network: &Network) -> bool {
        let folder = std::env::temp_dir().join(format!("remuda-sandbox-{}", random_hex::<8>()));
        let works = self.tried(&folder, network).unwrap_or(false);
        if let Err(error) = files::remove(&folder) {
            tracing::warn!(%error, "what a sandbox was tried in is left behind");
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
        // The trial has no script, but its descriptor comes first.
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

/// Makes what a step has for `/tmp`, empty. It is not in the job's own folder: there the last step could
/// have put a link in its place, which bubblewrap would follow.
pub(super) fn renew(temporary: &Path) -> io::Result<()> {
    files::remove(temporary)?;
    [TEMPORARY, SHARED].iter().try_for_each(|name| fs::create_dir_all(temporary.join(name)))
}

/// What a step in bubblewrap sees of the machine.
pub(super) struct View<'a> {
    pub(super) folder: &'a Path,
    /// What was made by [`renew`].
    pub(super) temporary: &'a Path,
    /// What it must not see; reached by no links, and none is within another.
    pub(super) hidden: &'a [PathBuf],
    pub(super) network: &'a Network,
    /// The namespace that bubblewrap is started in, if not the host's.
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
    /// The options that bubblewrap reads from [`ARGUMENTS`], a job's variables included.
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

    /// What bubblewrap is told, up to the program. Nothing can be written but files on the disk, and what is
    /// bounded: memory that is no process's is nobody's to count. What the kernel keeps for a job by other names
    /// than files is not bounded by this (docs/fleet.md).
    fn words(&self, features: BwrapFeatures) -> Vec<OsString> {
        let mut words = CommandLine(vec![]);
        // A session of its own: whoever started the worker at a terminal keeps it to himself.
        for option in ["--unshare-all", "--die-with-parent", "--new-session"] {
            words.say(option, []);
        }
        if features.shut {
            // Whoever makes a namespace of users has all rights in it, and may mount what nobody counts.
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
        // Nor does it reach the sockets of the machine's services, but names are resolved.
        let always = ["/root", "/home", "/run"].map(Path::new).into_iter();
        // The worker's key, its settings and other jobs' files are not there, this job's are.
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
        // Not before: what is mounted in them needs a place there. Itself it stays as it is.
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
