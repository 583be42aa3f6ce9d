//! Transactions that nobody signed, for tests of what comes after the door.

use super::pooled::Pooled;
use super::rank::{Offer, Rank};
use super::store::Store;
use remuda_protocol::codec::Bytes;
use remuda_protocol::execute::Cost;
use remuda_protocol::fees::{Basefees, Bid, Lane};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, keccak256};

pub(super) const FEES: Basefees = Basefees { cycle: 1_000, cell: 1_000 };

pub(super) fn sender(n: u8) -> Address {
    Address::repeat_byte(n)
}

pub(super) fn pooled(from: u8, nonce: u64, tip: u128, arrival: u64) -> Pooled {
    let bid = Bid { max_fee: 1_000 + tip, max_priority: tip };
    let least = Cost { cycles: 2_200, cells: 200 };
    let offer = Offer { cycle: bid, cell: bid, least, limits: least, on_duty: false };
    let rank = Rank::of(&offer, &FEES, &ChainParams::one_second());
    Pooled {
        hash: keccak256([&[from][..], &nonce.to_be_bytes(), &tip.to_be_bytes()].concat()),
        bytes: Bytes(vec![from; 100 + nonce as usize]),
        sender: sender(from),
        nonce,
        lane: Lane::User,
        of_runner: false,
        duty: None,
        cycles_limit: least.cycles,
        cells_limit: least.cells,
        cost: Amount(tip + 1),
        open_ended: false,
        offer,
        arrival,
        since: 0,
        rank,
        floor: rank,
    }
}

/// From senders, nonces and tips, in the order of their arrival.
pub(super) fn store<const N: usize>(contents: [(u8, u64, u128); N]) -> Store {
    let mut store = Store::default();
    for (arrival, (from, nonce, tip)) in (0..).zip(contents) {
        store.put(pooled(from, nonce, tip, arrival), 0);
    }
    store.assert_consistent();
    store
}
