//! Events in words. What the chain did not do cannot be told.

use super::stage::Stage;
use crate::format::{cby, short, thousandths};
use crate::style::Tone;
use remuda_protocol::event::Event;
use remuda_protocol::primitives::Address;

/// One line about an event; none for what a line nearby says already.
pub(super) fn sentence(stage: &Stage<'_>, event: &Event) -> Option<(Tone, String)> {
    selection(stage, event).or_else(|| work(stage, event)).or_else(|| ending(stage, event))
}

/// From joining to being drawn.
fn selection(stage: &Stage<'_>, event: &Event) -> Option<(Tone, String)> {
    let name = |address: &Address| stage.cast.name(*address);
    Some(match event {
        Event::RunnerRegistered { runner, slot, stake } => {
            let stake = cby(*stake);
            (Tone::Plain, format!("{} joins with {stake} at stake: slot {slot}", name(runner)))
        }
        Event::PresenceChanged { runner, present: true } => {
            (Tone::Plain, format!("the validators attest that {} is there", name(runner)))
        }
        Event::JobSubmitted { submitter, escrow, .. } => {
            let text = format!("{} orders a job; {} go into escrow", name(submitter), cby(*escrow));
            (Tone::Plain, text)
        }
        Event::JobBound { view, roots, seats, .. } => {
            let root = roots.first().map(|(root, _)| short(root.as_slice())).unwrap_or_default();
            let text = format!(
                "its candidates are fixed under root {root}; the seed of view {view} will draw {seats} of them"
            );
            (Tone::Plain, text)
        }
        Event::JobAssigned { runners, aggregator, commit_by, .. } => {
            let drawn = stage.cast.names(runners);
            let text = match aggregator {
                Some(aggregator) => format!(
                    "drawn, in this order: {drawn}; {} collects the results; commits until {commit_by}",
                    name(aggregator)
                ),
                None => format!("drawn: {drawn}; the result is due by {commit_by}"),
            };
            (Tone::Plain, text)
        }
        _ => return None,
    })
}

/// From a commit to a result.
fn work(stage: &Stage<'_>, event: &Event) -> Option<(Tone, String)> {
    let name = |address: &Address| stage.cast.name(*address);
    Some(match event {
        Event::Committed { runner, commitment, .. } => {
            let hash = short(commitment.as_slice());
            (Tone::Plain, format!("{} commits to a result, hidden in {hash}", name(runner)))
        }
        Event::CommitsClosed { .. } => {
            (Tone::Plain, "commits are closed; results may be opened".to_owned())
        }
        Event::Revealed { runner, result_hash, .. } => {
            let result = stage.result(result_hash).unwrap_or("(unknown)");
            (Tone::Plain, format!("{}'s result is open: {result}", name(runner)))
        }
        Event::RunnerTimedOut { runner, .. } => {
            (Tone::Bad, format!("{} has not committed in time and is out", name(runner)))
        }
        Event::ResultRejected { runner, .. } => {
            (Tone::Bad, format!("{} is outside the winning group: no pay", name(runner)))
        }
        Event::NonRevealSlash { runner, amount, .. } => {
            let text = format!(
                "{} committed but opened nothing: {} of its stake are slashed, reputation 0",
                name(runner),
                cby(*amount)
            );
            (Tone::Bad, text)
        }
        Event::RunnerJailed { runner, until } => {
            (Tone::Bad, format!("{} is jailed until height {until}", name(runner)))
        }
        _ => return None,
    })
}

/// From a verdict to the money.
fn ending(stage: &Stage<'_>, event: &Event) -> Option<(Tone, String)> {
    let name = |address: &Address| stage.cast.name(*address);
    Some(match event {
        Event::JobSettled { winners, gross, burned, treasury, .. } => {
            let text = format!(
                "settled for {}: of {}, {} burned, {} to the treasury, the rest to the winners",
                stage.cast.names(winners),
                cby(*gross),
                cby(*burned),
                cby(*treasury)
            );
            (Tone::Good, text)
        }
        Event::Paid { runner, amount, .. } => {
            (Tone::Good, format!("{} is paid {}", name(runner), cby(*amount)))
        }
        Event::ReputationChanged { runner, reputation_nano, score } => {
            let reputation = thousandths(*reputation_nano);
            let tone = if *score == 0 { Tone::Bad } else { Tone::Plain };
            (tone, format!("{} scores {score}: reputation {reputation}", name(runner)))
        }
        Event::JobFailed { reason, .. } => (Tone::Bad, format!("the job has failed: {reason:?}")),
        Event::Refunded { to, amount, .. } => {
            (Tone::Good, format!("{} gets {} back", name(to), cby(*amount)))
        }
        Event::CallbackQueued { actor, .. } => {
            (Tone::Plain, format!("{} will be called with the result next block", name(actor)))
        }
        Event::CallbackFailed { actor, .. } => {
            (Tone::Bad, format!("the call fails: there is no code at {}", name(actor)))
        }
        Event::BondLocked { runner, amount, until, .. } => {
            let text =
                format!("{} of {}'s stake are locked until {until}", cby(*amount), name(runner));
            (Tone::Plain, text)
        }
        _ => return None,
    })
}
