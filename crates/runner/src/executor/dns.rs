//! What the DNS says, asked of several resolvers (CIP-2 §9.1).
//!
//! A job's DNS checks are answered by a report: for each check, each resolver and whether it
//! confirms. [`Dns::amend`] adds it to the result of other work; [`Dns::execute`] is the built-in
//! program whose only work it is. A resolver that gives no answer, or says that it has none to give
//! (SERVFAIL, REFUSED), is left out: it has neither confirmed nor denied. If too few are left there
//! is no report.

mod ask;
mod observe;
mod resolver;

pub use resolver::ResolverError;

use super::document::{finish, object, require_json, string};
use super::{ExecuteError, Work};
use ask::NoAnswer;
use futures::future::join_all;
use observe::Claim;
use remuda_protocol::dispatcher::spec::JobType;
use remuda_protocol::primitives::B256;
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::dns::passes;
use remuda_protocol::verifier::json::{Json, parse};
use resolver::Resolver;
use serde::Deserialize;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The name of the built-in program: BLAKE3 of `cowboy-dns-verifier-v1`.
pub const DNS_VERIFIER_EXECUTOR_HASH: B256 = B256::new([
    0x7b, 0x0b, 0x9e, 0xdb, 0xc1, 0xb3, 0x97, 0x6e, 0x1c, 0x2e, 0xb8, 0x1c, 0xc2, 0xed, 0x1c, 0xac,
    0x70, 0xc3, 0x35, 0x0f, 0xc9, 0x59, 0xa2, 0x43, 0xe4, 0x28, 0x9b, 0x62, 0xed, 0xd7, 0xa5, 0xbe,
]);

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DnsConfig {
    /// Recursive resolvers: addresses, with a port if it is not 53. Each counts once.
    pub resolvers: Vec<String>,
    /// How long to wait for one answer. A question is asked up to three times.
    pub answer_ms: u64,
}

impl Default for DnsConfig {
    /// The public resolvers that CIP-2 §9.1.3 recommends.
    fn default() -> Self {
        let resolvers = ["1.1.1.1", "8.8.8.8", "9.9.9.9", "208.67.222.222"];
        Self { resolvers: resolvers.map(str::to_owned).into(), answer_ms: 2_000 }
    }
}

pub struct Dns {
    resolvers: Vec<Resolver>,
    patience: Duration,
}

impl Dns {
    pub fn new(config: &DnsConfig) -> Result<Self, ResolverError> {
        let patience = Duration::from_millis(config.answer_ms);
        Ok(Self { resolvers: resolver::read(&config.resolvers)?, patience })
    }

    /// How many resolvers there are, for the runner to advertise.
    pub fn resolvers(&self) -> usize {
        self.resolvers.len()
    }

    /// Does a job of the built-in program. What to look up is in the job's checks.
    pub async fn execute(&self, work: &Work<'_>) -> Result<Vec<u8>, ExecuteError> {
        let bad = |reason: &str| Err(ExecuteError::BadJob(reason.into()));
        match &work.spec.job_type {
            JobType::Custom { executor_hash, params }
                if *executor_hash == DNS_VERIFIER_EXECUTOR_HASH =>
            {
                if !params.is_empty() {
                    return bad("the DNS verifier takes no parameters, only the job's checks");
                }
            }
            _ => return bad("this is not the DNS verifier's"),
        }
        require_json(work)?;
        let claims = claims(work)?;
        if claims.is_empty() {
            return bad("there is no DNS check to answer");
        }
        let report = object([("dns", self.report(work, &claims).await?)]);
        let passed = claims.iter().enumerate().all(|(i, claim)| passes(&report, i, claim.least));
        finish(work, &with(report, "passed", Json::Bool(passed))?)
    }

    /// Adds the report to the result of other work, if the job has DNS checks.
    pub async fn amend(&self, work: &Work<'_>, result: Vec<u8>) -> Result<Vec<u8>, ExecuteError> {
        let claims = claims(work)?;
        if claims.is_empty() {
            return Ok(result);
        }
        require_json(work)?;
        let document =
            parse(&result).map_err(|error| ExecuteError::BadAnswer(error.to_string()))?;
        let report = self.report(work, &claims).await?;
        finish(work, &with(document, "dns", report)?)
    }

    /// One entry per claim, in order.
    async fn report(&self, work: &Work<'_>, claims: &[Claim]) -> Result<Json, ExecuteError> {
        // A slow resolver is a silent one: it must not take the others' answers with it.
        let until = Instant::now() + work.time_limit * 3 / 4;
        let entries = join_all(claims.iter().map(|claim| self.entry(claim, until))).await;
        Ok(Json::Array(entries.into_iter().collect::<Result<_, _>>()?))
    }

    async fn entry(&self, claim: &Claim, until: Instant) -> Result<Json, ExecuteError> {
        let (least, all) = (claim.least as usize, self.resolvers.len());
        if all < least {
            let reason = format!("{least} resolvers are asked for, and there are {all} here");
            return Err(ExecuteError::NotAllowed(reason));
        }
        let ask = |resolver| async move {
            let answer = timeout_at(until, self.answer(resolver, claim)).await;
            answer.unwrap_or_else(|_| Err(format!("{resolver}: it takes too long")))
        };
        let answers = join_all(self.resolvers.iter().map(ask));
        let (answers, silent): (Vec<_>, Vec<_>) =
            answers.await.into_iter().partition(|answer| answer.is_ok());
        if answers.len() < least {
            let why: Vec<_> = silent.into_iter().filter_map(Result::err).collect();
            let heard = answers.len();
            let reason = format!("{heard} of {least} resolvers answered; {}", why.join("; "));
            return Err(ExecuteError::Unreachable(reason));
        }
        Ok(Json::Array(answers.into_iter().flatten().collect()))
    }

    /// The entry of one resolver in the report.
    async fn answer(&self, resolver: &Resolver, claim: &Claim) -> Result<Json, String> {
        let confirmed = claim.holds(resolver.address, self.patience).await;
        let confirmed = confirmed.map_err(|silence: NoAnswer| format!("{resolver}: {silence}"))?;
        let name = string(resolver.to_string());
        Ok(object([("resolver", name), ("confirmed", Json::Bool(confirmed))]))
    }
}

/// What the DNS checks of a job claim, in order.
fn claims(work: &Work<'_>) -> Result<Vec<Claim>, ExecuteError> {
    let checks = &work.spec.verification.checks;
    let read = |check: &VerifierCheck| Claim::of(check).transpose();
    let claims: Result<Vec<Claim>, _> = checks.iter().filter_map(read).collect();
    claims.map_err(|error| ExecuteError::BadJob(error.to_string()))
}

/// An object with one member more.
fn with(document: Json, name: &str, value: Json) -> Result<Json, ExecuteError> {
    let Json::Object(mut members) = document else {
        let reason = "a DNS report goes into an object, and the result is none";
        return Err(ExecuteError::BadAnswer(reason.into()));
    };
    if members.insert(name.to_owned(), value).is_some() {
        return Err(ExecuteError::BadAnswer(format!("the result has its own {name:?}")));
    }
    Ok(Json::Object(members))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_named_by_its_hash() {
        let hash = blake3::hash(b"cowboy-dns-verifier-v1");
        assert_eq!(DNS_VERIFIER_EXECUTOR_HASH, B256::from(*hash.as_bytes()));
    }

    #[test]
    fn the_defaults_are_usable() {
        assert_eq!(Dns::new(&DnsConfig::default()).unwrap().resolvers(), 4);
    }
}
