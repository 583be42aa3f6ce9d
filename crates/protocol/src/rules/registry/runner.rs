//! A runner: what it offers, and where it stands.

use crate::base::codec::{codec_enum, codec_struct};
use crate::base::crypto::PublicKey;
use crate::base::primitives::{Address, Amount, B256, Height, Slot};
use crate::rules::deposit::Held;
use crate::rules::registry::kind::JobKind;
use crate::rules::registry::pool::Pool;
use crate::rules::registry::reputation::Reputation;
use crate::rules::registry::unbonding::Unbonding;
use crate::rules::registry::versioned::{Stamp, Versioned};

/// What a runner says about itself. Changes rarely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub public_key: PublicKey,
    /// Its index in presence bitmaps.
    pub slot: Slot,
    /// What it can do and at what price.
    pub offer: Offer,
    /// Pools that it was let into, ascending.
    pub pools: Vec<Membership>,
    /// Against what the offer is held. Older versions do not count.
    pub held: Held,
}
codec_struct!(Profile { public_key, slot, offer, pools, held });

/// The part of a profile that the runner itself sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub kinds: Vec<JobKind>,
    pub models: Vec<String>,
    /// Executors it runs, by BLAKE3 hash.
    pub executors: Vec<B256>,
    /// Ethereum chains it sends to.
    pub eth_chains: Vec<u64>,
    /// DNS resolvers it asks, all different.
    pub resolvers: Vec<String>,
    pub rates: RateCard,
    pub max_concurrent_jobs: u32,
    /// The largest job value it declares; its stake covers 1.5 times that.
    pub declared_max_job_value: Amount,
    /// Whether it takes jobs with a price of 0.
    pub accepts_unpaid: bool,
    /// Its part of what its delegators earn, in bps.
    pub commission_bps: u16,
    /// Whether it takes work that its stake answers for.
    pub accept_bonded: bool,
}
codec_struct!(Offer {
    kinds,
    models,
    executors,
    eth_chains,
    resolvers,
    rates,
    max_concurrent_jobs,
    declared_max_job_value,
    accepts_unpaid,
    commission_bps,
    accept_bonded,
});

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateCard {
    pub base: Amount,
    /// Per second of the allowed wall time.
    pub per_second: Amount,
    /// Per 1,000 input tokens allowed.
    pub per_1k_in: Amount,
    /// Per 1,000 output tokens allowed.
    pub per_1k_out: Amount,
}
codec_struct!(RateCard { base, per_second, per_1k_in, per_1k_out });

/// Membership in a runner pool (SPEC §10): what selection reads of a record of the Entitlement
/// Registry, which writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Membership {
    /// keccak256 of the pool's id.
    pub pool: B256,
    /// First height at which it counts.
    pub valid_from: Height,
    /// Last height at which it counts.
    pub valid_until: Height,
}
codec_struct!(Membership { pool, valid_from, valid_until });

/// The part of an offer that jobs need at every turn, kept where reading it is cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    pub max_concurrent_jobs: u32,
    /// Its part of what its delegators earn, in bps.
    pub commission_bps: u16,
    /// Own stake at least.
    pub stake_floor: Amount,
    /// Since when these hold.
    pub since: Height,
}
codec_struct!(Terms { max_concurrent_jobs, commission_bps, stake_floor, since });

/// Whether a runner wants work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Active,
    Paused,
    /// It has left. Its reputation stays for when it returns.
    Deregistered,
}
codec_enum!(Status { 1 => Active {}, 2 => Paused {}, 3 => Deregistered {} });

/// The present or last holder of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRecord {
    pub runner: Address,
    /// When it left. A runner that returns gets another slot.
    pub vacated: Option<Height>,
}
codec_struct!(SlotRecord { runner, vacated });

