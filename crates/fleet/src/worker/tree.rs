//! All processes of a job: finding, measuring and killing them.
//!
//! A process belongs to a job if it descends from the job's first process, is in its group, or has the job's
//! mark in its environment, which daemons inherit. In a sandbox no process can escape. Without one, a process
//! that leaves its parent, group and environment does: one reason why an operator must opt out of sandboxes
//! explicitly.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Variable with the mark.
pub(super) const MARK: &str = "REMUDA_MARK";
/// Time limit for killing. The kernel may take long to free a large process.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
const PAGE_BYTES: u64 = 4_096;
/// Unit of `st_blocks`.
const BLOCK_BYTES: u64 = 512;
/// POSIX shared memory.
const SHARED: &str = "/dev/shm";
/// Time limit of one scan of processes, whose duration a job controls.
const LOOK_PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of an environment that are searched for the mark.
const ENVIRONMENT_BYTES_MAX: u64 = 1 << 20;

#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The first process and its group. None: of a killed worker.
    pub(super) first: Option<u32>,
    /// Value of [`MARK`] in their environments.
    pub(super) mark: String,
    /// Whether the first process is a sandbox, whose end kills all others.
    pub(super) sandbox: bool,
}

/// Resources of a job's processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    pub(super) processes: usize,
    /// Open files, up to the counting limit.
    pub(super) open: usize,
    /// Memory. Shared pages count for each process, files in memory once.
    pub(super) bytes: u64,
}

struct Process {
    parent: u32,
    group: u32,
    zombie: bool,
}

/// Fields of `stat` after the name, which may contain anything.
fn parse(stat: &str) -> Option<Process> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Process { parent, group, zombie: matches!(state, "Z" | "X") })
}

fn all() -> BTreeMap<u32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|id: u32| {
            Some((id, parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?))
        })
        .collect()
}

/// Whether a process has the mark. Only orphans are asked: a job decides how long its environment is.
fn marked(id: u32, mark: &str) -> bool {
    let Ok(file) = File::open(format!("/proc/{id}/environ")) else { return false };
    let mut env = Vec::new();
    let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut env);
    env.split(|b| *b == 0).any(|variable| variable == mark.as_bytes())
}

/// Adds descendants of members.
fn descend(all: &BTreeMap<u32, Process>, members: &mut BTreeSet<u32>) {
    loop {
        let children = all.iter().filter(|(_, process)| members.contains(&process.parent));
        let new: Vec<u32> =
            children.map(|(id, _)| *id).filter(|id| !members.contains(id)).collect();
        if new.is_empty() {
            return;
        }
        members.extend(new);
    }
}

impl Tree {
    pub(super) fn members(&self) -> BTreeSet<u32> {
        let all = all();
        let mark = format!("{MARK}={}", self.mark);
        let first = |(id, process): &(&u32, &Process)| {
            Some(**id) == self.first || Some(process.group) == self.first
        };
        let mut members: BTreeSet<u32> = all.iter().filter(first).map(|(id, _)| *id).collect();
        descend(&all, &mut members);
        let others = all.keys().filter(|id| !members.contains(id));
        let left: Vec<u32> = others.copied().filter(|id| marked(*id, &mark)).collect();
        members.extend(left);
        descend(&all, &mut members);
        // Never this process.
        members.remove(&std::process::id());
        members.retain(|id| all.get(id).is_some_and(|process| !process.zombie));
        members
    }

