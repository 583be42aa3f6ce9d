//! What a pool holds at most. Numbers of this process: two nodes may well differ.

/// The limits of a pool. How large a transaction may be is the chain's parameter, not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub transactions: usize,
    pub bytes: usize,
    pub sender_transactions: usize,
    /// Bytes of one sender.
    pub sender_bytes: usize,
    /// A nonce must be less than the account's plus this. No more than `sender_transactions`, or a
    /// sender could fill its places with what cannot run and have none for what is missing.
    pub nonces_ahead: u64,
    /// By how much both fees of both bids must rise for a transaction to take the place of
    /// another, in parts of 100.
    pub replacement_percent: u128,
    /// Blocks after which a transaction is given up.
    pub age_blocks: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // About three full blocks of the cheapest transactions.
            transactions: 20_000,
            bytes: 64 << 20,
            sender_transactions: 64,
            // Eight of the largest.
            sender_bytes: 1 << 20,
            nonces_ahead: 64,
            replacement_percent: 10,
            age_blocks: 1_000,
        }
    }
}
