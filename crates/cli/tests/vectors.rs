//! Every vector of `crates/protocol/vectors` goes through the code path of `remuda audit`.

use clap::ValueEnum;
use remuda::audit::{Topic, run};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

struct Vector {
    name: String,
    input: String,
    output: Value,
}

fn vectors(topic: Topic) -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/vectors");
    let path = folder.join(format!("{}.json", topic.name()));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let list: Vec<Value> = serde_json::from_str(&text).expect("a vector file is a list");
    assert!(!list.is_empty());
    let vector = |value: &Value| Vector {
        name: value["name"].as_str().expect("a vector has a name").to_owned(),
        input: value["in"].to_string(),
        output: value["out"].clone(),
    };
    list.iter().map(vector).collect()
}

/// 1 if the document is an error.
fn expected_status(output: &Value) -> u8 {
    output.get("error").is_some().into()
}

fn check(topic: Topic) {
    for vector in vectors(topic) {
        let outcome = run(topic, vector.input.as_bytes());
        let output: Value = serde_json::from_str(&outcome.output).expect("the answer is JSON");
        let name = vector.name;
        assert_eq!(output, vector.output, "{topic:?}, {name:?}: {:?}", outcome.reason);
        assert_eq!(outcome.status, expected_status(&output), "{topic:?}, {name:?}");
    }
}

macro_rules! topics {
    ($($test:ident: $topic:ident,)*) => {
        $(#[test]
        fn $test() {
            check(Topic::$topic);
        })*

        #[test]
        fn every_topic_has_a_test() {
            assert_eq!([$(Topic::$topic),*], *Topic::value_variants());
        }
    };
}

topics! {
    subset: Subset,
    presence: Presence,
    committee_size: CommitteeSize,
    seed: Seed,
    select: Select,
    sum_tree: SumTree,
    aggregator: Aggregator,
    reputation: Reputation,
    lane: Lane,
    fairness: Fairness,
    timer_order: TimerOrder,
    verify: Verify,
    payout: Payout,
    commitment: Commitment,
}

/// Exit status, stdout and stderr of the real binary.
fn remuda(args: &[&str], stdin: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_remuda"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A child that refuses its arguments does not read what it is given.
    let _ = child.stdin.take().expect("stdin is piped").write_all(stdin.as_bytes());
    let output = child.wait_with_output().expect("the binary ends");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn binary_answers_on_stdout() {
    for topic in Topic::value_variants() {
        let vectors = vectors(*topic);
        let answered = vectors.iter().find(|vector| expected_status(&vector.output) == 0);
        let refused = vectors.iter().find(|vector| expected_status(&vector.output) == 1);
        for vector in [answered, refused].into_iter().flatten() {
            let (status, stdout, stderr) = remuda(&["audit", &topic.name()], &vector.input);
            let output: Value = serde_json::from_str(&stdout).expect("stdout is one JSON document");
            assert_eq!(output, vector.output, "{topic:?}, {:?}", vector.name);
            assert_eq!(status, Some(expected_status(&output).into()));
            assert_eq!(stderr.is_empty(), status == Some(0));
        }
    }
}

#[test]
fn wrong_use_lists_the_topics_and_exits_with_2() {
    let (status, stdout, stderr) = remuda(&["audit", "coin-toss"], "{}");
    assert_eq!((status, stdout.as_str()), (Some(2), ""));
    for topic in Topic::value_variants() {
        assert!(stderr.contains(&topic.name()), "{stderr}");
    }
}
