//! How the story is put on the screen: heights on the left, reasons below, tables at the end.

use remuda_protocol::primitives::Amount;
use std::io::{self, IsTerminal, Write};

/// Columns that a line of the story may take.
const WIDTH: usize = 100;
/// Columns before the text of a line.
const INDENT: usize = 7;

/// How a line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Something happened.
    Plain,
    /// Something good for somebody.
    Good,
    /// Something bad for somebody.
    Bad,
    /// A reason.
    Why,
    /// A heading.
    Title,
}

impl Tone {
    /// Parameters of the terminal's "select graphic rendition"; none for plain text.
    fn escape(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Why => Some("2"),
            Self::Title => Some("1"),
        }
    }
}

/// Writes lines. After a failed write it is silent, and `finish` says what went wrong.
pub(super) struct Teller {
    out: Box<dyn Write>,
    colours: bool,
    result: io::Result<()>,
}

impl Teller {
    pub(super) fn stdout() -> Self {
        let out = io::stdout();
        let colours = out.is_terminal() && colours_wanted();
        Self { out: Box::new(out), colours, result: Ok(()) }
    }

    pub(super) fn silent() -> Self {
        Self { out: Box::new(io::sink()), colours: false, result: Ok(()) }
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        core::mem::replace(&mut self.result, Ok(())).and_then(|()| self.out.flush())
    }

    pub(super) fn title(&mut self, text: &str) {
        self.line("");
        self.paint(Tone::Title, "", text);
    }

    /// Something that happened in a block.
    pub(super) fn at(&mut self, height: u64, tone: Tone, text: &str) {
        self.wrapped(tone, &format!("{height:>5}  "), text);
    }

    /// Why it did. The dot tells reasons from events where there are no colours.
    pub(super) fn why(&mut self, text: &str) {
        self.wrapped(Tone::Why, "     · ", text);
    }

    pub(super) fn line(&mut self, text: &str) {
        self.paint(Tone::Plain, "", text);
    }

    pub(super) fn paint(&mut self, tone: Tone, before: &str, text: &str) {
        let written = match tone.escape().filter(|_| self.colours) {
            Some(escape) => writeln!(self.out, "{before}\x1b[{escape}m{text}\x1b[0m"),
            None => writeln!(self.out, "{before}{text}"),
        };
        if self.result.is_ok() {
            self.result = written;
        }
    }

    fn wrapped(&mut self, tone: Tone, first: &str, text: &str) {
        for (i, line) in wrap(text, WIDTH - INDENT).iter().enumerate() {
            let before = if i == 0 { first.to_owned() } else { " ".repeat(INDENT) };
            self.paint(tone, &before, line);
        }
    }

    /// A table. Columns named in `words` go to the left, numbers to the right.
    pub(super) fn table(&mut self, heads: &[&str], words: &[&str], rows: &[Vec<String>]) {
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
        };
        let columns: Vec<(usize, bool)> =
            (0..heads.len()).map(|i| (width(i), words.contains(&heads[i]))).collect();
        let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
        self.paint(Tone::Title, "", &row_text(&heads, &columns));
        for row in rows {
            self.line(&row_text(row, &columns));
        }
    }
}

/// <https://no-color.org>: set and not empty means no colours.
fn colours_wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn row_text(cells: &[String], columns: &[(usize, bool)]) -> String {
    let mut text = String::new();
    for (cell, (width, is_word)) in cells.iter().zip(columns) {
        let padded = if *is_word { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        text += "  ";
        text += &padded;
    }
    text.trim_end().to_owned()
}

/// Breaks a text at spaces. A word longer than a line gets a line of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            lines.push(String::new());
            column = 0;
        }
        let line = lines.last_mut().expect("there is a first line");
        if column > 0 {
            line.push(' ');
            column += 1;
        }
        line.push_str(word);
        column += length;
    }
    lines
}

/// "1,234.5 CBY": as many decimals as it takes.
pub(super) fn cby(amount: Amount) -> String {
    let exact = exact(amount);
    format!("{} CBY", exact.trim_end_matches('0').trim_end_matches('.'))
}

/// "1,234.500000000": down to the base unit, so that columns line up.
pub(super) fn exact(amount: Amount) -> String {
    let unit = Amount::CBY.get();
    format!("{}.{:09}", grouped(amount.get() / unit), amount.get() % unit)
}

/// Nano points or shares with three decimals, rounded down.
pub(super) fn thousandths(nano: u64) -> String {
    format!("{}.{:03}", nano / 1_000_000_000, nano % 1_000_000_000 / 1_000_000)
}

/// The first bytes of a hash or an address.
pub(super) fn short(bytes: &[u8]) -> String {
    let start: String = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("0x{start}…")
}

fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_to_the_unit() {
        assert_eq!(cby(Amount(1_234_500_000_000)), "1,234.5 CBY");
        assert_eq!(cby(Amount(7)), "0.000000007 CBY");
        assert_eq!(cby(Amount::cby(100)), "100 CBY");
        assert_eq!(exact(Amount::cby(1_000_000)), "1,000,000.000000000");
    }

    #[test]
    fn reputation_is_never_rounded_up() {
        assert_eq!(thousandths(61_904_999_999), "61.904");
        assert_eq!(thousandths(7_000_000), "0.007");
    }

    #[test]
    fn no_line_is_longer_than_asked_and_no_word_is_lost() {
        let text = "one two three four five six seven";
        let lines = wrap(text, 9);
        assert!(lines.iter().all(|line| line.len() <= 9));
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrap("unbreakable", 3), ["unbreakable"]);
    }
}
