//! Actors that give rights, ask for them, and keep pools of runners.

use crate::chain::common::{World, vote_job};
use crate::chain::setup::{addr, error, int, list, text, world};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::job::Status;
use remuda_protocol::entitlements::constraints::Constraints;
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::key::RunnerKey;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;
use remuda_vm::{HostValue, cbor};

const SAFE: &str = "\
import cowboy

def let_in(m):
    return cowboy.grant(m[0], 'withdraw', **m[1])

def put_out(m):
    cowboy.revoke(m[0])

def may():
    return cowboy.entitled('withdraw')

def withdraw(amount):
    return cowboy.use_entitlement('withdraw', amount=amount)

def trouble(m):
    try:
        getattr(cowboy, m[0])(*m[1])
    except cowboy.HostError as error:
        return error.kind + ': ' + str(error)
";

impl World {
    fn asked_by(
        &mut self,
        who: &SecretKey,
        actor: Address,
        method: &str,
        m: HostValue,
    ) -> HostValue {
        let payload = if m == HostValue::None { Vec::new() } else { cbor::encode(&m).unwrap() };
        let (method, value) = (method.to_owned(), Amount::ZERO);
        let call = Instruction::CallActor { actor, method, payload: payload.into(), value };
        crate::chain::setup::returned(&self.run(who, call))
    }
}

fn dict<const N: usize>(entries: [(&str, HostValue); N]) -> HostValue {
    HostValue::Dict(entries.into_iter().map(|(name, value)| (text(name), value)).collect())
}

const YES: HostValue = HostValue::Bool(true);
const NO: HostValue = HostValue::Bool(false);

#[test]
fn an_actor_gives_rights_asks_for_them_and_counts_their_use() {
    let mut world = world(0);
    let actor = world.deploy(SAFE);
    let friend = world.stranger();
    assert_eq!(world.asked_by(&friend, actor, "may", HostValue::None), NO);
    let terms = dict([("max_total_amount", int(10)), ("rate_limit", list([int(2), int(50)]))]);
    let id = world.asked(actor, "let_in", list([addr(friend.address()), terms]));
    assert_eq!(world.asked_by(&friend, actor, "may", HostValue::None), YES);
    assert_eq!(world.asked(actor, "may", HostValue::None), NO, "the owner has no such right");

    let spend = |world: &mut World, amount| world.asked_by(&friend, actor, "withdraw", int(amount));
    assert_eq!(spend(&mut world, 11), NO);
    assert_eq!(spend(&mut world, 7), YES);
    assert_eq!(spend(&mut world, 4), NO);
    assert_eq!(spend(&mut world, 1), YES);
    assert_eq!(spend(&mut world, 1), NO, "twice in fifty blocks");
    world.chain.steps(50);
    assert_eq!(spend(&mut world, 1), YES);
    assert_eq!(world.asked(actor, "put_out", list([id])), HostValue::None);
    assert_eq!(spend(&mut world, 0), NO);
    assert_eq!(world.asked_by(&friend, actor, "may", HostValue::None), NO);
}

#[test]
fn an_actors_owner_lets_people_in_and_what_they_pass_on_counts_as_theirs() {
    let mut world = world(1);
    let actor = world.deploy(SAFE);
    let (friend, other) = (world.stranger(), world.runner(0));
    let action = Action::Custom { name: b"withdraw".to_vec().into() };
    let constraints = Constraints {
        max_uses: 2,
        delegatable: true,
        delegation_depth_max: 1,
        ..Constraints::default()
    };
    let (grantee, scope) = (friend.address(), Scope::Actor { address: actor });
    let grant = Instruction::EntitlementGrant { grantee, scope, action, constraints };
    assert_eq!(world.run(&friend, grant.clone()).code, Refusal::NotAuthority.code());
    let receipt = world.ok(&world.customer(), grant);
    let [Event::EntitlementGranted { entitlement, .. }, ..] = receipt.events[..] else {
        panic!("{receipt:?}");
    };
    let (delegatee, constraints) =
        (other.address(), Constraints { max_uses: 2, ..Constraints::default() });
    world.ok(&friend, Instruction::EntitlementDelegate { entitlement, delegatee, constraints });
    assert_eq!(world.asked_by(&other, actor, "withdraw", int(1)), YES);
    assert_eq!(world.asked_by(&friend, actor, "withdraw", int(1)), YES);
    // The delegation's two uses are shared by all holders.
    assert_eq!(world.asked_by(&other, actor, "withdraw", int(1)), NO);
    assert_eq!(world.asked_by(&friend, actor, "may", HostValue::None), NO);
}

