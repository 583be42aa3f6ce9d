//! Each rule of the leases by an example, and those of the fifteen faults that the core decides.

use crate::common;

use common::{Fleet, job, lease_id, run_id, submission};
use remuda_fleet::lease::{
    Action, AttemptState, EndReason, Event, Idempotency, LeaseState, Policy, Refusal, Reply, Rows,
    RunStatus,
};
use remuda_fleet::message::{
    CompleteStatus, Failure, JobSubmission, Label, LogChunk, Phase, Retry, StaleReason, Tag,
    UploadRequest,
};

fn stale(refusal: Result<Reply, Refusal>) -> StaleReason {
    match refusal {
        Err(Refusal::Stale(stale)) => stale.reason,
        other => panic!("not stale: {other:?}"),
    }
}

#[test]
fn a_job_goes_through_its_states() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    assert_eq!(fleet.state(&id), AttemptState::Queued);
    let lease = fleet.grant("r1");
    assert_eq!(fleet.state(&id), AttemptState::Leased);
    fleet.ack(&lease).expect("acked");
    assert_eq!(fleet.state(&id), AttemptState::Starting);
    fleet.beat(&lease, 1).expect("alive");
    assert_eq!(fleet.state(&id), AttemptState::Running);
    fleet.beat_in(&lease, 2, Phase::Uploading).expect("alive");
    assert_eq!(fleet.state(&id), AttemptState::Uploading);
    fleet.beat(&lease, 3).expect("alive");
    assert_eq!(fleet.state(&id), AttemptState::Uploading, "phases never go back");
    fleet.complete(&lease, CompleteStatus::Succeeded).expect("accepted");
    assert_eq!(fleet.state(&id), AttemptState::Succeeded);
    assert_eq!(fleet.lease(&lease).state, LeaseState::Completed);
    assert_eq!(fleet.run().status(), RunStatus::Succeeded);
}

#[test]
fn expired_lease_is_granted_exactly_once_with_a_higher_fence() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    let first = fleet.active("r1");
    fleet.pass(119);
    fleet.sweep();
    assert_eq!(fleet.lease(&first).state, LeaseState::Active);
    fleet.pass(1);
    fleet.sweep();
    assert_eq!(fleet.lease(&first).state, LeaseState::Expired);
    assert_eq!(fleet.lease(&first).attempt_state, AttemptState::Stale);
    assert_eq!(fleet.state(&id), AttemptState::Queued);
    let second = fleet.grant("r2");
    assert!(fleet.lease(&second).fence > fleet.lease(&first).fence);
    assert_eq!(fleet.lease(&second).attempt, fleet.lease(&first).attempt);
    assert_eq!(fleet.ask("r3"), None);
    assert_eq!(stale(fleet.complete(&first, CompleteStatus::Succeeded)), StaleReason::Superseded);
    assert_eq!(stale(fleet.beat(&first, 9)), StaleReason::Superseded);
    assert_eq!(fleet.state(&id), AttemptState::Leased);
}

#[test]
fn a_lease_is_over_when_its_time_is_even_if_no_sweep_came() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    fleet.pass(120);
    let late = fleet.complete(&lease, CompleteStatus::Succeeded);
    assert_eq!(stale(late), StaleReason::LeaseExpired);
    assert_eq!(fleet.state(&id), AttemptState::Queued);
}

#[test]
fn heartbeats_extend_and_overtaken_ones_do_not() {
    let mut fleet = Fleet::new();
    let [_] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    fleet.pass(60);
    let Ok(Reply::Beat(ack)) = fleet.beat(&lease, 5) else { panic!("alive") };
    assert!(ack.extend_lease && ack.new_lease_ttl_seconds == 120);
    fleet.pass(60);
    for seq in [5, 4] {
        let Ok(Reply::Beat(ack)) = fleet.beat(&lease, seq) else { panic!("alive") };
        assert!(!ack.extend_lease);
        assert_eq!(ack.new_lease_ttl_seconds, 60);
    }
    fleet.pass(60);
    assert_eq!(stale(fleet.beat(&lease, 6)), StaleReason::LeaseExpired);
}

