//! Every example of the seed is read and written as it stands there.

use remuda_fleet::message::{
    AckLease, Complete, Heartbeat, MESSAGE_BYTES_MAX, Message, MessageError, RunSubmission, decode,
};
use serde_json::{Value, json};

/// The seed's examples, and the fields that ours have besides.
const EXAMPLES: &[(&str, &str, &[&str])] = &[
    ("LeaseGranted", include_str!("seed/LeaseGranted.json"), &["attempt", "fence"]),
    ("AckLease", include_str!("seed/AckLease.json"), &[]),
    ("Heartbeat", include_str!("seed/Heartbeat.json"), &[]),
    ("HeartbeatAck", include_str!("seed/HeartbeatAck.json"), &[]),
    ("Complete", include_str!("seed/Complete.json"), &[]),
    ("CompleteAck", include_str!("seed/CompleteAck.json"), &[]),
    ("CancelRequested", include_str!("seed/CancelRequested.json"), &[]),
    ("CancelAck", include_str!("seed/CancelAck.json"), &[]),
    ("StaleLease", include_str!("seed/StaleLease.json"), &["stale", "extend_lease"]),
];

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

#[test]
fn examples_of_the_seed_come_back_as_they_went_in() {
    for (name, text, added) in EXAMPLES {
        let message = Message::decode(text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let written = message.encode();
        assert_eq!(Message::decode(&written), Ok(message), "{name}");
        let mut written = value(&written);
        let fields = written.as_object_mut().expect("an object");
        for field in *added {
            assert!(fields.remove(*field).is_some(), "{name} has no {field}");
        }
        assert_eq!(written, value(text.as_bytes()), "{name}");
    }
}

#[test]
fn every_field_of_the_wrong_kind_is_named() {
    for (name, text, _) in EXAMPLES {
        let example = value(text.as_bytes());
        for field in example.as_object().expect("an object").keys().filter(|f| *f != "type") {
            let mut bad = example.clone();
            bad[field] = json!([[true]]);
            let error = Message::decode(bad.to_string().as_bytes()).expect_err(name);
            assert_eq!(error.code(), "BAD_FIELD", "{name}.{field}");
            assert!(error.to_string().contains(field.as_str()), "{error}");
        }
    }
}

#[test]
fn examples_cut_short_are_not_json() {
    for (_, text, _) in EXAMPLES {
        let text = text.trim_end();
        for end in 0..text.len() {
            let error = Message::decode(&text.as_bytes()[..end]).expect_err("cut short");
            assert_eq!(error.code(), "NOT_JSON", "{}", &text[..end]);
        }
        let doubled = format!("{text}{text}");
        assert_eq!(Message::decode(doubled.as_bytes()).map_err(|e| e.code()), Err("NOT_JSON"));
    }
}

#[test]
fn unknown_fields_are_ignored_and_unknown_types_are_not() {
    let mut message = value(EXAMPLES[1].1.as_bytes());
    message["mood"] = json!({ "level": 12 });
    assert!(decode::<AckLease>(message.to_string().as_bytes()).is_ok());
    message["type"] = json!("Steal");
    let error = Message::decode(message.to_string().as_bytes()).expect_err("no such type");
    assert_eq!(error.code(), "UNKNOWN_TYPE");
    assert!(error.to_string().contains("AckLease"), "{error}");
}

#[test]
fn another_message_than_expected_is_refused_by_name() {
    let error = decode::<Complete>(EXAMPLES[1].1.as_bytes()).expect_err("an AckLease");
    let expected = MessageError::WrongType { found: "AckLease".to_owned(), expected: "Complete" };
    assert_eq!(error, expected);
    assert_eq!(error.status(), 400);
}

#[test]
fn sizes_are_looked_at_before_use() {
    let spaces = vec![b' '; MESSAGE_BYTES_MAX + 1];
    assert_eq!(Message::decode(&spaces).map_err(|e| e.status()), Err(413));

    let mut complete = value(EXAMPLES[4].1.as_bytes());
    complete["summary"] = json!("x".repeat(5_000));
    let error = decode::<Complete>(complete.to_string().as_bytes()).expect_err("long");
    assert_eq!(error.code(), "FIELD_TOO_LARGE");

    let mut beat = value(EXAMPLES[2].1.as_bytes());
    beat["progress"]["percent"] = json!(101);
    let error = decode::<Heartbeat>(beat.to_string().as_bytes()).expect_err("over 100");
    assert_eq!(error.code(), "BAD_VALUE");
}

#[test]
fn a_success_with_a_failing_code_is_no_success() {
    let mut complete = value(EXAMPLES[4].1.as_bytes());
    complete["exit_code"] = json!(3);
    assert!(decode::<Complete>(complete.to_string().as_bytes()).is_err());
    complete["status"] = json!("FAILED");
    assert!(decode::<Complete>(complete.to_string().as_bytes()).is_ok());
}

#[test]
fn needs_in_a_circle_or_of_nobody_are_refused() {
    let job = |name: &str, needs: &[&str]| json!({ "name": name, "needs": needs, "job_spec": { "name": name, "steps": ["true"] } });
    let submit = |jobs: Vec<Value>| {
        decode::<RunSubmission>(json!({ "jobs": jobs }).to_string().as_bytes())
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(submit(vec![job("a", &[]), job("b", &["a"]), job("c", &["a", "b"])]), Ok(()));
    let circle = submit(vec![job("a", &["b"]), job("b", &["a"])]).expect_err("a circle");
    assert!(circle.contains("circle"), "{circle}");
    assert!(submit(vec![job("a", &["a"])]).is_err());
    assert!(submit(vec![job("a", &["z"])]).is_err());
    assert!(submit(vec![job("a", &[]), job("a", &[])]).is_err());
    assert!(submit(vec![]).is_err());
}