    /// Measures the processes. Counts at most `open_max` + 1 open files, since a job may have millions. None:
    /// out of time.
    pub(super) fn weight(&self, open_max: usize) -> Option<Weight> {
        let until = Instant::now() + LOOK_PATIENCE;
        let pages = |id: &u32| {
            let text = fs::read_to_string(format!("/proc/{id}/statm")).ok()?;
            text.split(' ').nth(1)?.parse::<u64>().ok()
        };
        let members = self.members();
        let own = members.iter().filter_map(pages).sum::<u64>().saturating_mul(PAGE_BYTES);
        let (mut open, mut files) = (0, BTreeMap::new());
        for at in members.iter().flat_map(open_files).take(open_max.saturating_add(1)) {
            if Instant::now() > until {
                return None;
            }
            open += 1;
            files.extend(memory_file(&at));
        }
        let bytes = files.values().fold(own, |sum, bytes| sum.saturating_add(*bytes));
        Some(Weight { processes: members.len(), open, bytes })
    }

    /// Bytes of deleted files on this device that are held open. None: too many open files.
    pub(super) fn unnamed(&self, device: u64, open_max: usize) -> Option<u64> {
        let until = Instant::now() + LOOK_PATIENCE;
        let (mut open, mut files) = (0, BTreeMap::new());
        for at in self.members().iter().flat_map(open_files) {
            open += 1;
            if open > open_max || Instant::now() > until {
                return None;
            }
            // Follows the link to the file.
            let Ok(about) = at.metadata() else { continue };
            if about.is_file() && about.nlink() == 0 && about.dev() == device {
                files.insert(about.ino(), about.blocks().saturating_mul(BLOCK_BYTES));
            }
        }
        Some(files.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)))
    }

    /// Files in their `/dev/shm`. Zero if it is the host's or a directory on disk. None: out of time.
    pub(super) async fn shared(&self, disk: u64) -> Option<u64> {
        self.apart(move |tree| {
            let machines = fs::metadata(SHARED).map(|about| about.dev()).ok();
            let members = tree.members();
            let used = members.iter().filter_map(|id| {
                let at = format!("/proc/{id}/root{SHARED}");
                let theirs = fs::metadata(&at).ok()?.dev();
                let about = rustix::fs::statvfs(&at).ok()?;
                let own = theirs != disk && Some(theirs) != machines;
                own.then(|| about.f_files.saturating_sub(about.f_ffree))
            });
            used.max().unwrap_or(0)
        })
        .await
    }

    pub(super) async fn weigh(&self, open_max: usize) -> Option<Weight> {
        self.apart(move |tree| tree.weight(open_max)).await?
    }

    /// Scans processes on a blocking thread. None: out of time.
    async fn apart<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        let tree = self.clone();
        let looked = tokio::task::spawn_blocking(move || look(&tree));
        tokio::time::timeout(LOOK_PATIENCE, looked).await.ok()?.ok()
    }

    /// Whether any process lives, except the sandbox, which ends with its last process.
    pub(super) async fn lives(&self) -> bool {
        let alive = |tree: &Self| tree.members().iter().any(|id| !tree.is_sandbox(*id));
        self.apart(alive).await.unwrap_or(true)
    }

    fn is_sandbox(&self, id: u32) -> bool {
        self.sandbox && Some(id) == self.first
    }

    /// Sends SIGTERM.
    pub(super) async fn terminate(&self) {
        let ask = |tree: &Self| {
            // A terminated sandbox would kill the others without their grace period.
            let asked = tree.members().into_iter().filter(|id| !tree.is_sandbox(*id));
            asked.for_each(|id| signal(id, Signal::TERM));
        };
        self.apart(ask).await.unwrap_or_default();
    }

    /// Kills until no process is left. False: some survived.
    pub(super) async fn kill(&self) -> bool {
        let began = Instant::now();
        loop {
            let kill = |tree: &Self| {
                let members = tree.members();
                members.iter().for_each(|id| signal(*id, Signal::KILL));
                members.len()
            };
            let left = self.apart(kill).await;
            if left == Some(0) {
                return true;
            }
            if left.is_none() {
                // Killed even if the scan fails; a sandbox takes all others with it.
                self.first.into_iter().for_each(|first| signal(first, Signal::KILL));
            }
            if began.elapsed() > KILL_PATIENCE {
                tracing::error!(pids = ?left, "processes survived SIGKILL");
                return false;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Open files of a process, listed lazily.
fn open_files(id: &u32) -> impl Iterator<Item = PathBuf> + use<> {
    let all = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    all.map(|entry| entry.path())
}

/// A file in memory: device, inode and bytes.
fn memory_file(at: &Path) -> Option<((u64, u64), u64)> {
    let file = fs::read_link(at).ok()?;
    if !file.as_os_str().as_bytes().starts_with(b"/memfd:") {
        return None;
    }
    // Follows the link to the file.
    let about = at.metadata().ok()?;
    Some(((about.dev(), about.ino()), about.blocks().saturating_mul(BLOCK_BYTES)))
}

fn signal(id: u32, signal: Signal) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // The process may have ended.
        let _ = kill_process(id, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unmapped files in memory count, once.
    #[tokio::test]
    async fn files_of_memory_count_for_those_who_hold_them() {
        use std::io::Write as _;
        use std::os::unix::process::CommandExt as _;
        const BYTES: u64 = 32 << 20;
        // Inherited by the child.
        let flags = rustix::fs::MemfdFlags::empty();
        let mut file = fs::File::from(rustix::fs::memfd_create("held", flags).expect("a file"));
        for _ in 0..BYTES >> 20 {
            file.write_all(&vec![1; 1 << 20]).expect("written");
        }
        let started = |script: &str| {
            let mut command = std::process::Command::new("/bin/sh");
            let child = command.args(["-c", script]).process_group(0).spawn().expect("started");
            let tree = Tree { first: Some(child.id()), mark: "none".to_owned(), sandbox: false };
            (child, tree)
        };
        let (mut holds, tree) = started("sleep 1000 & sleep 1000 & wait");
        drop(file);
        let (mut without, other) = started("sleep 1000 & sleep 1000 & wait");
        let weight = |tree: &Tree| tree.weight(usize::MAX).expect("in time");
        while weight(&tree).processes < 3 || weight(&other).processes < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let (held, none) = (weight(&tree).bytes, weight(&other).bytes);
        assert!(tree.kill().await && other.kill().await);
        for child in [&mut holds, &mut without] {
            child.wait().expect("ended");
        }
        assert!((BYTES..2 * BYTES).contains(&held), "{held}");
        assert!(none < BYTES, "{none}");
    }

    /// Fault 7: a scan does not delay heartbeats, and it ends.
    #[tokio::test]
    async fn a_job_with_many_files_open_keeps_nobody_waiting() {
        use std::os::unix::process::CommandExt as _;
        let null = File::open("/dev/null").expect("a file");
        // Inherited by the child.
        let open: Vec<_> = (0..500).map(|_| rustix::io::dup(&null).expect("one more")).collect();
        let script = "for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; wait";
        let mut command = std::process::Command::new("/bin/sh");
        let mut child = command.args(["-c", script]).process_group(0).spawn().expect("started");
        drop(open);
        let tree = Tree { first: Some(child.id()), mark: "none".to_owned(), sandbox: false };
        let weight = |most| tree.weight(most).expect("in time");
        while weight(usize::MAX).open < 5_000 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(weight(1_000).open, 1_001, "it is too much, and no more is known");
        {
            // Another task runs before the scan is over, on the only thread.
            let mut look = std::pin::pin!(tree.weigh(usize::MAX));
            assert!(futures::poll!(look.as_mut()).is_pending());
            assert_eq!(look.await.expect("in time").processes, 10);
        }
        assert!(tree.kill().await);
        child.wait().expect("ended");
    }

    #[test]
    fn names_of_processes_may_have_anything_in_them() {
        let process = parse("12 (a) b (c)) S 7 9 9 0 -1").expect("fields");
        assert_eq!((process.parent, process.group, process.zombie), (7, 9, false));
        assert!(parse("12 (a) Z 7 9").expect("fields").zombie);
        assert!(parse("12 (a").is_none());
    }
}
