//! Which jobs may name which handlers.

use crate::chain::common::{ANSWER, World, single_job, vote_job};
use crate::chain::setup::{addr, int, list, said, text, world};
use remuda_protocol::actors::actor_address;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{Callback, JobSpec};
use remuda_protocol::dispatcher::submit::job_id;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::{Event, Receipt};
use remuda_protocol::key::OpenHandlersKey;
use remuda_protocol::primitives::{Address, Amount, B256, JobId};
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;
use remuda_vm::HostValue;

/// Trusts a result because the Result Verifier brings it. Strangers may call `on_offer` alone.
const FEED: &str = "\
import cowboy
from cowboy import callback, storage

VERIFIER = bytes(19) + b'\\x03'

def on_price(message):
    assert cowboy.caller() == VERIFIER
    storage['price'] = message['result']
    cowboy.emit('price', [message['result'], message['submitter']])

@callback
def on_own(message):
    storage['price'] = message['result']

@cowboy.callback(anyone=True)
def on_offer(message):
    assert cowboy.caller() == VERIFIER
    assert cowboy.origin() == message['submitter']
    cowboy.emit('offer', [message['job_id'], message['submitter'], message['result']])

@callback(anyone=False)
def on_secret(message):
    storage['price'] = message['result']

def price():
    return storage['price']
";

/// A job for one runner, which may be the submitter's friend: its result is the submitter's own making.
fn job_for(actor: Address, handler: &str) -> JobSpec {
    let callback = Callback { actor, handler: handler.to_owned(), cycles_limit: 100_000 };
    JobSpec { callback: Some(callback), ..single_job(VerificationMode::None, Amount::cby(1)) }
}

/// The stranger submits a job.
fn submitted(world: &mut World, spec: JobSpec) -> (Receipt, JobId) {
    let key = world.stranger();
    let hash = world.chain.send(&key, Instruction::SubmitJob { spec });
    world.chain.step();
    let receipt = world.chain.receipt(hash).expect("it is in the block").clone();
    (receipt, job_id(world.chain.params.chain_id, hash, 0))
}

/// Its runner delivers; what happened until the callback has run.
fn delivered(world: &mut World, job: JobId) -> Vec<Event> {
    world.await_draw(job);
    let runner = world.awaited(job).remove(0);
    world.chain.send_result(&runner, job, ANSWER);
    (0..3).flat_map(|_| world.step()).collect()
}

fn failed(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::CallbackFailed { .. }))
}

#[test]
fn a_strangers_job_cannot_call_a_handler_that_is_not_open() {
    let mut world = world(1);
    let feed = world.deploy(FEED);
    for handler in ["on_price", "on_own", "on_secret", "price", "nothing", "init"] {
        let (receipt, job) = submitted(&mut world, job_for(feed, handler));
        if receipt.code == 0 {
            delivered(&mut world, job);
        }
        let price = world.asked(feed, "price", HostValue::None);
        assert_eq!(price, HostValue::None, "{handler}: a stranger has set the price");
        assert_eq!(receipt.code, Refusal::HandlerNotOpen.code(), "{handler}");
    }
}

#[test]
fn an_open_handler_is_called_and_told_whose_job_it_was() {
    let mut world = world(1);
    let feed = world.deploy(FEED);
    let (receipt, job) = submitted(&mut world, job_for(feed, "on_offer"));
    assert_eq!(receipt.code, 0);
    let events = delivered(&mut world, job);
    let stranger = addr(world.stranger().address());
    let told = list([HostValue::Bytes(job.to_vec()), stranger, HostValue::Bytes(ANSWER.to_vec())]);
    assert_eq!(said(&events), [("offer".to_owned(), told)]);
    assert_eq!(world.chain.account(world.stranger().address()).failed_callbacks, 0);
}

#[test]
fn an_actors_own_jobs_call_any_of_its_handlers() {
    let mut world = world(3);
    let code = format!(
        "{FEED}\ndef order(spec):\n    return cowboy.submit_job(spec, 'on_price')\n\n\
         def order_for(m):\n    try:\n        cowboy.submit_job(m)\n    except cowboy.Refused as error:\n        return str(error)\n"
    );
    let feed = world.deploy(&code);
    let spec = |callback: Option<Address>| {
        let mut fields = vec![
            (
                "job_type",
                pairs([(
                    "Http",
                    pairs([("method", text("GET")), ("url", text("https://example.org"))]),
                )]),
            ),
            ("verification", pairs([("mode", text("none"))])),
            (
                "result_schema",
                pairs([
                    ("max_return_bytes", int(1_024)),
                    ("expected_execution_ms", int(100)),
                    ("data_format", text("json")),
                ]),
            ),
            ("max_price", int(1_000_000_000)),
        ];
        fields.extend(callback.map(|actor| {
            (
                "callback",
                pairs([
                    ("actor", text(&actor.to_string())),
                    ("handler", text("on_price")),
                    ("cycles_limit", int(100_000)),
                ]),
            )
        }));
        HostValue::Dict(fields.into_iter().map(|(name, value)| (text(name), value)).collect())
    };
    let HostValue::Bytes(job) = world.asked(feed, "order", spec(None)) else { panic!() };
    let events = delivered(&mut world, B256::from_slice(&job));
    let told = list([HostValue::Bytes(ANSWER.to_vec()), addr(feed)]);
    assert_eq!(said(&events), [("price".to_owned(), told)]);

    // Another actor is a stranger like every other.
    let other = world.deploy("import cowboy\ndef on_price(m):\n    cowboy.emit('called', 1)\n");
    let refused = world.asked(feed, "order_for", spec(Some(other)));
    assert_eq!(refused, text(&Refusal::HandlerNotOpen.to_string()));
}