#[test]
fn an_unacknowledged_lease_can_do_nothing_and_is_revoked() {
    let mut fleet = Fleet::new();
    let [_] = fleet.submit(vec![job("a")]);
    let lease = fleet.grant("r1");
    assert_eq!(fleet.beat(&lease, 1), Err(Refusal::NotAcked));
    assert_eq!(fleet.complete(&lease, CompleteStatus::Succeeded), Err(Refusal::NotAcked));
    assert_eq!(fleet.cancel_ack(&lease), Err(Refusal::NotAcked));
    fleet.pass(30);
    assert_eq!(stale(fleet.ack(&lease)), StaleReason::LeaseRevoked);
    assert_eq!(fleet.lease(&lease).state, LeaseState::Revoked);
}

/// Fault 4.
#[test]
fn a_lost_complete_ack_is_answered_again() {
    let mut fleet = Fleet::new();
    let [_] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    let first = fleet.complete(&lease, CompleteStatus::Succeeded);
    fleet.pass(10_000);
    assert_eq!(fleet.complete(&lease, CompleteStatus::Succeeded), first);
    let other = fleet.complete(&lease, CompleteStatus::Failed);
    assert_eq!(other.map_err(|e| e.code()), Err("CONFLICT"));
    assert_eq!(fleet.cancel_ack(&lease).map_err(|e| e.code()), Err("CONFLICT"));
}

/// Fault 5.
#[test]
fn a_lost_grant_is_given_again_to_its_own_runner() {
    let mut fleet = Fleet::new();
    let [_, _] = fleet.submit(vec![job("a"), job("b")]);
    let lease = fleet.grant("r1");
    assert_eq!(fleet.ask("r1"), Some(lease.clone()));
    assert_ne!(fleet.ask("r2"), Some(lease.clone()));
    fleet.ack(&lease).expect("acked");
    fleet.ack(&lease).expect("acked twice");
    assert_eq!(fleet.ask_raw("r1"), Err(Refusal::RunnerBusy));
}

/// Faults 6 and 7.
#[test]
fn an_outage_ends_no_lease() {
    for restart in [true, false] {
        let mut fleet = Fleet::new();
        let [id] = fleet.submit(vec![job("a")]);
        let lease = fleet.active("r1");
        fleet.jump(4_000);
        if restart {
            fleet.handle(Event::Start).reply.expect("started");
        }
        fleet.sweep();
        assert_eq!(fleet.state(&id), AttemptState::Starting);
        fleet.pass(100);
        fleet.complete(&lease, CompleteStatus::Succeeded).expect("accepted");
        assert_eq!(fleet.lease(&lease).fence.0, 1);
    }
}

#[test]
fn after_an_outage_the_dead_still_expire() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    fleet.active("r1");
    fleet.jump(1_000);
    fleet.handle(Event::Start).reply.expect("started");
    fleet.pass(120);
    fleet.sweep();
    assert_eq!(fleet.state(&id), AttemptState::Queued);
}

/// Fault 7: an orchestrator stalls for some seconds. Workers keep their leases.
#[test]
fn a_short_standstill_ends_no_lease_that_is_shorter() {
    let mut fleet = Fleet::new();
    fleet.policy.outage_after_seconds = 2;
    let mut order = job("a");
    order.lease_ttl_seconds = Some(3);
    let [_] = fleet.submit(vec![order]);
    let lease = fleet.active("r1");
    fleet.pass(2);
    fleet.jump(8);
    fleet.sweep();
    fleet.beat(&lease, 1).expect("alive");
    fleet.pass(3);
    fleet.sweep();
    assert!(!fleet.lease(&lease).state.live(), "and it ends as any other");
}

