//! What validators claim, and what becomes of it.

use super::*;
use remuda_protocol::dispatcher::committee::VerificationMode;

#[test]
fn a_false_assignment_is_looked_up_twice_and_then_blamed() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 99, None);
    assert_eq!(scene.core.history.false_assignments.len(), 0, "the node was behind");
    scene.read(1, 100, None);
    assert_eq!(scene.core.history.false_assignments.len(), 0, "it may be wrong");
    let actions = scene.read(1, 101, None);
    assert_eq!(scene.core.history.false_assignments[0].validator.0.0, A);
    assert!(actions.contains(&Action::FinishStream(A, id(1))));
    assert!(scene.core.jobs.is_empty());
    assert_eq!(scene.ack(B, 1), AckStatus::Accepted, "somebody else may say so with more right");
}

#[test]
fn a_block_that_never_comes_is_not_waited_for() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.core.jobs.get_mut(&id(1)).unwrap().assigned_at = u64::MAX;
    for height in 101..110 {
        scene.feed(pulse(height, 5));
        scene.read(1, height, None);
    }
    assert_eq!(scene.core.history.false_assignments.len(), 1);
}

#[test]
fn a_false_assignment_discredits_its_sender_only() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    // It came first, with a block that nobody knows; the others say what is so.
    scene.core.jobs.get_mut(&id(1)).unwrap().assigned_at = u64::MAX;
    for validator in [B, C] {
        assert_eq!(scene.ack(validator, 1), AckStatus::Duplicate);
    }
    let mut actions = Vec::new();
    for height in 101..=108 {
        scene.feed(pulse(height, 5));
        actions.extend(scene.read(1, 99, None));
    }
    assert_eq!(scene.core.history.false_assignments.len(), 1);
    let finished = |to| actions.contains(&Action::FinishStream(to, id(1)));
    assert!(finished(A) && !finished(B) && !finished(C), "{actions:?}");
    let avoid = Some("http://validator-2".to_owned());
    let asks = Action::GetJob { job: id(1), with_spec: true, avoid, turn: 0 };
    assert!(actions.contains(&asks), "now it is B's word that is checked: {actions:?}");
    let open = &scene.core.jobs[&id(1)];
    assert_eq!((open.pushed_by, open.assigned_at, open.refuted_by), (Some(B), 100, 0));
    let begun = scene.read(1, 108, Some(drawn(SeatState::Waiting)));
    assert!(has(&begun, |a| matches!(a, Action::StartWork(_))), "{begun:?}");
    assert_eq!(scene.core.jobs[&id(1)].streams, [B, C]);
    assert_eq!(scene.core.history.false_assignments.len(), 1, "nobody else is to blame");
}

#[test]
fn a_job_that_all_made_up_ends_with_the_last_of_them() {
    let mut scene = Scene::new();
    for validator in [A, B] {
        scene.assign(validator, 1);
    }
    for height in 101..=104 {
        scene.read(1, height, None);
    }
    let blamed: Vec<_> =
        scene.core.history.false_assignments.iter().map(|lie| lie.validator.0.0).collect();
    assert_eq!(blamed, [B, A]);
    assert!(scene.core.jobs.is_empty());
}

#[test]
fn who_has_a_block_left_says_that_there_was_no_time() {
    let mut scene = Scene::new();
    scene.feed(pulse(134, 5));
    scene.assign(A, 1);
    let begun = scene.read(1, 134, Some(drawn(SeatState::Waiting)));
    let works = |a: &Action| matches!(a, Action::StartWork(task) if task.job.time_limit.is_zero());
    assert!(has(&begun, works), "an excuse takes no time: {begun:?}");
}

#[test]
fn a_single_runner_is_not_paid_for_work_that_never_began() {
    let mut scene = Scene::new();
    scene.feed(pulse(134, 5));
    scene.assign(A, 1);
    let mut single = spec();
    single.verification.mode = VerificationMode::None;
    let (job, spec) = (Some(drawn(SeatState::Waiting)), Some(single));
    let reading = JobSnapshot { height: 134, job, spec, pinned: false };
    let begun = scene.feed(Event::Job(id(1), Some(Box::new(reading))));
    assert!(!has(&begun, |a| matches!(a, Action::StartWork(_))), "{begun:?}");
    let failure = scene.core.status().jobs[0].failure.clone().unwrap();
    assert!(failure.contains("no time left"), "{failure}");
}
