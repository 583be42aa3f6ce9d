//! Runs the steps of a job in order, under its limits.

use super::config::{Config, Images};
use super::disk;
use super::files::Held;
use super::image::{self, Image};
use super::job_dir::JobDir;
use super::network::{Joined, Network};
use super::sandbox::Sandbox;
use super::status::{CANCEL_ACK_RESERVE, Control, Status};
use super::tree::Tree;
use crate::message::{JobSpec, LeaseGranted, Phase, Progress};
use std::collections::BTreeMap;
use std::io::{self, PipeWriter};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// Interval of checks of a job's processes with a memory limit, and without.
const MEMORY_EVERY: Duration = Duration::from_millis(100);
const PROCESSES_EVERY: Duration = Duration::from_secs(5);
/// Most processes of a job. Enforced by these checks where the kernel does not.
const PROCESSES_MAX: usize = 4_096;
/// Most open files of all processes: files in memory are searched among them, which takes time.
const OPEN_MAX: usize = 100_000;

/// Exit code of a container whose step was killed by SIGKILL, not by the worker.
const KILLED: i32 = 128 + 9;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Succeeded,
    /// A step failed.
    Failed {
        /// Index from 0.
        step: usize,
        /// None: ended by a signal.
        code: Option<i32>,
    },
    /// `max_runtime_seconds` elapsed.
    TimedOut,
    /// Memory limit exceeded.
    OutOfMemory,
    /// Too many processes or open files.
    TooMany,
    /// Disk limit exceeded.
    OutOfDisk,
    Canceled,
    /// The lease is lost: not reported.
    Stale,
    Shutdown,
    /// The worker failed, such as its disk or sandbox.
    Broken(String),
}

impl Ended {
    /// Waits for a control value that ends the job.
    pub(super) async fn demanded(control: &mut watch::Receiver<Control>) -> Self {
        match control.wait_for(|control| *control != Control::Go).await {
            Ok(control) => Self::by(*control),
            Err(_) => Self::Stale,
        }
    }

    fn by(control: Control) -> Self {
        match control {
            Control::Cancel { .. } => Self::Canceled,
            Control::Shutdown => Self::Shutdown,
            Control::Go | Control::Stale => Self::Stale,
        }
    }

    /// The steps ended, and then uploads were cut short. At shutdown a failure is still reported, while
    /// successful steps are run again elsewhere.
    pub(super) fn cut(self, by: Self) -> Self {
        match (self, by) {
            (ended, Self::Shutdown) if ended != Self::Succeeded => ended,
            (_, by) => by,
        }
    }
}

pub(super) struct Steps<'a> {
    pub(super) config: &'a Config,
    pub(super) granted: &'a LeaseGranted,
    pub(super) spec: &'a JobSpec,
    pub(super) dir: &'a Arc<JobDir>,
    /// The job's image, if it has one.
    pub(super) image: Option<&'a Image>,
    /// Identifies this job's processes.
    pub(super) mark: &'a str,
    pub(super) output: PipeWriter,
    pub(super) control: watch::Receiver<Control>,
    pub(super) status: &'a watch::Sender<Status>,
    /// Deadline by `max_runtime_seconds`.
    pub(super) until: Instant,
}

