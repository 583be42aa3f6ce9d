//! Who plays: five runners and one submitter.

use crate::format::short;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::local::PROPOSER;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::system::TREASURY;

/// What every runner owns before it stakes: the largest stake, and enough for fees.
const RUNNER_PURSE: Amount = Amount::cby(60_100);
/// What the submitter owns.
const SUBMITTER_PURSE: Amount = Amount::cby(10_000);

/// Unequal stakes: weights differ, and so does what a quarter of them is.
const RUNNERS: [(&str, Amount); 5] = [
    ("Ada", Amount::cby(20_000)),
    ("Bea", Amount::cby(30_000)),
    ("Cy", Amount::cby(40_000)),
    ("Dot", Amount::cby(50_000)),
    ("Eli", Amount::cby(60_000)),
];
const SUBMITTER: &str = "Fay";

/// Somebody with a key.
#[derive(Clone)]
pub(super) struct Person {
    pub(super) name: &'static str,
    pub(super) key: SecretKey,
    /// Money at genesis.
    pub(super) purse: Amount,
    /// What it stakes; nothing for the submitter.
    pub(super) stake: Amount,
}

impl Person {
    fn new(seed: &str, name: &'static str, purse: Amount, stake: Amount) -> Self {
        Self { name, key: SecretKey::from_label(&format!("{seed}/{name}")), purse, stake }
    }

    pub(super) fn address(&self) -> Address {
        self.key.address()
    }
}

/// Everybody.
pub(super) struct Cast {
    pub(super) runners: Vec<Person>,
    pub(super) submitter: Person,
}

impl Cast {
    /// Other seeds are other keys, so other addresses and job ids, so other draws.
    pub(super) fn new(seed: &str) -> Self {
        let runner = |(name, stake)| Person::new(seed, name, RUNNER_PURSE, stake);
        Self {
            runners: RUNNERS.into_iter().map(runner).collect(),
            submitter: Person::new(seed, SUBMITTER, SUBMITTER_PURSE, Amount::ZERO),
        }
    }

    fn everybody(&self) -> impl Iterator<Item = &Person> {
        self.runners.iter().chain([&self.submitter])
    }

    pub(super) fn purses(&self) -> Vec<(Address, Amount)> {
        self.everybody().map(|person| (person.address(), person.purse)).collect()
    }

    pub(super) fn runner(&self, address: Address) -> Option<&Person> {
        self.runners.iter().find(|person| person.address() == address)
    }

    /// What the story calls an address.
    pub(super) fn name(&self, address: Address) -> String {
        match self.everybody().find(|person| person.address() == address) {
            Some(person) => person.name.to_owned(),
            None if address == TREASURY => "the treasury".to_owned(),
            None if address == PROPOSER => "the proposer".to_owned(),
            None => short(address.as_slice()),
        }
    }

    /// "Ada, Bea and Cy".
    pub(super) fn names(&self, addresses: &[Address]) -> String {
        let names: Vec<String> = addresses.iter().map(|address| self.name(*address)).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            Some((only, _)) => only.clone(),
            None => "nobody".to_owned(),
        }
    }
}
