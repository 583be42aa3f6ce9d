//! The end of the story in numbers.

use super::summary::{JobEnd, Summary, status_text};
use crate::demo::teller::Teller;
use crate::format::{exact, thousandths};
use crate::style::Tone;

pub(super) fn tell(summary: &Summary, teller: &mut Teller) {
    jobs(summary, teller);
    runners(summary, teller);
    others(summary, teller);
    supply(summary, teller);
    claims(summary, teller);
}

fn jobs(summary: &Summary, teller: &mut Teller) {
    teller.title("The jobs");
    let heads = ["act", "submitted", "drawn", "ended", "seats", "needed", "won by", "outcome"];
    let row = |job: &JobEnd| {
        let winners: Vec<&str> = job.winners.iter().map(|who| summary.name(*who)).collect();
        let winners = if winners.is_empty() { "nobody".to_owned() } else { winners.join(", ") };
        vec![
            job.act.to_owned(),
            job.submitted_at.to_string(),
            job.drawn_at.to_string(),
            job.ended_at.to_string(),
            job.committee.to_string(),
            job.n_threshold.to_string(),
            winners,
            status_text(&job.status),
        ]
    };
    let rows: Vec<Vec<String>> = summary.jobs.iter().map(row).collect();
    teller.table(&heads, &["act", "won by", "outcome"], &rows);
}

fn runners(summary: &Summary, teller: &mut Teller) {
    teller.title("The runners (money in CBY)");
    let heads =
        ["name", "balance", "stake", "locked", "deposit", "fees", "reputation", "jail", "jobs won"];
    let rows: Vec<Vec<String>> = summary
        .runners
        .iter()
        .map(|runner| {
            let jail = runner.jailed_until.map_or("-".to_owned(), |until| format!("until {until}"));
            vec![
                runner.name.to_owned(),
                exact(runner.balance),
                exact(runner.stake),
                exact(runner.locked),
                exact(runner.deposit),
                exact(runner.fees),
                thousandths(runner.reputation_nano),
                jail,
                runner.won.to_string(),
            ]
        })
        .collect();
    teller.table(&heads, &["name", "jail"], &rows);
}

fn others(summary: &Summary, teller: &mut Teller) {
    teller.title("The others (money in CBY)");
    let submitter = &summary.submitter;
    let row = |name: &str, amount, note: String| vec![name.to_owned(), exact(amount), note];
    let note = format!("had {}, paid {} in fees", exact(submitter.genesis), exact(submitter.fees));
    let rows = [
        row(submitter.name, submitter.balance, note),
        row("treasury", summary.treasury, "1 % of every price".to_owned()),
        row("proposer", summary.proposer, "the tips of all fees".to_owned()),
        row("burned", summary.burned, "10 % of every price, basefees, the slash".to_owned()),
    ];
    teller.table(&["who", "balance", "note"], &["who", "note"], &rows);
}

fn supply(summary: &Summary, teller: &mut Teller) {
    teller.title("Where all the money is");
    let held = &summary.holdings;
    teller.line("  supply = balances + stakes + escrows + bonds + deposits");
    let text = format!(
        "  {} = {} + {} + {} + {} + {}",
        exact(summary.supply),
        exact(held.balances),
        exact(held.stakes),
        exact(held.escrows),
        exact(held.bonds),
        exact(held.deposits)
    );
    teller.line(&text);
    let (genesis, burned) = (exact(summary.genesis), exact(summary.burned));
    teller.line(&format!("  {} = {genesis} at genesis − {burned} burned", exact(summary.supply)));
}

fn claims(summary: &Summary, teller: &mut Teller) {
    teller.title("What the rules promise");
    teller.line(&format!(
        "  {} blocks, each applied three times with the same result",
        summary.height
    ));
    for claim in &summary.claims {
        let (tone, mark) = if claim.holds { (Tone::Good, "ok  ") } else { (Tone::Bad, "NOT ") };
        teller.paint(tone, "  ", &format!("{mark} {}", claim.text));
    }
}
