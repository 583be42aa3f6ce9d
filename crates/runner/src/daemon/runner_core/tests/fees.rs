//! Money for what is ahead.

use super::*;
use crate::daemon::fee_budget::FeeBudget;
use crate::daemon::fee_budget::SMALL_BYTES;
use remuda_protocol::primitives::Amount;

/// What a committee's job of these tests may cost in all.
fn one_job() -> u128 {
    with_result(1_024)
}

/// The same, with a result of so many bytes.
fn with_result(bytes: usize) -> u128 {
    let fees = FeeBudget::new(Basefees { cycle: 1_000, cell: 1_000 });
    fees.job(&spec(), bytes, crate::daemon::fee_budget::PendingFees::All)
}

/// What an answer to it costs, if there is no money for more.
fn answer() -> u128 {
    with_result(SMALL_BYTES)
}

fn commit() -> u128 {
    let fees = FeeBudget::new(Basefees { cycle: 1_000, cell: 1_000 });
    let opening = fees.job(&spec(), 1_024, crate::daemon::fee_budget::PendingFees::Opening);
    one_job() - opening
}

fn usual() -> u128 {
    let fees = FeeBudget::new(Basefees { cycle: 1_000, cell: 1_000 });
    fees.usual() + fees.pause()
}

fn stands(status: RunnerStatusName) -> Event {
    Event::Registration(Some(Box::new(runner_view(status, true, 1))))
}

fn commits(actions: &[Action]) -> bool {
    let carried = |a: &Action| matches!(a, Action::ForwardTx(..) | Action::SubmitTx(..));
    actions.iter().any(carried)
}

#[test]
fn who_cannot_pay_takes_no_job_and_says_what_to_do() {
    let mut scene = Scene::new();
    scene.feed(pulse_with(101, 5, 7));
    assert_eq!(scene.ack(A, 1), AckStatus::Reject(RejectReason::Capacity));
    let problem = scene.core.status().problems.join("; ");
    let me = HexAddress(key().address()).to_string();
    for part in [me.as_str(), "0.000000007 CBY", "at least", "send it some"] {
        assert!(problem.contains(part), "{part}: {problem}");
    }
    let told = scene.feed(Event::Tick);
    let sheds = |a: &Action| matches!(a, Action::Load(_, signal) if !signal.accepting_new);
    assert!(has(&told, sheds), "validators are told: {told:?}");
    let recovered = scene.feed(pulse_with(102, 5, u128::MAX));
    let told = scene.feed(Event::Tick);
    let takes = |a: &Action| matches!(a, Action::Load(_, signal) if signal.accepting_new);
    assert!(has(&recovered, takes) || has(&told, takes), "and again once there is money");
    assert_eq!(scene.core.status().problems, [""; 0]);
    assert_eq!(scene.ack(A, 1), AckStatus::Accepted);
}

#[test]
fn open_jobs_are_paid_for_before_new_ones() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    scene.feed(pulse_with(101, 5, one_job() + answer() - 1));
    assert_eq!(scene.ack(A, 2), AckStatus::Reject(RejectReason::Capacity));
    scene.feed(pulse_with(102, 5, one_job() + answer()));
    assert_eq!(scene.ack(A, 2), AckStatus::Accepted);
}

/// How large the result of a job may be whose work begins now.
fn most(actions: &[Action]) -> Option<usize> {
    let task = |a: &Action| match a {
        Action::StartWork(task) => Some(task.limit.bytes),
        _ => None,
    };
    actions.iter().find_map(task)
}

#[test]
fn a_result_may_be_as_large_as_there_is_money_for_beside_an_answer_for_each_free_place() {
    let mut scene = Scene::new();
    scene.feed(pulse_with(101, 5, with_result(800) + answer()));
    assert_eq!(scene.ack(A, 1), AckStatus::Accepted);
    assert_eq!(most(&scene.read(1, 101, Some(drawn(SeatState::Waiting)))), Some(800));
    assert_eq!(scene.ack(A, 2), AckStatus::Accepted, "it is not too poor for an answer");
    assert_eq!(most(&scene.read(2, 101, Some(drawn(SeatState::Waiting)))), Some(SMALL_BYTES));
    let mut rich = Scene::new();
    rich.assign(A, 1);
    assert_eq!(most(&rich.read(1, 101, Some(drawn(SeatState::Waiting)))), Some(1_024));
}

#[test]
fn who_keeps_the_usual_money_refuses_no_job_for_want_of_it() {
    use remuda_protocol::verifier::check::VerifierCheck;
    let mut dear = spec();
    let fields = (0..37).map(|n| format!("f{n}")).collect();
    dear.verification.checks = vec![VerifierCheck::StructuredMatch { fields }];
    dear.result_schema.max_return_bytes = 65_536;
    let mut scene = Scene::new();
    scene.feed(pulse_with(101, 5, usual()));
    assert!(scene.core.funds().unwrap().cover_new(&dear));
    assert_eq!(scene.core.status().problems, [""; 0], "and is told that it has enough");
}

