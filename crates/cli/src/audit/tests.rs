//! Limits and readings that no vector of `crates/protocol/vectors` pins down.

use super::*;

const A: &str = "0x00000000000000000000000000000000000000aa";
const B: &str = "0x00000000000000000000000000000000000000bb";
const HASH: &str = "0x0000000000000000000000000000000000000000000000000000000000000001";
const U128_MAX: &str = "340282366920938463463374607431768211455";

fn ask(topic: Topic, input: Value) -> Value {
    let outcome = run(topic, input.to_string().as_bytes());
    assert_eq!(outcome.status == 1, outcome.reason.is_some());
    serde_json::from_str(&outcome.output).expect("the answer is JSON")
}

fn code(topic: Topic, input: Value) -> String {
    ask(topic, input)["error"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn whatever_is_no_object_is_invalid() {
    for topic in Topic::value_variants() {
        for input in ["", "[]", "null", "7", "{", "{} {}", "\u{feff}{}", "{}"] {
            let outcome = run(*topic, input.as_bytes());
            assert_eq!(outcome.output, r#"{"error":"invalid_input"}"#, "{topic:?} {input:?}");
            assert_eq!(outcome.status, 1);
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_invalid() {
    assert_eq!(run(Topic::Lane, b"{\"basefee\": \"\xff\"}").status, 1);
}

#[test]
fn names_lead_back_to_topics() {
    for topic in Topic::value_variants() {
        assert_eq!(Topic::from_name(&topic.name()), Some(*topic));
    }
    assert_eq!(Topic::SumTree.name(), "sum-tree");
}

#[test]
fn example_of_the_help_text_is_true() {
    let outcome = run(Topic::Lane, br#"{"basefee": "10000", "quotient": 1, "used": [2000000, 0]}"#);
    assert_eq!((outcome.status, outcome.reason), (0, None));
    assert!(EXAMPLE.contains(&outcome.output));
}

#[test]
fn reason_names_the_place() {
    let outcome = run(Topic::Lane, br#"{"basefee": "10000", "quotient": 1, "used": [1, 2.5]}"#);
    assert!(outcome.reason.is_some_and(|reason| reason.contains("used[1]")));
}

#[test]
fn reasons_say_what_is_allowed() {
    let reason = |topic, input: Value| run(topic, input.to_string().as_bytes()).reason.unwrap();
    let size = json!({
        "stakes": [1], "hhi_prior_nano": null, "mode": "vote", "runners": 1, "threshold": 1, "candidates": 1,
    });
    let reasons = [
        (reason(Topic::Select, select(1, "maybe", "1")), "\"maybe\"; allowed: shadow, prefer"),
        (reason(Topic::CommitteeSize, size), "\"vote\"; allowed: none, "),
        (reason(Topic::Verify, verify("vote", json!([]))), "\"vote\"; allowed: majority_vote, "),
        (
            reason(Topic::Verify, verify("structured_match", json!([{ "Vote": {} }]))),
            "\"Vote\"; allowed: MajorityVote, ",
        ),
        (reason(Topic::Select, select(1, "shadow", U128_MAX)), B),
        (run(Topic::Lane, b" \n").reason.unwrap(), "stdin is empty; a JSON object is expected"),
    ];
    for (reason, part) in reasons {
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn sums_beyond_u128_are_overflows() {
    let lane = json!({ "basefee": U128_MAX, "quotient": 1, "used": [2_000_000] });
    assert_eq!(code(Topic::Lane, lane), "overflow");
    let event = |score: Value| {
        let events = [json!({ "height": 1, "score": score })];
        json!({ "score_sum": U128_MAX, "weight_sum": 0, "last_update": 1, "events": events })
    };
    assert_eq!(code(Topic::Reputation, event(json!(1))), "overflow");
    assert_eq!(ask(Topic::Reputation, event(Value::Null))["score_sum"], U128_MAX);
    assert_eq!(code(Topic::Reputation, event(json!(201))), "invalid_input");
}

#[test]
fn reputation_without_events_is_an_empty_list() {
    let input = json!({ "score_sum": "7", "weight_sum": "8", "last_update": 1, "events": [] });
    let expected = json!({ "reputation_nano": [], "score_sum": "7", "weight_sum": "8" });
    assert_eq!(ask(Topic::Reputation, input), expected);
}

#[test]
fn null_is_not_the_same_as_left_out() {
    let event =
        json!({ "score_sum": 0, "weight_sum": 0, "last_update": 1, "events": [{ "height": 1 }] });
    assert_eq!(code(Topic::Reputation, event), "invalid_input");
    let size =
        json!({ "stakes": [1], "mode": "none", "runners": 1, "threshold": 1, "candidates": 1 });
    assert_eq!(code(Topic::CommitteeSize, size), "invalid_input");
}

fn size(stakes: Value, prior: Value) -> Value {
    json!({
        "stakes": stakes, "hhi_prior_nano": prior,
        "mode": "majority_vote", "runners": 3, "threshold": 2, "candidates": 3,
    })
}

#[test]
fn largest_stakes_have_an_index() {
    let answer = ask(
        Topic::CommitteeSize,
        size(json!([U128_MAX, U128_MAX, U128_MAX, U128_MAX]), Value::Null),
    );
    assert_eq!(
        answer,
        json!({ "hhi_nano": 250_000_000, "m_target": 16, "m": 3, "n_threshold": 2 })
    );
}

#[test]
fn nobody_active_counts_as_index_zero() {
    let answer = ask(Topic::CommitteeSize, size(json!([]), json!(1_000_000_000)));
    assert_eq!(answer, json!({ "hhi_nano": 875_000_000, "m_target": 3, "m": 3, "n_threshold": 2 }));
    assert_eq!(code(Topic::CommitteeSize, size(json!([]), json!(1_000_000_001))), "invalid_input");
}

fn select(m: u32, policy: &str, absent_stake: &str) -> Value {
    json!({ "seed": HASH, "m": m, "policy": policy, "mru": null, "candidates": [
        { "address": B, "slot": 0, "effective_stake": absent_stake, "reputation_nano": 0, "present": false },
        { "address": A, "slot": 1, "effective_stake": "1", "reputation_nano": 0, "present": true },
    ] })
}

#[test]
fn filtered_candidates_are_not_weighed() {
    assert_eq!(ask(Topic::Select, select(1, "require", U128_MAX))["committee"], json!([A]));
    assert_eq!(code(Topic::Select, select(1, "prefer", U128_MAX)), "overflow");
    assert_eq!(code(Topic::Select, select(3, "prefer", U128_MAX)), "insufficient_runners");
    assert_eq!(code(Topic::Select, select(3, "prefer", "0")), "invalid_input");
}

#[test]
fn fourfold_weight_may_pass_u128() {
    let mut input = select(1, "shadow", "3402823669209384634633746074316");
    input["mru"] = json!(B);
    let answer = ask(Topic::Select, input);
    assert_eq!(answer["committee"], json!([B]));
    assert_eq!(answer["snapshot_roots"][0]["sum"], "340282366920938463463374607431700000000");
}

#[test]
fn beacon_is_of_one_kind() {
    let seed = |beacon: Value| json!({ "mode": 0, "beacon": beacon, "job_id": HASH, "submitted_at": 0, "retry": 0 });
    assert_eq!(code(Topic::Seed, seed(json!({ "genesis_hash": HASH, "note": 1 }))), "none");
    assert_eq!(
        code(Topic::Seed, seed(json!({ "genesis_hash": HASH, "view": 1 }))),
        "invalid_input"
    );
    assert_eq!(code(Topic::Seed, seed(json!({ "epoch": 0, "view": 1 }))), "invalid_input");
}

#[test]
fn weights_are_named_by_addresses() {
    let order = |name: &str, weight: u64| {
        let weights = Map::from_iter([(name.to_owned(), json!(weight))]);
        json!({ "height": 0, "basefee_lane": "0", "parent_beacon": HASH, "weights": weights, "timers": [] })
    };
    assert_eq!(code(Topic::TimerOrder, order(A, 1_000_000_000)), "none");
    assert_eq!(code(Topic::TimerOrder, order(A, 999_999_999)), "invalid_input");
    assert_eq!(code(Topic::TimerOrder, order("0xAA", 1_000_000_000)), "invalid_input");
}

fn verify(mode: &str, checks: Value) -> Value {
    let results = [json!({ "runner": A, "result": "{\"v\":1}" })];
    json!({ "mode": mode, "m": 1, "n_threshold": 1, "checks": checks, "results": results })
}

#[test]
fn malformed_checks_come_before_unsupported_ones() {
    let vote = json!({ "MajorityVote": { "field": "v" } });
    let custom = json!({ "Custom": { "actor_hex": A, "method": "ok" } });
    let broken = json!({ "MajorityVote": { "field": "a..b" } });
    let run = |mode, checks: &[&Value]| code(Topic::Verify, verify(mode, json!(checks)));
    assert_eq!(run("structured_match", &[&vote]), "none");
    assert_eq!(run("structured_match", &[&vote, &custom]), "unsupported_check");
    assert_eq!(run("structured_match", &[&custom, &broken]), "invalid_input");
    assert_eq!(run("majority_vote", &[&vote]), "none");
    assert_eq!(run("majority_vote", &[&vote, &custom]), "invalid_input");
    assert_eq!(run("deterministic", &[&custom]), "invalid_input");
}

#[test]
fn malformed_results_come_before_unsupported_checks() {
    let mut input = verify("structured_match", json!([{ "DnsTxtRecordMatch": {} }]));
    assert_eq!(code(Topic::Verify, input.clone()), "unsupported_check");
    input["results"][0]["runner"] = json!("0x");
    assert_eq!(code(Topic::Verify, input), "invalid_input");
}
