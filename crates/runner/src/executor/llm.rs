//! Answers of language models, from any server that speaks OpenAI's `/v1/chat/completions`.
//!
//! The operator's table says which models there are and where. What the model says is streamed, so
//! that progress is seen, and a server that says too much is left.

mod plain;
mod reply;

use super::document::{finish, number, object, string, thousandths, within};
use super::endpoint::{Endpoint, EndpointError, blame, transport};
use super::retry::Retries;
use super::sse::Events;
use super::transport::Answer;
use super::{ExecuteError, Work};
use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;
use remuda_protocol::dispatcher::spec::{DataFormat, JobType, Message};
use remuda_protocol::verifier::json::Json;
use reply::{Completion, Reply};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tokio::time::timeout;

/// Role of a message.
const ROLES: [&str; 3] = ["system", "user", "assistant"];
/// Tokens around each message, that a model's template adds.
const MESSAGE_TOKENS: u64 = 4;
/// Bytes on the wire for one token: a whole event with its frame.
const TOKEN_WIRE_BYTES: usize = 2_048;
/// Bytes on the wire besides tokens.
const WIRE_BYTES: usize = 64 * 1024;

/// Servers read the lower 32 bits of a seed, and one of the most used takes all ones for "choose one
/// yourself": a committee would never agree. So seeds are folded into what is below that.
const SEEDS: u64 = u32::MAX as u64;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LlmConfig {
    /// The models, by the name that jobs use. There are no others.
    pub models: BTreeMap<String, ModelConfig>,
    /// Certificates (PEM) that are trusted besides the public ones.
    pub ca_file: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The server, such as `http://127.0.0.1:8080` or `https://api.example.com/v1`.
    pub base_url: String,
    /// File with the key, if the server wants one.
    #[serde(default)]
    pub api_key_file: Option<PathBuf>,
    /// What the server calls the model, if not as jobs do.
    #[serde(default)]
    pub upstream_name: Option<String>,
    /// Bytes of a prompt that are counted as one token. Without the model's tokenizer this is a
    /// guess, and on the safe side: English has about four bytes to a token, Chinese three, and two
    /// is the least in ordinary text. So a prompt is never taken for much shorter than it is; a job
    /// with a tight `max_input_tokens` may be refused although it would fit. At 1 the bound holds
    /// for any text, since no token is shorter than a byte.
    #[serde(default = "two")]
    pub bytes_per_token: u32,
}

fn two() -> u32 {
    2
}

pub struct Llm {
    models: BTreeMap<String, Model>,
}

/// A failed attempt, and whether the next one may succeed.
struct AttemptError {
    error: ExecuteError,
    transient: bool,
}

impl From<ExecuteError> for AttemptError {
    fn from(error: ExecuteError) -> Self {
        Self { transient: error.is_transient(), error }
    }
}

struct Model {
    endpoint: Endpoint,
    upstream_name: String,
    bytes_per_token: u64,
}

impl Llm {
    /// With an operator's models. Reads their keys.
    pub fn new(config: &LlmConfig) -> Result<Self, EndpointError> {
        let transport = transport(config.ca_file.as_deref())?;
        let mut models = BTreeMap::new();
        for (name, model) in &config.models {
            let endpoint = Endpoint::new(
                format!("the server of model {name:?}"),
                transport.clone(),
                &address(&model.base_url),
                model.api_key_file.as_deref(),
            )?;
            let upstream_name = model.upstream_name.clone().unwrap_or_else(|| name.clone());
            let bytes_per_token = u64::from(model.bytes_per_token).max(1);
            models.insert(name.clone(), Model { endpoint, upstream_name, bytes_per_token });
        }
        Ok(Self { models })
    }

    pub async fn execute(&self, work: &Work<'_>) -> Result<Vec<u8>, ExecuteError> {
        let JobType::Llm { model: name, messages, temperature_milli, seed } = &work.spec.job_type
        else {
            return Err(ExecuteError::BadJob("no question to a language model".into()));
        };
        let model = self
            .models
            .get(name)
            .ok_or_else(|| ExecuteError::NotAllowed(format!("there is no model {name:?} here")))?;
        model.check(work, messages)?;
        let request = model.request(work, messages, Some((*temperature_milli, *seed)));
        let said = async {
            match model.persist(work, &request).await {
                Err(error) => Err(blame(error, model.plain()).await),
                said => said,
            }
        };
        let said = timeout(work.time_limit, said)
            .await
            .map_err(|_| ExecuteError::TimedOut(work.time_limit))??;
        match work.spec.result_schema.data_format {
            DataFormat::Text | DataFormat::Bytes => within(work, said.content.into_bytes()),
            DataFormat::Json => finish(
                work,
                &object([
                    ("content", string(said.content)),
                    ("finish_reason", string(said.finish_reason)),
                    ("model", string(name)),
                ]),
            ),
        }
    }
}

/// Where completions are: operators write their server's address with `/v1` or without.
fn address(base_url: &str) -> String {
    let base = base_url.trim_end_matches('/');
    let versioned = if base.ends_with("/v1") { "" } else { "/v1" };
    format!("{base}{versioned}/chat/completions")
}

