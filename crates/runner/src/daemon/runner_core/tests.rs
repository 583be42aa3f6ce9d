mod claims;
mod epochs;
mod faults;
mod fees;
mod loss;
mod programs;
mod trouble;

use super::*;
use crate::daemon::dependencies::Dependency;
use crate::daemon::faults::Certainty;
use crate::daemon::nodes::Seat;
use crate::daemon::outbox::{AccountSnapshot, TxKind};
use crate::journal::Stage;
use crate::testing::{http_spec, job, runner_view, seat, settings};
use remuda_client::types::{HexAddress, HexHash, RunnerStatusName, RunnerValidator, Uint};
use remuda_link::frame::{CancelReason, JobAssignment, JobCancel, RejectReason};
use remuda_protocol::codec::Encode as _;
use remuda_protocol::dispatcher::job::{Failure, Job, SeatState, Status};
use remuda_protocol::fees::Basefees;
use remuda_protocol::primitives::B256;
use remuda_protocol::verifier::commitment::result_digest;
use remuda_protocol::verifier::excuse::Excuse;

const RTT: Duration = Duration::from_millis(1);
const A: ValidatorKey = [1; 32];
const B: ValidatorKey = [2; 32];
const C: ValidatorKey = [3; 32];

fn key() -> SecretKey {
    SecretKey::from_label("runner")
}

fn id(n: u8) -> JobId {
    B256::repeat_byte(n)
}

fn pulse(height: u64, nonce: u64) -> Event {
    pulse_with(height, nonce, u128::MAX)
}

fn pulse_with(height: u64, nonce: u64, balance: u128) -> Event {
    let basefees = Basefees { cycle: 1_000, cell: 1_000 };
    Event::ChainStatus(Ok(ChainStatus {
        account: AccountSnapshot {
            height,
            chain_id: 7,
            nonce,
            next_nonce: nonce,
            basefees,
            balance,
        },
        block_time: Duration::from_secs(1),
        policy: "prefer".to_owned(),
        wrong_chain_nodes: vec![],
    }))
}

fn validators() -> Event {
    validators_of(0)
}

fn validators_of(epoch: u64) -> Event {
    let named = |key: ValidatorKey| RunnerValidator {
        index: u32::from(key[0]),
        key: HexHash(key.into()),
        link: Some("127.0.0.1:1".to_owned()),
        api: Some(format!("http://validator-{}", key[0])),
        current: true,
    };
    Event::Validators(Ok(RunnerValidators {
        runner: HexAddress(key().address()),
        height: Uint(100),
        epoch: Uint(epoch),
        threshold: 2,
        validators: [A, B, C].map(named).to_vec(),
    }))
}

/// A core and a clock.
struct Scene {
    core: RunnerCore,
    now: u64,
}

impl Scene {
    fn with(journal: Vec<Entry>) -> Self {
        Self::able("[http]", journal)
    }

    fn able(sections: &str, journal: Vec<Entry>) -> Self {
        let settings = settings(sections);
        let dependencies = Dependency::all(&settings);
        let rules = Rules {
            abilities: Abilities::of(&settings),
            slots: 2,
            nodes: 1,
            resume: true,
            push: true,
            offer: Ok(OfferView::from(&settings.offer().unwrap())),
            pinnable: settings.pinnable(),
            commands: Commands { settings: "runner.toml".to_owned(), key: "runner.key".to_owned() },
        };
        let mut scene = Self {
            core: RunnerCore::new(key(), rules, Dependencies::new(&dependencies), journal, vec![]),
            now: 0,
        };
        scene.feed(pulse(100, 5));
        scene.feed(validators());
        for validator in [A, B, C] {
            scene.feed(Event::SessionOpened(validator));
        }
        scene
    }

    fn new() -> Self {
        Self::with(vec![])
    }

    fn feed(&mut self, note: Event) -> Vec<Action> {
        self.now += 1_000;
        self.core.handle(note, self.now)
    }

