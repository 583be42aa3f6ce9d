//! The only place that makes HTML.
//!
//! Only literals are inserted raw. Everything else is escaped, in elements and in quoted attributes.

use std::fmt::Display;

/// A fragment of HTML.
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

    /// Untrusted text, if any.
    pub(super) fn some(&mut self, text: Option<impl Display>) -> &mut Self {
        match text {
            Some(text) => self.text(text),
            None => self,
        }
    }

    /// A time, if any, kept on one line.
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

    /// A link to a path.
    pub(super) fn link(&mut self, path: impl Display, text: impl Display) -> &mut Self {
        self.raw("<a href=\"").text(path).raw("\">").text(text).raw("</a>")
    }

    /// A state or status, coloured by meaning.
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
            // A progress bar overwrites its line: each version becomes a line.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            // Control characters that reverse text make one name look like another.
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