#[test]
fn an_actor_decides_in_its_own_scopes_and_nowhere_else() {
    let mut world = world(1);
    let actor = world.deploy(SAFE);
    let (owner, runner) = (world.customer().address(), world.runner(0).address());
    let trouble = |world: &mut World, call: &str, args: HostValue| {
        let HostValue::Str(said) = world.asked(actor, "trouble", list([text(call), args])) else {
            panic!("it should have failed");
        };
        said
    };
    let refused = |refusal: Refusal| format!("refused: {refusal}");
    let other = format!("actor:{runner:#x}");
    let said = trouble(&mut world, "grant", list([addr(owner), text("x"), text(&other)]));
    assert_eq!(said, format!("not_found: {}", Refusal::NoCode));
    let said = trouble(&mut world, "grant", list([addr(owner), text("x"), text("global")]));
    assert_eq!(said, refused(Refusal::NotAuthority));
    let said = trouble(&mut world, "grant", list([addr(owner), text("x"), text("the world")]));
    assert_eq!(said, refused(Refusal::BadScope));
    let said = trouble(&mut world, "grant", list([addr(owner), text("TokenMint")]));
    assert_eq!(said, format!("unsupported: {}", Refusal::ActionUnavailable));
    // Nobody uses up what others have elsewhere.
    let mine = format!("runner:{runner:#x}");
    let said = trouble(&mut world, "use_entitlement", list([text("x"), text(&mine), addr(owner)]));
    assert_eq!(said, refused(Refusal::NotAuthority));
    let said = trouble(&mut world, "entitled", list([text("x"), text(""), int(5)]));
    assert_eq!(said, "refused: the host has no call 'entitled' with such arguments");
    let said = trouble(&mut world, "admit", list([text("p"), addr(runner)]));
    assert_eq!(said, format!("not_found: {}", Refusal::UnknownPool));
    assert_eq!(said_nothing(&mut world, actor, "create_pool", "p"), HostValue::None);
    let said = trouble(&mut world, "create_pool", list([text("p")]));
    assert_eq!(said, refused(Refusal::NameTaken));
    let said = trouble(&mut world, "admit", list([text("p"), addr(owner)]));
    assert_eq!(said, format!("not_found: {}", Refusal::UnknownRunner));
}

fn said_nothing(world: &mut World, actor: Address, call: &str, name: &str) -> HostValue {
    world.asked(actor, "trouble", list([text(call), list([text(name)])]))
}

#[test]
fn a_failed_call_takes_its_grants_back_and_a_check_is_paid_for() {
    let mut world = world(1);
    let actor = world.deploy(
        "import cowboy\n\
         def fail(m):\n    cowboy.create_pool('p')\n    cowboy.admit('p', m[0])\n    raise ValueError('no')\n\
         def look(n):\n    return [cowboy.entitled('x') for i in range(n)][0]\n",
    );
    let runner = world.runner(0).address();
    let failed = world.call(actor, "fail", list([addr(runner)]));
    assert!(error(&failed).starts_with("ValueError"));
    assert!(world.chain.profile(runner).unwrap().pools.is_empty());
    assert!(read(&world.chain.state, &RunnerKey { runner }).is_some());
    let cycles = |world: &mut World, n| world.call(actor, "look", int(n)).used.cycles.get();
    let (one, nine) = (cycles(&mut world, 1), cycles(&mut world, 9));
    assert!(nine - one >= 8 * 500, "{one} {nine}");
}

