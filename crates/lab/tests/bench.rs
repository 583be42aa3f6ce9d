//! `remuda-lab bench`, as `make bench` runs it.

use serde_json::Value;
use std::process::Command;

#[test]
fn figures_of_a_small_fleet_are_taken() {
    let args = ["bench", "fleet", "--workers", "4", "--jobs", "3", "--beats", "5", "--json"];
    let mut lab = Command::new(env!("CARGO_BIN_EXE_remuda-lab"));
    let run = lab.args(args).args(["--idle", "40", "--hold", "1"]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let figures: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&figures["workers"], &figures["jobs"]), (&4.into(), &12.into()), "{figures}");
    assert_eq!(figures["sqlite"]["jobs"], 12, "{figures}");
    assert_eq!(figures["idle"]["workers"], 40, "{figures}");
    assert_eq!(figures["idle"]["watched_seconds"], 1, "{figures}");
    let of_a_store = ["jobs_per_second", "lease_micros_p50", "lease_micros_p99"];
    positive(&figures["sqlite"], &of_a_store);
    positive(&figures["sqlite"], &["heartbeats_per_second"]);
    positive(&figures["http"], &of_a_store);
    let idle = &figures["idle"];
    positive(idle, &["connected_millis", "resident_bytes_before", "resident_bytes"]);
    // So few may take no memory that it had not had before, and no time that the system counts.
    for name in ["bytes_per_worker", "cpu_permille"] {
        assert!(idle[name].is_u64(), "{name}: {idle}");
    }
}

#[test]
fn a_start_is_timed_with_and_without_an_index() {
    let args = ["bench", "start", "--blocks", "50", "--json"];
    let run = Command::new(env!("CARGO_BIN_EXE_remuda-lab")).args(args).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let figures: Value = serde_json::from_slice(&run.stdout).unwrap();
    positive(&figures, &["blocks", "without_index_millis", "with_index_millis"]);
}

fn positive(figures: &Value, names: &[&str]) {
    for name in names {
        assert!(figures[name].as_u64() > Some(0), "{name}: {figures}");
    }
}
