//! Problems shown to the operator.

use super::*;
use remuda_client::types::RunnerView;

fn standing(view: RunnerView) -> Event {
    Event::Registration(Some(Box::new(view)))
}

fn as_settled() -> RunnerView {
    let offer = OfferView::from(&settings("[http]").offer().unwrap());
    RunnerView { offer, ..runner_view(RunnerStatusName::Active, true, 1) }
}

#[test]
fn a_refused_job_is_shown_once_with_the_setting_to_change() {
    let mut scene = Scene::able("[dns]", vec![]);
    for validator in [A, B, C] {
        let refused = AckStatus::Reject(RejectReason::Capability);
        assert_eq!(scene.ack(validator, 1), refused);
    }
    let finished = scene.core.status().finished;
    assert_eq!(finished.len(), 1, "{finished:?}");
    assert_eq!((finished[0].job.0, finished[0].end.as_str()), (id(1), "refused"));
    let why = finished[0].why.clone().unwrap();
    assert!(why.contains("web requests not supported") && why.contains("[http]"), "{why}");
    assert_eq!(scene.core.status().totals, Default::default(), "it was never ours");
}

#[test]
fn made_up_jobs_do_not_hide_what_was_done() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    scene.read(1, 101, Some(drawn(SeatState::TimedOut)));
    assert_eq!(scene.core.status().finished.len(), 1);
    scene.feed(pulse_with(102, 5, 0));
    for n in 2..100 {
        assert_eq!(scene.ack(A, n), AckStatus::Reject(RejectReason::Capacity));
    }
    let finished = scene.core.status().finished;
    assert!(finished.iter().any(|view| view.job.0 == id(1)), "{finished:?}");
    assert!(finished.len() <= 11, "{}", finished.len());
}

#[test]
fn an_offer_that_is_not_that_of_the_settings_is_a_problem_until_it_is_mended() {
    let mut scene = Scene::new();
    let mut other = as_settled();
    other.offer.max_concurrent_jobs = 9;
    scene.feed(standing(other));
    let problem = scene.core.status().problems.join("; ");
    for part in ["slots: 2 here, 9 on chain", "remuda runner update"] {
        assert!(problem.contains(part), "{part}: {problem}");
    }
    scene.feed(standing(as_settled()));
    assert_eq!(scene.core.status().problems, [""; 0]);
}

#[test]
fn an_unregistered_runner_is_told_what_to_type() {
    let mut scene = Scene::new();
    assert_eq!(scene.core.status().problems, [""; 0], "nobody has asked yet");
    scene.feed(Event::Registration(None));
    let problem = scene.core.status().problems.join("; ");
    assert!(problem.contains("remuda runner register runner.toml --key runner.key"), "{problem}");
    scene.feed(standing(as_settled()));
    assert_eq!(scene.core.status().problems, [""; 0]);
}

#[test]
fn nodes_of_another_chain_are_a_problem_although_others_answer() {
    let mut scene = Scene::new();
    let Event::ChainStatus(Ok(mut answer)) = pulse(101, 5) else { unreachable!() };
    answer.wrong_chain_nodes = vec!["node U is of another chain".to_owned()];
    scene.feed(Event::ChainStatus(Ok(answer)));
    assert_eq!(scene.core.status().problems, ["node U is of another chain"]);
    scene.feed(pulse(102, 5));
    assert_eq!(scene.core.status().problems, [""; 0]);
}

fn probed(there: bool) -> Event {
    Event::DependenciesProbed(vec![("model:tiny".to_owned(), there)])
}

const MODEL: &str = "[llm.models.tiny]\nbase_url = 'http://127.0.0.1:9'";

#[test]
fn sessions_are_told_what_is_gone_and_what_is_back() {
    let mut scene = Scene::able(MODEL, vec![]);
    let tiny = || vec!["model:tiny".to_owned()];
    let gone = scene.feed(probed(false));
    let removed = Action::Capability(vec![A, B, C], vec![], tiny());
    assert!(gone.contains(&removed), "{gone:?}");
    let again = scene.feed(probed(false));
    assert!(!has(&again, |a| matches!(a, Action::Capability(..))), "that is no news");
    scene.feed(Event::SessionClosed(B, "gone".to_owned()));
    let up = scene.feed(Event::SessionOpened(B));
    assert!(up.contains(&Action::Capability(vec![B], vec![], tiny())), "a new session too: {up:?}");
    assert!(scene.core.status().problems.join("; ").contains("tiny"));
    let back = scene.feed(probed(true));
    assert!(back.contains(&Action::Capability(vec![A, B, C], tiny(), vec![])), "{back:?}");
    assert_eq!(scene.core.status().problems, [""; 0]);
}

#[test]
fn who_can_do_nothing_at_the_moment_asks_for_nothing() {
    let sheds = |actions: &[Action]| {
        has(actions, |a| matches!(a, Action::Load(_, signal) if !signal.accepting_new))
    };
    let mut scene = Scene::able(MODEL, vec![]);
    let gone = scene.feed(probed(false));
    assert!(sheds(&gone) || sheds(&scene.feed(Event::Tick)));
    let mut scene = Scene::able(&format!("[http]\n{MODEL}"), vec![]);
    let gone = scene.feed(probed(false));
    assert!(!sheds(&gone) && !sheds(&scene.feed(Event::Tick)), "it still makes web requests");
}

