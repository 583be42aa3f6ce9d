//! What happens.

use super::report::{Check, JobEnd, Report};
use crate::failure::Failure;
use crate::fleet::proxy::Proxy;
use crate::fleet::stage::{Stage, failed, local};
use crate::style::{Style, Tone, clean};
use futures::StreamExt as _;
use remuda_fleet::auth::KeyPair;
use remuda_fleet::id::{Attempt, Fence, JobId, RunId, RunnerId};
use remuda_fleet::lease::{AttemptState, RunStatus};
use remuda_fleet::message::{
    Complete, CompleteAck, CompleteStatus, JobSpec, JobSubmission, Retry, RunSubmission,
    StaleReason,
};
use remuda_fleet::time::Clock;
use remuda_fleet::view::{JobView, RunView};
use remuda_fleet::worker::{Link, LinkError};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

const NAMES: [&str; 3] = ["ada", "ben", "cleo"];
/// The demo kills the worker that runs this job.
const VICTIM: &str = "test-b";
/// The long jobs take so many seconds: longer than a lease lasts without a heartbeat.
const SECONDS: usize = 6;

struct Worker {
    name: &'static str,
    key: String,
    place: PathBuf,
    part: usize,
}

pub(super) struct Story {
    silent: bool,
    style: Style,
    began: Instant,
    workers: Vec<Worker>,
    seen: BTreeMap<JobId, (AttemptState, Attempt, Fence)>,
    /// Leases that a job lost, and who had it last.
    lost: BTreeMap<JobId, (u32, &'static str)>,
}

/// A worker that was killed, and what it had.
struct KilledWorker {
    worker: usize,
    job: JobId,
    runner: RunnerId,
    fence: Fence,
}

fn job(name: &str, needs: &[&str], step: String) -> JobSubmission {
    let spec = JobSpec {
        name: name.to_owned(),
        workdir: ".".to_owned(),
        image: None,
        steps: vec![step],
        env: BTreeMap::new(),
        artifacts: vec![],
        caches: vec![],
        call: None,
    };
    JobSubmission {
        name: name.to_owned(),
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        tags: BTreeSet::new(),
        labels: BTreeSet::new(),
        priority: 0,
        max_runtime_seconds: 60,
        retry: Retry::default(),
        lease_ttl_seconds: None,
        start_within_seconds: None,
        job_spec: Some(spec),
        job_spec_ref: None,
    }
}

fn run() -> RunSubmission {
    let tests = ["test-a", VICTIM, "test-c"];
    let seconds: Vec<String> = (1..=SECONDS).map(|second| second.to_string()).collect();
    let long = format!("for i in {}; do echo part $i; sleep 1; done", seconds.join(" "));
    let mut jobs = vec![job("build", &[], "echo built".to_owned())];
    jobs.extend(tests.map(|name| job(name, &["build"], long.clone())));
    jobs.push(job("report", &tests, "echo done".to_owned()));
    RunSubmission { name: "demonstration".to_owned(), max_parallel: None, jobs }
}

impl Story {
    pub(super) fn new(silent: bool) -> Self {
        let (style, began) = (Style::stdout(), Instant::now());
        let (workers, seen, lost) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { silent, style, began, workers, seen, lost }
    }

    fn say(&self, tone: Tone, text: &str) {
        if self.silent {
            return;
        }
        let text = self.style.paint(tone, &clean(text));
        let time = crate::format::span(self.began.elapsed().as_millis() as u64);
        // A closed pipe must not stop the demo.
        let _ = writeln!(io::stdout(), "{time:>8}  {text}");
    }

    fn name(&self, runner: &RunnerId) -> &'static str {
        let of = |worker: &&Worker| {
            let rest = runner.as_str().strip_prefix(RunnerId::PREFIX);
            rest.is_some_and(|rest| rest.starts_with(&worker.key))
        };
        self.workers.iter().find(of).map_or("nobody", |worker| worker.name)
    }

