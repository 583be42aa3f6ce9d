//! Server-sent events: the data of each, from pieces that break anywhere.

use thiserror::Error;

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 256 * 1024;

/// An event that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("event too large: more than {EVENT_BYTES_MAX} bytes")]
pub(super) struct TooLong;

#[derive(Default)]
pub(super) struct Events {
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// Data of the event that is not complete yet.
    data: Option<Vec<u8>>,
    /// The last byte was a carriage return, so a line feed ends no further line.
    returned: bool,
}

impl Events {
    /// Takes a piece, and gives the data of the events that it completes.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut complete = Vec::new();
        for &byte in piece {
            let follows = std::mem::replace(&mut self.returned, byte == b'\r');
            match byte {
                b'\n' if follows => {}
                b'\n' | b'\r' => complete.extend(self.end_line()),
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > EVENT_BYTES_MAX {
                return Err(TooLong);
            }
        }
        Ok(complete)
    }

    /// A blank line ends an event. Of the fields only `data` is of interest.
    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[][..],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            _ => return None,
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let data = pieces.iter().flat_map(|piece| events.feed(piece).unwrap());
        data.map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn events_are_read_wherever_pieces_break() {
        let text = ": hello\n\ndata: one\r\n\r\nevent: x\ndata:two\ndata: three\nid: 1\n\ndata\n\n\
                    data: four\r\rdataset: x\n\ndata: lost"
            .as_bytes();
        let expected = ["one", "two\nthree", "", "four"];
        assert_eq!(read(&[text]), expected);
        for at in 0..text.len() {
            assert_eq!(read(&[&text[..at], &text[at..]]), expected, "{at}");
        }
        assert_eq!(read(&text.chunks(1).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn an_event_has_an_end() {
        let mut events = Events::default();
        assert!(events.feed(&vec![b'x'; EVENT_BYTES_MAX]).is_ok());
        assert_eq!(events.feed(b"x"), Err(TooLong));
        let mut lines = Events::default();
        let line = [b"data: ".to_vec(), vec![b'x'; 1_000], b"\n".to_vec()].concat();
        assert!((0..300).any(|_| lines.feed(&line).is_err()));
    }
}
