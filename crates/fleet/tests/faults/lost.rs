//! Lost answers: the request has taken effect, but its sender cannot know. Senders repeat every message
//! until it is answered, and it counts once.

use crate::faults::peer::{Door, Fleet, gone, job, mark};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How many answers are lost, one after the other.
const TIMES: usize = 3;
/// The same of messages that end a lease: nothing comes after them that would show that they arrived.
const LAST_TIMES: usize = 5;
/// Long enough that no heartbeat comes between them: after one that is told that the lease is over, nothing more is
/// said.
const LAST_TTL: u32 = 15;
/// The same, but a heartbeat must have told of the stop before it is forced.
const STOP_TTL: u32 = 8;
/// And that its steps are gone is told soon after that, by one more.
const STOP_TIMES: usize = 1;

/// A job that leaves something of everything: a trace outside, a log and an object.
struct Work {
    traces: PathBuf,
    /// Between two lines of its log.
    pause: &'static str,
}

impl Work {
    fn new(fleet: &Fleet, pause: &'static str) -> Self {
        Self { traces: fleet.folder.0.join("traces"), pause }
    }

    fn job(&self) -> Value {
        let (traces, pause) = (self.traces.display(), self.pause);
        let step = format!(
            "echo x >> {traces}; printf 'kept\\0bytes' > r; \
             for n in 1 2 3 4 5; do echo line $n; sleep {pause}; done"
        );
        let kept = json!([{ "type": "r", "path_glob": "r" }]);
        json!({ "name": "a", "job_spec": { "name": "a", "steps": [step], "artifacts": kept } })
    }