impl Steps<'_> {
    /// Runs the steps. No process of them is alive when it returns.
    pub(super) async fn run(mut self) -> Ended {
        let env = self.env();
        let joined = match self.join().await {
            Ok(joined) => joined,
            Err(ended) => return ended,
        };
        for (index, step) in self.spec.steps.iter().enumerate() {
            self.status.send_modify(|status| status.begin(index, self.spec.steps.len(), step));
            let (mut child, tree) = match self.start(joined.as_ref(), &env, step).await {
                Ok(Ok(started)) => started,
                Ok(Err(ended)) => return ended,
                Err(error) => {
                    image::forget(&self.config.folder);
                    return Ended::Broken(format!("failed to start a step: {error}"));
                }
            };
            let ended = self.watch(&mut child, &tree, index).await;
            if ended != Ended::Succeeded && ended != Ended::Stale {
                self.end_gently(&mut child, &tree).await;
            }
            // Processes left by a step also hold the log open.
            let gone = tree.kill().await;
            let _ = child.wait().await;
            if let (Some(_), Images::Runc(runc)) = (self.image, &self.config.images) {
                image::scrap(runc, &self.config.folder, Some(self.mark)).await;
            }
            match ended {
                Ended::Succeeded if gone => {
                    // It may have exceeded its limit since the last count.
                    if let Err(ended) = disk::look(self.dir, None, self.disk_max()).await {
                        return ended;
                    }
                }
                Ended::Succeeded => {
                    return Ended::Broken("processes of a step survived SIGKILL".to_owned());
                }
                other => return other,
            }
        }
        Ended::Succeeded
    }

    /// Creates the job's network namespace, if it needs one.
    async fn join(&mut self) -> Result<Option<Joined>, Ended> {
        let confined = self.image.is_some() || self.config.sandbox != Sandbox::Process;
        let (Network::Internet(internet), true) = (&self.config.network, confined) else {
            return Ok(None);
        };
        tokio::select! {
            started = internet.start(&self.config.folder) => {
                started.map(Some).map_err(|error| Ended::Broken(error.to_string()))
            }
            ended = Ended::demanded(&mut self.control) => Err(ended),
        }
    }

    fn disk_max(&self) -> Held {
        Held { bytes: self.config.disk_bytes_max, files: self.config.files_max }
    }

    fn env(&self) -> BTreeMap<String, String> {
        let LeaseGranted { job_id, run_id, attempt, fence, .. } = self.granted;
        let mut env = BTreeMap::from([
            ("REMUDA_JOB_ID".to_owned(), job_id.to_string()),
            ("REMUDA_RUN_ID".to_owned(), run_id.to_string()),
            ("REMUDA_ATTEMPT".to_owned(), attempt.to_string()),
            ("REMUDA_FENCE".to_owned(), fence.to_string()),
        ]);
        env.extend(self.spec.env.clone());
        env
    }

    /// Starts a step, unless the job has ended.
    async fn start(
        &self,
        joined: Option<&Joined>,
        env: &BTreeMap<String, String>,
        step: &str,
    ) -> io::Result<Result<(Child, Tree), Ended>> {
        if self.image.is_none() && self.config.sandbox != Sandbox::Process {
            self.dir.renew().await?;
        }
        // Preparations may have taken long.
        if let Some(ended) = self.ended_already() {
            return Ok(Err(ended));
        }
        let mut command =
            self.dir.command(self.config, self.image, joined, env, self.mark, step)?;
        command.stdout(self.output.try_clone()?).stderr(self.output.try_clone()?);
        let child = command.spawn()?;
        let first = child.id().ok_or_else(|| io::Error::other("it exited at once"))?;
        let sandbox = self.image.is_some() || self.config.sandbox != Sandbox::Process;
        Ok(Ok((child, Tree { first: Some(first), mark: self.mark.to_owned(), sandbox })))
    }

    /// Whether the job ended before its next step.
    fn ended_already(&self) -> Option<Ended> {
        match *self.control.borrow() {
            Control::Go => (self.until <= Instant::now()).then_some(Ended::TimedOut),
            control => Some(Ended::by(control)),
        }
    }

    /// Waits until the step ends or must end.
    async fn watch(&mut self, child: &mut Child, tree: &Tree, step: usize) -> Ended {
        let disk_max = self.disk_max();
        let bounded = self.image.is_some() && self.config.memory_bytes_max.is_some();
        let failed = |status: ExitStatus| match status.code() {
            Some(0) => Ended::Succeeded,
            // The kernel's memory limit strikes before the checks do.
            Some(KILLED) if bounded => Ended::OutOfMemory,
            code => Ended::Failed { step, code },
        };
        tokio::select! {
            biased;
            // A finished step counts, even if a control value came meanwhile.
            ended = child.wait() => match ended {
                Ok(status) => failed(status),
                Err(error) => Ended::Broken(format!("failed to wait for a step: {error}")),
            },
            ended = Ended::demanded(&mut self.control) => ended,
            () = sleep_until(self.until) => Ended::TimedOut,
            ended = too_much(tree, self.config.memory_bytes_max, PROCESS_LIMITS) => ended,
            ended = disk::too_large(self.dir, tree, disk_max) => ended,
        }
    }

    /// Sends SIGTERM and waits for the grace period.
    async fn end_gently(&mut self, child: &mut Child, tree: &Tree) {
        let mut grace = self.config.grace;
        if let Control::Cancel { until } = *self.control.borrow() {
            let left = until.saturating_duration_since(Instant::now());
            grace = grace.min(left.saturating_sub(CANCEL_ACK_RESERVE));
        }
        tree.terminate().await;
        tokio::select! {
            () = sleep(grace) => {}
            () = gone(tree) => {}
            // A lost lease ends the grace period.
            _ = self.control.wait_for(|control| *control == Control::Stale) => {}
        }
        // Reaps it, if it ended.
        let _ = child.try_wait();
    }
}