#[test]
fn work_does_not_begin_without_money_for_its_end() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.feed(pulse_with(101, 5, answer() - 1));
    let works = |a: &Action| matches!(a, Action::StartWork(_));
    assert!(!has(&scene.read(1, 101, Some(drawn(SeatState::Waiting))), works));
    assert_eq!(scene.core.status().jobs[0].doing, "waiting for money for fees");
    scene.feed(pulse_with(102, 5, answer()));
    assert!(has(&scene.read(1, 102, Some(drawn(SeatState::Waiting))), works));
}

#[test]
fn nobody_commits_to_what_it_could_not_open() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    // The owner spends the money during the work; a commit could still be paid.
    scene.feed(pulse_with(101, 5, commit() + 1));
    assert!(!commits(&scene.feed(Event::WorkDone(id(1), 0, Ok((outcome(1), None))))));
    assert_eq!(scene.core.jobs[&id(1)].activity, "waiting for money for fees");
    scene.feed(pulse_with(102, 5, one_job()));
    let sent = scene.read(1, 102, Some(drawn(SeatState::Waiting)));
    assert!(commits(&sent), "the money is back: {sent:?}");
}

#[test]
fn too_little_for_one_more_job_is_told_before_one_comes() {
    let mut scene = Scene::new();
    scene.feed(pulse_with(101, 5, usual()));
    assert_eq!(scene.core.status().problems, [""; 0]);
    scene.feed(pulse_with(102, 5, usual() - 1));
    assert!(scene.core.status().problems.len() == 1);
}

#[test]
fn who_runs_out_of_money_pauses_and_comes_back_by_itself() {
    let mut scene = Scene::new();
    let sends = |scene: &Scene, purpose| scene.core.outbox.has(&purpose);
    scene.feed(stands(RunnerStatusName::Active));
    assert!(!sends(&scene, Purpose::Pause));
    let asked = scene.feed(pulse_with(101, 5, usual() - 1));
    assert!(asked.contains(&Action::GetRegistration), "at once");
    scene.feed(stands(RunnerStatusName::Active));
    assert!(sends(&scene, Purpose::Pause), "as long as it can pay for that");
    // It is in a block.
    scene.feed(pulse_with(102, 6, usual() - 1));
    scene.feed(stands(RunnerStatusName::Paused));
    let problems = scene.core.status().problems;
    let told = problems.iter().any(|why| why.contains("runner resume"));
    assert!(!told, "nobody has to resume it: {problems:?}");
    scene.feed(pulse_with(103, 6, usual() + 1));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(!sends(&scene, Purpose::Resume), "not enough to come back");
    let problems = scene.core.status().problems.join("; ");
    assert!(problems.contains("at least"), "and its operator is told how much is: {problems}");
    scene.feed(pulse_with(104, 6, 2 * usual()));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(!sends(&scene, Purpose::Resume), "nor with every block");
    scene.feed(pulse_with(130, 6, 2 * usual()));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(sends(&scene, Purpose::Resume));
    // Another transaction took its nonce.
    scene.feed(pulse_with(140, 7, 2 * usual()));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(!sends(&scene, Purpose::Resume), "the node may be behind");
    scene.feed(Event::TxStatus(Purpose::Resume, TransactionStatus::Unknown {}));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(sends(&scene, Purpose::Resume));
    // That one is lost as well, and so is what became of it.
    scene.feed(pulse_with(150, 8, 2 * usual()));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(!sends(&scene, Purpose::Resume));
    scene.feed(pulse_with(161, 8, 2 * usual()));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(sends(&scene, Purpose::Resume), "until the chain says that it is back");
    scene.feed(pulse_with(170, 9, 2 * usual()));
    scene.feed(stands(RunnerStatusName::Active));
    scene.feed(pulse_with(200, 9, 2 * usual()));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(!sends(&scene, Purpose::Resume), "this pause was somebody's own");
}

#[test]
fn a_pause_does_not_take_what_open_jobs_need() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.feed(pulse_with(101, 5, one_job()));
    scene.read(1, 101, Some(drawn(SeatState::Waiting)));
    scene.feed(stands(RunnerStatusName::Active));
    assert!(!scene.core.outbox.has(&Purpose::Pause));
}

#[test]
fn a_pause_that_the_operator_made_is_left_alone() {
    let mut scene = Scene::new();
    scene.feed(stands(RunnerStatusName::Active));
    scene.feed(stands(RunnerStatusName::Paused));
    assert!(!scene.core.outbox.has(&Purpose::Resume));
}

fn journal() -> Vec<Entry> {
    let entry = |n| {
        let stage = Stage::Done(outcome(n));
        Entry { job_id: id(n), attempt: 0, spec: spec(), stage }
    };
    [1, 2].map(entry).to_vec()
}

fn committed(n: u8) -> SeatState {
    let (me, Outcome { delivery, salt, result_sig }) = (key().address(), outcome(n));
    let commitment = delivery.commitment(7, id(n), 0, me, &salt, &result_sig.bytes);
    SeatState::Committed { commitment, at: remuda_protocol::primitives::Height(100) }
}

