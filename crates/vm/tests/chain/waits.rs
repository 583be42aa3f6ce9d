//! Calls that wait over blocks: for heights, jobs and other actors.

use crate::chain::common::{ANSWER, World, calm};
use crate::chain::setup::{addr, int, list, said, spec, text, world, world_of};
use remuda_protocol::dispatcher::job::Status;
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Address, Amount, JobId};
use remuda_protocol::state::MemoryState;
use remuda_vm::HostValue;

const WAITER: &str = concat!(
    "import cowboy\nfrom cowboy import storage\n\n",
    spec!(),
    "
async def sleep(height):
    start = cowboy.height()
    await cowboy.sleep_until(height)
    cowboy.emit('woke', [start, cowboy.height()])

async def work():
    job = cowboy.submit_job(SPEC)
    try:
        done = await cowboy.await_job(job)
        cowboy.emit('done', [done['status'], done['result'], done['job_id'] == job])
    except cowboy.Timeout as error:
        cowboy.emit('late', str(error))
    except cowboy.Failed as error:
        cowboy.emit('failed', str(error))

def order():
    cowboy.submit_job(SPEC, 'on_result')

def on_result(message):
    cowboy.emit('called', [message['status'], message['result'], cowboy.caller()])

async def ask(m):
    try:
        cowboy.emit('answer', await cowboy.ask(m[0], m[1], m[2]))
    except cowboy.HostError as error:
        cowboy.emit('no answer', [error.kind, str(error)])

async def ask_all(m):
    cowboy.emit('answers', await cowboy.gather(*[cowboy.ask(m[0], m[1], x) for x in m[2]]))

async def out_of_order(m):
    first = cowboy.host('ask', m[0], 'double', cowboy.encode(4), None, 0)
    await cowboy.sleep(6)
    cowboy.emit('kept', cowboy.decode(await first))

async def twice(m):
    token = cowboy.host('ask', m[0], 'double', cowboy.encode(4), None, 0)
    await token
    try:
        await token
    except cowboy.HostError as error:
        cowboy.emit('twice', error.kind)

async def heavy():
    data = bytes(100_000)
    try:
        await cowboy.sleep(2)
    except cowboy.LimitReached as error:
        cowboy.emit('heavy', str(error))
    return len(data)

async def heavy_again(n):
    data = [[i] for i in range(15_000)]
    token = cowboy.host('sleep_until', cowboy.height() + 5)
    before = cowboy.cycles_left()
    for _ in range(n):
        try:
            await token
        except cowboy.LimitReached:
            pass
    return before - cowboy.cycles_left()

async def forgets(m):
    cowboy.host('ask', m[0], 'double', cowboy.encode(4), None, 0)
    cowboy.host('sleep_until', cowboy.height() + 3)

async def fails_later():
    storage['before'] = 1
    await cowboy.sleep(2)
    storage['after'] = 1
    raise ValueError('later')

async def spins_later():
    await cowboy.sleep(2)
    while True:
        pass
"
);

const OTHER: &str = "\
import cowboy

def double(x):
    return 2 * x

def fail(x):
    raise KeyError(x)

async def slow(x):
    await cowboy.sleep(4)
    return [x, 'slow']

async def slow_fail(x):
    await cowboy.sleep(4)
    raise KeyError(x)
";

/// A node that restarts: everything that is not state is gone.
fn restart(world: &mut World) {
    let entries = world.chain.state.entries().clone();
    world.chain.state = MemoryState::new(entries, &world.chain.params);
}

fn pair(world: &mut World) -> (Address, Address) {
    (world.deploy(WAITER), world.deploy(OTHER))
}

#[test]
fn a_call_sleeps_and_goes_on_after_a_restart() {
    let mut world = world(0);
    let actor = world.deploy(WAITER);
    let height = world.chain.height().get() as i64;
    assert_eq!(world.call(actor, "sleep", int(height + 5)).code, 0);
    assert_eq!(world.actor(actor).suspended, 1);
    restart(&mut world);
    assert_eq!(world.until_said("woke"), list([int(height + 1), int(height + 6)]));
    assert_eq!(world.actor(actor).suspended, 0);
}

