//! What of a log is still to be sent, and where it goes on after a break.

use crate::message::{CHUNK_BYTES_MAX, LogAck};

/// Bytes that wait at most. A job that writes faster than its log can be sent waits too.
pub(super) const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A log from the first byte that the orchestrator does not have.
#[derive(Debug, Default)]
pub struct Outbox {
    number: u64,
    offset: u64,
    waiting: Vec<u8>,
}

/// A piece that can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub number: u64,
    /// Bytes before it.
    pub offset: u64,
    /// The bytes.
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

    /// Bytes that the orchestrator has.
    pub fn sent(&self) -> u64 {
        self.offset
    }

    /// What to send next; the same again until it is acknowledged.
    pub fn next(&self) -> Option<Piece<'_>> {
        let data = &self.waiting[..self.waiting.len().min(CHUNK_BYTES_MAX)];
        (!data.is_empty()).then_some(Piece { number: self.number, offset: self.offset, data })
    }

    /// What the orchestrator has, by its own words. False: words that cannot be true, since they
    /// speak of bytes that were given up or never written.
    pub fn acknowledge(&mut self, ack: &LogAck) -> bool {
        let gone =
            ack.next_offset.checked_sub(self.offset).and_then(|gone| usize::try_from(gone).ok());
        let Some(gone) = gone.filter(|gone| *gone <= self.waiting.len()) else { return false };
        self.waiting.drain(..gone);
        self.offset = ack.next_offset;
        self.number = ack.next_number;
        true
    }

    /// No more is sent: the orchestrator does not want it.
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
        // The first was sent and kept, its answer lost; now there is more in the same place.
        assert_eq!(outbox.next(), Some(Piece { number: 0, offset: 0, data: b"onetwo" }));
        assert!(outbox.acknowledge(&ack(1, 3)));
        assert_eq!(outbox.next(), Some(Piece { number: 1, offset: 3, data: b"two" }));
        assert!(outbox.acknowledge(&ack(2, 6)));
        assert_eq!((outbox.next(), outbox.sent()), (None, 6));
    }

    #[test]
    fn words_that_cannot_be_true_change_nothing() {
        let mut outbox = Outbox::default();
        outbox.push(b"one");
        assert!(!outbox.acknowledge(&ack(1, 4)));
        assert!(outbox.acknowledge(&ack(1, 3)));
        assert!(!outbox.acknowledge(&ack(0, 2)));
        assert_eq!(outbox.sent(), 3);
    }
}
