//! What a runner answers if the job itself is why there is no result.
//!
//! A seat has no way to decline: who is drawn and stays silent is scored for it, and three times in a
//! row mean jail. A job that nobody can do (its server is gone, its answer too large, its program
//! traps) would punish everybody who is drawn for it, at next to no cost. So it gets an answer, in
//! the form that it asked for:
//!
//! ```text
//! {"detail":"connection refused","error":"unreachable","runner":"0x…"}
//! ```
//! The runner's own address makes every excuse differ from every other one: a committee of them agrees
//! on nothing, so the price goes back and nobody's reputation changes; whoever found a result
//! outvotes them. Who wants to know whether something fails votes on `error`. A single runner's
//! excuse is its result: it did what it was asked to do.
//!
//! Silence is for what only the operator can mend: its model server is down, its machine is out of
//! memory, its disk is full. Then somebody else is drawn.

use super::document::{object, string};
use super::{ExecuteError, resolvers_asked};
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use remuda_protocol::primitives::Address;
use remuda_protocol::verifier::json::{Json, parse};

/// Characters of the detail.
const DETAIL: usize = 200;

/// Whether the job, and not this runner, is why there is no result.
pub fn is_due(spec: &JobSpec, error: &ExecuteError) -> bool {
    // These are named by the job alone; the rest by what the runner told the chain that it offers.
    let named_here = matches!(spec.job_type, JobType::Http { .. } | JobType::Mcp { .. });
    match error {
        ExecuteError::BadJob(_)
        | ExecuteError::BadAnswer(_)
        | ExecuteError::TooLarge { .. }
        | ExecuteError::TimedOut(_)
        | ExecuteError::Program(_) => true,
        ExecuteError::NotAllowed(_) => named_here || !spec.secrets.is_empty(),
        // Servers of the operator are not the job's; names that no resolver finds are.
        ExecuteError::Unreachable(_) => {
            matches!(spec.job_type, JobType::Http { .. }) || resolvers_asked(spec) > 0
        }
    }
}

/// The answer: as much of it as the job has room for.
pub fn excuse(spec: &JobSpec, error: &ExecuteError, runner: Address) -> Vec<u8> {
    let most = spec.result_schema.max_return_bytes as usize;
    let who = || string(format!("{runner:#x}"));
    let detail: String =
        error.to_string().chars().filter(|letter| !letter.is_control()).take(DETAIL).collect();
    let code = || string(code(error));
    let whole = object([("detail", string(detail)), ("error", code()), ("runner", who())]);
    let short = object([("error", code()), ("runner", who())]);
    let mut answers = [whole, short].into_iter().map(|answer| answer.canonical());
    if let Some(answer) = answers.find(|answer| answer.len() <= most) {
        return answer.into_bytes();
    }
    // As many digits of the address as there is room for. With none, all answers are equal, and
    // agree on nothing that anybody could use.
    let digits = format!("{runner:x}");
    match most.checked_sub(2).map(|room| room.min(digits.len())) {
        None | Some(0) => b"0".to_vec(),
        Some(room) => format!("\"{}\"", &digits[digits.len() - room..]).into_bytes(),
    }
}

