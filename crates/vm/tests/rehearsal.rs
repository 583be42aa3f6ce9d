//! Tests of actors in Python, and what is told of them.
#![allow(missing_docs)]

use remuda_vm::rehearsal::{Bounds, Failure, Outcome, Unready, run, run_within};

const COUNTER: &str = include_str!("../../cli/src/actor/template.py");
const TEST_COUNTER: &str = include_str!("rehearsal/test_counter.py");

/// An actor that can fail in some ways.
const FRAIL: &str = "\
import cowboy
from cowboy import runner, storage, verify

def fail(message):
    helper(message)

def helper(message):
    raise ValueError('no ' + message)

def spin(message):
    while True:
        pass

def reach(message):
    return cowboy.host('test_height')

def later(message):
    cowboy.schedule_timer(cowboy.height() + 3, 'x')

def on_timer(message):
    raise KeyError('late')

async def work(message):
    answer = await runner.http('https://example.org', extract='n', verify=verify.majority('value'))
    storage['value'] = answer['value']

def talk(message):
    print('heard', message, end='')
    print('!')
    if message == 'loud':
        raise ValueError('too loud')
";

fn load(name: &str) -> Result<String, String> {
    match name {
        "counter.py" => Ok(COUNTER.to_owned()),
        "frail.py" => Ok(FRAIL.to_owned()),
        "broken.py" => Ok("x = 1\ndef f(:\n".to_owned()),
        _ => Err(format!("there is no {name}")),
    }
}

fn outcomes(source: &str) -> Vec<Outcome> {
    run(source, "test_it.py", &load, None).unwrap_or_else(|error| panic!("{error}"))
}

/// The only test of a file.
fn outcome(source: &str) -> Outcome {
    let mut outcomes = outcomes(source);
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0)
}

fn failure(source: &str) -> Failure {
    let outcome = outcome(source);
    assert!(!outcome.passed);
    outcome.error.unwrap()
}

/// File and line of each place.
fn places(failure: &Failure) -> Vec<(&str, u32)> {
    failure.traceback.iter().map(|place| (&place.file[..], place.line)).collect()
}

fn all_pass(outcomes: &[Outcome], count: usize) {
    for outcome in outcomes {
        let error = outcome.error.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(outcome.passed, "{}: {error}\nunseen: {:#?}", outcome.name, outcome.unseen);
    }
    assert_eq!(outcomes.len(), count);
}

/// The tests beside an example.
fn example(name: &str, count: usize) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |file: &str| {
        std::fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))
    };
    let file = format!("test_{name}.py");
    let outcomes = run(&read(&file).unwrap(), &file, &read, None);
    all_pass(&outcomes.unwrap_or_else(|error| panic!("{error}")), count);
}

#[test]
fn the_counter_of_a_new_project_is_tested() {
    let tests = outcomes(TEST_COUNTER);
    all_pass(&tests, 3);
    assert_eq!(tests[0].name, "test_it_counts");
    assert_eq!(tests[0].blocks, 3);
    assert!(tests[0].cycles > 0);
}

#[test]
fn the_price_feed_passes_its_tests() {
    example("price_feed", 3);
}

#[test]
fn the_watchdog_passes_its_tests() {
    example("watchdog", 6);
}

#[test]
fn the_agent_passes_its_tests() {
    example("agent", 4);
}

#[test]
fn the_treasury_passes_its_tests() {
    example("treasury", 9);
}

#[test]
fn the_same_test_goes_the_same_way_every_time() {
    assert_eq!(outcomes(TEST_COUNTER), outcomes(TEST_COUNTER));
}

#[test]
fn tests_do_not_see_each_other() {
    let source = "\
found = []

def test_first():
    found.append(1)
    chain.deploy('counter.py')
    assert chain.height() == 2 and len(found) == 1

def test_second():
    found.append(1)
    assert chain.height() == 1 and len(found) == 1
    assert chain.events() == []
";
    all_pass(&outcomes(source), 2);
}