/// The job that an actor submitted last.
fn job_of(events: &[Event]) -> JobId {
    let job = events.iter().rev().find_map(|event| match event {
        Event::JobSubmitted { job, .. } => Some(*job),
        _ => None,
    });
    job.expect("a job was submitted")
}

/// Runners do a job honestly; what happened in the block after.
fn do_job(world: &mut World, job: JobId) -> Vec<Event> {
    world.await_draw(job);
    world.commit_all(job, ANSWER);
    world.reveal_all(job, ANSWER);
    assert_eq!(world.status(job), Status::Settled);
    world.step()
}

#[test]
fn a_call_waits_for_a_job_through_commit_and_reveal() {
    let mut world = world(5);
    let actor = world.deploy(WAITER);
    let receipt = world.call(actor, "work", HostValue::None);
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let job = job_of(&receipt.events);
    assert_eq!(world.job(job).submitter, actor);
    restart(&mut world);
    let events = do_job(&mut world, job);
    let result = HostValue::Bytes(ANSWER.to_vec());
    let done = list([text("settled"), result, HostValue::Bool(true)]);
    assert_eq!(said(&events), [("done".to_owned(), done)]);
}

#[test]
fn a_callback_gets_the_result() {
    let mut world = world(5);
    let actor = world.deploy(WAITER);
    let receipt = world.call(actor, "order", HostValue::None);
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let events = do_job(&mut world, job_of(&receipt.events));
    let verifier = addr(remuda_protocol::system::RESULT_VERIFIER);
    let called = list([text("settled"), HostValue::Bytes(ANSWER.to_vec()), verifier]);
    assert_eq!(said(&events), [("called".to_owned(), called)]);
}

#[test]
fn a_job_that_nobody_does_or_can_do_is_an_exception_at_its_await() {
    let mut world = world(15);
    let actor = world.deploy(WAITER);
    assert_eq!(world.call(actor, "work", HostValue::None).code, 0);
    let late = world.until_said("late");
    assert_eq!(late, text("no runner delivered in time"));
    let mut world = self::world(0);
    let actor = world.deploy(WAITER);
    assert_eq!(world.call(actor, "work", HostValue::None).code, 0);
    let failed = world.until_said("failed");
    assert_eq!(failed, text("there are too few runners for this job"));
}

#[test]
fn an_actor_asks_another_and_hears_its_answer_or_its_failure() {
    let mut world = world(0);
    let (actor, other) = pair(&mut world);
    let ask = |method: &str, x: i64| list([addr(other), text(method), int(x)]);
    assert_eq!(world.call(actor, "ask", ask("double", 21)).code, 0);
    assert_eq!(world.until_said("answer"), int(42));
    assert_eq!(world.call(actor, "ask", ask("slow", 3)).code, 0);
    assert_eq!(world.until_said("answer"), list([int(3), text("slow")]));
    for method in ["fail", "slow_fail"] {
        assert_eq!(world.call(actor, "ask", ask(method, 7)).code, 0);
        let HostValue::List(told) = world.until_said("no answer") else { panic!() };
        assert_eq!(told[0], text("failed"));
        let HostValue::Str(message) = &told[1] else { panic!() };
        assert!(message.starts_with("KeyError: 7"), "{message}");
    }
    let nobody = list([addr(Address::repeat_byte(5)), text("m"), int(1)]);
    assert_eq!(world.call(actor, "ask", nobody).code, 0);
    let HostValue::List(told) = world.until_said("no answer") else { panic!() };
    assert_eq!(told[0], text("not_found"));
}

#[test]
fn gathered_questions_are_answered_in_their_order() {
    let mut world = world(0);
    let (actor, other) = pair(&mut world);
    let all = list([addr(other), text("double"), list([int(1), int(2), int(3)])]);
    assert_eq!(world.call(actor, "ask_all", all).code, 0);
    assert_eq!(world.until_said("answers"), list([int(2), int(4), int(6)]));
    assert_eq!(world.actor(actor).suspended, 0);
}

