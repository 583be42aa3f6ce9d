//! What a job may ask for besides its work: to be begun once only, and a shorter lease. And what becomes of one that
//! is given back.

use crate::common;

use common::{Fleet, complete, job, runner_id};
use remuda_fleet::lease::{
    AttemptState, EndReason, Event, Policy, Refusal, Reply, Rows as _, RunStatus,
};
use remuda_fleet::message::{
    Artifact, Body, Call, CompleteStatus, Data, Failure, JobSubmission, Problem, Progress, Retry,
    RunSubmission, StaleReason,
};

fn once() -> JobSubmission {
    JobSubmission { retry: Retry { once: true, ..Retry::default() }, ..job("a") }
}

#[test]
fn what_may_be_begun_once_only_ends_with_its_lease() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![once()]);
    let lease = fleet.active("r1");
    fleet.pass(120);
    assert_eq!(fleet.ask("r2"), None, "it may have been begun");
    fleet.sweep();
    assert_eq!(fleet.end(&id), EndReason::Lost);
    assert_eq!(fleet.state(&id), AttemptState::Failed);
    let late = fleet.complete(&lease, CompleteStatus::Succeeded);
    assert!(
        matches!(late, Err(Refusal::Stale(stale)) if stale.reason == StaleReason::LeaseExpired)
    );
}

#[test]
fn what_was_begun_once_is_not_run_again_with_its_run() {
    let mut fleet = Fleet::new();
    fleet.submit::<1>(vec![once()]);
    let rerun = |n| Event::Rerun {
        of: common::run_id(0),
        run_id: common::run_id(n),
        key: None,
        priority_max: i16::MAX,
        label: None,
    };
    assert_eq!(fleet.handle(rerun(1)).reply, Err(Refusal::OnceOnly), "somebody may begin it");
    fleet.active("r1");
    assert_eq!(fleet.handle(rerun(1)).reply, Err(Refusal::OnceOnly));
    let [id] = fleet.submit(vec![once()]);
    fleet.handle(Event::CancelJob { job_id: id }).reply.expect("canceled");
    let rerun = Event::Rerun {
        of: common::run_id(1),
        run_id: common::run_id(2),
        key: None,
        priority_max: i16::MAX,
        label: None,
    };
    assert!(fleet.handle(rerun).reply.is_ok(), "nobody has begun it, and nobody will");
}

/// Fault 20: both would begin it.
#[test]
fn what_nobody_began_is_repeated_once() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![once()]);
    fleet.handle(Event::CancelJob { job_id: id }).reply.expect("canceled");
    let rerun = |of, n, key: Option<&str>| Event::Rerun {
        of: common::run_id(of),
        run_id: common::run_id(n),
        key: key.map(str::to_owned),
        priority_max: i16::MAX,
        label: None,
    };
    let submitted = |n, before| Ok(Reply::Submitted { run_id: common::run_id(n), before });
    assert_eq!(fleet.handle(rerun(0, 1, Some("k"))).reply, submitted(1, false));
    assert_eq!(fleet.handle(rerun(0, 2, Some("k"))).reply, submitted(1, true), "the same again");
    assert_eq!(fleet.handle(rerun(0, 2, Some("l"))).reply, Err(Refusal::OnceOnly));
    assert_eq!(fleet.handle(rerun(0, 2, None)).reply, Err(Refusal::OnceOnly));
    // The one that repeats it may be repeated as it was.
    fleet.handle(Event::CancelRun { run_id: common::run_id(1) }).reply.expect("canceled");
    assert_eq!(fleet.handle(rerun(1, 2, Some("l"))).reply, submitted(2, false));
}

#[test]
fn a_grant_that_nobody_took_was_not_begun() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![once()]);
    fleet.grant("r1");
    fleet.pass(30);
    fleet.sweep();
    let lease = fleet.active("r2");
    fleet.complete(&lease, CompleteStatus::Succeeded).expect("in time");
    assert_eq!(fleet.state(&id), AttemptState::Succeeded);
}

#[test]
fn a_once_job_that_was_given_back_may_have_begun() {
    for failure in [Failure::RunnerShutdown, Failure::RunnerError] {
        let mut fleet = Fleet::new();
        let [id] = fleet.submit(vec![once()]);
        let lease = fleet.active("r1");
        fleet.fail(&lease, failure).expect("in time");
        assert_eq!(fleet.end(&id), EndReason::Lost, "{failure:?}");
    }
}

