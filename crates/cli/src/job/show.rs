//! `remuda job show`.

use super::answers::{self, Answer, excuse_of};
use crate::failure::Failure;
use crate::format::{cby, thousandths};
use crate::session::Session;
use crate::style::{Card, Cell, Style, Table, Tone, clip};
use remuda_client::types::{
    HexBytes, HexHash, JobStatusView, JobView, ProgressView, ResultView, SeatView,
};
use remuda_protocol::primitives::Amount;
use serde::Serialize;

/// Characters of a result that are shown; `--json` has all of them.
const RESULT_CHARS_MAX: usize = 2_000;

pub(super) async fn show(session: &Session, HexHash(id): HexHash) -> Result<(), Failure> {
    present(session, &session.client.job(id).await?).await
}

/// A job, and what its runners answered if they agreed on nothing.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    job: &'a JobView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<Answer>,
    /// What the only runner says, if it could not do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    excuse: Option<&'static str>,
}

pub(super) async fn present(session: &Session, job: &JobView) -> Result<(), Failure> {
    let failed = matches!(job.status, JobStatusView::Failed { .. });
    let answers = if failed { answers::of(session, job).await? } else { Vec::new() };
    session.out.show(&Shown { job, answers, excuse: excused(job) }, |shown, style| {
        render(shown.job, style) + &render_answers(&shown.answers, style)
    })
}

fn render_answers(answers: &[Answer], style: Style) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let answered = |answer: &Answer| match &answer.excuse {
        Some(why) => Cell::new(Tone::Bad, why),
        None => readable(&answer.answer).into(),
    };
    let table = Table::of(answers).left("runner", |it| it.runner).left("answered", answered);
    format!("\n{}", table.render(style))
}

/// The excuse of the only runner of a job.
fn excused(job: &JobView) -> Option<&'static str> {
    let mut seats = job.seats.iter().filter(|_| job.committee == 1);
    seats.find_map(|seat| excuse_of(&seat.progress))
}

/// How a job ended, or stands, to go on a sentence that begins with "it".
pub(super) fn end_of(status: &JobStatusView) -> String {
    match status {
        JobStatusView::Pending { view } => format!("waits for the seed of view {view}"),
        JobStatusView::Assigned {} => "is at work".to_owned(),
        JobStatusView::Committed {} => "waits for reveals".to_owned(),
        JobStatusView::Settled {} => "is settled".to_owned(),
        JobStatusView::Failed { reason } => format!("failed ({reason:?})"),
        JobStatusView::Cancelled {} => "was called off".to_owned(),
    }
}

fn tone_of(status: &JobStatusView) -> Tone {
    match status {
        JobStatusView::Settled {} => Tone::Good,
        JobStatusView::Failed { .. } | JobStatusView::Cancelled {} => Tone::Bad,
        _ => Tone::Plain,
    }
}

pub(super) fn render(job: &JobView, style: Style) -> String {
    let mut card = Card::default();
    card.add("job", job.id);
    card.add("status", Cell::new(tone_of(&job.status), end_of(&job.status)));
    card.add("kind", format!("{:?}", job.kind));
    let verification = &job.spec.verification;
    let mode = serde_json::to_value(verification.mode).unwrap_or_default();
    let mode = mode.as_str().unwrap_or_default();
    let asked = verification.runners;
    card.add("mode", format!("{mode}, {}", agreement(job.n_threshold, job.committee, asked)));
    card.add("submitter", job.submitter);
    card.add("submitted at", job.submitted_at);
    let tip = cby(Amount(job.spec.tip.0));
    card.add("price", format!("{} and a tip of {tip}", cby(Amount(job.spec.max_price.0))));
    card.add("in escrow", cby(Amount(job.escrow.0)));
    if !job.over && !job.seats.is_empty() {
        card.add("commits until", job.commit_by);
        card.add("reveals until", job.reveal_by);
    }
    if let Some(challenged) = job.challenges {
        card.add("re-executes", challenged);
    }
    if let Some(bond) = &job.bond {
        let amount = cby(Amount(bond.locked.0));
        card.add("bond", format!("{amount} of {} until {}", bond.runner, bond.until));
    }
    if let Some(result) = &job.result {
        add_result(&mut card, result);
    }
    if let Some(why) = excused(job) {
        card.add("not done", Cell::new(Tone::Bad, why));
    }
    let mut text = card.render(style);
    if !job.seats.is_empty() {
        text.push('\n');
        text += &seats(job, style);
    }
    text
}

