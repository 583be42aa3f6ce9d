//! A runner in a file: its stake and its offer.

use crate::failure::Failure;
use crate::session::read_input;
use remuda_client::amount::Money;
use remuda_client::types::{HexHash, KindName, Uint};
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::primitives::{Amount, B256};
use remuda_protocol::registry::register::validate_offer;
use remuda_protocol::registry::runner::{Offer, RateCard};
use serde::Deserialize;
use std::path::Path;

/// Shown by `--help`; a test reads it.
pub(super) const EXAMPLE: &str = r#"Examples:
  $ remuda runner register my-runner/runner.toml --key my-runner/runner.key
  $ cat runner.json
  {
    "stake": "15000cby",
    "offer": {
      "kinds": ["Http", "Llm"],
      "models": ["llama-3-8b"],
      "rates": {"base": "0.001cby", "per_second": "0", "per_1k_in": "0", "per_1k_out": "0"},
      "max_concurrent_jobs": 8,
      "declared_max_job_value": "1000cby"
    }
  }
  $ remuda runner register runner.json --key runner.key

Amounts are like 1.5cby, or else in base units, of which a CBY has 1000000000. A stake is at least 10000 CBY on most chains, and 1.5
times declared_max_job_value. Kinds are Llm, Http, Mcp, EthSend and Custom. What else there is, with
its default: models [], executors [], eth_chains [], resolvers [], rates 0, accepts_unpaid false,
accept_bonded false, commission_bps 0."#;

/// The whole file. A field that does not exist is refused: a misspelt price must not become 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunnerFile {
    #[serde(default)]
    stake: Option<Money>,
    offer: OfferFile,
}

/// What the runner offers; like `OfferView`, but what has a default may be left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfferFile {
    kinds: Vec<KindName>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    executors: Vec<HexHash>,
    #[serde(default)]
    eth_chains: Vec<Uint>,
    #[serde(default)]
    resolvers: Vec<String>,
    #[serde(default)]
    rates: RatesFile,
    max_concurrent_jobs: u32,
    #[serde(default)]
    declared_max_job_value: Money,
    #[serde(default)]
    accepts_unpaid: bool,
    #[serde(default)]
    commission_bps: u16,
    #[serde(default)]
    accept_bonded: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RatesFile {
    base: Money,
    per_second: Money,
    per_1k_in: Money,
    per_1k_out: Money,
}

impl RunnerFile {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        Self::from_json(&read_input(path)?)
    }

    fn from_json(bytes: &[u8]) -> Result<Self, Failure> {
        serde_json::from_slice(bytes).map_err(|error| Failure::Offer(error.to_string()))
    }

    pub(super) fn stake(&self) -> Result<Amount, Failure> {
        let missing =
            || Failure::Offer("`stake` is missing; write it like \"15000cby\"".to_owned());
        self.stake.map(|Money(stake)| stake).ok_or_else(missing)
    }

    /// The offer, if the rules take it. The chain wants lists in order; a file need not be.
    pub(super) fn offer(&self) -> Result<Offer, Failure> {
        let file = self.offer.clone();
        let offer = Offer {
            kinds: sorted(file.kinds.into_iter().map(JobKind::from).collect()),
            models: sorted(file.models),
            executors: sorted(file.executors.into_iter().map(|hash| hash.0).collect::<Vec<B256>>()),
            eth_chains: sorted(file.eth_chains.into_iter().map(|chain| chain.0).collect()),
            resolvers: sorted(file.resolvers),
            rates: rates(file.rates),
            max_concurrent_jobs: file.max_concurrent_jobs,
            declared_max_job_value: file.declared_max_job_value.0,
            accepts_unpaid: file.accepts_unpaid,
            commission_bps: file.commission_bps,
            accept_bonded: file.accept_bonded,
        };
        validate_offer(&offer)?;
        Ok(offer)
    }
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

fn rates(file: RatesFile) -> RateCard {
    RateCard {
        base: file.base.0,
        per_second: file.per_second.0,
        per_1k_in: file.per_1k_in.0,
        per_1k_out: file.per_1k_out.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_protocol::error::Refusal;

    #[test]
    fn the_example_in_the_help_is_one() {
        let start = EXAMPLE.find('{').unwrap();
        let end = EXAMPLE.rfind("  $ remuda").unwrap();
        let file = RunnerFile::from_json(&EXAMPLE.as_bytes()[start..end]).unwrap();
        assert_eq!(file.stake().unwrap(), Amount::cby(15_000));
        let offer = file.offer().unwrap();
        assert_eq!(offer.kinds, [JobKind::Llm, JobKind::Http], "in the order of the chain");
        assert_eq!(offer.rates.base, Amount(1_000_000));
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let json = br#"{"offer":{"kinds":["Http"],"max_concurrent_jobs":1,"accept_unpaid":true}}"#;
        let error = RunnerFile::from_json(json).unwrap_err().to_string();
        assert!(error.contains("accept_unpaid"), "{error}");
    }

    #[test]
    fn what_the_chain_would_refuse_is_refused_before_it_costs_a_fee() {
        let refusal = |json: &str| match RunnerFile::from_json(json.as_bytes()).unwrap().offer() {
            Err(Failure::Rules(refusal)) => Some(refusal),
            _ => None,
        };
        assert_eq!(
            refusal(r#"{"offer":{"kinds":[],"max_concurrent_jobs":1}}"#),
            Some(Refusal::NoKinds)
        );
        let twice = r#"{"offer":{"kinds":["Http","Http"],"max_concurrent_jobs":1}}"#;
        assert_eq!(refusal(twice), Some(Refusal::OfferNotDistinct));
    }

    #[test]
    fn only_joining_needs_a_stake() {
        let json = br#"{"offer":{"kinds":["Http"],"max_concurrent_jobs":1}}"#;
        let file = RunnerFile::from_json(json).unwrap();
        assert!(file.offer().is_ok());
        assert!(matches!(file.stake(), Err(Failure::Offer(_))));
    }
}
