//! A job as a document describes it (SPEC §16): what job files hold, and what actors submit.
//!
//! What is left out has a default; a field that does not exist is refused, because a misspelt
//! `treshold` must not silently become the default.

use crate::base::codec::Bytes;
use crate::base::primitives::{Address, Amount, B256};
use crate::rules::dispatcher::committee::VerificationMode;
use crate::rules::dispatcher::spec::{
    Callback, DataFormat, JobSpec, JobType, Message, ResourceBounds, ResultSchema, Verification,
};
use crate::rules::verifier::check::VerifierCheck;
use crate::rules::verifier::json::{Decimal, Json};
use std::collections::BTreeMap;
use thiserror::Error;

/// What is wrong with a document, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {problem}")]
pub struct JobFileError {
    pub field: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

type Read<T> = Result<T, JobFileError>;

/// An object whose members are taken out one by one.
struct Fields<'j> {
    at: String,
    left: BTreeMap<&'j str, &'j Json>,
}

fn wrong(field: impl Into<String>, problem: &'static str) -> JobFileError {
    JobFileError { field: field.into(), problem }
}

impl<'j> Fields<'j> {
    fn of(json: &'j Json, at: &str) -> Read<Self> {
        let Json::Object(members) = json else { return Err(wrong(at, "must be an object")) };
        let left = members.iter().map(|(name, value)| (&name[..], value)).collect();
        Ok(Self { at: at.to_owned(), left })
    }

    fn path(&self, name: &str) -> String {
        if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) }
    }

    /// A member; null counts as missing.
    fn take(&mut self, name: &str) -> Option<&'j Json> {
        self.left.remove(name).filter(|json| !matches!(json, Json::Null))
    }

    fn need(&mut self, name: &str) -> Read<&'j Json> {
        self.take(name).ok_or_else(|| wrong(self.path(name), "is missing"))
    }

    fn text(&mut self, name: &str) -> Read<String> {
        let found = self.need(name)?;
        text(found, &self.path(name))
    }

    fn text_or_empty(&mut self, name: &str) -> Read<String> {
        self.take(name).map_or(Ok(String::new()), |json| text(json, &self.path(name)))
    }

    fn bytes(&mut self, name: &str) -> Read<Bytes> {
        let path = self.path(name);
        self.take(name).map_or(Ok(Bytes::default()), |json| hex(json, &path).map(Bytes))
    }

    /// A number, in digits or in a text of digits; 0 if it is missing.
    fn number<T: TryFrom<u128> + Default>(&mut self, name: &str) -> Read<T> {
        let path = self.path(name);
        self.take(name).map_or(Ok(T::default()), |json| number(json, &path))
    }

    fn list(&mut self, name: &str) -> Read<&'j [Json]> {
        match self.take(name) {
            None => Ok(&[]),
            Some(Json::Array(items)) => Ok(items),
            Some(_) => Err(wrong(self.path(name), "must be a list")),
        }
    }

    fn object(&mut self, name: &str) -> Read<Fields<'j>> {
        let path = self.path(name);
        Fields::of(self.need(name)?, &path)
    }

    fn decimal(&mut self, name: &str) -> Read<Decimal> {
        let path = self.path(name);
        match self.need(name)? {
            Json::Number(number) => Ok(*number),
            Json::String(text) => Decimal::parse_plain(text)
                .map_err(|_| wrong(path, "must be a decimal such as -0.25")),
            _ => Err(wrong(path, "must be a decimal such as -0.25")),
        }
    }

    fn end(self) -> Read<()> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(wrong(self.path(name), "is not a field of a job")),
        }
    }
}

fn text(json: &Json, path: &str) -> Read<String> {
    match json {
        Json::String(text) => Ok(text.clone()),
        _ => Err(wrong(path, "must be a text")),
    }
}

fn number<T: TryFrom<u128>>(json: &Json, path: &str) -> Read<T> {
    let number = match json {
        Json::Number(number) => number.to_unsigned(),
        Json::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    };
    let number = number.and_then(|number: u128| T::try_from(number).ok());
    number.ok_or_else(|| wrong(path, "must be a whole number in its range"))
}

