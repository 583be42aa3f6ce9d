//! Tools of MCP servers that the operator named, of which jobs may use those that the operator lists.
//!
//! A server is a program on this machine that is spoken to over its standard input and output, or an
//! address with streamable HTTP. Each job has a session of its own: a program is started for it and
//! killed after it, with all that it started, so that no job finds what another left. A session that
//! does not come about is tried again, as often as the job allows; a call is made once, because
//! nobody knows what it did before it failed.
//!
//! # Results
//!
//! As JSON: `{"value": …}` with what the tool calls its structured content, or else with its text if
//! that is a JSON object or array; `{"text": "…"}` with its text otherwise. As text or bytes: its
//! text, or else its structured content in canonical JSON. Several texts are lines of one. Pictures,
//! sounds and resources are no result. A tool that reports an error has failed.

mod answer;
mod budget;
mod process;
mod web;

use super::endpoint::{Endpoint, EndpointError, PLAIN, blame, transport};
use super::retry::Retries;
use super::{ExecuteError, Work};
use answer::UntypedContent;
use budget::Budget;
use process::{Process, Server};
use remuda_protocol::dispatcher::spec::JobType;
use remuda_protocol::verifier::json::{Json, parse};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    Implementation, JsonObject, ProtocolVersion,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{RoleClient, ServiceExt};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;
use tracing::warn;
use web::Web;

/// Bytes that a server may send besides a result, as its description and notifications.
const WIRE_BYTES: usize = 256 * 1024;
/// Characters of a server's own words that are passed on.
const WORDS_MAX: usize = 200;
/// What becomes of a call that failed.
const ONCE: &str = "the call may have had its effect and is not repeated";
/// Bounds the end of a session. The result has arrived by then.
const FAREWELL: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpConfig {
    /// The servers, by the name that jobs use. There are no others.
    pub servers: BTreeMap<String, ServerConfig>,
    /// Certificates (PEM) that are trusted besides the public ones.
    pub ca_file: Option<PathBuf>,
}

/// A server: a program or an address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// The program, by its whole path.
    pub command: Option<PathBuf>,
    pub args: Vec<String>,
    /// All of its environment: nothing of the runner's own is passed on.
    pub env: BTreeMap<String, String>,
    /// The address, such as `http://127.0.0.1:3001/mcp`.
    pub url: Option<String>,
    /// File with the key, if the address wants one.
    pub api_key_file: Option<PathBuf>,
    /// The tools that jobs may use. There are no others.
    pub tools: BTreeSet<String>,
    /// How long the server may take to be ready.
    pub start_ms: u64,
    /// How long a tool may take. A job with less time has less.
    pub answer_ms: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            command: None,
            args: vec![],
            env: BTreeMap::new(),
            url: None,
            api_key_file: None,
            tools: BTreeSet::new(),
            start_ms: 15_000,
            answer_ms: 60_000,
        }
    }
}

