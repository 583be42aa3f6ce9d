//! Deposits for code and storage: the payer, the limit, the refund.

use crate::chain::common::{World, calm};
use crate::chain::setup::{addr, int, list, text, world, world_of};
use remuda_protocol::actors::actor_address;
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::deposit::{RECORD_BYTES, price, state_bytes};
use remuda_protocol::error::Refusal;
use remuda_protocol::event::{Event, Receipt};
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::supply::Holdings;
use remuda_protocol::transaction::Instruction;
use remuda_vm::{HostValue, cbor};

const SHELF: &str = "\
import cowboy

def fill(m):
    for i in range(m[0]):
        cowboy.storage_set('k' + str(i), bytes(m[1]))

def clear(n):
    for i in range(n):
        cowboy.storage_delete('k' + str(i))

def move(size):
    cowboy.storage_delete('a')
    cowboy.storage_set('b', bytes(size))

def put(m):
    cowboy.storage_set(m[0], bytes(m[1]))

def tell(m):
    cowboy.send(m[0], 'put', ['told', m[1]])

def later(size):
    cowboy.schedule_timer(cowboy.height() + 2, cowboy.encode(size), max_cells=65_000)

def on_timer(message):
    cowboy.storage_set('timed', bytes(cowboy.decode(message['payload'])))

def fail_after(size):
    cowboy.storage_set('x', bytes(size))
    raise ValueError('no')

def try_other(m):
    try:
        cowboy.call(m[0], 'fail_after', m[1])
    except cowboy.HostError:
        pass
";

/// What the actor pays for when its records grow by so many bytes.
fn growth(world: &World, actor: Address, bytes: u64) -> Amount {
    let (params, now) = (&world.chain.params, world.actor(actor).held.bytes);
    Amount(price(params, now + bytes).get() - price(params, now).get())
}

fn held(world: &World) -> Amount {
    Holdings::count(&world.chain.state).deposits
}

/// What an entry of this key and so many bytes counts.
fn entry(key: &str, bytes: usize) -> u64 {
    (3 * key.len() + bytes + 64) as u64
}

fn call(actor: Address, method: &str, argument: &HostValue) -> Instruction {
    let payload = Bytes(cbor::encode(argument).unwrap());
    Instruction::CallActor { actor, method: method.to_owned(), payload, value: Amount::ZERO }
}

/// A transaction of the customer's that pays this deposit at most.
fn run_within(world: &mut World, instruction: Instruction, most: Amount) -> Receipt {
    let key = world.customer();
    let mut body = world.chain.transaction(key.address(), instruction);
    body.max_deposit = most;
    let hash = world.chain.queue(body.sign(&key).to_bytes());
    world.chain.step();
    world.chain.receipt(hash).expect("it is in a block").clone()
}

fn taken(receipt: &Receipt) -> Vec<(Address, Address, Amount)> {
    let taken = receipt.events.iter().filter_map(|event| match event {
        Event::DepositTaken { payer, owner, amount } => Some((*payer, *owner, *amount)),
        _ => None,
    });
    taken.collect()
}

/// How the queued calls and timers of a block ended.
fn codes(events: &[Event]) -> Vec<u16> {
    let codes = events.iter().filter_map(|event| match event {
        Event::CallRan { code, .. } | Event::TimerFired { code, .. } => Some(*code),
        _ => None,
    });
    codes.collect()
}

/// The attack: everybody's disk, for ever, at the floor price of a cell. A mebibyte here; the price of a
/// gibibyte is in docs/state.md.
#[test]
fn filling_storage_at_the_floor_price_takes_a_deposit_and_freeing_it_brings_it_back() {
    let mut params = calm();
    params.initial_basefee = params.min_basefee;
    let mut world = world_of(params, 0);
    let actor = world.deploy_without_money(SHELF);
    let code = held(&world);
    let customer = world.customer();
    let before = world.balance(&customer);
    let keys: Vec<String> = (0..16).map(|i| format!("k{i}")).collect();
    let bytes = keys.iter().map(|key| entry(key, 65_000)).sum();
    let (expected, mut fees) = (growth(&world, actor, bytes), 0);
    for key in &keys {
        let receipt = world.call(actor, "put", list([text(key), int(65_000)]));
        assert_eq!(receipt.code, 0, "{:?}", receipt.events);
        fees += receipt.fee.get();
    }
    let deposit = held(&world).get() - code.get();
    assert_eq!(deposit, expected.get());
    assert_eq!(world.balance(&customer).get(), before.get() - fees - deposit);
    println!(
        "a mebibyte: {} CBY of fees, {} CBY held",
        fees / 10u128.pow(9),
        deposit / 10u128.pow(9)
    );
    assert!(deposit > 20 * fees);
    // It comes back, to the owner of the record: the actor.
    let receipt = world.call(actor, "clear", int(16));
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    assert_eq!(held(&world), code);
    assert_eq!(world.chain.balance(actor).get(), deposit);
}

