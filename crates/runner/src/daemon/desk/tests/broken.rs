//! Faults of the runner's own.

use super::*;
use crate::daemon::faults::{JOURNAL, Trial};

fn standing(status: RunnerStatusName) -> Note {
    let offer = OfferView::from(&settings("[http]").offer().unwrap());
    let view = remuda_client::types::RunnerView { offer, ..runner_view(status, true, 1) };
    Note::Standing(Some(Box::new(view)))
}

fn submits(actions: &[Action]) -> bool {
    has(actions, |a| matches!(a, Action::Submit(..)))
}

fn works(actions: &[Action]) -> bool {
    has(actions, |a| matches!(a, Action::Work(_)))
}

fn broken(why: &str) -> Note {
    Note::Journal(Err(why.to_owned()))
}

#[test]
fn a_journal_that_cannot_be_written_refuses_jobs_pauses_and_resumes() {
    let mut scene = Scene::new();
    scene.note(standing(RunnerStatusName::Active));
    let found = scene.note(broken("no space left on device"));
    assert!(found.contains(&Action::Try(vec![JOURNAL.to_owned()])), "{found:?}");
    assert!(found.contains(&Action::Standing));
    assert!(submits(&scene.note(standing(RunnerStatusName::Active))), "the pause");
    assert_eq!(scene.ack(A, 1), AckStatus::Reject(RejectReason::Capability));
    let problems = scene.desk.status().problems.join("; ");
    assert!(problems.contains("no space left on device"), "{problems}");

    // Somebody polled for it all the same: it waits for the journal.
    scene.note(Note::Polled(Polled::Jobs(vec![seated(2, false)])));
    assert!(!works(&scene.read(2, 101, Some(drawn(SeatState::Waiting)))));
    let waits = scene.desk.jobs[&id(2)].doing.clone();
    assert!(waits.contains("no space left"), "{waits}");

    scene.note(pulse(104, 6));
    scene.note(standing(RunnerStatusName::Paused));
    assert!(!submits(&scene.note(pulse(124, 6))), "it stays paused");
    let mended = scene.note(Note::Journal(Ok(())));
    assert!(works(&mended), "what waited is begun: {mended:?}");
    assert_eq!(scene.desk.status().problems, [""; 0]);
    assert!(submits(&scene.note(standing(RunnerStatusName::Paused))), "and it resumes");
}

#[test]
fn work_that_a_fault_interrupted_is_done_once_it_is_mended() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    let locked = miss("its operator's server is of no use: status 401", Some(Doubt::None));
    let failed = scene.note(Note::Worked(id(1), 0, Err(locked)));
    assert!(!works(&failed), "it does not work, so nothing is begun: {failed:?}");
    let removed = Action::Capability(vec![A, B, C], vec![], vec!["http".to_owned()]);
    assert!(failed.contains(&removed), "{failed:?}");
    assert_eq!(scene.ack(B, 2), AckStatus::Reject(RejectReason::Capability));
    let still = Trial::Fails("status 402".to_owned());
    assert!(!works(&scene.note(Note::Tried("http".to_owned(), still))));
    assert!(works(&scene.note(Note::Tried("http".to_owned(), Trial::Works))));
    scene.note(Note::Worked(id(1), 0, Ok((outcome(1), None))));
    assert_eq!(scene.ack(B, 3), AckStatus::Accepted);
}

#[test]
fn a_job_that_breaks_its_executor_is_missed_and_the_next_one_that_does_is_a_fault() {
    let mut scene = Scene::new();
    let lost = |n| Note::Worked(id(n), 0, Err(miss("the worker was lost", Some(Doubt::Some))));
    for n in [1, 2] {
        scene.assign(A, n);
        scene.read(n, 100, Some(drawn(SeatState::Waiting)));
    }
    assert!(works(&scene.note(lost(1))), "it may have been chance");
    assert!(!works(&scene.note(lost(1))), "it is not tried for ever");
    let status = scene.desk.status();
    assert_eq!(status.problems, [""; 0], "one job proves nothing");
    assert_eq!(status.jobs[0].failure.as_deref(), Some("the worker was lost"));
    assert!(!works(&scene.note(lost(2))), "now it waits");
    let problems = scene.desk.status().problems.join("; ");
    assert!(problems.contains("the worker was lost"), "{problems}");
}
