//! Why too few runners could be drawn for a job, in numbers: how many are left after each of the
//! chain's filters, in their order, until there are too few.

use crate::failure::Failure;
use crate::format::{cby, count, thousandths};
use crate::runner::every_runner;
use crate::session::Session;
use remuda_client::types::{HexAddress, JobView, KindName, ParamsView, RatesView, RunnerView};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::filter::{Query, Quote, Rules};
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Amount, B256, keccak256};
use remuda_protocol::registry::runner::RateCard;

/// Asks who is there, and says where they were lost.
pub(super) async fn explain(session: &Session, job: &JobView) -> Result<String, Failure> {
    let (client, spec) = (&session.client, JobSpec::try_from(&job.spec)?);
    let (status, params) = (client.status().await?, params(&client.params().await?));
    let single =
        matches!(spec.verification.mode, VerificationMode::None | VerificationMode::EconomicBond);
    let asked = u64::from(spec.verification.runners.max(3));
    let bound = if single { 1 } else { status.m_adaptive.0.min(asked) };
    let needs = Needs {
        query: Query::of(&spec, &params, bound),
        rules: Rules::of(&params),
        present: matches!(status.policy.as_str(), "require" | "sunset"),
        height: status.height.0,
        not: job.seats.iter().map(|seat| seat.runner).chain(job.excluded.clone()).collect(),
        least: spec.verification.mode.minimum(),
        spec,
    };
    Ok(needs.told(&every_runner(session).await?.runners))
}

/// The numbers of this chain; those that this version does not know do not matter to it.
pub(super) fn params(view: &ParamsView) -> ChainParams {
    let mut params = ChainParams::one_second();
    for row in &view.params {
        let _ = params.set(&row.key, row.value.0);
    }
    params
}

struct Needs {
    spec: JobSpec,
    query: Query,
    rules: Rules,
    present: bool,
    height: u64,
    not: Vec<HexAddress>,
    least: usize,
}

type Passes<'a> = Box<dyn Fn(&RunnerView) -> bool + 'a>;

impl Needs {
    fn told(&self, runners: &[RunnerView]) -> String {
        let mut left: Vec<&RunnerView> = runners.iter().collect();
        let mut steps = Vec::new();
        for (what, passes) in self.filters() {
            left.retain(|runner| passes(runner));
            steps.push(format!("{} {what}", left.len()));
            if left.len() < self.least {
                break;
            }
        }
        let cheapest = self.cheapest(runners, &left);
        let (needed, all) = (count(self.least, "runner"), runners.len());
        if left.len() >= self.least {
            return format!(
                "It needs {needed} at least. By now there would be enough: order again"
            );
        }
        let steps = steps.join("; of these, ");
        format!("It needs {needed} at least. Of {all} registered: {steps}{cheapest}")
    }

    /// What the cheapest of those asks who could do it and are not paid enough; or nothing.
    fn cheapest(&self, runners: &[RunnerView], left: &[&RunnerView]) -> String {
        let Some(quote) = self.query.quote else { return String::new() };
        let able = |it: &&RunnerView| it.healthy && self.capable(it) && !self.pays(it);
        let asks = runners.iter().filter(able).map(|it| asked(&quote, &it.offer.rates)).min();
        match asks.filter(|_| left.len() < self.least) {
            Some(asks) => format!(". The cheapest of the others asks {} for a seat", cby(asks)),
            None => String::new(),
        }
    }