/// A fleet whose machines are restarted one after the other makes no dead letters.
#[test]
fn what_is_given_back_by_a_runner_that_was_told_to_end_is_no_loss() {
    let mut fleet = Fleet::new();
    fleet.policy = Policy { losses_max: 1, returns_max: 3, ..Policy::default() };
    let [id] = fleet.submit(vec![job("a")]);
    let counts = |fleet: &Fleet| {
        let job = fleet.tables.job(&id).expect("a job");
        (job.attempt.0, job.returns, job.losses)
    };
    for returns in 1..=3 {
        let lease = fleet.active("r");
        fleet.fail(&lease, Failure::RunnerShutdown).expect("given back");
        assert_eq!(fleet.state(&id), AttemptState::Queued);
        assert_eq!(fleet.lease(&lease).attempt_state, AttemptState::Stale);
        assert_eq!(counts(&fleet), (1, returns, 0));
    }
    // Beyond that each is a loss: it must end at some time.
    let lease = fleet.active("r");
    fleet.fail(&lease, Failure::RunnerShutdown).expect("given back");
    assert_eq!(counts(&fleet), (1, 3, 1));
    let lease = fleet.active("r");
    fleet.fail(&lease, Failure::RunnerShutdown).expect("given back");
    assert_eq!(fleet.end(&id), EndReason::Lost);
}

#[test]
fn a_new_attempt_may_be_given_back_as_often_as_the_one_before() {
    let mut fleet = Fleet::new();
    let retry = Retry { max_attempts: 2, backoff_seconds: 0, ..Retry::default() };
    let [id] = fleet.submit(vec![JobSubmission { retry, ..job("a") }]);
    let lease = fleet.active("r");
    fleet.fail(&lease, Failure::RunnerShutdown).expect("given back");
    let lease = fleet.active("r");
    fleet.fail(&lease, Failure::StepFailed).expect("accepted");
    let job = fleet.tables.job(&id).expect("a job");
    assert_eq!((job.attempt.0, job.returns), (2, 0));
}

#[test]
fn several_attempts_of_what_may_be_begun_once_are_refused() {
    let retry = Retry { once: true, max_attempts: 2, ..Retry::default() };
    let jobs = vec![JobSubmission { retry, ..job("a") }];
    let run = RunSubmission { name: String::new(), max_parallel: None, jobs };
    assert!(matches!(run.check(), Err(Problem::Invalid { .. })));
}

#[test]
fn a_lease_is_as_short_as_its_job_wants_and_no_longer_than_the_policy_says() {
    for (wish, ttl) in [(6, 6), (10_000, 120)] {
        let mut fleet = Fleet::new();
        let [id] = fleet.submit(vec![JobSubmission { lease_ttl_seconds: Some(wish), ..job("a") }]);
        let lease = fleet.active("r1");
        let expires = fleet.lease(&lease).expires.until;
        assert_eq!(expires, fleet.tables.clock().lease.plus_seconds(ttl), "{wish}");
        fleet.pass(u64::from(ttl) - 1);
        let Ok(Reply::Beat(ack)) = fleet.beat(&lease, 1) else { panic!("it lives") };
        assert_eq!(ack.new_lease_ttl_seconds, ttl);
        fleet.pass(ttl.into());
        fleet.sweep();
        assert_eq!(fleet.state(&id), AttemptState::Queued);
    }
}

#[test]
fn beats_of_a_short_lease_come_often() {
    let mut fleet = Fleet::new();
    fleet.submit::<1>(vec![JobSubmission { lease_ttl_seconds: Some(6), ..job("a") }]);
    let lease = fleet.grant("r1");
    let request = remuda_fleet::message::LeaseRequest {
        runner_id: runner_id("r1"),
        capabilities: std::collections::BTreeSet::new(),
        max_wait_seconds: 0,
    };
    let again = Event::Lease { lease_id: common::lease_id(99), cancel_token: None, request };
    let Ok(Reply::Granted(granted)) = fleet.handle(again).reply else { panic!("the same again") };
    assert_eq!((granted.lease_id, granted.lease_ttl_seconds), (lease, 6));
    assert_eq!(granted.heartbeat_interval_seconds, 2, "two may be lost");
}

#[test]
fn what_a_call_gave_is_that_of_the_last_fence() {
    let mut fleet = Fleet::new();
    let mut order = job("a");
    let spec = order.job_spec.as_mut().expect("a spec");
    spec.steps.clear();
    spec.call = Some(Call { kind: "x".to_owned(), input: Data::default() });
    let [id] = fleet.submit(vec![order]);
    let done = |lease: &_, runner: &str, output: &[u8]| {
        let mut message = complete(lease, &runner_id(runner), CompleteStatus::Succeeded);
        message.output = Data::new(output);
        Event::Complete(message)
    };
    let first = fleet.active("r1");
    fleet.pass(120);
    fleet.sweep();
    let second = fleet.active("r2");
    let late = fleet.handle(done(&first, "r1", b"late")).reply;
    assert!(matches!(late, Err(Refusal::Stale(stale)) if stale.reason == StaleReason::Superseded));
    assert_eq!(fleet.tables.job_rows(&id).expect("rows").output(), None);
    fleet.handle(done(&second, "r2", b"current")).reply.expect("in time");
    let late = fleet.handle(done(&first, "r1", b"late")).reply;
    assert!(matches!(late, Err(Refusal::Stale(_))));
    let rows = fleet.tables.job_rows(&id).expect("rows");
    assert_eq!(rows.output(), Data::new(b"current").as_ref());
}