    pub(super) async fn play(mut self, stage: &mut Stage) -> Result<Report, Failure> {
        self.say(Tone::Title, &format!("the orchestrator serves at {}", stage.url));
        let to = stage.url.trim_start_matches("http://").parse().map_err(failed)?;
        let proxy = Proxy::start(to).await.map_err(Failure::Start)?;
        let near = format!("http://{}", proxy.address);
        for name in NAMES {
            let (place, key) = stage.equip(name, &near).await?;
            let part = stage.run(&place)?;
            let id = stage.parts[part].id();
            self.say(Tone::Plain, &format!("{name} has enrolled its key and works (process {id})"));
            self.workers.push(Worker { name, key, place, part });
        }
        let submitted = stage.client.submit(&run(), Some("demonstration")).await.map_err(failed)?;
        let run = submitted.run_id;
        self.say(
            Tone::Title,
            &format!("{run}: build, then three tests of {SECONDS} s, then a report"),
        );
        let death = self.until_killed(stage, &run).await?;
        let late = self.late(stage, &proxy, &death).await?;
        self.revive(stage, &death).await?;
        let view = self.until_ended(stage, &run).await?;
        Ok(self.report(&view, &death, late))
    }

    fn tell(&mut self, view: &RunView) {
        for job in &view.jobs {
            let now = (job.state, job.attempt, job.fence);
            if self.seen.insert(job.job_id.clone(), now) == Some(now) {
                continue;
            }
            let who = job.runner_id.as_ref().map_or("nobody", |runner| self.name(runner));
            let (name, fence) = (&job.name, job.fence);
            // The next grant may come before anybody sees that the lease was lost.
            let (losses, had) =
                self.lost.insert(job.job_id.clone(), (job.losses, who)).unwrap_or((0, who));
            if job.losses > losses {
                let text = format!("no heartbeat from {had}: its lease of {name} has expired");
                self.say(Tone::Bad, &text);
            }
            match job.state {
                AttemptState::Running => {
                    self.say(Tone::Plain, &format!("{who} runs {name}, fence {fence}"));
                }
                AttemptState::Succeeded => {
                    self.say(
                        Tone::Good,
                        &format!("{who} completes {name}, fence {fence}: SUCCEEDED"),
                    );
                }
                state if state.terminal() => {
                    self.say(Tone::Bad, &format!("{name}: {state}"));
                }
                _ => {}
            }
        }
    }

    /// Follows the run until something is so.
    async fn follow<T>(
        &mut self,
        stage: &Stage,
        run: &RunId,
        found: impl Fn(&RunView) -> Option<T>,
    ) -> Result<T, Failure> {
        let views = stage.client.watch(run).await.map_err(failed)?;
        let mut views = std::pin::pin!(views);
        while let Some(view) = views.next().await {
            let view = view.map_err(failed)?;
            self.tell(&view);
            if let Some(found) = found(&view) {
                return Ok(found);
            }
        }
        Err(failed("the run ended before its time"))
    }

    /// Waits until the victim works, and a second more; then kills it.
    async fn until_killed(
        &mut self,
        stage: &mut Stage,
        run: &RunId,
    ) -> Result<KilledWorker, Failure> {
        let (job, runner, fence) = self
            .follow(stage, run, |view| {
                let job = view.jobs.iter().find(|job| job.name == VICTIM)?;
                let running = job.state == AttemptState::Running && job.log_bytes > 0;
                running.then(|| Some((job.job_id.clone(), job.runner_id.clone()?, job.fence)))?
            })
            .await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let name = self.name(&runner);
        let worker = self.workers.iter().position(|worker| worker.name == name);
        let worker = worker.ok_or_else(|| failed("a stranger works"))?;
        let part = self.workers[worker].part;
        let id = stage.parts[part].id();
        stage.parts[part].kill().await;
        let text = format!("SIGKILL to {name} (process {id}), in the middle of {VICTIM}");
        self.say(Tone::Bad, &text);
        // Once more in full: what was told before is told by nobody else.
        self.follow(stage, run, |view| {
            let job = view.jobs.iter().find(|other| other.job_id == job)?;
            (job.fence > fence && job.state == AttemptState::Running).then_some(())
        })
        .await?;
        Ok(KilledWorker { worker, job, runner, fence })
    }

