//! The user's commands, as a user runs them: the real program against a real network.

use crate::support;

use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use support::{Folder, Network, RUNNER, Run, is_private, remuda, run, text, worker};

/// Nobody listens there: the port is privileged and unused.
const NOWHERE: &str = "http://127.0.0.1:1";
const SOMEBODY: &str = "0x52908400098527886e0f7030069857d2e4169ee7";
const NOTHING: &str = "0x0000000000000000000000000000000000000000000000000000000000000000";
const CBY: u128 = 1_000_000_000;

fn money(value: &Value) -> u128 {
    text(value).parse().expect("an amount")
}

#[test]
fn a_missing_node_is_explained() {
    let failed = run(&["status", "--node", NOWHERE]).failed(1);
    assert!(failed.stderr.contains("remuda dev"), "{failed:?}");
    assert!(failed.stderr.contains(NOWHERE), "{failed:?}");
    assert_eq!(failed.stderr.lines().count(), 1, "{failed:?}");
    assert_eq!(failed.stdout, "");
    let failed = run(&["status", "--node", NOWHERE, "--json"]).failed(1);
    assert_eq!(failed.json()["error"], "unreachable");
}

#[test]
fn wrong_use_has_status_two() {
    let wrong: &[&[&str]] = &[
        &["account"],
        &["account", "show"],
        &["account", "show", "0x12"],
        // Its checksum does not hold.
        &["account", "show", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
        &["account", "send", SOMEBODY, "1.5", "--key", "k"],
        &["account", "send", SOMEBODY, "15", "--key", "k"],
        &["account", "send", SOMEBODY, "0cby", "--key", "k"],
        &["account", "send", SOMEBODY, "1cby"],
        &["block", "newest"],
        &["block", "--blocks", "3"],
        &["dev", "--base-port", "0"],
        &["dev", "--base-port", "65500"],
        &["dev", "--validators", "0"],
        &["dev", "--param", "system:none=1"],
        &["node", "init", "net", "--validators", "129"],
        &["node", "init", "net", "--presence", "sometimes"],
        &["node", "init", "net", "--balance", "0x12=5cby"],
        &["node", "init", "net", "--production"],
        &["node", "init", "net", "--production", "--fee-recipient", SOMEBODY],
        &["node", "init", "net", "--balances", "no-such-file.json"],
        &["job", "show", "7"],
        &["job", "submit", "job.json", "--key", "k", "--wait", "--no-wait"],
        &["runner", "stake", "much", "--key", "k"],
        &["status", "--node", "ftp://example.org"],
        &["tx", "wait", NOTHING, "--timeout", "soon"],
    ];
    for args in wrong {
        let failed = run(args).failed(2);
        assert!(!failed.stderr.is_empty(), "{args:?} says nothing");
    }
    let block = run(&["block", "newest"]).failed(2).stderr;
    assert!(["number", "hash", "latest"].iter().all(|word| block.contains(word)), "{block}");
}

#[test]
fn a_production_network_gives_money_and_rights_to_named_accounts_only() {
    let folder = Folder::new("production");
    let other = "0x8617e340b3d01fa5f11f306f4090fd50e238070d";
    let balances = folder.write("balances.json", &format!(r#"{{"{other}": "7cby"}}"#));
    let net = folder.file("net");
    let mut args = vec!["node", "init", &net, "--production", "--json", "--balances", &balances];
    let balance = format!("{SOMEBODY}=5cby");
    args.extend(["--balance", &balance, "--fee-recipient", other, "--system-deployer", SOMEBODY]);
    let made = run(&args).ok().json();
    assert_eq!(made["faucet"], Value::Null);
    let genesis = std::fs::read_to_string(Path::new(&net).join("genesis.json")).unwrap();
    let genesis: Value = serde_json::from_str(&genesis).unwrap();
    let rows =
        |name: &str| genesis[name].as_object().unwrap().values().cloned().collect::<Vec<_>>();
    assert_eq!(rows("balances").iter().map(money).sum::<u128>(), 12 * CBY);
    assert_eq!(genesis["balances"].as_object().unwrap().len(), 2);
    assert_eq!(genesis["system_deployers"].as_array().unwrap().len(), 1);
    for validator in genesis["validators"].as_array().unwrap() {
        assert_eq!(text(&validator["fee_recipient"]).to_lowercase(), other);
    }
    assert!(!Path::new(&net).join("faucet.key").exists());
}

#[test]
fn settings_are_registered_with_their_own_key_only() {
    let folder = Folder::new("own-key");
    let (home, other) = (folder.file("mine"), folder.file("other.key"));
    run(&["runner", "init", &home]).ok();
    run(&["key", "new", &other]).ok();
    let settings = format!("{home}/runner.toml");
    for verb in ["register", "update"] {
        let args = ["runner", verb, &settings, "--key", &other, "--node", NOWHERE];
        let failed = run(&args).failed(2);
        assert!(failed.stderr.contains("runner.key"), "it names the right one: {failed:?}");
    }
}

#[test]
fn a_job_to_begin_with_is_one_that_can_be_read() {
    for kind in ["http", "llm", "mcp", "eth", "wasm", "dns"] {
        let printed = run(&["job", "example", kind]).ok().stdout;
        let job: Value = serde_json::from_str(&printed).expect("JSON and nothing else");
        assert!(job["job_type"].is_object(), "{kind}");
    }
    run(&["job", "example", "magic"]).failed(2);
}

#[test]
fn a_script_prints_what_python_prints_and_says_what_it_took() {
    let folder = Folder::new("vm-run");
    let script = folder.write(
        "fib.py",
        "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint(fib(15))\n",
    );
    let shown = run(&["vm", "run", &script, "--profile"]).ok();
    assert_eq!(shown.stdout, "610\n");
    assert!(shown.stderr.contains(" cycles") && shown.stderr.contains("fib, line 2"), "{shown:?}");
    let once = run(&["vm", "run", &script, "--json"]).ok().json()["cycles"].clone();
    let again = run(&["vm", "run", &script, "--json"]).ok().json()["cycles"].clone();
    assert_eq!(once, again, "the same cycles every time");
    let stopped = run(&["vm", "run", &script, "--cycles", "1000"]).failed(2);
    assert!(stopped.stderr.contains("1000 cycles"), "{stopped:?}");
    // Both counts, and a limit that nothing catches.
    assert!(
        stopped.stderr.contains("1,000 cycles of the machine, 100 of the chain's"),
        "{stopped:?}"
    );
    let stubborn = folder.write(
        "stubborn.py",
        "print('begun')\ntry:\n    while True: pass\nfinally:\n    print('never')\n",
    );
    let stopped = run(&["vm", "run", &stubborn, "--cycles", "1000"]).failed(2);
    assert_eq!(stopped.stdout, "begun\n");
    let shown = run(&["vm", "run", &script, "--json"]).ok().json();
    let count = |name: &str| shown[name].as_u64().expect("a number");
    assert_eq!(count("chain_cycles"), count("cycles").div_ceil(10));
    let help = run(&["vm", "run", "--help"]).ok().stdout;
    for word in ["five nanoseconds", "stopped there", "exit status is 2", "to the last one"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    let raising = folder.write("raise.py", "x = {}\nx['a']\n");
    let failed = run(&["vm", "run", &raising]).failed(1);
    assert!(
        failed.stderr.contains("KeyError: 'a'") && failed.stderr.contains("line 2"),
        "{failed:?}"
    );
    run(&["vm", "run", &folder.file("nothing.py")]).failed(2);
}

/// Commands that run side by side take each other's nonces.
#[test]
fn one_key_pays_many_times_at_once() {
    let network = Network::start("at-once");
    let (key, _) = network.account("payer.key", "100cby");
    let args = ["account", "send", SOMEBODY, "1cby", "--key", &key];
    let payments: Vec<_> = (0..6)
        .map(|_| network.command(&args).stdout(Stdio::null()).spawn().expect("it starts"))
        .collect();
    for mut payment in payments {
        assert!(payment.wait().expect("it ends").success());
    }
    let account = network.json(&["account", "show", SOMEBODY]);
    assert_eq!(money(&account["balance"]), 6 * CBY);
}

#[test]
fn every_help_teaches_with_an_example() {
    let commands: &[&[&str]] = &[
        &["status"],
        &["key"],
        &["key", "new"],
        &["key", "address"],
        &["account"],
        &["account", "show"],
        &["account", "send"],
        &["account", "faucet"],
        &["block"],
        &["tx"],
        &["tx", "show"],
        &["tx", "wait"],
        &["tx", "submit"],
        &["runner"],
        &["runner", "list"],
        &["runner", "init"],
        &["runner", "run"],
        &["runner", "status"],
        &["runner", "drain"],
        &["runner", "show"],
        &["runner", "register"],
        &["runner", "update"],
        &["runner", "stake"],
        &["runner", "unstake"],
        &["runner", "pause"],
        &["runner", "resume"],
        &["runner", "heartbeat"],
        &["runner", "deregister"],
        &["runner", "presence"],
        &["job"],
        &["job", "submit"],
        &["job", "example"],
        &["job", "show"],
        &["job", "history"],
        &["job", "watch"],
        &["job", "cancel"],
        &["timer"],
        &["timer", "lane"],
        &["timer", "schedule"],
        &["timer", "show"],
        &["timer", "watch"],
        &["timer", "cancel"],
        &["timer", "extend"],
        &["timer", "limits"],
        &["pool"],
        &["pool", "create"],
        &["pool", "grant"],
        &["pool", "revoke"],
        &["pool", "show"],
        &["actor"],
        &["actor", "new"],
        &["actor", "check"],
        &["actor", "test"],
        &["actor", "deploy"],
        &["actor", "call"],
        &["actor", "upgrade"],
        &["actor", "show"],
        &["actor", "state"],
        &["actor", "logs"],
        &["orchestrator"],
        &["orchestrator", "init"],
        &["orchestrator", "run"],
        &["orchestrator", "token"],
        &["orchestrator", "token", "new"],
        &["orchestrator", "token", "list"],
        &["orchestrator", "token", "revoke"],
        &["worker"],
        &["worker", "init"],
        &["worker", "run"],
        &["run"],
        &["run", "submit"],
        &["run", "watch"],
        &["run", "show"],
        &["run", "logs"],
        &["run", "cancel"],
        &["run", "rerun"],
        &["run", "list"],
        &["run", "example"],
        &["fleet"],
        &["fleet", "demo"],
        &["fleet", "status"],
    ];
    for command in commands {
        for help in ["-h", "--help"] {
            let mut args = command.to_vec();
            args.push(help);
            let shown = run(&args).ok().stdout;
            let example = format!("$ remuda {}", command[0]);
            assert!(shown.contains(&example), "{args:?} has no example");
            assert!(shown.contains("--json"), "{args:?} has no --json");
        }
    }
}

#[test]
fn keys_are_private_and_never_overwritten() {
    let folder = Folder::new("keys");
    let file = folder.file("my.key");
    let made = run(&["key", "new", &file, "--json"]).ok().json();
    assert!(is_private(Path::new(&file)));
    let address = run(&["key", "address", &file]).ok().stdout;
    assert_eq!(address.trim(), text(&made["address"]));
    let again = run(&["key", "new", &file]).failed(1);
    assert!(again.stderr.contains("never overwritten"), "{again:?}");
    assert_eq!(run(&["key", "address", &file]).ok().stdout, address, "the key is still there");
    let missing = run(&["key", "address", &folder.file("other.key")]).failed(1);
    assert!(missing.stderr.contains("remuda key new"), "{missing:?}");
    let folder_of_keys = run(&["key", "address", &folder.file("")]).failed(1);
    assert!(folder_of_keys.stderr.contains("is a directory"), "{folder_of_keys:?}");
    let nowhere = run(&["key", "new", &folder.file("none/my.key")]).failed(1);
    assert!(nowhere.stderr.contains("mkdir -p"), "{nowhere:?}");
}

#[test]
fn a_chain_can_be_looked_at_and_followed() {
    let network = Network::start("looking");
    let status = network.json(&["status"]);
    assert_eq!(status["validators"].as_array().expect("validators").len(), 1);
    assert!(network.run(&["status"]).ok().stdout.contains("policy\tprefer\n"));

    let watched = network.run(&["status", "--watch", "--blocks", "3", "--json"]).ok().lines();
    let heights: Vec<u64> = watched.iter().filter_map(|line| line["height"].as_u64()).collect();
    assert_eq!(heights.len(), 3);
    assert!(heights.is_sorted(), "{heights:?}");
    let lines = network.run(&["status", "--watch", "--blocks", "2"]).ok().stdout;
    assert_eq!(lines.lines().count(), 2);

    let first = network.json(&["block", "1"]);
    assert_eq!(network.json(&["block", text(&first["hash"])]), first);
    assert!(network.json(&["block"])["height"].as_u64() >= Some(heights[2]));
    let followed = network.run(&["block", "1", "--follow", "--blocks", "5", "--json"]).ok().lines();
    let heights: Vec<u64> = followed.iter().filter_map(|line| line["height"].as_u64()).collect();
    assert_eq!(heights, [1, 2, 3, 4, 5]);
    let unknown = network.run(&["block", "99999999"]).failed(1);
    assert!(unknown.stderr.contains("unknown_block"), "{unknown:?}");

    let empty = network.json(&["runner", "list"]);
    assert_eq!(empty["runners"], serde_json::json!([]));
    assert!(network.run(&["job", "show", NOTHING]).failed(1).stderr.contains("unknown_job"));

    // The second node of the list answers.
    let list = format!("{NOWHERE},{}", network.api);
    Run::of(remuda().env("REMUDA_NODE", list).arg("status")).ok();
}

#[test]
fn closed_pipe_ends_follow_without_an_error() {
    let network = Network::start("pipe");
    let mut child = network
        .command(&["block", "1", "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends by itself");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn money_moves_and_says_what_it_cost() {
    let network = Network::start("money");
    let file = network.folder.file("my.key");
    let address = run(&["key", "new", &file]).ok().stdout.trim().to_owned();

    let poor = network.run(&["account", "send", SOMEBODY, "1cby", "--key", &file]).failed(1);
    assert!(poor.stderr.contains("remuda account faucet"), "{poor:?}");

    let gift = network.json(&["account", "faucet", "--key", &file]);
    assert_eq!(gift["ok"], true);
    let balance =
        |whose: &[&str]| money(&network.json(&[&["account", "show"], whose].concat())["balance"]);
    let before = balance(&["--key", &file]);
    assert_eq!(before, 50_000 * CBY);

    let sent = network.json(&["account", "send", SOMEBODY, "1.5cby", "--key", &file]);
    assert_eq!(balance(&[SOMEBODY]), 3 * CBY / 2);
    assert_eq!(balance(&[&address]), before - 3 * CBY / 2 - money(&sent["fee"]));

    let hash = text(&sent["transaction"]);
    let shown = network.json(&["tx", "show", hash]);
    assert_eq!(shown["transaction"]["from"], address.as_str());
    assert_eq!(shown["receipt"], sent);
    let words = network.run(&["tx", "show", hash]).ok().stdout;
    assert!(words.contains("+1.5 CBY") && words.contains("-1.5 CBY"), "{words}");
    let block = network.run(&["block", &sent["height"].to_string()]).ok().stdout;
    assert!(block.contains(hash) && block.contains("Transfer"), "{block}");

    let args = ["account", "send", SOMEBODY, "7units", "--key", &file, "--no-wait"];
    let waiting = network.json(&args);
    assert_eq!(network.json(&["tx", "wait", text(&waiting["hash"])])["ok"], true);
    assert_eq!(balance(&[SOMEBODY]), 3 * CBY / 2 + 7);

    // System actors take no transfers: the chain takes the transaction, and turns it down.
    let system = "0x0000000000000000000000000000000000000001";
    let refused = network.run(&["account", "send", system, "1cby", "--key", &file]).failed(1);
    assert!(refused.stderr.contains("SystemAddress"), "{refused:?}");
    let args = ["account", "send", system, "1cby", "--key", &file, "--json"];
    assert_eq!(network.run(&args).failed(1).json()["ok"], false);

    let lost = network.run(&["tx", "wait", NOTHING, "--timeout", "1"]).failed(1);
    assert!(lost.stderr.contains("in no block yet"), "{lost:?}");
    let garbage = network.run(&["tx", "submit", "0x1234"]).failed(1);
    assert!(garbage.stderr.contains("malformed"), "{garbage:?}");
}

#[test]
fn a_timer_fires_ends_or_waits_for_longer_as_told() {
    let network = Network::start("timer");
    let (key, address) = network.account("timers.key", "100cby");
    let schedule = |after: &str| {
        let args = ["timer", "schedule", "--after", after, "--text", "tick", "--key", &key];
        let receipt = network.json(&args);
        text(&receipt["events"][0]["TimerScheduled"]["timer"]).to_owned()
    };
    let fires = schedule("40");
    let shown = network.json(&["timer", "show", &fires]);
    assert_eq!((text(&shown["actor"]), text(&shown["payload"])), (&*address, "0x7469636b"));
    let watched = network.run(&["timer", "watch", &fires]).ok().stdout;
    assert!(watched.contains("fires"), "{watched}");
    let followed = network.run(&["timer", "watch", &schedule("40"), "--json"]).ok().json();
    assert!(followed["height"].is_u64() && followed["event"]["TimerFired"].is_object());
    for when in [&["--after", "0"][..], &[], &["--after", "1", "--at", "9"]] {
        let args = [&["timer", "schedule", "--key", &key][..], when].concat();
        assert!(network.run(&args).failed(2).stderr.contains("--after"));
    }
    let over = network.run(&["timer", "show", &fires]).failed(1);
    assert!(over.stderr.contains("unknown_timer"), "{over:?}");

    let ends = schedule("100000");
    let until = text_or_number(&network.json(&["timer", "show", &ends])["expires_at"]);
    let shorter = ["timer", "extend", &ends, "--until", &until, "--key", &key];
    assert!(network.run(&shorter).failed(1).stderr.contains("NotAnExtension"));
    network.run(&["timer", "cancel", &ends, "--key", &key]).ok();
    network.run(&["timer", "watch", &ends]).failed(1);

    // A stranger may not, a system deployer may.
    let kept = schedule("100000");
    let limits = ["timer", "limits", "--gas-limit-max", "200000", "--key"];
    let refused = network.run(&[&limits[..], &[&key]].concat()).failed(1);
    assert!(refused.stderr.contains("NotSystemDeployer"), "{refused:?}");
    let faucet = &*network.faucet_key;
    network.run(&[&limits[..], &[faucet]].concat()).ok();
    let lane = network.json(&["timer", "lane"]);
    assert_eq!(lane["limits"]["gas_limit_max"], 200_000);
    network.run(&["timer", "cancel", &kept, "--system", "--key", faucet]).ok();
    let words = network.run(&["timer", "lane"]).ok().stdout;
    assert!(words.contains("at most 200,000"), "{words}");
}

fn text_or_number(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn a_runner_joins_works_rests_and_leaves() {
    let network = Network::start("runner");
    let (key, address) = network.account("runner.key", "30000cby");
    let file = network.folder.write("runner.json", RUNNER);
    let joined = network.run(&["runner", "register", &file, "--key", &key]).ok().stdout;
    assert!(joined.contains("joins as runner in slot 0"), "{joined}");

    let listed = network.json(&["runner", "list"]);
    assert_eq!(listed["runners"][0]["address"], address.as_str());
    let show = || network.json(&["runner", "show", &address]);
    assert_eq!(show()["stake"], "15000000000000");
    let matrix = network.run(&["runner", "presence"]).ok().stdout;
    assert_eq!(matrix.lines().count(), 2, "{matrix}");
    assert_eq!(network.json(&["runner", "presence"])["rows"][0]["runner"], address.as_str());

    let dearer = network.folder.write("dearer.json", &RUNNER.replace("1000000\"", "2000000\""));
    network.run(&["runner", "update", &dearer, "--key", &key]).ok();
    assert_eq!(show()["offer"]["rates"]["base"], "2000000");
    network.run(&["runner", "stake", "100cby", "--key", &key]).ok();
    network.run(&["runner", "unstake", "50cby", "--key", &key]).ok();
    assert_eq!(show()["stake"], "15050000000000");
    network.run(&["runner", "pause", "--key", &key]).ok();
    assert!(network.run(&["runner", "list"]).ok().stdout.contains("\tpaused\t"));
    let twice = network.run(&["runner", "pause", "--key", &key]).failed(1);
    assert!(twice.stderr.contains("AlreadyPaused"), "{twice:?}");
    network.run(&["runner", "resume", "--key", &key]).ok();
    network.run(&["runner", "heartbeat", "--key", &key]).ok();
    network.run(&["runner", "deregister", "--key", &key]).ok();
    assert_eq!(show()["status"], "deregistered");

    let misspelt = network.folder.write("misspelt.json", &RUNNER.replace("rates", "rate"));
    let refused = network.run(&["runner", "register", &misspelt, "--key", &key]).failed(1);
    assert!(refused.stderr.contains("`rate`"), "{refused:?}");
}

const JOB: &str = r#"{"job_type": {"Http": {"method": "GET", "url": "https://example.org/price"}},
    "verification": {"mode": "majority_vote", "runners": 3, "threshold": 2,
                     "checks": [{"MajorityVote": {"field": "price"}}]},
    "result_schema": {"max_return_bytes": 1024, "expected_execution_ms": 500, "data_format": "json"},
    "max_price": "100000000000", "timeout_blocks": 3000}"#;

#[test]
fn a_job_is_ordered_watched_done_and_told() {
    let network = Network::start("job");
    let (key, _) = network.account("my.key", "1000cby");
    let order = network.folder.write("job.json", JOB);

    // Nobody is there to do it: the job fails at once, and says so even if nobody waits for it.
    for wait in [&["--wait"][..], &[]] {
        let args = [&["job", "submit", &order, "--key", &key], wait].concat();
        let failed = network.run(&args).failed(1);
        assert!(failed.stderr.contains("InsufficientRunners"), "{failed:?}");
        assert!(failed.stderr.contains("remuda runner register"), "{failed:?}");
    }
    let failed = network.run(&["job", "submit", &order, "--key", &key, "--json"]).failed(1).json();
    let shown = network.run(&["job", "show", text(&failed["job"])]).ok().stdout;
    assert!(shown.contains("without a committee"), "{shown}");

    let offer = network.folder.write("runner.json", RUNNER);
    let mut runners = Vec::new();
    for name in ["ada.key", "bea.key", "cy.key"] {
        let (key, _) = network.account(name, "20000cby");
        network.run(&["runner", "register", &offer, "--key", &key]).ok();
        runners.push(key);
    }

    let id = network.run(&["job", "submit", &order, "--key", &key]).ok().stdout;
    let id = id.trim();
    let watcher = network
        .command(&["job", "watch", id, "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    worker::work(&network.api, id, &runners, r#"{"price":7}"#);
    let watched = watcher.wait_with_output().expect("it ends by itself");
    assert_eq!(watched.status.code(), Some(0));
    let shown = network.json(&["job", "show", id]);
    assert!(shown["status"]["Settled"].is_object(), "{shown}");
    let words = network.run(&["job", "show", id]).ok().stdout;
    assert!(words.contains("agreed\t7\n"), "{words}");

    let history = network.json(&["job", "history", id]);
    assert_eq!(history["complete"], true);
    let told = network.run(&["job", "history", id]).ok().stdout;
    for words in ["orders the job; escrow", "3 runners drawn", "settled for 3 winners", "is paid"] {
        assert!(told.contains(words), "{words:?} is not in\n{told}");
    }
    // What was seen live is what the history says, up to the end.
    let seen: Vec<Value> = String::from_utf8_lossy(&watched.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let entries = history["entries"].as_array().expect("entries");
    assert_eq!(entries[..seen.len()], seen);
    assert!(seen.last().is_some_and(|last| entries.last() == Some(last)), "{seen:?}");

    // One that nobody works on can be called off, by its submitter alone.
    let id = network.json(&["job", "submit", &order, "--key", &key]);
    let id = text(&id["job"]);
    let other = network.run(&["job", "cancel", id, "--key", &runners[0]]).failed(1);
    assert!(other.stderr.contains("NotYourJob"), "{other:?}");
    network.run(&["job", "cancel", id, "--key", &key]).ok();
    let over = network.run(&["job", "watch", id]).failed(1);
    assert!(over.stderr.contains("was called off"), "{over:?}");
}

#[test]
fn a_mistake_in_a_job_is_named_and_costs_nothing() {
    let folder = Folder::new("mistake");
    let key = folder.file("my.key");
    run(&["key", "new", &key]).ok();
    let wrong = folder.write("job.json", &JOB.replace("threshold", "treshold"));
    // Read before any node is asked.
    let failed = run(&["job", "submit", &wrong, "--key", &key, "--node", NOWHERE]).failed(1);
    assert!(failed.stderr.contains("verification.treshold"), "{failed:?}");
    let missing = run(&["job", "submit", "missing.json", "--key", &key]).failed(1);
    assert!(missing.stderr.contains("missing.json"), "{missing:?}");
}