fn until(seconds: u32) -> JobSubmission {
    JobSubmission { start_within_seconds: Some(seconds), ..once() }
}

#[test]
fn what_is_wanted_no_longer_is_given_to_nobody() {
    let mut fleet = Fleet::new();
    let [late] = fleet.submit(vec![until(60)]);
    let [fresh] = fleet.submit(vec![job("a")]);
    fleet.pass(60);
    let lease = fleet.grant("r1");
    assert_eq!(fleet.lease(&lease).job_id, fresh, "the stale one is passed over");
    assert_eq!(
        (fleet.state(&late), fleet.end(&late)),
        (AttemptState::Canceled, EndReason::TooLate)
    );
    assert_eq!(fleet.run().status(), RunStatus::Canceled);
}

#[test]
fn a_grant_is_not_begun_when_it_is_too_late() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![until(10)]);
    fleet.pass(9);
    let lease = fleet.grant("r1");
    fleet.pass(1);
    assert_eq!(fleet.ack(&lease), Err(Refusal::TooLate));
    assert_eq!(fleet.ask("r1"), None, "not the same again and again");
    fleet.pass(30);
    fleet.sweep();
    assert_eq!(fleet.end(&id), EndReason::TooLate);
}

#[test]
fn what_was_begun_in_time_may_end_later() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![until(10)]);
    let lease = fleet.active("r1");
    fleet.pass(20);
    fleet.sweep();
    fleet.ack(&lease).expect("the answer to the first one may have been lost");
    fleet.complete(&lease, CompleteStatus::Succeeded).expect("in time");
    assert_eq!(fleet.state(&id), AttemptState::Succeeded);
}

/// No worker has the job's tags, so no request for work reaches it: the sweep ends it.
#[test]
fn what_nobody_asks_for_ends_when_it_is_too_late() {
    let mut fleet = Fleet::new();
    let gpu = remuda_fleet::message::Tag::new("gpu").expect("a tag");
    let [id] = fleet.submit(vec![JobSubmission { tags: [gpu].into(), ..until(10) }]);
    fleet.pass(9);
    fleet.sweep();
    assert_eq!(fleet.state(&id), AttemptState::Queued);
    fleet.pass(1);
    fleet.sweep();
    assert_eq!(fleet.end(&id), EndReason::TooLate);
    assert_eq!(fleet.run().status(), RunStatus::Canceled);
    assert_eq!(fleet.tables.counts().waiting, 0);
}

#[test]
fn nothing_needs_what_may_be_given_up() {
    let needing = JobSubmission { needs: ["a".to_owned()].into(), ..job("b") };
    let jobs = vec![until(10), needing];
    let run = RunSubmission { name: String::new(), max_parallel: None, jobs };
    assert!(matches!(run.check(), Err(Problem::Invalid { field: "jobs.needs", .. })));
}

#[test]
fn only_calls_have_an_output() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    let mut message = complete(&lease, &runner_id("r1"), CompleteStatus::Succeeded);
    message.output = Data::new(b"more");
    assert_eq!(fleet.handle(Event::Complete(message)).reply, Err(Refusal::NoCall));
    assert_eq!(fleet.state(&id), AttemptState::Starting, "nothing has changed");
    fleet.complete(&lease, CompleteStatus::Succeeded).expect("without it");
}

