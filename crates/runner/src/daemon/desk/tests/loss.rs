//! A journal that is lost: what the runner is bound by is attested, however it comes to hear of it.

use super::*;
use remuda_protocol::primitives::Height;

fn committed() -> Job {
    drawn(SeatState::Committed { commitment: id(8), at: Height(100) })
}

fn attests(scene: &Scene, n: u8) -> bool {
    scene.desk.outbox.has(&Purpose::Job(id(n), 0, Deed::Attest))
}

fn looks(actions: &[Action], n: u8) -> bool {
    has(actions, |a| matches!(a, Action::Read { job, with_spec: true, .. } if *job == id(n)))
}

/// A runner that refuses every job, for each of the reasons.
fn refusing() -> Vec<(&'static str, RejectReason, Scene)> {
    let mut late = Scene::new();
    late.note(pulse(140, 5));
    let mut draining = Scene::new();
    draining.note(Note::Drain);
    let unable = Scene::able("[dns]", vec![]);
    let mut full = Scene::new();
    for n in [11, 12] {
        full.assign(C, n);
        full.read(n, 100, Some(drawn(SeatState::Waiting)));
    }
    let mut broke = Scene::new();
    broke.note(pulse_with(101, 5, 60_000_000));
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
        let height = scene.desk.height();
        scene.read(1, height, Some(committed()));
        assert!(attests(&scene, 1), "{what}: {:?}", scene.desk.status().jobs);
        assert_eq!(scene.desk.history.lies.len(), 0, "{what}");
    }
}

#[test]
fn what_is_refused_and_not_bound_is_forgotten() {
    for (what, _, mut scene) in refusing() {
        let before = scene.desk.jobs.len();
        for job in [Some(drawn(SeatState::Waiting)), Some(drawn(SeatState::TimedOut)), None] {
            scene.assign(A, 1);
            let actions = scene.read(1, scene.desk.height(), job);
            assert!(!has(&actions, |a| matches!(a, Action::Work(_))), "{what}: {actions:?}");
            assert_eq!(scene.desk.jobs.len(), before, "{what}");
            assert!(!attests(&scene, 1) && scene.desk.history.lies.is_empty(), "{what}");
        }
        scene.assign(A, 1);
        scene.note(Note::Read(id(1), None));
        assert_eq!(scene.desk.jobs.len(), before, "{what}: nobody could tell");
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
    scene.note(Note::Worked(id(11), 0, Ok((outcome(11), None))));
    assert_eq!(scene.ack(B, 1), AckStatus::Accepted, "whether or not the look is over");
    let begun = scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    assert!(has(&begun, |a| matches!(a, Action::Work(task) if task.job.job_id == id(1))));
}

#[test]
fn looks_are_few_at_a_time_and_take_no_place() {
    let mut scene = Scene::new();
    scene.note(pulse(140, 5));
    for n in 1..=9 {
        scene.assign(A, n);
    }
    assert_eq!(scene.desk.jobs.len(), 2, "as many as it has places");
    let mut scene = Scene::able("[http]", vec![]);
    scene.note(Note::Drain);
    for n in 1..=9 {
        scene.assign(A, n);
    }
    assert_eq!((scene.desk.jobs.len(), scene.desk.busy()), (2, 0));
}

fn stands(status: RunnerStatusName) -> Note {
    Note::Standing(Some(Box::new(runner_view(status, true, 1))))
}

#[test]
fn a_runner_that_stops_attests_what_it_finds_that_it_is_bound_by() {
    let mut scene = Scene::new();
    scene.note(Note::Drain);
    scene.note(stands(RunnerStatusName::Paused));
    assert!(!scene.desk.drained(), "nobody has told what it sits on");
    assert!(has(&scene.note(pulse(101, 5)), |a| *a == Action::Poll), "so it asks at once");
    let polled = scene.note(Note::Polled(Polled::Jobs(vec![seated(1, true), seated(2, false)])));
    assert!(looks(&polled, 1) && !looks(&polled, 2), "{polled:?}");
    scene.read(1, 101, Some(committed()));
    assert!(attests(&scene, 1) && !scene.desk.drained());
    scene.note(pulse(102, 6));
    scene.read(1, 102, Some(drawn(SeatState::Crashed)));
    assert!(scene.desk.drained());
}

#[test]
fn where_polling_is_over_nobody_waits_for_it() {
    let mut scene = Scene::new();
    scene.note(Note::Drain);
    scene.note(stands(RunnerStatusName::Paused));
    scene.note(Note::Polled(Polled::Over));
    assert!(scene.desk.drained());
}