#[test]
fn an_answer_that_comes_before_it_is_waited_for_is_kept() {
    let mut world = world(0);
    let (actor, other) = pair(&mut world);
    assert_eq!(world.call(actor, "out_of_order", list([addr(other)])).code, 0);
    restart(&mut world);
    assert_eq!(world.until_said("kept"), int(8));
}

#[test]
fn what_was_answered_cannot_be_waited_for_again() {
    let mut world = world(0);
    let (actor, other) = pair(&mut world);
    assert_eq!(world.call(actor, "twice", list([addr(other)])).code, 0);
    assert_eq!(world.until_said("twice"), text("refused"));
}

#[test]
fn a_call_that_holds_too_much_is_told_at_its_await() {
    let mut world = world(0);
    let actor = world.deploy(WAITER);
    let receipt = world.call(actor, "heavy", HostValue::None);
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let said = said(&receipt.events);
    assert_eq!(said[0].0, "heavy");
    assert_eq!(world.actor(actor).suspended, 0);
}

/// Sixty-four KiB are written in vain each time, at four of the machine's cycles a byte.
#[test]
fn every_await_that_holds_too_much_is_paid_for() {
    let mut world = world(0);
    let actor = world.deploy(WAITER);
    let HostValue::Int(cycles) = world.asked(actor, "heavy_again", int(5)) else { panic!() };
    assert!(cycles > 5 * 26_000, "{cycles}");
}

#[test]
fn as_many_calls_wait_as_may_and_the_next_is_refused() {
    let mut params = calm();
    params.actor_waiting_max = 3;
    let mut world = world_of(params, 0);
    let actor = world.deploy(WAITER);
    let height = world.chain.height().get() as i64 + 50;
    for _ in 0..3 {
        assert_eq!(world.call(actor, "sleep", int(height)).code, 0);
    }
    let before = world.chain.balance(actor);
    let receipt = world.call(actor, "sleep", int(height));
    assert!(crate::chain::setup::error(&receipt).contains("as many calls"), "{:?}", receipt.events);
    assert_eq!(world.chain.balance(actor), before);
    assert_eq!(world.actor(actor).suspended, 3);
}

#[test]
fn what_was_asked_for_in_vain_is_given_back() {
    let mut world = world(0);
    let (actor, other) = pair(&mut world);
    let before = world.chain.balance(actor);
    assert_eq!(world.call(actor, "forgets", list([addr(other)])).code, 0);
    // Only the message that was sent is still paid for.
    world.chain.steps(8);
    let spent = before.get() - world.chain.balance(actor).get();
    assert!(spent > 0 && spent < Amount::cby(1).get(), "{spent}");
    assert_eq!(world.actor(actor).suspended, 0);
}

#[test]
fn a_failure_after_a_wait_takes_back_that_part_alone() {
    let mut world = world(0);
    let actor = world.deploy(WAITER);
    assert_eq!(world.call(actor, "fails_later", HostValue::None).code, 0);
    let events: Vec<Event> = (0..6).flat_map(|_| world.step()).collect();
    let told = events.iter().find_map(|event| match event {
        Event::CallFailed { error, .. } => Some(error.clone()),
        _ => None,
    });
    assert!(told.unwrap().starts_with("ValueError: later"));
    assert!(world.stored(actor, b"before").is_some());
    assert_eq!(world.stored(actor, b"after"), None);
    assert_eq!(world.actor(actor).suspended, 0);
    assert_eq!(world.call(actor, "spins_later", HostValue::None).code, 0);
    world.chain.steps(6);
    assert_eq!(world.actor(actor).suspended, 0);
}

#[test]
fn an_actor_without_money_is_told_that_it_cannot_wait() {
    let mut world = world(0);
    let code = "import cowboy\nasync def nap():\n    try:\n        await cowboy.sleep(2)\n    except cowboy.InsufficientFunds as error:\n        return error.kind\n";
    let receipt = world.deploy_with(code, &[], Amount::ZERO);
    assert_eq!(receipt.code, 0);
    let me = world.customer().address();
    let actor =
        remuda_protocol::actors::actor_address(me, remuda_protocol::primitives::B256::ZERO, code);
    assert_eq!(world.asked(actor, "nap", HostValue::None), text("funds"));
}
