//! Calls of a node's JSON-RPC.

use crate::executor::ExecuteError;
use crate::executor::document::{number, object, string};
use crate::executor::endpoint::Endpoint;
use remuda_protocol::verifier::json::Json;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A response with a transaction of the largest size in hex.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Characters of a node's own words that are passed on.
const WORDS_MAX: usize = 200;
/// How nodes say that they have a transaction already, without spaces and capitals: geth, reth and
/// Erigon; Besu and Hardhat; Nethermind; OpenEthereum.
const KNOWN: [&str; 4] = ["alreadyknown", "knowntransaction", "alreadyimported", "samehash"];

pub(super) struct Rpc(Endpoint);

/// Why a call has no result.
pub(super) enum Failure {
    Call(ExecuteError),
    /// The node's own text.
    Reported(String),
}

/// A transaction that a node has; only its name is of interest.
#[derive(Deserialize)]
pub(super) struct Found {
    pub hash: String,
}

#[derive(Deserialize)]
struct Reply<T> {
    result: Option<T>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    #[serde(default)]
    message: String,
}

impl Failure {
    /// The node reports that it has the transaction already.
    pub(super) fn says_known(&self) -> bool {
        let Self::Reported(words) = self else {
            return false;
        };
        let letters = words.chars().filter(char::is_ascii_alphabetic);
        let words: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        KNOWN.iter().any(|known| words.contains(known))
    }
}

impl Rpc {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self(endpoint)
    }

    /// Calls a method; its result may be null.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &[&str],
    ) -> Result<Option<T>, Failure> {
        let params = params.iter().map(|param| string(*param)).collect();
        let request = object([
            ("jsonrpc", string("2.0")),
            ("id", number(1)),
            ("method", string(method)),
            ("params", Json::Array(params)),
        ]);
        let mut answer = self.0.post(request.canonical()).await.map_err(Failure::Call)?;
        if let 401..=404 | 407 = answer.status.as_u16() {
            return Err(Failure::Call(self.0.declined(answer.status)));
        }
        let body = answer.body(ANSWER_BYTES_MAX).await;
        let body = body.map_err(|error| Failure::Call(self.0.explain(error)))?;
        // Some nodes send their errors with a status of 400.
        let reply: Reply<T> = serde_json::from_slice(&body).map_err(|_| {
            let words = format!("no answer to {method}, status {}", answer.status);
            Failure::Call(self.misplaced(&words))
        })?;
        match reply.error {
            Some(said) => Err(Failure::Reported(said.message)),
            None => Ok(reply.result),
        }
    }

    pub(super) fn explain(&self, failure: Failure) -> ExecuteError {
        match failure {
            Failure::Call(error) => error,
            Failure::Reported(words) => self.useless(&self.refusal(words)),
        }
    }

    /// The same for a call that every node supports: a failure is a misconfiguration.
    pub(super) fn unfit(&self, failure: Failure) -> ExecuteError {
        match failure {
            Failure::Call(error) => error,
            Failure::Reported(words) => self.misplaced(&self.refusal(words)),
        }
    }

    fn refusal(&self, words: String) -> String {
        let words = self.0.without_secrets(words);
        let printable = words.chars().filter(|letter| !letter.is_control());
        let words: String = printable.take(WORDS_MAX).collect();
        format!("it refuses: {words}")
    }

    /// No node of the chain that the operator meant.
    pub(super) fn misplaced(&self, reason: &str) -> ExecuteError {
        self.0.misplaced(reason)
    }

    /// An invalid response.
    pub(super) fn useless(&self, reason: &str) -> ExecuteError {
        self.0.useless(reason)
    }
}