    fn assign(&mut self, from: ValidatorKey, n: u8) -> Vec<Action> {
        let assignment = JobAssignment {
            job_id: id(n),
            attempt: 0,
            job_spec: spec().to_bytes(),
            block_height: 100,
            deadline_block: 136,
            validator_signed: [0; 64],
        };
        self.feed(Event::Session(from, LinkEvent::Assigned(Box::new(assignment)), RTT))
    }

    fn read(&mut self, n: u8, height: u64, job: Option<Job>) -> Vec<Action> {
        let spec = job.as_ref().map(|_| spec());
        self.feed(Event::Job(
            id(n),
            Some(Box::new(JobSnapshot { height, job, spec, pinned: false })),
        ))
    }

    fn ack(&mut self, from: ValidatorKey, n: u8) -> AckStatus {
        let actions = self.assign(from, n);
        let mut acks = actions.iter().filter_map(|action| match action {
            Action::Ack(to, job, status, _) if *to == from && *job == id(n) => Some(*status),
            _ => None,
        });
        acks.next_back().expect("an answer")
    }
}

fn spec() -> remuda_protocol::dispatcher::spec::JobSpec {
    http_spec("GET", "http://example.com/")
}

fn seated(n: u8, committed: bool) -> Seat {
    Seat { job: id(n), attempt: 0, committed }
}

fn drawn(progress: SeatState) -> Job {
    let other = seat(Address::ZERO, SeatState::Waiting);
    job(Status::Assigned, None, vec![seat(key().address(), progress), other])
}

fn outcome(n: u8) -> Outcome {
    let digest = result_digest(7, id(n), 0, key().address(), b"42");
    Outcome { delivery: b"42".into(), salt: id(9), result_sig: key().sign(&digest) }
}

fn miss(why: &str, fault: Option<Certainty>) -> TaskError {
    TaskError { why: why.to_owned(), fault }
}

fn carried(actions: &[Action]) -> Vec<ValidatorKey> {
    let to = |action: &Action| match action {
        Action::ForwardTx(to, ..) => Some(*to),
        _ => None,
    };
    actions.iter().filter_map(to).collect()
}

fn has(actions: &[Action], wanted: impl Fn(&Action) -> bool) -> bool {
    actions.iter().any(wanted)
}

#[test]
fn a_job_of_three_validators_is_checked_elsewhere_and_done_once() {
    let mut scene = Scene::new();
    let actions = scene.assign(A, 1);
    let ack = Action::Ack(A, id(1), AckStatus::Accepted, None);
    assert_eq!(actions[0], ack, "at once");
    let avoid = Some("http://validator-1".to_owned());
    let asks = Action::GetJob { job: id(1), with_spec: true, avoid, turn: 0 };
    assert!(actions.contains(&asks), "somebody else: {actions:?}");
    assert_eq!(scene.ack(B, 1), AckStatus::Duplicate);
    assert_eq!(scene.ack(C, 1), AckStatus::Duplicate);
    let work = |a: &Action| matches!(a, Action::StartWork(task) if task.job.job_id == id(1));
    let begun = scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    assert!(has(&begun, work));
    assert!(!has(&scene.read(1, 101, Some(drawn(SeatState::Waiting))), work), "only once");
}

#[test]
fn a_commit_goes_to_one_then_to_the_others_then_also_by_http() {
    let mut scene = Scene::new();
    for validator in [A, B, C] {
        scene.assign(validator, 1);
    }
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    let sent = scene.feed(Event::WorkDone(id(1), 0, Ok((outcome(1), None))));
    assert_eq!(carried(&sent), [A]);
    assert!(carried(&scene.feed(pulse(101, 5))).is_empty());
    assert_eq!(carried(&scene.feed(pulse(102, 5))), [B, C]);
    let last = scene.feed(pulse(104, 5));
    assert_eq!(carried(&last), [A, B, C]);
    assert!(has(&last, |a| matches!(a, Action::SubmitTx(..))));
    let purpose = Purpose::Job(id(1), 0, TxKind::Commit);
    let over = scene.feed(pulse(106, 6));
    assert!(has(&over, |a| matches!(a, Action::GetTxStatus(p, _) if *p == purpose)));
    assert!(carried(&over).is_empty());
}

