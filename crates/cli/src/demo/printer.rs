//! How the story is printed: titles, lines, and reasons below them.

use crate::style::{Style, Tone};
use std::io::{self, Write};

/// Columns that a line of the story may take.
const WIDTH: usize = 100;
/// Columns before the text of a line.
const INDENT: usize = 7;

/// Writes lines. After a failed write it is silent.
pub(in crate::demo) struct Printer {
    out: Box<dyn Write>,
    colours: bool,
    result: io::Result<()>,
}

impl Printer {
    pub(in crate::demo) fn stdout() -> Self {
        let colours = Style::stdout().colours;
        Self { out: Box::new(io::stdout()), colours, result: Ok(()) }
    }

    pub(in crate::demo) fn silent() -> Self {
        Self { out: Box::new(io::sink()), colours: false, result: Ok(()) }
    }

    pub(in crate::demo) fn title(&mut self, text: &str) {
        self.line("");
        self.paint(Tone::Title, "", text);
    }

    /// Why it did. The dot tells reasons from events where there are no colours.
    pub(in crate::demo) fn why(&mut self, text: &str) {
        self.wrapped(Tone::Why, "     · ", text);
    }

    pub(in crate::demo) fn line(&mut self, text: &str) {
        self.paint(Tone::Plain, "", text);
    }

    pub(in crate::demo) fn paint(&mut self, tone: Tone, before: &str, text: &str) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_asked_and_no_word_is_lost() {
        let text = "one two three four five six seven";
        let lines = wrap(text, 9);
        assert!(lines.iter().all(|line| line.len() <= 9));
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrap("unbreakable", 3), ["unbreakable"]);
    }
}
