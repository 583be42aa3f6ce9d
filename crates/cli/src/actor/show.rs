//! `remuda actor show|state|logs`.

use crate::event_text;
use crate::failure::Failure;
use crate::format::{cby, count, grouped};
use crate::session::Session;
use crate::style::{Card, Style, clean, clip};
use crate::value::{shown, to_json};
use futures::StreamExt as _;
use remuda_client::EventFilter;
use remuda_client::types::{ActorState, ActorView, EventBody, HexAddress, HexBytes, HistoryEntry};
use remuda_protocol::primitives::{Amount, Height};
use serde_json::json;

/// Bytes of a value that are shown to people; `--json` has all of them.
const VALUE_CHARS_MAX: usize = 200;

pub(super) async fn actor(session: &Session, actor: HexAddress, code: bool) -> Result<(), Failure> {
    let view = session.client.actor(actor.0).await?;
    match code && !session.out.json {
        true => session.out.text(&view.code),
        false => session.out.show(&view, render),
    }
}

fn render(actor: &ActorView, style: Style) -> String {
    let mut card = Card::default();
    card.add("actor", actor.address);
    card.add("owner", actor.owner);
    card.add("money", cby(Amount(actor.balance.0)));
    card.add("code", format!("{} bytes, {}", grouped(actor.code.len() as u64), actor.code_hash));
    card.add("storage", format!("{} bytes", grouped(actor.storage_bytes.0)));
    card.add("deposit", cby(Amount(actor.deposit.0)));
    card.add("waiting", count(actor.waiting as usize, "call"));
    card.add("after block", actor.height);
    card.render(style)
}

/// Everything under a prefix, page by page.
pub(super) async fn state(
    session: &Session,
    actor: HexAddress,
    prefix: Option<&str>,
) -> Result<(), Failure> {
    let prefix = HexBytes(prefix.unwrap_or_default().as_bytes().to_vec());
    let mut after = None;
    let mut any = false;
    loop {
        let page = session.client.actor_state(actor.0, &prefix, after.as_ref()).await?;
        any |= !page.entries.is_empty();
        print(session, &page)?;
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    if !any && !session.out.json {
        session.out.text("it keeps nothing\n")?;
    }
    Ok(())
}

fn print(session: &Session, page: &ActorState) -> Result<(), Failure> {
    for entry in &page.entries {
        let row = json!({
            "key": entry.key, "name": shown_key(&entry.key.0),
            "value": entry.value, "decoded": to_json(&entry.value.0),
        });
        session.out.show(&row, |_, _| {
            let value = clip(&shown(&entry.value.0), VALUE_CHARS_MAX, "…");
            format!("{}  {value}\n", clean(&shown_key(&entry.key.0)))
        })?;
    }
    Ok(())
}

/// Keys are text as a rule, and no CBOR.
fn shown_key(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => HexBytes(key.to_vec()).to_string(),
    }
}

/// The newest entries, and what follows if that is asked for.
pub(super) async fn logs(
    session: &Session,
    actor: HexAddress,
    last: usize,
    follow: bool,
) -> Result<(), Failure> {
    let mut found: Vec<HistoryEntry> = Vec::new();
    let mut before = None;
    let mut height = None;
    while found.len() < last {
        let page = session.client.actor_logs(actor.0, before).await?;
        height = height.or(Some(page.height.0));
        found.splice(0..0, page.entries);
        match page.next {
            Some(next) => before = Some(next.0),
            None => break,
        }
    }
    for entry in &found[found.len().saturating_sub(last)..] {
        show_entry(session, entry.height.0, &entry.event)?;
    }
    if !follow {
        return Ok(());
    }
    let mut events = session.client.events(&EventFilter::default(), height.map(Height));
    while let Some(block) = events.next().await.transpose()? {
        for happened in block.events.iter().filter(|one| is_about(&one.event, actor)) {
            show_entry(session, block.height.0, &happened.event)?;
        }
    }
    Ok(())
}

fn show_entry(session: &Session, height: u64, event: &EventBody) -> Result<(), Failure> {
    session.out.show_events(&json!({ "height": height, "event": event }), |_, style| {
        event_text::of(event)
            .into_iter()
            .map(|one| format!("{height:>8}  {}\n", one.sentence(style)))
            .collect()
    })
}

fn is_about(event: &EventBody, address: HexAddress) -> bool {
    use EventBody as E;
    match event {
        E::ActorDeployed { actor, .. }
        | E::ActorUpgraded { actor, .. }
        | E::ActorEvent { actor, .. }
        | E::ActorReturned { actor, .. }
        | E::CallFailed { actor, .. }
        | E::CallRan { actor, .. }
        | E::CallSuspended { actor, .. }
        | E::CallFinished { actor, .. }
        | E::TimerFired { actor, .. }
        | E::TimerScheduled { actor, .. }
        | E::TimerExpired { actor, .. }
        | E::TimerCancelled { actor, .. }
        | E::TimerCancelledInsufficientFunds { actor, .. } => *actor == address,
        E::CallQueued { from, to, .. } => *from == address || *to == address,
        E::JobSubmitted { submitter, .. } => *submitter == address,
        _ => false,
    }
}