    /// As the chain applies them.
    fn filters(&self) -> Vec<(String, Passes<'_>)> {
        let mut all: Vec<(String, Passes<'_>)> = Vec::new();
        if !self.not.is_empty() {
            let what = "were not drawn for it before".to_owned();
            all.push((what, Box::new(|runner| !self.not.contains(&runner.address))));
        }
        let active = "are active, out of jail and alive".to_owned();
        all.push((active, Box::new(|runner| runner.healthy)));
        if self.present {
            let present = "are attested as present".to_owned();
            all.push((present, Box::new(|runner| runner.present)));
        }
        let least = self.rules.min_reputation_nano;
        let reputation = format!("have a reputation of {} at least", thousandths(least));
        all.push((reputation, Box::new(move |runner| runner.reputation_nano.0 >= least)));
        all.push((self.work(), Box::new(|runner| self.capable(runner))));
        if self.spec.tee_required {
            let until = self.height;
            let tee = "have trusted hardware".to_owned();
            all.push((tee, Box::new(move |it| it.tee_until.is_some_and(|it| it.0 >= until))));
        }
        all.push((self.price(), Box::new(|runner| self.pays(runner))));
        let free = "have a free place".to_owned();
        all.push((free, Box::new(|runner| runner.open_jobs < runner.offer.max_concurrent_jobs)));
        if let Some(pool) = &self.spec.required_runner_pool {
            let pool: B256 = keccak256(&pool[..]);
            let member = "are members of its pool".to_owned();
            all.push((
                member,
                Box::new(move |it| it.pools.iter().any(|member| member.pool.0 == pool)),
            ));
        }
        if self.query.class.bonded {
            let bonded = "take bonded work".to_owned();
            all.push((bonded, Box::new(|runner| runner.offer.accept_bonded)));
        }
        // For bonded work that is all it locks.
        let (least, price) = (self.rules.min_stake, self.query.value);
        let stake = format!(
            "have enough stake: {} at least, and one and a half times this price and those of their \
             open jobs",
            cby(least)
        );
        all.push((stake, Box::new(move |runner| covers(runner, least, price))));
        all
    }

    fn work(&self) -> String {
        let resolvers = match self.query.class.min_resolvers {
            0 => String::new(),
            some => format!(" and ask {} at least", count(some as usize, "resolver")),
        };
        let what = match &self.spec.job_type {
            JobType::Llm { model, .. } => format!("serve the model {model:?}"),
            JobType::Http { .. } => "do web requests".to_owned(),
            JobType::Mcp { .. } => "call MCP tools".to_owned(),
            JobType::EthSend { chain_id, .. } => format!("send to Ethereum chain {chain_id}"),
            JobType::Custom { executor_hash, .. } => format!("run the program {executor_hash}"),
        };
        what + &resolvers
    }

    fn capable(&self, runner: &RunnerView) -> bool {
        let offer = &runner.offer;
        let named = match &self.spec.job_type {
            JobType::Llm { model, .. } => offer.models.contains(model),
            JobType::EthSend { chain_id, .. } => {
                offer.eth_chains.iter().any(|id| id.0 == *chain_id)
            }
            JobType::Custom { executor_hash, .. } => {
                offer.executors.iter().any(|hash| hash.0 == *executor_hash)
            }
            JobType::Http { .. } | JobType::Mcp { .. } => true,
        };
        let kind = KindName::from(self.spec.job_type.kind());
        let resolvers = offer.resolvers.len() >= self.query.class.min_resolvers as usize;
        named && resolvers && offer.kinds.contains(&kind)
    }

    fn price(&self) -> String {
        match self.query.quote {
            Some(Quote { limit, seconds, .. }) => format!(
                "work for its price: a seat earns {} at most, for up to {} seconds",
                cby(limit),
                seconds
            ),
            None => "work for nothing".to_owned(),
        }
    }

    fn pays(&self, runner: &RunnerView) -> bool {
        match self.query.quote {
            Some(quote) => quote.pays(&card(&runner.offer.rates)),
            None => runner.offer.accepts_unpaid,
        }
    }
}

/// What a runner asks for one seat of a job like this.
fn asked(quote: &Quote, rates: &RatesView) -> Amount {
    let per = |rate: u128, units: u32| rate.saturating_mul(units.into());
    let tokens = per(rates.per_1k_in.0, quote.input_tokens) / 1_000
        + per(rates.per_1k_out.0, quote.output_tokens) / 1_000;
    Amount(
        rates.base.0.saturating_add(per(rates.per_second.0, quote.seconds)).saturating_add(tokens),
    )
}

fn covers(runner: &RunnerView, least: Amount, price: Amount) -> bool {
    let (stake, open) = (runner.effective_stake.0, runner.open_value.0);
    let free = stake.saturating_sub(runner.locked.0);
    let owed = open.saturating_add(price.get()).saturating_mul(3);
    stake >= least.get() && owed <= free.saturating_mul(2)
}

fn card(rates: &RatesView) -> RateCard {
    RateCard {
        base: Amount(rates.base.0),
        per_second: Amount(rates.per_second.0),
        per_1k_in: Amount(rates.per_1k_in.0),
        per_1k_out: Amount(rates.per_1k_out.0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;
    use crate::runner::testing::runner;
    use remuda_client::types::BigUint;

    fn needs() -> Needs {
        let spec = example::spec(example::Kind::Http);
        let params = ChainParams::one_second();
        Needs {
            query: Query::of(&spec, &params, 3),
            rules: Rules::of(&params),
            present: false,
            height: 10,
            not: vec![],
            least: 3,
            spec,
        }
    }

    fn able() -> RunnerView {
        let mut runner = runner();
        runner.healthy = true;
        runner.offer.kinds = vec![KindName::Http];
        runner.reputation_nano.0 = 60_000_000_000;
        runner.effective_stake = BigUint(Amount::cby(1_000_000).get());
        runner.open_jobs = 0;
        runner
    }

    #[test]
    fn the_filter_that_lost_them_is_the_last_one_that_is_told() {
        let dear = |mut runner: RunnerView| {
            runner.offer.rates.base = BigUint(Amount::cby(1_000).get());
            runner
        };
        let told = needs().told(&[able(), able(), dear(able())]);
        assert!(told.starts_with("It needs 3 runners at least. Of 3 registered: 3 are"), "{told}");
        assert!(told.contains("of these, 2 work for its price: a seat earns"), "{told}");
        assert!(told.contains("The cheapest of the others asks 1,0"), "{told}");
        assert!(!told.contains("place"), "what came after does not matter: {told}");
    }

    #[test]
    fn stake_that_answers_for_other_jobs_does_not_count_twice() {
        let busy = |mut runner: RunnerView| {
            runner.open_value = BigUint(Amount::cby(1_000_000).get());
            runner
        };
        let told = needs().told(&[able(), able(), busy(able())]);
        assert!(told.contains("2 have enough stake: 10,000 CBY at least"), "{told}");
    }

    #[test]
    fn nobody_is_blamed_if_all_would_do_now() {
        let told = needs().told(&[able(), able(), able()]);
        assert!(told.contains("order again"), "{told}");
        let told = needs().told(&[]);
        assert!(told.contains("Of 0 registered: 0 are active"), "{told}");
    }
}
