//! What jobs without an image run in.

use super::files;
use crate::auth::random_hex;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a job's processes run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// Bubblewrap: namespaces of their own, a root that they cannot write, no capabilities.
    Bubblewrap {
        /// The program.
        program: PathBuf,
        /// Whether they have the machine's network.
        network: bool,
        /// What it can do besides.
        able: Able,
    },
    /// Nothing: the job can do whatever the worker can. For jobs that are trusted like the worker.
    Process,
}

/// What not every bubblewrap can do. It is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Able {
    /// Bound what is in memory: versions before 0.7 cannot, nor can one that is setuid.
    pub sized: bool,
    /// Keep jobs from namespaces of their own, in which they could mount memory: since 0.8.
    pub shut: bool,
}

impl Able {
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
    pub fn find(network: bool) -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let program = std::env::split_paths(&path)
            .map(|folder| folder.join("bwrap"))
            .find(|at| at.is_file())?;
        Self::with(program, network)
    }

    /// Bubblewrap, a program, if it does here what is asked of it. It is tried with what steps are started
    /// with: user namespaces may be forbidden on this machine, and versions differ.
    pub fn with(program: PathBuf, network: bool) -> Option<Self> {
        let sandbox = |able| Self::Bubblewrap { program: program.clone(), network, able };
        let found = Able::ALL.map(sandbox).into_iter().find(Self::works);
        if matches!(found, Some(Self::Bubblewrap { able: Able { shut: false, .. }, .. })) {
            tracing::warn!("this bubblewrap lets jobs make namespaces; take 0.8 or later");
        }
        found
    }

    fn works(&self) -> bool {
        let folder = std::env::temp_dir().join(format!("remuda-sandbox-{}", random_hex::<8>()));
        let works = self.tried(&folder).unwrap_or(false);
        if let Err(error) = files::remove(&folder) {
            tracing::warn!(%error, "what a sandbox was tried in is left behind");
        }
        works
    }

    fn tried(&self, folder: &Path) -> io::Result<bool> {
        let Self::Bubblewrap { program, network, able } = self else { return Ok(true) };
        fs::create_dir_all(folder.join("job"))?;
        let hidden = [folder.canonicalize()?];
        let (job, temporary) = (hidden[0].join("job"), hidden[0].join("temporary"));
        renew(&temporary)?;
        let view = View { folder: &job, temporary: &temporary, hidden: &hidden };
        let said = Command::new(program)
            .args(view.arguments(*network, *able))
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
    /// The job's own folder.
    pub(super) folder: &'a Path,
    /// What was made by [`renew`].
    pub(super) temporary: &'a Path,
    /// What it must not see; reached by no links, and none is within another.
    pub(super) hidden: &'a [PathBuf],
}

/// Words on a command line.
struct Words(Vec<OsString>);

impl Words {
    fn say<const N: usize>(&mut self, option: &str, values: [&Path; N]) {
        self.0.push(option.into());
        self.0.extend(values.map(|value| value.as_os_str().to_owned()));
    }
}

fn at(path: &str) -> &Path {
    Path::new(path)
}

impl View<'_> {
    /// What bubblewrap is told, up to the program. Nothing can be written but files on the disk, and what is
    /// bounded: memory that is no process's is nobody's to count. What the kernel keeps for a job by other names
    /// than files is not bounded by this (docs/fleet.md).
    pub(super) fn arguments(&self, network: bool, able: Able) -> Vec<OsString> {
        let mut words = Words(vec![]);
        // A session of its own: whoever started the worker at a terminal keeps it to himself.
        for option in ["--unshare-all", "--die-with-parent", "--new-session"] {
            words.say(option, []);
        }
        if able.shut {
            // Whoever makes a namespace of users has all rights in it, and may mount what nobody counts.
            words.say("--unshare-user", []);
            words.say("--disable-userns", []);
        }
        words.say("--cap-drop", [at("ALL")]);
        if network {
            words.say("--share-net", []);
        }
        words.say("--ro-bind", [at("/"), at("/")]);
        words.say("--dev", [at("/dev")]);
        words.say("--proc", [at("/proc")]);
        if able.sized {
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
        let view = View { folder: &folder, temporary: &temporary, hidden: &hidden };
        for able in Able::ALL {
            let words = view.arguments(false, able);
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
            assert_eq!(places("--size").len(), usize::from(able.sized));
            assert_eq!(places("--disable-userns").len(), usize::from(able.shut));
        }
    }

    #[test]
    fn a_program_that_is_no_sandbox_is_none() {
        for program in ["/bin/true", "/bin/false", "/nonexistent/bwrap"] {
            assert_eq!(Sandbox::with(program.into(), true), None, "{program}");
        }
    }
}
