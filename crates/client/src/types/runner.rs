//! Runners in JSON.

use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, ToView, Uint};
use super::spec::{KindName, names};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Height};
use remuda_protocol::registry::runner::{Membership, Offer, Profile, RateCard, Runner, Status};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

names! {
    /// Whether a runner wants work.
    RunnerStatusName for Status, "snake_case" { Active, Paused, Deregistered }
}

/// A runner: what it offers, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnerView {
    /// Its account.
    pub address: HexAddress,
    /// Its index in presence bitmaps.
    pub slot: u32,
    /// Its compressed public key.
    pub public_key: HexBytes,
    /// Whether it wants work.
    pub status: RunnerStatusName,
    /// Whether it can be drawn at all: active, not in jail, alive.
    pub healthy: bool,
    /// Whether the validators attest it.
    pub present: bool,
    /// Last sign of life.
    pub last_seen: Uint,
    /// What it can do and at what price.
    pub offer: OfferView,
    /// Pools that it was let into.
    pub pools: Vec<MembershipView>,
    /// Its own stake.
    pub stake: BigUint,
    /// Stake of its delegators.
    pub delegated: BigUint,
    /// Their shares.
    pub delegated_shares: BigUint,
    /// Own and delegated stake that is drawn by.
    pub effective_stake: BigUint,
    /// Stake on its way out.
    pub unbonding: BigUint,
    /// Stake that answers for bonded results.
    pub locked: BigUint,
    /// Its reputation, in nano points.
    pub reputation_nano: Uint,
    /// Failures since the last success.
    pub failures: u32,
    /// In jail until this height.
    pub jailed_until: Option<Uint>,
    /// Jail terms in a row.
    pub jail_terms: u32,
    /// Jobs it sits on.
    pub open_jobs: u32,
    /// Sum of their prices.
    pub open_value: BigUint,
    /// Last height at which its TEE measurement counts.
    pub tee_until: Option<Uint>,
    /// Heights of its recent crash attestations.
    pub crashes: Vec<Uint>,
}

/// The part of a profile that the runner itself sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OfferView {
    /// Kinds of work, ascending.
    pub kinds: Vec<KindName>,
    /// Language models it serves.
    pub models: Vec<String>,
    /// Executors it runs, by BLAKE3 hash.
    pub executors: Vec<HexHash>,
    /// Ethereum chains it sends to.
    pub eth_chains: Vec<Uint>,
    /// DNS resolvers it asks.
    pub resolvers: Vec<String>,
    /// Prices.
    pub rates: RatesView,
    /// Jobs at a time.
    pub max_concurrent_jobs: u32,
    /// The largest job value it declares.
    pub declared_max_job_value: BigUint,
    /// Whether it takes jobs with a price of 0.
    pub accepts_unpaid: bool,
    /// Its part of what its delegators earn, in bps.
    pub commission_bps: u16,
    /// Whether it takes work that its stake answers for.
    pub accept_bonded: bool,
}

/// Prices of a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RatesView {
    /// Per job.
    pub base: BigUint,
    /// Per second of the allowed wall time.
    pub per_second: BigUint,
    /// Per 1,000 input tokens allowed.
    pub per_1k_in: BigUint,
    /// Per 1,000 output tokens allowed.
    pub per_1k_out: BigUint,
}

/// Membership in a runner pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MembershipView {
    /// keccak256 of the pool's id.
    pub pool: HexHash,
    /// First height at which it counts.
    pub valid_from: Uint,
    /// Last height at which it counts.
    pub valid_until: Uint,
}

/// Some of all runners, ascending by address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnersPage {
    /// The height that all of this is from.
    pub height: Uint,
    /// The runners.
    pub runners: Vec<RunnerView>,
    /// Ask with `after` set to this for more; none on the last page.
    pub next: Option<HexAddress>,
}

impl RunnerView {
    /// The runner after the block of `height`.
    pub fn new(
        address: Address,
        profile: &Profile,
        runner: &Runner,
        height: Height,
        params: &ChainParams,
    ) -> Self {
        let candidacy = runner.candidacy_now();
        Self {
            address: HexAddress(address),
            slot: runner.slot.to_view(),
            public_key: profile.public_key.to_view(),
            status: runner.status.into(),
            healthy: candidacy.healthy(height, params.heartbeat_timeout_blocks),
            present: runner.present,
            last_seen: runner.last_seen.to_view(),
            offer: profile.offer.to_view(),
            pools: profile.pools.to_view(),
            stake: runner.stake.to_view(),
            delegated: runner.delegated.amount.to_view(),
            delegated_shares: runner.delegated.shares.to_view(),
            effective_stake: runner.effective_stake().to_view(),
            unbonding: runner.unbonding.amount().to_view(),
            locked: runner.locked.to_view(),
            reputation_nano: runner.reputation.nano().to_view(),
            failures: runner.failures,
            jailed_until: runner.jailed_until.to_view(),
            jail_terms: runner.jail_terms,
            open_jobs: runner.open_jobs,
            open_value: runner.open_value.to_view(),
            tee_until: runner.tee_until.to_view(),
            crashes: runner.crashes.to_view(),
        }
    }
}

impl From<&Offer> for OfferView {
    fn from(offer: &Offer) -> Self {
        offer.to_view()
    }
}

impl ToView for Offer {
    type View = OfferView;
    fn to_view(&self) -> OfferView {
        OfferView {
            kinds: self.kinds.to_view(),
            models: self.models.clone(),
            executors: self.executors.to_view(),
            eth_chains: self.eth_chains.to_view(),
            resolvers: self.resolvers.clone(),
            rates: self.rates.to_view(),
            max_concurrent_jobs: self.max_concurrent_jobs,
            declared_max_job_value: self.declared_max_job_value.to_view(),
            accepts_unpaid: self.accepts_unpaid,
            commission_bps: self.commission_bps,
            accept_bonded: self.accept_bonded,
        }
    }
}

impl ToView for RateCard {
    type View = RatesView;
    fn to_view(&self) -> RatesView {
        RatesView {
            base: self.base.to_view(),
            per_second: self.per_second.to_view(),
            per_1k_in: self.per_1k_in.to_view(),
            per_1k_out: self.per_1k_out.to_view(),
        }
    }
}

impl ToView for Membership {
    type View = MembershipView;
    fn to_view(&self) -> MembershipView {
        MembershipView {
            pool: self.pool.to_view(),
            valid_from: self.valid_from.to_view(),
            valid_until: self.valid_until.to_view(),
        }
    }
}
