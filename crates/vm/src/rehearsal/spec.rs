//! A job's specification as the dict that an actor would have written.

use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_protocol::verifier::check::VerifierCheck as Check;

use crate::HostValue as V;
use crate::chain::convert::{dict, hex, number, text};

fn list<T>(items: &[T], value: impl Fn(&T) -> V) -> V {
    V::List(items.iter().map(value).collect())
}

fn int(int: impl Into<u128>) -> V {
    number(int.into())
}

pub(super) fn described(spec: &JobSpec) -> V {
    let JobSpec { bounds, verification, result_schema, .. } = spec;
    let callback = spec.callback.as_ref().map_or(V::None, |callback| {
        dict([
            ("actor", text(&hex(callback.actor.as_slice()))),
            ("handler", text(&callback.handler)),
            ("cycles_limit", int(callback.cycles_limit)),
        ])
    });
    let pool = spec.required_runner_pool.as_ref();
    dict([
        ("job_type", work(&spec.job_type)),
        (
            "bounds",
            dict([
                ("max_input_tokens", int(bounds.max_input_tokens)),
                ("max_output_tokens", int(bounds.max_output_tokens)),
                ("max_wall_time_seconds", int(bounds.max_wall_time_seconds)),
                ("max_memory_mb", int(bounds.max_memory_mb)),
                ("max_retries", int(bounds.max_retries)),
            ]),
        ),
        (
            "verification",
            dict([
                ("mode", text(verification.mode.name())),
                ("runners", int(verification.runners)),
                ("threshold", int(verification.threshold)),
                ("checks", list(&verification.checks, check)),
            ]),
        ),
        (
            "result_schema",
            dict([
                ("max_return_bytes", int(result_schema.max_return_bytes)),
                ("expected_execution_ms", int(result_schema.expected_execution_ms)),
                ("data_format", text(format_name(result_schema.data_format))),
            ]),
        ),
        ("max_price", int(spec.max_price.get())),
        ("tip", int(spec.tip.get())),
        ("timeout_blocks", int(spec.timeout_blocks)),
        ("callback", callback),
        ("tee_required", V::Bool(spec.tee_required)),
        ("secrets", list(&spec.secrets, |name| text(name))),
        ("required_runner_pool", pool.map_or(V::None, |pool| text(&hex(pool)))),
    ])
}

fn format_name(format: DataFormat) -> &'static str {
    match format {
        DataFormat::Json => "json",
        DataFormat::Text => "text",
        DataFormat::Bytes => "bytes",
    }
}

fn work(work: &JobType) -> V {
    match work {
        JobType::Llm { model, messages, temperature_milli, seed } => {
            let message = |message: &remuda_protocol::dispatcher::spec::Message| {
                dict([("role", text(&message.role)), ("content", text(&message.content))])
            };
            let contents = dict([
                ("model", text(model)),
                ("messages", list(messages, message)),
                ("temperature_milli", int(*temperature_milli)),
                ("seed", int(*seed)),
            ]);
            dict([("Llm", contents)])
        }
        JobType::Http { method, url, headers, body, extract } => {
            let header = |(name, value): &(String, String)| {
                dict([("name", text(name)), ("value", text(value))])
            };
            let contents = dict([
                ("method", text(method)),
                ("url", text(url)),
                ("headers", list(headers, header)),
                ("body", text(&hex(body))),
                ("extract", text(extract)),
            ]);
            dict([("Http", contents)])
        }
        JobType::Mcp { server, tool, arguments } => {
            let contents = dict([
                ("server", text(server)),
                ("tool", text(tool)),
                ("arguments", text(arguments)),
            ]);
            dict([("Mcp", contents)])
        }
        JobType::EthSend { chain_id, raw_transaction } => {
            let raw = text(&hex(raw_transaction));
            dict([("EthSend", dict([("chain_id", int(*chain_id)), ("raw_transaction", raw)]))])
        }
        JobType::Custom { executor_hash, params } => {
            let hash = text(&hex(executor_hash.as_slice()));
            dict([("Custom", dict([("executor_hash", hash), ("params", text(&hex(params)))]))])
        }
    }
}

fn check(check: &Check) -> V {
    match check {
        Check::MajorityVote { field } => dict([("MajorityVote", dict([("field", text(field))]))]),
        Check::JsonSchemaValid { schema } => {
            dict([("JsonSchemaValid", dict([("schema", text(schema))]))])
        }
        Check::StructuredMatch { fields } => {
            let fields = list(fields, |field| text(field));
            dict([("StructuredMatch", dict([("fields", fields)]))])
        }
        Check::NumericTolerance { field, tolerance } => {
            let tolerance = text(&tolerance.to_string());
            dict([("NumericTolerance", dict([("field", text(field)), ("tolerance", tolerance)]))])
        }
        Check::NumericRange { field, min, max } => {
            let (min, max) = (text(&min.to_string()), text(&max.to_string()));
            dict([("NumericRange", dict([("field", text(field)), ("min", min), ("max", max)]))])
        }
        Check::Custom { actor, method } => {
            let actor = text(&hex(actor.as_slice()));
            dict([("Custom", dict([("actor", actor), ("method", text(method))]))])
        }
        Check::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers } => {
            let contents = dict([
                ("fqdn", text(fqdn)),
                ("expected_value", text(expected_value)),
                ("min_resolvers", int(*min_resolvers)),
            ]);
            dict([("DnsTxtRecordMatch", contents)])
        }
        Check::DnsCnameMatch { fqdn, expected_target, min_resolvers } => {
            let contents = dict([
                ("fqdn", text(fqdn)),
                ("expected_target", text(expected_target)),
                ("min_resolvers", int(*min_resolvers)),
            ]);
            dict([("DnsCnameMatch", contents)])
        }
    }
}
