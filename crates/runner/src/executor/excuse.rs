//! What a runner answers if the job itself is why there is no result.
//!
//! A seat has no way to decline: who is drawn and stays silent is scored for it, and three times in a
//! row mean jail. A job that nobody can do (its server is gone, its answer too large, its program
//! traps) would punish everybody who is drawn for it, at next to no cost. So it gets an answer, in
//! the form that it asked for:
//!
//! ```text
//! {"detail":"…","error":"unreachable","nonce":"…","runner":"0x…"}
//! ```
//! The nonce makes every excuse differ from every other one, also from one that somebody wants to copy: a
//! committee of them agrees on nothing, so the price goes back and nobody's reputation changes;
//! whoever found a result outvotes them. Who wants to know whether something fails votes on `error`. A
//! single runner's excuse is its result: it did what it was asked to do.
//!
//! Silence is for what only the operator can mend: its model server is down, its machine is out of
//! memory, its disk is full. Then somebody else is drawn. It is also for bonded results: stake answers for
//! those, and what fails here and now may work for whoever is asked to confirm it.
//!
//! What an excuse says is on chain for ever, so it is about the job. Which names and addresses there are
//! behind an operator's door is nobody's business: what may not be reached is as good as not there.

use super::ExecuteError;
use super::dns::DNS_VERIFIER_EXECUTOR_HASH;
use super::document::{object, string};
use super::transport::NOT_FOUND;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use remuda_protocol::primitives::Address;
use remuda_protocol::verifier::json::{Json, parse};

/// Bytes of an excuse at most: with money for so many a job can be answered.
pub(crate) const BYTES: usize = 512;
/// Characters of the detail.
const DETAIL: usize = 200;
/// Of a name without an address, or with one that jobs may not reach.
const UNREACHABLE: &str = "there is no public server of that name";

/// Whether the job, and not this runner, is why there is no result.
pub fn is_due(spec: &JobSpec, error: &ExecuteError) -> bool {
    let bonded = spec.verification.mode == VerificationMode::EconomicBond;
    match error {
        // Everybody reads the job alike; but how many tokens a prompt has is each operator's guess.
        ExecuteError::BadJob(_) => !(bonded && matches!(spec.job_type, JobType::Llm { .. })),
        _ if bonded => false,
        ExecuteError::Backend(_) => false,
        ExecuteError::BadAnswer(_)
        | ExecuteError::TooLarge { .. }
        | ExecuteError::TooCostly { .. }
        | ExecuteError::TimedOut(_)
        | ExecuteError::Program(_) => true,
        // Named by the job alone; the rest by what the runner told the chain that it offers.
        ExecuteError::NotAllowed(_) => {
            matches!(spec.job_type, JobType::Http { .. } | JobType::Mcp { .. })
        }
        // Servers of the operator are not the job's; names that no resolver finds are.
        ExecuteError::Unreachable(_) => match &spec.job_type {
            JobType::Http { .. } => true,
            JobType::Custom { executor_hash, .. } => *executor_hash == DNS_VERIFIER_EXECUTOR_HASH,
            _ => false,
        },
    }
}

/// The answer. The chain sees to it that a job has room for it. The nonce is random, and used once.
pub fn excuse(spec: &JobSpec, error: &ExecuteError, runner: Address, nonce: u64) -> Vec<u8> {
    let (code, detail) = words(spec, error);
    let who = [
        ("error", string(code)),
        ("nonce", string(format!("{nonce:016x}"))),
        ("runner", string(format!("{runner:#x}"))),
    ];
    let [error, nonce, runner] = who;
    let short = object([error.clone(), nonce.clone(), runner.clone()]).canonical();
    let whole = object([("detail", string(detail)), error, nonce, runner]).canonical();
    let fits = whole.len() <= BYTES.min(spec.result_schema.max_return_bytes as usize);
    if fits { whole.into_bytes() } else { short.into_bytes() }
}