#[test]
fn heights_that_validators_make_up_change_nothing() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    let actions = scene.feed(Event::Session(B, LinkEvent::Head(u64::MAX), RTT));
    assert!(has(&actions, |a| *a == Action::GetChainStatus), "a node is asked");
    assert_eq!(scene.core.height(), 100);
    assert_eq!(scene.ack(C, 2), AckStatus::Accepted, "it is not too late");
    assert_eq!(scene.core.sessions.common_head(), Some(u64::MAX), "the only one that spoke");
    scene.feed(Event::Session(A, LinkEvent::Head(101), RTT));
    scene.feed(Event::Session(C, LinkEvent::Head(101), RTT));
    assert_eq!(scene.core.sessions.common_head(), Some(101));
}

#[test]
fn nodes_are_not_asked_as_often_as_validators_like() {
    let mut scene = Scene::new();
    scene.feed(Event::Tick);
    let mut pulses = 0;
    for height in 200..400 {
        let note = Event::Session(A, LinkEvent::Head(height), RTT);
        let actions = scene.core.handle(note, scene.now + 1);
        pulses += actions.iter().filter(|a| **a == Action::GetChainStatus).count();
        scene.core.handle(pulse(100, 5), scene.now + 1);
    }
    assert!(pulses <= 1, "{pulses}");
}

#[test]
fn places_are_for_jobs_that_the_chain_knows() {
    let mut scene = Scene::new();
    let full = AckStatus::Reject(RejectReason::Capacity);
    assert_eq!(scene.ack(A, 1), AckStatus::Accepted);
    assert_eq!(scene.ack(A, 2), AckStatus::Accepted);
    assert_eq!(scene.ack(A, 3), full, "its own are not checked yet");
    assert_eq!(scene.ack(B, 4), AckStatus::Accepted);
    assert_eq!(scene.ack(B, 5), AckStatus::Accepted);
    for n in [4, 5] {
        scene.read(n, 100, Some(drawn(SeatState::Waiting)));
    }
    assert_eq!(scene.ack(C, 6), full, "both places are taken");
    scene.feed(Event::WorkDone(id(4), 0, Ok((outcome(4), None))));
    assert_eq!(scene.ack(C, 7), AckStatus::Accepted, "a result waits without a place");
}

#[test]
fn more_jobs_than_places_wait_for_one() {
    let mut scene = Scene::new();
    let jobs = (1..=3).map(|n| seated(n, false)).collect();
    scene.feed(Event::AssignedJobs(AssignedJobs::Jobs(jobs)));
    let works = |actions: &[Action]| has(actions, |a| matches!(a, Action::StartWork(_)));
    assert!(works(&scene.read(1, 100, Some(drawn(SeatState::Waiting)))));
    assert!(works(&scene.read(2, 100, Some(drawn(SeatState::Waiting)))));
    assert!(!works(&scene.read(3, 100, Some(drawn(SeatState::Waiting)))));
    assert!(works(&scene.feed(Event::WorkDone(id(1), 0, Ok((outcome(1), None))))));
}

#[test]
fn work_stops_when_the_chain_agrees_that_it_is_over() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    let reason = CancelReason::Failed;
    let cancel = JobCancel { job_id: id(1), reason, validator_signed: [0; 64] };
    let stop = |a: &Action| *a == Action::StopWork(id(1));
    let heard = scene.feed(Event::Session(A, LinkEvent::Cancelled(cancel), RTT));
    assert!(!has(&heard, stop), "a validator's word is not enough");
    assert!(has(&heard, |a| matches!(a, Action::GetJob { .. })));
    assert!(!has(&scene.read(1, 101, Some(drawn(SeatState::Waiting))), stop));
    assert!(has(&scene.read(1, 102, Some(drawn(SeatState::TimedOut))), stop));
    assert_eq!(scene.ack(B, 1), AckStatus::Duplicate, "it is remembered");
}

