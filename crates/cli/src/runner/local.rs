//! `remuda runner status` and `remuda runner drain`: a runner on this machine, through its page.

use super::run::read;
use crate::failure::Failure;
use crate::format::{cby, count, thousandths};
use crate::session::Session;
use crate::style::{Card, Cell, Style, Table, Tone};
use remuda_client::types::BigUint;
use remuda_protocol::primitives::Amount;
use remuda_runner::daemon::remote::{RemoteError, drain as ask_to_drain, status as ask};
use remuda_runner::daemon::status::{SessionView, StandingView};
use remuda_runner::daemon::{RunState, StatusView};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a draining runner is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Where a runner's page is, and its data directory.
fn page(settings: &Path) -> Result<(SocketAddr, PathBuf), Failure> {
    let none = "the runner has no status page; give its settings a `status` address, such as \
                127.0.0.1:8090, and start it again";
    let settings = read(settings)?;
    Ok((settings.status.ok_or(Failure::Usage(none))?, settings.data))
}

pub(super) async fn status(session: &Session, settings: &Path) -> Result<(), Failure> {
    let view = ask(page(settings)?.0).await?;
    session.out.show(&view, render)
}

/// Drains a runner, and waits until it has ended.
pub(super) async fn drain(session: &Session, settings: &Path) -> Result<(), Failure> {
    let (page, data) = page(settings)?;
    ask_to_drain(page, &data).await?;
    let mut told = None;
    loop {
        match ask(page).await {
            Ok(view) if view.state == RunState::Drained => break,
            Ok(view) => {
                let now = waits_for(&view);
                if told.as_ref() != Some(&now) && !session.out.json {
                    session.out.text(&now)?;
                    told = Some(now);
                }
            }
            // It has ended, and its page with it.
            Err(RemoteError::Unreachable(..)) => break,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    session.out.show(&serde_json::json!({ "drained": true }), |_, _| "drained\n".to_owned())
}

/// What a draining runner waits for; also the reason, if it could wait for ever.
fn waits_for(view: &StatusView) -> String {
    let (jobs, sending) = (view.jobs.len(), view.sending);
    let (jobs, sending) = (count(jobs, "open job"), count(sending as usize, "transaction"));
    let mut text = format!("draining: {jobs}, {sending} in no block yet\n");
    if !view.problems.is_empty() {
        let problems = view.problems.join("\n- ");
        text += &format!(
            "it waits for the chain, and there is a problem:\n- {problems}\n\
             Ctrl-C leaves it draining; SIGTERM ends the runner itself now, and its journal keeps what is open\n"
        );
    }
    text
}

fn money(amount: BigUint) -> String {
    cby(Amount(amount.0))
}

fn render(view: &StatusView, style: Style) -> String {
    let mut card = Card::default();
    card.add("runner", view.runner);
    card.add("state", format!("{:?}", view.state).to_lowercase());
    for problem in &view.problems {
        card.add("problem", Cell::new(Tone::Bad, problem));
    }
    let last = match (view.reachable, view.chain_id) {
        (true, _) => "",
        (false, Some(_)) => ", the last one known: no node answers",
        (false, None) => ": no node has answered yet",
    };
    card.add("height", format!("{}{last}", view.height));
    card.add("policy", &view.policy);
    if let Some(standing) = &view.standing {
        card.add("on chain", on_chain(standing));
        card.add("present", known(view, standing.present));
        card.add("can be drawn", known(view, standing.healthy));
        card.add("stake", money(standing.effective_stake));
        card.add("reputation", thousandths(standing.reputation_nano.0));
        card.add("balance", money(standing.balance));
    }
    card.add("busy", format!("{} of {}", view.busy, view.slots));
    let totals = &view.totals;
    card.add(
        "since start",
        format!(
            "{} settled ({} of them outvoted), {} failed, {} missed, {} earned",
            totals.settled,
            totals.outvoted,
            totals.failed,
            totals.missed,
            money(totals.paid)
        ),
    );
    let mut text = card.render(style);
    text += &sessions(view, style);
    text += &open(view, style);
    text + &finished(view, style)
}

/// Something that the chain says, as long as somebody can ask it.
fn known(view: &StatusView, is_so: bool) -> Cell {
    match (view.reachable, is_so) {
        (true, is_so) => Cell::yes(is_so),
        (false, true) => "yes, when last heard of".into(),
        (false, false) => "no, when last heard of".into(),
    }
}

/// Whether a runner wants work and may have it, and when that was so.
fn on_chain(standing: &StandingView) -> Cell {
    let at = standing.height;
    match standing.jailed_until {
        Some(until) => Cell::new(Tone::Bad, format!("in jail until block {until} (at block {at})")),
        None => {
            let status = format!("{:?}", standing.status).to_lowercase();
            format!("{status} (at block {at})").into()
        }
    }
}

fn sessions(view: &StatusView, style: Style) -> String {
    let state = |session: &SessionView| match (&session.why, session.open) {
        (_, true) => Cell::new(Tone::Good, "open"),
        (Some(why), false) => Cell::new(Tone::Bad, why),
        (None, false) => "connecting".into(),
    };
    let table = Table::of(&view.sessions)
        .right("validator", |it| it.index)
        .left("session", state)
        .right("round trip", |it| Cell::optional(it.rtt_micros.map(|it| format!("{it} µs"))))
        .right("head", |it| Cell::optional(it.head))
        .right("pushed", |it| it.pushed);
    format!("\n{}", table.render(style))
}

fn open(view: &StatusView, style: Style) -> String {
    if view.jobs.is_empty() {
        return String::new();
    }
    let table = Table::of(&view.jobs)
        .left("open job", |job| style.hex(job.job.0))
        .left("kind", |job| Cell::optional(job.kind.as_ref()))
        .left("doing", |job| &job.doing)
        .right("%", |job| job.percent)
        .right("until", |job| Cell::optional(job.deadline))
        .left("failure", |job| Cell::new(Tone::Bad, job.failure.as_deref().unwrap_or("")));
    format!("\n{}", table.render(style))
}

fn finished(view: &StatusView, style: Style) -> String {
    if view.finished.is_empty() {
        return String::new();
    }
    let table = Table::of(&view.finished)
        .left("ended job", |job| style.hex(job.job.0))
        .left("kind", |job| Cell::optional(job.kind.as_ref()))
        .left("end", |job| &job.end)
        .right("height", |job| job.height)
        .right("earned", |job| Cell::optional(job.paid.map(money)))
        .left("why", |job| Cell::optional(job.why.as_ref()));
    format!("\n{}", table.render(style))
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_client::types::{HexAddress, RunnerStatusName, Uint};
    use remuda_protocol::primitives::Address;
    use remuda_runner::daemon::status::TotalsView;

    const PLAIN: Style = Style { terminal: true, colours: false };

    fn view() -> StatusView {
        StatusView {
            version: "1".to_owned(),
            runner: HexAddress(Address::ZERO),
            state: RunState::Draining,
            problems: vec![],
            reachable: true,
            chain_id: None,
            height: Uint(9),
            policy: "prefer".to_owned(),
            standing: None,
            slots: 2,
            busy: 0,
            sending: 1,
            sessions: vec![],
            jobs: vec![],
            finished: vec![],
            totals: TotalsView::default(),
            false_assignments: vec![],
            unreadable: vec![],
        }
    }

    fn standing() -> StandingView {
        StandingView {
            height: Uint(7),
            status: RunnerStatusName::Active,
            healthy: true,
            present: true,
            stake: BigUint(1),
            effective_stake: BigUint(1),
            reputation_nano: Uint(1),
            failures: 0,
            jailed_until: None,
            balance: BigUint(1),
        }
    }

    #[test]
    fn who_waits_for_a_drain_is_told_what_for_and_each_problem() {
        let mut view = view();
        let text = waits_for(&view);
        assert_eq!(text, "draining: 0 open jobs, 1 transaction in no block yet\n");
        view.problems = vec!["no money".to_owned(), "no node".to_owned()];
        let text = waits_for(&view);
        assert!(text.contains("\n- no money\n- no node\n"), "{text}");
        assert!(text.contains("SIGTERM"), "and how to leave: {text}");
    }

    #[test]
    fn who_is_in_jail_is_not_called_active() {
        let mut view = StatusView { standing: Some(standing()), ..view() };
        assert!(render(&view, PLAIN).contains("active (at block 7)"));
        view.standing = Some(StandingView { jailed_until: Some(Uint(99)), ..standing() });
        let text = render(&view, PLAIN);
        assert!(text.contains("in jail until block 99") && !text.contains("active"), "{text}");
    }

    #[test]
    fn what_was_last_known_is_called_so() {
        let view = StatusView { reachable: false, chain_id: Some(Uint(7)), ..view() };
        assert!(render(&view, PLAIN).contains("9, the last one known"));
        let standing = Some(standing());
        let text = render(&StatusView { standing, ..view }, PLAIN);
        assert!(text.contains("yes, when last heard of"), "{text}");
    }
}