#[test]
fn a_failed_assertion_is_told_with_its_line() {
    let failed = failure(
        "\
def check(count):
    assert count == 3

def test_it():
    counter = chain.deploy('counter.py')
    check(counter.add({'by': 2}))
",
    );
    assert_eq!(failed.kind, "AssertionError");
    assert_eq!(places(&failed), [("test_it.py", 6), ("test_it.py", 2)]);
    assert_eq!(failed.traceback[1].text, "assert count == 3");
    assert!(failed.to_string().contains("File \"test_it.py\", line 2, in check"));
}

#[test]
fn an_actors_exception_is_told_with_the_actors_line() {
    let failed = failure("def test_it():\n    chain.deploy('frail.py').fail('way')\n");
    assert_eq!(failed.kind, "ActorError");
    assert_eq!(failed.message, "frail.py, line 8, in helper: ValueError: no way");
    assert_eq!(places(&failed), [("test_it.py", 2), ("frail.py", 8)]);
    assert_eq!(failed.traceback[1].text, "raise ValueError('no ' + message)");
}

#[test]
fn an_actors_exception_can_be_caught_and_looked_at() {
    let source = "\
def test_it():
    frail = chain.deploy('frail.py')
    try:
        frail.call('fail', 'way')
        assert False
    except ActorError as error:
        assert (error.kind, error.message, error.line, error.function) == ('ValueError', 'no way', 8, 'helper')
        assert (error.file, error.method, error.actor) == ('frail.py', 'fail', frail.address)
    with chain.raises('UnknownMethod'):
        frail.nothing()
    with chain.raises('OutOfCycles'):
        frail.spin(1, cycles=100_000)
    with chain.raises():
        frail.spin(1)
";
    all_pass(&outcomes(source), 1);
    let failed = failure(
        "\
def test_it():
    with chain.raises('ValueError'):
        chain.deploy('counter.py').add({})
",
    );
    assert_eq!(failed.message, "the call went well; ValueError was expected");
    assert_eq!(failed.traceback.len(), 1);
    assert_eq!(failed.traceback[0].file, "test_it.py");
}

#[test]
fn a_source_that_does_not_compile_is_told_with_its_line() {
    let failed = failure("def test_it():\n    chain.deploy('broken.py')\n");
    assert!(failed.message.starts_with("broken.py, line 2"), "{failed}");
    assert_eq!(places(&failed), [("test_it.py", 2), ("broken.py", 2)]);
    let failed = failure("def test_it():\n    chain.deploy('missing.py')\n");
    assert_eq!(failed.message, "there is no missing.py");
}

#[test]
fn runners_may_disagree_or_be_silent() {
    let source = "\
def job():
    frail = chain.deploy('frail.py', value=100 * chain.CBY)
    frail.work()
    return frail, chain.jobs(frail)[0]

def n(value):
    return {'status': 200, 'value': value}

def test_two_against_one():
    frail, task = job()
    assert chain.answer(task, [n(1), n(2), n(2)]) == 'settled'
    assert chain.state(frail, 'value') == 2
    assert chain.jobs() == [] and chain.failures() == []

def test_everybody_against_everybody():
    frail, task = job()
    assert chain.answer(task, [n(1), n(2), n(3)]) == 'failed: no agreement'
    assert chain.state(frail, 'value') is None
    failed = chain.failures(frail)[0]
    assert failed.message == 'the results do not agree'
    assert failed.method == 'work'

def test_one_is_silent_and_somebody_else_is_drawn():
    frail, task = job()
    assert chain.answer(task, [n(1), n(1), None]) in ('assigned', 'pending', 'settled')
    if chain.jobs():
        assert chain.answer(task, n(1)) == 'settled'
    assert chain.state(frail, 'value') == 1

def test_nobody_delivers():
    frail, task = job()
    assert chain.fail(task) == 'failed: nobody delivered'
    assert len(chain.failures()) == 1

def test_as_many_results_as_runners():
    frail, task = job()
    try:
        chain.answer(task, [n(1)])
        assert False
    except RuntimeError as error:
        assert str(error) == 'the job waits for 3 runners, and there are 1 results'
";
    let tests = outcomes(source);
    all_pass(&tests, 5);
    assert_eq!(tests[1].unseen.len(), 1, "{:?}", tests[1].unseen);
    assert!(tests[1].unseen[0].contains("the results do not agree"));
}