#[test]
fn a_job_without_a_result_is_kept_in_mind_until_its_time_is_over() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    let forget = |a: &Action| matches!(a, Action::RemoveFromJournal(..));
    let failed = scene.feed(Event::WorkDone(id(1), 0, Err(miss("why", None))));
    assert!(!has(&failed, forget));
    assert_eq!(scene.core.status().jobs[0].failure.as_deref(), Some("why"));
    assert!(has(&scene.read(1, 136, Some(drawn(SeatState::TimedOut))), forget));
    assert_eq!(scene.core.status().finished[0].why.as_deref(), Some("why"));
}

#[test]
fn a_validator_that_says_wrong_epoch_makes_it_ask_again() {
    let mut scene = Scene::new();
    let ask = |a: &Action| *a == Action::GetValidators;
    assert!(!has(&scene.feed(Event::SessionClosed(A, "shutdown".to_owned())), ask));
    assert!(has(&scene.feed(Event::SessionClosed(B, "wrong_epoch".to_owned())), ask));
    assert!(
        !has(&scene.feed(Event::SessionClosed(C, "wrong_subset".to_owned())), ask),
        "not so soon"
    );
}

#[test]
fn polling_ends_where_it_is_over() {
    let mut scene = Scene::new();
    for validator in [A, B, C] {
        scene.feed(Event::SessionClosed(validator, "gone".to_owned()));
    }
    let poll = |a: &Action| *a == Action::GetAssignedJobs;
    assert!(has(&scene.feed(pulse(101, 5)), poll));
    assert!(has(&scene.feed(pulse(102, 5)), poll));
    scene.feed(Event::AssignedJobs(AssignedJobs::PollingOver));
    assert!(!has(&scene.feed(pulse(103, 5)), poll));
}

#[test]
fn a_node_that_stands_still_is_not_asked_first_any_more() {
    let mut scene = Scene::new();
    for validator in [A, B, C] {
        scene.feed(Event::Session(validator, LinkEvent::Head(110), RTT));
    }
    let actions: Vec<Action> = (0..3).flat_map(|_| scene.feed(pulse(101, 5))).collect();
    assert_eq!(actions.iter().filter(|action| **action == Action::RotateNodes).count(), 1);
}

#[test]
fn draining_waits_for_results_and_for_the_pause() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    scene.feed(Event::AssignedJobs(AssignedJobs::Jobs(vec![seated(1, false)])));
    scene.feed(Event::Drain);
    let draining = AckStatus::Reject(RejectReason::Draining);
    assert_eq!(scene.ack(B, 2), draining);
    // It is looked at all the same, and not bound.
    scene.read(2, 100, Some(drawn(SeatState::Waiting)));
    let active =
        || Event::Registration(Some(Box::new(runner_view(RunnerStatusName::Active, true, 1))));
    let paused =
        || Event::Registration(Some(Box::new(runner_view(RunnerStatusName::Paused, true, 1))));
    let sent = scene.feed(active());
    assert!(has(&sent, |a| matches!(a, Action::SubmitTx(..))), "the pause");
    let told = scene.feed(Event::Tick);
    let refuses = |a: &Action| matches!(a, Action::Load(_, signal) if !signal.accepting_new);
    assert!(has(&told, refuses) || has(&sent, refuses));
    scene.feed(pulse(101, 6));
    scene.feed(paused());
    assert!(!scene.core.drained(), "a job is open");
    scene.read(1, 102, Some(drawn(SeatState::TimedOut)));
    assert!(scene.core.drained());
}

