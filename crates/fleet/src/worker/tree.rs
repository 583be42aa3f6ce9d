//! All processes that a job started, and their end.
//!
//! A process belongs to a job if it descends from its first one, is in its group, or has the job's
//! mark in its environment: daemons that leave their parents keep what they inherited. In a sandbox
//! nothing can leave at all; a plain process that leaves its parents, its group and its environment
//! behind can, which is one reason why an operator must choose to do without.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

/// The variable that has the mark.
pub(super) const MARK: &str = "REMUDA_MARK";
/// How long it is tried to kill what does not go. The system may take its time to clear away much.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
const PAGE_BYTES: u64 = 4_096;

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

    /// Memory that they have, in bytes. What they share counts for each.
    pub(super) fn memory(&self) -> u64 {
        let pages = |id: u32| {
            let text = fs::read_to_string(format!("/proc/{id}/statm")).ok()?;
            text.split(' ').nth(1)?.parse::<u64>().ok()
        };
        self.members().into_iter().filter_map(pages).sum::<u64>() * PAGE_BYTES
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

fn signal(id: u32, signal: Signal) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = kill_process(id, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_may_have_anything_in_them() {
        let process = parse("12 (a) b (c)) S 7 9 9 0 -1").expect("fields");
        assert_eq!((process.parent, process.group, process.zombie), (7, 9, false));
        assert!(parse("12 (a) Z 7 9").expect("fields").zombie);
        assert!(parse("12 (a").is_none());
    }
}
