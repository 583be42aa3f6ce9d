//! Tables and colours for a terminal; tabs and full values for everything else.

use std::io::{self, IsTerminal};

/// How a text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Something happened.
    Plain,
    /// Something good for somebody.
    Good,
    /// Something bad for somebody.
    Bad,
    /// A reason, or a name beside its value.
    Why,
    /// A heading.
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
    /// And likes colours.
    pub(crate) colours: bool,
}

impl Style {
    /// For whoever reads standard output.
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

/// A text and how it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub(crate) fn new(tone: Tone, text: impl AsRef<str>) -> Self {
        Self { text: clean(text.as_ref()), tone }
    }

    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self::new(Tone::Plain, text)
    }

    /// yes, which is good, or no, which is not.
    pub(crate) fn yes(yes: bool) -> Self {
        if yes { Self::new(Tone::Good, "yes") } else { Self::new(Tone::Bad, "no") }
    }
}

/// Where a column's texts stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows under headings.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(heads: &[(&str, Align)]) -> Self {
        let heads = heads.iter().map(|(head, align)| ((*head).to_owned(), *align)).collect();
        Self { heads, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Lines for whom the style is for.
    pub(crate) fn render(&self, style: Style) -> String {
        if style.terminal { self.aligned(style.colours) } else { self.tabbed() }
    }

    /// Columns as wide as their widest text.
    pub(crate) fn aligned(&self, colours: bool) -> String {
        let style = Style { terminal: true, colours };
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widths = cells.map(|cell| cell.text.chars().count());
            widths.chain([self.heads[column].0.chars().count()]).max().unwrap_or(0)
        };
        let columns: Vec<(usize, Align)> =
            (0..self.heads.len()).map(|i| (width(i), self.heads[i].1)).collect();
        let heads: Vec<Cell> = self.heads.iter().map(|(head, _)| Cell::plain(head)).collect();
        let mut text = style.paint(Tone::Title, &line(&heads, &columns, style));
        for row in &self.rows {
            text.push('\n');
            text += &line(row, &columns, style);
        }
        text.push('\n');
        text
    }

    fn tabbed(&self) -> String {
        let heads: Vec<&str> = self.heads.iter().map(|(head, _)| head.as_str()).collect();
        let mut text = heads.join("\t");
        for row in &self.rows {
            let cells: Vec<&str> = row.iter().map(|cell| cell.text.as_str()).collect();
            text.push('\n');
            text += &cells.join("\t");
        }
        text.push('\n');
        text
    }
}

/// One line of padded cells. Escapes are put around what is padded: they have no width.
fn line(cells: &[Cell], columns: &[(usize, Align)], style: Style) -> String {
    let mut text = String::new();
    for (cell, (width, align)) in cells.iter().zip(columns) {
        let Cell { text: cell, tone } = cell;
        let padded = match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        };
        text += "  ";
        text += &style.paint(*tone, &padded);
    }
    text.trim_end().to_owned()
}

/// Names and their values, one pair on each line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Card {
    lines: Vec<(String, Cell)>,
}

impl Card {
    pub(crate) fn add(&mut self, name: &str, value: impl AsRef<str>) {
        self.put(name, Cell::plain(value));
    }

    pub(crate) fn put(&mut self, name: &str, value: Cell) {
        self.lines.push((name.to_owned(), value));
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

    fn table() -> Table {
        let mut table = Table::new(&[("name", Align::Left), ("stake", Align::Right)]);
        table.row([Cell::plain("Ada"), Cell::new(Tone::Good, "1,000")]);
        table.row([Cell::plain("Beatrix"), Cell::plain("7")]);
        table
    }

    #[test]
    fn terminals_get_columns_and_pipes_get_tabs() {
        assert_eq!(
            table().render(SCREEN),
            "  name     stake\n  Ada      1,000\n  Beatrix      7\n"
        );
        assert_eq!(table().render(PIPE), "name\tstake\nAda\t1,000\nBeatrix\t7\n");
    }

    #[test]
    fn colours_do_not_move_columns() {
        let style = Style { terminal: true, colours: true };
        let mut plain = table().render(style);
        for escape in ["\x1b[1m", "\x1b[32m", "\x1b[0m"] {
            assert!(plain.contains(escape));
            plain = plain.replace(escape, "");
        }
        assert_eq!(plain, table().render(SCREEN));
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
