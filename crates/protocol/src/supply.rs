//! Where all the money is: the invariant of SPEC §7.

use crate::account::Account;
use crate::actors::record::Wait;
use crate::callback::DeferredCall;
use crate::chain::Supply;
use crate::codec::Decode;
use crate::dispatcher::job::Job;
use crate::key::{AccountKey, BondKey, CallKey, JobKey, RunnerKey, SupplyKey, WaitKey};
use crate::primitives::Amount;
use crate::registry::runner::Runner;
use crate::state::{MemoryState, read};
use crate::verifier::challenge::Bond;

/// All money, by where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Accounts, the treasury's among them.
    pub balances: Amount,
    /// Own, delegated and unbonding stake.
    pub stakes: Amount,
    /// Prices, tips and prepaid callbacks of jobs that are not over; what queued and waiting calls hold.
    pub escrows: Amount,
    /// Bonds of challengers.
    pub bonds: Amount,
}

impl Holdings {
    /// Counts everything in a state. A walk over all of it: for tests, simulations and audits.
    pub fn count(state: &MemoryState) -> Self {
        let mut holdings = Self::default();
        for (key, value) in state.entries().iter() {
            holdings.add(key[0], value);
        }
        holdings
    }

    fn add(&mut self, tag: u8, value: &[u8]) {
        let bucket =
            |bucket: &mut Amount, amount: Amount| *bucket = [*bucket, amount].into_iter().sum();
        match tag {
            AccountKey::TAG => bucket(&mut self.balances, decode::<Account>(value).balance),
            RunnerKey::TAG => {
                let runner = decode::<Runner>(value);
                bucket(&mut self.stakes, runner.effective_stake());
                bucket(&mut self.stakes, runner.unbonding.amount());
            }
            JobKey::TAG => {
                let job = decode::<Job>(value);
                bucket(&mut self.escrows, job.escrow);
                bucket(&mut self.escrows, job.callback_deposit);
            }
            CallKey::TAG => {
                let call = decode::<DeferredCall>(value);
                bucket(&mut self.escrows, call.deposit);
                bucket(&mut self.escrows, call.value());
            }
            WaitKey::TAG => bucket(&mut self.escrows, decode::<Wait>(value).deposit),
            BondKey::TAG => {
                if let Some(challenge) = decode::<Bond>(value).trial {
                    bucket(&mut self.bonds, challenge.bond);
                }
            }
            _ => {}
        }
    }

    /// All of it.
    pub fn total(&self) -> Amount {
        [self.balances, self.stakes, self.escrows, self.bonds].into_iter().sum()
    }
}

fn decode<T: Decode>(bytes: &[u8]) -> T {
    T::from_bytes(bytes).expect("the state holds encodings")
}

/// What the chain says there is.
pub fn recorded(state: &MemoryState) -> Supply {
    read(state, &SupplyKey {}).unwrap_or_default()
}