/// What jobs give is remembered as long as there is room. Then they fail, and the orchestrator does not.
#[test]
fn results_do_not_fill_the_memory() {
    let mut fleet = Fleet::new();
    fleet.policy.rows_bytes_max = 1024 * 1024;
    let call = |name: &str| {
        let mut order = job(name);
        let spec = order.job_spec.as_mut().expect("a spec");
        spec.steps.clear();
        spec.call = Some(Call { kind: "x".to_owned(), input: Data::default() });
        order
    };
    // The last one is never done: the run stays open, and nothing of it is forgotten.
    let ids: [_; 9] = fleet.submit((0..9).map(|n| call(&n.to_string())).collect());
    let give = |lease: &_, runner: &str| {
        let mut message = complete(lease, &runner_id(runner), CompleteStatus::Succeeded);
        message.output = Data::new(&[7; 200 * 1024]);
        Event::Complete(message)
    };
    let mut not_kept = 0;
    for (n, id) in ids[..8].iter().enumerate() {
        let runner = format!("r{n}");
        let lease = fleet.active(&runner);
        let mut beat = common::heartbeat(&lease, &runner_id(&runner), 1);
        let message = Some("x".repeat(4_000));
        beat.progress = Some(Progress { message, ..Progress::default() });
        fleet.handle(Event::Heartbeat(beat)).reply.expect("heard");
        let full = fleet.tables.bytes() >= fleet.policy.rows_bytes_max;
        assert_eq!(fleet.lease(&lease).progress.is_none(), full, "{n}");
        let first = fleet.handle(give(&lease, &runner)).reply;
        assert!(matches!(first, Ok(Reply::Completed(_))), "{first:?}");
        assert_eq!(fleet.handle(give(&lease, &runner)).reply, first, "the same again");
        let rows = fleet.tables.job_rows(id).expect("rows");
        let failure = rows.lease.and_then(|lease| lease.answer.as_ref()?.failure);
        not_kept += usize::from(failure == Some(Failure::NotKept));
    }
    assert_eq!(not_kept, 3, "five times 200 KiB, and rows, are all that there is room for");
    assert!(fleet.tables.bytes() < 1_300 * 1024);
}

/// Nor do ends of jobs that were stopped, or what workers say of jobs that they give back.
#[test]
fn stops_and_returns_do_not_fill_the_memory() {
    let mut fleet = Fleet::new();
    let ids: [_; 3] = fleet.submit((0..3).map(|n| job(&n.to_string())).collect());
    let room = fleet.tables.bytes() + 8 * 1_024;
    fleet.policy.rows_bytes_max = 1;
    let stopped = fleet.active("r1");
    fleet.handle(Event::CancelJob { job_id: ids[0].clone() }).reply.expect("asked to stop");
    let mut ack = common::cancel_ack(&stopped, &runner_id("r1"));
    ack.summary = "x".repeat(4_096);
    let artifact = Artifact { kind: "r".to_owned(), uri: "u".repeat(2_048) };
    ack.artifacts = vec![artifact; 200];
    for _ in 0..2 {
        let told = fleet.handle(Event::CancelAck(ack.clone())).reply;
        assert!(matches!(told, Ok(Reply::Canceled(_))), "and the same again: {told:?}");
    }
    assert_eq!(fleet.end(&ids[0]), EndReason::CancelAcked);
    let mut grants = 0;
    while let Some(lease) = fleet.ask("r2") {
        grants += 1;
        fleet.ack(&lease).expect("acknowledged");
        let mut message = complete(&lease, &runner_id("r2"), CompleteStatus::Failed);
        message.failure = Some(Failure::RunnerShutdown);
        message.summary = "x".repeat(4_000);
        fleet.handle(Event::Complete(message)).reply.expect("accepted");
    }
    assert_eq!(grants, 2 * (1 + fleet.policy.losses_max), "a job that is given back is lost then");
    let last = 2 * 4_000; // Why a job ended is kept.
    assert!(
        fleet.tables.bytes() < room + last + u64::from(grants) * 1_024,
        "{}",
        fleet.tables.bytes()
    );
}

/// An orchestrator that starts again on a machine whose clock was an hour ahead.
#[test]
fn a_clock_that_was_set_back_makes_no_pause_and_no_lease_longer() {
    let mut fleet = Fleet::new();
    let retry = Retry { max_attempts: 2, backoff_seconds: 60, ..Retry::default() };
    fleet.submit::<1>(vec![JobSubmission { retry, ..job("a") }]);
    let lease = fleet.active("r1");
    fleet.fail(&lease, Failure::StepFailed).expect("failed");
    let [other] = fleet.submit(vec![job("b")]);
    let lost = fleet.active("r2");
    fleet.now.0 -= 3_600_000;
    fleet.handle(Event::Start).reply.expect("started");
    fleet.pass(60);
    assert!(fleet.ask("r3").is_some(), "the pause is over");
    fleet.pass(u64::from(fleet.policy.lease_ttl_seconds) - 60);
    fleet.sweep();
    assert!(!fleet.lease(&lost).state.live(), "and leases end as they would have");
    assert_eq!(fleet.state(&other), AttemptState::Queued);
}

/// What there is no room for is not kept; what follows from it is as it would have been.
#[test]
fn who_failed_before_there_was_no_room_failed_for_that_reason() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![once()]);
    let lease = fleet.active("r1");
    fleet.policy.rows_bytes_max = 1;
    let mut message = complete(&lease, &runner_id("r1"), CompleteStatus::Failed);
    message.failure = Some(Failure::RunnerError);
    message.summary = "x".repeat(5_000);
    fleet.handle(Event::Complete(message)).reply.expect("accepted");
    assert_eq!(fleet.end(&id), EndReason::Lost, "it may have begun");
}