    /// What the dead one would say if it came too late, signed with its key, under its lease.
    async fn late(
        &self,
        stage: &Stage,
        proxy: &Proxy,
        death: &KilledWorker,
    ) -> Result<Option<StaleReason>, Failure> {
        let KilledWorker { worker, job, runner, fence } = death;
        let lease = proxy.lease(job, *fence).ok_or_else(|| failed("nobody saw the lease"))?;
        let key = KeyPair::load_or_generate(&self.workers[*worker].place.join("worker.key"));
        let link = Link::new(local(&stage.url)?, Arc::new(key.map_err(failed)?), Clock::default());
        let message = Complete {
            lease_id: lease.lease_id,
            runner_id: runner.clone(),
            status: CompleteStatus::Succeeded,
            exit_code: Some(0),
            failure: None,
            timings: None,
            artifacts: vec![],
            summary: "from beyond".to_owned(),
            output: None,
        };
        let name = self.workers[*worker].name;
        let answer = link.send::<_, CompleteAck>("complete", &message).await;
        let (reason, heard) = match answer {
            Err(LinkError::Stale(stale)) => {
                (Some(stale.reason), format!("409 StaleLease ({:?})", stale.reason))
            }
            Err(error) => (None, error.to_string()),
            Ok(_) => (None, "accepted".to_owned()),
        };
        let text = format!("{name}'s completion arrives late, under fence {fence}: {heard}");
        self.say(if reason.is_some() { Tone::Good } else { Tone::Bad }, &text);
        Ok(reason)
    }

    /// Starts the dead one again: another runner with the same key.
    async fn revive(&mut self, stage: &mut Stage, death: &KilledWorker) -> Result<(), Failure> {
        let worker = &self.workers[death.worker];
        let (name, key, old) = (worker.name, worker.key.clone(), death.runner.clone());
        let part = stage.run(&worker.place)?;
        let back = async || {
            let list = stage.client.workers().await.ok()?;
            let new = |runner: &RunnerId| *runner != old && runner.as_str().contains(&key);
            list.workers.iter().any(|worker| new(&worker.runner_id)).then_some(())
        };
        stage.wait("the worker that was killed", back).await?;
        self.workers[death.worker].part = part;
        self.say(
            Tone::Plain,
            &format!("{name} is started again; what its job left running is ended"),
        );
        Ok(())
    }

    async fn until_ended(&mut self, stage: &Stage, run: &RunId) -> Result<RunView, Failure> {
        self.follow(stage, run, |view| {
            (view.summary.status != RunStatus::Running).then(|| view.clone())
        })
        .await
    }

    fn report(&self, view: &RunView, death: &KilledWorker, late: Option<StaleReason>) -> Report {
        let end = |job: &JobView| JobEnd {
            name: job.name.clone(),
            state: job.state,
            fence: job.fence.0,
            losses: job.losses,
            worker: job.runner_id.as_ref().map_or("nobody", |it| self.name(it)).to_owned(),
        };
        let victim = view.jobs.iter().find(|job| job.job_id == death.job);
        let check = |what, ok| Check { what, ok };
        let others = view.jobs.iter().filter(|job| job.job_id != death.job);
        let checks = vec![
            check("every job succeeded", view.summary.status == RunStatus::Succeeded),
            check(
                "the dead worker's job was finished by another, under a higher fence",
                victim.is_some_and(|job| {
                    job.runner_id.as_ref() != Some(&death.runner) && job.fence > death.fence
                }),
            ),
            check("the dead worker's completion was refused as stale", late.is_some()),
            check(
                "what the dead worker said is nowhere in the result",
                victim.is_some_and(|job| job.summary != "from beyond"),
            ),
            check(
                "all other jobs were granted once",
                others.into_iter().all(|job| job.fence == Fence(1)),
            ),
        ];
        Report {
            run: view.summary.run_id.to_string(),
            killed: self.workers[death.worker].name.to_owned(),
            job: VICTIM.to_owned(),
            late_answer: late.map_or_else(|| "none".to_owned(), |reason| format!("{reason:?}")),
            jobs: view.jobs.iter().map(end).collect(),
            checks,
            millis: self.began.elapsed().as_millis() as u64,
        }
    }
}
