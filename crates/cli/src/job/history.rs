//! `remuda job history`.

use crate::failure::Failure;
use crate::session::Session;
use crate::style::{Style, Tone};
use crate::timeline::Timeline;
use remuda_client::types::{HexHash, JobHistory};

pub(super) async fn history(session: &Session, HexHash(id): HexHash) -> Result<(), Failure> {
    let history = session.client.job_history(id).await?;
    session.out.show(&history, render)
}

fn render(history: &JobHistory, style: Style) -> String {
    let mut timeline = Timeline::new(style);
    let mut text = heading(history, style);
    text += &timeline.heading();
    text.extend(history.entries.iter().map(|entry| timeline.entry(entry)));
    text
}

/// What a person should know before the first line.
pub(super) fn heading(history: &JobHistory, style: Style) -> String {
    if !style.terminal {
        return String::new();
    }
    let mut text = format!("Job {}\n", history.id);
    if !history.complete {
        let note = "this node has forgotten how it began; another may know";
        text += &format!("{}\n", style.paint(Tone::Why, note));
    }
    text
}
