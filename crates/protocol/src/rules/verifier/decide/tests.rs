use super::*;
use crate::rules::verifier::check::VerifierCheck;
use proptest::prelude::*;

fn runner(number: u8) -> Address {
    Address::repeat_byte(number)
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn vote(field: &str) -> Check {
    Check::MajorityVote { field: path(field) }
}

fn matching(fields: &[&str]) -> Check {
    let fields = fields.iter().map(|field| field.to_string()).collect();
    Check::compile(&VerifierCheck::StructuredMatch { fields }).unwrap()
}

fn custom() -> Check {
    Check::Custom { actor: runner(9), method: "ok".into() }
}

/// Numbers the runners from 1, in order.
fn submissions<T: AsRef<[u8]>>(texts: &[T]) -> Vec<Submission<'_>> {
    let numbered = (1..).map(runner).zip(texts);
    numbered.map(|(runner, text)| Submission { runner, result: text.as_ref() }).collect()
}

/// Decides over texts of runners 1, 2 and so on.
fn judge(
    mode: Mode,
    threshold: usize,
    checks: &[Check],
    format: ResultFormat,
    texts: &[&str],
) -> Option<(Vec<u8>, Option<String>)> {
    let results = submissions(texts);
    let decision = decide(mode, texts.len(), threshold, checks, format, &results)?;
    let winners = decision.winners.iter().map(|winner| winner[0]).collect();
    Some((winners, decision.agreed.map(|value| value.canonical())))
}

fn judge_json(
    mode: Mode,
    threshold: usize,
    checks: &[Check],
    texts: &[&str],
) -> Option<(Vec<u8>, Option<String>)> {
    judge(mode, threshold, checks, ResultFormat::Json, texts)
}