/// Under constant outages a silent worker still loses its lease, and deadlines that heartbeats do not extend still pass.
#[test]
fn outages_again_and_again_keep_nothing_for_ever() {
    let policy = Policy::default();
    let ttl = u64::from(policy.lease_ttl_seconds);
    // The store accepts heartbeats in one second of four.
    let outage = |fleet: &mut Fleet| {
        fleet.pass(1);
        fleet.jump(3);
        fleet.sweep();
    };
    let live = |fleet: &Fleet, lease: &_| fleet.lease(lease).state.live();

    let mut fleet = Fleet::new();
    fleet.policy = policy.clone();
    let [_] = fleet.submit(vec![job("a")]);
    let silent = fleet.active("r1");
    (0..ttl / 2).for_each(|_| outage(&mut fleet));
    assert!(live(&fleet, &silent), "it is twice its TTL by the clock on the wall");
    (0..ttl / 2).for_each(|_| outage(&mut fleet));
    assert!(!live(&fleet, &silent));

    let mut fleet = Fleet::new();
    fleet.policy = policy;
    let [id] = fleet.submit(vec![job("a")]);
    let beating = fleet.active("r1");
    for second in 1..=3 * ttl {
        outage(&mut fleet);
        fleet.beat(&beating, second).expect("a live worker keeps its lease");
    }
    fleet.handle(Event::CancelJob { job_id: id }).reply.expect("asked to stop");
    let deadline = u64::from(fleet.policy.cancel_deadline_seconds);
    for second in 1..=deadline {
        assert!(live(&fleet, &beating) || second > deadline / 2, "{second}");
        outage(&mut fleet);
        let _ = fleet.beat(&beating, 3 * ttl + second);
    }
    assert!(!live(&fleet, &beating), "a beat keeps nobody from being stopped");
}

/// The clock was a day ahead when the job began, and an orchestrator starts again by one that is right.
#[test]
fn a_clock_that_was_set_back_moves_no_deadline() {
    let mut fleet = Fleet::new();
    let [_] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    fleet.pass(50);
    let due = |fleet: &Fleet| {
        let clock = fleet.tables.clock();
        fleet.lease(&lease).due_at(&clock).expect("it lives").0 - clock.lease.0
    };
    fleet.now.0 -= 86_400_000;
    for _ in 0..2 {
        let before = fleet.lease(&lease);
        fleet.handle(Event::Start).reply.expect("started");
        assert_eq!(fleet.lease(&lease), before);
        assert_eq!(due(&fleet), 120_000, "one TTL");
        assert_eq!(fleet.tables.clock().wall, fleet.now);
    }
}

#[test]
fn a_clock_that_goes_back_changes_nothing() {
    let mut fleet = Fleet::new();
    let [_] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    let before = fleet.lease(&lease).expires;
    fleet.now.0 -= 3_600_000;
    fleet.beat(&lease, 1).expect("alive");
    assert_eq!(fleet.lease(&lease).expires, before);
}

/// Fault 9.
#[test]
fn a_silent_runner_is_canceled_at_the_deadline() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    let handled = fleet.handle(Event::CancelRun { run_id: run_id(0) });
    assert!(matches!(&handled.actions[..], [Action::Cancel(_, message)]
        if message.deadline_seconds == 30 && message.cancel_token.is_some()));
    assert_eq!(fleet.state(&id), AttemptState::CancelRequested);
    fleet.pass(10);
    let Ok(Reply::Beat(ack)) = fleet.beat(&lease, 1) else { panic!("alive") };
    assert!(ack.cancel_requested && ack.cancel_deadline_seconds == 20);
    fleet.handle(Event::CancelRun { run_id: run_id(0) });
    fleet.pass(20);
    fleet.sweep();
    assert_eq!(fleet.state(&id), AttemptState::Canceled);
    assert_eq!(fleet.end(&id), EndReason::CancelForced);
    assert_eq!(fleet.lease(&lease).state, LeaseState::Canceled);
    assert_eq!(stale(fleet.cancel_ack(&lease)), StaleReason::LeaseRevoked);
    assert_eq!(fleet.ask("r2"), None);
}