fn pairs<const N: usize>(entries: [(&str, HostValue); N]) -> HostValue {
    HostValue::Dict(entries.into_iter().map(|(name, value)| (text(name), value)).collect())
}

#[test]
fn a_handler_that_an_upgrade_closes_gets_no_result_that_is_on_its_way() {
    let mut world = world(1);
    let feed = world.deploy(FEED);
    let (receipt, job) = submitted(&mut world, job_for(feed, "on_offer"));
    assert_eq!(receipt.code, 0);
    let code = FEED.replace("anyone=True", "anyone=False");
    let upgrade = Instruction::UpgradeActor { actor: feed, code };
    assert_eq!(world.run(&world.customer(), upgrade).code, 0);
    assert_eq!(read(&world.chain.state, &OpenHandlersKey { actor: feed }), None);
    let events = delivered(&mut world, job);
    assert_eq!(said(&events), []);
    assert!(failed(&events), "{events:?}");
    assert_eq!(world.chain.account(world.stranger().address()).failed_callbacks, 1);
}

#[test]
fn code_that_opens_a_handler_by_upgrading_itself_is_known_to_have_opened_it() {
    let mut world = world(1);
    let feed = world.deploy("import cowboy\ndef change(code):\n    cowboy.upgrade(code)\n");
    let open = |world: &World| read(&world.chain.state, &OpenHandlersKey { actor: feed });
    assert_eq!(open(&world), None);
    world.asked(feed, "change", text(FEED));
    assert_eq!(open(&world), Some(vec!["on_offer".to_owned()]));
    assert_eq!(submitted(&mut world, job_for(feed, "on_offer")).0.code, 0);
}

#[test]
fn a_decorator_that_only_looks_like_the_mark_opens_nothing() {
    let mut world = world(1);
    let feed = world.deploy(
        "import cowboy\n\
         def callback(anyone):\n    return lambda method: method\n\
         @callback(anyone=True)\n\
         def on_price(m):\n    cowboy.emit('called', 1)\n",
    );
    let (_, job) = submitted(&mut world, job_for(feed, "on_price"));
    let events = delivered(&mut world, job);
    assert_eq!(said(&events), []);
    assert!(failed(&events), "{events:?}");
}

#[test]
fn a_class_opens_methods_of_its_own_under_other_decorators_too() {
    let mut world = world(1);
    let feed = world.deploy(
        "import cowboy, functools\n\
         def noted(method):\n    @functools.wraps(method)\n    def run(self, m):\n        cowboy.emit('noted', 1)\n        return method(self, m)\n    return run\n\
         @cowboy.actor\n\
         class Feed:\n\
        \x20   @noted\n\
        \x20   @cowboy.callback(anyone=True)\n\
        \x20   def on_price(self, m):\n        cowboy.emit('called', m['submitter'])\n\
        \x20   def on_own(self, m):\n        cowboy.emit('called', 0)\n",
    );
    let (receipt, _) = submitted(&mut world, job_for(feed, "on_own"));
    assert_eq!(receipt.code, Refusal::HandlerNotOpen.code());
    let (_, job) = submitted(&mut world, job_for(feed, "on_price"));
    let events = delivered(&mut world, job);
    let stranger = addr(world.stranger().address());
    assert_eq!(said(&events), [("noted".to_owned(), int(1)), ("called".to_owned(), stranger)]);
}

#[test]
fn the_list_of_open_handlers_has_a_bound() {
    let mut world = world(0);
    let handler = |n: usize| format!("@callback(anyone=True)\ndef h{n}(m): pass\n");
    let code = |n: usize| {
        let handlers: String = (0..n).map(handler).collect();
        format!("from cowboy import callback\n{handlers}")
    };
    let deploy = |world: &mut World, code: &str| world.deploy_with(code, &[], Amount::ZERO).code;
    assert_eq!(deploy(&mut world, &code(33)), Refusal::TooManyOpenHandlers.code());
    let long = format!(
        "from cowboy import callback\n@callback(anyone=True)\ndef {}(m): pass\n",
        "h".repeat(65)
    );
    assert_eq!(deploy(&mut world, &long), Refusal::TooManyOpenHandlers.code());
    assert_eq!(deploy(&mut world, &code(32)), 0);
    let actor = actor_address(world.customer().address(), B256::ZERO, &code(32));
    assert_eq!(
        read(&world.chain.state, &OpenHandlersKey { actor }).map(|open| open.len()),
        Some(32)
    );
}

#[test]
fn a_job_of_a_committee_is_held_to_the_same_rule() {
    let mut world = world(3);
    let feed = world.deploy(FEED);
    let callback = job_for(feed, "on_price").callback;
    let spec = JobSpec { callback, ..vote_job(3, Amount::cby(1)) };
    assert_eq!(submitted(&mut world, spec).0.code, Refusal::HandlerNotOpen.code());
}
