//! `remuda demo`, whole.

use serde_json::Value;
use std::process::Command;

#[test]
fn a_network_does_its_jobs_and_ends_by_itself() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_remuda"));
    let output = demo.args(["demo", "--json"]).output().expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{stdout}");
    let object: Value = serde_json::from_str(&stdout).expect("stdout is one JSON document");
    assert_eq!(object["ok"], Value::Bool(true), "{object:#}");
    let jobs = object["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 5);
    for job in jobs {
        let paid = job["paid"].as_array().expect("pay");
        let first = job["name"] == "http, majority vote";
        assert_eq!(paid.len(), if first { 2 } else { 3 }, "{job:#}");
    }
    assert!(object["millis"].as_u64().is_some_and(|millis| millis < 120_000), "{object:#}");
}
