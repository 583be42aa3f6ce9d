//! Where all the money is: the invariant of SPEC §7.
//!
//! Local: a change here needs no agreement among validators. It checks a state and changes none.

use crate::base::account::Account;
use crate::base::codec::Decode;
use crate::base::primitives::Amount;
use crate::base::state::read;
use crate::chain::memory::MemoryState;
use crate::rules::actors::record::{Actor, Frame, Wait};
use crate::rules::callback::DeferredCall;
use crate::rules::dispatcher::job::Job;
use crate::rules::entitlements::record::{Assignment, Entitlement, Namespace, Role, RunnerPool};
use crate::rules::key::{
    AccountKey, ActorKey, AssignmentKey, BondKey, CallKey, EntitlementKey, FrameKey, JobKey,
    NamespaceKey, PoolKey, ProfileKey, RoleKey, RunnerKey, SupplyKey, TimerKey, WaitKey,
};
use crate::rules::registry::runner::{Profile, Runner};
use crate::rules::registry::versioned::Versioned;
use crate::rules::timers::record::Timer;
use crate::rules::tip::Supply;
use crate::rules::verifier::challenge::Bond;

/// All money, by where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Accounts, the treasury's among them.
    pub balances: Amount,
    /// Own, delegated and unbonding stake.
    pub stakes: Amount,
    /// Prices, tips and prepaid callbacks of jobs that are not over; what queued and waiting calls hold.
    pub escrows: Amount,
    pub bonds: Amount,
    /// What records are held against.
    pub deposits: Amount,
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
            WaitKey::TAG => {
                let wait = decode::<Wait>(value);
                bucket(&mut self.escrows, wait.deposit);
                bucket(&mut self.deposits, wait.held);
            }
            BondKey::TAG => {
                if let Some(challenge) = decode::<Bond>(value).trial {
                    bucket(&mut self.bonds, challenge.bond);
                }
            }
            _ => bucket(&mut self.deposits, deposit_of(tag, value)),
        }
    }

    pub fn total(&self) -> Amount {
        [self.balances, self.stakes, self.escrows, self.bonds, self.deposits].into_iter().sum()
    }
}

/// What a record is held against.
fn deposit_of(tag: u8, value: &[u8]) -> Amount {
    match tag {
        ActorKey::TAG => decode::<Actor>(value).held.amount(),
        ProfileKey::TAG => decode::<Versioned<Profile>>(value).current().held.amount(),
        FrameKey::TAG => decode::<Frame>(value).held,
        TimerKey::TAG => decode::<Timer>(value).deposit,
        EntitlementKey::TAG => decode::<Entitlement>(value).deposit,
        PoolKey::TAG => decode::<RunnerPool>(value).deposit,
        NamespaceKey::TAG => decode::<Namespace>(value).deposit,
        RoleKey::TAG => decode::<Role>(value).deposit,
        AssignmentKey::TAG => decode::<Assignment>(value).deposit,
        _ => Amount::ZERO,
    }
}

fn decode<T: Decode>(bytes: &[u8]) -> T {
    T::from_bytes(bytes).expect("the state holds encodings")
}

/// What the chain says there is.
pub fn recorded(state: &MemoryState) -> Supply {
    read(state, &SupplyKey {}).unwrap_or_default()
}