/// An aggregator of job 1 that is bound by job 2.
fn aggregator(balance: u128) -> Scene {
    let mut scene = Scene::with(journal());
    scene.feed(pulse_with(101, 5, balance));
    scene.read(2, 101, Some(drawn(committed(2))));
    let me = key().address();
    let gathering = job(Status::Committed, Some(me), vec![seat(me, committed(1))]);
    scene.read(1, 101, Some(gathering));
    scene
}

#[test]
fn an_aggregator_does_not_spend_what_its_other_reveals_need() {
    let fees = FeeBudget::new(Basefees { cycle: 1_000, cell: 1_000 });
    let opening = fees.job(&spec(), 2, crate::daemon::fee_budget::PendingFees::Opening);
    let sent = |scene: &Scene, tx_kind| scene.core.outbox.has(&Purpose::Job(id(1), 0, tx_kind));
    let poor = aggregator(opening + 1);
    assert!(sent(&poor, TxKind::Reveal) && !sent(&poor, TxKind::RevealAll));
    let rich = aggregator(2 * opening);
    assert!(sent(&rich, TxKind::RevealAll) && !sent(&rich, TxKind::Reveal));
}

#[test]
fn an_aggregator_opens_what_its_bonus_pays_for_and_leaves_the_rest() {
    let other = Address::repeat_byte(7);
    let opens = |bytes: usize, price: u128| {
        let mut scene = Scene::with(journal());
        let me = key().address();
        let seats = vec![seat(me, committed(1)), seat(other, committed(2))];
        let gathering = job(Status::Committed, Some(me), seats);
        scene.read(1, 101, Some(gathering.clone()));
        let open = scene.core.jobs.get_mut(&id(1)).unwrap();
        open.spec.as_mut().unwrap().max_price = Amount(price);
        let mut reveal = open.reveal(&scene.core.identity).unwrap();
        (reveal.runner, reveal.result) = (other, vec![b'1'; bytes].into());
        open.collected.insert(other, reveal);
        scene.read(1, 102, Some(gathering));
        let sent = |tx_kind| scene.core.outbox.has(&Purpose::Job(id(1), 0, tx_kind));
        (sent(TxKind::RevealAll), sent(TxKind::Reveal))
    };
    assert_eq!(opens(100, 1), (true, false), "small ones at any price");
    assert_eq!(opens(60_000, 1), (false, true), "it opens its own, and they open theirs");
    assert_eq!(opens(60_000, 1_000_000_000_000), (true, false), "if it is paid for that");
}

#[test]
fn what_was_done_about_a_job_is_forgotten_with_it() {
    let mut scene = Scene::new();
    scene.assign(A, 1);
    scene.read(1, 100, Some(drawn(SeatState::Waiting)));
    scene.feed(Event::WorkDone(id(1), 0, Ok((outcome(1), None))));
    scene.read(1, 101, Some(job(Status::Cancelled, None, vec![])));
    assert!(scene.core.jobs.is_empty());
    scene.feed(pulse(102, 6));
    assert_eq!(scene.core.outbox.remembered(), 0, "its commit was on its way");
}

#[test]
fn a_result_is_handed_over_once_at_a_time_and_not_always_by_the_same_way() {
    let mut scene = Scene::with(journal());
    let other = Address::repeat_byte(7);
    let seats = vec![seat(key().address(), committed(1)), seat(other, committed(2))];
    let gathering = job(Status::Committed, Some(other), seats);
    let mut turns = |height| {
        let actions = scene.read(1, height, Some(gathering.clone()));
        let turn = |a: &Action| match a {
            Action::HandOver { turn, .. } => Some(*turn),
            _ => None,
        };
        let turns: Vec<usize> = actions.iter().filter_map(turn).collect();
        if height == 110 {
            scene.feed(Event::HandedOver(id(1), Err("why".to_owned())));
        }
        turns
    };
    assert_eq!(turns(101), [0]);
    assert!(turns(110).is_empty(), "the first one goes on");
    assert_eq!(turns(111), [1]);
}

#[test]
fn a_result_on_its_way_is_paid_for_before_the_next_one() {
    use remuda_protocol::dispatcher::committee::VerificationMode;
    let mut scene = Scene::with(journal());
    scene.feed(pulse_with(101, 5, 0));
    for n in [1, 2] {
        scene.read(n, 101, Some(drawn(SeatState::Waiting)));
        let spec = scene.core.jobs.get_mut(&id(n)).unwrap().spec.as_mut().unwrap();
        spec.verification.mode = VerificationMode::EconomicBond;
    }
    let spec = scene.core.jobs[&id(1)].spec.clone().unwrap();
    let fees = FeeBudget::new(Basefees { cycle: 1_000, cell: 1_000 });
    let submit = fees.job(&spec, 2, crate::daemon::fee_budget::PendingFees::All);
    let mut sent = |height, balance, n| {
        scene.feed(pulse_with(height, 5, balance));
        scene.read(n, height, Some(drawn(SeatState::Waiting)));
        scene.core.outbox.has(&Purpose::Job(id(n), 0, TxKind::Submit))
    };
    assert!(sent(102, 2 * submit - 1, 1));
    assert!(!sent(103, 2 * submit - 1, 2));
    assert!(sent(104, 2 * submit, 2));
}