#[test]
fn what_a_timer_raises_is_told() {
    let source = "\
def test_it():
    frail = chain.deploy('frail.py', value=chain.CBY)
    frail.later()
    chain.blocks(10)
    assert [error.kind for error in chain.failures(frail)] == ['KeyError']
";
    let outcome = outcome(source);
    all_pass(std::slice::from_ref(&outcome), 1);
    assert!(outcome.unseen[0].starts_with("frail.py, line 21, in on_timer: KeyError"));
}

#[test]
fn a_test_that_loops_for_ever_is_stopped() {
    let bounds = Bounds { cycles: 20_000_000, ..Bounds::default() };
    for endless in ["pass", "chain.blocks(1)", "chain.deploy('counter.py').add({})"] {
        let source = format!("def test_it():\n    while True:\n        {endless}\n");
        let outcomes = run_within(&source, "test_it.py", &load, None, bounds).unwrap();
        let error = outcomes[0].error.as_ref().unwrap();
        assert_eq!(error.kind, "Stopped");
        assert!(error.message.contains("20000000 cycles"), "{error}");
    }
}

#[test]
fn a_call_takes_only_so_many_blocks() {
    let bounds = Bounds { blocks_per_call: 10, ..Bounds::default() };
    let source = "def test_it():\n    chain.blocks(10)\n    chain.blocks(11)\n";
    let outcomes = run_within(source, "test_it.py", &load, None, bounds).unwrap();
    let error = outcomes[0].error.as_ref().unwrap();
    assert!(error.message.contains("more blocks"), "{error}");
    assert_eq!(places(error), [("test_it.py", 3)]);
    assert_eq!(outcomes[0].blocks, 20);
}

#[test]
fn an_actor_cannot_reach_the_tests_calls_nor_a_test_the_actors() {
    let failed = failure("def test_it():\n    chain.deploy('frail.py').reach()\n");
    assert!(failed.message.contains("the host has no call 'test_height'"), "{failed}");
    let failed = failure("import cowboy\ndef test_it():\n    cowboy.storage['x'] = 1\n");
    assert!(failed.message.contains("is for actors"), "{failed}");
}

#[test]
fn what_actors_print_is_shown_where_it_happened_also_if_they_fail() {
    let source = "\
def test_talks():
    frail = chain.deploy('frail.py')
    print('one')
    frail.talk('a')
    print('two')
    with chain.raises('ValueError'):
        frail.talk('loud')
    print('three')

def test_is_quiet():
    chain.deploy('frail.py')
";
    let outcomes = outcomes(source);
    all_pass(&outcomes, 2);
    let shown = "one\nfrail.py: heard a!\ntwo\nfrail.py: heard loud!\nthree\n";
    assert_eq!(outcomes[0].printed, shown);
    assert_eq!(outcomes[1].printed, "");
}

#[test]
fn tests_are_chosen_by_name_and_what_is_none_is_said() {
    let two = "def test_a():\n    print('a')\ndef test_b():\n    pass\ndef helper(x):\n    pass\n";
    let outcomes = run(two, "t.py", &load, Some("_a")).unwrap();
    assert_eq!(outcomes.len(), 1);
    assert_eq!(outcomes[0].printed, "a\n");
    let unready = |source: &str, only| run(source, "t.py", &load, only).unwrap_err();
    assert!(matches!(unready(two, Some("_c")), Unready::NotFound { .. }));
    assert!(matches!(unready("x = 1", None), Unready::NoTests { .. }));
    assert!(matches!(unready("def f(:\n", None), Unready::Refused(error) if error.line == 1));
    let Unready::Failed(failed) = unready("x = 1\ny = 1 // 0\n", None) else { panic!() };
    assert_eq!(places(&failed), [("t.py", 2)]);
    let outcomes = run("def test_a(x):\n    pass\n", "t.py", &load, None).unwrap();
    assert!(outcomes[0].error.as_ref().unwrap().message.contains("takes a parameter"));
}