fn hex(json: &Json, path: &str) -> Read<Vec<u8>> {
    let digits = match json {
        Json::String(text) => text.strip_prefix("0x").filter(|hex| hex.len().is_multiple_of(2)),
        _ => None,
    };
    let bytes = digits.and_then(|digits| alloy_primitives::hex::decode(digits).ok());
    bytes.ok_or_else(|| wrong(path, "must be bytes as 0x and hexadecimal digits"))
}

fn address(json: &Json, path: &str) -> Read<Address> {
    Address::try_from(&hex(json, path)?[..]).map_err(|_| wrong(path, "must be 20 bytes"))
}

/// The one member of an object: a variant's name and contents.
fn variant<'j>(json: &'j Json, path: &str) -> Read<(&'j str, Fields<'j>)> {
    let fields = Fields::of(json, path)?;
    match fields.left.iter().next() {
        Some((name, contents)) if fields.left.len() == 1 => {
            Ok((name, Fields::of(contents, &format!("{path}.{name}"))?))
        }
        _ => Err(wrong(path, "must be an object with one member: its kind")),
    }
}

/// The job that a document describes.
pub fn job_from_json(json: &Json) -> Read<JobSpec> {
    let mut fields = Fields::of(json, "")?;
    let spec = JobSpec {
        job_type: work(fields.need("job_type")?)?,
        bounds: bounds(&mut fields)?,
        verification: verification(fields.object("verification")?)?,
        result_schema: schema(fields.object("result_schema")?)?,
        max_price: Amount(number(fields.need("max_price")?, "max_price")?),
        tip: Amount(fields.number("tip")?),
        timeout_blocks: fields.number("timeout_blocks")?,
        callback: callback(fields.take("callback"))?,
        tee_required: match fields.take("tee_required") {
            None => false,
            Some(Json::Bool(required)) => *required,
            Some(_) => return Err(wrong("tee_required", "must be true or false")),
        },
        secrets: texts(fields.list("secrets")?, "secrets")?,
        required_runner_pool: match fields.take("required_runner_pool") {
            None => None,
            Some(pool) => Some(Bytes(hex(pool, "required_runner_pool")?)),
        },
    };
    fields.end()?;
    Ok(spec)
}

fn texts(items: &[Json], path: &str) -> Read<Vec<String>> {
    items.iter().map(|item| text(item, path)).collect()
}

fn work(json: &Json) -> Read<JobType> {
    let (kind, mut fields) = variant(json, "job_type")?;
    let work = match kind {
        "Llm" => JobType::Llm {
            model: fields.text("model")?,
            messages: fields.list("messages")?.iter().map(message).collect::<Read<_>>()?,
            temperature_milli: fields.number("temperature_milli")?,
            seed: fields.number("seed")?,
        },
        "Http" => JobType::Http {
            method: fields.text("method")?,
            url: fields.text("url")?,
            headers: fields.list("headers")?.iter().map(header).collect::<Read<_>>()?,
            body: fields.bytes("body")?,
            extract: fields.text_or_empty("extract")?,
        },
        "Mcp" => JobType::Mcp {
            server: fields.text("server")?,
            tool: fields.text("tool")?,
            arguments: fields.text("arguments")?,
        },
        "EthSend" => JobType::EthSend {
            chain_id: fields.number("chain_id")?,
            raw_transaction: fields.bytes("raw_transaction")?,
        },
        "Custom" => {
            let path = fields.path("executor_hash");
            let hash = hex(fields.need("executor_hash")?, &path)?;
            let executor_hash =
                B256::try_from(&hash[..]).map_err(|_| wrong(path, "must be 32 bytes"))?;
            JobType::Custom { executor_hash, params: fields.bytes("params")? }
        }
        _ => return Err(wrong("job_type", "must be Llm, Http, Mcp, EthSend or Custom")),
    };
    fields.end()?;
    Ok(work)
}

fn message(json: &Json) -> Read<Message> {
    let mut fields = Fields::of(json, "job_type.Llm.messages")?;
    let message = Message { role: fields.text("role")?, content: fields.text("content")? };
    fields.end()?;
    Ok(message)
}

fn header(json: &Json) -> Read<(String, String)> {
    let mut fields = Fields::of(json, "job_type.Http.headers")?;
    let header = (fields.text("name")?, fields.text("value")?);
    fields.end()?;
    Ok(header)
}

