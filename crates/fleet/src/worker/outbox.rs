//! The unacknowledged part of a log, and where to resume after an interruption.

use crate::message::{CHUNK_BYTES_MAX, LogAck};

/// Buffered bytes at which the job must wait.
pub(super) const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A log from its first unacknowledged byte.
#[derive(Debug, Default)]
pub struct Outbox {
    number: u64,
    offset: u64,
    waiting: Vec<u8>,
}

/// A chunk to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub number: u64,
    /// Offset of its first byte in the log.
    pub offset: u64,
    pub data: &'a [u8],
}

impl Outbox {
    pub fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// Whether the job must wait.
    pub fn full(&self) -> bool {
        self.waiting.len() >= WAITING_BYTES_MAX
    }

    /// Acknowledged bytes.
    pub fn sent(&self) -> u64 {
        self.offset
    }

    /// The next chunk: the same until it is acknowledged.
    pub fn next(&self) -> Option<Piece<'_>> {
        let data = &self.waiting[..self.waiting.len().min(CHUNK_BYTES_MAX)];
        (!data.is_empty()).then_some(Piece { number: self.number, offset: self.offset, data })
    }

    /// Drops what the orchestrator has. False: an impossible acknowledgement, of bytes that were dropped
    /// before or never written.
    pub fn acknowledge(&mut self, ack: &LogAck) -> bool {
        let gone =
            ack.next_offset.checked_sub(self.offset).and_then(|gone| usize::try_from(gone).ok());
        let Some(gone) = gone.filter(|gone| *gone <= self.waiting.len()) else { return false };
        self.waiting.drain(..gone);
        self.offset = ack.next_offset;
        self.number = ack.next_number;
        true
    }

    /// Drops the rest: the orchestrator refuses it.
    pub fn discard(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::LeaseId;

    fn ack(next_number: u64, next_offset: u64) -> LogAck {
        let lease_id = LeaseId::new("lease_1").expect("an id");
        LogAck { lease_id, accepted: true, next_number, next_offset }
    }

    #[test]
    fn a_piece_is_sent_until_it_is_acknowledged() {
        let mut outbox = Outbox::default();
        assert_eq!(outbox.next(), None);
        outbox.push(b"one");
        assert_eq!(outbox.next(), Some(Piece { number: 0, offset: 0, data: b"one" }));
        outbox.push(b"two");
        // The first chunk was stored and its acknowledgement lost; meanwhile the chunk grew.
        assert_eq!(outbox.next(), Some(Piece { number: 0, offset: 0, data: b"onetwo" }));
        assert!(outbox.acknowledge(&ack(1, 3)));
        assert_eq!(outbox.next(), Some(Piece { number: 1, offset: 3, data: b"two" }));
        assert!(outbox.acknowledge(&ack(2, 6)));
        assert_eq!((outbox.next(), outbox.sent()), (None, 6));
    }

    #[test]
    fn impossible_log_acks_are_ignored() {
        let mut outbox = Outbox::default();
        outbox.push(b"one");
        assert!(!outbox.acknowledge(&ack(1, 4)));
        assert!(outbox.acknowledge(&ack(1, 3)));
        assert!(!outbox.acknowledge(&ack(0, 2)));
        assert_eq!(outbox.sent(), 3);
    }
}
