//! What a runner may offer.

use crate::base::error::Refusal;
use crate::base::primitives::Amount;
use crate::rules::registry::kind::JobKind;
use crate::rules::registry::runner::{Offer, RateCard};

/// Items in each list of an offer.
const LIST_MAX: usize = 64;
/// Bytes of a name in an offer.
const NAME_BYTES_MAX: usize = 128;
/// Each price of a rate card. Far above the supply of any chain, far below an overflow.
const RATE_MAX: Amount = Amount(1_000_000_000_000_000_000_000_000_000);
const CONCURRENCY_MAX: u32 = 10_000;

/// Checks an offer by itself.
pub fn validate_offer(offer: &Offer) -> Result<(), Refusal> {
    if offer.kinds.is_empty() {
        return Err(Refusal::NoKinds);
    }
    let lists = [
        offer.kinds.len(),
        offer.models.len(),
        offer.executors.len(),
        offer.eth_chains.len(),
        offer.resolvers.len(),
    ];
    let names = offer.models.iter().chain(&offer.resolvers);
    if lists.iter().any(|n| *n > LIST_MAX)
        || names.clone().any(|name| name.is_empty() || name.len() > NAME_BYTES_MAX)
    {
        return Err(Refusal::OfferTooLarge);
    }
    let ascending = ascends(&offer.kinds)
        && ascends(&offer.models)
        && ascends(&offer.executors)
        && ascends(&offer.eth_chains)
        && ascends(&offer.resolvers);
    if !ascending {
        return Err(Refusal::OfferNotDistinct);
    }
    if offer.commission_bps > 10_000 {
        return Err(Refusal::BadCommission);
    }
    if offer.max_concurrent_jobs == 0 || offer.max_concurrent_jobs > CONCURRENCY_MAX {
        return Err(Refusal::NoCapacity);
    }
    let RateCard { base, per_second, per_1k_in, per_1k_out } = offer.rates;
    if [base, per_second, per_1k_in, per_1k_out].iter().any(|rate| *rate > RATE_MAX) {
        return Err(Refusal::PriceTooHigh);
    }
    Ok(())
}

fn ascends<T: PartialOrd>(list: &[T]) -> bool {
    list.windows(2).all(|pair| pair[0] < pair[1])
}

/// An offer of every kind of work, for tests and demonstrations.
pub fn plain_offer(kinds: &[JobKind]) -> Offer {
    Offer {
        kinds: kinds.to_vec(),
        models: Vec::new(),
        executors: Vec::new(),
        eth_chains: Vec::new(),
        resolvers: Vec::new(),
        rates: RateCard::default(),
        max_concurrent_jobs: 16,
        declared_max_job_value: Amount::ZERO,
        accepts_unpaid: false,
        commission_bps: 0,
        accept_bonded: false,
    }
}
