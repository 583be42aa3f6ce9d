//! What the runners of a job answered, each by itself: what nobody agreed on is in no result, but the
//! transactions that opened it are on chain.

use crate::failure::Failure;
use crate::session::Session;
use remuda_client::types::{
    CheckView, DeliveryView, EventBody, HexAddress, HexBytes, InstructionView, JobView,
    ProgressView, SeatView,
};
use remuda_protocol::verifier::excuse::Excuse;
use remuda_protocol::verifier::json::{Json, parse};
use remuda_protocol::verifier::path::Path;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Answer {
    pub(super) runner: HexAddress,
    /// What it opened; nothing, if it excused itself.
    pub(super) answer: HexBytes,
    /// The code of its excuse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) excuse: Option<String>,
}

/// All that were opened, in the order of the seats.
pub(super) async fn of(session: &Session, job: &JobView) -> Result<Vec<Answer>, Failure> {
    let opened = |it: &ProgressView| {
        matches!(it, ProgressView::Revealed { .. } | ProgressView::Excused { .. })
    };
    if !job.seats.iter().any(|seat| opened(&seat.progress)) {
        return Ok(Vec::new());
    }
    let history = session.client.job_history(job.id.0).await?;
    let transactions: BTreeSet<_> = (history.entries.iter())
        .filter(|entry| matches!(entry.event, EventBody::Revealed { .. }))
        .filter_map(|entry| entry.transaction)
        .collect();
    let mut all = BTreeMap::new();
    for hash in transactions {
        let reveals = match session.client.transaction(hash.0).await?.instruction {
            InstructionView::RevealResult { reveal, .. } => vec![reveal],
            InstructionView::RevealAggregate { reveals, .. } => reveals,
            _ => continue,
        };
        for reveal in reveals {
            if let DeliveryView::Result(bytes) = reveal.result {
                all.entry(reveal.runner).or_insert(bytes);
            }
        }
    }
    let answer = |seat: &SeatView| {
        let (runner, excuse) = (seat.runner, excuse_of(&seat.progress));
        let answer = match excuse {
            Some(_) => HexBytes(Vec::new()),
            None => all.remove(&runner)?,
        };
        Some(Answer { runner, answer, excuse: excuse.map(str::to_owned) })
    };
    Ok(job.seats.iter().filter_map(answer).collect())
}

/// The code of a seat's excuse.
pub(super) fn excuse_of(progress: &ProgressView) -> Option<&'static str> {
    match progress {
        ProgressView::Excused { excuse } => Some(Excuse::from(*excuse).name()),
        _ => None,
    }
}

/// Why runners say that a job cannot be done: each code, and how many gave it.
pub(super) fn excuses(job: &JobView) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for code in job.seats.iter().filter_map(|seat| excuse_of(&seat.progress)) {
        *counts.entry(code).or_default() += 1;
    }
    let codes: Vec<String> = counts.iter().map(|(code, n)| format!("{code} ({n})")).collect();
    format!("Its runners report that it cannot be done: {}", codes.join(", "))
}

/// What to do about a job that nobody agreed on.
pub(super) fn advice(answers: &[Answer], fields: &[String]) -> String {
    let excuses: Vec<&str> = answers.iter().filter_map(|it| it.excuse.as_deref()).collect();
    match (excuses.first(), excuses.len() == answers.len()) {
        (Some(first), true) => format!(
            ". All that tried report that it cannot be done ({first}), so its price went back. Fix what it \
             asks for, and order it again"
        ),
        (Some(first), false) => format!(
            ". {} of {} could not do it ({first}), and the other results are too few or differ. The unspent \
             part of its price went back. `remuda job show` has each runner's answer",
            excuses.len(),
            answers.len()
        ),
        (None, _) => format!(
            ". {}. Each valid result was paid half of its seat's price, and the rest went back. `remuda job \
             show` has each runner's answer",
            difference(answers, fields)
        ),
    }
}

/// What is wrong with answers that are no excuses.
fn difference(answers: &[Answer], fields: &[String]) -> String {
    let documents: Vec<Option<Json>> =
        answers.iter().map(|answer| parse(&answer.answer.0).ok()).collect();
    let lacks = |field: &&String| {
        let Ok(path) = Path::parse(field) else { return false };
        let has = |it: &Option<Json>| it.as_ref().is_some_and(|it| path.get(it).is_some());
        !documents.is_empty() && !documents.iter().any(has)
    };
    let same = answers.windows(2).all(|two| two[0].answer == two[1].answer);
    if let Some(field) = fields.iter().find(lacks) {
        return format!(
            "No result has {field:?}, which they are compared by; name a field that they have"
        );
    }
    let text = if same && !answers.is_empty() {
        "All results are the same, and a check turned them down: a record that was not confirmed, a \
         number out of its range, a schema that does not fit"
    } else {
        "The results differ, or too few pass the checks; compare other fields in `checks`, or allow a \
         tolerance"
    };
    text.to_owned()
}

/// The fields by which results of a job are compared.
pub(super) fn fields(job: &JobView) -> Vec<String> {
    let checks = job.spec.verification.checks.iter();
    let named = checks.flat_map(|check| match check {
        CheckView::MajorityVote { field }
        | CheckView::NumericTolerance { field, .. }
        | CheckView::NumericRange { field, .. } => vec![field.clone()],
        CheckView::StructuredMatch { fields } => fields.clone(),
        _ => Vec::new(),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_protocol::primitives::Address;

    fn answer(excuse: Option<&str>) -> Answer {
        Answer {
            runner: HexAddress(Address::ZERO),
            answer: HexBytes(vec![]),
            excuse: excuse.map(str::to_owned),
        }
    }

    #[test]
    fn the_advice_is_about_what_happened() {
        let (no, yes) = (answer(Some("cannot reach it")), answer(None));
        let all = advice(&[no.clone(), no.clone()], &[]);
        assert!(all.contains("All that tried report that it cannot be done (cannot"), "{all}");
        let some = advice(&[no, yes.clone(), yes.clone()], &[]);
        assert!(some.contains("1 of 3 could not do it"), "{some}");
        let said = |text: &str| Answer { answer: HexBytes(text.into()), ..yes.clone() };
        let (one, two) = (said(r#"{"body":1}"#), said(r#"{"body":2}"#));
        let fields = ["body".to_owned()];
        assert!(advice(&[one.clone(), two.clone()], &fields).contains("differ"));
        let same = advice(&[one.clone(), one.clone()], &fields);
        assert!(same.contains("a check turned them down"), "{same}");
        let lacking = advice(&[one, two], &["body.price".to_owned()]);
        assert!(lacking.contains("No result has \"body.price\""), "{lacking}");
        assert!(advice(&[], &fields).contains("`checks`"));
    }
}
