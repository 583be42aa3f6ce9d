//! All processes that a job started, and their end.
//!
//! A process belongs to a job if it descends from its first one, is in its group, or has the job's
//! mark in its environment: daemons that leave their parents keep what they inherited. In a sandbox
//! nothing can leave at all; a plain process that leaves its parents, its group and its environment
//! behind can, which is one reason why an operator must choose to do without.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

/// The variable that has the mark.
pub(super) const MARK: &str = "REMUDA_MARK";
/// How long it is tried to kill what does not go. The system may take its time to clear away much.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
const PAGE_BYTES: u64 = 4_096;
/// What sizes on disks are counted in, whatever the disk.
const BLOCK_BYTES: u64 = 512;

/// A job's processes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The first one; also the number of its group. None: of a worker that is gone.
    pub(super) first: Option<u32>,
    /// What their environments have in [`MARK`].
    pub(super) mark: String,
    /// Whether the first one is a sandbox, which takes all others with it when it is told to end.
    pub(super) sandbox: bool,
}

struct Process {
    parent: u32,
    group: u32,
    zombie: bool,
}

/// The fields after the name, which may have anything in it.
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

impl Tree {
    /// Those that live.
    pub(super) fn members(&self) -> BTreeSet<u32> {
        let all = all();
        let mark = format!("{MARK}={}", self.mark);
        let marked = |id: &u32| {
            let env = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            env.split(|b| *b == 0).any(|variable| variable == mark.as_bytes())
        };
        let mut members: BTreeSet<u32> = all
            .iter()
            .filter(|(id, process)| {
                let first = Some(**id) == self.first || Some(process.group) == self.first;
                first || marked(id)
            })
            .map(|(id, _)| *id)
            .collect();
        loop {
            let children = all.iter().filter(|(_, process)| members.contains(&process.parent));
            let new: Vec<u32> =
                children.map(|(id, _)| *id).filter(|id| !members.contains(id)).collect();
            if new.is_empty() {
                break;
            }
            members.extend(new);
        }
        // Never ourselves, whatever our environment says.
        members.remove(&std::process::id());
        members.retain(|id| all.get(id).is_some_and(|process| !process.zombie));
        members
    }

    /// How many they are, and the memory that they have, in bytes. What they share counts for each, but
    /// files of memory, which need not be in anybody's, once.
    pub(super) fn weight(&self) -> (usize, u64) {
        let pages = |id: &u32| {
            let text = fs::read_to_string(format!("/proc/{id}/statm")).ok()?;
            text.split(' ').nth(1)?.parse::<u64>().ok()
        };
        let members = self.members();
        let own = members.iter().filter_map(pages).sum::<u64>().saturating_mul(PAGE_BYTES);
        let files: BTreeMap<(u64, u64), u64> = members.iter().flat_map(memory_files).collect();
        (members.len(), files.values().fold(own, |sum, bytes| sum.saturating_add(*bytes)))
    }

    /// Asks all of them to end.
    pub(super) fn terminate(&self) {
        let members = self.members();
        // A sandbox that is asked to end ends the others at once, without their grace.
        let asked = members.iter().filter(|id| !(self.sandbox && Some(**id) == self.first));
        asked.for_each(|id| signal(*id, Signal::TERM));
    }

    /// Kills all of them, again and again until there are none. False: some do not go.
    pub(super) async fn kill(&self) -> bool {
        let began = Instant::now();
        loop {
            let members = self.members();
            if members.is_empty() {
                return true;
            }
            members.iter().for_each(|id| signal(*id, Signal::KILL));
            if began.elapsed() > KILL_PATIENCE {
                tracing::error!(left = members.len(), "processes of a job do not go");
                return false;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Files that a process has open and that are nowhere but in memory, by device and number, with their bytes.
fn memory_files(id: &u32) -> Vec<((u64, u64), u64)> {
    let all = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let memory = all.map(|entry| entry.path()).filter(|at| {
        fs::read_link(at).is_ok_and(|file| file.as_os_str().as_bytes().starts_with(b"/memfd:"))
    });
    // Through the link, to the file itself.
    memory
        .filter_map(|at| at.metadata().ok())
        .map(|about| ((about.dev(), about.ino()), about.blocks().saturating_mul(BLOCK_BYTES)))
        .collect()
}

fn signal(id: u32, signal: Signal) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = kill_process(id, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What no process has mapped counts all the same, and once.
    #[tokio::test]
    async fn files_of_memory_count_for_those_who_hold_them() {
        use std::io::Write as _;
        use std::os::unix::process::CommandExt as _;
        const BYTES: u64 = 32 << 20;
        // Inherited by what is started next.
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
        while tree.weight().0 < 3 || other.weight().0 < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let ((_, held), (_, none)) = (tree.weight(), other.weight());
        assert!(tree.kill().await && other.kill().await);
        for child in [&mut holds, &mut without] {
            child.wait().expect("ended");
        }
        assert!((BYTES..2 * BYTES).contains(&held), "{held}");
        assert!(none < BYTES, "{none}");
    }

    #[test]
    fn names_of_processes_may_have_anything_in_them() {
        let process = parse("12 (a) b (c)) S 7 9 9 0 -1").expect("fields");
        assert_eq!((process.parent, process.group, process.zombie), (7, 9, false));
        assert!(parse("12 (a) Z 7 9").expect("fields").zombie);
        assert!(parse("12 (a").is_none());
    }
}