#[test]
fn code_is_held_and_shorter_code_gives_the_difference_back_to_the_actor() {
    let mut world = world(0);
    let code = format!("{SHELF}# {}\n", "long".repeat(2_000));
    let deploy = |code: &str| {
        let (code, salt) = (code.to_owned(), B256::ZERO);
        Instruction::DeployActor { salt, code, payload: Bytes::default(), value: Amount::ZERO }
    };
    let needed = price(&world.chain.params, RECORD_BYTES + code.len() as u64);
    let receipt = run_within(&mut world, deploy(&code), Amount(needed.get() - 1));
    assert_eq!(receipt.code, Refusal::DepositAboveLimit.code());
    assert_eq!(held(&world), Amount::ZERO);
    let receipt = run_within(&mut world, deploy(&code), needed);
    let who = world.customer().address();
    let actor = actor_address(who, B256::ZERO, &code);
    assert_eq!(taken(&receipt), [(who, actor, needed)]);
    let usual = price(&world.chain.params, state_bytes(&deploy(&code)));
    assert!(usual >= needed);

    let short = SHELF.to_owned();
    let upgrade = Instruction::UpgradeActor { actor, code: short };
    let receipt = run_within(&mut world, upgrade, Amount::ZERO);
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let left = price(&world.chain.params, RECORD_BYTES + SHELF.len() as u64).get();
    let back = world.chain.balance(actor).get();
    assert_eq!(held(&world).get() + back, needed.get());
    assert_eq!(held(&world).get(), left);
}

#[test]
fn rewriting_in_one_call_costs_the_caller_nothing_and_frees_nothing() {
    let mut world = world(0);
    let actor = world.deploy(SHELF);
    world.call(actor, "put", list([text("a"), int(10_000)]));
    let (money, deposit) = (world.chain.balance(actor), held(&world));
    let receipt = run_within(&mut world, call(actor, "move", &int(10_000)), Amount::ZERO);
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    assert!(taken(&receipt).is_empty());
    assert_eq!((world.chain.balance(actor), held(&world)), (money, deposit));
}

/// Code that a transaction calls can keep what it makes the caller pay, but not more than was signed.
#[test]
fn code_takes_no_more_than_the_callers_max_deposit() {
    let mut world = world(0);
    let actor = world.deploy(SHELF);
    let deposit = held(&world);
    let needed = growth(&world, actor, entry("k0", 9_000));
    let fill = call(actor, "fill", &list([int(1), int(9_000)]));
    for most in [Amount::ZERO, Amount(needed.get() - 1)] {
        let receipt = run_within(&mut world, fill.clone(), most);
        assert_eq!(receipt.code, Refusal::DepositAboveLimit.code());
        assert_eq!(held(&world), deposit);
        assert_eq!(world.stored(actor, b"k0"), None);
    }
    let receipt = run_within(&mut world, fill, needed);
    assert_eq!(taken(&receipt), [(world.customer().address(), actor, needed)]);
}

#[test]
fn what_a_failed_call_wrote_is_not_paid_for() {
    let mut world = world(0);
    let actor = world.deploy(SHELF);
    let other_code = format!("{SHELF}\n# other\n");
    let other = world.deploy(&other_code);
    let deposit = held(&world);
    let attempt = call(actor, "try_other", &list([addr(other), int(5_000)]));
    let receipt = run_within(&mut world, attempt, Amount::ZERO);
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    assert_eq!(held(&world), deposit);
}