/// Why an operator's server cannot be used.
#[derive(Debug, Error)]
pub enum McpError {
    /// Neither a program nor an address, or both.
    #[error("MCP server {0:?}: set either a command or a url")]
    NotOne(String),
    /// Settings of the other kind.
    #[error("MCP server {0:?}: args and env need a command, api_key_file needs a url")]
    Mixed(String),
    /// Programs are not looked for.
    #[error("MCP server {0:?}: the command must be an absolute path")]
    NotAbsolute(String),
    /// Its address or its key.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

pub struct Mcp {
    servers: BTreeMap<String, Known>,
}

/// A server, and what may be done with it.
struct Known {
    kind: Kind,
    tools: BTreeSet<String>,
    start: Duration,
    answer: Duration,
    /// For errors: which server this is.
    what: String,
}

enum Kind {
    Program(Server),
    Address(Arc<Endpoint>),
}

/// A session with a server, and the process that it is with, if it is one.
struct Session {
    service: RunningService<RoleClient, ClientConfig>,
    _process: Option<Process>,
}

impl Mcp {
    /// With an operator's servers. Reads their keys; nothing is started yet.
    pub fn new(config: &McpConfig) -> Result<Self, McpError> {
        let transport = transport(config.ca_file.as_deref()).map_err(EndpointError::from)?;
        let mut servers = BTreeMap::new();
        for (name, server) in &config.servers {
            let what = format!("the MCP server {name:?}");
            let kind = match (&server.command, &server.url) {
                (Some(_), None) if server.api_key_file.is_some() => {
                    return Err(McpError::Mixed(name.clone()));
                }
                (None, Some(_)) if !server.args.is_empty() || !server.env.is_empty() => {
                    return Err(McpError::Mixed(name.clone()));
                }
                (Some(command), None) if command.is_absolute() => Kind::Program(Server {
                    command: command.clone(),
                    args: server.args.clone(),
                    env: server.env.clone(),
                }),
                (Some(_), None) => return Err(McpError::NotAbsolute(name.clone())),
                (None, Some(url)) => {
                    let key_file = server.api_key_file.as_deref();
                    let endpoint = Endpoint::new(what.clone(), transport.clone(), url, key_file)?;
                    Kind::Address(Arc::new(endpoint))
                }
                _ => return Err(McpError::NotOne(name.clone())),
            };
            let known = Known {
                kind,
                tools: server.tools.clone(),
                start: Duration::from_millis(server.start_ms),
                answer: Duration::from_millis(server.answer_ms),
                what,
            };
            servers.insert(name.clone(), known);
        }
        Ok(Self { servers })
    }

    /// Whether a server answers a plain question. None: there is no such server.
    pub(crate) async fn probe(&self, server: &str) -> Option<Result<(), ExecuteError>> {
        Some(self.servers.get(server)?.plain().await)
    }

    pub async fn execute(&self, work: &Work<'_>) -> Result<Vec<u8>, ExecuteError> {
        let JobType::Mcp { server, tool, arguments } = &work.spec.job_type else {
            return Err(ExecuteError::BadJob("no tool to call".into()));
        };
        let not_allowed = |reason| Err(ExecuteError::NotAllowed(reason));
        let Some(known) = self.servers.get(server) else {
            return not_allowed(format!("there is no MCP server {server:?} here"));
        };
        if !known.tools.contains(tool) {
            return not_allowed(format!("{} has no tool {tool:?} for jobs", known.what));
        }
        let arguments = read(arguments)?;
        let call = CallToolRequestParams::new(tool.clone()).with_arguments(arguments);
        let result = timeout(work.time_limit, known.call(work, call))
            .await
            .map_err(|_| ExecuteError::TimedOut(work.time_limit))??;
        answer::shape(work, result).map_err(|error| match error {
            UntypedContent::Reported(text) => {
                known.useless(&format!("the tool reports an error: {}", known.words(&text)))
            }
            UntypedContent::Useless(reason) => known.useless(&reason),
            UntypedContent::Other(error) => error,
        })
    }
}

/// A job's arguments. They pass the protocol's rules first, so that all runners read the same.
fn read(arguments: &str) -> Result<JsonObject, ExecuteError> {
    let bad = |reason: String| ExecuteError::BadJob(format!("its arguments: {reason}"));
    match parse(arguments.as_bytes()) {
        Ok(document @ Json::Object(_)) => {
            serde_json::from_str(&document.canonical()).map_err(|error| bad(error.to_string()))
        }
        Ok(_) => Err(bad("no JSON object".into())),
        Err(error) => Err(bad(error.to_string())),
    }
}

impl Known {
    async fn call(
        &self,
        work: &Work<'_>,
        call: CallToolRequestParams,
    ) -> Result<CallToolResult, ExecuteError> {
        // No result is larger than its limit, so neither is what it is made of, with its escapes.
        let budget = Budget::new(WIRE_BYTES + 8 * work.max_bytes());
        let mut session = self.persist(work, &budget).await?;
        let answered = timeout(self.answer, session.service.call_tool_once(call)).await;
        let answered = answered.map_err(|_| ExecuteError::TimedOut(self.answer))?;
        let result = match answered {
            Ok(result) => result,
            Err(error) => {
                return Err(match self.failed(&budget, error) {
                    error @ ExecuteError::Backend(_) => blame(error, self.plain()).await,
                    error => error,
                });
            }
        };
        let _ = session.service.close_with_timeout(FAREWELL).await;
        match result {
            CallToolResponse::Complete(result) => Ok(result),
            _ => Err(self.useless("it wants to go on talking, and a job is one call")),
        }
    }

