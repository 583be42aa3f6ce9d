//! `remuda run watch`, and the waiting of `submit --watch`.

use super::list::{render, tone, what};
use super::note;
use crate::failure::Failure;
use crate::fleet::{FleetFailure, Session};
use crate::style::clean;
use futures::StreamExt as _;
use remuda_fleet::client::ClientError;
use remuda_fleet::id::{Attempt, Fence, JobId, RunId};
use remuda_fleet::lease::{AttemptState, RunStatus};
use remuda_fleet::message::Label;
use remuda_fleet::view::{JobView, RunView, WaitReason, WaitView};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long an orchestrator may be away while somebody watches: long enough to start it again.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at who is there to work.
const SHORTAGE_EVERY: Duration = Duration::from_secs(5);

/// What of a job is worth a line when it changes.
#[derive(PartialEq)]
struct Seen {
    state: AttemptState,
    attempt: Attempt,
    fence: Fence,
    step: Option<u32>,
    held_back: Option<(WaitReason, Option<Label>)>,
    silent: bool,
}

impl Seen {
    fn of(job: &JobView) -> Self {
        // That its turn has come the next line says; that nobody can do it is said with what to do.
        let told = |waits: &&WaitView| {
            matches!(
                waits.reason,
                WaitReason::Retry | WaitReason::RunLimit | WaitReason::LabelLimit
            )
        };
        let held_back = job.waits.as_ref().filter(told);
        Self {
            state: job.state,
            attempt: job.attempt,
            fence: job.fence,
            step: job.progress.as_ref().and_then(|progress| progress.step_index),
            held_back: held_back.map(|waits| (waits.reason, waits.label.clone())),
            silent: job.silence.is_some(),
        }
    }
}

pub(super) async fn watch(session: &Session, run: &RunId) -> Result<(), Failure> {
    let mut seen: BTreeMap<JobId, Seen> = BTreeMap::new();
    let mut warned = BTreeSet::new();
    let mut away: Option<Instant> = None;
    loop {
        match follow(session, run, &mut seen, &mut warned).await? {
            Some(view) => return verdict(session, &view),
            // A new stream begins with the whole run, so reconnecting loses no change.
            None => {
                let since = *away.get_or_insert_with(|| {
                    note("the orchestrator cannot be reached; trying again");
                    Instant::now()
                });
                if since.elapsed() > PATIENCE {
                    let gone = session.client.run(run).await.map(drop);
                    gone.map_err(|error| session.explain(error))?;
                    away = None;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Tells what happens until the run ends, or until the orchestrator goes away.
async fn follow(
    session: &Session,
    run: &RunId,
    seen: &mut BTreeMap<JobId, Seen>,
    warned: &mut BTreeSet<JobId>,
) -> Result<Option<RunView>, Failure> {
    let views = match session.client.watch(run).await {
        Ok(views) => views,
        // A first connection that fails means a wrong URL: report it. Later failures are outages: retry.
        Err(ClientError::Unreachable { .. }) if !seen.is_empty() => return Ok(None),
        Err(error) => return Err(session.explain(error)),
    };
    let mut views = std::pin::pin!(views);
    let mut looks = tokio::time::interval(SHORTAGE_EVERY);
    let mut last: Option<RunView> = None;
    loop {
        let view = tokio::select! {
            view = views.next() => view,
            _ = looks.tick() => {
                if let Some(view) = &last {
                    shortage(session, view, warned).await;
                }
                continue;
            }
        };
        let Some(Ok(view)) = view else { return Ok(None) };
        tell(session, &view, seen)?;
        if view.summary.status != RunStatus::Running {
            return Ok(Some(view));
        }
        if last.is_none() {
            shortage(session, &view, warned).await;
        }
        last = Some(view);
    }
}

fn tell(
    session: &Session,
    view: &RunView,
    seen: &mut BTreeMap<JobId, Seen>,
) -> Result<(), Failure> {
    if session.out.json {
        return session.out.show(view, |_, _| String::new());
    }
    let width = view.jobs.iter().map(|job| job.name.chars().count()).max().unwrap_or(0);
    for job in &view.jobs {
        let now = Seen::of(job);
        if seen.get(&job.job_id) != Some(&now) {
            session.out.text(&line(session, job, width))?;
            seen.insert(job.job_id.clone(), now);
        }
    }
    Ok(())
}

fn line(session: &Session, job: &JobView, width: usize) -> String {
    let style = session.out.style;
    let state = style.paint(tone(job.state), &format!("{:<16}", job.state.to_string()));
    let name = clean(&job.name);
    let mut text = format!("{name:<width$}  {state}");
    if job.fence > Fence(0) && !job.state.terminal() && job.state != AttemptState::Queued {
        text += &format!("  fence {}", job.fence);
    }
    let what = clean(&what(job));
    if !what.is_empty() {
        text += &format!("  {what}");
    }
    format!("{}\n", text.trim_end())
}

/// Says of a run that was just submitted, or is looked at, if nobody can do some of it.
pub(super) async fn warn_of_shortage(session: &Session, run: &RunId) {
    if let Ok(view) = session.client.run(run).await {
        shortage(session, &view, &mut BTreeSet::new()).await;
    }
}

/// Says once of each job that waits for a worker that nobody has heard of.
async fn shortage(session: &Session, view: &RunView, warned: &mut BTreeSet<JobId>) {
    if view.ready().all(|job| warned.contains(&job.job_id)) {
        return;
    }
    let Ok(workers) = session.client.workers().await else { return };
    for job in view.ready().filter(|job| !workers.may_have(&job.tags)) {
        if !warned.insert(job.job_id.clone()) {
            continue;
        }
        let tags: Vec<&str> = job.tags.iter().map(|tag| tag.as_str()).collect();
        let flags: Vec<String> = tags.iter().map(|tag| format!(" --tag {tag}")).collect();
        let (name, flags) = (&job.name, flags.concat());
        note(&match (workers.total, tags.is_empty()) {
            (0, _) => format!(
                "{name} waits: the orchestrator has heard of no worker lately. Start one: remuda \
                 worker init DIR{flags} && remuda worker run DIR"
            ),
            (_, true) => format!("{name} waits: the orchestrator has heard of no worker lately"),
            (known, false) => format!(
                "{name} waits: no worker seen recently ({known}) has the tags \
                 {}. Start one that has: remuda worker init DIR{flags}",
                tags.join(", ")
            ),
        });
    }
}

/// How it ended, in words and in the exit status.
fn verdict(session: &Session, view: &RunView) -> Result<(), Failure> {
    if !session.out.json {
        session.out.text(&format!("\n{}", render(view, session.out.style)))?;
    }
    let status = view.summary.status;
    if status == RunStatus::Succeeded {
        return Ok(());
    }
    let bad = |job: &&JobView| {
        matches!(job.state, AttemptState::Failed | AttemptState::TimedOut)
            && status == RunStatus::Failed
    };
    let run = view.summary.run_id.clone();
    let failed: Vec<&JobView> = view.jobs.iter().filter(bad).collect();
    let why = match failed.as_slice() {
        [] => String::new(),
        [job] => format!(": {}. See its log: remuda run logs {}", clean(&job.name), job.job_id),
        [first, ..] => {
            let (bad, all) = (failed.len(), view.jobs.len());
            let (name, job) = (clean(&first.name), &first.job_id);
            format!(": {bad} of {all} jobs, {name} first. See its log: remuda run logs {job}")
        }
    };
    Err(FleetFailure::Ended { run, status, why }.into())
}
