//! `remuda runner presence`: a row for each runner, a mark for each validator.

use crate::failure::Failure;
use crate::format::count;
use crate::session::Session;
use crate::style::{Cell, Style, Table, Tone};
use remuda_client::types::{AttesterView, PresenceRow, PresenceView};

/// Rows on one page; the most that a node gives.
const PAGE: u32 = 200;

pub(super) const LEGEND: &str = "Example:
  $ remuda runner presence

Marks:
  ●  the validator attests the runner
  ○  it may, and does not
  ·  it is not asked about this runner
  !  behind a validator's number: its attestations are too old to count
A runner is present if more than half of the validators that are asked about it attest it, which they do
while it has a session with them, as `remuda runner run` keeps them. A heartbeat is not enough. The column `here` says which runners have a connection with the very node that was asked.";

pub(super) async fn presence(session: &Session) -> Result<(), Failure> {
    let mut all = session.client.presence(None, PAGE).await?;
    while let Some(next) = all.next {
        let page = session.client.presence(Some(next), PAGE).await?;
        if page.rows.first().is_some_and(|first| first.slot <= next) {
            return Err(Failure::Nonsense("its pages of slots do not ascend"));
        }
        all.rows.extend(page.rows);
        all.next = page.next;
    }
    session.out.show(&all, render)
}

fn render(view: &PresenceView, style: Style) -> String {
    let mut text = String::new();
    if style.terminal {
        let certificate = match view.newest_certificate {
            Some(height) => format!("newest certificate of height {height}"),
            None => "no certificate yet".to_owned(),
        };
        text += &format!(
            "  height {}, policy {}, epoch {}, {} of {} must attest, {certificate}\n\n",
            view.height, view.policy, view.epoch, view.threshold, view.subset_size
        );
    }
    text += &matrix(view, style);
    if style.terminal {
        let present = view.rows.iter().filter(|row| row.present).count();
        let all = count(view.rows.len(), "runner");
        text += &format!("\n  {present} of {all} present; ● attests, ○ does not, · is not asked\n");
    }
    text
}

fn matrix(view: &PresenceView, style: Style) -> String {
    let table = Table::of(&view.rows)
        .right("slot", |row| row.slot)
        .left("runner", |row| row.runner)
        .left("present", |row| Cell::yes(row.present))
        .left("here", |row| if row.connected_here { "yes" } else { "" });
    let validators = view.validators.iter();
    let marked = validators
        .fold(table, |table, it| table.left(name(it), |row: &PresenceRow| mark(row, it.index)));
    marked.render(style)
}

fn name(validator: &AttesterView) -> String {
    format!("v{}{}", validator.index, if validator.fresh { "" } else { "!" })
}

fn mark(row: &PresenceRow, validator: u32) -> Cell {
    let asked = row.members.contains(&validator) || row.previous_members.contains(&validator);
    match &row.attested_by {
        _ if !asked => Cell::new(Tone::Why, "·"),
        Some(by) if by.contains(&validator) => Cell::new(Tone::Good, "●"),
        Some(_) => Cell::new(Tone::Bad, "○"),
        None => Cell::new(Tone::Why, "?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_client::types::{HexAddress, HexHash, Uint};

    fn view() -> PresenceView {
        let validator = |index, fresh| AttesterView {
            index,
            key: HexHash::default(),
            attested_at: None,
            fresh,
        };
        let row = |slot, attested_by| PresenceRow {
            slot,
            runner: HexAddress::default(),
            present: slot == 0,
            members: vec![0, 1],
            previous_members: vec![3],
            attested_by,
            connected_here: false,
        };
        PresenceView {
            height: Uint(9),
            policy: "prefer".to_owned(),
            epoch: Uint(1),
            epoch_start: Uint(0),
            seed: HexHash::default(),
            previous_seed: None,
            newest_certificate: None,
            subset_size: 2,
            threshold: 2,
            validators: (0..4).map(|index| validator(index, index != 1)).collect(),
            rows: vec![row(0, Some(vec![0, 3])), row(1, None)],
            next: None,
        }
    }

    #[test]
    fn every_validator_has_a_mark_for_every_runner() {
        let text = render(&view(), Style { terminal: false, colours: false });
        let marks: Vec<Vec<&str>> =
            text.lines().map(|line| line.split('\t').skip(4).collect()).collect();
        assert_eq!(marks[0], ["v0", "v1!", "v2", "v3"]);
        assert_eq!(marks[1], ["●", "○", "·", "●"]);
        assert_eq!(marks[2], ["?", "?", "·", "?"]);
    }

    #[test]
    fn a_terminal_gets_the_sum_and_the_legend() {
        let text = render(&view(), Style { terminal: true, colours: false });
        assert!(text.contains("2 of 2 must attest, no certificate yet"), "{text}");
        assert!(text.contains("1 of 2 runners present"), "{text}");
    }
}
