//! Full disks: each process has one of its own, in a namespace that goes with it.

use crate::faults::peer::{Fleet, Folder, Peer, job};
use serde_json::json;

/// A command that mounts a small disk at a folder, and becomes the next.
fn small_disk(folder: &str, bytes: &str) -> Vec<String> {
    let script = format!("mount -t tmpfs -o size={bytes} tmpfs '{folder}' && exec \"$@\"");
    let words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"];
    words.map(str::to_owned).to_vec()
}

fn start(disk: &[String], settings: &serde_json::Value) -> Peer {
    let words: Vec<&str> = disk.iter().map(String::as_str).collect();
    Peer::start_in(&words, settings)
}

#[tokio::test]
async fn a_job_that_fills_its_workers_disk_fails_and_the_next_one_has_room() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let folder = fleet.folder.0.join("worker");
    std::fs::create_dir(&folder).expect("a folder");
    let disk = small_disk(&folder.to_string_lossy(), "2m");
    let _worker = start(&disk, &fleet.worker_settings("worker", json!({})));
    let fill = "head -c 10000000 /dev/zero > big";
    let full = fleet.ended(&fleet.submit(vec![job("a", fill)]).await).await;
    assert_eq!(full["jobs"][0]["failure"], "STEP_FAILED", "{full}");
    let log = fleet.log(&full["jobs"][0]).await;
    assert!(log.contains("No space left"), "{log}");
    let fits = "head -c 1000000 /dev/zero > small";
    let next = fleet.ended(&fleet.submit(vec![job("a", fits)]).await).await;
    assert_eq!(next["status"], "SUCCEEDED", "{next}");
}

#[tokio::test]
async fn an_object_that_does_not_fit_is_not_kept_and_the_orchestrator_goes_on() {
    let folder = Folder::new();
    let disk = small_disk(&folder.0.join("orchestrator").to_string_lossy(), "6m");
    let settings = json!({ "lease_ttl_seconds": 5, "losses_max": 1 });
    let fleet = Fleet::start_with(folder, settings, |settings| start(&disk, settings));
    let _worker = fleet.worker("worker");
    let keep = |bytes: u32| {
        json!({ "name": "a", "job_spec": { "name": "a", "steps": [format!("head -c {bytes} /dev/zero > big")],
            "artifacts": [{ "type": "big", "path_glob": "big" }] } })
    };
    let full = fleet.ended(&fleet.submit(vec![keep(12_000_000)]).await).await;
    let job = &full["jobs"][0];
    // Its steps may have had effects: they are not done again because of a disk.
    assert_eq!((&job["state"], &job["losses"]), (&json!("FAILED"), &json!(0)), "{full}");
    assert_eq!(job["failure"], "NOT_KEPT", "no step failed: {full}");
    assert!(job["summary"].as_str().is_some_and(|text| text.contains("full")), "{full}");
    let next = fleet.ended(&fleet.submit(vec![keep(100_000)]).await).await;
    assert_eq!(next["status"], "SUCCEEDED", "{next}");
    assert_eq!(fleet.artifacts(&next["jobs"][0]).await[1]["type"], "big");
}
