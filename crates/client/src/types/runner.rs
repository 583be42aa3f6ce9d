//! Runners in JSON.

use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint};
use super::spec::KindName;
use super::view::{ToView, names, view};
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
    pub address: HexAddress,
    /// Its index in presence bitmaps.
    pub slot: u32,
    /// Compressed secp256k1 key.
    pub public_key: HexBytes,
    pub status: RunnerStatusName,
    /// Whether it can be drawn at all: active, not in jail, alive.
    pub healthy: bool,
    /// Whether the validators attest it.
    pub present: bool,
    /// Height of its last sign of life.
    pub last_seen: Uint,
    /// What it can do and at what price.
    pub offer: OfferView,
    /// Pools that it was let into.
    pub pools: Vec<MembershipView>,
    pub stake: BigUint,
    /// Stake of its delegators.
    pub delegated: BigUint,
    /// Shares of the delegated stake.
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
    /// Jobs with a seat of this runner.
    pub open_jobs: u32,
    /// Sum of the prices of its open jobs.
    pub open_value: BigUint,
    /// Last height at which its TEE measurement counts.
    pub tee_until: Option<Uint>,
    /// Heights of its recent crash attestations.
    pub crashes: Vec<Uint>,
}

view! {
    /// The part of a profile that the runner itself sets.
    pub struct OfferView of Offer {
        /// Kinds of work, ascending.
        kinds: Vec<KindName>,
        /// Language models it serves.
        models: Vec<String>,
        /// Executors it runs, by BLAKE3 hash.
        executors: Vec<HexHash>,
        /// Ethereum chains it sends to.
        eth_chains: Vec<Uint>,
        /// DNS resolvers it asks.
        resolvers: Vec<String>,
        rates: RatesView,
        /// Most jobs at a time.
        max_concurrent_jobs: u32,
        /// The largest job value it declares.
        declared_max_job_value: BigUint,
        /// Whether it takes jobs with a price of 0.
        accepts_unpaid: bool,
        /// Its part of what its delegators earn, in bps.
        commission_bps: u16,
        /// Whether it takes work that its stake answers for.
        accept_bonded: bool,
    }
}

view! {
    /// Prices of a runner.
    #[derive(Copy)]
    pub struct RatesView of RateCard {
        /// Per job.
        base: BigUint,
        /// Per second of the allowed wall time.
        per_second: BigUint,
        /// Per 1,000 input tokens allowed.
        per_1k_in: BigUint,
        /// Per 1,000 output tokens allowed.
        per_1k_out: BigUint,
    }
}

view! {
    /// Membership in a runner pool.
    #[derive(Copy)]
    pub struct MembershipView of Membership {
        /// keccak256 of the pool's id.
        pool: HexHash,
        /// First height at which it counts.
        valid_from: Uint,
        /// Last height at which it counts.
        valid_until: Uint,
    }
}

/// Some of all runners, ascending by address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnersPage {
    /// The height that all of this is from.
    pub height: Uint,
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
