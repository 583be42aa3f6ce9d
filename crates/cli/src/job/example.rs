//! `remuda job example`: a job of each kind, to begin with.

use crate::failure::Failure;
use crate::session::Session;
use crate::style::Style;
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// A web request.
    Http,
    /// A question to a language model.
    Llm,
    /// A call of a tool on an MCP server.
    Mcp,
    /// A signed Ethereum transaction, to be sent.
    Eth,
    /// A program in WebAssembly.
    Wasm,
    /// What resolvers say about a name.
    Dns,
}

/// Which checks fit which mode; for two constants.
macro_rules! modes {
    () => {
        "\
Modes, and the checks that they take:
  none              one runner, taken at its word; no checks
  economic_bond     one runner, whose stake answers for 900 blocks if anybody challenges; programs
                    that governance vouches for; no checks
  majority_vote     exactly one MajorityVote, and any DNS checks
  structured_match  any of MajorityVote, StructuredMatch, JsonSchemaValid, NumericRange,
                    NumericTolerance and the DNS checks; one of the first two at least
  deterministic     all results are the same bytes; programs that governance vouches for; no checks
Where the job itself is why it cannot be done (nobody listens, the server answers 429 or 5xx, the
provider refuses the prompt, the result is too large, the program traps), a runner excuses itself
with a code. If a committee cannot agree for that, the price goes
back. An excuse of a single runner costs a tenth of the price, or all of it if it took the work."
    };
}

/// Which checks fit which mode.
const MODES: &str = modes!();

/// Shown by `--help`.
pub(super) const HELP: &str = concat!(
    "Examples:\n  $ remuda job example http > job.json\n  $ remuda job example llm\n\n",
    modes!()
);

impl Kind {
    fn json(self) -> &'static str {
        match self {
            Self::Http => include_str!("examples/http.json"),
            Self::Llm => include_str!("examples/llm.json"),
            Self::Mcp => include_str!("examples/mcp.json"),
            Self::Eth => include_str!("examples/eth.json"),
            Self::Wasm => include_str!("examples/wasm.json"),
            Self::Dns => include_str!("examples/dns.json"),
        }
    }

    /// What its results look like, and what to change.
    fn notes(self) -> &'static str {
        match self {
            Self::Http => {
                "The result is {\"status\": …, \"value\": …}, the value being the field of the answer that \
                 `extract` names; without `extract` it is {\"status\": …, \"content_type\": …, \"body\": …}. \
                 `body` is what to send, in hex. Methods are GET, HEAD, POST, PUT, PATCH and DELETE; other \
                 than GET and HEAD, each runner of a committee sends its own."
            }
            Self::Llm => {
                "Put a model that runners offer in place of MODEL: remuda runner list --json | jq \
                 '.runners[].offer.models'. The result is {\"content\": …, \"finish_reason\": …, \"model\": …}; \
                 with data_format text, the content alone. Runners of one model, seed and temperature 0 \
                 mostly agree word for word; ask for short answers."
            }
            Self::Mcp => {
                "SERVER and TOOL are as runners' operators call them: ask them, or use a pool of runners \
                 that you know (required_runner_pool). `arguments` is a JSON object in text. The result \
                 is {\"value\": …} if the tool gives structured content or a JSON document, else \
                 {\"text\": …}. Each runner of a committee calls the tool."
            }
            Self::Eth => {
                "raw_transaction is a signed transaction in hex, such as `cast mktx` prints; runners never \
                 have its key. One runner sends it, and sending it twice is sending it once. The result is \
                 {\"hash\": …}."
            }
            Self::Wasm => {
                "executor_hash is the BLAKE3 hash of a module that runners offer: remuda runner list --json \
                 | jq '.runners[].offer.executors'. `params` is its input, in hex. For mode deterministic \
                 governance must vouch for it; for others an operator's word is enough. A module \
                 imports nothing and exports memory, alloc(len: i32) -> i32 for its input, and run(ptr: \
                 i32, len: i32) -> i64: its result's address in the upper half, its length in the lower."
            }
            Self::Dns => {
                "Each runner asks its own resolvers, min_resolvers of them at least, and a strict majority \
                 of them decides. The result is {\"dns\": […], \"passed\": true}; where the record is not \
                 confirmed nobody wins, and the price goes back. The same checks can be added to a web \
                 request, whose result then has a field `dns` more."
            }
        }
    }
}

pub(super) fn example(session: &Session, kind: Kind) -> Result<(), Failure> {
    let job: serde_json::Value =
        serde_json::from_str(kind.json()).map_err(|_| Failure::Nonsense("a broken example"))?;
    session.out.show(&job, |_, style| text(kind, style))
}

/// For people with what to know; for a file without.
fn text(kind: Kind, style: Style) -> String {
    if !style.terminal {
        return kind.json().to_owned();
    }
    let name = kind.to_possible_value().map_or(String::new(), |it| it.get_name().to_owned());
    format!(
        "{}\n{}\n\n{MODES}\n\nTo order it: remuda job example {name} > job.json, change it, and then\n  \
         remuda job submit job.json --key my.key --wait\n",
        kind.json(),
        kind.notes()
    )
}

#[cfg(test)]
pub(super) fn spec(kind: Kind) -> remuda_protocol::dispatcher::spec::JobSpec {
    let view = remuda_client::types::JobSpecView::from_json(kind.json().as_bytes()).unwrap();
    remuda_protocol::dispatcher::spec::JobSpec::try_from(&view).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_protocol::dispatcher::validate::{normalise, validate};
    use remuda_protocol::params::ChainParams;
    use remuda_runner::executor::dns::DNS_VERIFIER_EXECUTOR_HASH;

    #[test]
    fn the_chain_takes_every_example() {
        let params = ChainParams::one_second();
        for kind in Kind::value_variants() {
            let mut spec = spec(*kind);
            normalise(&mut spec, &params);
            assert_eq!(validate(&spec, &params, |_| true), Ok(()), "{kind:?}");
        }
    }

    #[test]
    fn the_dns_verifier_has_the_name_that_runners_know() {
        assert!(Kind::Dns.json().contains(&DNS_VERIFIER_EXECUTOR_HASH.to_string()));
    }
}
