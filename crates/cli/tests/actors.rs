//! Actors as a user has them: from an empty file to an answer, on a real network.

use crate::support;

use serde_json::Value;
use std::path::Path;
use support::{Network, run, text};

const NOBODY: &str = "0x52908400098527886e0f7030069857d2e4169ee7";

/// What happened in a receipt, by its name.
fn event<'r>(receipt: &'r Value, name: &str) -> &'r Value {
    let events = receipt["events"].as_array().unwrap_or_else(|| panic!("{receipt}"));
    let found = events.iter().find_map(|event| event.get(name));
    found.unwrap_or_else(|| panic!("no {name} in {receipt}"))
}

#[test]
fn a_new_actor_is_checked_deployed_called_and_looked_into() {
    let network = Network::start("actor");
    let (key, owner) = network.account("owner.key", "1000cby");
    let file = network.folder.file("counter.py");
    run(&["actor", "new", &file]).ok();
    let again = run(&["actor", "new", &file]).failed(1);
    assert!(again.stderr.contains("there already"), "{again:?}");
    let checked = run(&["actor", "check", &file, "--json"]).ok().json();
    assert_eq!(checked["methods"], serde_json::json!(["add", "add_later", "on_timer"]));

    // What waits is paid for by the actor, and beforehand.
    let args = ["actor", "deploy", &file, "--value", "10cby", "--key", &key];
    let deployed = network.json(&args);
    let actor = text(&event(&deployed, "ActorDeployed")["actor"]).to_owned();
    let twice = network.run(&["actor", "deploy", &file, "--key", &key]).failed(1);
    assert!(twice.stderr.contains("ActorExists"), "{twice:?}");

    let args = ["actor", "call", &actor, "add", r#"{"by": 30}"#, "--key", &key];
    let called = network.run(&args).ok().stdout;
    assert!(called.contains("add returns 30"), "{called}");
    // For programs: the bytes, and what they mean.
    let args = ["actor", "call", &actor, "add", r#"{"by": 10}"#, "--key", &key];
    let called = network.json(&args);
    let returned = event(&called, "ActorReturned");
    assert_eq!((text(&returned["value"]), &returned["decoded"]), ("0x1828", &Value::from(40)));
    let said = network.run(&["actor", "logs", &actor, "--json"]).ok().lines();
    let said = said.iter().filter_map(|row| row["event"].get("ActorEvent"));
    assert!(
        said.clone().any(|said| said["decoded"]["count"] == 40),
        "{:?}",
        said.collect::<Vec<_>>()
    );
    let shown = network.json(&["actor", "show", &actor]);
    assert_eq!((text(&shown["owner"]), &shown["waiting"]), (&*owner, &Value::from(0)));
    let code = network.run(&["actor", "show", &actor, "--code"]).ok().stdout;
    assert_eq!(code, std::fs::read_to_string(&file).unwrap());

    // A call that waits goes on by itself some blocks later.
    let args = ["actor", "call", &actor, "add_later", r#"{"by": 2, "blocks": 3}"#, "--key", &key];
    let waits = network.json(&args);
    event(&waits, "CallSuspended");
    let count = || {
        let state = network.run(&["actor", "state", &actor, "--json"]).ok().lines();
        let row = state.iter().find(|row| row["name"] == "count").expect("a count").clone();
        row["decoded"].clone()
    };
    let patience = std::time::Instant::now();
    while count() != 42 {
        assert!(patience.elapsed().as_secs() < 60, "{}", count());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let logs = network.run(&["actor", "logs", &actor]).ok().stdout;
    assert!(logs.contains("says added") && logs.contains("a call that waited has ended"), "{logs}");

    // What goes wrong says where.
    let args = ["actor", "call", &actor, "add", r#"{"by": "much"}"#, "--key", &key];
    let raised = network.run(&args).failed(1);
    assert!(raised.stderr.contains("ExceptionRaised"), "{raised:?}");
    let failed = network.run(&["actor", "call", &actor, "subtract", "--key", &key]).failed(1);
    assert!(failed.stderr.contains("UnknownMethod"), "{failed:?}");
    let args = ["actor", "call", &actor, "add", "much", "--key", &key];
    assert!(network.run(&args).failed(1).stderr.contains("quotes"));
    let unknown = network.run(&["actor", "show", NOBODY]).failed(1);
    assert!(unknown.stderr.contains("unknown_actor"), "{unknown:?}");

    // Other code at the same address; only for its owner.
    let other = network.folder.write("other.py", "def add(m):\n    return 'changed'\n");
    let (stranger, _) = network.account("stranger.key", "1000cby");
    let refused = network.run(&["actor", "upgrade", &actor, &other, "--key", &stranger]).failed(1);
    assert!(refused.stderr.contains("NotOwner"), "{refused:?}");
    network.run(&["actor", "upgrade", &actor, &other, "--key", &key]).ok();
    let called = network.run(&["actor", "call", &actor, "add", "--key", &key]).ok().stdout;
    assert!(called.contains("add returns changed"), "{called}");
}

#[test]
fn a_program_that_the_chain_would_not_take_costs_nothing() {
    let network = Network::start("refused");
    let (key, _) = network.account("owner.key", "10cby");
    let file = network.folder.write("bad.py", "def add(m):\n    import os\n    return eval('1')\n");
    let before = network.json(&["account", "show", "--key", &key])["balance"].clone();
    let refused = network.run(&["actor", "deploy", &file, "--key", &key]).failed(1);
    assert!(refused.stderr.contains("bad.py:"), "{refused:?}");
    assert_eq!(network.json(&["account", "show", "--key", &key])["balance"], before);
    let broken = network.folder.write("broken.py", "x = 1\ny = x / 0\n");
    let refused = run(&["actor", "check", &broken]).failed(1);
    assert!(
        refused.stderr.contains("broken.py:2: its body fails: ZeroDivisionError"),
        "{refused:?}"
    );
}

#[test]
fn the_watchdog_barks_until_somebody_is_alive() {
    let network = Network::start("watchdog");
    let (key, _) = network.account("owner.key", "1000cby");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/watchdog.py");
    let file = file.to_str().unwrap();
    let args = ["actor", "deploy", file, r#"{"patience": 8}"#, "--value", "100cby", "--key", &key];
    let deployed = network.json(&args);
    let actor = text(&event(&deployed, "ActorDeployed")["actor"]).to_owned();
    let barks = || {
        let state = network.run(&["actor", "state", &actor, "--prefix", "barks", "--json"]).ok();
        state.json()["decoded"].as_i64().unwrap()
    };
    let patience = std::time::Instant::now();
    while barks() < 2 {
        assert!(patience.elapsed().as_secs() < 60, "no bark");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    network.run(&["actor", "call", &actor, "alive", "--key", &key]).ok();
    network.run(&["actor", "call", &actor, "calm", "--key", &key]).ok();
    let (stranger, _) = network.account("stranger.key", "100cby");
    let refused = network.run(&["actor", "call", &actor, "alive", "--key", &stranger]).failed(1);
    assert!(refused.stderr.contains("ExceptionRaised"), "{refused:?}");
    let quiet = barks();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(barks(), quiet, "it is calm");
}

#[test]
fn the_guides_programs_are_programs() {
    let guide = include_str!("../../../docs/actors.md");
    let folder = support::Folder::new("guide");
    let programs: Vec<&str> = guide
        .split("```python\n")
        .skip(1)
        .map(|rest| rest.split_once("```").expect("the end of a block").0)
        .collect();
    assert!(programs.len() >= 2, "the guide has lost its programs");
    for program in programs {
        let file = folder.write("guide.py", program);
        let checked = run(&["actor", "check", &file, "--json"]).ok().json();
        assert_ne!(checked["methods"], serde_json::json!([]), "{program}");
    }
}

#[test]
fn tests_of_actors_run_and_their_failures_have_a_line() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files: Vec<String> = std::fs::read_dir(&examples)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .filter(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with("test_")))
        .collect();
    assert!(files.len() >= 3, "{files:?}");
    let mut args = vec!["actor", "test"];
    args.extend(files.iter().map(String::as_str));
    let tested = run(&args).ok().stdout;
    assert!(tested.contains(" passed, 0 failed"), "{tested}");

    let folder = support::Folder::new("actor-tests");
    run(&["actor", "new", &folder.file("counter.py")]).ok();
    let wrong = "def test_adds():\n    counter = chain.deploy('counter.py')\n    \
                 assert chain.call(counter, 'add', {'by': 2}) == 3\n";
    let file = folder.write("test_counter.py", wrong);
    let failed = run(&["actor", "test", &file]).failed(1);
    assert!(
        failed.stdout.contains("line 3") && failed.stdout.contains("0 passed, 1 failed"),
        "{failed:?}"
    );
}

#[test]
fn what_an_actor_prints_is_shown_by_its_test_and_said_to_be_unread_on_the_chain() {
    let folder = support::Folder::new("actor-prints");
    let actor =
        folder.write("loud.py", "def hello(name):\n    print('hello', name)\n    return 1\n");
    let test = "def test_hello():\n    loud = chain.deploy('loud.py')\n    assert loud.hello('you') == 1\n";
    let file = folder.write("test_loud.py", test);
    let tested = run(&["actor", "test", &file]).ok();
    assert!(tested.stdout.contains("        loud.py: hello you\n"), "{tested:?}");
    let tested = run(&["actor", "test", &file, "--json"]).ok().json();
    assert_eq!(tested["printed"], "loud.py: hello you\n");
    let checked = run(&["actor", "check", &actor]).ok();
    assert!(checked.stdout.contains("loud.py:2: nobody reads what is printed"), "{checked:?}");
    assert!(checked.stdout.contains("cowboy.emit(topic, value)"), "{checked:?}");
    let checked = run(&["actor", "check", &actor, "--json"]).ok().json();
    assert_eq!(checked["prints"], serde_json::json!([2]));
}

/// As `cowboy-actor-sdk` 0.1.6 has it, where handlers without a permission tag refuse strangers.
const BANK: &str = "\
from cowboy_sdk import actor
import cowboy

@actor
class Bank:
    def withdraw(self, m):
        cowboy.transfer(cowboy.caller(), m['amount'])
";

#[test]
fn a_class_without_permission_tags_is_deployed_only_if_its_author_confirms_that_it_is_open() {
    let network = Network::start("open");
    let (key, _) = network.account("owner.key", "1000cby");
    let bank = network.folder.write("bank.py", BANK);
    let plain = network.folder.write("plain.py", "def withdraw(m):\n    return 0\n");

    let checked = run(&["actor", "check", &bank]).failed(1);
    for part in ["bank.py", "class Bank", "anybody can call withdraw", "--open"] {
        assert!(checked.stderr.contains(part), "{part}: {checked:?}");
    }
    let checked = run(&["actor", "check", &bank, "--json"]).failed(1).json();
    assert_eq!(checked["error"], "open_class");
    let checked = run(&["actor", "check", &bank, "--open", "--json"]).ok().json();
    assert_eq!(checked["open_class"], "Bank");
    run(&["actor", "check", &plain]).ok();

    let before = network.json(&["account", "show", "--key", &key])["balance"].clone();
    let args = ["actor", "deploy", &bank, "--value", "10cby", "--key", &key];
    let refused = network.run(&args).failed(1);
    assert!(refused.stderr.contains("anybody can call withdraw"), "{refused:?}");
    let deployed = network.json(&["actor", "deploy", &plain, "--key", &key]);
    let actor = text(&event(&deployed, "ActorDeployed")["actor"]).to_owned();
    let refused = network.run(&["actor", "upgrade", &actor, &bank, "--key", &key]).failed(1);
    assert!(refused.stderr.contains("anybody can call withdraw"), "{refused:?}");
    let fee = text(&deployed["fee"]).parse::<u128>().unwrap();
    let held = text(&event(&deployed, "DepositTaken")["amount"]).parse::<u128>().unwrap();
    let after = network.json(&["account", "show", "--key", &key])["balance"].clone();
    let number = |value: &Value| text(value).parse::<u128>().unwrap();
    assert_eq!(number(&before), number(&after) + fee + held, "refused programs cost nothing");
    network.run(&["actor", "upgrade", &actor, &bank, "--open", "--key", &key]).ok();
}
