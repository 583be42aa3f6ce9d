//! Who may be drawn for a job: the filters of SPEC §4, in their order.

use crate::base::codec::{Encode, codec_enum, codec_struct};
use crate::base::math::mul_div;
use crate::base::primitives::{Address, Amount, B256, BPS, Height, Slot, keccak256};
use crate::rules::dispatcher::committee::VerificationMode;
use crate::rules::dispatcher::judging::bonded_stake;
use crate::rules::dispatcher::spec::{JobSpec, JobType};
use crate::rules::dispatcher::trie::Leaf;
use crate::rules::params::ChainParams;
use crate::rules::registry::kind::JobKind;
use crate::rules::registry::runner::{Candidacy, Profile, RateCard};
use crate::rules::verifier::check::VerifierCheck;
use std::sync::Arc;

/// A runner as selection sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub address: Address,
    pub profile: Arc<Profile>,
    pub candidacy: Candidacy,
}

/// The numbers of the chain that filters and weights use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Filter 1.
    pub heartbeat_timeout_blocks: u64,
    /// Filter 2.
    pub min_reputation_nano: u64,
    /// Filter 8.
    pub min_stake: Amount,
    /// Least factor of reputation in a weight.
    pub weight_floor_nano: u64,
}

impl Rules {
    /// As the chain has them.
    pub fn of(params: &ChainParams) -> Self {
        Self {
            heartbeat_timeout_blocks: params.heartbeat_timeout_blocks,
            min_reputation_nano: params.min_reputation_nano,
            min_stake: Amount(params.min_stake),
            weight_floor_nano: params.w_min_floor_nano,
        }
    }
}

/// What a job asks of a runner that many jobs ask alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    pub kind: JobKind,
    /// The model, executor or chain that the kind names.
    pub target: Target,
    /// Resolvers that a DNS check needs.
    pub min_resolvers: u32,
    /// Needs a live TEE measurement.
    pub tee: bool,
    /// Needs membership in this pool.
    pub pool: Option<B256>,
    pub unpaid: bool,
    /// Stake answers for the result.
    pub bonded: bool,
}

codec_struct!(Class { kind, target, min_resolvers, tee, pool, unpaid, bonded });
codec_struct!(Quote { seconds, input_tokens, output_tokens, limit });
codec_struct!(Query { class, quote, value });
codec_enum!(Target {
    0 => Any {},
    1 => Model { name },
    2 => Executor { hash },
    3 => EthChain { id },
});

/// What a kind of work names besides itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Any,
    Model {
        name: String,
    },
    Executor {
        /// Its BLAKE3 hash.
        hash: B256,
    },
    EthChain {
        id: u64,
    },
}

/// What a job would cost a runner, and what it can pay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quote {
    pub seconds: u32,
    pub input_tokens: u32,
    pub output_tokens: u32,
    /// What one member of the committee earns at least.
    pub limit: Amount,
}

/// Everything that decides who may be drawn for a job, but for the exclusion list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Query {
    /// What many jobs ask alike.
    pub class: Class,
    /// Filter 5; none for unpaid work.
    pub quote: Option<Quote>,
    /// Filter 8: the price that a runner's stake has to cover.
    pub value: Amount,
}

/// A filter that a runner fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// 1: paused, jailed, gone, or silent.
    Health,
    /// 2.
    Reputation,
    /// 3.
    Capability,
    /// 4.
    Tee,
    /// 5: its price is above what the job pays, or it takes no unpaid work.
    Price,
    /// 6.
    Concurrency,
    /// 7.
    Pool,
    /// 8.
    Stake,
}

impl Query {
    /// The query of a job. `committee_bound` is the largest committee it can get.
    pub fn of(spec: &JobSpec, params: &ChainParams, committee_bound: u64) -> Self {
        let unpaid = spec.max_price.is_zero();
        Self {
            class: Class::of(spec, unpaid),
            quote: (!unpaid).then(|| Quote::of(spec, params, committee_bound)),
            value: value_to_cover(spec),
        }
    }

