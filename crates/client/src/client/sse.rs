//! Reading server-sent events: bytes in, messages out.
//!
//! No socket here, and a limit on what a message may hold before it is complete.

use thiserror::Error;

/// A message may be this long. A full block of events is about a MiB.
const MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) event: String,
    pub(super) id: Option<String>,
    pub(super) data: String,
}

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum SseError {
    #[error("a message of more than {MESSAGE_BYTES_MAX} bytes")]
    TooLong,
    #[error("the stream is not UTF-8")]
    NotText,
}

/// What is read so far.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    /// The last line ended with CR; a LF that follows belongs to it.
    after_cr: bool,
    message: Message,
    has_data: bool,
}

impl Parser {
    /// Takes bytes; appends the messages that are complete to `out`.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<Message>) -> Result<(), SseError> {
        for byte in bytes {
            let skip = *byte == b'\n' && self.after_cr;
            self.after_cr = *byte == b'\r';
            match byte {
                b'\n' if skip => {}
                b'\n' | b'\r' => self.end_line(out)?,
                _ => self.line.push(*byte),
            }
            if self.line.len() + self.message.data.len() > MESSAGE_BYTES_MAX {
                return Err(SseError::TooLong);
            }
        }
        Ok(())
    }

    fn end_line(&mut self, out: &mut Vec<Message>) -> Result<(), SseError> {
        let line = core::mem::take(&mut self.line);
        let line = core::str::from_utf8(&line).map_err(|_| SseError::NotText)?;
        if line.is_empty() {
            let message = core::mem::take(&mut self.message);
            if core::mem::take(&mut self.has_data) {
                out.push(message);
            }
            return Ok(());
        }
        // A line that starts with a colon is a comment: its field has no name.
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.message.event),
            "id" => self.message.id = Some(value.to_owned()),
            "data" => {
                if self.has_data {
                    self.message.data.push('\n');
                }
                self.message.data.push_str(value);
                self.has_data = true;
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<Message> {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        for chunk in chunks {
            parser.push(chunk, &mut out).unwrap();
        }
        out
    }

    fn message(event: &str, id: Option<&str>, data: &str) -> Message {
        Message { event: event.into(), id: id.map(Into::into), data: data.into() }
    }

    #[test]
    fn a_message_survives_any_cut() {
        let text = b": comment\r\nevent: block\nid: 7\ndata: {\"a\":\ndata: 1}\n\nevent: end\r\rdata:x\r\n\r\n";
        let whole = read(&[text]);
        assert_eq!(whole, [message("block", Some("7"), "{\"a\":\n1}"), message("", None, "x")]);
        for cut in 0..text.len() {
            assert_eq!(read(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn an_unfinished_message_is_not_given_out() {
        assert!(read(&[b"data: 1\n"]).is_empty());
        assert!(read(&[b"event: block\n\n"]).is_empty(), "no data, no message");
    }

    #[test]
    fn a_message_without_end_is_refused_before_it_fills_the_memory() {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        let chunk = vec![b'x'; 1024 * 1024];
        let result: Result<(), SseError> = (0..40).try_for_each(|_| parser.push(&chunk, &mut out));
        assert_eq!(result, Err(SseError::TooLong));
    }
}
