//! Tables and colours for a terminal; tabs and full values for everything else.

use std::fmt::Display;
use std::io::{self, IsTerminal};

/// How a text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    /// A reason, or a name beside its value.
    Why,
    Title,
}

impl Tone {
    /// Parameters of the terminal's "select graphic rendition"; none for plain text.
    pub(crate) fn escape(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Why => Some("2"),
            Self::Title => Some("1"),
        }
    }
}

/// For whom something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// A person looks at it now: columns, short hashes.
    pub(crate) terminal: bool,
    pub(crate) colours: bool,
}

impl Style {
    /// The style of standard output.
    pub(crate) fn stdout() -> Self {
        let terminal = io::stdout().is_terminal();
        Self { terminal, colours: terminal && colours_wanted() }
    }

    /// The text in the colour of its tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        match tone.escape().filter(|_| self.colours) {
            Some(escape) => format!("\x1b[{escape}m{text}\x1b[0m"),
            None => text.to_owned(),
        }
    }

    /// A hash or an address: the first bytes for eyes, all of them for programs.
    pub(crate) fn hex(self, bytes: impl AsRef<[u8]>) -> String {
        let bytes = bytes.as_ref();
        if self.terminal {
            crate::format::short(bytes)
        } else {
            alloy_primitives::hex::encode_prefixed(bytes)
        }
    }
}

/// <https://no-color.org>: set and not empty means no colours.
fn colours_wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A text without control characters. What is on chain was written by strangers, and a terminal
/// obeys some of what it is sent.
pub(crate) fn clean(text: &str) -> String {
    // Besides, what turns the direction of writing round: a name could read as another one.
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c }).collect()
}

/// A clean text of so many characters at most, and what stands for the rest.
pub(crate) fn clip(text: &str, chars_max: usize, rest: &str) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => clean(&text[..end]) + rest,
        None => clean(text),
    }
}

/// A text and how it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub(crate) fn new(tone: Tone, text: impl Display) -> Self {
        Self { text: clean(&text.to_string()), tone }
    }

    pub(crate) fn optional(text: Option<impl Display>) -> Self {
        text.map_or_else(|| "".into(), Self::from)
    }

    /// yes, which is good, or no, which is not.
    pub(crate) fn yes(yes: bool) -> Self {
        if yes { Self::new(Tone::Good, "yes") } else { Self::new(Tone::Bad, "no") }
    }
}

impl<T: Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(Tone::Plain, text)
    }
}

struct Column {
    head: Cell,
    numbers: bool,
    width: usize,
    cells: Vec<Cell>,
}

/// Columns under headings, with a row for each item of a list.
pub(crate) struct Table<'r, T> {
    rows: &'r [T],
    columns: Vec<Column>,
}

impl<'r, T> Table<'r, T> {
    pub(crate) fn of(rows: &'r [T]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds a column of words.
    pub(crate) fn left<C: Into<Cell>>(
        self,
        head: impl Into<String>,
        cell: impl FnMut(&'r T) -> C,
    ) -> Self {
        self.column(head.into(), false, cell)
    }

    /// Adds a column of numbers.
    pub(crate) fn right<C: Into<Cell>>(
        self,
        head: impl Into<String>,
        cell: impl FnMut(&'r T) -> C,
    ) -> Self {
        self.column(head.into(), true, cell)
    }

    fn column<C: Into<Cell>>(
        mut self,
        head: String,
        numbers: bool,
        mut cell: impl FnMut(&'r T) -> C,
    ) -> Self {
        let cells: Vec<Cell> = self.rows.iter().map(|row| cell(row).into()).collect();
        let head = Cell::from(head);
        let widths = cells.iter().chain([&head]).map(|cell| cell.text.chars().count());
        let width = widths.max().unwrap_or(0);
        self.columns.push(Column { head, numbers, width, cells });
        self
    }

    /// Aligned columns for a terminal, tabs for everything else.
    pub(crate) fn render(&self, style: Style) -> String {
        let heads = self.line(style, self.columns.iter().map(|column| &column.head));
        let mut text = style.paint(Tone::Title, &heads) + "\n";
        for row in 0..self.rows.len() {
            text += &self.line(style, self.columns.iter().map(|column| &column.cells[row]));
            text.push('\n');
        }
        text
    }

    fn line<'c>(&self, style: Style, cells: impl Iterator<Item = &'c Cell>) -> String {
        if !style.terminal {
            return cells.map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("\t");
        }
        let mut line = String::new();
        for (Column { numbers, width, .. }, Cell { text, tone }) in self.columns.iter().zip(cells) {
            let padded = match numbers {
                true => format!("{text:>width$}"),
                false => format!("{text:<width$}"),
            };
            // Escapes go around what is padded: they have no width.
            line += "  ";
            line += &style.paint(*tone, &padded);
        }
        line.trim_end().to_owned()
    }
}

/// Names and their values, one pair on each line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Card {
    lines: Vec<(String, Cell)>,
}

impl Card {
    pub(crate) fn add(&mut self, name: &str, value: impl Into<Cell>) {
        self.lines.push((name.to_owned(), value.into()));
    }

    pub(crate) fn render(&self, style: Style) -> String {
        let width = self.lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, Cell { text: value, tone }) in &self.lines {
            if style.terminal {
                let name = style.paint(Tone::Why, &format!("{name:<width$}"));
                text += &format!("  {name}  {}\n", style.paint(*tone, value));
            } else {
                text += &format!("{name}\t{value}\n");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Style = Style { terminal: false, colours: false };
    const SCREEN: Style = Style { terminal: true, colours: false };

    fn table(style: Style) -> String {
        let stake = |text: &str| match text {
            "7" => text.into(),
            _ => Cell::new(Tone::Good, text),
        };
        Table::of(&[("Ada", "1,000"), ("Beatrix", "7")])
            .left("name", |row| row.0)
            .right("stake", |row| stake(row.1))
            .render(style)
    }

    #[test]
    fn terminals_get_columns_and_pipes_get_tabs() {
        assert_eq!(table(SCREEN), "  name     stake\n  Ada      1,000\n  Beatrix      7\n");
        assert_eq!(table(PIPE), "name\tstake\nAda\t1,000\nBeatrix\t7\n");
    }

    #[test]
    fn colours_do_not_move_columns() {
        let style = Style { terminal: true, colours: true };
        let mut plain = table(style);
        for escape in ["\x1b[1m", "\x1b[32m", "\x1b[0m"] {
            assert!(plain.contains(escape));
            plain = plain.replace(escape, "");
        }
        assert_eq!(plain, table(SCREEN));
    }

    #[test]
    fn strangers_cannot_steer_the_terminal() {
        let mut card = Card::default();
        card.add("model", "\x1b[2J\u{9b}evil\n\tname");
        assert_eq!(card.render(PIPE), "model\t\u{fffd}[2J\u{fffd}evil\u{fffd}\u{fffd}name\n");
    }

    #[test]
    fn pipes_get_whole_hashes() {
        assert_eq!(PIPE.hex([0xab; 6]), "0xabababababab");
        assert_eq!(SCREEN.hex([0xab; 6]), "0xabababab…");
    }
}