fn bounds(job: &mut Fields<'_>) -> Read<ResourceBounds> {
    let Some(json) = job.take("bounds") else { return Ok(ResourceBounds::default()) };
    let mut fields = Fields::of(json, "bounds")?;
    let bounds = ResourceBounds {
        max_input_tokens: fields.number("max_input_tokens")?,
        max_output_tokens: fields.number("max_output_tokens")?,
        max_wall_time_seconds: fields.number("max_wall_time_seconds")?,
        max_memory_mb: fields.number("max_memory_mb")?,
        max_retries: fields.number("max_retries")?,
    };
    fields.end()?;
    Ok(bounds)
}

fn verification(mut fields: Fields<'_>) -> Read<Verification> {
    let mode = match &fields.text("mode")?[..] {
        "none" => VerificationMode::None,
        "economic_bond" => VerificationMode::EconomicBond,
        "majority_vote" => VerificationMode::MajorityVote,
        "structured_match" => VerificationMode::StructuredMatch,
        "deterministic" => VerificationMode::Deterministic,
        "semantic_similarity" => VerificationMode::SemanticSimilarity,
        _ => return Err(wrong("verification.mode", "is not a verification mode")),
    };
    // The submitter chooses a committee's size; a single runner has none.
    let counted = |name: &str, count: u32| match count {
        0 if mode.is_single() => Ok(1),
        0 => Err(wrong(format!("verification.{name}"), "this mode needs it, and at least 1")),
        count => Ok(count),
    };
    let runners = counted("runners", fields.number("runners")?)?;
    let threshold = counted("threshold", fields.number("threshold")?)?;
    let checks = fields.list("checks")?.iter().map(check).collect::<Read<_>>()?;
    fields.end()?;
    Ok(Verification { mode, runners, threshold, checks })
}

fn check(json: &Json) -> Read<VerifierCheck> {
    let (kind, mut fields) = variant(json, "verification.checks")?;
    let check = match kind {
        "MajorityVote" => VerifierCheck::MajorityVote { field: fields.text("field")? },
        "JsonSchemaValid" => VerifierCheck::JsonSchemaValid { schema: fields.text("schema")? },
        "StructuredMatch" => {
            let path = fields.path("fields");
            VerifierCheck::StructuredMatch { fields: texts(fields.list("fields")?, &path)? }
        }
        "NumericTolerance" => VerifierCheck::NumericTolerance {
            field: fields.text("field")?,
            tolerance: fields.decimal("tolerance")?,
        },
        "NumericRange" => VerifierCheck::NumericRange {
            field: fields.text("field")?,
            min: fields.decimal("min")?,
            max: fields.decimal("max")?,
        },
        "Custom" => {
            let path = fields.path("actor");
            let actor = address(fields.need("actor")?, &path)?;
            VerifierCheck::Custom { actor, method: fields.text("method")? }
        }
        "DnsTxtRecordMatch" => VerifierCheck::DnsTxtRecordMatch {
            fqdn: fields.text("fqdn")?,
            expected_value: fields.text("expected_value")?,
            min_resolvers: fields.number("min_resolvers")?,
        },
        "DnsCnameMatch" => VerifierCheck::DnsCnameMatch {
            fqdn: fields.text("fqdn")?,
            expected_target: fields.text("expected_target")?,
            min_resolvers: fields.number("min_resolvers")?,
        },
        _ => return Err(wrong("verification.checks", "has a check of an unknown kind")),
    };
    fields.end()?;
    Ok(check)
}

fn schema(mut fields: Fields<'_>) -> Read<ResultSchema> {
    let data_format = match &fields.text("data_format")?[..] {
        "json" => DataFormat::Json,
        "text" => DataFormat::Text,
        "bytes" => DataFormat::Bytes,
        _ => return Err(wrong("result_schema.data_format", "must be json, text or bytes")),
    };
    let max_return_bytes = fields.number("max_return_bytes")?;
    let expected_execution_ms = fields.number("expected_execution_ms")?;
    fields.end()?;
    Ok(ResultSchema { max_return_bytes, expected_execution_ms, data_format })
}

fn callback(json: Option<&Json>) -> Read<Option<Callback>> {
    let Some(json) = json else { return Ok(None) };
    let mut fields = Fields::of(json, "callback")?;
    let callback = Callback {
        actor: address(fields.need("actor")?, "callback.actor")?,
        handler: fields.text("handler")?,
        cycles_limit: fields.number("cycles_limit")?,
    };
    fields.end()?;
    Ok(Some(callback))
}