#[test]
fn the_voted_value_is_what_was_agreed() {
    let texts = [r#"{"v":[1.0,{"b":2,"a":1}]}"#, r#"{"v":[1,{"a":1,"b":2e0}]}"#, r#"{"v":3}"#];
    let decision = judge_json(Mode::MajorityVote, 2, &[vote("v")], &texts);
    assert_eq!(decision, Some((vec![1, 2], Some(r#"[1,{"a":1,"b":2}]"#.into()))));
}

#[test]
fn all_grouped_fields_are_agreed_by_their_paths() {
    let checks = [vote("u"), matching(&["a[0].b", "c"])];
    let texts = [
        r#"{"u":1,"a":[{"b":"x"}],"c":null,"n":1}"#,
        r#"{"u":1.0,"a":[{"b":"x"}],"c":null,"n":2}"#,
    ];
    let agreed = r#"{"a[0].b":"x","c":null,"u":1}"#;
    assert_eq!(
        judge_json(Mode::StructuredMatch, 2, &checks, &texts),
        Some((vec![1, 2], Some(agreed.into())))
    );
    assert_eq!(
        judge_json(Mode::StructuredMatch, 2, &[], &texts),
        Some((vec![1, 2], Some("{}".into())))
    );
}

#[test]
fn deterministic_results_agree_on_bytes_alone() {
    assert_eq!(judge_json(Mode::Deterministic, 2, &[], &["x", "x"]), Some((vec![1, 2], None)));
    assert_eq!(judge_json(Mode::Deterministic, 2, &[], &["1", "1.0"]), None);
    let results = [Submission { runner: runner(1), result: b"x" }];
    assert_eq!(
        decide(Mode::Deterministic, 2, 1, &[], ResultFormat::Raw, &results),
        None,
        "one is missing"
    );
    assert_eq!(decide(Mode::Deterministic, 0, 0, &[], ResultFormat::Raw, &[]), None);
}

#[test]
fn raw_results_are_grouped_by_their_bytes() {
    for (mode, check) in [(Mode::MajorityVote, vote("")), (Mode::StructuredMatch, matching(&[""]))]
    {
        let raw =
            |texts: &[&str]| judge(mode, 2, std::slice::from_ref(&check), ResultFormat::Raw, texts);
        assert_eq!(raw(&["\u{0}x", "\u{0}x", "y"]), Some((vec![1, 2], None)));
        assert_eq!(raw(&["1", "1.0", "1 "]), None);
    }
}

#[test]
fn raw_results_have_no_fields() {
    let number = |text| Decimal::parse_plain(text).unwrap();
    for check in [
        matching(&["v"]),
        matching(&["", "v"]),
        vote("v"),
        Check::NumericRange { field: path(""), min: number("0"), max: number("9") },
        Check::NumericTolerance { field: path(""), tolerance: number("9") },
        Check::compile(&VerifierCheck::JsonSchemaValid { schema: "{}".into() }).unwrap(),
        Check::Dns { min_resolvers: 0 },
    ] {
        let verdict = judge(
            Mode::StructuredMatch,
            1,
            std::slice::from_ref(&check),
            ResultFormat::Raw,
            &["1", "1"],
        );
        assert_eq!(verdict, None, "{check:?}");
    }
}

/// A result with one value and a DNS report: one resolver for each check.
fn with_dns(value: u8, confirmed: &[bool]) -> String {
    let entries: Vec<_> =
        confirmed.iter().map(|yes| format!(r#"[{{"resolver":"r","confirmed":{yes}}}]"#)).collect();
    format!(r#"{{"v":{value},"dns":[{}]}}"#, entries.join(","))
}

/// Two results that DNS confirms, and three of another value that it does not.
fn confirmed_minority() -> [String; 5] {
    [1, 2, 2, 1, 2].map(|value| with_dns(value, &[value == 1]))
}

#[test]
fn dns_checks_filter_before_the_vote_wherever_they_stand() {
    let texts = confirmed_minority();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let dns = Check::Dns { min_resolvers: 1 };
    for checks in [[dns.clone(), vote("v")], [vote("v"), dns]] {
        assert_eq!(
            judge_json(Mode::MajorityVote, 2, &checks, &texts),
            Some((vec![1, 4], Some("1".into())))
        );
    }
}

#[test]
fn dns_checks_of_a_pipeline_apply_in_their_turn() {
    let texts = confirmed_minority();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let dns = Check::Dns { min_resolvers: 1 };
    let structured = |checks: &[Check]| judge_json(Mode::StructuredMatch, 2, checks, &texts);
    assert_eq!(structured(&[vote("v"), dns.clone()]), None);
    assert_eq!(structured(&[dns, vote("v")]).map(|(winners, _)| winners), Some(vec![1, 4]));
}

#[test]
fn each_dns_check_reads_its_own_entry() {
    let texts = [
        with_dns(1, &[true, true]),
        with_dns(1, &[true, false]),
        with_dns(1, &[false, true]),
        with_dns(1, &[true]),
    ];
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let dns = Check::Dns { min_resolvers: 1 };
    let checks = [dns.clone(), vote("v"), dns];
    for mode in [Mode::MajorityVote, Mode::StructuredMatch] {
        assert_eq!(judge_json(mode, 1, &checks, &texts).map(|(winners, _)| winners), Some(vec![1]));
    }
}

#[test]
fn a_check_that_asks_an_actor_leaves_nobody() {
    assert_eq!(judge_json(Mode::StructuredMatch, 1, &[vote("v"), custom()], &[r#"{"v":1}"#]), None);
}

#[test]
fn unsound_input_has_no_winners() {
    let twice = [Submission { runner: runner(1), result: b"1" }; 2];
    assert_eq!(decide(Mode::MajorityVote, 2, 1, &[vote("")], ResultFormat::Json, &twice), None);
    let two = [twice[0], Submission { runner: runner(2), result: b"1" }];
    assert_eq!(decide(Mode::MajorityVote, 1, 1, &[vote("")], ResultFormat::Json, &two), None);
    assert_eq!(decide(Mode::MajorityVote, 2, 0, &[vote("")], ResultFormat::Json, &[]), None);
    assert_eq!(decide(Mode::MajorityVote, 2, 1, &[], ResultFormat::Json, &two), None);
    assert!(decide(Mode::MajorityVote, 2, 2, &[vote("")], ResultFormat::Json, &two).is_some());
}

#[test]
fn each_mode_takes_its_own_checks() {
    let dns = Check::Dns { min_resolvers: 1 };
    let majority = |checks: &[Check]| validate_checks(Mode::MajorityVote, checks);
    assert_eq!(majority(&[vote("v")]), Ok(()));
    assert_eq!(majority(&[dns.clone(), vote("v"), dns.clone()]), Ok(()));
    for checks in [
        vec![],
        vec![dns.clone()],
        vec![vote("v"), vote("v")],
        vec![vote("v"), matching(&["v"])],
        vec![vote("v"), custom()],
    ] {
        assert_eq!(majority(&checks), Err(CheckError::NotOneVote), "{checks:?}");
    }
    assert_eq!(validate_checks(Mode::Deterministic, &[]), Ok(()));
    for check in [vote("v"), dns.clone()] {
        assert_eq!(
            validate_checks(Mode::Deterministic, &[check]),
            Err(CheckError::DeterministicTakesNone)
        );
    }
    assert_eq!(validate_checks(Mode::StructuredMatch, &[dns, custom()]), Ok(()));
}

#[test]
fn only_submission_asks_a_pipeline_to_group() {
    let dns = Check::Dns { min_resolvers: 1 };
    assert_eq!(validate_checks(Mode::StructuredMatch, &[]), Ok(()));
    assert_eq!(require_grouping(Mode::StructuredMatch, &[]), Err(CheckError::NothingGroups));
    assert_eq!(require_grouping(Mode::StructuredMatch, &[dns]), Err(CheckError::NothingGroups));
    assert_eq!(require_grouping(Mode::StructuredMatch, &[vote("v")]), Ok(()));
    assert_eq!(require_grouping(Mode::StructuredMatch, &[matching(&["v"])]), Ok(()));
    assert_eq!(require_grouping(Mode::Deterministic, &[]), Ok(()));
    assert_eq!(require_grouping(Mode::MajorityVote, &[vote("v")]), Ok(()));
}

/// Results with one number each.
fn with_values(values: &[u8]) -> Vec<String> {
    values.iter().map(|value| format!(r#"{{"v":{value}}}"#)).collect()
}

fn few_values() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0_u8..4, 0..9)
}

/// The runners of the unique largest group, counted the slow way.
fn expected_winners(values: &[u8], threshold: usize) -> Option<Vec<u8>> {
    let members = |value: u8| {
        let numbered = (1_u8..).zip(values);
        numbered.filter(|(_, own)| **own == value).map(|(number, _)| number).collect::<Vec<_>>()
    };
    let mut groups: Vec<_> = (0..4).map(members).collect();
    groups.sort_by_key(Vec::len);
    let largest = groups.pop()?;
    (largest.len() > groups.last()?.len() && largest.len() >= threshold).then_some(largest)
}

proptest! {
    #[test]
    fn the_order_of_results_decides_nothing(values in few_values(), rotation in 0_usize..9) {
        let texts = with_values(&values);
        let mut results = submissions(&texts);
        let tolerance = Decimal::parse_plain("1").unwrap();
        let near = Check::NumericTolerance { field: path("v"), tolerance };
        for (mode, check) in [(Mode::MajorityVote, vote("v")), (Mode::StructuredMatch, near)] {
            let checks = [check];
            let before = decide(mode, 9, 1, &checks, ResultFormat::Json, &results);
            results.rotate_left(rotation.min(values.len()));
            let after = decide(mode, 9, 1, &checks, ResultFormat::Json, &results);
            prop_assert_eq!(after, before);
        }
    }

    #[test]
    fn a_vote_is_won_by_the_unique_largest_group(values in few_values(), threshold in 1_usize..9) {
        let texts = with_values(&values);
        let checks = [vote("v")];
        let results = submissions(&texts);
        let decision = decide(Mode::MajorityVote, 9, threshold, &checks, ResultFormat::Json, &results);
        let winners = decision.map(|decision| decision.winners);
        let expected = expected_winners(&values, threshold);
        prop_assert_eq!(winners, expected.map(|group| group.into_iter().map(runner).collect()));
    }

    #[test]
    fn winners_are_ascending_and_enough(
        texts in prop::collection::vec("[01 ]{0,2}", 0..6),
        threshold in 0_usize..4,
        format in prop::sample::select(vec![ResultFormat::Json, ResultFormat::Raw]),
    ) {
        let mut results = submissions(&texts);
        results.reverse();
        for (mode, checks) in [
            (Mode::MajorityVote, vec![vote("")]),
            (Mode::StructuredMatch, vec![]),
            (Mode::Deterministic, vec![]),
        ] {
            let decision = decide(mode, results.len(), threshold, &checks, format, &results);
            let winners = decision.map(|decision| decision.winners);
            prop_assert!(winners.is_none_or(|all| all.is_sorted() && all.len() >= threshold.max(1)));
        }
    }

    #[test]
    fn arbitrary_bytes_agree_with_themselves(bytes in any::<Vec<u8>>()) {
        let results = [1, 2].map(|number| Submission { runner: runner(number), result: &bytes });
        let checks = [vote("")];
        prop_assert!(decide(Mode::Deterministic, 2, 2, &[], ResultFormat::Raw, &results).is_some());
        prop_assert!(decide(Mode::MajorityVote, 2, 2, &checks, ResultFormat::Raw, &results).is_some());
        let decision = decide(Mode::MajorityVote, 2, 2, &checks, ResultFormat::Json, &results);
        prop_assert_eq!(decision.and_then(|decision| decision.agreed), json::parse(&bytes).ok());
    }
}

/// The audit vectors, with a reader that knows just enough of their form.
mod vectors {
    use super::*;
    use serde_json::{Value, json};

    const INVALID: &str = "invalid_input";
    const UNSUPPORTED: &str = "unsupported_check";

    fn text(value: &Value) -> Result<&str, &'static str> {
        value.as_str().ok_or(INVALID)
    }

    fn list(value: &Value) -> Result<&[Value], &'static str> {
        value.as_array().map(Vec::as_slice).ok_or(INVALID)
    }

    fn count(value: &Value) -> Result<usize, &'static str> {
        value.as_u64().and_then(|count| usize::try_from(count).ok()).ok_or(INVALID)
    }

    fn decimal(value: &Value) -> Result<Decimal, &'static str> {
        Decimal::parse_plain(text(value)?).map_err(|_| INVALID)
    }

    fn address(value: &Value) -> Result<Address, &'static str> {
        text(value)?.parse().map_err(|_| INVALID)
    }

    fn mode(value: &Value) -> Result<Mode, &'static str> {
        match text(value)? {
            "majority_vote" => Ok(Mode::MajorityVote),
            "structured_match" => Ok(Mode::StructuredMatch),
            "deterministic" => Ok(Mode::Deterministic),
            _ => Err(INVALID),
        }
    }

    fn check(value: &Value) -> Result<Check, &'static str> {
        let members = value.as_object().filter(|members| members.len() == 1).ok_or(INVALID)?;
        let (name, body) = members.iter().next().ok_or(INVALID)?;
        let field = || text(&body["field"]).map(str::to_owned);
        let check = match name.as_str() {
            "MajorityVote" => VerifierCheck::MajorityVote { field: field()? },
            "StructuredMatch" => {
                let fields =
                    list(&body["fields"])?.iter().map(|path| text(path).map(str::to_owned));
                VerifierCheck::StructuredMatch { fields: fields.collect::<Result<_, _>>()? }
            }
            "NumericRange" => VerifierCheck::NumericRange {
                field: field()?,
                min: decimal(&body["min"])?,
                max: decimal(&body["max"])?,
            },
            "NumericTolerance" => VerifierCheck::NumericTolerance {
                field: field()?,
                tolerance: decimal(&body["tolerance"])?,
            },
            "JsonSchemaValid" => {
                VerifierCheck::JsonSchemaValid { schema: text(&body["schema"])?.to_owned() }
            }
            "Custom" | "DnsTxtRecordMatch" | "DnsCnameMatch" => return Err(UNSUPPORTED),
            _ => return Err(INVALID),
        };
        Check::compile(&check).map_err(|_| INVALID)
    }

    fn audit(input: &Value) -> Result<Option<Decision>, &'static str> {
        let mode = mode(&input["mode"])?;
        let (m, n_threshold) = (count(&input["m"])?, count(&input["n_threshold"])?);
        let checks = list(&input["checks"])?.iter().map(check).collect::<Result<Vec<_>, _>>()?;
        validate_checks(mode, &checks).map_err(|_| INVALID)?;
        let mut results = Vec::new();
        for entry in list(&input["results"])? {
            let result = text(&entry["result"])?.as_bytes();
            results.push(Submission { runner: address(&entry["runner"])?, result });
        }
        let runners: BTreeSet<_> = results.iter().map(|result| result.runner).collect();
        let sound = runners.len() == results.len() && results.len() <= m;
        if !sound || !(1..=m).contains(&n_threshold) || m > 64 {
            return Err(INVALID);
        }
        Ok(decide(mode, m, n_threshold, &checks, ResultFormat::Json, &results))
    }

    fn output(verdict: Result<Option<Decision>, &str>) -> Value {
        let hex = |winner: &Address| format!("0x{}", alloy_primitives::hex::encode(winner));
        match verdict {
            Err(code) => json!({ "error": code }),
            Ok(decision) => {
                json!({ "winners": decision.map(|decision| decision.winners.iter().map(hex).collect::<Vec<_>>()) })
            }
        }
    }

    #[test]
    fn every_audit_vector_is_decided_as_written() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/verify.json");
        let vectors: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert!(vectors.len() >= 162, "the file is cut short");
        for vector in &vectors {
            assert_eq!(output(audit(&vector["in"])), vector["out"], "{}", vector["name"]);
        }
    }
}
