//! `remuda orchestrator token`: who may do what.

use super::settings::Settings;
use crate::failure::Failure;
use crate::fleet::{FleetFailure, secret_file};
use crate::session::Output;
use crate::style::{Cell, Table};
use clap::{Subcommand, ValueEnum};
use remuda_fleet::auth::{Access, Scope, Token, TokenHash, random_hex};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Longest name of a token.
const NAME_BYTES_MAX: usize = 64;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  $ remuda orchestrator token new fleet --name ci --scope submitter"
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TokenScope {
    /// To look: runs, logs, workers, pages, metrics.
    Viewer,
    /// To submit, cancel and repeat runs; and to look.
    Submitter,
    /// To set limits and expel workers; and all of the above.
    Operator,
    /// To enrol workers, and nothing else.
    Worker,
}

impl TokenScope {
    pub(super) const ALL: [Self; 4] = [Self::Operator, Self::Submitter, Self::Viewer, Self::Worker];

    pub(super) fn scope(self) -> Scope {
        match self {
            Self::Viewer => Scope::Viewer,
            Self::Submitter => Scope::Submitter,
            Self::Operator => Scope::Operator,
            Self::Worker => Scope::Enrol,
        }
    }

    /// As it is called on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Submitter => "submitter",
            Self::Operator => "operator",
            Self::Worker => "worker",
        }
    }

    fn of(scope: Scope) -> Self {
        match scope {
            Scope::Viewer => Self::Viewer,
            Scope::Submitter => Self::Submitter,
            Scope::Operator => Self::Operator,
            Scope::Enrol => Self::Worker,
        }
    }
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make a token, and write it to a file that only its owner can read.
    ///
    /// The orchestrator keeps its hash only: the file is the one place where the token is.
    #[command(after_help = "Examples:
  $ remuda orchestrator token new fleet --name ci --scope submitter
  $ remuda orchestrator token new fleet --name nightly --scope submitter --priority-max -10 --running-max 8
  $ remuda orchestrator token new fleet --name rack-7 --scope worker --out rack-7.token")]
    New {
        /// The orchestrator's directory.
        directory: PathBuf,
        /// Name of the holder, for the audit log and for revoking it.
        #[arg(long)]
        name: String,
        /// What the token allows.
        #[arg(long)]
        scope: TokenScope,
        /// Highest priority of jobs that this token submits [default: 0, no limit for operators].
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        priority_max: Option<i16>,
        /// Most jobs of this token that workers have at a time, so that other submitters get their turn.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        running_max: Option<u32>,
        /// Where to write it; otherwise NAME.token in the orchestrator's directory.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// List tokens: names and scopes.
    #[command(after_help = "Example:\n  $ remuda orchestrator token list fleet")]
    List {
        /// The orchestrator's directory.
        directory: PathBuf,
    },
    /// Revoke a token by its name. Workers that it enrolled stay: expel them by their keys.
    #[command(after_help = "Example:\n  $ remuda orchestrator token revoke fleet --name ci")]
    Revoke {
        /// The orchestrator's directory.
        directory: PathBuf,
        /// Name of the token.
        #[arg(long)]
        name: String,
    },
}

pub(super) fn token(out: Output, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::New { directory, name, scope, priority_max, running_max, out: file } => {
            let submits = matches!(scope, TokenScope::Submitter | TokenScope::Operator);
            if !submits && (priority_max.is_some() || running_max.is_some()) {
                let text = "--priority-max and --running-max are for tokens of scope submitter or operator";
                return Err(Failure::Usage(text));
            }
            let path = Settings::read(directory)?.tokens();
            let file = file.clone().unwrap_or_else(|| directory.join(format!("{name}.token")));
            let mut access = read(&path)?;
            let made = make(&access, name, *scope, &file)?;
            let (priority_max, running_max) = (*priority_max, *running_max);
            access.0.push(Token { priority_max, running_max, ..made });
            write(&path, &access)?;
            let shown = json!({ "name": name, "scope": scope.name(), "file": file });
            out.show(&shown, |_, _| format!("{}\n", file.display()))
        }
        Command::List { directory } => {
            let access = read(&Settings::read(directory)?.tokens())?;
            let row = |token: &Token| {
                json!({ "name": token.name, "scope": TokenScope::of(token.scope).name(),
                    "priority_max": token.priority_max(), "running_max": token.running_max })
            };
            let rows: Vec<_> = access.0.iter().map(row).collect();
            out.show(&json!({ "tokens": rows }), |_, style| {
                let submits = |token: &Token| token.scope.allows(Scope::Submitter);
                let running = |it: &Token| it.running_max.filter(|_| submits(it));
                Table::of(&access.0)
                    .left("name", |token| &token.name)
                    .left("scope", |token| TokenScope::of(token.scope).name())
                    .right("max priority", |it| {
                        Cell::optional(submits(it).then(|| it.priority_max()))
                    })
                    .right("max running", |token| Cell::optional(running(token)))
                    .render(style)
            })
        }
        Command::Revoke { directory, name } => {
            let path = Settings::read(directory)?.tokens();
            let mut access = read(&path)?;
            let before = access.0.len();
            access.0.retain(|token| token.name != *name);
            if access.0.len() == before {
                return Err(FleetFailure::UnknownToken(name.clone()).into());
            }
            write(&path, &access)?;
            let file = directory.join(format!("{name}.token"));
            out.show(&json!({ "revoked": name }), |_, _| match file.exists() {
                true => format!("revoked {name}; {} can be deleted\n", file.display()),
                false => format!("revoked {name}\n"),
            })
        }
    }
}

/// Makes a token and writes it to a new file.
pub(super) fn make(
    access: &Access,
    name: &str,
    scope: TokenScope,
    file: &Path,
) -> Result<Token, Failure> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(plain) {
        let text = "a token's name has 1 to 64 letters, digits, dots, dashes and underscores";
        return Err(Failure::Usage(text));
    }
    if access.0.iter().any(|token| token.name == name) {
        return Err(Failure::Usage("a token of this name is there already; revoke it first"));
    }
    let secret = format!("fleet_{}", random_hex::<24>());
    secret_file(file, &format!("{secret}\n"))?;
    let sha256 = TokenHash::of(&secret);
    Ok(Token::new(name, scope.scope(), sha256))
}

fn read(path: &Path) -> Result<Access, Failure> {
    if !path.exists() {
        return Ok(Access::default());
    }
    let text = crate::session::read_input(path)?;
    serde_json::from_slice(&text).map_err(|error| {
        FleetFailure::Content { path: path.to_owned(), why: error.to_string() }.into()
    })
}

/// Writes the hashes, whole or not at all: an orchestrator may read them at any moment.
pub(super) fn write(path: &Path, access: &Access) -> Result<(), Failure> {
    let failed = |source| Failure::File { path: path.to_owned(), source };
    let new = path.with_extension(format!("json.{}", std::process::id()));
    let text = serde_json::to_string_pretty(access).map_err(|error| failed(error.into()))?;
    secret_file(&new, &text)?;
    std::fs::rename(&new, path).map_err(failed)
}
