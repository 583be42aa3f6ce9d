//! Everything that can go wrong in a command that talks to a node, in words that say what to do.

mod fleet;

use crate::style::clean;
pub use fleet::FleetFailure;
use remuda_client::ClientError;
use remuda_client::client::EventsError;
use remuda_client::types::{
    EventBody, HexAddress, HexHash, PoolName, ReceiptView, ScalarError, SpecError, code,
};
use remuda_client::wallet::WalletError;
use remuda_protocol::error::Refusal;
use serde_json::{Value, json};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Failure {
    /// Wrong use that clap cannot see.
    #[error("{0}")]
    Usage(&'static str),
    /// A part of this program ended that should not have.
    #[error("{0}")]
    Broken(&'static str),
    /// A runner's settings are about another account than the one that signs.
    #[error("these settings run the key {}, and --key is another one: give that file", .meant.display())]
    OtherKey { meant: PathBuf },
    /// A call to a node.
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Events(#[from] EventsError),
    #[error(transparent)]
    Wallet(#[from] WalletError),
    /// A file that is given, or standard input.
    #[error("{path}: {}", in_words(.source), path = .path.display())]
    File { path: PathBuf, source: io::Error },
    /// A file that is given is too long.
    #[error("{path} has more than {most} bytes", path = .path.display())]
    FileTooLong { path: PathBuf, most: u64 },
    #[error("invalid job: {0}")]
    Spec(#[from] SpecError),
    #[error("invalid runner file: {0}")]
    Offer(String),
    /// A network on this machine.
    #[error("{0}")]
    Network(String),
    #[error(transparent)]
    Settings(#[from] remuda_runner::daemon::SettingsError),
    /// A runner that the chain knows already.
    #[error("{address} is registered already. To change what it offers: remuda runner update {file} --key {key}", file = .file.display(), key = .key.display())]
    Registered { address: HexAddress, file: PathBuf, key: PathBuf },
    #[error(
        "a stake of {stake} is too little: at least {floor}, which is the larger of {least} and one and a half times declared_max_job_value ({declared})"
    )]
    StakeTooLow { stake: String, floor: String, least: String, declared: String },
    /// A runner is there already.
    #[error("{} is there already, and is never overwritten; run it, or name another directory", .0.display())]
    RunnerExists(PathBuf),
    /// A runner that does not start.
    #[error(transparent)]
    Runner(#[from] remuda_runner::daemon::StartError),
    /// A runner on this machine.
    #[error(transparent)]
    Remote(#[from] remuda_runner::daemon::remote::RemoteError),
    #[error(transparent)]
    Fleet(#[from] FleetFailure),
    #[error("invalid hex: {0}")]
    Hex(#[from] ScalarError),
    /// The rules would turn it down, so it was not sent.
    #[error("nothing was sent, because the chain would turn it down: {0} ({name})", name = .0.name())]
    Rules(#[from] Refusal),
    /// The rules turned it down.
    #[error("{}", turned_down(.0))]
    TurnedDown(Box<ReceiptView>),
    /// It is in no block after all that waiting.
    #[error("transaction {0} is in no block yet; wait longer: remuda tx wait {0}")]
    StillWaiting(HexHash),
    /// The job is over, without a result.
    #[error("job {job} has no result: it {end}{advice}")]
    JobOver {
        job: HexHash,
        end: String,
        /// What to do, as a further sentence; or nothing.
        advice: String,
    },
    /// A file that would be overwritten.
    #[error("{path} is there already; name another file", path = .0.display())]
    FileExists(PathBuf),
    /// A program that the chain would not take.
    #[error("{0}")]
    Program(String),
    /// A class that its author may believe to be closed to strangers.
    #[error(
        "{file}: class {class} has no permission tags, so anybody can call {methods}. Compare \
         cowboy.caller() in each method that is not for everybody, then confirm with --open"
    )]
    OpenClass { file: String, class: String, methods: String },
    #[error("{0} failed")]
    TestsFailed(String),
    /// What a method would get is no JSON.
    #[error("the value is no JSON: {0}")]
    Payload(String),
    /// A timer ended without firing.
    #[error("the timer has not fired: {0}")]
    TimerOver(&'static str),
    /// Somebody who is not in the pool.
    #[error("{runner} is not in the pool {pool}; `remuda pool show {pool}` lists who is")]
    NotAMember { runner: HexAddress, pool: PoolName },
    /// A runner that no membership waits for.
    #[error(
        "{runner} has no pending membership of the pool {pool}; the pool's owner can grant one: remuda pool grant --help"
    )]
    NotInvited { runner: HexAddress, pool: PoolName },
    /// An answer that makes no sense.
    #[error("invalid response of the node: {0}")]
    Nonsense(&'static str),
    /// The runtime does not start.
    #[error("cannot start: {0}")]
    Start(#[source] io::Error),
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
}

/// What the system says, without its numbers where it is plain.
fn in_words(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "this user may not read or write it".to_owned(),
        ErrorKind::IsADirectory => "it is a directory, and a file is meant".to_owned(),
        _ => error.to_string(),
    }
}

/// Several lines, each clean.
fn lines(text: &str) -> String {
    text.trim_end().lines().map(clean).collect::<Vec<_>>().join("\n")
}

fn turned_down(receipt: &ReceiptView) -> String {
    let why = match &receipt.refusal {
        Some(refusal) => format!("{} ({})", refusal.message, refusal.name),
        None => format!("code {}", receipt.code),
    };
    let told = receipt.events.iter().find_map(|event| match event {
        EventBody::CallFailed { method, error, .. } => Some(format!(". {method}: {error}")),
        _ => None,
    });
    let why = match (told, &receipt.refusal) {
        (Some(told), _) => format!("{why}{}", clean(&told)),
        (None, _) => why,
    };
    let fee = crate::format::cby(remuda_protocol::primitives::Amount(receipt.fee.0));
    format!("the chain turned it down in block {}: {why}. The fee was {fee}", receipt.height)
}

impl Failure {
    /// The exit status: 2 for wrong use, 1 for all else.
    pub(crate) fn status(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::OtherKey { .. } | Self::Client(ClientError::BadUrl(_)) => {
                ExitCode::from(2)
            }
            Self::Fleet(failure) => failure.status(),
            _ => ExitCode::FAILURE,
        }
    }

    /// Whether nobody reads any more: no failure of ours, and no reason for words.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == ErrorKind::BrokenPipe)
    }

    /// Whether the command has printed what it is about already.
    fn is_shown(&self) -> bool {
        let ended = matches!(self, Self::Fleet(FleetFailure::Ended { .. }));
        ended || matches!(self, Self::TurnedDown(_) | Self::JobOver { .. } | Self::TimerOver(_))
    }

    /// One or two sentences: what is wrong, and what to do.
    pub(crate) fn render(&self, nodes: &[String]) -> String {
        let words = match self {
            Self::Client(error) | Self::Events(EventsError::Client(error)) => {
                client_words(error, nodes)
            }
            Self::Wallet(WalletError::Io { path, source }) => wallet_words(path, source),
            // These point to a line, below that line.
            Self::Settings(error) => return lines(&error.to_string()),
            Self::Fleet(error @ FleetFailure::Content { .. }) => return lines(&error.to_string()),
            other => other.to_string(),
        };
        clean(&words)
    }

    /// What `--json` prints instead of an answer, unless there is one.
    pub(crate) fn json(&self, nodes: &[String]) -> Option<Value> {
        let object = || json!({ "error": self.code(), "message": self.render(nodes) });
        (!self.is_shown()).then(object)
    }

    /// Stable; programs compare it. A node's refusal keeps the node's code.
    fn code(&self) -> &str {
        match self {
            Self::Usage(_) | Self::OtherKey { .. } => "wrong_use",
            Self::Broken(_) => "broken",
            Self::Client(error) | Self::Events(EventsError::Client(error)) => match error {
                ClientError::BadUrl(_) => "wrong_use",
                ClientError::Unreachable(_) => "unreachable",
                ClientError::Transport(_) => "no_answer",
                ClientError::Refused { error, .. } => &error.code,
                ClientError::Unexpected(_) => "unexpected_answer",
                ClientError::NotIncluded(_) => "not_included",
            },
            Self::Events(EventsError::Gone(_)) => code::UNKNOWN_BLOCK,
            Self::Wallet(_) => "no_key",
            Self::File { .. } | Self::FileTooLong { .. } => "no_file",
            Self::Spec(_) | Self::Offer(_) | Self::Hex(_) | Self::Settings(_) => "invalid_input",
            Self::RunnerExists(_) | Self::FileExists(_) => "exists",
            Self::Registered { .. } => "registered",
            Self::StakeTooLow { .. } => "stake_too_low",
            Self::Network(_) => "no_network",
            Self::Runner(_) => "no_runner",
            Self::Remote(_) => "unreachable",
            Self::Fleet(failure) => failure.code(),
            Self::Rules(refusal) => refusal.name(),
            Self::TurnedDown(_) => "turned_down",
            Self::StillWaiting(_) => "not_included",
            Self::JobOver { .. } => "no_result",
            Self::TimerOver(_) => "not_fired",
            Self::NotAMember { .. } => "not_a_member",
            Self::NotInvited { .. } => "not_invited",
            Self::Program(_) => "not_a_program",
            Self::OpenClass { .. } => "open_class",
            Self::TestsFailed(_) => "tests_failed",
            Self::Payload(_) => "invalid_input",
            Self::Nonsense(_) => "unexpected_answer",
            Self::Start(_) | Self::Output(_) => "internal",
        }
    }
}

fn client_words(error: &ClientError, nodes: &[String]) -> String {
    match error {
        ClientError::Unreachable(_) => format!(
            "no node answers at {}. Start one on this machine with `remuda dev`, or name another \
             with --node URL.",
            nodes.join(" or ")
        ),
        ClientError::Transport(_) => format!(
            "the node at {} did not answer in time, or broke off. Try again, or name another \
             with --node URL.",
            nodes.join(" or ")
        ),
        ClientError::Refused { error, .. } => {
            let hint = match error.code.as_str() {
                "cannot_pay" => Some("On a development chain: remuda account faucet --key FILE"),
                // Its hint speaks of a header that nobody sees here.
                code::RATE_LIMITED => Some("Try again in a minute."),
                _ => error.hint.as_deref(),
            };
            let hint = hint.map_or(String::new(), |hint| format!(". {hint}"));
            format!("{} ({}){hint}", error.message, error.code)
        }
        ClientError::NotIncluded(hash) => format!(
            "transaction {hash} was taken but is in no block yet. Wait for it: remuda tx wait {hash}"
        ),
        ClientError::BadUrl(_) | ClientError::Unexpected(_) => error.to_string(),
    }
}

fn wallet_words(path: &Path, source: &io::Error) -> String {
    let here = Path::new(".");
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(here);
    let path = path.display();
    match source.kind() {
        ErrorKind::NotFound if !folder.exists() => {
            let folder = folder.display();
            format!("{path}: there is no directory {folder}. Make it first: mkdir -p {folder}")
        }
        ErrorKind::NotFound => {
            format!("{path} cannot be found. Make a key with: remuda key new {path}")
        }
        _ => format!("{path}: {source}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_client::types::ApiError;

    fn refused(code: &str, hint: Option<&str>) -> Failure {
        let error = ApiError {
            code: code.to_owned(),
            message: "no such thing".to_owned(),
            hint: hint.map(str::to_owned),
        };
        ClientError::Refused { status: 404, error, retry_after: None }.into()
    }

    #[test]
    fn a_refusal_says_what_the_node_says() {
        let failure = refused("unknown_job", Some("look elsewhere"));
        assert_eq!(failure.render(&[]), "no such thing (unknown_job). look elsewhere");
        let json = failure.json(&[]).unwrap();
        assert_eq!(json["error"], "unknown_job");
        assert_eq!(failure.status(), ExitCode::FAILURE);
    }

    #[test]
    fn insufficient_balance_suggests_the_faucet() {
        assert!(refused("cannot_pay", None).render(&[]).contains("remuda account faucet"));
    }

    #[test]
    fn a_node_cannot_steer_the_terminal_by_its_errors() {
        assert!(!refused("x", Some("\x1b[2J")).render(&[]).contains('\x1b'));
    }

    #[test]
    fn wrong_use_has_a_status_of_its_own() {
        let failure: Failure = ClientError::BadUrl("ftp://x".to_owned()).into();
        assert_eq!(failure.status(), ExitCode::from(2));
        assert_eq!(failure.json(&[]).unwrap()["error"], "wrong_use");
    }
}
