//! Timeouts of calls between actors, the prepayment for resuming, and the events at their end.

use crate::chain::common::World;
use crate::chain::setup::{addr, error, int, list, said, spec, text, world};
use remuda_protocol::dispatcher::job::{Failure, Status};
use remuda_protocol::event::Event;
use remuda_protocol::key::{AgendaLengthKey, WaitKey};
use remuda_protocol::primitives::{Address, Amount, JobId};
use remuda_protocol::state::read;
use remuda_vm::HostValue;

const ASKER: &str = concat!(
    "import cowboy\n\n",
    spec!(),
    "
async def ask(m):
    try:
        got = await cowboy.ask(m[0], m[1], m[2], timeout_blocks=m[3])
        cowboy.emit('answer', got)
    except cowboy.Timeout as error:
        cowboy.emit('late', [cowboy.height(), str(error)])

async def ask_and_sleep(m):
    asked = cowboy.host('ask', m[0], m[1], cowboy.encode(m[2]), None, 0, m[3])
    await cowboy.sleep(m[4])
    try:
        cowboy.emit('answer', cowboy.decode(await asked))
    except cowboy.Timeout as error:
        cowboy.emit('late', cowboy.height())

def order():
    cowboy.submit_job(SPEC, 'on_result')

def on_result(message):
    cowboy.emit('called', [message['status'], message['result'], message['error']])

async def returns_later(n):
    await cowboy.sleep(2)
    return [n, 'later']

async def spends(m):
    cowboy.resume_cycles(m[0])
    await cowboy.sleep(2)
    for i in range(m[1]):
        pass
    await cowboy.sleep(2)
    for i in range(m[1]):
        pass
    return 'spent'
"
);

const OTHER: &str = "\
import cowboy

def double(x):
    return 2 * x

async def slow(x):
    await cowboy.sleep(x)
    return 'slow'

async def never(x):
    await cowboy.sleep(100_000)
";

fn pair() -> (World, Address, Address) {
    let mut world = world(0);
    let (asker, other) = (world.deploy(ASKER), world.deploy(OTHER));
    (world, asker, other)
}

fn question(other: Address, method: &str, x: i64, blocks: HostValue) -> HostValue {
    list([addr(other), text(method), int(x), blocks])
}

#[test]
fn a_question_that_nobody_answers_ends_at_its_time() {
    let (mut world, asker, other) = pair();
    let before = world.chain.balance(asker);
    assert_eq!(world.call(asker, "ask", question(other, "never", 1, int(6))).code, 0);
    let asked_at = world.chain.height().get() as i64;
    let HostValue::List(late) = world.until_said("late") else { panic!() };
    // The block after the one in which its time has come.
    assert_eq!(late[0], int(asked_at + 7));
    assert_eq!(late[1], text("the actor that was asked gave no answer in time"));
    assert_eq!((world.actor(asker).suspended, world.actor(other).suspended), (0, 1));
    // Nothing is left to wait for, and only what ran is paid.
    for token in 1..=world.actor(asker).next_token {
        assert_eq!(read(&world.chain.state, &WaitKey { actor: asker, token }), None);
    }
    assert!(before.get() - world.chain.balance(asker).get() < Amount::cby(1).get());
}

#[test]
fn an_answer_after_the_timeout_is_discarded() {
    let (mut world, asker, other) = pair();
    assert_eq!(world.call(asker, "ask", question(other, "slow", 3, int(20))).code, 0);
    assert_eq!(world.until_said("answer"), text("slow"));
    world.chain.steps(25);
    assert_eq!(world.actor(asker).suspended, 0);
    assert_eq!(world.call(asker, "ask", question(other, "slow", 12, int(4))).code, 0);
    world.until_said("late");
    let events: Vec<Event> = (0..15).flat_map(|_| world.step()).collect();
    assert_eq!(said(&events), []);
    // An answer that is kept for later is not overtaken by the end of its time, nor the other way.
    let ask = |method: &str, x| list([addr(other), text(method), int(x), int(4), int(20)]);
    assert_eq!(world.call(asker, "ask_and_sleep", ask("double", 4)).code, 0);
    assert_eq!(world.until_said("answer"), int(8));
    assert_eq!(world.call(asker, "ask_and_sleep", ask("slow", 10)).code, 0);
    world.until_said("late");
    assert_eq!(world.actor(asker).suspended, 0);
}

