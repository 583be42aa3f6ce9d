//! One transaction that waits.

use super::outlay::Outlay;
use super::rank::{Offer, Rank};
use super::refusal::Refusal;
use remuda_protocol::codec::{Bytes, Decode};
use remuda_protocol::error::Inadmissible;
use remuda_protocol::execute::{Cost, check_bids, check_limits, deposit, intrinsic};
use remuda_protocol::fees::{Basefees, Lane};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, TxHash};
use remuda_protocol::transaction::SignedTransaction;

/// A transaction that waits for a block.
#[derive(Clone, Debug)]
pub struct Pooled {
    /// Its name.
    pub hash: TxHash,
    /// As it travels.
    pub bytes: Bytes,
    /// Who signed it.
    pub sender: Address,
    /// Its place among the sender's.
    pub nonce: u64,
    /// Whose cycles it draws on.
    pub lane: Lane,
    /// Cycles at most.
    pub cycles_limit: u64,
    /// Cells at most.
    pub cells_limit: u64,
    /// Money that it takes at most, as far as the transaction itself tells.
    pub cost: Amount,
    /// The state may add to the cost.
    pub(super) open_ended: bool,
    pub(super) offer: Offer,
    /// Which arrival it was.
    pub(super) arrival: u64,
    /// How many blocks the pool had seen then.
    pub(super) since: u64,
    /// On its own, at the basefees of the newest final block.
    pub(super) rank: Rank,
    /// The least rank up to here in its queue: it cannot run before the others have.
    pub(super) floor: Rank,
}

/// What the bytes alone say, before anybody knows who signed them.
pub(super) struct Unsigned {
    pub(super) signed: SignedTransaction,
    pub(super) offer: Offer,
    pub(super) cost: Amount,
    pub(super) open_ended: bool,
}

impl Unsigned {
    /// All checks that need neither the state nor the signer, by the protocol's own functions.
    pub(super) fn check(bytes: &[u8], params: &ChainParams) -> Result<Self, Refusal> {
        let signed = SignedTransaction::from_bytes(bytes).map_err(|_| Inadmissible::Malformed)?;
        let body = &signed.body;
        if body.chain_id != params.chain_id {
            return Err(Inadmissible::WrongChain.into());
        }
        check_bids(body)?;
        check_limits(body, bytes.len(), params)?;
        let floor = params.min_basefee;
        if body.cycle_bid.max_fee < floor || body.cell_bid.max_fee < floor {
            return Err(Refusal::FeeBelowFloor { floor });
        }
        let deposit = deposit(body).ok_or(Inadmissible::CostOverflow)?;
        let outlay = Outlay::of(body, params).ok_or(Inadmissible::CostOverflow)?;
        let cost = deposit.plus(outlay.known).ok_or(Inadmissible::CostOverflow)?;
        let least = intrinsic(&body.instruction, bytes.len());
        let limits = Cost { cycles: body.cycles_limit, cells: body.cells_limit };
        let offer = Offer { cycle: body.cycle_bid, cell: body.cell_bid, least, limits };
        Ok(Self { offer, cost, open_ended: outlay.open_ended, signed })
    }

    /// The signer. By far the dearest check.
    pub(super) fn signer(&self) -> Result<Address, Inadmissible> {
        let SignedTransaction { body, signature } = &self.signed;
        signature.recover_address(&body.digest()).map_err(|_| Inadmissible::BadSignature)
    }
}

impl Pooled {
    /// The tip at these basefees; see [`Offer::tip`].
    pub(super) fn tip(&self, basefees: &Basefees, params: &ChainParams) -> Option<u128> {
        self.offer.tip(basefees, params)
    }
}
