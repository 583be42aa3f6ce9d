//! `remuda run list` and `remuda run show`.

use crate::failure::Failure;
use crate::fleet::Session;
use crate::style::{Align, Card, Cell, Style, Table, Tone};
use remuda_fleet::id::RunId;
use remuda_fleet::lease::{AttemptState, RunStatus};
use remuda_fleet::time::Timestamp;
use remuda_fleet::view::{JobView, RunList, RunView};

pub(super) async fn list(session: &Session, limit: usize) -> Result<(), Failure> {
    let list = session.client.list(None, limit).await.map_err(|error| session.explain(error))?;
    session.out.show(&list, list_words)
}

pub(super) async fn show(session: &Session, run: &RunId) -> Result<(), Failure> {
    let view = session.client.run(run).await.map_err(|error| session.explain(error))?;
    session.out.show(&view, words)?;
    super::watch::warn_of_shortage(session, run).await;
    Ok(())
}

fn list_words(list: &RunList, style: Style) -> String {
    if list.runs.is_empty() && style.terminal {
        return "no runs yet; submit one: remuda run submit FILE\n".to_owned();
    }
    let mut table = Table::new(&[
        ("run", Align::Left),
        ("name", Align::Left),
        ("status", Align::Left),
        ("open", Align::Right),
        ("failed", Align::Right),
        ("submitted", Align::Left),
    ]);
    for run in &list.runs {
        table.row([
            Cell::plain(run.run_id.as_str()),
            Cell::plain(&run.name),
            status_cell(run.status),
            Cell::plain(run.open.to_string()),
            Cell::plain(run.failed.to_string()),
            Cell::plain(time(run.created_at)),
        ]);
    }
    table.render(style)
}

/// To the second.
fn time(at: Timestamp) -> String {
    let text = at.to_string();
    text.split('.').next().unwrap_or(&text).trim_end_matches('Z').replace('T', " ")
}

fn status_cell(status: RunStatus) -> Cell {
    let tone = match status {
        RunStatus::Succeeded => Tone::Good,
        RunStatus::Failed => Tone::Bad,
        RunStatus::Canceled => Tone::Why,
        RunStatus::Running => Tone::Plain,
    };
    Cell::new(tone, status.to_string())
}

/// How a state is meant.
pub(super) fn tone(state: AttemptState) -> Tone {
    match state {
        AttemptState::Succeeded => Tone::Good,
        AttemptState::Failed | AttemptState::TimedOut => Tone::Bad,
        AttemptState::Queued | AttemptState::Canceled | AttemptState::Stale => Tone::Why,
        _ => Tone::Plain,
    }
}

/// A run and its jobs.
pub(super) fn words(run: &RunView, style: Style) -> String {
    let summary = &run.summary;
    let mut card = Card::default();
    card.add("run", summary.run_id.as_str());
    if !summary.name.is_empty() {
        card.add("name", &summary.name);
    }
    card.put("status", status_cell(summary.status));
    card.add("submitted", time(summary.created_at));
    if let Some(at) = summary.ended_at {
        card.add("ended", time(at));
    }
    if let Some(of) = &summary.rerun_of {
        card.add("repeats", of.as_str());
    }
    format!("{}\n{}", card.render(style), table(run).render(style))
}

fn table(run: &RunView) -> Table {
    let mut table = Table::new(&[
        ("job", Align::Left),
        ("state", Align::Left),
        ("attempt", Align::Right),
        ("fence", Align::Right),
        ("what", Align::Left),
    ]);
    for job in &run.jobs {
        table.row([
            Cell::plain(&job.name),
            Cell::new(tone(job.state), job.state.to_string()),
            Cell::plain(job.attempt.to_string()),
            Cell::plain(job.fence.to_string()),
            Cell::plain(what(job)),
        ]);
    }
    table
}

/// How far a job is, or how it ended.
pub(super) fn what(job: &JobView) -> String {
    if let Some(code) = job.exit_code.filter(|code| *code != 0) {
        return format!("exit code {code}: {}", job.summary);
    }
    match (&job.reason, &job.progress) {
        (Some(_), _) if !job.summary.is_empty() => job.summary.clone(),
        (Some(reason), _) => {
            let name = serde_json::to_value(reason).unwrap_or_default();
            name.as_str().unwrap_or_default().to_lowercase().replace('_', " ")
        }
        (None, Some(progress)) => progress.current_step.clone().unwrap_or_default(),
        (None, None) if !job.needs.is_empty() && job.state == AttemptState::Queued => {
            let needs: Vec<&str> = job.needs.iter().map(String::as_str).collect();
            format!("needs {}", needs.join(", "))
        }
        (None, None) => String::new(),
    }
}