/// Fault 10.
#[test]
fn the_first_of_complete_and_cancel_ack_wins() {
    for complete_first in [true, false] {
        let mut fleet = Fleet::new();
        let [id] = fleet.submit(vec![job("a")]);
        let lease = fleet.active("r1");
        assert_eq!(fleet.cancel_ack(&lease), Err(Refusal::NotCanceled));
        fleet.handle(Event::CancelRun { run_id: run_id(0) });
        if complete_first {
            fleet.complete(&lease, CompleteStatus::Succeeded).expect("in time");
            assert_eq!(fleet.cancel_ack(&lease).map_err(|e| e.code()), Err("CONFLICT"));
            assert_eq!(fleet.state(&id), AttemptState::Succeeded);
        } else {
            let first = fleet.cancel_ack(&lease);
            assert_eq!(fleet.cancel_ack(&lease), first);
            let late = fleet.complete(&lease, CompleteStatus::Succeeded);
            assert_eq!(late.map_err(|e| e.code()), Err("CONFLICT"));
            assert_eq!(fleet.end(&id), EndReason::CancelAcked);
        }
    }
}

/// Fault 10.
#[test]
fn a_canceled_job_that_nobody_began_never_starts() {
    let mut fleet = Fleet::new();
    let [a, b] = fleet.submit(vec![job("a"), job("b")]);
    let lease = fleet.grant("r1");
    fleet.handle(Event::CancelRun { run_id: run_id(0) });
    for id in [&a, &b] {
        assert_eq!(fleet.end(id), EndReason::CanceledInQueue);
    }
    assert_eq!(stale(fleet.ack(&lease)), StaleReason::LeaseRevoked);
    assert_eq!(fleet.ask("r1"), None);
    assert_eq!(fleet.run().status(), RunStatus::Canceled);
}

#[test]
fn a_failure_under_a_cancellation_is_not_tried_again() {
    let mut fleet = Fleet::new();
    let mut order = job("a");
    order.retry = Retry { max_attempts: 5, ..Retry::default() };
    let [id] = fleet.submit(vec![order]);
    let lease = fleet.active("r1");
    fleet.handle(Event::CancelJob { job_id: id.clone() });
    fleet.complete(&lease, CompleteStatus::Failed).expect("in time");
    assert_eq!(fleet.state(&id), AttemptState::Failed);
}

/// Fault 12.
#[test]
fn a_job_that_kills_its_runners_becomes_a_dead_letter() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    for n in 0..6 {
        fleet.active(&format!("r{n}"));
        fleet.pass(120);
        fleet.sweep();
    }
    assert_eq!(fleet.end(&id), EndReason::Lost);
    assert!(fleet.outcome(&id).dead_letter);
    assert_eq!(fleet.ask("r9"), None);
}

#[test]
fn a_failure_is_tried_again_after_a_pause_as_often_as_ordered() {
    let mut fleet = Fleet::new();
    let mut order = job("a");
    order.retry = Retry { max_attempts: 3, ..Retry::default() };
    let [id] = fleet.submit(vec![order]);
    for (attempt, pause) in [(1, 10), (2, 20)] {
        let lease = fleet.active("r1");
        assert_eq!(fleet.lease(&lease).attempt.0, attempt);
        fleet.complete(&lease, CompleteStatus::Failed).expect("accepted");
        fleet.pass(pause - 1);
        assert_eq!(fleet.ask("r1"), None);
        fleet.pass(1);
    }
    let lease = fleet.active("r1");
    fleet.complete(&lease, CompleteStatus::Failed).expect("accepted");
    assert_eq!(fleet.end(&id), EndReason::AttemptsExhausted);
    assert!(fleet.outcome(&id).dead_letter);
}

#[test]
fn what_would_fail_again_is_not_tried_and_what_is_not_the_jobs_fault_costs_no_attempt() {
    let mut fleet = Fleet::new();
    let mut order = job("a");
    order.retry = Retry { max_attempts: 3, ..Retry::default() };
    let [id] = fleet.submit(vec![order]);
    let lease = fleet.active("r1");
    fleet.fail(&lease, Failure::RunnerShutdown).expect("given back");
    assert_eq!(fleet.state(&id), AttemptState::Queued);
    let lease = fleet.active("r2");
    assert_eq!(fleet.lease(&lease).attempt.0, 1);
    fleet.fail(&lease, Failure::SpecInvalid).expect("accepted");
    assert_eq!(fleet.end(&id), EndReason::Reported);
}