/// What an excuse says, if a result is one.
pub fn read(result: &[u8], runner: Address) -> Option<String> {
    let Ok(Json::Object(members)) = parse(result) else { return None };
    let text = |name: &str| match members.get(name) {
        Some(Json::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (error, who) = (text("error")?, text("runner")?);
    let known = members.keys().all(|name| ["detail", "error", "runner"].contains(&&name[..]));
    (known && who == format!("{runner:#x}")).then(|| text("detail").unwrap_or(error).to_owned())
}

/// A stable word for programs.
fn code(error: &ExecuteError) -> &'static str {
    match error {
        ExecuteError::NotAllowed(_) => "not_allowed",
        ExecuteError::BadJob(_) => "bad_job",
        ExecuteError::Unreachable(_) => "unreachable",
        ExecuteError::BadAnswer(_) => "bad_answer",
        ExecuteError::TooLarge { .. } => "too_large",
        ExecuteError::TimedOut(_) => "timed_out",
        ExecuteError::Program(_) => "program_failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::testing::http_spec;
    use remuda_protocol::dispatcher::spec::DataFormat;
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
            ExecuteError::TimedOut(Duration::from_secs(1)),
            ExecuteError::Program("unreachable executed".into()),
        ]
    }

    #[test]
    fn an_excuse_is_a_document_within_the_jobs_size_whatever_that_is() {
        for error in errors() {
            for most in (1..200).chain([1_024, 65_536]) {
                let answer = excuse(&spec(most), &error, RUNNERS[0]);
                assert!(answer.len() <= most as usize, "{most}: {}", answer.len());
                assert!(parse(&answer).is_ok(), "{most}: {answer:?}");
            }
        }
    }

    #[test]
    fn excuses_agree_on_nothing_but_their_kind() {
        let win = |field: &str, most: u32, format| {
            let checks = [Check::compile(&VerifierCheck::MajorityVote { field: field.into() })];
            let checks = checks.map(Result::unwrap);
            let error = ExecuteError::Unreachable("connection refused".into());
            let answers = RUNNERS.map(|runner| excuse(&spec(most), &error, runner));
            let all: Vec<_> = (RUNNERS.into_iter().zip(&answers))
                .map(|(runner, result)| Submission { runner, result })
                .collect();
            decide(Mode::MajorityVote, 3, 2, &checks, format, &all).is_some()
        };
        for most in [3, 10, 80, 100, 1_024] {
            assert!(!win("", most, ResultFormat::Json), "{most}");
            assert!(!win("", most, ResultFormat::Raw), "{most}");
            assert!(!win("body.price", most, ResultFormat::Json), "{most}");
        }
        assert!(win("error", 1_024, ResultFormat::Json), "who asks for it gets it");
    }

    #[test]
    fn one_excuse_does_not_keep_the_others_from_agreeing() {
        let checks =
            [Check::compile(&VerifierCheck::MajorityVote { field: "body".into() }).unwrap()];
        let error = ExecuteError::TooLarge { limit: 9 };
        let excuse = excuse(&spec(1_024), &error, RUNNERS[0]);
        let found = br#"{"body":1}"#.as_slice();
        let results = [&excuse[..], found, found];
        let all: Vec<_> = (RUNNERS.into_iter().zip(results))
            .map(|(runner, result)| Submission { runner, result })
            .collect();
        let decision = decide(Mode::MajorityVote, 3, 2, &checks, ResultFormat::Json, &all);
        assert_eq!(decision.unwrap().winners, RUNNERS[1..]);
    }

    #[test]
    fn what_only_the_operator_can_mend_is_no_excuse() {
        let mut spec = spec(1_024);
        let down = ExecuteError::Unreachable("it does not answer".into());
        let absent = ExecuteError::NotAllowed("no model".into());
        assert!(is_due(&spec, &down) && is_due(&spec, &absent), "the job named the address");
        let (model, messages) = ("tiny".to_owned(), vec![]);
        spec.job_type = JobType::Llm { model, messages, temperature_milli: 0, seed: 0 };
        assert!(!is_due(&spec, &down) && !is_due(&spec, &absent));
        assert!(is_due(&spec, &ExecuteError::TooLarge { limit: 1 }));
        let (server, tool) = ("files".to_owned(), "read".to_owned());
        spec.job_type = JobType::Mcp { server, tool, arguments: "{}".to_owned() };
        assert!(!is_due(&spec, &down));
        assert!(is_due(&spec, &absent), "the chain knows no names of tools");
        spec.result_schema.data_format = DataFormat::Text;
        assert!(is_due(&spec, &ExecuteError::BadJob("x".into())));
    }

    #[test]
    fn an_excuse_can_be_read_again_and_nothing_else_is_one() {
        let error = ExecuteError::Unreachable("connection refused".into());
        let answer = excuse(&spec(1_024), &error, RUNNERS[0]);
        assert_eq!(read(&answer, RUNNERS[0]).as_deref(), Some(&error.to_string()[..]));
        assert_eq!(read(&answer, RUNNERS[1]), None, "somebody else's");
        let short = excuse(&spec(90), &error, RUNNERS[0]);
        assert_eq!(read(&short, RUNNERS[0]).as_deref(), Some("unreachable"));
        assert_eq!(read(br#"{"body":{"error":"x"},"status":500}"#, RUNNERS[0]), None);
    }
}
