//! Text becomes HTML here, and nowhere else.
//!
//! Only literals go in as they are. Whatever has been anywhere near a job, a submitter or a worker is
//! escaped, inside of elements and of quoted attributes alike.

use std::fmt::Display;

/// A piece of a page.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    pub(super) fn text(&mut self, text: impl Display) -> &mut Self {
        escape(&mut self.0, &text.to_string());
        self
    }

    /// Anybody's text, if there is one.
    pub(super) fn some(&mut self, text: Option<impl Display>) -> &mut Self {
        match text {
            Some(text) => self.text(text),
            None => self,
        }
    }

    /// A moment, if there is one; it is never broken over two lines.
    pub(super) fn moment(&mut self, text: Option<impl Display>) -> &mut Self {
        match text {
            Some(text) => self.raw("<time>").text(text).raw("</time>"),
            None => self,
        }
    }

    pub(super) fn add(&mut self, piece: Markup) -> &mut Self {
        self.0.push_str(&piece.0);
        self
    }

    /// A link to a path and what is shown of it.
    pub(super) fn link(&mut self, path: impl Display, text: impl Display) -> &mut Self {
        self.raw("<a href=\"").text(path).raw("\">").text(text).raw("</a>")
    }

    /// A state or a status, in the colour of what it means.
    pub(super) fn state(&mut self, state: impl Display) -> &mut Self {
        let state = state.to_string();
        let class = match state.as_str() {
            "SUCCEEDED" => "<span class=\"good\">",
            "FAILED" | "TIMED_OUT" => "<span class=\"bad\">",
            "CANCELED" | "STALE" | "CANCEL_REQUESTED" => "<span class=\"dim\">",
            "QUEUED" => "<span>",
            _ => "<span class=\"busy\">",
        };
        self.raw(class).text(state).raw("</span>")
    }

    pub(super) fn done(self) -> String {
        self.0
    }
}

fn escape(out: &mut String, text: &str) {
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // Progress bars write over their line; here each state has its own.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            // No terminal reads this, but what turns the direction of writing round makes one
            // name look like another.
            c if c.is_control() => out.push('\u{fffd}'),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_place() {
        let mut page = Markup::default();
        page.raw("<p title=\"").text("\" onload='x").raw("\">").text("<script>&</script>");
        let page = page.done();
        assert_eq!(page, "<p title=\"&quot; onload=&#39;x\">&lt;script&gt;&amp;&lt;/script&gt;");
        let mut page = Markup::default();
        page.text("a\r\nb\rc\x1b[2J\u{202e}d");
        assert_eq!(page.done(), "a\nb\nc\u{fffd}[2J\u{fffd}d");
    }
}