#[test]
fn a_paused_runner_resumes_once() {
    let mut scene = Scene::new();
    let paused =
        || Event::Registration(Some(Box::new(runner_view(RunnerStatusName::Paused, true, 1))));
    let submits = |actions: &[Action]| has(actions, |a| matches!(a, Action::SubmitTx(..)));
    assert!(submits(&scene.feed(paused())));
    scene.feed(pulse(103, 6));
    assert!(!submits(&scene.feed(paused())), "later it is its operator's will");
}

#[test]
fn what_the_journal_holds_is_looked_up_at_the_start() {
    let stage = Stage::Done(outcome(1));
    let entry = Entry { job_id: id(1), attempt: 0, spec: spec(), stage };
    let mut scene = Scene::with(vec![entry]);
    assert!(scene.core.jobs[&id(1)].reading);
    let actions = scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    assert!(has(&actions, |a| matches!(a, Action::SubmitTx(..))), "the commit: {actions:?}");
}

#[test]
fn a_result_in_the_journal_outlives_nodes_that_know_less() {
    let stage = Stage::Done(outcome(1));
    let entry = Entry { job_id: id(1), attempt: 0, spec: spec(), stage };
    let mut scene = Scene::with(vec![entry]);
    let forgets = |actions: &[Action]| has(actions, |a| matches!(a, Action::RemoveFromJournal(..)));
    let undrawn = job(Status::Pending { view: 9 }, None, vec![]);
    for round in 0..20 {
        let known = if round % 2 == 0 { None } else { Some(undrawn.clone()) };
        assert!(!forgets(&scene.read(1, 90, known)), "a node that is behind, in round {round}");
        scene.feed(pulse(101 + round, 5));
    }
    let actions = scene.read(1, 121, Some(drawn(SeatState::Waiting)));
    assert!(has(&actions, |a| matches!(a, Action::SubmitTx(..))), "the commit: {actions:?}");
    let mut scene = Scene::with(vec![Entry {
        job_id: id(1),
        attempt: 0,
        spec: spec(),
        stage: Stage::Done(outcome(1)),
    }]);
    let over = job(Status::Cancelled, None, vec![]);
    for _ in 0..3 {
        scene.read(1, 130, Some(over.clone()));
    }
    assert!(!scene.core.jobs.contains_key(&id(1)), "what is over is given up");
}

#[test]
fn a_job_that_cannot_be_done_is_answered_and_the_operator_sees_why() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    let excused = Outcome { delivery: Excuse::Unreachable.into(), ..outcome(1) };
    let why = Some("connection refused".to_owned());
    let sent = scene.feed(Event::WorkDone(id(1), 0, Ok((excused, why))));
    assert_eq!(carried(&sent), [A], "it commits like to any other result");
    let failure = scene.core.status().jobs[0].failure.clone().unwrap();
    assert!(failure.contains("connection refused"), "{failure}");
    let over = job(Status::Failed { reason: Failure::NoAgreement }, None, vec![]);
    scene.read(1, 102, Some(over));
    let why = scene.core.status().finished[0].why.clone().unwrap();
    assert!(why.contains("connection refused"), "{why}");
}

#[test]
fn who_is_outvoted_sees_that_and_what_it_knew() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    let excused = Outcome { delivery: Excuse::Unreachable.into(), ..outcome(1) };
    let done = (excused, Some("not allowed by the operator".to_owned()));
    scene.feed(Event::WorkDone(id(1), 0, Ok(done)));
    scene.read(1, 102, Some(job(Status::Settled, None, vec![])));
    let earned = Payout { amount: 0, why: Some("scored 0".to_owned()), outvoted: true };
    scene.feed(Event::Payout(id(1), 0, earned));
    let status = scene.core.status();
    assert_eq!(status.totals.outvoted, Uint(1));
    let finished = &status.finished[0];
    assert_eq!(finished.end, "settled, outvoted");
    let why = finished.why.clone().unwrap();
    assert!(why.contains("scored 0") && why.contains("not allowed by the operator"), "{why}");
}
