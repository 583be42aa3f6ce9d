//! Compares the registration on chain with the settings.
//!
//! The chain draws a runner by its registered offer, and the daemon follows its settings. If they differ, the
//! runner is drawn for jobs that it refuses, which costs reputation, or not drawn at all.

use remuda_client::money::InCby;
use remuda_client::types::{BigUint, OfferView, RunnerStatusName, RunnerView};
use remuda_protocol::primitives::Amount;
use std::fmt::{Debug, Display};

/// Names that a difference lists.
const NAMED_MAX: usize = 4;

/// Files for the commands in messages to the operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    pub(crate) settings: String,
    pub(crate) key: String,
}

impl Commands {
    fn with_settings(&self, verb: &str) -> String {
        format!("remuda runner {verb} {} --key {}", self.settings, self.key)
    }

    fn resume(&self) -> String {
        format!("remuda runner resume --key {}", self.key)
    }
}

/// Why the chain assigns no jobs, and what to do. `resumes`: the runner is about to resume by itself.
pub(crate) fn trouble(
    view: Option<&RunnerView>,
    resumes: bool,
    commands: &Commands,
) -> Option<String> {
    let Some(view) = view else {
        let register = commands.with_settings("register");
        return Some(format!("runner not registered; run: {register}"));
    };
    match (view.status, view.jailed_until) {
        (RunnerStatusName::Deregistered, _) => {
            let register = commands.with_settings("register");
            Some(format!("runner deregistered; to return, run: {register}"))
        }
        (_, Some(until)) => Some(format!(
            "runner in jail until block {until} after repeated failures; it is released \
             automatically. The jobs below show the failures"
        )),
        (RunnerStatusName::Paused, None) if !resumes => {
            Some(format!("runner paused; run: {}", commands.resume()))
        }
        _ => None,
    }
}

pub(crate) fn mismatch(
    here: &OfferView,
    view: Option<&RunnerView>,
    commands: &Commands,
) -> Option<String> {
    let view = view.filter(|view| view.status != RunnerStatusName::Deregistered)?;
    let all = differences(here, &view.offer);
    (!all.is_empty()).then(|| {
        let update = commands.with_settings("update");
        format!("offer on chain differs from the settings ({}); run: {update}", all.join("; "))
    })
}

fn differences(here: &OfferView, chain: &OfferView) -> Vec<String> {
    let names = |kinds: &[remuda_client::types::KindName]| {
        kinds.iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>()
    };
    let (mine, theirs) = (&here.rates, &chain.rates);
    let all = [
        lists("kinds", &names(&here.kinds), &names(&chain.kinds)),
        lists("models", &here.models, &chain.models),
        lists("programs", &texts(&here.executors), &texts(&chain.executors)),
        lists("Ethereum chains", &texts(&here.eth_chains), &texts(&chain.eth_chains)),
        lists("resolvers", &here.resolvers, &chain.resolvers),
        money("base", mine.base, theirs.base),
        money("per_second", mine.per_second, theirs.per_second),
        money("per_1k_in", mine.per_1k_in, theirs.per_1k_in),
        money("per_1k_out", mine.per_1k_out, theirs.per_1k_out),
        values("slots", here.max_concurrent_jobs, chain.max_concurrent_jobs),
        money("declared_max_job_value", here.declared_max_job_value, chain.declared_max_job_value),
        values("accepts_unpaid", here.accepts_unpaid, chain.accepts_unpaid),
        values("accept_bonded", here.accept_bonded, chain.accept_bonded),
        values("commission_bps", here.commission_bps, chain.commission_bps),
    ];
    all.into_iter().flatten().collect()
}

fn texts<T: Display>(list: &[T]) -> Vec<String> {
    list.iter().map(T::to_string).collect()
}

fn values<T: PartialEq + Display>(name: &str, here: T, chain: T) -> Option<String> {
    (here != chain).then(|| format!("{name}: {here} here, {chain} on chain"))
}

fn money(name: &str, here: BigUint, chain: BigUint) -> Option<String> {
    let text = |amount: BigUint| InCby(Amount(amount.0)).to_string();
    values(name, text(here), text(chain))
}

fn lists<T: PartialEq + Debug + AsRef<str>>(name: &str, here: &[T], chain: &[T]) -> Option<String> {
    let only = |these: &[T], those: &[T], place: &str| {
        let mut only = these.iter().filter(|it| !those.contains(it)).map(AsRef::as_ref);
        let named: Vec<&str> = only.by_ref().take(NAMED_MAX).collect();
        let more = match only.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!named.is_empty()).then(|| format!("{}{more} only {place}", named.join(", ")))
    };
    let parts = [only(here, chain, "here"), only(chain, here, "on chain")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{runner_view, settings};
    use remuda_client::types::Uint;

    fn commands() -> Commands {
        Commands { settings: "mine/runner.toml".to_owned(), key: "runner.key".to_owned() }
    }

    fn offer(sections: &str) -> OfferView {
        OfferView::from(&settings(sections).offer().unwrap())
    }

    fn on_chain(offer: OfferView) -> RunnerView {
        RunnerView { offer, ..runner_view(RunnerStatusName::Active, true, 1) }
    }

    #[test]
    fn equal_offers_are_no_problem() {
        let sections = "[http]\n[dns]\n[offer]\nbase = '1cby'";
        assert_eq!(mismatch(&offer(sections), Some(&on_chain(offer(sections))), &commands()), None);
    }

    #[test]
    fn differences_are_listed_with_the_command() {
        let here =
            offer("[http]\n[llm.models.tiny]\nbase_url = 'http://h'\n[offer]\nbase = '1cby'");
        let mut chain = offer("[http]\n[llm.models.huge]\nbase_url = 'http://h'\n[dns]");
        chain.max_concurrent_jobs = 9;
        let text = mismatch(&here, Some(&on_chain(chain)), &commands()).unwrap();
        for part in [
            "kinds: Custom only on chain",
            "models: tiny only here, huge only on chain",
            "resolvers: ",
            "base: 1 CBY here, 0 CBY on chain",
            "slots: 2 here, 9 on chain",
            "remuda runner update mine/runner.toml --key runner.key",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("per_second"), "{text}");
    }

    #[test]
    fn every_problem_names_a_command() {
        let with = |status| runner_view(status, true, 1);
        let says = |view: Option<&RunnerView>, resumes| trouble(view, resumes, &commands());
        assert!(
            says(None, true).unwrap().contains("remuda runner register mine/runner.toml --key")
        );
        let left = with(RunnerStatusName::Deregistered);
        assert!(says(Some(&left), true).unwrap().contains("remuda runner register"));
        let paused = with(RunnerStatusName::Paused);
        assert!(
            says(Some(&paused), false).unwrap().contains("remuda runner resume --key runner.key")
        );
        assert_eq!(says(Some(&paused), true), None, "it resumes by itself");
        let jailed = RunnerView { jailed_until: Some(Uint(7)), ..with(RunnerStatusName::Active) };
        assert!(says(Some(&jailed), true).unwrap().contains("in jail until block 7"));
        assert_eq!(says(Some(&with(RunnerStatusName::Active)), false), None);
    }

    #[test]
    fn deregistered_runner_has_no_offer_to_compare() {
        let left = RunnerView {
            offer: offer("[http]"),
            ..runner_view(RunnerStatusName::Deregistered, true, 1)
        };
        assert_eq!(mismatch(&offer("[dns]"), Some(&left), &commands()), None);
        assert_eq!(mismatch(&offer("[dns]"), None, &commands()), None);
    }
}