/// Where a runner stands. Changes often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// Its index in presence bitmaps.
    pub slot: Slot,
    pub status: Status,
    /// The few words of its offer that every job needs.
    pub terms: Terms,
    pub stake: Amount,
    pub delegated: Pool,
    /// Unbonding stake, own and delegated: no longer drawn by, still slashed for what began
    /// before it left.
    pub unbonding: Unbonding,
    /// Stake that answers for bonded results.
    pub locked: Amount,
    pub reputation: Reputation,
    /// Failures since the last success.
    pub failures: u32,
    /// In jail until this height.
    pub jailed_until: Option<Height>,
    /// Jail terms in a row, each inside the memory of the one before.
    pub jail_terms: u32,
    /// Start of the last jail term.
    pub jailed_at: Height,
    /// Whether the newest presence certificates attest it.
    pub present: bool,
    /// Last sign of life: a heartbeat, or the block up to which it was present.
    pub last_seen: Height,
    pub open_jobs: u32,
    pub open_value: Amount,
    /// Last height at which its TEE measurement counts.
    pub tee_until: Option<Height>,
    /// Epoch in which it last used its crash exemption.
    pub exempted_in: Option<u64>,
    /// Heights of its recent crash attestations.
    pub crashes: Vec<Height>,
    /// What selection reads of all this.
    pub candidacy: Versioned<Candidacy>,
}
codec_struct!(Runner {
    slot,
    status,
    terms,
    stake,
    delegated,
    unbonding,
    locked,
    reputation,
    failures,
    jailed_until,
    jail_terms,
    jailed_at,
    present,
    last_seen,
    open_jobs,
    open_value,
    tee_until,
    exempted_in,
    crashes,
    candidacy,
});

impl Runner {
    /// Own stake and active delegations.
    pub fn effective_stake(&self) -> Amount {
        Amount(self.stake.get() + self.delegated.amount.get())
    }

    /// A runner that has just come, without stake.
    pub fn newcomer(slot: Slot, terms: Terms, height: Height, now: Stamp) -> Self {
        Self {
            slot,
            status: Status::Active,
            terms,
            stake: Amount::ZERO,
            delegated: Pool::default(),
            unbonding: Unbonding::default(),
            locked: Amount::ZERO,
            reputation: Reputation::new(height.get()),
            failures: 0,
            jailed_until: None,
            jail_terms: 0,
            jailed_at: height,
            present: false,
            last_seen: height,
            open_jobs: 0,
            open_value: Amount::ZERO,
            tee_until: None,
            exempted_in: None,
            crashes: Vec::new(),
            candidacy: Versioned::new(Candidacy::NOBODY, now),
        }
    }

    pub fn candidacy_now(&self) -> Candidacy {
        Candidacy {
            effective_stake: self.effective_stake(),
            reputation_nano: self.reputation.nano(),
            open_jobs: self.open_jobs,
            open_value: self.open_value,
            locked: self.locked,
            available: self.status == Status::Active && self.jailed_until.is_none(),
            present: self.present,
            last_seen: self.last_seen,
            tee_until: self.tee_until,
        }
    }
}

/// The part of a runner's standing that selection reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidacy {
    /// Own stake and active delegations.
    pub effective_stake: Amount,
    pub reputation_nano: u64,
    pub open_jobs: u32,
    pub open_value: Amount,
    /// Stake that answers for bonded results.
    pub locked: Amount,
    /// Neither paused, jailed nor deregistered.
    pub available: bool,
    pub present: bool,
    pub last_seen: Height,
    /// Last height at which its TEE measurement counts.
    pub tee_until: Option<Height>,
}
codec_struct!(Candidacy {
    effective_stake,
    reputation_nano,
    open_jobs,
    open_value,
    locked,
    available,
    present,
    last_seen,
    tee_until,
});

impl Candidacy {
    pub const NOBODY: Self = Self {
        effective_stake: Amount::ZERO,
        reputation_nano: 0,
        open_jobs: 0,
        open_value: Amount::ZERO,
        locked: Amount::ZERO,
        available: false,
        present: false,
        last_seen: Height::ZERO,
        tee_until: None,
    };

    /// Filter 1: not paused, jailed or deregistered, and alive.
    pub fn healthy(&self, height: Height, heartbeat_timeout_blocks: u64) -> bool {
        self.available && (self.present || self.last_seen.plus(heartbeat_timeout_blocks) >= height)
    }
}
