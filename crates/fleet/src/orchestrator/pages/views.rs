//! Content of the pages.

use super::html::Markup;
use super::{Content, LOG_BYTES, Page};
use crate::id::{Fence, JobId};
use crate::lease::{AttemptState, RunStatus};
use crate::message::Progress;
use crate::orchestrator::answer::Failure;
use crate::orchestrator::app::App;
use crate::orchestrator::views::FRESH;
use crate::store::Store;
use crate::time::Timestamp;
use crate::view::{JobView, OpenJob, RunView, WaitReason};
use std::collections::BTreeSet;

pub(super) async fn inside(app: &App, page: &Page) -> Result<Content, Failure> {
    match page {
        Page::Runs { before } => runs(app, before.as_deref()).await,
        Page::Run { id, from } => {
            let view = app.run_view(id, FRESH).await?.ok_or_else(|| Failure::not_found("run"))?;
            Ok(run(&view.page(*from)))
        }
        Page::Job(id) => job(app, id).await,
        Page::Workers => workers(app).await,
        Page::Queue => queue(app).await,
    }
}

async fn runs(app: &App, before: Option<&str>) -> Result<Content, Failure> {
    let list = app.run_list(before, None).await?;
    let mut body = Markup::default();
    body.raw("<h1>Runs</h1>");
    if list.runs.is_empty() {
        body.raw("<p>None yet. Submit one: <code>remuda run submit FILE</code></p>");
    } else {
        body.raw("<table><tr><th>run<th>name<th>status<th>open<th>at work<th>failed<th>submitted");
        body.raw("<th>ended<th>what");
    }
    for run in &list.runs {
        body.raw("<tr><td>").link(format_args!("/runs/{}", run.run_id), short(&run.run_id));
        body.raw("<td>").text(&run.name).raw("<td>").state(run.status);
        body.raw("<td>").text(run.open).raw("<td>").text(run.running).raw("<td>").text(run.failed);
        body.raw("<td>").moment(Some(time(run.created_at))).raw("<td>");
        body.moment(run.ended_at.map(time)).raw("<td>").text(run.what());
    }
    body.raw("</table>");
    if let Some(next) = &list.next {
        body.raw("<p>").link(format_args!("/?before={next}"), "earlier runs").raw("</p>");
    }
    Ok(Content { title: "Runs".to_owned(), body, ended: false })
}

fn run(run: &RunView) -> Content {
    let summary = &run.summary;
    let title = if summary.name.is_empty() { summary.run_id.as_str() } else { &summary.name };
    let mut body = Markup::default();
    body.raw("<h1>").text(title).raw(" ").state(summary.status).raw("</h1><p><code>");
    body.text(&summary.run_id).raw("</code>, submitted ").text(time(summary.created_at));
    if let Some(at) = summary.ended_at {
        body.raw(", ended ").text(time(at));
    }
    if let Some(of) = &summary.rerun_of {
        body.raw(", repeats ").link(format_args!("/runs/{of}"), short(of));
    }
    body.raw("</p>");
    shortage(run, &mut body);
    body.raw("<table><tr><th>job<th>state<th>needs<th>attempt<th>fence<th>worker<th>progress");
    for job in &run.jobs {
        body.raw("<tr><td>").link(format_args!("/jobs/{}", job.job_id), &job.name);
        body.raw("<td>").state(job.state).raw("<td>").text(joined(&job.needs));
        body.raw("<td>").text(job.attempt).raw("<td>").text(job.fence).raw("<td><code>");
        body.some(job.runner_id.as_ref());
        body.raw("</code><td>").text(state_line(job));
    }
    body.raw("</table>");
    if let Some(next) = run.next {
        let to = format_args!("/runs/{}?from={next}", summary.run_id);
        body.raw("<p>").link(to, "more jobs").raw("</p>");
    }
    let ended = summary.status != RunStatus::Running;
    Content { title: title.to_owned(), body, ended }
}

/// Tags of waiting jobs that no known worker has.
fn shortage(run: &RunView, body: &mut Markup) {
    let nobody = |job: &&JobView| {
        job.waits.as_ref().is_some_and(|waits| waits.reason == WaitReason::NoWorker)
    };
    for job in run.jobs.iter().filter(nobody) {
        body.raw("<p class=\"warn\">").text(&job.name).raw(" waits: no worker ");
        match job.tags.is_empty() {
            true => body.raw("was seen recently"),
            false => body.raw("seen recently has the tags ").text(joined(&job.tags)),
        };
        body.raw(".</p>");
    }
}

