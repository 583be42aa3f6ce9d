//! What all commands that talk to a node share: which node, how to print, how to end.

use crate::failure::Failure;
use crate::style::Style;
use remuda_client::client::RetryPolicy;
use remuda_client::{Client, Config, wallet};
use remuda_protocol::crypto::SecretKey;
use serde::Serialize;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Where `remuda dev` has its first validator.
const DEFAULT_NODE: &str = "http://127.0.0.1:4100";
/// Somebody waits at the keyboard: fewer and shorter pauses than a service would make.
const RETRY: RetryPolicy = RetryPolicy {
    attempts: 3,
    base: Duration::from_millis(100),
    max: Duration::from_millis(1_500),
};
/// No transaction carries more than this; see also the limit on jobs in JSON.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Which node, and how to print.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct NodeArgs {
    /// A node's API. Give several, and the next is asked if one is down.
    #[arg(
        long = "node",
        value_name = "URL",
        env = "REMUDA_NODE",
        hide_env_values = true,
        value_delimiter = ',',
        default_value = DEFAULT_NODE,
        global = true
    )]
    nodes: Vec<String>,
    #[command(flatten)]
    print: PrintArgs,
}

#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct PrintArgs {
    /// Print JSON: one object, or one on each line for what goes on.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Args, Clone, Debug)]
pub(crate) struct KeyArgs {
    /// The file of the key that signs; `remuda key new FILE` makes one.
    #[arg(long, value_name = "FILE", env = "REMUDA_KEY", hide_env_values = true)]
    key: PathBuf,
}

impl NodeArgs {
    pub(crate) fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// How to print, for a command that asks no node.
    pub(crate) fn out(&self) -> Output {
        Output::new(self.print)
    }
}

impl KeyArgs {
    pub(crate) fn read(&self) -> Result<SecretKey, Failure> {
        Ok(wallet::read(&self.key)?)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.key
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) style: Style,
}

impl Output {
    pub(crate) fn new(args: PrintArgs) -> Self {
        Self { json: args.json, style: Style::stdout() }
    }

    /// Prints an answer: as JSON, or rendered for people.
    pub(crate) fn show<T: Serialize>(
        &self,
        value: &T,
        render: impl FnOnce(&T, Style) -> String,
    ) -> Result<(), Failure> {
        if !self.json {
            return self.text(&render(value, self.style));
        }
        let json = serde_json::to_string(value).map_err(|error| Failure::Output(error.into()))?;
        self.text(&format!("{json}\n"))
    }

    /// Like `show`, but decodes actor payloads in events.
    pub(crate) fn show_events<T: Serialize>(
        &self,
        value: &T,
        render: impl FnOnce(&T, Style) -> String,
    ) -> Result<(), Failure> {
        let mut json =
            serde_json::to_value(value).map_err(|error| Failure::Output(error.into()))?;
        crate::value::decode_events(&mut json);
        self.show(&json, |_, style| render(value, style))
    }

    /// Tells something beside the answer, where no program reads it.
    pub(crate) fn remark(&self, text: &str) {
        // If it cannot be written, the answer is there all the same.
        let _ = writeln!(io::stderr(), "remuda: {text}");
    }

    /// Prints at once: somebody may be watching.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Output)
    }

    pub(crate) fn end(&self, result: Result<(), Failure>, nodes: &[String]) -> ExitCode {
        let failure = match result {
            Ok(()) => return ExitCode::SUCCESS,
            Err(failure) if failure.is_broken_pipe() => return ExitCode::SUCCESS,
            Err(failure) => failure,
        };
        // If these cannot be written either, the status says enough.
        let _ = writeln!(io::stderr(), "remuda: {}", failure.render(nodes));
        if let Some(json) = failure.json(nodes).filter(|_| self.json) {
            let _ = self.text(&format!("{json}\n"));
        }
        failure.status()
    }
}

/// A command's way to the node and to the reader.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) out: Output,
}

/// Runs what waits most of the time.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Failure::Start)?.block_on(work)
}

/// Runs a service, on all cores.
pub(crate) fn block_on_threads<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(Failure::Start)?.block_on(work)
}

/// Runs a command that talks to a node.
pub(crate) fn run(
    args: &NodeArgs,
    command: impl AsyncFnOnce(&Session) -> Result<(), Failure>,
) -> ExitCode {
    let out = Output::new(args.print);
    let result = (|| {
        let config = Config { retry: RETRY, ..Config::new(args.nodes.iter().cloned()) };
        let session = Session { client: Client::with(config)?, out };
        block_on(command(&session))
    })();
    out.end(result, &args.nodes)
}

/// Reads a file that the user names; `-` is standard input.
pub(crate) fn read_input(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |source| Failure::File { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let mut read = |from: &mut dyn Read| from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    if path == Path::new("-") {
        read(&mut io::stdin().lock()).map_err(failed)?;
    } else {
        let mut file = std::fs::File::open(path).map_err(failed)?;
        read(&mut file).map_err(failed)?;
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::FileTooLong { path: path.to_owned(), most: FILE_BYTES_MAX });
    }
    Ok(bytes)
}
