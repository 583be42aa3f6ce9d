//! `remuda fleet`: a whole fleet at once; and what all commands about fleets share.

pub(crate) mod broker;
mod demo;
mod limits;
mod lockfile;
mod proxy;
mod stage;
mod status;
mod workers;

pub use crate::failure::FleetFailure;
pub(crate) use lockfile::{lock, private};
pub use stage::{Stage, failed, local};

use crate::failure::Failure;
use crate::session::{Output, PrintArgs, block_on, read_input};
use clap::Subcommand;
use remuda_fleet::client::Client;
use remuda_fleet::http::{Endpoint, Trust};
use serde::de::DeserializeOwned;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where `remuda orchestrator init` lets it listen.
pub(crate) const DEFAULT_LISTEN: &str = "127.0.0.1:4400";
const DEFAULT_URL: &str = "http://127.0.0.1:4400";
/// No token is longer.
const TOKEN_BYTES_MAX: u64 = 1_024;

/// See a fleet at work, or what one does now.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda fleet demo
  $ remuda fleet status --token-file fleet/viewer.token --json
  $ remuda fleet limits set deploy:production 1 --token-file fleet/operator.token
  $ remuda fleet expel KEY --token-file fleet/operator.token

A fleet is an orchestrator and workers: `remuda orchestrator --help`, `remuda worker --help`. What they do
is submitted with `remuda run`.")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Demo(demo::Args),
    /// Show what waits, what is being done, and by whom.
    #[command(after_help = "Example:\n  $ remuda fleet status --json | jq .queue.desired_workers")]
    Status(FleetArgs),
    Limits(limits::Args),
    /// List enrolled machines, and how many workers of each were seen recently.
    #[command(after_help = "Example:\n  $ remuda fleet workers --token-file fleet/viewer.token")]
    Workers(FleetArgs),
    /// Believe a machine's key no longer; it takes an operator's token, and is in the audit log.
    ///
    /// Whatever its workers send is refused from then on. Their leases run out, and the jobs go to others.
    /// It cannot be taken back: a machine that comes again makes a new key.
    #[command(
        after_help = "Example:\n  $ remuda fleet expel 0123456789abcdef01234567 --token-file fleet/operator.token"
    )]
    Expel(workers::Expel),
}

pub fn main(args: &Args) -> ExitCode {
    match &args.command {
        Command::Demo(args) => demo::main(args),
        Command::Status(args) => run(args, async |session| status::status(session).await),
        Command::Limits(args) => limits::main(args),
        Command::Workers(args) => run(args, async |session| workers::list(session).await),
        Command::Expel(args) => workers::expel(args),
    }
}

/// Which orchestrator, as whom, and how to print.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct FleetArgs {
    /// URL of the orchestrator.
    #[arg(
        long,
        value_name = "URL",
        env = "REMUDA_ORCHESTRATOR",
        hide_env_values = true,
        default_value = DEFAULT_URL,
        global = true
    )]
    pub(crate) orchestrator: String,
    /// A file with a token; the orchestrator's directory has some (`submitter.token`, `viewer.token`).
    #[arg(
        long,
        value_name = "FILE",
        env = "REMUDA_TOKEN_FILE",
        hide_env_values = true,
        global = true
    )]
    pub(crate) token_file: Option<PathBuf>,
    /// PEM file of private certificate authorities to trust for the orchestrator.
    #[arg(
        long,
        value_name = "FILE",
        env = "REMUDA_CA_FILE",
        hide_env_values = true,
        global = true
    )]
    ca_file: Option<PathBuf>,
    /// Allow plain HTTP to another machine: anyone on the network path can read and use the token.
    #[arg(long, global = true)]
    insecure: bool,
    #[command(flatten)]
    print: PrintArgs,
}

impl FleetArgs {
    /// Whether an orchestrator was named, and not this one.
    pub(crate) fn names_another(&self, url: &str) -> bool {
        let plain = |url: &str| url.trim_end_matches('/').to_owned();
        self.orchestrator != DEFAULT_URL && plain(&self.orchestrator) != plain(url)
    }

    /// Which certificates are believed.
    pub(crate) fn trust(&self) -> Trust {
        // It is named from here, and may be read from elsewhere.
        let absolute = |file: &PathBuf| std::path::absolute(file).unwrap_or_else(|_| file.clone());
        Trust { ca_file: self.ca_file.as_ref().map(absolute), insecure: self.insecure }
    }

    /// The way to the orchestrator.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, FleetFailure> {
        Ok(Endpoint::new(&self.orchestrator, &self.trust())?)
    }

    pub(crate) fn out(&self) -> Output {
        Output::new(self.print)
    }
}

/// A command's way to the orchestrator and to the reader.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) out: Output,
    url: String,
    token_file: Option<PathBuf>,
}

impl Session {
    /// Turns an error of the client into a failure that names the URL and the token file.
    pub(crate) fn explain(&self, error: remuda_fleet::client::ClientError) -> Failure {
        FleetFailure::of_call(error, &self.url, self.token_file.as_deref()).into()
    }
}

/// Runs a command that talks to an orchestrator.
pub(crate) fn run(
    args: &FleetArgs,
    command: impl AsyncFnOnce(&Session) -> Result<(), Failure>,
) -> ExitCode {
    let out = args.out();
    let result = (|| {
        let endpoint = args.endpoint()?;
        let url = endpoint.url().to_owned();
        let token = args.token_file.as_deref().map(read_token).transpose()?;
        let client = Client::new(endpoint, token);
        let session = Session { client, out, url, token_file: args.token_file.clone() };
        block_on(command(&session))
    })();
    out.end(result, &[])
}

/// Reads a file with a token in it.
pub fn read_token(path: &Path) -> Result<String, Failure> {
    let failed = |source| Failure::File { path: path.to_owned(), source };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(TOKEN_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
    let token = text.trim();
    let visible = token.bytes().all(|byte| byte.is_ascii_graphic());
    match !token.is_empty() && visible && text.len() as u64 <= TOKEN_BYTES_MAX {
        true => Ok(token.to_owned()),
        false => Err(FleetFailure::NoTokenInside(path.to_owned()).into()),
    }
}

/// Reads settings in TOML, and says where they are: the file itself, or the one in a directory.
pub(crate) fn read_settings<T: DeserializeOwned>(
    path: &Path,
    file: &'static str,
    command: &'static str,
) -> Result<(T, PathBuf), Failure> {
    let at = if path.is_dir() { path.join(file) } else { path.to_owned() };
    if !at.exists() {
        return Err(FleetFailure::NotMade { path: path.to_owned(), file, command }.into());
    }
    let wrong = |why: String| FleetFailure::Content { path: at.clone(), why };
    let text = String::from_utf8(read_input(&at)?)
        .map_err(|_| wrong("it is not UTF-8 text".to_owned()))?;
    let settings = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    Ok((settings, at))
}

/// Writes a new file that only its owner can read.
pub(crate) fn secret_file(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let advice = "name another place for it";
            FleetFailure::Exists { path: path.to_owned(), advice }.into()
        }
        _ => Failure::File { path: path.to_owned(), source },
    };
    let open = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = open.map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}
