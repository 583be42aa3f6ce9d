use super::*;
use proptest::prelude::*;
use remuda_protocol::codec::Bytes;
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::json::Decimal;

const EXAMPLE: &str = r#"{
    "job_type": {"Http": {"method": "GET", "url": "https://example.org/price"}},
    "verification": {"mode": "majority_vote", "runners": 3, "threshold": 2,
                     "checks": [{"MajorityVote": {"field": "answer"}}]},
    "result_schema": {"max_return_bytes": 1024, "expected_execution_ms": 100, "data_format": "json"},
    "max_price": "1000000000"
}"#;

fn read(json: &str) -> Result<JobSpec, SpecError> {
    JobSpecView::from_json(json.as_bytes()).and_then(|view| JobSpec::try_from(&view))
}

#[test]
fn what_has_a_default_may_be_left_out() {
    let spec = read(EXAMPLE).unwrap();
    assert_eq!(spec.max_price, Amount::CBY);
    assert_eq!((spec.tip, spec.timeout_blocks, spec.tee_required), (Amount::ZERO, 0, false));
    assert_eq!(spec.bounds, ResourceBounds::default());
}

#[test]
fn prices_may_be_written_as_people_do() {
    for (text, price) in [("\"1.5cby\"", 1_500_000_000), ("\"25 CBY\"", 25_000_000_000), ("7", 7)] {
        let json = EXAMPLE.replace("\"1000000000\"", text);
        assert_eq!(read(&json).unwrap().max_price, Amount(price), "{text}");
    }
    for text in ["\"1.5\"", "1.5", "\"1.5eur\"", "\"1.0000000001cby\""] {
        let error = read(&EXAMPLE.replace("\"1000000000\"", text)).expect_err(text);
        assert_eq!(error.field, "max_price", "{error}");
        assert!(error.to_string().contains("CBY") || error.to_string().contains("cby"), "{error}");
    }
}