#[test]
fn what_one_look_finds_is_told_at_once() {
    let two = format!("{MODEL}\n[llm.models.small]\nbase_url = 'http://127.0.0.1:9'");
    let mut scene = Scene::able(&two, vec![]);
    let names = ["model:small", "model:tiny"].map(str::to_owned).to_vec();
    let gone = names.iter().map(|name| (name.clone(), false)).collect();
    let told = scene.feed(Event::DependenciesProbed(gone));
    let told: Vec<_> = told.iter().filter(|a| matches!(a, Action::Capability(..))).collect();
    assert_eq!(told, [&Action::Capability(vec![A, B, C], vec![], names)]);
}

#[test]
fn a_refusal_is_short_however_long_the_names_of_a_job_are() {
    use remuda_protocol::dispatcher::spec::JobType;
    let mut scene = Scene::new();
    for n in 0..5 {
        let mut spec = spec();
        spec.job_type = JobType::Llm {
            model: format!("{n}{}", "x".repeat(100_000)),
            messages: vec![],
            temperature_milli: 0,
            seed: 0,
        };
        let assignment = JobAssignment {
            job_id: id(1),
            attempt: 0,
            job_spec: spec.to_bytes(),
            block_height: 100,
            deadline_block: 136,
            validator_signed: [0; 64],
        };
        scene.feed(Event::Session(A, LinkEvent::Assigned(Box::new(assignment)), RTT));
    }
    let finished = scene.core.status().finished;
    assert_eq!(finished.len(), 1, "the same job, whatever it is called");
    let why = finished[0].why.clone().unwrap();
    assert!(why.chars().count() < 1_000 && why.contains("remuda runner update"), "{why}");
}

#[test]
fn heights_that_a_node_makes_up_break_nothing() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    for height in [100, u64::MAX] {
        scene.feed(pulse(height, height));
        scene.read(1, height, Some(drawn(SeatState::Waiting)));
        scene.feed(Event::Tick);
    }
    assert!(scene.core.jobs.is_empty(), "its time is over");
}

#[test]
fn a_second_program_with_the_same_key_is_named() {
    let mut scene = Scene::new();
    scene.feed(Event::SessionClosed(A, "silent".to_owned()));
    assert_eq!(scene.core.status().problems, [""; 0]);
    scene.feed(Event::SessionClosed(B, "replaced".to_owned()));
    assert_eq!(scene.core.status().problems, [""; 0], "one validator may say what it likes");
    scene.feed(Event::SessionOpened(B));
    scene.feed(Event::SessionClosed(B, "replaced".to_owned()));
    assert_eq!(scene.core.status().problems, [""; 0], "and as often as it likes");
    scene.feed(Event::SessionClosed(C, "replaced".to_owned()));
    let problems = scene.core.status().problems;
    assert!(
        problems.iter().any(|why| why.contains("another program may be using the key")),
        "{problems:?}"
    );
    scene.now += 60_000;
    scene.feed(Event::Tick);
    assert_eq!(scene.core.status().problems, [""; 0], "it was seen no more");
}

#[test]
fn who_can_do_nothing_that_it_offers_pauses_until_it_can() {
    let mut scene = Scene::able("[llm.models.tiny]\nbase_url = 'http://127.0.0.1:9/v1'", vec![]);
    let offer = scene.core.rules.offer.clone().unwrap();
    let stands = |status| {
        let offer = offer.clone();
        standing(RunnerView { offer, ..runner_view(status, true, 1) })
    };
    let probed = |there| Event::DependenciesProbed(vec![("model:tiny".to_owned(), there)]);
    scene.feed(probed(true));
    scene.feed(stands(RunnerStatusName::Active));
    scene.feed(probed(false));
    scene.feed(probed(false));
    scene.feed(stands(RunnerStatusName::Active));
    assert!(scene.core.outbox.has(&Purpose::Pause));
    let problems = scene.core.status().problems.join("; ");
    assert!(problems.contains("pauses on chain"), "{problems}");
    scene.feed(pulse(101, 6));
    scene.feed(stands(RunnerStatusName::Paused));
    scene.feed(probed(true));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(!scene.core.outbox.has(&Purpose::Resume), "a server that comes and goes costs fees");
    scene.feed(pulse(125, 6));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(scene.core.outbox.has(&Purpose::Resume));
}

#[test]
fn what_the_chain_said_last_is_told_as_such() {
    let mut scene = Scene::new();
    scene.feed(standing(as_settled()));
    assert!(scene.core.status().reachable);
    scene.feed(Event::ChainStatus(Err("no node answers".to_owned())));
    let status = scene.core.status();
    assert!(!status.reachable);
    assert_eq!(status.standing.unwrap().height, Uint(100));
}