    /// Lists the tools, which every server answers that grants access.
    async fn plain(&self) -> Result<(), ExecuteError> {
        let budget = Budget::new(WIRE_BYTES);
        let asked = async {
            let mut session = self.open(&budget).await?;
            let listed = session.service.list_tools(None).await;
            listed.map_err(|error| self.failed(&budget, error))?;
            let _ = session.service.close_with_timeout(FAREWELL).await;
            Ok(())
        };
        let late = |_| Err(self.unreachable("it does not list its tools in time"));
        timeout(PLAIN.min(self.start), asked).await.unwrap_or_else(late)
    }

    /// A session; where there is none, nothing has been called yet.
    async fn persist(&self, work: &Work<'_>, budget: &Budget) -> Result<Session, ExecuteError> {
        let mut retries = Retries::of(work);
        loop {
            let opened = timeout(self.start, self.open(budget)).await;
            let opened = opened.unwrap_or_else(|_| {
                Err(self.unreachable(&format!("it is not ready within {:?}", self.start)))
            });
            match opened {
                Err(error) if retries.again(&error).await => {}
                end => return end,
            }
        }
    }

    async fn open(&self, budget: &Budget) -> Result<Session, ExecuteError> {
        let (greeted, process) = match &self.kind {
            Kind::Program(server) => {
                let (process, pipes) = server.start(budget).map_err(|error| {
                    warn!(server = self.what, %error, "MCP server failed to start");
                    self.unreachable("it does not start")
                })?;
                (client().serve(pipes).await, Some(process))
            }
            Kind::Address(endpoint) => {
                let web = Web::new(endpoint.clone(), budget.clone());
                (client().serve(web.transport()).await, None)
            }
        };
        match greeted {
            Ok(service) => Ok(Session { service, _process: process }),
            Err(error) => {
                let reason = self.words(&error.to_string());
                warn!(server = self.what, reason, "MCP initialize failed");
                Err(budget.failure().unwrap_or_else(|| self.unreachable("no MCP server answers")))
            }
        }
    }

    /// Why a call has no result.
    fn failed(&self, budget: &Budget, error: ServiceError) -> ExecuteError {
        let reason = self.words(&error.to_string());
        warn!(server = self.what, reason, "MCP call failed");
        match (budget.failure(), error) {
            // A call that was refused access had no effect.
            (Some(error @ (ExecuteError::TooLarge { .. } | ExecuteError::Backend(_))), _) => error,
            (_, ServiceError::McpError(said)) => {
                self.useless(&format!("it refuses: {}", self.words(&said.message)))
            }
            (_, ServiceError::UnexpectedResponse) => self.useless("no answer to a call"),
            // Whatever it did, it is not to do it again.
            (Some(ExecuteError::Unreachable(reason) | ExecuteError::BadAnswer(reason)), _) => {
                ExecuteError::BadAnswer(format!("{reason}; {ONCE}"))
            }
            _ => self.useless(&format!("it broke off; {ONCE}")),
        }
    }

    /// A server's words for strangers: not many, none that move a cursor, and no secret of ours.
    fn words(&self, text: &str) -> String {
        let text = match &self.kind {
            Kind::Program(server) => server.without_secrets(text.to_owned()),
            Kind::Address(endpoint) => endpoint.without_secrets(text.to_owned()),
        };
        text.chars().filter(|letter| !letter.is_control()).take(WORDS_MAX).collect()
    }

    fn unreachable(&self, reason: &str) -> ExecuteError {
        ExecuteError::Unreachable(format!("{}: {reason}", self.what))
    }

    fn useless(&self, reason: &str) -> ExecuteError {
        ExecuteError::BadAnswer(format!("{}: {reason}", self.what))
    }
}

/// A client without capabilities.
fn client() -> ClientConfig {
    let name = Implementation::new("remuda", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(ClientCapabilities::default(), name)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
}
