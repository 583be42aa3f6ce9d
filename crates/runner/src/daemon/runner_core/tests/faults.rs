//! Faults of the runner's own.

use super::*;
use crate::daemon::faults::{JOURNAL, PartTest};

fn standing(status: RunnerStatusName) -> Event {
    let offer = OfferView::from(&settings("[http]").offer().unwrap());
    let view = remuda_client::types::RunnerView { offer, ..runner_view(status, true, 1) };
    Event::Registration(Some(Box::new(view)))
}

fn submits(actions: &[Action]) -> bool {
    has(actions, |a| matches!(a, Action::SubmitTx(..)))
}

fn works(actions: &[Action]) -> bool {
    has(actions, |a| matches!(a, Action::StartWork(_)))
}

fn broken(why: &str) -> Event {
    Event::JournalProbed(Err(why.to_owned()))
}

#[test]
fn a_journal_that_cannot_be_written_refuses_jobs_pauses_and_resumes() {
    let mut scene = Scene::new();
    scene.feed(standing(RunnerStatusName::Active));
    let found = scene.feed(broken("no space left on device"));
    assert!(found.contains(&Action::TestParts(vec![JOURNAL.to_owned()])), "{found:?}");
    assert!(found.contains(&Action::GetRegistration));
    assert!(submits(&scene.feed(standing(RunnerStatusName::Active))), "the pause");
    assert_eq!(scene.ack(A, 1), AckStatus::Reject(RejectReason::Capability));
    let problems = scene.core.status().problems.join("; ");
    assert!(problems.contains("no space left on device"), "{problems}");

    // A job from a poll waits for the journal.
    scene.feed(Event::AssignedJobs(AssignedJobs::Jobs(vec![seated(2, false)])));
    assert!(!works(&scene.read(2, 101, Some(drawn(SeatState::Waiting)))));
    let waits = scene.core.jobs[&id(2)].activity.clone();
    assert!(waits.contains("no space left"), "{waits}");

    scene.feed(pulse(104, 6));
    scene.feed(standing(RunnerStatusName::Paused));
    assert!(!submits(&scene.feed(pulse(124, 6))), "it stays paused");
    let mended = scene.feed(Event::JournalProbed(Ok(())));
    assert!(works(&mended), "what waited is begun: {mended:?}");
    assert_eq!(scene.core.status().problems, [""; 0]);
    assert!(submits(&scene.feed(standing(RunnerStatusName::Paused))), "and it resumes");
}

#[test]
fn work_that_a_fault_interrupted_is_done_once_it_is_mended() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    let locked =
        miss("its operator's server rejects requests: status 401", Some(Certainty::Certain));
    let failed = scene.feed(Event::WorkDone(id(1), 0, Err(locked)));
    assert!(!works(&failed), "it does not work, so nothing is begun: {failed:?}");
    let removed = Action::Capability(vec![A, B, C], vec![], vec!["http".to_owned()]);
    assert!(failed.contains(&removed), "{failed:?}");
    assert_eq!(scene.ack(B, 2), AckStatus::Reject(RejectReason::Capability));
    let still = PartTest::Failed("status 402".to_owned());
    assert!(!works(&scene.feed(Event::PartTested("http".to_owned(), still))));
    assert!(works(&scene.feed(Event::PartTested("http".to_owned(), PartTest::Passed))));
    scene.feed(Event::WorkDone(id(1), 0, Ok((outcome(1), None))));
    assert_eq!(scene.ack(B, 3), AckStatus::Accepted);
}

#[test]
fn a_job_that_breaks_its_executor_is_missed_and_the_next_one_that_does_is_a_fault() {
    let mut scene = Scene::new();
    let lost =
        |n| Event::WorkDone(id(n), 0, Err(miss("the worker was lost", Some(Certainty::Suspected))));
    for n in [1, 2] {
        scene.assign(A, n);
        scene.read(n, 100, Some(drawn(SeatState::Waiting)));
    }
    assert!(works(&scene.feed(lost(1))), "it may have been chance");
    assert!(!works(&scene.feed(lost(1))), "it is not tried for ever");
    let status = scene.core.status();
    assert_eq!(status.problems, [""; 0], "one job proves nothing");
    assert_eq!(status.jobs[0].failure.as_deref(), Some("the worker was lost"));
    assert!(!works(&scene.feed(lost(2))), "now it waits");
    let problems = scene.core.status().problems.join("; ");
    assert!(problems.contains("the worker was lost"), "{problems}");
}