/// A message's sender prepays its cycles; what the called code stores for itself comes out of what is
/// left of that, and not out of the sender's balance.
#[test]
fn a_message_pays_for_what_it_leaves_out_of_its_prepayment_and_no_more() {
    let mut world = world(0);
    let teller = world.deploy(SHELF);
    let listener_code = format!("{SHELF}\n# other\n");
    let listener = world.deploy(&listener_code);
    let deposit = held(&world);
    let tell = |size| list([addr(listener), int(size)]);
    let needed = growth(&world, listener, entry("told", 1_000));
    let receipt = world.call(teller, "tell", tell(1_000));
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let before = (world.chain.balance(teller), world.chain.balance(listener));
    let events = world.step();
    assert_eq!(codes(&events), [0]);
    let paid = Amount(held(&world).get() - deposit.get());
    assert_eq!(paid, needed);
    let owner = listener;
    assert!(events.contains(&Event::DepositTaken { payer: teller, owner, amount: paid }));
    assert!(world.chain.balance(teller) > before.0, "the rest of the prepayment came back");
    assert_eq!(world.chain.balance(listener), before.1);

    // Sixty kilobytes are more than what is left of 200,000 cycles; the sender is rich, and keeps it.
    let receipt = world.call(teller, "tell", tell(60_000));
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let (before, deposit) = (world.chain.balance(teller), held(&world));
    let events = world.step();
    assert_eq!(codes(&events), [Refusal::DepositAboveLimit.code()]);
    assert_eq!(held(&world), deposit);
    assert!(world.chain.balance(teller) >= before);
    assert_eq!(world.stored(listener, b"told").map(|value| value.len()), Some(1_000));
}

/// The receiver of a message may call the sender and make its code store something. That deposit must not
/// come out of the sender's balance.
#[test]
fn a_message_cannot_make_its_sender_pay_for_more_than_it_prepaid() {
    let mut world = world(0);
    let sender = world.deploy(SHELF);
    let code = "\
import cowboy

def put(m):
    cowboy.call(cowboy.caller(), 'put', ['forced', m[1]])
";
    let receiver = world.deploy(code);
    let receipt = world.call(sender, "tell", list([addr(receiver), int(60_000)]));
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let (before, deposit) = (world.chain.balance(sender), held(&world));
    let events = world.step();
    assert_eq!(codes(&events), [Refusal::DepositAboveLimit.code()], "{events:?}");
    assert_eq!(held(&world), deposit);
    assert!(world.chain.balance(sender) >= before);
    assert_eq!(world.stored(sender, b"forced"), None);
}

/// A timer's payer is its actor: its own records are paid by its balance, whatever the fire prepaid.
#[test]
fn a_timer_pays_for_its_actors_own_records_out_of_the_balance() {
    let mut world = world(0);
    let actor = world.deploy(SHELF);
    world.call(actor, "later", int(50_000));
    let (money, deposit) = (world.chain.balance(actor), held(&world));
    let paid = growth(&world, actor, entry("timed", 50_000));
    world.step();
    let events = world.step();
    assert_eq!(codes(&events), [0], "{events:?}");
    let returned = price(&world.chain.params, RECORD_BYTES + 3);
    let now = held(&world).get();
    assert_eq!(now, deposit.get() + paid.get() - returned.get());
    assert!(world.chain.balance(actor).get() < money.get() - paid.get() + returned.get());

    // One that cannot pay leaves nothing.
    let mut world = world_of(calm(), 0);
    let actor = world.deploy_without_money(SHELF);
    let customer = world.customer();
    world.ok(&customer, Instruction::Transfer { to: actor, amount: Amount::cby(3) });
    world.call(actor, "later", int(50_000));
    world.step();
    let events = world.step();
    assert_eq!(codes(&events), [Refusal::DepositNotCovered.code()], "{events:?}");
    assert_eq!(world.stored(actor, b"timed"), None);
}

impl World {
    fn deploy_without_money(&mut self, code: &str) -> Address {
        let receipt = self.deploy_with(code, &[], Amount::ZERO);
        assert_eq!(receipt.code, 0, "{:?}", receipt.events);
        actor_address(self.customer().address(), B256::ZERO, code)
    }
}
