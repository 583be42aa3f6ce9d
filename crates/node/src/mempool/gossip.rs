//! What nodes tell each other about waiting transactions.
//!
//! Consensus: validators of one network must run the same version.
//!
//! A message comes from a stranger: its size, its count and its total are checked before anything
//! is allocated for them. What is inside a transaction is the pool's business.

use remuda_protocol::codec::{Bytes, Decode, DecodeError, Encode, Reader};
use thiserror::Error;

pub const MESSAGE_TRANSACTIONS: usize = 256;
/// Bytes of all transactions in a message: as many as the largest that any chain may allow.
pub const MESSAGE_TRANSACTION_BYTES: usize = 1 << 20;
/// Bytes of a message: the tag, the count, and a length before each transaction.
pub const MESSAGE_BYTES: usize = 1 + 4 + 4 * MESSAGE_TRANSACTIONS + MESSAGE_TRANSACTION_BYTES;

const TAG_TRANSACTIONS: u8 = 1;

/// A message on the gossip channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GossipMessage {
    /// Transactions that the sender holds for good.
    Transactions(Vec<Bytes>),
}

/// Why a message is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GossipError {
    #[error("a message is at most {MESSAGE_BYTES} bytes, not {0}")]
    TooLong(usize),
    /// No transactions, or too many.
    #[error("a message holds 1 to {MESSAGE_TRANSACTIONS} transactions, not {0}")]
    WrongCount(u32),
    /// Too much in one message.
    #[error("the transactions of a message take at most {MESSAGE_TRANSACTION_BYTES} bytes")]
    TooManyBytes,
    #[error("the message is malformed: {0}")]
    Malformed(#[from] DecodeError),
}

impl GossipMessage {
    /// Distributes transactions over as few messages as their order allows. One that is too large
    /// for any message is left out; no pool holds such a one.
    pub fn pack(transactions: impl IntoIterator<Item = Bytes>) -> Vec<Self> {
        let mut messages = Vec::new();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        let fitting = |transaction: &Bytes| transaction.len() <= MESSAGE_TRANSACTION_BYTES;
        for transaction in transactions.into_iter().filter(fitting) {
            let full = batch.len() == MESSAGE_TRANSACTIONS
                || bytes + transaction.len() > MESSAGE_TRANSACTION_BYTES;
            if full {
                messages.push(Self::Transactions(core::mem::take(&mut batch)));
                bytes = 0;
            }
            bytes += transaction.len();
            batch.push(transaction);
        }
        if !batch.is_empty() {
            messages.push(Self::Transactions(batch));
        }
        messages
    }

    /// The message as it travels.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self::Transactions(transactions) = self;
        let mut out = vec![TAG_TRANSACTIONS];
        transactions.encode(&mut out);
        out
    }

    /// Reads a message from a peer.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, GossipError> {
        if bytes.len() > MESSAGE_BYTES {
            return Err(GossipError::TooLong(bytes.len()));
        }
        let mut input = Reader::new(bytes);
        let message = match u8::decode(&mut input)? {
            TAG_TRANSACTIONS => Self::Transactions(transactions(&mut input)?),
            tag => return Err(DecodeError::UnknownTag(tag, "GossipMessage").into()),
        };
        match input.remaining() {
            0 => Ok(message),
            rest => Err(DecodeError::TrailingBytes(rest).into()),
        }
    }
}

fn transactions(input: &mut Reader<'_>) -> Result<Vec<Bytes>, GossipError> {
    let count = u32::decode(input)?;
    if count == 0 || count as usize > MESSAGE_TRANSACTIONS {
        return Err(GossipError::WrongCount(count));
    }
    let mut room = MESSAGE_TRANSACTION_BYTES;
    let mut transactions = Vec::new();
    for _ in 0..count {
        let length = input.count()?;
        room = room.checked_sub(length).ok_or(GossipError::TooManyBytes)?;
        transactions.push(Bytes::from(input.take(length)?));
    }
    Ok(transactions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(transactions: &[&[u8]]) -> GossipMessage {
        GossipMessage::Transactions(transactions.iter().map(|bytes| Bytes::from(*bytes)).collect())
    }

    #[test]
    fn the_encoding_is_tag_count_and_lengths() {
        let bytes = message(&[b"ab", b""]).to_bytes();
        assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0, 0, 2, b'a', b'b', 0, 0, 0, 0]);
        assert_eq!(GossipMessage::from_bytes(&bytes), Ok(message(&[b"ab", b""])));
    }

    #[test]
    fn every_cut_and_every_extra_byte_is_refused() {
        let bytes = message(&[b"ab", b"cde"]).to_bytes();
        for end in 0..bytes.len() {
            let refused = GossipMessage::from_bytes(&bytes[..end]);
            assert!(matches!(refused, Err(GossipError::Malformed(_))), "{end}: {refused:?}");
        }
        let longer = [&bytes[..], &[0]].concat();
        let refused = GossipMessage::from_bytes(&longer);
        assert_eq!(refused, Err(GossipError::Malformed(DecodeError::TrailingBytes(1))));
    }

    #[test]
    fn an_unknown_tag_is_refused() {
        let refused = GossipMessage::from_bytes(&[2, 0, 0, 0, 1]);
        let tag = DecodeError::UnknownTag(2, "GossipMessage");
        assert_eq!(refused, Err(GossipError::Malformed(tag)));
    }

    #[test]
    fn limits_hold_whatever_the_message_claims() {
        let claim = |count: u32| [&[1][..], &count.to_be_bytes()].concat();
        for count in [0, 257, u32::MAX] {
            let refused = GossipMessage::from_bytes(&claim(count));
            assert_eq!(refused, Err(GossipError::WrongCount(count)));
        }
        let long = vec![1; MESSAGE_BYTES + 1];
        assert_eq!(GossipMessage::from_bytes(&long), Err(GossipError::TooLong(MESSAGE_BYTES + 1)));
        let half = vec![0; MESSAGE_TRANSACTION_BYTES / 2];
        assert!(GossipMessage::from_bytes(&message(&[&half, &half]).to_bytes()).is_ok());
        let over = message(&[&half, &half, b"x"]).to_bytes();
        assert_eq!(GossipMessage::from_bytes(&over), Err(GossipError::TooManyBytes));
    }

    #[test]
    fn the_largest_transaction_and_the_longest_list_fit() {
        let largest = message(&[&vec![7; MESSAGE_TRANSACTION_BYTES]]);
        assert_eq!(GossipMessage::from_bytes(&largest.to_bytes()), Ok(largest));
        let longest = message(&[&b"x"[..]; MESSAGE_TRANSACTIONS]);
        assert_eq!(GossipMessage::from_bytes(&longest.to_bytes()), Ok(longest));
    }

    proptest! {
        #[test]
        fn packing_keeps_order_and_every_message_is_taken(
            sizes in proptest::collection::vec(0usize..40_000, 0..600)
        ) {
            let all: Vec<Bytes> = sizes.iter().map(|size| Bytes(vec![1; *size])).collect();
            let mut unpacked = Vec::new();
            for message in GossipMessage::pack(all.clone()) {
                let GossipMessage::Transactions(some) =
                    GossipMessage::from_bytes(&message.to_bytes()).expect("within the limits");
                unpacked.extend(some);
            }
            prop_assert!(unpacked == all);
        }

        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(message) = GossipMessage::from_bytes(&bytes) {
                prop_assert_eq!(message.to_bytes(), bytes);
            }
        }
    }
}
