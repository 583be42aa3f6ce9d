//! `remuda runner show`.

use super::list::state;
use crate::format::{cby, thousandths};
use crate::style::{Card, Cell, Style};
use remuda_client::types::{BigUint, RunnerView};
use remuda_protocol::primitives::Amount;

pub(super) fn render(runner: &RunnerView, style: Style) -> String {
    let money = |amount: BigUint| cby(Amount(amount.0));
    let list = |list: Vec<String>| {
        if list.is_empty() { "none".to_owned() } else { list.join(", ") }
    };
    let mut card = Card::default();
    card.add("runner", runner.address);
    card.add("slot", runner.slot);
    card.add("state", state(runner));
    card.add("present", Cell::yes(runner.present));
    card.add("last seen", format!("height {}", runner.last_seen));
    card.add("reputation", thousandths(runner.reputation_nano.0));
    card.add(
        "failures",
        format!("{} in a row, jailed {} times", runner.failures, runner.jail_terms),
    );
    card.add("own stake", money(runner.stake));
    card.add("delegated", money(runner.delegated));
    card.add("unbonding", money(runner.unbonding));
    card.add("locked", money(runner.locked));
    let offer = &runner.offer;
    let most = offer.max_concurrent_jobs;
    let value = money(runner.open_value);
    card.add("jobs", format!("{} of at most {most}, worth {value}", runner.open_jobs));
    card.add("kinds", list(offer.kinds.iter().map(|kind| format!("{kind:?}")).collect()));
    card.add("models", list(offer.models.clone()));
    card.add("executors", list(offer.executors.iter().map(ToString::to_string).collect()));
    card.add("eth chains", list(offer.eth_chains.iter().map(ToString::to_string).collect()));
    card.add("resolvers", list(offer.resolvers.clone()));
    let rates = offer.rates;
    card.add("price per job", money(rates.base));
    card.add("per second", money(rates.per_second));
    card.add(
        "per 1000 tokens",
        format!("{} in, {} out", money(rates.per_1k_in), money(rates.per_1k_out)),
    );
    card.add("largest job", money(offer.declared_max_job_value));
    card.add("unpaid work", if offer.accepts_unpaid { "yes" } else { "no" });
    card.add("bonded work", if offer.accept_bonded { "yes" } else { "no" });
    card.add("commission", format!("{} bps", offer.commission_bps));
    if let Some(until) = runner.tee_until {
        card.add("tee", format!("measured until {until}"));
    }
    card.render(style)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use remuda_client::types::{
        HexAddress, HexBytes, KindName, OfferView, RatesView, RunnerStatusName, Uint,
    };

    /// Nothing is wrong with it.
    pub(crate) fn runner() -> RunnerView {
        let none = BigUint(0);
        let stake = BigUint(15_000_000_000_000);
        let rates = RatesView {
            base: BigUint(1_000_000),
            per_second: none,
            per_1k_in: none,
            per_1k_out: none,
        };
        RunnerView {
            address: HexAddress::default(),
            slot: 3,
            public_key: HexBytes::default(),
            status: RunnerStatusName::Active,
            healthy: true,
            present: true,
            last_seen: Uint(17),
            offer: OfferView {
                kinds: vec![KindName::Http],
                models: vec!["evil\x1b[2J".to_owned()],
                executors: Vec::new(),
                eth_chains: Vec::new(),
                resolvers: Vec::new(),
                rates,
                max_concurrent_jobs: 8,
                declared_max_job_value: none,
                accepts_unpaid: false,
                commission_bps: 0,
                accept_bonded: false,
            },
            pools: Vec::new(),
            stake,
            delegated: none,
            delegated_shares: none,
            effective_stake: stake,
            unbonding: none,
            locked: none,
            reputation_nano: Uint(60_000_000_000),
            failures: 0,
            jailed_until: None,
            jail_terms: 0,
            open_jobs: 0,
            open_value: none,
            tee_until: None,
            crashes: Vec::new(),
        }
    }

    #[test]
    fn a_runner_shows_its_prices_and_cannot_steer_the_terminal() {
        let text = render(&runner(), Style { terminal: true, colours: false });
        assert!(text.contains("price per job    0.001 CBY"), "{text}");
        assert!(!text.contains('\x1b'));
    }
}
