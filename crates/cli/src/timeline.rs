//! A job's life, line by line: height, time since it began, what, who, money.
//!
//! Columns have fixed widths, so that a life that goes on looks like one that is over.

use crate::event_text::{self, EventLine};
use crate::style::{Style, Tone};
use remuda_client::types::{EventBody, EventView, HexAddress, HistoryEntry, Occurrence};

/// Columns of what happened.
pub(crate) const WHAT_WIDTH: usize = 48;
/// Columns of the other parts.
const HEIGHT_WIDTH: usize = 8;
const AFTER_WIDTH: usize = 10;
const WHO_WIDTH: usize = 11;
const MONEY_WIDTH: usize = 20;

/// Writes the lines. It remembers when the first thing happened.
pub(crate) struct Timeline {
    style: Style,
    name: fn(HexAddress) -> Option<String>,
    began_ms: Option<u64>,
    height: Option<u64>,
}

impl Timeline {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, name: |_| None, began_ms: None, height: None }
    }

    /// Shows names instead of the addresses that have one.
    pub(crate) fn with_names(self, name: fn(HexAddress) -> Option<String>) -> Self {
        Self { name, ..self }
    }

    /// The names of the columns.
    pub(crate) fn heading(&self) -> String {
        let line = self.columns(["height", "after", "what", "who", "money"], Tone::Plain);
        self.style.paint(Tone::Title, line.trim_end()) + "\n"
    }

    /// The lines about one event.
    pub(crate) fn entry(&mut self, entry: &HistoryEntry) -> String {
        let began = *self.began_ms.get_or_insert(entry.timestamp_ms.0);
        let after = crate::format::span(entry.timestamp_ms.0.saturating_sub(began));
        event_text::of(&entry.event)
            .iter()
            .map(|moment| self.line(entry.height.0, &after, moment))
            .collect()
    }

    fn line(&mut self, height: u64, after: &str, moment: &EventLine) -> String {
        // Eyes find a block's first line; programs want the height on each.
        let again = self.height.replace(height) == Some(height) && self.style.terminal;
        let height = if again { String::new() } else { height.to_string() };
        let after = if again { "" } else { after };
        let shown = |who: HexAddress| (self.name)(who).unwrap_or_else(|| self.style.hex(who.0));
        let who = moment.who.map_or(String::new(), shown);
        let money = moment.money.map_or(String::new(), event_text::Money::text);
        self.columns([&height, after, &moment.what, &who, &money], moment.tone) + "\n"
    }

    fn columns(&self, [height, after, what, who, money]: [&str; 5], tone: Tone) -> String {
        if !self.style.terminal {
            return [height, after, what, who, money].join("\t");
        }
        let what = self.style.paint(tone, &format!("{what:<WHAT_WIDTH$}"));
        let line = format!(
            "{height:>HEIGHT_WIDTH$}  {after:>AFTER_WIDTH$}  {what}  {who:<WHO_WIDTH$}  {money:>MONEY_WIDTH$}"
        );
        line.trim_end().to_owned()
    }
}

/// What a block says about a job, in the form of its history.
pub(crate) fn entries(block: EventView) -> Vec<HistoryEntry> {
    let EventView { height, view, timestamp_ms, block, events, .. } = block;
    let entry = |Occurrence { cause, transaction, event }| HistoryEntry {
        height,
        view,
        timestamp_ms,
        block,
        cause,
        transaction,
        event,
    };
    events.into_iter().map(entry).collect()
}

/// Whether nothing more will happen to a job but to its bond.
pub(crate) fn is_end(event: &EventBody) -> bool {
    matches!(
        event,
        EventBody::JobSettled { .. } | EventBody::JobFailed { .. } | EventBody::JobCancelled { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_client::types::{BigUint, CauseName, HexHash, Uint};

    fn entry(height: u64, timestamp_ms: u64, event: EventBody) -> HistoryEntry {
        HistoryEntry {
            height: Uint(height),
            view: Uint(height),
            timestamp_ms: Uint(timestamp_ms),
            block: HexHash::default(),
            cause: CauseName::Closing,
            transaction: None,
            event,
        }
    }

    fn told(style: Style) -> String {
        let (job, who) = (HexHash::default(), HexAddress::default());
        let mut timeline = Timeline::new(style);
        let mut text = timeline.heading();
        let escrow = BigUint(2_000_000_000);
        text += &timeline.entry(&entry(
            13,
            1_000,
            EventBody::JobSubmitted { job, submitter: who, escrow },
        ));
        text += &timeline.entry(&entry(13, 1_000, EventBody::CommitsClosed { job }));
        let amount = BigUint(1_000_000_000);
        text += &timeline.entry(&entry(18, 2_500, EventBody::Refunded { job, to: who, amount }));
        text
    }

    #[test]
    fn a_life_reads_like_a_table() {
        let text = told(Style { terminal: true, colours: false });
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].trim_start().starts_with("height"));
        assert!(lines[1].starts_with("      13"));
        assert!(lines[1].ends_with("-2 CBY"));
        assert!(lines[2].starts_with("        "), "a block's height stands once");
        assert!(lines[3].contains("1.50 s"));
        assert_eq!(lines[1].chars().count(), lines[3].chars().count());
    }

    #[test]
    fn programs_get_every_field_on_every_line() {
        let text = told(Style { terminal: false, colours: false });
        for line in text.lines() {
            assert_eq!(line.split('\t').count(), 5, "{line}");
        }
        assert!(text.lines().nth(2).unwrap().starts_with("13\t0.00 s\t"));
    }
}
