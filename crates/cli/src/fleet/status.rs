//! `remuda fleet status`.

use super::Session;
use crate::failure::Failure;
use crate::style::{Card, Cell, Style, Table, Tone};
use remuda_fleet::view::{OpenJob, QueueView, WorkerList, WorkerView};
use serde::Serialize;

#[derive(Serialize)]
struct Status {
    queue: QueueView,
    workers: WorkerList,
}

pub(super) async fn status(session: &Session) -> Result<(), Failure> {
    let queue = session.client.queue().await.map_err(|error| session.explain(error))?;
    let workers = session.client.workers().await.map_err(|error| session.explain(error))?;
    session.out.show(&Status { queue, workers }, render)
}

fn render(Status { queue, workers }: &Status, style: Style) -> String {
    let mut card = Card::default();
    card.add("waiting", queue.waiting);
    card.add("with a worker", queue.held);
    card.add("workers heard of", workers.total);
    card.add("workers desired", queue.desired_workers);
    let mut text = card.render(style);
    if !workers.workers.is_empty() {
        text += "\n";
        text += &worker_table(workers, style);
    }
    if !queue.next.is_empty() {
        text += "\n";
        text += &waiting_table(&queue.next, style);
    }
    text
}

/// Tags, or a dash.
fn tags<'a, T: ToString + 'a>(tags: impl IntoIterator<Item = &'a T>) -> String {
    let names: Vec<String> = tags.into_iter().map(ToString::to_string).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(" ") }
}

fn worker_table(list: &WorkerList, style: Style) -> String {
    let job = |worker: &WorkerView| match &worker.job {
        Some(job) => format!("{} of {}", job.name, job.run_id).into(),
        None => Cell::new(Tone::Why, "idle"),
    };
    let has = |worker: &WorkerView| match &worker.capabilities {
        Some(has) => tags(has).into(),
        None => Cell::new(Tone::Why, "not said yet"),
    };
    Table::of(&list.workers)
        .left("worker", |worker| worker.runner_id.as_str())
        .left("tags", has)
        .left("job", job)
        .render(style)
}

fn waiting_table(jobs: &[OpenJob], style: Style) -> String {
    let why = |job: &OpenJob| job.waits.as_ref().map(ToString::to_string).unwrap_or_default();
    Table::of(jobs)
        .left("waits", |job| &job.name)
        .left("run", |job| job.run_id.as_str())
        .left("tags", |job| tags(&job.tags))
        .right("priority", |job| job.priority)
        .left("why", |job| Cell::new(Tone::Why, why(job)))
        .render(style)
}