/// What an excuse says, if a result is one.
pub fn read(result: &[u8], runner: Address) -> Option<String> {
    let Ok(Json::Object(members)) = parse(result) else { return None };
    let text = |name: &str| match members.get(name) {
        Some(Json::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (error, who, _) = (text("error")?, text("runner")?, text("nonce")?);
    let names = ["detail", "error", "nonce", "runner"];
    let known = members.keys().all(|name| names.contains(&&name[..]));
    let said = text("detail").unwrap_or(error);
    (known && who == format!("{runner:#x}")).then(|| brief(said))
}

/// The beginning, without what moves a cursor.
fn brief(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(DETAIL).collect()
}

/// A stable word for programs, and some for people.
fn words(spec: &JobSpec, error: &ExecuteError) -> (&'static str, String) {
    let web = matches!(spec.job_type, JobType::Http { .. });
    let code = match error {
        ExecuteError::NotAllowed(_) if web => return ("unreachable", UNREACHABLE.to_owned()),
        ExecuteError::Unreachable(why) if web && why.starts_with(NOT_FOUND) => {
            return ("unreachable", UNREACHABLE.to_owned());
        }
        // In the words of whoever orders.
        ExecuteError::TooLarge { limit } => {
            return ("too_large", format!("the result has more than max_return_bytes, {limit}"));
        }
        // What its account holds is the operator's business.
        ExecuteError::TooCostly { limit, .. } => {
            let fees = "more in fees than its runner has for it";
            return ("too_costly", format!("a result of more than {limit} bytes costs {fees}"));
        }
        ExecuteError::TimedOut(within) => {
            let bounds = "max_wall_time_seconds and timeout_blocks bound it";
            return ("timed_out", format!("not done within {within:?}; {bounds}"));
        }
        ExecuteError::NotAllowed(_) => "not_allowed",
        ExecuteError::BadJob(_) => "bad_job",
        ExecuteError::Unreachable(_) => "unreachable",
        ExecuteError::BadAnswer(_) => "bad_answer",
        ExecuteError::Program(_) => "program_failed",
        ExecuteError::Backend(_) => "backend",
    };
    (code, brief(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::testing::http_spec;
    use remuda_protocol::dispatcher::validate::RETURN_BYTES_MIN;
    use remuda_protocol::verifier::check::{Check, VerifierCheck};
    use remuda_protocol::verifier::decide::{Mode, ResultFormat, Submission, decide};
    use std::time::Duration;

    const RUNNERS: [Address; 3] =
        [Address::repeat_byte(1), Address::repeat_byte(2), Address::repeat_byte(3)];

    fn spec(most: u32) -> JobSpec {
        let mut spec = http_spec("GET", "http://example.com/");
        spec.result_schema.max_return_bytes = most;
        spec
    }

    fn errors() -> Vec<ExecuteError> {
        vec![
            ExecuteError::NotAllowed("10.0.0.1 is private".into()),
            ExecuteError::BadJob("x\n\u{1b}[1m\"".into()),
            ExecuteError::Unreachable("connection refused".into()),
            ExecuteError::BadAnswer("é".repeat(1_000)),
            ExecuteError::TooLarge { limit: 10 },
            ExecuteError::TooCostly { limit: 10, why: "there is no money" },
            ExecuteError::TimedOut(Duration::from_secs(1)),
            ExecuteError::Program("unreachable executed".into()),
            ExecuteError::Backend("status 401".into()),
        ]
    }

    #[test]
    fn an_excuse_is_a_document_within_any_size_that_the_chain_allows() {
        for error in errors() {
            for most in (RETURN_BYTES_MIN..400).chain([1_024, 65_536]) {
                let answer = excuse(&spec(most), &error, RUNNERS[0], u64::MAX);
                assert!(answer.len() <= BYTES.min(most as usize), "{most}: {}", answer.len());
                assert!(parse(&answer).is_ok(), "{most}: {answer:?}");
            }
        }
    }

    fn wins(mode: Mode, field: &str, format: ResultFormat, answers: [Vec<u8>; 3]) -> bool {
        let vote = VerifierCheck::MajorityVote { field: field.into() };
        let checks = [Check::compile(&vote).unwrap()];
        let checks = if mode == Mode::Deterministic { &[][..] } else { &checks[..] };
        let all: Vec<_> = (RUNNERS.into_iter().zip(&answers))
            .map(|(runner, result)| Submission { runner, result })
            .collect();
        decide(mode, 3, 2, checks, format, &all).is_some()
    }

    #[test]
    fn excuses_agree_on_nothing_but_their_kind() {
        let error = ExecuteError::Unreachable("connection refused".into());
        for most in [RETURN_BYTES_MIN, 200, 1_024] {
            let mut nonce = 0;
            let answers = RUNNERS.map(|runner| {
                nonce += 1;
                excuse(&spec(most), &error, runner, nonce)
            });
            let wins = |mode, field, format| wins(mode, field, format, answers.clone());
            assert!(!wins(Mode::MajorityVote, "", ResultFormat::Json), "{most}");
            assert!(!wins(Mode::MajorityVote, "", ResultFormat::Raw), "{most}");
            assert!(!wins(Mode::MajorityVote, "body.price", ResultFormat::Json), "{most}");
            assert!(!wins(Mode::Deterministic, "", ResultFormat::Raw), "{most}");
            assert!(wins(Mode::MajorityVote, "error", ResultFormat::Json), "who asks for it");
        }
    }

    #[test]
    fn nobody_can_copy_an_excuse_that_it_has_not_seen() {
        let error = ExecuteError::Program("trap".into());
        let of = |nonce| excuse(&spec(1_024), &error, RUNNERS[0], nonce);
        assert_ne!(of(1), of(2), "job and runner are known to all; the nonce is not");
    }

    #[test]
    fn one_excuse_does_not_keep_the_others_from_agreeing() {
        let error = ExecuteError::TooLarge { limit: 9 };
        let excuse = excuse(&spec(1_024), &error, RUNNERS[0], 1);
        let found = br#"{"body":1}"#.to_vec();
        let answers = [excuse, found.clone(), found];
        assert!(wins(Mode::MajorityVote, "body", ResultFormat::Json, answers));
    }

    #[test]
    fn what_only_the_operator_can_mend_is_no_excuse() {
        let mut spec = spec(1_024);
        let down = ExecuteError::Unreachable("it does not answer".into());
        let absent = ExecuteError::NotAllowed("no model".into());
        let locked = ExecuteError::Backend("status 401".into());
        assert!(is_due(&spec, &down) && is_due(&spec, &absent), "the job named the address");
        // A check of names does not make an operator's server the job's.
        spec.verification.checks = vec![VerifierCheck::DnsTxtRecordMatch {
            fqdn: "example.com".to_owned(),
            expected_value: "x".to_owned(),
            min_resolvers: 3,
        }];
        let (model, messages) = ("tiny".to_owned(), vec![]);
        spec.job_type = JobType::Llm { model, messages, temperature_milli: 0, seed: 0 };
        assert!(!is_due(&spec, &down) && !is_due(&spec, &absent) && !is_due(&spec, &locked));
        assert!(is_due(&spec, &ExecuteError::TooLarge { limit: 1 }));
        let (server, tool) = ("files".to_owned(), "read".to_owned());
        spec.job_type = JobType::Mcp { server, tool, arguments: "{}".to_owned() };
        assert!(!is_due(&spec, &down) && !is_due(&spec, &locked));
        assert!(is_due(&spec, &absent), "the chain knows no names of tools");
        let params = b"".as_slice().into();
        spec.job_type = JobType::Custom { executor_hash: DNS_VERIFIER_EXECUTOR_HASH, params };
        assert!(is_due(&spec, &down), "a name that nobody answers for");
    }

    #[test]
    fn nobody_stakes_on_an_excuse_that_somebody_else_may_refute() {
        let mut spec = spec(1_024);
        spec.verification.mode = VerificationMode::EconomicBond;
        for error in errors() {
            let plain = matches!(error, ExecuteError::BadJob(_));
            assert_eq!(is_due(&spec, &error), plain, "{error:?}");
        }
        let (model, messages) = ("tiny".to_owned(), vec![]);
        spec.job_type = JobType::Llm { model, messages, temperature_milli: 0, seed: 0 };
        let long = ExecuteError::BadJob("the prompt counts as 9 tokens".into());
        assert!(!is_due(&spec, &long), "another operator may count fewer");
        spec.verification.mode = VerificationMode::None;
        assert!(is_due(&spec, &long));
    }

    #[test]
    fn what_is_behind_an_operators_door_is_not_told() {
        let spec = spec(1_024);
        let told = |error: &ExecuteError| {
            let answer = excuse(&spec, error, RUNNERS[0], 1);
            String::from_utf8(answer).unwrap()
        };
        let private = told(&ExecuteError::NotAllowed("10.3.4.5 is no public address".into()));
        let missing = told(&ExecuteError::Unreachable("cannot look up vault.internal".into()));
        assert!(!private.contains("10.3.4.5") && !missing.contains("look up"));
        assert_eq!(private, missing, "nor whether there is a door");
    }

    #[test]
    fn an_excuse_can_be_read_again_and_nothing_else_is_one() {
        let error = ExecuteError::BadAnswer("no".into());
        let answer = excuse(&spec(1_024), &error, RUNNERS[0], 7);
        assert_eq!(read(&answer, RUNNERS[0]).as_deref(), Some(&error.to_string()[..]));
        assert_eq!(read(&answer, RUNNERS[1]), None, "somebody else's");
        let long = ExecuteError::BadAnswer("x".repeat(300));
        let short = excuse(&spec(RETURN_BYTES_MIN), &long, RUNNERS[0], 7);
        assert_eq!(read(&short, RUNNERS[0]).as_deref(), Some("bad_answer"));
        assert_eq!(read(br#"{"body":{"error":"x"},"status":500}"#, RUNNERS[0]), None);
        let who = format!("{:#x}", RUNNERS[0]);
        let detail = "x\\u001b".repeat(2_000);
        let hostile =
            format!(r#"{{"detail":"{detail}","error":"e","nonce":"n","runner":"{who}"}}"#);
        let said = read(hostile.as_bytes(), RUNNERS[0]).unwrap();
        assert!(said.len() <= DETAIL && !said.contains('\u{1b}'), "{said}");
    }
}