/// A job that found too few candidates never had a committee.
fn agreement(threshold: u32, committee: u32, asked: u32) -> String {
    match committee {
        0 => "without a committee".to_owned(),
        1 => "by a single runner".to_owned(),
        _ if committee < asked => format!(
            "{threshold} of {committee} must agree (not {asked}: committees are smaller on a network \
             of this size)"
        ),
        _ => format!("{threshold} of {committee} must agree"),
    }
}

fn add_result(card: &mut Card, result: &ResultView) {
    if let Some(agreed) = &result.agreed {
        card.add("agreed", Cell::new(Tone::Good, readable(agreed)));
    }
    card.add("result", readable(&result.result));
    card.add("word of", result.runner);
}

/// A result as text if it is one, as hex if not.
fn readable(bytes: &HexBytes) -> String {
    let text = core::str::from_utf8(&bytes.0).map_or_else(|_| bytes.to_string(), str::to_owned);
    clip(&text, RESULT_CHARS_MAX, "… (--json shows all)")
}

fn seats(job: &JobView, style: Style) -> String {
    let mut number = 0;
    Table::of(&job.seats)
        .right("seat", |_| {
            number += 1;
            number
        })
        .left("runner", |seat| seat.runner)
        .left("progress", |seat| progress(seat, job.aggregator == Some(seat.runner)))
        .right("reputation", |seat| thousandths(seat.reputation_nano.0))
        .right("stake", |seat| cby(Amount(seat.effective.0)))
        .render(style)
}

fn progress(seat: &SeatView, collects: bool) -> Cell {
    let (tone, text) = match seat.progress {
        ProgressView::Waiting {} => (Tone::Plain, "at work"),
        ProgressView::Committed { .. } => (Tone::Plain, "committed"),
        ProgressView::Revealed { .. } => (Tone::Good, "revealed"),
        ProgressView::Crashed {} => (Tone::Bad, "crashed"),
        ProgressView::TimedOut {} => (Tone::Bad, "timed out"),
        ProgressView::Slashed {} => (Tone::Bad, "slashed"),
        ProgressView::Excused { .. } => (Tone::Bad, "excused"),
    };
    let note = if collects { ", collects the results" } else { "" };
    Cell::new(tone, format!("{text}{note}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_client::types::FailureName;

    #[test]
    fn a_result_is_text_or_hex_and_not_endless() {
        assert_eq!(readable(&HexBytes(b"{\"a\":1}".to_vec())), "{\"a\":1}");
        assert_eq!(readable(&HexBytes(vec![0xff, 0x00])), "0xff00");
        let long = readable(&HexBytes(vec![b'x'; 5_000]));
        assert!(long.len() < 2_100 && long.ends_with("(--json shows all)"));
    }

    #[test]
    fn nobody_must_agree_where_nobody_was_found() {
        assert_eq!(agreement(0, 0, 3), "without a committee");
        assert_eq!(agreement(2, 3, 3), "2 of 3 must agree");
        assert_eq!(agreement(1, 1, 1), "by a single runner");
        assert!(agreement(2, 3, 5).contains("not 5"), "who asked for more is told");
    }

    #[test]
    fn an_end_goes_on_a_sentence() {
        let failed = JobStatusView::Failed { reason: FailureName::NoAgreement };
        assert_eq!(end_of(&failed), "failed (NoAgreement)");
        assert_eq!(tone_of(&failed), Tone::Bad);
    }
}