#[test]
fn a_question_has_a_time_limit_also_if_it_names_none() {
    let (mut world, asker, other) = pair();
    let height = world.chain.height().plus(1 + remuda_protocol::actors::wait::ASK_BLOCKS_DEFAULT);
    let ask = question(other, "never", 1, HostValue::None);
    assert_eq!(world.call(asker, "ask", ask).code, 0);
    assert_eq!(read(&world.chain.state, &AgendaLengthKey { height }), Some(1));
    for blocks in [0, 1 << 40] {
        let receipt = world.call(asker, "ask", question(other, "never", 1, int(blocks)));
        assert_ne!(receipt.code, 0, "{blocks}");
        assert!(error(&receipt).contains("Refused") || error(&receipt).contains("LimitReached"));
    }
}

/// The job that an actor submitted.
fn job_of(events: &[Event]) -> JobId {
    let job = events.iter().find_map(|event| match event {
        Event::JobSubmitted { job, .. } => Some(*job),
        _ => None,
    });
    job.expect("a job was submitted")
}

#[test]
fn a_callback_hears_of_a_job_that_failed() {
    // Nobody delivers; and there is nobody.
    for (runners, reason, words) in [
        (15, Failure::NoRunners, "no runner delivered in time"),
        (0, Failure::InsufficientRunners, "there are too few runners for this job"),
    ] {
        let mut world = world(runners);
        let actor = world.deploy(ASKER);
        let before = world.chain.balance(actor);
        let receipt = world.call(actor, "order", HostValue::None);
        assert_eq!(receipt.code, 0, "{:?}", receipt.events);
        let job = job_of(&receipt.events);
        let called = world.until_said("called");
        assert_eq!(called, list([text("failed"), HostValue::None, text(words)]));
        assert_eq!(world.status(job), Status::Failed { reason });
        // The price came back; the callback alone was paid.
        assert!(before.get() - world.chain.balance(actor).get() < Amount::cby(1).get());
        assert_eq!(world.chain.account(actor).failed_callbacks, 0);
    }
}

#[test]
fn what_a_call_returns_after_it_waited_is_told() {
    let (mut world, asker, other) = pair();
    let returned = |events: &[Event]| -> Vec<(Address, String, HostValue)> {
        let told = events.iter().filter_map(|event| match event {
            Event::ActorReturned { actor, method, value } => Some((
                *actor,
                method.clone(),
                remuda_vm::cbor::decode(value).unwrap_or(HostValue::None),
            )),
            _ => None,
        });
        told.collect()
    };
    let receipt = world.call(asker, "returns_later", int(5));
    assert_eq!((receipt.code, returned(&receipt.events)), (0, Vec::new()));
    let events: Vec<Event> = (0..5).flat_map(|_| world.step()).collect();
    let value = list([int(5), text("later")]);
    assert_eq!(returned(&events), [(asker, "returns_later".to_owned(), value)]);
    // The callee returns its value to the caller without an event of its own.
    assert_eq!(world.call(asker, "ask", question(other, "slow", 2, int(20))).code, 0);
    let events: Vec<Event> = (0..10).flat_map(|_| world.step()).collect();
    assert!(returned(&events).iter().all(|(actor, _, _)| *actor == asker), "{events:?}");
}

#[test]
fn a_call_says_how_many_cycles_it_wants_for_going_on() {
    let mut world = world(0);
    let actor = world.deploy(ASKER);
    let spends = |cycles: i64, steps: i64| list([int(cycles), int(steps)]);
    let mut ends = |argument: HostValue| {
        assert_eq!(world.call(actor, "spends", argument).code, 0);
        let held = world.chain.balance(actor);
        let events: Vec<Event> = (0..10).flat_map(|_| world.step()).collect();
        let told = events.iter().find_map(|event| match event {
            Event::ActorReturned { .. } => Some(String::new()),
            Event::CallFailed { error, .. } => Some(error.clone()),
            _ => None,
        });
        (told.expect("it ended"), held)
    };
    // 100,000 turns are more than the default of 200,000 cycles pays, and less than a million.
    let (told, _) = ends(spends(200_000, 1_000_000));
    assert!(told.contains("cycles"), "{told}");
    let (told, much) = ends(spends(1_200_000, 1_000_000));
    assert_eq!(told, "");
    let (told, little) = ends(spends(50_000, 10));
    assert_eq!(told, "");
    // What is not wanted is not held back.
    assert!(little > much, "{little} {much}");
}
