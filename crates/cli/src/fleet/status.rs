//! `remuda fleet status`.

use super::Session;
use crate::failure::Failure;
use crate::style::{Align, Card, Cell, Style, Table, Tone};
use remuda_fleet::view::{OpenJob, QueueView, WorkerList};
use serde::Serialize;

#[derive(Serialize)]
struct Status {
    queue: QueueView,
    workers: WorkerList,
}

pub(super) async fn status(session: &Session) -> Result<(), Failure> {
    let queue = session.client.queue().await.map_err(|error| session.explain(error))?;
    let workers = session.client.workers().await.map_err(|error| session.explain(error))?;
    session.out.show(&Status { queue, workers }, words)
}

fn words(Status { queue, workers }: &Status, style: Style) -> String {
    let mut card = Card::default();
    card.add("waiting", queue.waiting.to_string());
    card.add("with a worker", queue.held.to_string());
    card.add("workers heard of", workers.total.to_string());
    card.add("workers desired", queue.desired_workers.to_string());
    let mut text = card.render(style);
    if !workers.workers.is_empty() {
        text += "\n";
        text += &worker_table(workers).render(style);
    }
    if !queue.next.is_empty() {
        text += "\n";
        text += &waiting_table(&queue.next).render(style);
    }
    text
}

/// Tags, or a dash.
fn tags<'a, T: ToString + 'a>(tags: impl IntoIterator<Item = &'a T>) -> String {
    let names: Vec<String> = tags.into_iter().map(ToString::to_string).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(" ") }
}

fn worker_table(list: &WorkerList) -> Table {
    let heads = [("worker", Align::Left), ("tags", Align::Left), ("job", Align::Left)];
    let mut table = Table::new(&heads);
    for worker in &list.workers {
        let job = match &worker.job {
            Some(job) => Cell::plain(format!("{} of {}", job.name, job.run_id)),
            None => Cell::new(Tone::Why, "idle"),
        };
        let has = match &worker.capabilities {
            Some(has) => Cell::plain(tags(has)),
            None => Cell::new(Tone::Why, "not said yet"),
        };
        table.row([Cell::plain(worker.runner_id.as_str()), has, job]);
    }
    table
}

fn waiting_table(jobs: &[OpenJob]) -> Table {
    let heads = [
        ("waits", Align::Left),
        ("run", Align::Left),
        ("tags", Align::Left),
        ("priority", Align::Right),
        ("why", Align::Left),
    ];
    let mut table = Table::new(&heads);
    for job in jobs {
        table.row([
            Cell::plain(&job.name),
            Cell::plain(job.run_id.as_str()),
            Cell::plain(tags(&job.tags)),
            Cell::plain(job.priority.to_string()),
            Cell::new(Tone::Why, job.waits.as_ref().map(ToString::to_string).unwrap_or_default()),
        ]);
    }
    table
}