#[test]
fn the_runners_of_an_actors_pool_are_drawn_for_its_jobs() {
    let mut world = world(6);
    let actor = world.deploy(
        "import cowboy\n\
         from cowboy import runner, verify\n\
         def found(runners):\n    cowboy.create_pool(b'\\xff pool')\n    return [cowboy.admit(b'\\xff pool', r) for r in runners]\n\
         def drop(m):\n    cowboy.revoke(m[0])\n\
         def member(m):\n    return cowboy.is_member(b'\\xff pool', m[0])\n\
         def order():\n    return runner.http('https://example.org', extract='n', verify=verify.majority('value'), required_runner_pool=b'\\xff pool').submit()\n",
    );
    let addresses: Vec<Address> = world.runners.iter().map(SecretKey::address).collect();
    let runners = HostValue::List(addresses[..4].iter().map(|runner| addr(*runner)).collect());
    let HostValue::List(ids) = world.asked(actor, "found", runners) else { panic!() };
    assert_eq!(world.asked(actor, "member", list([addr(addresses[1])])), NO);
    for (id, key) in ids.iter().zip(world.runners.clone()) {
        let HostValue::Bytes(id) = id else { panic!() };
        let entitlement = id[..].try_into().unwrap();
        world.ok(&key, Instruction::EntitlementAccept { entitlement });
    }
    world.asked(actor, "drop", list([ids[0].clone()]));
    assert_eq!(world.asked(actor, "member", list([addr(addresses[0])])), NO);
    assert_eq!(world.asked(actor, "member", list([addr(addresses[1])])), YES);
    let HostValue::Bytes(job) = world.asked(actor, "order", HostValue::None) else { panic!() };
    let job = job[..].try_into().unwrap();
    world.await_draw(job);
    let mut seats: Vec<Address> = world.seated(job).iter().map(SecretKey::address).collect();
    seats.sort_unstable();
    let mut members = addresses[1..4].to_vec();
    members.sort_unstable();
    assert_eq!(seats, members);
    // Others may use the pool as well; only its owner decides who is in it.
    let mut spec = vote_job(3, Amount::cby(1));
    spec.required_runner_pool = Some(b"\xff pool".to_vec().into());
    let job = world.assigned(spec);
    assert_eq!(world.status(job), Status::Assigned);
}

const CAREFUL: &str = "\
import cowboy

def prepare(m):
    cowboy.create_pool('p')
    return cowboy.grant(m[0], 'x', revocable=False)

def fill(m):
    for i in range(15):
        cowboy.grant(m[0], 'y')

def tries(m):
    friend, runner, kept = m
    failing = [
        lambda: cowboy.create_pool('p'),
        lambda: cowboy.create_namespace(''),
        lambda: cowboy.admit('nowhere', runner),
        lambda: cowboy.admit('p', friend),
        lambda: cowboy.admit('p', runner, valid_until=1),
        lambda: cowboy.grant(friend, 'z'),
        lambda: cowboy.grant(friend, 'x', 'global'),
        lambda: cowboy.delegate(kept, runner),
        lambda: cowboy.delegate(b'none' * 8, runner),
        lambda: cowboy.revoke(kept),
        lambda: cowboy.revoke(b'none' * 8),
        lambda: cowboy.use_entitlement('x', 'global', friend),
    ]
    caught = 0
    for fail in failing:
        try:
            fail()
        except cowboy.HostError:
            caught += 1
    return [caught, len(failing)]

def idle(m):
    return [0, 0]
";

/// Each of these is done whole or not at all, as the program may go on.
#[test]
fn entitlement_calls_that_fail_and_are_caught_leave_nothing() {
    let changed_by = |method: &str| {
        let mut world = world(1);
        let actor = world.deploy(CAREFUL);
        let (friend, runner) = (world.stranger().address(), world.runner(0).address());
        let kept = world.asked(actor, "prepare", list([addr(friend)]));
        // Now the friend can hold no more.
        for _ in 0..17 {
            world.asked(actor, "fill", list([addr(friend)]));
        }
        let before = world.chain.state.entries().clone();
        let receipt = world.call(actor, method, list([addr(friend), addr(runner), kept]));
        let HostValue::List(counts) = crate::chain::setup::returned(&receipt) else { panic!() };
        assert_eq!(counts[0], counts[1], "not all of them failed");
        assert!(matches!(receipt.events[..], [Event::ActorReturned { .. }]), "{receipt:?}");
        let after = world.chain.state.entries();
        let keys = before.keys().chain(after.keys());
        let changed: std::collections::BTreeSet<_> =
            keys.filter(|key| before.get(key) != after.get(key)).map(<[u8]>::to_vec).collect();
        changed
    };
    // Both pay a fee and end a block; nothing else may differ.
    assert_eq!(changed_by("tries"), changed_by("idle"));
}
