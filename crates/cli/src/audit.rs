//! `remuda audit <topic>`: one rule of the protocol, from a JSON document on stdin to one on stdout.
//!
//! The formats are those of `crates/protocol/vectors/README.md`. A topic parses its whole input before it computes
//! anything, so malformed input is reported before anything else is.

mod commitment;
mod committee;
mod input;
mod payout;
mod presence;
mod reputation;
mod selection;
mod timers;
mod verify;

use clap::ValueEnum;
use input::Node;
use serde_json::{Map, Value, json};
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

/// Recompute one rule of the protocol from a JSON document on stdin.
///
/// A topic is one formula of the chain: who attests a runner, how large a committee is, who is drawn into it, what a
/// block does to a fee. Give it the inputs that a block or a receipt shows, and compare what it prints with what the
/// chain did. Nothing is read but stdin: no network, no state, no clock.
///
/// The exit status is 0 with the answer on stdout; 1 with `{"error": …}` on stdout, and the reason in words on
/// stderr, if the rule has no answer; 2 for wrong use.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLE)]
pub struct Args {
    /// The rule to recompute.
    #[arg(value_enum)]
    topic: Topic,
}

const EXAMPLE: &str = r#"Conventions:
  Numbers are JSON numbers below 2^53 or decimal strings; money is printed as decimal strings.
  Bytes are 0x and lower-case hex. Unknown members are ignored.

Example:
  $ echo '{"basefee": "10000", "quotient": 1, "used": [2000000, 0]}' | remuda audit lane
  {"basefees":["11250","9843"]}

Error codes:
  invalid_input         a member is missing, or of the wrong kind, length or range
  insufficient_runners  fewer candidates than the rule needs
  overflow              a weight or a sum is 2^128 or more
  unsupported_check     a check that cannot be judged from the results alone"#;

/// A rule that can be recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// Which validators attest a runner
    Subset,
    /// Which runners are present, from presence certificates
    Presence,
    /// Size and threshold of a committee, from stakes
    CommitteeSize,
    /// The seed of a selection, from a beacon and a job
    Seed,
    /// The draw of a committee, with the snapshot's roots
    Select,
    /// Root and sum of one list of weighted candidates
    SumTree,
    /// Who collects the reveals of a committee
    Aggregator,
    /// A runner's reputation after a list of events
    Reputation,
    /// The timer lane's basefee after a list of blocks
    Lane,
    /// Fairness weights of actors, from their recent fires
    Fairness,
    /// Which due timers run in a block, and in which order
    TimerOrder,
    /// Who wins, from the results of a job
    Verify,
    /// How a job's money is split
    Payout,
    /// What a runner signs and commits to
    Commitment,
}

impl Topic {
    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The topic of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|topic| topic.name() == name)
    }

    fn rule(self) -> fn(&Node<'_>) -> Result<Value, Failure> {
        match self {
            Self::Subset => presence::subset,
            Self::Presence => presence::presence,
            Self::CommitteeSize => committee::size,
            Self::Seed => selection::seed,
            Self::Select => selection::select,
            Self::SumTree => selection::sum_tree,
            Self::Aggregator => committee::aggregator,
            Self::Reputation => reputation::reputation,
            Self::Lane => timers::lane,
            Self::Fairness => timers::fairness,
            Self::TimerOrder => timers::order,
            Self::Verify => verify::verify,
            Self::Payout => payout::payout,
            Self::Commitment => commitment::commitment,
        }
    }
}

/// The codes that a script can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    InvalidInput,
    InsufficientRunners,
    Overflow,
    UnsupportedCheck,
}

impl Code {
    const fn name(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid_input",
            Self::InsufficientRunners => "insufficient_runners",
            Self::Overflow => "overflow",
            Self::UnsupportedCheck => "unsupported_check",
        }
    }
}

/// Why a rule has no answer.
#[derive(Debug)]
struct Failure {
    code: Code,
    reason: String,
}

impl Failure {
    fn new(code: Code, reason: impl ToString) -> Self {
        Self { code, reason: reason.to_string() }
    }

    fn invalid(reason: impl ToString) -> Self {
        Self::new(Code::InvalidInput, reason)
    }

    fn overflow(reason: impl ToString) -> Self {
        Self::new(Code::Overflow, reason)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub output: String,
    /// 0, or 1 if the document is an error.
    pub status: u8,
    /// The reason of an error, in words.
    pub reason: Option<String>,
}

pub fn run(topic: Topic, input: &[u8]) -> Outcome {
    match answer(topic, input) {
        Ok(value) => Outcome { output: value.to_string(), status: 0, reason: None },
        Err(failure) => {
            let output = json!({ "error": failure.code.name() }).to_string();
            Outcome { output, status: 1, reason: Some(failure.reason) }
        }
    }
}

fn answer(topic: Topic, input: &[u8]) -> Result<Value, Failure> {
    if input.trim_ascii().is_empty() {
        return Err(Failure::invalid("stdin is empty; a JSON object is expected"));
    }
    let document: Map<String, Value> = serde_json::from_slice(input)
        .map_err(|error| Failure::invalid(format!("stdin is no JSON object: {error}")))?;
    topic.rule()(&Node::root(&Value::Object(document)))
}

/// Runs the command: stdin to stdout.
pub fn main(args: &Args) -> ExitCode {
    if io::stdin().is_terminal() {
        eprintln!("remuda audit {}: type one JSON document, then Ctrl-D", args.topic.name());
    }
    let mut input = Vec::new();
    if let Err(error) = io::stdin().lock().read_to_end(&mut input) {
        eprintln!("remuda audit: cannot read stdin: {error}");
        return ExitCode::FAILURE;
    }
    let outcome = run(args.topic, &input);
    if let Some(reason) = &outcome.reason {
        eprintln!("remuda audit {}: {reason}", args.topic.name());
    }
    match writeln!(io::stdout(), "{}", outcome.output) {
        Ok(()) => ExitCode::from(outcome.status),
        Err(error) => {
            eprintln!("remuda audit: cannot write stdout: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests;