#[test]
fn heartbeats_do_not_extend_the_runtime() {
    let mut fleet = Fleet::new();
    let mut order = job("a");
    order.max_runtime_seconds = 100;
    let [id] = fleet.submit(vec![order]);
    let lease = fleet.active("r1");
    fleet.pass(100);
    let Ok(Reply::Beat(ack)) = fleet.beat(&lease, 1) else { panic!("in the buffer") };
    assert_eq!(ack.new_lease_ttl_seconds, 30);
    fleet.pass(30);
    assert_eq!(stale(fleet.beat(&lease, 2)), StaleReason::LeaseRevoked);
    assert_eq!(fleet.state(&id), AttemptState::TimedOut);
    assert_eq!(fleet.run().status(), RunStatus::Failed);
}

#[test]
fn only_the_runner_that_was_granted_the_lease_can_use_it() {
    let mut fleet = Fleet::new();
    let [_] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    fleet.steal(&lease, "r2");
    assert_eq!(fleet.beat(&lease, 1), Err(Refusal::WrongRunner));
    assert_eq!(fleet.complete(&lease, CompleteStatus::Succeeded), Err(Refusal::WrongRunner));
    let unknown = lease_id(999);
    assert_eq!(stale(fleet.beat(&unknown, 1)), StaleReason::UnknownLease);
}

#[test]
fn tags_priorities_and_order_decide_who_is_next() {
    let mut fleet = Fleet::new();
    let tag = |text: &str| Tag::new(text).expect("a tag");
    let mut linux = job("linux");
    linux.tags = [tag("os:linux")].into();
    linux.priority = 5;
    let mut urgent = job("urgent");
    urgent.priority = 9;
    let [linux, first, second, urgent] =
        fleet.submit(vec![linux, job("first"), job("second"), urgent]);
    fleet.capabilities = [tag("os:mac"), tag("big")].into();
    let order: Vec<_> = (0..3).map(|n| fleet.grant(&format!("r{n}"))).collect();
    let jobs: Vec<_> = order.iter().map(|lease| fleet.lease(lease).job_id).collect();
    assert_eq!(jobs, [urgent, first, second]);
    assert_eq!(fleet.ask("r4"), None);
    fleet.capabilities = [tag("os:linux")].into();
    let lease = fleet.grant("r4");
    assert_eq!(fleet.lease(&lease).job_id, linux);
}

#[test]
fn limits_of_runs_and_labels_hold() {
    let mut fleet = Fleet::new();
    let label = Label::new("deploy").expect("a label");
    fleet.handle(Event::SetLimit { label: label.clone(), limit: Some(1) });
    let labelled = |name: &str| {
        let mut job = job(name);
        job.labels = [label.clone()].into();
        job
    };
    let mut run = submission(vec![labelled("a"), labelled("b"), job("c"), job("d")]);
    run.max_parallel = Some(2);
    let [a, b, c, d] = fleet.submit_run(run);
    let first = fleet.active("r1");
    assert_eq!(fleet.lease(&first).job_id, a);
    let second = fleet.active("r2");
    assert_eq!(fleet.lease(&second).job_id, c, "the label is full");
    assert_eq!(fleet.ask("r3"), None, "the run is full");
    fleet.complete(&first, CompleteStatus::Succeeded).expect("accepted");
    let third = fleet.active("r3");
    assert_eq!(fleet.lease(&third).job_id, b);
    fleet.complete(&second, CompleteStatus::Succeeded).expect("accepted");
    let fourth = fleet.active("r4");
    assert_eq!(fleet.lease(&fourth).job_id, d);
}