    /// It was done once, under its first lease, and all that it left is there as it was written.
    async fn done_once(&self, fleet: &Fleet, view: &Value) {
        let job = &view["jobs"][0];
        assert_eq!((&job["state"], &job["reason"]), (&json!("SUCCEEDED"), &json!("REPORTED")));
        assert_eq!((&job["attempt"], &job["fence"]), (&json!(1), &json!(1)), "{view}");
        assert_eq!((&job["losses"], &job["returns"]), (&json!(0), &json!(0)), "{view}");
        assert_eq!(read(&self.traces), "x\n", "it ran once");
        assert_eq!(fleet.log(job).await, "line 1\nline 2\nline 3\nline 4\nline 5\n");
        let (run, id) = (text(&view["run_id"]), text(&job["job_id"]));
        let object = format!("/api/v1/objects/runs/{run}/jobs/{id}/1-1/r/r");
        let log = format!("/api/v1/jobs/{id}/log?fence=1");
        let kept = json!([{ "type": "log", "uri": log }, { "type": "r", "uri": object }]);
        assert_eq!(fleet.artifacts(job).await, kept);
        assert_eq!(fleet.text(&object).await, "kept\0bytes");
        let objects = fleet.folder.0.join(format!("orchestrator/objects/runs/{run}/jobs/{id}"));
        assert_eq!(files(&objects), [objects.join("1-1/r/r")], "and nothing else");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn read(at: &Path) -> String {
    std::fs::read_to_string(at).expect("a file")
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A job whose worker does not hear these answers; and the answers.
async fn done_though_lost(path: &str, times: usize) -> (Fleet, Vec<Value>) {
    // Two seconds: time for some heartbeats, and for its log to go in pieces.
    done_under(5, "0.4", path, times).await
}

/// The same under a lease of so many seconds, with such a pause between lines.
async fn done_under(
    ttl: u32,
    pause: &'static str,
    path: &str,
    times: usize,
) -> (Fleet, Vec<Value>) {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": ttl }));
    let work = Work::new(&fleet, pause);
    let door = Door::losing(&[&fleet.url], path, times).await;
    // First, so that the first question is answered with a grant.
    let run = fleet.submit(vec![work.job()]).await;
    let worker = fleet.worker_behind(&door, "worker");
    let view = fleet.ended(&run).await;
    let answers = door.heard().await;
    work.done_once(&fleet, &view).await;
    // The worker knows that it is over, and what has ended never changes.
    let next = fleet.submit(vec![job("next", "true")]).await;
    assert_eq!(fleet.ended(&next).await["status"], "SUCCEEDED");
    work.done_once(&fleet, &view).await;
    assert_eq!(fleet.run(&run).await, Some(view));
    drop(worker);
    (fleet, answers)
}

/// It came again after each answer that was lost.
async fn came_again(fleet: &Fleet, kind: &str, times: usize) {
    let came = fleet.messages(kind).await;
    assert!(came > times as u64, "{kind} came {came} times, and {times} answers were lost");
}

/// What was answered to a message and to those after it that were the same.
fn all_the_same(answers: &[Value], kind: &str, times: usize) {
    let first = &answers[0];
    assert_eq!(first["type"], kind, "{first}");
    for answer in &answers[..=times] {
        assert_eq!(answer, first, "the same message, the same answer");
    }
}

/// Fault 5.
#[tokio::test]
async fn a_worker_whose_grant_is_lost_is_not_locked_out_by_it() {
    let (fleet, answers) = done_though_lost("/internal/lease", TIMES).await;
    all_the_same(&answers, "LeaseGranted", TIMES);
    came_again(&fleet, "LeaseRequest", TIMES).await;
}

#[tokio::test]
async fn an_acknowledgement_whose_answer_is_lost_begins_the_job_once() {
    let (fleet, answers) = done_though_lost("/internal/ack-lease", TIMES).await;
    for answer in &answers[..=TIMES] {
        let same = (&answer["lease_id"], &answer["accepted"]);
        assert_eq!(same, (&answers[0]["lease_id"], &json!(true)), "{answer}");
    }
    came_again(&fleet, "AckLease", TIMES).await;
}

#[tokio::test]
async fn heartbeats_whose_answers_are_lost_cost_nothing() {
    let (fleet, answers) = done_though_lost("/internal/heartbeat", TIMES).await;
    assert!(answers.iter().all(|answer| answer["type"] == "HeartbeatAck"), "{answers:?}");
    came_again(&fleet, "Heartbeat", TIMES).await;
}

/// The orchestrator hears that the worker lives, and the worker does not hear that it does. It does not give
/// up its job, nor does it say how that went before it knows that it may.
#[tokio::test]
async fn a_worker_that_hears_nothing_for_longer_than_its_lease_lasts_keeps_its_job() {
    // So many take longer than the job, and the job longer than the lease.
    const UNHEARD: usize = 10;
    let (fleet, _) = done_under(3, "0.8", "/internal/heartbeat", UNHEARD).await;
    came_again(&fleet, "Heartbeat", UNHEARD).await;
}

#[tokio::test]
async fn pieces_of_a_log_whose_answers_are_lost_are_in_it_once() {
    let (fleet, answers) = done_though_lost("/internal/log", TIMES).await;
    let place = |answer: &Value| (answer["next_number"].clone(), answer["next_offset"].clone());
    assert_eq!((&answers[0]["type"], &answers[0]["accepted"]), (&json!("LogAck"), &json!(true)));
    for answer in &answers[..=TIMES] {
        // What comes again may be longer by then: it is told where to go on.
        assert_eq!(place(answer), place(&answers[0]), "the first piece stands");
    }
    came_again(&fleet, "LogChunk", TIMES).await;
}

#[tokio::test]
async fn a_right_to_keep_an_object_that_is_lost_is_given_again() {
    let (fleet, answers) = done_though_lost("/internal/upload", TIMES).await;
    for answer in &answers[..=TIMES] {
        assert_eq!((&answer["path"], &answer["bytes"]), (&answers[0]["path"], &json!(10)));
    }
    came_again(&fleet, "UploadRequest", TIMES).await;
}

/// The orchestrator counts no messages here; the door does.
#[tokio::test]
async fn an_object_whose_answer_is_lost_is_kept_once() {
    let (_, answers) = done_though_lost("/internal/objects/", TIMES).await;
    assert_eq!(answers, vec![json!({}); TIMES + 1], "each was taken");
}

/// Fault 4. Terminal messages are resent until they are acknowledged.
#[tokio::test]
async fn a_result_whose_answer_is_lost_is_accepted_again() {
    let (fleet, answers) = done_under(LAST_TTL, "0.4", "/internal/complete", LAST_TIMES).await;
    all_the_same(&answers, "CompleteAck", LAST_TIMES);
    assert_eq!(answers[0]["accepted"], true);
    came_again(&fleet, "Complete", LAST_TIMES + 1).await;
    assert_eq!(fleet.counted("fleet_jobs_ended_total{status=\"SUCCEEDED\"}").await, 2);
}

/// A result ends the lease, and the answers to heartbeats say so. A worker that learns of the end stops repeating the
/// result, even if no acknowledgement arrived.
#[tokio::test]
async fn a_result_is_not_said_again_after_a_heartbeat_was_told_that_the_lease_is_over() {
    const MANY: usize = 1_000;
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let door = Door::losing(&[&fleet.url], "/internal/complete", MANY).await;
    let run = fleet.submit(vec![job("a", "true")]).await;
    let _worker = fleet.worker_behind(&door, "worker");
    assert_eq!(fleet.ended(&run).await["status"], "SUCCEEDED");
    let next = fleet.submit(vec![job("next", "true")]).await;
    let view = fleet.ended(&next).await;
    assert_eq!((&view["status"], &view["jobs"][0]["fence"]), (&json!("SUCCEEDED"), &json!(1)));
    let came = fleet.messages("Complete").await;
    assert!(came < 60, "{came} results of two jobs, within some heartbeats of one second each");
}

/// The same for a job that was stopped.
#[tokio::test]
async fn a_stop_whose_answer_is_lost_is_accepted_again() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": STOP_TTL }));
    let door = Door::losing(&[&fleet.url], "/internal/cancel-ack", STOP_TIMES).await;
    let _worker = fleet.worker_behind(&door, "worker");
    let (mark, traces) = (mark(7), fleet.folder.0.join("traces"));
    let step = format!("echo x >> {}; echo begun; sleep {mark}", traces.display());
    let run = fleet.submit(vec![job("a", &step)]).await;
    fleet.begun(&run).await;
    fleet.post(&format!("/runs/{run}/cancel"), json!({})).await;
    let view = fleet.ended(&run).await;
    gone(&format!("sleep {mark}")).await;
    let answers = door.heard().await;
    all_the_same(&answers, "CancelAckAck", STOP_TIMES);
    assert_eq!(answers[0]["accepted"], true);
    let ended = &view["jobs"][0];
    assert_eq!((&ended["state"], &ended["reason"]), (&json!("CANCELED"), &json!("CANCEL_ACKED")));
    assert_eq!((&ended["fence"], &ended["losses"]), (&json!(1), &json!(0)), "{view}");
    assert_eq!(read(&traces), "x\n", "it ran once");
    assert_eq!(fleet.log(ended).await, "begun\n");
    let next = fleet.submit(vec![job("next", "true")]).await;
    assert_eq!(fleet.ended(&next).await["status"], "SUCCEEDED");
    assert_eq!(fleet.run(&run).await, Some(view), "what has ended never changes");
    came_again(&fleet, "CancelAck", STOP_TIMES).await;
    assert_eq!(fleet.counted("fleet_jobs_ended_total{status=\"CANCELED\"}").await, 1);
}
