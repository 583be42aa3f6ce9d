//! `remuda runner list`.

use crate::failure::Failure;
use crate::format::{cby, thousandths};
use crate::session::Session;
use crate::style::{Cell, Style, Table, Tone};
use remuda_client::types::{RunnerStatusName, RunnerView, RunnersPage};
use remuda_protocol::primitives::Amount;

/// Runners on one page; the most that a node gives.
const PAGE: u32 = 200;

pub(super) async fn list(session: &Session) -> Result<(), Failure> {
    session.out.show(&every_runner(session).await?, render)
}

/// All of them, page by page.
pub(crate) async fn every_runner(session: &Session) -> Result<RunnersPage, Failure> {
    let mut all = session.client.runners(None, PAGE).await?;
    while let Some(next) = all.next {
        let page = session.client.runners(Some(next.0), PAGE).await?;
        // Pages ascend; one that does not would have us ask for ever.
        if page.runners.first().is_some_and(|first| first.address <= next) {
            return Err(Failure::Nonsense("its pages of runners do not ascend"));
        }
        all.runners.extend(page.runners);
        all.next = page.next;
    }
    Ok(all)
}

fn render(page: &RunnersPage, style: Style) -> String {
    if page.runners.is_empty() && style.terminal {
        return "no runner has joined yet: remuda runner register --help\n".to_owned();
    }
    let kinds = |runner: &RunnerView| -> Vec<String> {
        runner.offer.kinds.iter().map(|kind| format!("{kind:?}")).collect()
    };
    Table::of(&page.runners)
        .right("slot", |runner| runner.slot)
        .left("runner", |runner| runner.address)
        .left("state", state)
        .left("present", |runner| Cell::yes(runner.present))
        .right("reputation", |runner| thousandths(runner.reputation_nano.0))
        .right("stake", |runner| cby(Amount(runner.effective_stake.0)))
        .right("jobs", |it| format!("{}/{}", it.open_jobs, it.offer.max_concurrent_jobs))
        .left("kinds", |runner| kinds(runner).join(","))
        .render(style)
}

/// Whether a runner can be drawn, and if not, why.
pub(super) fn state(runner: &RunnerView) -> Cell {
    match (runner.status, runner.jailed_until) {
        (RunnerStatusName::Deregistered, _) => Cell::new(Tone::Why, "left"),
        (_, Some(until)) => Cell::new(Tone::Bad, format!("jailed until {until}")),
        (RunnerStatusName::Paused, None) => Cell::new(Tone::Why, "paused"),
        (RunnerStatusName::Active, None) if !runner.healthy => Cell::new(Tone::Bad, "silent"),
        (RunnerStatusName::Active, None) => Cell::new(Tone::Good, "active"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::show::tests::runner;
    use super::*;
    use remuda_client::types::Uint;

    #[test]
    fn a_runner_that_cannot_be_drawn_says_why() {
        let active = runner();
        assert_eq!(state(&active), Cell::new(Tone::Good, "active"));
        let silent = RunnerView { healthy: false, ..runner() };
        assert_eq!(state(&silent), Cell::new(Tone::Bad, "silent"));
        let jailed = RunnerView { jailed_until: Some(Uint(9)), ..silent };
        assert_eq!(state(&jailed), Cell::new(Tone::Bad, "jailed until 9"));
        let left = RunnerView { status: RunnerStatusName::Deregistered, ..jailed };
        assert_eq!(state(&left), Cell::new(Tone::Why, "left"));
    }

    #[test]
    fn programs_get_a_row_for_each_runner() {
        let page = RunnersPage { height: Uint(1), runners: vec![runner()], next: None };
        let text = render(&page, Style { terminal: false, colours: false });
        assert_eq!(text.lines().count(), 2);
        assert!(text.ends_with("\tactive\tyes\t60.000\t15,000 CBY\t0/8\tHttp\n"), "{text}");
    }
}