#[test]
fn needs_are_waited_for_and_their_failure_is_passed_on() {
    let mut fleet = Fleet::new();
    let need = |name: &str, needs: &[&str]| {
        let mut job = job(name);
        job.needs = needs.iter().map(|n| (*n).to_owned()).collect();
        job
    };
    let [a, b, c, d] = fleet.submit(vec![
        need("a", &[]),
        need("b", &["a"]),
        need("c", &["a", "b"]),
        need("d", &["c"]),
    ]);
    let lease = fleet.active("r1");
    assert_eq!(fleet.lease(&lease).job_id, a);
    assert_eq!(fleet.ask("r2"), None);
    fleet.complete(&lease, CompleteStatus::Succeeded).expect("accepted");
    let lease = fleet.active("r1");
    assert_eq!(fleet.lease(&lease).job_id, b);
    fleet.complete(&lease, CompleteStatus::Failed).expect("accepted");
    for id in [&c, &d] {
        assert_eq!(fleet.end(id), EndReason::NeedFailed);
    }
    assert_eq!(fleet.run().status(), RunStatus::Failed);
    assert_eq!(fleet.run().open, 0);
}

/// Fault 14, the core's half.
#[test]
fn a_log_resumes_where_it_was_kept() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    let mut send = |number, offset, data: &str| {
        let runner_id = fleet.lease(&lease).runner_id;
        let lease_id = lease.clone();
        let data = data.as_bytes().to_vec();
        let chunk = LogChunk { lease_id, runner_id, number, offset, data };
        match fleet.handle(Event::Log(chunk)).reply {
            Ok(Reply::Logged(ack)) => (ack.accepted, ack.next_number, ack.next_offset),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(send(0, 0, "one "), (true, 1, 4));
    assert_eq!(send(0, 0, "one "), (true, 1, 4), "sent twice, kept once");
    assert_eq!(send(2, 8, "three"), (false, 1, 4), "a gap is not kept");
    assert_eq!(send(1, 5, "two "), (false, 1, 4), "nor is a wrong offset");
    assert_eq!(send(1, 4, "two "), (true, 2, 8));
    assert_eq!(send(2, 8, "three"), (true, 3, 13));
    let fence = fleet.lease(&lease).fence;
    assert_eq!(fleet.tables.log(&id, fence), b"one two three");
}

/// Fault 2, the core's half.
#[test]
fn uploads_are_bound_to_the_lease_and_its_fence() {
    let mut fleet = Fleet::new();
    let [_] = fleet.submit(vec![job("a")]);
    let ask = |fleet: &mut Fleet, lease: &_| {
        let runner_id = fleet.lease(lease).runner_id;
        let lease_id = Clone::clone(lease);
        let name = "out/log.txt".to_owned();
        let request = UploadRequest { lease_id, runner_id, name, bytes: 9 };
        fleet.handle(Event::Upload(request)).reply
    };
    let first = fleet.active("r1");
    let Ok(Reply::Upload(granted)) = ask(&mut fleet, &first) else { panic!("granted") };
    assert_eq!(granted.path, "runs/run_0/jobs/job_0-0/1-1/out/log.txt");
    fleet.pass(120);
    assert_eq!(stale(ask(&mut fleet, &first)), StaleReason::LeaseExpired);
    let second = fleet.active("r2");
    let Ok(Reply::Upload(granted)) = ask(&mut fleet, &second) else { panic!("granted") };
    assert_eq!(granted.path, "runs/run_0/jobs/job_0-0/1-2/out/log.txt");
}

#[test]
fn one_lease_does_not_take_the_room_of_all() {
    let mut fleet = Fleet::new();
    fleet.policy.upload_bytes_max = 100;
    fleet.submit::<1>(vec![job("a")]);
    let lease = fleet.active("r1");
    let mut ask = |name: &str, bytes| {
        let runner_id = fleet.lease(&lease).runner_id;
        let (lease_id, name) = (lease.clone(), name.to_owned());
        let request = UploadRequest { lease_id, runner_id, name, bytes };
        fleet.handle(Event::Upload(request)).reply.map(drop)
    };
    assert_eq!(ask("x", 101), Err(Refusal::TooMuch("objects")));
    assert_eq!(ask("x", 60), Ok(()));
    assert_eq!(ask("y", 41), Err(Refusal::TooMuch("objects")));
    assert_eq!(ask("y", 40), Ok(()));
    assert_eq!(ask("z", u64::MAX), Err(Refusal::TooMuch("objects")));
}

/// Fault 9: an answer that was lost, or an orchestrator that was restarted, costs a job nothing.
#[test]
fn an_upload_that_is_asked_for_again_counts_once() {
    let mut fleet = Fleet::new();
    (fleet.policy.upload_bytes_max, fleet.policy.uploads_max) = (100, 2);
    fleet.submit::<1>(vec![job("a")]);
    let lease = fleet.active("r1");
    let mut ask = |name: &str, bytes| {
        let runner_id = fleet.lease(&lease).runner_id;
        let (lease_id, name) = (lease.clone(), name.to_owned());
        let request = UploadRequest { lease_id, runner_id, name, bytes };
        fleet.handle(Event::Upload(request)).reply.map(drop)
    };
    for _ in 0..5 {
        assert_eq!(ask("x", 60), Ok(()));
    }
    // Its first grant can still be used: what counts is the most.
    assert_eq!(ask("x", 1), Ok(()));
    assert_eq!(ask("y", 41), Err(Refusal::TooMuch("objects")));
    assert_eq!(ask("x", 101), Err(Refusal::TooMuch("objects")));
    assert_eq!(ask("x", 70), Ok(()));
    assert_eq!(ask("y", 31), Err(Refusal::TooMuch("objects")));
    assert_eq!(ask("y", 30), Ok(()));
    assert_eq!(ask("y", 30), Ok(()));
    assert_eq!(ask("z", 0), Err(Refusal::TooMuch("objects")), "two are as many as it may");
    assert_eq!((fleet.lease(&lease).uploads, fleet.lease(&lease).upload_bytes), (2, 100));
}

/// Fault 13, the core's half.
#[test]
fn a_sweep_ends_a_bounded_number_of_leases() {
    let mut fleet = Fleet::new();
    fleet.policy.sweep_lapses_max = 2;
    let ids: [_; 5] = fleet.submit((0..5).map(|n| job(&format!("j{n}"))).collect());
    for n in 0..ids.len() {
        fleet.active(&format!("r{n}"));
    }
    fleet.pass(120);
    let sweeps: Vec<_> = (0..3).map(|_| fleet.handle(Event::Sweep).reply).collect();
    let swept = |expired, more| Ok(Reply::Swept { expired, more });
    assert_eq!(sweeps, [swept(2, true), swept(2, true), swept(1, false)]);
}

#[test]
fn the_same_key_is_the_same_run_and_a_rerun_is_another() {
    let mut fleet = Fleet::new();
    let submit = |n, name: &str| Event::Submit {
        run_id: run_id(n),
        key: Some("k".to_owned()),
        submission: submission(vec![job(name)]),
    };
    let submitted = |n, before| Ok(Reply::Submitted { run_id: run_id(n), before });
    assert_eq!(fleet.handle(submit(1, "a")).reply, submitted(1, false));
    assert_eq!(fleet.handle(submit(2, "a")).reply, submitted(1, true));
    assert_eq!(fleet.handle(submit(3, "b")).reply.map_err(|e| e.code()), Err("CONFLICT"));
    let rerun = |n| Event::Rerun {
        of: run_id(1),
        run_id: run_id(n),
        key: Some("again".into()),
        priority_max: i16::MAX,
        label: None,
    };
    assert_eq!(fleet.handle(rerun(4)).reply, submitted(4, false));
    assert_eq!(fleet.handle(rerun(5)).reply, submitted(4, true));
    assert_eq!(fleet.tables.jobs().count(), 2);
}

/// A cancel and a drain together: it was stopped because somebody wished it.
#[test]
fn what_is_given_back_after_a_cancel_is_canceled() {
    let mut fleet = Fleet::new();
    let [id] = fleet.submit(vec![job("a")]);
    let lease = fleet.active("r1");
    fleet.handle(Event::CancelJob { job_id: id.clone() }).reply.expect("asked");
    fleet.fail(&lease, Failure::RunnerShutdown).expect("given back");
    assert_eq!(
        (fleet.state(&id), fleet.end(&id)),
        (AttemptState::Canceled, EndReason::CancelAcked)
    );
}

/// A step failed, and there is no time for another attempt: that is no cancellation.
#[test]
fn what_failed_and_is_too_late_for_its_next_attempt_has_failed() {
    let again = |backoff_seconds| {
        let retry = Retry { max_attempts: 3, backoff_seconds, ..Retry::default() };
        JobSubmission { retry, start_within_seconds: Some(60), ..job("a") }
    };
    let mut fleet = Fleet::new();
    let [long, short] =
        [again(100), again(1)].map(|order| fleet.submit::<1>(vec![order])[0].clone());
    for runner in ["r1", "r2"] {
        let lease = fleet.active(runner);
        fleet.fail(&lease, Failure::StepFailed).expect("accepted");
    }
    assert_eq!(fleet.end(&long), EndReason::AttemptsExhausted, "it would only be too late then");
    assert_eq!(fleet.state(&short), AttemptState::Queued);
    fleet.pass(60);
    fleet.sweep();
    assert_eq!(
        (fleet.state(&short), fleet.end(&short)),
        (AttemptState::Failed, EndReason::AttemptsExhausted)
    );
    assert_eq!(fleet.run().status(), RunStatus::Failed);
}

#[test]
fn a_run_that_an_operator_repeats_stays_its_submitters() {
    let mut fleet = Fleet::new();
    let key = |who: &str, word: &str| Some(Idempotency::key(who, word));
    let submission = submission(vec![job("a")]);
    let submit = Event::Submit { run_id: run_id(1), key: key("ada", "1"), submission };
    fleet.handle(submit).reply.expect("submitted");
    let rerun = |of, n, who: &str| Event::Rerun {
        of: run_id(of),
        run_id: run_id(n),
        key: key(who, &n.to_string()),
        priority_max: i16::MAX,
        label: None,
    };
    fleet.handle(rerun(1, 2, "operator")).reply.expect("repeated");
    fleet.handle(rerun(2, 3, "other operator")).reply.expect("repeated");
    fleet.handle(rerun(1, 4, "ada")).reply.expect("repeated");
    let run = |n| fleet.tables.run(&run_id(n)).expect("a run");
    for n in [2, 3, 4] {
        assert_eq!(run(n).submitter(), Some("ada"));
        assert_eq!(run(n).cache_scope(), run(1).cache_scope(), "its steps find ada's caches");
    }
    assert_eq!(run(4).rerun_for, None);
    assert!(fleet.handle(rerun(1, 2, "operator")).reply.is_ok(), "the same again");
}

#[test]
fn one_submitters_sets_of_tags_have_a_bound_and_are_counted_while_jobs_are_open() {
    let mut fleet = Fleet::new();
    fleet.policy.tag_sets_max = 2;
    let submit = |n: u64, who: &str, tag: &str| {
        let tags = [Tag::new(tag).expect("a tag")].into();
        let jobs = vec![JobSubmission { tags, ..job("a") }, job("b")];
        let key = Some(Idempotency::key(who, &n.to_string()));
        Event::Submit { run_id: run_id(n), key, submission: submission(jobs) }
    };
    fleet.handle(submit(1, "eve", "x1")).reply.expect("two sets");
    assert_eq!(fleet.handle(submit(2, "eve", "x2")).reply, Err(Refusal::TagsFull));
    fleet.handle(submit(3, "ada", "x3")).reply.expect("others' are not counted");
    fleet.handle(Event::CancelRun { run_id: run_id(1) }).reply.expect("canceled");
    fleet.handle(submit(2, "eve", "x2")).reply.expect("what ended is not counted");
}

#[test]
fn a_rerun_keeps_to_the_limits_of_the_one_who_asks() {
    let mut fleet = Fleet::new();
    let label = Label::of_token("ada");
    let [_] = fleet.submit(vec![JobSubmission { priority: 9, ..job("a") }]);
    let rerun = Event::Rerun {
        of: run_id(0),
        run_id: run_id(1),
        key: None,
        priority_max: 3,
        label: Some(label.clone()),
    };
    fleet.handle(rerun).reply.expect("repeated");
    let again = fleet.tables.job(&remuda_fleet::id::JobId::of(&run_id(1), 0)).expect("a job");
    assert_eq!(again.order.priority, 3);
    assert_eq!(again.order.labels, [label].into());
}