async fn gone(tree: &Tree) {
    while tree.lives().await {
        sleep(Duration::from_millis(20)).await;
    }
}

#[derive(Clone, Copy)]
struct ProcessLimits {
    processes: usize,
    open: usize,
}

const PROCESS_LIMITS: ProcessLimits = ProcessLimits { processes: PROCESSES_MAX, open: OPEN_MAX };

/// Resolves when the job exceeds its limits on memory, processes or open files.
async fn too_much(tree: &Tree, bytes_max: Option<u64>, most: ProcessLimits) -> Ended {
    loop {
        sleep(if bytes_max.is_some() { MEMORY_EVERY } else { PROCESSES_EVERY }).await;
        // Open files are only counted under a memory limit.
        let open_max = if bytes_max.is_some() { most.open } else { 0 };
        // Too many to check in time.
        let Some(weight) = tree.weigh(open_max).await else { return Ended::TooMany };
        if bytes_max.is_some_and(|most| weight.bytes > most) {
            return Ended::OutOfMemory;
        }
        if weight.processes > most.processes || bytes_max.is_some() && weight.open > most.open {
            return Ended::TooMany;
        }
    }
}

impl Status {
    fn begin(&mut self, index: usize, steps: usize, step: &str) {
        self.phase = Phase::Running;
        let percent = index * 100 / steps.max(1);
        self.progress = Progress {
            percent: u8::try_from(percent).ok(),
            // The first line of a script is its title.
            current_step: step.lines().next().map(|line| line.chars().take(200).collect()),
            step_index: u32::try_from(index).ok(),
            message: None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_has_bounds_of_memory_and_of_processes() {
        let script = "sleep 1000 & sleep 1000 & wait";
        let mut command = tokio::process::Command::new("/bin/sh");
        let command = command.args(["-c", script]).process_group(0).kill_on_drop(true);
        let mut child = command.spawn().expect("started");
        let tree = Tree { first: child.id(), mark: "none".to_owned(), sandbox: false };
        let most = |processes, open| ProcessLimits { processes, open };
        let ended = too_much(&tree, Some(u64::MAX), most(2, usize::MAX)).await;
        assert_eq!(ended, Ended::TooMany, "three are more than two");
        assert_eq!(too_much(&tree, Some(1), most(3, usize::MAX)).await, Ended::OutOfMemory);
        // Each has three open files.
        assert_eq!(too_much(&tree, Some(u64::MAX), most(3, 8)).await, Ended::TooMany);
        assert!(tree.kill().await);
        child.wait().await.expect("ended");
    }
}