async fn job(app: &App, id: &JobId) -> Result<Content, Failure> {
    let job = app.job_view(id).await?.ok_or_else(|| Failure::not_found("job"))?;
    let mut body = Markup::default();
    body.raw("<h1>").text(&job.name).raw(" ").state(job.state).raw("</h1><p>");
    if let Some(run) = id.run() {
        body.raw("of ").link(format_args!("/runs/{run}"), &run).raw(", ");
    }
    body.raw("attempt ").text(job.attempt).raw(", fence ").text(job.fence);
    if job.losses > 0 {
        body.raw(", lease lost ").text(job.losses).raw(" times in this attempt");
    }
    if job.returns > 0 {
        body.raw(", given back ").text(job.returns).raw(" times by workers that shut down");
    }
    if let Some(runner) = &job.runner_id {
        body.raw(", worker <code>").text(runner).raw("</code>");
    }
    body.raw("</p><p>").text(state_line(&job)).raw("</p>");
    if !job.artifacts.is_empty() {
        body.raw("<h2>Artifacts</h2><table><tr><th>type<th>where");
        for artifact in &job.artifacts {
            body.raw("<tr><td>").text(&artifact.kind);
            body.raw("<td><code>").text(&artifact.uri).raw("</code>");
        }
        body.raw("</table>");
    }
    let from = job.log_bytes.saturating_sub(LOG_BYTES);
    body.raw("<h2>Log</h2>");
    if from > 0 {
        body.raw("<p class=\"dim\">The first ").text(from).raw(" bytes are ");
        body.link(format_args!("/jobs/{id}/log"), "elsewhere").raw(".</p>");
    }
    body.raw("<pre class=\"log\">").text(log(app, id, job.fence, from).await?).raw("</pre>");
    let ended = job.state.terminal() && job.state != AttemptState::Stale;
    Ok(Content { title: job.name, body, ended })
}

async fn log(app: &App, id: &JobId, fence: Fence, from: u64) -> Result<String, Failure> {
    let bytes = app.0.store.log(id, fence, from, LOG_BYTES as usize).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn workers(app: &App) -> Result<Content, Failure> {
    let list = app.worker_list().await?;
    let mut body = Markup::default();
    body.raw("<h1>Workers</h1><p>").text(list.total).raw(" known to this orchestrator");
    body.raw(".</p>");
    if !list.workers.is_empty() {
        body.raw("<table><tr><th>worker<th>tags<th>heard of<th>job<th>since");
    }
    for worker in &list.workers {
        body.raw("<tr><td><code>").text(&worker.runner_id).raw("</code><td>");
        match &worker.capabilities {
            Some(tags) => body.text(joined(tags)),
            None => body.raw("<span class=\"dim\">not said yet</span>"),
        };
        body.raw("<td>");
        body.moment(worker.seen_at.map(time));
        body.raw("<td>");
        match &worker.job {
            Some(job) => {
                body.link(format_args!("/jobs/{}", job.job_id), &job.name).raw("<td>");
                body.moment(job.since.map(time))
            }
            None => body.raw("<span class=\"dim\">idle</span><td>"),
        };
    }
    body.raw("</table>");
    Ok(Content { title: "Workers".to_owned(), body, ended: false })
}

async fn queue(app: &App) -> Result<Content, Failure> {
    let queue = app.queue_view().await?;
    let mut body = Markup::default();
    body.raw("<h1>Queue</h1><p>").text(queue.waiting).raw(" jobs wait, ").text(queue.held);
    body.raw(" are with a worker; ").text(queue.desired_workers).raw(" workers would be busy.</p>");
    body.raw("<h2>Next</h2>");
    jobs(&queue.next, &mut body);
    body.raw("<h2>With a worker</h2>");
    jobs(&queue.running, &mut body);
    Ok(Content { title: "Queue".to_owned(), body, ended: false })
}

fn jobs(list: &[OpenJob], body: &mut Markup) {
    if list.is_empty() {
        body.raw("<p class=\"dim\">None.</p>");
        return;
    }
    body.raw(
        "<table><tr><th>job<th>run<th>state<th>priority<th>tags<th>attempt<th>fence<th>worker<th>what",
    );
    for job in list {
        body.raw("<tr><td>").link(format_args!("/jobs/{}", job.job_id), &job.name);
        body.raw("<td>").link(format_args!("/runs/{}", job.run_id), short(&job.run_id));
        body.raw("<td>").state(job.state).raw("<td>").text(job.priority);
        body.raw("<td>").text(joined(&job.tags)).raw("<td>").text(job.attempt);
        body.raw("<td>").text(job.fence).raw("<td><code>");
        body.some(job.runner_id.as_ref());
        body.raw("</code><td>").some(job.waits.as_ref());
    }
    body.raw("</table>");
}

/// Progress of a job, or its end.
fn state_line(job: &JobView) -> String {
    let mut parts = Vec::new();
    parts.extend(job.waits.as_ref().map(ToString::to_string));
    parts.extend(job.silence_line());
    if let Some(reason) = job.reason {
        parts.push(format!("{reason:?}"));
    }
    if let Some(code) = job.exit_code {
        parts.push(format!("exit code {code}"));
    }
    if !job.summary.is_empty() {
        parts.push(job.summary.clone());
    }
    let progress = job.progress.as_ref().filter(|_| job.reason.is_none() && job.waits.is_none());
    if let Some(Progress { percent, current_step, .. }) = progress {
        parts.extend(percent.map(|percent| format!("{percent} %")));
        parts.extend(current_step.clone());
    }
    if job.dead_letter {
        parts.push("needs attention".to_owned());
    }
    parts.join(" · ")
}

fn joined<T: ToString>(names: &BTreeSet<T>) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A shortened id. Its link has all of it.
fn short(id: &impl ToString) -> String {
    id.to_string().chars().take(16).collect()
}

/// To the second.
fn time(at: Timestamp) -> String {
    let text = at.to_string();
    text.split('.').next().unwrap_or(&text).trim_end_matches('Z').replace('T', " ")
}