impl Model {
    /// Whether the conversation is one, and not too long.
    fn check(&self, work: &Work<'_>, messages: &[Message]) -> Result<(), ExecuteError> {
        let bad = |reason| Err(ExecuteError::BadJob(reason));
        if let Some(message) = messages.iter().find(|message| !ROLES.contains(&&message.role[..])) {
            return bad(format!("the role {:?} is none of {ROLES:?}", message.role));
        }
        let tokens: u64 = messages
            .iter()
            .map(|message| {
                let bytes = message.role.len() as u64 + message.content.len() as u64;
                bytes.div_ceil(self.bytes_per_token) + MESSAGE_TOKENS
            })
            .sum();
        let most = u64::from(work.spec.bounds.max_input_tokens);
        if tokens > most {
            return bad(format!("the prompt counts as {tokens} tokens, {most} are allowed"));
        }
        Ok(())
    }

    fn request(
        &self,
        work: &Work<'_>,
        messages: &[Message],
        sampling: Option<(u32, u64)>,
    ) -> String {
        let messages = messages.iter().map(|message| {
            object([("role", string(&message.role)), ("content", string(&message.content))])
        });
        let mut request = object([
            ("model", string(&self.upstream_name)),
            ("messages", Json::Array(messages.collect())),
            ("max_tokens", number(work.spec.bounds.max_output_tokens.into())),
            ("stream", Json::Bool(true)),
        ]);
        if let (Json::Object(members), Some((temperature_milli, seed))) = (&mut request, sampling) {
            members.insert("temperature".to_owned(), thousandths(temperature_milli.into()));
            members.insert("seed".to_owned(), number(seed % SEEDS));
        }
        request.canonical()
    }

    /// Asking twice does no harm but cost.
    async fn persist(&self, work: &Work<'_>, request: &str) -> Result<Completion, ExecuteError> {
        let mut retries = Retries::of(work);
        loop {
            match self.ask(work, request).await {
                Err(AttemptError { error, transient: true }) if retries.anyway(&error).await => {}
                end => return end.map_err(|setback| setback.error),
            }
        }
    }

    async fn ask(&self, work: &Work<'_>, request: &str) -> Result<Completion, AttemptError> {
        let answer = self.endpoint.ask(request.to_owned()).await?;
        if answer.status != StatusCode::OK {
            let transient = answer.status.is_server_error();
            return Err(AttemptError { error: self.endpoint.declined(answer.status), transient });
        }
        let content_type = answer.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        match content_type {
            Some(text) if text.starts_with("text/event-stream") => self.listen(work, answer).await,
            _ => self.read_whole(work, answer).await,
        }
    }

    /// Puts the pieces of an answer together as they come.
    async fn listen(
        &self,
        work: &Work<'_>,
        mut answer: Answer,
    ) -> Result<Completion, AttemptError> {
        let limit = wire_bytes_max(work);
        let mut reply = Reply::new(work);
        let mut events = Events::default();
        let mut bytes = 0_usize;
        while let Some(piece) =
            answer.piece().await.map_err(|error| self.endpoint.explain(error))?
        {
            bytes += piece.len();
            if bytes > limit {
                return Err(ExecuteError::TooLarge { limit }.into());
            }
            let complete = events.feed(&piece);
            for data in complete.map_err(|error| self.endpoint.useless(&error.to_string()))? {
                if data == b"[DONE]" {
                    return self.end(reply);
                }
                reply.add(&data).map_err(|error| self.told(error))?;
            }
        }
        self.end(reply)
    }

    /// An answer in one piece, of a server that does not stream.
    async fn read_whole(
        &self,
        work: &Work<'_>,
        mut answer: Answer,
    ) -> Result<Completion, AttemptError> {
        let body = answer.body(wire_bytes_max(work)).await;
        let body = body.map_err(|error| self.endpoint.explain(error))?;
        let mut reply = Reply::new(work);
        reply.add(&body).map_err(|error| self.told(error))?;
        self.end(reply)
    }

    /// The answer, if the server has marked its end.
    fn end(&self, reply: Reply<'_>) -> Result<Completion, AttemptError> {
        reply.end().map_err(|error| self.told(error))
    }

    fn told(&self, error: reply::ReplyError) -> AttemptError {
        let transient = error.is_transient();
        let error = match error {
            reply::ReplyError::TooLarge(limit) => ExecuteError::TooLarge { limit },
            error if error.away() => self.endpoint.unreachable(&error.to_string()),
            error => self.endpoint.useless(&error.to_string()),
        };
        AttemptError { error, transient }
    }
}

/// Bytes that are read for an answer, whatever is in them.
fn wire_bytes_max(work: &Work<'_>) -> usize {
    let tokens = work.spec.bounds.max_output_tokens as usize;
    // No result is larger than its limit, so neither is what it is made of, with its escapes.
    WIRE_BYTES + 8 * work.max_bytes() + tokens.saturating_mul(TOKEN_WIRE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_written_with_its_version_or_without() {
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"] {
            assert_eq!(address(base), "http://h:1/v1/chat/completions");
        }
        assert_eq!(address("https://h/api"), "https://h/api/v1/chat/completions");
    }
}