    /// The query of the judges of a bonded job's result: who would do the job itself at its price,
    /// of no pool, and with no stake to lock.
    pub fn of_judges(spec: &JobSpec, params: &ChainParams) -> Self {
        let mut query = Self::of(spec, params, 1);
        query.class.bonded = false;
        query.class.pool = None;
        query.value = spec.max_price;
        query
    }

    /// The query of its class alone: no price and no value excludes a runner.
    pub fn base(&self) -> Self {
        Self { class: self.class.clone(), quote: None, value: Amount::ZERO }
    }

    pub fn hash(&self) -> B256 {
        let mut bytes = b"cowboy-query-v1:".to_vec();
        self.encode(&mut bytes);
        keccak256(bytes)
    }

    /// The first filter that a runner fails, in the order of the rule.
    pub fn first_failed(&self, entry: &Entry, rules: &Rules, height: Height) -> Option<Filter> {
        let offer = &entry.profile.offer;
        let candidacy = &entry.candidacy;
        let filters = [
            (candidacy.healthy(height, rules.heartbeat_timeout_blocks), Filter::Health),
            (candidacy.reputation_nano >= rules.min_reputation_nano, Filter::Reputation),
            (self.class.capable(&entry.profile), Filter::Capability),
            (
                !self.class.tee || candidacy.tee_until.is_some_and(|until| until >= height),
                Filter::Tee,
            ),
            (!self.class.unpaid || offer.accepts_unpaid, Filter::Price),
            (!self.class.bonded || offer.accept_bonded, Filter::Stake),
            (self.quote.is_none_or(|quote| quote.pays(&offer.rates)), Filter::Price),
            (candidacy.open_jobs < offer.max_concurrent_jobs, Filter::Concurrency),
            (self.class.admits_member(&entry.profile, height), Filter::Pool),
            (covers(candidacy, rules, self.value), Filter::Stake),
        ];
        filters.iter().find(|(passed, _)| !passed).map(|(_, filter)| *filter)
    }

    /// Whether a runner passes all filters.
    pub fn admits(&self, entry: &Entry, rules: &Rules, height: Height) -> bool {
        self.first_failed(entry, rules, height).is_none()
    }
}

impl Class {
    fn of(spec: &JobSpec, unpaid: bool) -> Self {
        let target = match &spec.job_type {
            JobType::Llm { model, .. } => Target::Model { name: model.clone() },
            JobType::EthSend { chain_id, .. } => Target::EthChain { id: *chain_id },
            JobType::Custom { executor_hash, .. } => Target::Executor { hash: *executor_hash },
            JobType::Http { .. } | JobType::Mcp { .. } => Target::Any,
        };
        Self {
            kind: spec.job_type.kind(),
            target,
            min_resolvers: min_resolvers(&spec.verification.checks),
            tee: spec.tee_required,
            pool: spec.required_runner_pool.as_ref().map(|id| keccak256(&id[..])),
            unpaid,
            bonded: spec.verification.mode == VerificationMode::EconomicBond,
        }
    }

    fn capable(&self, profile: &Profile) -> bool {
        let offer = &profile.offer;
        let target = match &self.target {
            Target::Any => true,
            Target::Model { name } => offer.models.contains(name),
            Target::Executor { hash } => offer.executors.contains(hash),
            Target::EthChain { id } => offer.eth_chains.contains(id),
        };
        target
            && offer.kinds.contains(&self.kind)
            && offer.resolvers.len() >= self.min_resolvers as usize
    }

    fn admits_member(&self, profile: &Profile, height: Height) -> bool {
        self.pool.is_none_or(|pool| {
            profile.pools.iter().any(|membership| {
                membership.pool == pool
                    && (membership.valid_from..=membership.valid_until).contains(&height)
            })
        })
    }
}

/// The price of which a runner needs 1.5 times in free stake. For a bonded job, that is all the stake that
/// it locks.
fn value_to_cover(spec: &JobSpec) -> Amount {
    match spec.verification.mode {
        VerificationMode::EconomicBond => {
            let thirds = bonded_stake(spec).get().saturating_mul(2);
            Amount(thirds.div_ceil(3))
        }
        _ => spec.max_price,
    }
}

