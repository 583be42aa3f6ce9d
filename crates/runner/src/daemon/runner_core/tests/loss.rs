//! A journal that is lost: what the runner is bound by is attested, however it comes to hear of it.

use super::*;
use remuda_protocol::primitives::Height;

fn committed() -> Job {
    drawn(SeatState::Committed { commitment: id(8), at: Height(100) })
}

fn attests(scene: &Scene, n: u8) -> bool {
    scene.core.outbox.has(&Purpose::Job(id(n), 0, TxKind::Attest))
}

fn looks(actions: &[Action], n: u8) -> bool {
    has(actions, |a| matches!(a, Action::GetJob { job, with_spec: true, .. } if *job == id(n)))
}

/// A runner that refuses every job, for each of the reasons.
fn refusing() -> Vec<(&'static str, RejectReason, Scene)> {
    let mut late = Scene::new();
    late.feed(pulse(140, 5));
    let mut draining = Scene::new();
    draining.feed(Event::Drain);
    let unable = Scene::able("[dns]", vec![]);
    let mut full = Scene::new();
    for n in [11, 12] {
        full.assign(C, n);
        full.read(n, 100, Some(drawn(SeatState::Waiting)));
    }
    let mut broke = Scene::new();
    broke.feed(pulse_with(101, 5, 60_000_000));
    vec![
        ("late", RejectReason::TooLate, late),
        ("draining", RejectReason::Draining, draining),
        ("unable", RejectReason::Capability, unable),
        ("full", RejectReason::Capacity, full),
        ("broke", RejectReason::Capacity, broke),
    ]
}

#[test]
fn what_is_refused_and_committed_to_is_attested() {
    for (what, reason, mut scene) in refusing() {
        let actions = scene.assign(A, 1);
        let refused = |a: &Action| matches!(a, Action::Ack(A, _, status, _) if *status == AckStatus::Reject(reason));
        assert!(has(&actions, refused), "{what}: {actions:?}");
        assert!(looks(&actions, 1), "{what}: {actions:?}");
        let height = scene.core.height();
        scene.read(1, height, Some(committed()));
        assert!(attests(&scene, 1), "{what}: {:?}", scene.core.status().jobs);
        assert_eq!(scene.core.history.false_assignments.len(), 0, "{what}");
    }
}

#[test]
fn what_is_refused_and_not_bound_is_forgotten() {
    for (what, _, mut scene) in refusing() {
        let before = scene.core.jobs.len();
        for job in [Some(drawn(SeatState::Waiting)), Some(drawn(SeatState::TimedOut)), None] {
            scene.assign(A, 1);
            let actions = scene.read(1, scene.core.height(), job);
            assert!(!has(&actions, |a| matches!(a, Action::StartWork(_))), "{what}: {actions:?}");
            assert_eq!(scene.core.jobs.len(), before, "{what}");
            assert!(
                !attests(&scene, 1) && scene.core.history.false_assignments.is_empty(),
                "{what}"
            );
        }
        scene.assign(A, 1);
        scene.feed(Event::Job(id(1), None));
        assert_eq!(scene.core.jobs.len(), before, "{what}: nobody could tell");
    }
}

#[test]
fn what_was_refused_is_taken_when_there_is_a_place() {
    let mut scene = Scene::new();
    for n in [11, 12] {
        scene.assign(C, n);
        scene.read(n, 100, Some(drawn(SeatState::Waiting)));
    }
    let full = AckStatus::Reject(RejectReason::Capacity);
    assert_eq!(scene.ack(A, 1), full);
    assert_eq!(scene.ack(B, 1), full, "it is looked at, and not taken");
    scene.feed(Event::WorkDone(id(11), 0, Ok((outcome(11), None))));
    assert_eq!(scene.ack(B, 1), AckStatus::Accepted, "whether or not the look is over");
    let begun = scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    assert!(has(&begun, |a| matches!(a, Action::StartWork(task) if task.job.job_id == id(1))));
}

#[test]
fn looks_are_few_at_a_time_and_take_no_place() {
    let mut scene = Scene::new();
    scene.feed(pulse(140, 5));
    for n in 1..=9 {
        scene.assign(A, n);
    }
    assert_eq!(scene.core.jobs.len(), 2, "as many as it has places");
    let mut scene = Scene::able("[http]", vec![]);
    scene.feed(Event::Drain);
    for n in 1..=9 {
        scene.assign(A, n);
    }
    assert_eq!((scene.core.jobs.len(), scene.core.busy()), (2, 0));
}

fn stands(status: RunnerStatusName) -> Event {
    Event::Registration(Some(Box::new(runner_view(status, true, 1))))
}

#[test]
fn a_runner_that_stops_attests_what_it_finds_that_it_is_bound_by() {
    let mut scene = Scene::new();
    scene.feed(Event::Drain);
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(!scene.core.drained(), "nobody has told what it sits on");
    assert!(
        has(&scene.feed(pulse(101, 5)), |a| *a == Action::GetAssignedJobs),
        "so it asks at once"
    );
    let polled = scene
        .feed(Event::AssignedJobs(AssignedJobs::Jobs(vec![seated(1, true), seated(2, false)])));
    assert!(looks(&polled, 1) && !looks(&polled, 2), "{polled:?}");
    scene.read(1, 101, Some(committed()));
    assert!(attests(&scene, 1) && !scene.core.drained());
    scene.feed(pulse(102, 6));
    scene.read(1, 102, Some(drawn(SeatState::Crashed)));
    assert!(scene.core.drained());
}

#[test]
fn where_polling_is_over_nobody_waits_for_it() {
    let mut scene = Scene::new();
    scene.feed(Event::Drain);
    scene.feed(stands(RunnerStatusName::Paused));
    scene.feed(Event::AssignedJobs(AssignedJobs::PollingOver));
    assert!(scene.core.drained());
}
