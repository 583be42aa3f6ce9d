//! Jobs as documents: what is read, what is refused, and that every refusal names its field.

use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::file::job_from_json;
use remuda_protocol::dispatcher::spec::{DataFormat, JobType};
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::verifier::json::{Json, parse};

/// A job with everything that has no default.
const LEAST: &str = r#"{
    "job_type": {"Http": {"method": "GET", "url": "https://example.org"}},
    "verification": {"mode": "none"},
    "result_schema": {"data_format": "json", "max_return_bytes": 512},
    "max_price": "1000000000"
}"#;

fn document(text: &str) -> Json {
    parse(text.as_bytes()).expect("JSON")
}

fn refused(text: &str) -> String {
    job_from_json(&document(text)).expect_err(text).to_string()
}

/// The least job with one member replaced or added.
fn with(name: &str, value: &str) -> String {
    let Json::Object(mut members) = document(LEAST) else { panic!("an object") };
    members.insert(name.to_owned(), document(value));
    Json::Object(members).canonical()
}

// spec §6.4
#[test]
fn what_is_left_out_has_its_default() {
    let job = job_from_json(&document(LEAST)).unwrap();
    assert_eq!(job.max_price, Amount::cby(1));
    assert_eq!((job.tip, job.timeout_blocks), (Amount::ZERO, 0));
    assert_eq!(job.verification.mode, VerificationMode::None);
    assert_eq!((job.verification.runners, job.verification.threshold), (1, 1));
    assert_eq!(job.result_schema.data_format, DataFormat::Json);
    assert!(job.callback.is_none() && !job.tee_required && job.secrets.is_empty());
    let JobType::Http { headers, body, extract, .. } = job.job_type else { panic!() };
    assert!(headers.is_empty() && body.is_empty() && extract.is_empty());
}

#[test]
fn every_kind_of_work_is_read() {
    let hash = format!("0x{}", "11".repeat(32));
    for (kind, text) in [
        (
            "Llm",
            r#"{"Llm": {"model": "m", "messages": [{"role": "user", "content": "hi"}], "seed": "7"}}"#,
        ),
        (
            "Http",
            r#"{"Http": {"method": "POST", "url": "http://a", "headers": [{"name": "a", "value": "b"}], "body": "0x00ff", "extract": "x.y"}}"#,
        ),
        ("Mcp", r#"{"Mcp": {"server": "s", "tool": "t", "arguments": "{}"}}"#),
        ("EthSend", r#"{"EthSend": {"chain_id": 1, "raw_transaction": "0x01"}}"#),
        ("Custom", &format!(r#"{{"Custom": {{"executor_hash": "{hash}", "params": "0x"}}}}"#)),
    ] {
        let job = job_from_json(&document(&with("job_type", text))).expect(kind);
        assert_eq!(format!("{:?}", job.job_type.kind()), kind);
    }
}

#[test]
fn a_callback_and_a_committee_are_read() {
    let actor = Address::repeat_byte(0x2a);
    let text = with(
        "callback",
        &format!(r#"{{"actor": "{actor}", "handler": "h", "cycles_limit": 5000}}"#),
    );
    let callback = job_from_json(&document(&text)).unwrap().callback.unwrap();
    assert_eq!((callback.actor, &callback.handler[..], callback.cycles_limit), (actor, "h", 5_000));
    let text = with(
        "verification",
        r#"{"mode": "structured_match", "runners": 5, "threshold": 3, "checks": [
            {"MajorityVote": {"field": "a"}}, {"JsonSchemaValid": {"schema": "{}"}},
            {"StructuredMatch": {"fields": ["a", "b"]}},
            {"NumericTolerance": {"field": "p", "tolerance": "0.25"}},
            {"NumericRange": {"field": "p", "min": -1, "max": 2.5}},
            {"DnsTxtRecordMatch": {"fqdn": "a.b", "expected_value": "v", "min_resolvers": 3}},
            {"DnsCnameMatch": {"fqdn": "a.b", "expected_target": "c.d", "min_resolvers": 1}}]}"#,
    );
    let verification = job_from_json(&document(&text)).unwrap().verification;
    assert_eq!(
        (verification.runners, verification.threshold, verification.checks.len()),
        (5, 3, 7)
    );
}

#[test]
fn what_is_wrong_is_named_by_its_field() {
    let cases = [
        ("[]", ": must be an object"),
        ("{}", "job_type: is missing"),
        (&with("job_type", "{}"), "job_type: must be an object with one member"),
        (&with("job_type", r#"{"Ftp": {}}"#), "job_type: must be Llm"),
        (
            &with("job_type", r#"{"Http": {"method": "GET", "url": "u", "urls": 1}}"#),
            "job_type.Http.urls: is not a field",
        ),
        (&with("job_type", r#"{"Http": {"method": "GET"}}"#), "job_type.Http.url: is missing"),
        (
            &with("job_type", r#"{"Http": {"method": 1, "url": "u"}}"#),
            "job_type.Http.method: must be a text",
        ),
        (
            &with("job_type", r#"{"Http": {"method": "GET", "url": "u", "body": "0x0"}}"#),
            "job_type.Http.body: must be bytes",
        ),
        (
            &with("job_type", r#"{"Custom": {"executor_hash": "0x11"}}"#),
            "job_type.Custom.executor_hash: must be 32 bytes",
        ),
        (&with("max_price", "1.5"), "max_price: must be a whole number"),
        (&with("max_price", "\"-1\""), "max_price: must be a whole number"),
        (&with("timeout_blocks", "\"12x\""), "timeout_blocks: must be a whole number"),
        (&with("treshold", "1"), "treshold: is not a field of a job"),
        (&with("tee_required", "\"yes\""), "tee_required: must be true or false"),
        (&with("secrets", "\"a\""), "secrets: must be a list"),
        (&with("secrets", "[1]"), "secrets: must be a text"),
        (
            &with("verification", r#"{"mode": "hope"}"#),
            "verification.mode: is not a verification mode",
        ),
        (
            &with("verification", r#"{"mode": "majority_vote", "runners": 3}"#),
            "verification.threshold: this mode needs it",
        ),
        (
            &with("verification", r#"{"mode": "none", "checks": [{"Guess": {}}]}"#),
            "verification.checks: has a check of an unknown kind",
        ),
        (
            &with(
                "verification",
                r#"{"mode": "none", "checks": [{"NumericRange": {"field": "a", "min": "x", "max": 1}}]}"#,
            ),
            "verification.checks.NumericRange.min: must be a decimal",
        ),
        (
            &with("result_schema", r#"{"data_format": "xml"}"#),
            "result_schema.data_format: must be json, text or bytes",
        ),
        (
            &with("callback", r#"{"actor": "0x11", "handler": "h"}"#),
            "callback.actor: must be 20 bytes",
        ),
        (&with("callback", r#"{"handler": "h"}"#), "callback.actor: is missing"),
    ];
    for (text, words) in cases {
        let told = refused(text);
        assert!(told.starts_with(words), "{text}\n{told}\n{words}");
    }
}

#[test]
fn null_counts_as_missing() {
    assert_eq!(job_from_json(&document(&with("tip", "null"))).unwrap().tip, Amount::ZERO);
    assert!(refused(&with("max_price", "null")).starts_with("max_price: is missing"));
}
