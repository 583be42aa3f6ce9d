//! `remuda run list` and `remuda run show`.

use crate::failure;
use crate::fleet::Session;
use crate::style::{Card, Cell, Style, Table, Tone};
use remuda_fleet::id::RunId;
use remuda_fleet::lease::{AttemptState, RunStatus};
use remuda_fleet::message::Failure;
use remuda_fleet::time::Timestamp;
use remuda_fleet::view::{JobView, RunList, RunView, WaitReason, WaitView};

pub(super) async fn list(session: &Session, limit: usize) -> Result<(), failure::Failure> {
    let list = session.client.list(None, limit).await.map_err(|error| session.explain(error))?;
    session.out.show(&list, render_list)
}

pub(super) async fn show(session: &Session, run: &RunId) -> Result<(), failure::Failure> {
    let view = session.client.run(run).await.map_err(|error| session.explain(error))?;
    session.out.show(&view, render)?;
    super::watch::warn_of_shortage(session, run).await;
    Ok(())
}

fn render_list(list: &RunList, style: Style) -> String {
    if list.runs.is_empty() && style.terminal {
        return "no runs yet; submit one: remuda run submit FILE\n".to_owned();
    }
    Table::of(&list.runs)
        .left("run", |run| run.run_id.as_str())
        .left("name", |run| &run.name)
        .left("status", |run| status_cell(run.status))
        .right("open", |run| run.open)
        .right("at work", |run| run.running)
        .right("failed", |run| run.failed)
        .left("submitted", |run| time(run.created_at))
        .left("what", |run| Cell::new(Tone::Why, run.what()))
        .render(style)
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
pub(super) fn render(run: &RunView, style: Style) -> String {
    let summary = &run.summary;
    let mut card = Card::default();
    card.add("run", summary.run_id.as_str());
    if !summary.name.is_empty() {
        card.add("name", &summary.name);
    }
    card.add("status", status_cell(summary.status));
    card.add("submitted", time(summary.created_at));
    if let Some(at) = summary.ended_at {
        card.add("ended", time(at));
    }
    if let Some(of) = &summary.rerun_of {
        card.add("repeats", of.as_str());
    }
    format!("{}\n{}", card.render(style), jobs(run, style))
}

fn jobs(run: &RunView, style: Style) -> String {
    Table::of(&run.jobs)
        .left("job", |job| &job.name)
        .left("state", |job| Cell::new(tone(job.state), job.state))
        .right("attempt", |job| job.attempt)
        .right("fence", |job| job.fence)
        .left("what", what)
        .render(style)
}

/// Why a job waits, how far it is, or how it ended. That somebody should look comes first: what follows may
/// be a job's own words.
pub(super) fn what(job: &JobView) -> String {
    match job.dead_letter {
        true => format!("dead letter: {}", story(job)),
        false => story(job),
    }
}

fn story(job: &JobView) -> String {
    if let Some(waits) = &job.waits {
        return waiting(job, waits);
    }
    if let Some(line) = job.silence_line() {
        return line;
    }
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
        (None, None) => String::new(),
    }
}

/// Why a job waits, and what became of it before.
fn waiting(job: &JobView, waits: &WaitView) -> String {
    let why = match waits.reason {
        WaitReason::Needs => {
            let needs: Vec<&str> = job.needs.iter().map(String::as_str).collect();
            format!("needs {}", needs.join(", "))
        }
        _ => waits.to_string(),
    };
    match (job.failure, job.exit_code) {
        (Some(Failure::RunnerShutdown), _) => {
            format!("its worker was told to end and gave it back; it goes on elsewhere: {why}")
        }
        (_, Some(code)) if code != 0 => format!("ended with exit code {code}; {why}"),
        (None, _) if job.losses > 0 => {
            format!("its worker was lost; it goes on elsewhere: {why}")
        }
        _ => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(more: &[(&str, serde_json::Value)]) -> JobView {
        let mut job = json!({ "job_id": "job_1", "name": "a", "state": "QUEUED", "attempt": 1, "fence": 0,
            "losses": 0, "log_bytes": 0 });
        more.iter().for_each(|(name, value)| job[*name] = value.clone());
        serde_json::from_value(job).expect("a job")
    }

    #[test]
    fn a_job_that_waits_says_why_and_what_became_of_it_before() {
        let limit = json!({ "reason": "LABEL_LIMIT", "label": "deploy", "limit": 1, "running": 1 });
        let held = what(&job(&[("waits", limit)]));
        assert_eq!(held, "held back by the label deploy: 1 at work, 1 allowed");
        let turn = || ("waits", json!({ "reason": "TURN" }));
        assert_eq!(what(&job(&[turn()])), "waits for a free worker");
        let returned = what(&job(&[turn(), ("failure", json!("RUNNER_SHUTDOWN"))]));
        assert!(returned.starts_with("its worker was told to end"), "{returned}");
        let lost = what(&job(&[turn(), ("losses", json!(1))]));
        assert!(lost.starts_with("its worker was lost"), "{lost}");
        let needs = [("waits", json!({ "reason": "NEEDS" })), ("needs", json!(["x", "y"]))];
        assert_eq!(what(&job(&needs)), "needs x, y");
        assert_eq!(what(&job(&[("waits", json!({ "reason": "SOMETHING_NEW" }))])), "waits");
    }

    #[test]
    fn a_dead_letter_is_said_to_be_one() {
        let lost = [("state", json!("FAILED")), ("reason", json!("LOST"))];
        assert_eq!(what(&job(&lost)), "lost");
        let dead = [&lost[..], &[("dead_letter", json!(true))]].concat();
        assert_eq!(what(&job(&dead)), "dead letter: lost");
        let code = [&dead[..], &[("exit_code", json!(7)), ("summary", json!("no"))]].concat();
        assert_eq!(what(&job(&code)), "dead letter: exit code 7: no");
    }

    #[test]
    fn a_worker_that_is_silent_is_named() {
        let silence = json!({ "seconds": 41, "lease_ends_in_seconds": 79 });
        let more =
            [("state", json!("RUNNING")), ("runner_id", json!("runner_a")), ("silence", silence)];
        let told = what(&job(&more));
        assert_eq!(told, "no word from worker runner_a for 41 s; its lease ends in 79 s");
    }
}
