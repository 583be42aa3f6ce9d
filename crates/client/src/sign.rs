//! From an instruction to a signed transaction.
//!
//! The node says the nonce and what a unit costs; limits follow from the protocol's own price list.
//! Nothing here talks to a node: [`Client::quote`](crate::client::Client::quote) asks it, and the
//! node's own faucet knows the answers already.

use crate::types::{AccountView, StatusView};
use remuda_protocol::codec::Encode;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::deposit::{price_of, state_bytes};
use remuda_protocol::execute::intrinsic;
use remuda_protocol::fees::{Basefees, Bid};
use remuda_protocol::primitives::TxHash;
use remuda_protocol::transaction::{Instruction, SignedTransaction, Transaction, tx_hash};

/// Cycles beyond the price list: lists of candidates that a job has to build, a timed-out job that
/// is drawn again. What is not used is not paid.
pub const SPARE_CYCLES: u64 = 20_000;
/// Cycles per byte of a transaction that carries results, where nobody says what the job compares. A
/// runner knows, and says.
pub const JUDGING_CYCLES_PER_BYTE: u64 = 20;
/// The basefee rises by at most an eighth per block: twice of it holds for five full blocks.
const FEE_HEADROOM: u128 = 2;
/// The proposer's part of the basefee.
const TIP_DIVISOR: u128 = 10;

/// What a transaction needs to know of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub chain_id: u64,
    /// Nonce of the sender's next transaction.
    pub nonce: u64,
    /// What the next block asks.
    pub basefees: Basefees,
    /// What 1,024 bytes that stay in the state are held against; 0 if the sender leaves nothing there.
    pub state_deposit_per_kib: u128,
}

impl Quote {
    /// From what a node says about itself and the sender.
    pub fn new(status: &StatusView, account: &AccountView) -> Self {
        let basefees = Basefees { cycle: status.basefees.cycle.0, cell: status.basefees.cell.0 };
        Self {
            chain_id: status.chain_id.0,
            nonce: account.next_nonce.0,
            basefees,
            state_deposit_per_kib: status.state_deposit_per_kib.0,
        }
    }

    /// The quote for the transaction after this one.
    pub fn next(self) -> Self {
        Self { nonce: self.nonce.saturating_add(1), ..self }
    }

    /// A transaction with limits to spare, fees that survive a few full blocks, and the deposit that
    /// its records need at most.
    pub fn transaction(&self, instruction: Instruction) -> Transaction {
        self.transaction_with(instruction, None)
    }

    /// The same, with cycles beyond the price list from somebody who knows what they are for.
    pub fn transaction_with(&self, instruction: Instruction, spare: Option<u64>) -> Transaction {
        let bid = |basefee: u128| Bid {
            max_fee: basefee.saturating_mul(FEE_HEADROOM),
            max_priority: basefee / TIP_DIVISOR,
        };
        let mut body = Transaction {
            chain_id: self.chain_id,
            nonce: self.nonce,
            cycles_limit: 0,
            cells_limit: 0,
            cycle_bid: bid(self.basefees.cycle),
            cell_bid: bid(self.basefees.cell),
            max_deposit: price_of(self.state_deposit_per_kib, state_bytes(&instruction)),
            instruction,
        };
        let size = body.to_bytes().len() + SignedTransaction::SIGNATURE_BYTES;
        let least = intrinsic(&body.instruction, size);
        let spare = spare.unwrap_or_else(|| spare_cycles(&body.instruction, size));
        body.cycles_limit = least.cycles.saturating_add(spare);
        body.cells_limit = least.cells;
        body
    }

    pub fn sign(&self, key: &SecretKey, instruction: Instruction) -> Signed {
        Signed::new(&self.transaction(instruction).sign(key))
    }
}

fn spare_cycles(instruction: &Instruction, size: usize) -> u64 {
    match instruction {
        Instruction::RevealResult { .. }
        | Instruction::RevealAggregate { .. }
        | Instruction::SubmitResult { .. } => JUDGING_CYCLES_PER_BYTE * size as u64 + SPARE_CYCLES,
        _ => SPARE_CYCLES,
    }
}

/// A signed transaction as it travels, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    pub bytes: Vec<u8>,
    pub hash: TxHash,
}

impl Signed {
    pub fn new(transaction: &SignedTransaction) -> Self {
        let bytes = transaction.to_bytes();
        Self { hash: tx_hash(&bytes), bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_protocol::codec::Decode;
    use remuda_protocol::primitives::{Address, Amount};

    const QUOTE: Quote = Quote {
        chain_id: 7,
        nonce: 3,
        basefees: Basefees { cycle: 1_000, cell: 2_000 },
        state_deposit_per_kib: 1_024_000,
    };

    #[test]
    fn limits_cover_the_price_list() {
        let instruction = Instruction::Transfer { to: Address::ZERO, amount: Amount::CBY };
        let signed = QUOTE.sign(&SecretKey::from_label("a"), instruction.clone());
        let body = SignedTransaction::from_bytes(&signed.bytes).unwrap().body;
        let least = intrinsic(&instruction, signed.bytes.len());
        assert_eq!(body.cells_limit, least.cells);
        assert!(body.cycles_limit >= least.cycles);
        assert_eq!((body.chain_id, body.nonce), (7, 3));
        assert_eq!(body.cycle_bid.tip(1_000), Some(100));
        assert_eq!(QUOTE.next().nonce, 4);
        assert_eq!(body.max_deposit, Amount::ZERO, "a transfer leaves nothing in the state");
    }

    #[test]
    fn the_deposit_covers_the_code_that_is_deployed() {
        let code = "x = 1\n".repeat(1_000);
        let deploy = |code| Instruction::DeployActor {
            salt: Default::default(),
            code,
            payload: Default::default(),
            value: Amount::ZERO,
        };
        let body = QUOTE.transaction(deploy(code.clone()));
        assert!(body.max_deposit > Amount(1_000 * code.len() as u128));
    }
}