/// Resolvers that a runner needs for the DNS checks of a job.
fn min_resolvers(checks: &[VerifierCheck]) -> u32 {
    let needed = checks.iter().map(|check| match check {
        VerifierCheck::DnsTxtRecordMatch { min_resolvers, .. }
        | VerifierCheck::DnsCnameMatch { min_resolvers, .. } => *min_resolvers,
        _ => 0,
    });
    needed.max().unwrap_or(0)
}

impl Quote {
    fn of(spec: &JobSpec, params: &ChainParams, committee_bound: u64) -> Self {
        let share = u128::from(params.payout_runners_bps - params.aggregator_bonus_bps);
        let gross = spec.max_price.get().saturating_add(spec.tip.get());
        let earned = mul_div(gross, share, BPS).unwrap_or(0) / u128::from(committee_bound.max(1));
        Self {
            seconds: spec.bounds.max_wall_time_seconds,
            input_tokens: spec.bounds.max_input_tokens,
            output_tokens: spec.bounds.max_output_tokens,
            limit: Amount(earned),
        }
    }

    /// Whether the job pays a runner's price. Rates are capped at registration, so that this
    /// cannot overflow.
    pub fn pays(&self, rates: &RateCard) -> bool {
        let per = |rate: Amount, units: u32| rate.get().saturating_mul(u128::from(units));
        let price = rates
            .base
            .get()
            .saturating_add(per(rates.per_second, self.seconds))
            .saturating_add(per(rates.per_1k_in, self.input_tokens) / 1_000)
            .saturating_add(per(rates.per_1k_out, self.output_tokens) / 1_000);
        price <= self.limit.get()
    }
}

/// The largest price that a runner's stake still covers beside its open jobs; none if it does not
/// even cover those, or is below the minimum.
pub fn coverage(candidacy: &Candidacy, rules: &Rules) -> Option<Amount> {
    let stake = candidacy.effective_stake;
    if stake < rules.min_stake {
        return None;
    }
    // 1.5 · value ≤ stake that is not locked, in integers: value ≤ floor(2 · stake / 3).
    stake.minus(candidacy.locked)?.scale(2, 3)?.minus(candidacy.open_value)
}

fn covers(candidacy: &Candidacy, rules: &Rules, value: Amount) -> bool {
    coverage(candidacy, rules).is_some_and(|coverage| coverage >= value)
}

impl Entry {
    pub fn slot(&self) -> Slot {
        self.profile.slot
    }

    /// The candidate that it makes. Weights fit: genesis caps the supply.
    pub fn leaf(&self, rules: &Rules) -> Leaf {
        let weight = crate::rules::dispatcher::weight::weight(
            self.candidacy.effective_stake.get(),
            self.candidacy.reputation_nano,
            rules.weight_floor_nano,
        );
        Leaf {
            address: self.address,
            slot: self.slot(),
            weight: weight.expect("the supply is capped so that weights fit"),
        }
    }

    /// Whether it can be drawn for anything: the filters that no job changes and no block but
    /// one that writes the runner.
    pub fn drawable(&self, rules: &Rules) -> bool {
        let candidacy = &self.candidacy;
        candidacy.available
            && candidacy.reputation_nano >= rules.min_reputation_nano
            && candidacy.open_jobs < self.profile.offer.max_concurrent_jobs
            && coverage(candidacy, rules).is_some()
    }

    /// The next height at which a filter may turn without a write to the runner.
    pub fn next_turn(&self, rules: &Rules, height: Height) -> Option<Height> {
        let candidacy = &self.candidacy;
        let silence = candidacy.last_seen.plus(rules.heartbeat_timeout_blocks).plus(1);
        let tee = candidacy.tee_until.map(|until| until.plus(1));
        let pools = self.profile.pools.iter().flat_map(|m| [m.valid_from, m.valid_until.plus(1)]);
        (!candidacy.present)
            .then_some(silence)
            .into_iter()
            .chain(tee)
            .chain(pools)
            .filter(|turn| *turn > height)
            .min()
    }
}