#[test]
fn one_runner_need_not_be_counted() {
    let json =
        EXAMPLE.replace(r#""runners": 3, "threshold": 2,"#, "").replace("majority_vote", "none");
    let spec = read(&json.replace(r#"{"MajorityVote": {"field": "answer"}}"#, "")).unwrap();
    assert_eq!((spec.verification.runners, spec.verification.threshold), (1, 1));
    let uncounted = read(&EXAMPLE.replace(r#", "threshold": 2"#, "")).unwrap_err();
    assert_eq!(uncounted.field, "verification.threshold", "a committee is");
}

#[test]
fn errors_name_the_field() {
    let cases = [
        (EXAMPLE.replace("\"threshold\"", "\"treshold\""), "verification.treshold"),
        (EXAMPLE.replace("majority_vote", "vote"), "verification.mode"),
        (EXAMPLE.replace("\"1000000000\"", "-1"), "max_price"),
        (EXAMPLE.replace("1024", "\"1024\""), "result_schema.max_return_bytes"),
        (
            EXAMPLE.replace(
                r#"{"MajorityVote": {"field": "answer"}}"#,
                r#"{"NumericRange": {"field": "a", "min": "x", "max": "1"}}"#,
            ),
            "verification.checks[0].NumericRange.min",
        ),
        (EXAMPLE.replace("\"Http\"", "\"Ftp\""), "job_type"),
    ];
    for (json, field) in cases {
        let error = read(&json).expect_err(field);
        assert!(error.field.starts_with(field), "{error}");
    }
}

#[test]
fn what_follows_the_document_is_refused() {
    assert!(read(&format!("{EXAMPLE} {{}}")).is_err());
    let long = format!("{EXAMPLE}{}", " ".repeat(600 * 1024));
    assert!(read(&long).unwrap_err().problem.starts_with("a job in JSON has at most"));
}

fn text() -> impl Strategy<Value = String> {
    // Anything that UTF-8 can hold, quotes, controls and backslashes among it.
    proptest::collection::vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().collect())
}

fn data() -> impl Strategy<Value = Bytes> {
    proptest::collection::vec(any::<u8>(), 0..40).prop_map(Bytes)
}

fn address() -> impl Strategy<Value = Address> {
    any::<[u8; 20]>().prop_map(Address::new)
}

fn decimal() -> impl Strategy<Value = Decimal> {
    let limit = 100_000_000_000_000_000_000_i128 * 1_000_000_000;
    (-limit..=limit).prop_map(|nanos| Decimal::from_nanos(nanos).expect("within the limit"))
}

fn work() -> impl Strategy<Value = JobType> {
    let turn = (text(), text()).prop_map(|(role, content)| Message { role, content });
    let turns = proptest::collection::vec(turn, 0..3);
    let headers = proptest::collection::vec((text(), text()), 0..3);
    prop_oneof![
        (text(), turns, any::<u32>(), any::<u64>()).prop_map(
            |(model, messages, temperature_milli, seed)| JobType::Llm {
                model,
                messages,
                temperature_milli,
                seed
            }
        ),
        (text(), text(), headers, data(), text()).prop_map(
            |(method, url, headers, body, extract)| JobType::Http {
                method,
                url,
                headers,
                body,
                extract
            }
        ),
        (text(), text(), text()).prop_map(|(server, tool, arguments)| JobType::Mcp {
            server,
            tool,
            arguments
        }),
        (any::<u64>(), data())
            .prop_map(|(chain_id, raw_transaction)| JobType::EthSend { chain_id, raw_transaction }),
        (any::<[u8; 32]>(), data())
            .prop_map(|(hash, params)| JobType::Custom { executor_hash: B256::new(hash), params }),
    ]
}

fn check() -> impl Strategy<Value = VerifierCheck> {
    prop_oneof![
        text().prop_map(|field| VerifierCheck::MajorityVote { field }),
        text().prop_map(|schema| VerifierCheck::JsonSchemaValid { schema }),
        proptest::collection::vec(text(), 0..3)
            .prop_map(|fields| VerifierCheck::StructuredMatch { fields }),
        (text(), decimal())
            .prop_map(|(field, tolerance)| VerifierCheck::NumericTolerance { field, tolerance }),
        (text(), decimal(), decimal()).prop_map(|(field, min, max)| VerifierCheck::NumericRange {
            field,
            min,
            max
        }),
        (address(), text()).prop_map(|(actor, method)| VerifierCheck::Custom { actor, method }),
        (text(), text(), any::<u32>()).prop_map(|(fqdn, expected_value, min_resolvers)| {
            VerifierCheck::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers }
        }),
        (text(), text(), any::<u32>()).prop_map(|(fqdn, expected_target, min_resolvers)| {
            VerifierCheck::DnsCnameMatch { fqdn, expected_target, min_resolvers }
        }),
    ]
}

fn spec() -> impl Strategy<Value = JobSpec> {
    let bounds = any::<[u32; 5]>().prop_map(|[a, b, c, d, e]| ResourceBounds {
        max_input_tokens: a,
        max_output_tokens: b,
        max_wall_time_seconds: c,
        max_memory_mb: d,
        max_retries: e,
    });
    let modes = proptest::sample::select(VerificationMode::ALL.to_vec());
    let checks = proptest::collection::vec(check(), 0..4);
    let verification = (modes, any::<u32>(), any::<u32>(), checks).prop_map(
        |(mode, runners, threshold, checks)| Verification { mode, runners, threshold, checks },
    );
    let formats = vec![DataFormat::Json, DataFormat::Text, DataFormat::Bytes];
    let schema = (any::<u32>(), any::<u64>(), proptest::sample::select(formats)).prop_map(
        |(max_return_bytes, expected_execution_ms, data_format)| ResultSchema {
            max_return_bytes,
            expected_execution_ms,
            data_format,
        },
    );
    let callback = (address(), text(), any::<u64>())
        .prop_map(|(actor, handler, cycles_limit)| Callback { actor, handler, cycles_limit });
    let money = (any::<u128>(), any::<u128>(), any::<u64>());
    let rest = (
        proptest::option::of(callback),
        any::<bool>(),
        proptest::collection::vec(text(), 0..3),
        proptest::option::of(data()),
    );
    (work(), bounds, verification, schema, money, rest).prop_map(
        |(job_type, bounds, verification, result_schema, (price, tip, timeout_blocks), rest)| {
            let (callback, tee_required, secrets, required_runner_pool) = rest;
            JobSpec {
                job_type,
                bounds,
                verification,
                result_schema,
                max_price: Amount(price),
                tip: Amount(tip),
                timeout_blocks,
                callback,
                tee_required,
                secrets,
                required_runner_pool,
            }
        },
    )
}

proptest! {
    #[test]
    fn a_job_comes_back_from_json_as_it_was(spec in spec()) {
        let json = serde_json::to_vec(&JobSpecView::from(&spec)).unwrap();
        let view = JobSpecView::from_json(&json).unwrap();
        prop_assert_eq!(JobSpec::try_from(&view).unwrap(), spec);
    }
}
