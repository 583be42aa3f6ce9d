//! Networks that are set up or kept wrongly, and what an operator is told.

use crate::support;

use remuda_client::Client;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Folder, Network, free_port, run};

fn kill(id: &str) {
    assert!(Command::new("kill").args(["-KILL", id]).status().expect("kill").success());
}

/// Waits for a validator in the place of one that was killed, until it answers.
fn reborn(network: &Network, before: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let client = Client::new(&network.api).expect("a client");
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let other = network.validators().iter().any(|id| id != before);
        let answers = || runtime.as_ref().expect("a runtime").block_on(client.status()).is_ok();
        if other && answers() {
            return;
        }
        assert!(Instant::now() < end, "the validator does not come back");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_port_that_is_taken_is_named_before_anything_is_made() {
    let folder = Folder::new("taken");
    let (base, net) = (free_port(2), folder.file("net"));
    for port in [base + 1, base + 100] {
        let _taken = TcpListener::bind(("127.0.0.1", port)).expect("a free port");
        let base = base.to_string();
        let args = ["dev", "--validators", "2", "--base-port", &base, "--dir", &net];
        let failed = run(&args).failed(1);
        assert!(failed.stderr.contains(&format!("127.0.0.1:{port}")), "{failed:?}");
        assert!(failed.stderr.contains("--base-port"), "{failed:?}");
        assert_eq!(failed.stdout, "", "nothing is announced");
        assert!(!Path::new(&net).exists(), "nothing is half done");
    }
}

#[test]
fn a_directory_keeps_the_network_that_it_has() {
    let network = Network::start("kept");
    let net = network.folder.file("net");
    let other = run(&["dev", "--dir", &net, "--validators", "4", "--block-time", "1s"]).failed(2);
    for words in ["--validators 4 (there: 1)", "--block-time 1000ms (there: 100ms)", &net] {
        assert!(other.stderr.contains(words), "{other:?}");
    }
    // The same flags, or none, are no contradiction; but the network runs already.
    for flags in [&["--block-time", "100ms"][..], &[]] {
        let args = [&["dev", "--dir", &net], flags].concat();
        let running = run(&args).failed(1);
        assert!(running.stderr.contains("node.toml"), "{running:?}");
        assert_eq!(running.stdout, "", "the other's chain is not announced as one's own");
    }
}

#[test]
fn a_validator_that_is_killed_comes_back_and_one_that_will_not_run_ends_the_network() {
    let mut network = Network::start("revived");
    let first = network.validators().remove(0);
    kill(&first);
    reborn(&network, &first);

    let genesis = network.folder.file("net/genesis.json");
    fs::write(&genesis, "{}").expect("a file");
    kill(&network.validators()[0]);
    let (status, said) = network.end();
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("will not run"), "{said}");
    assert!(said.contains("genesis.json"), "the log's last lines are shown: {said}");
}

#[test]
fn a_killed_network_leaves_nobody_behind() {
    let mut network = Network::start("orphans");
    let validator = network.validators().remove(0);
    network.kill();
    let end = Instant::now() + Duration::from_secs(20);
    // The process that adopts it may reap it late, so a zombie counts as ended.
    let runs = || {
        let status = fs::read_to_string(format!("/proc/{validator}/status"));
        status.is_ok_and(|text| !text.contains("State:\tZ"))
    };
    while runs() {
        assert!(Instant::now() < end, "validator {validator} outlives its network");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_network_goes_on_when_nobody_reads_what_it_says() {
    let mut network = Network::start("unheard");
    network.stop_listening();
    let first = network.validators().remove(0);
    kill(&first);
    reborn(&network, &first);
    network.interrupt();
    assert_eq!(network.end().0, Some(0));
}

#[test]
fn a_copied_key_and_a_whole_network_are_not_run() {
    let folder = Folder::new("copied");
    let (net, base) = (folder.file("net"), free_port(4).to_string());
    run(&["node", "init", &net, "--base-port", &base]).ok();
    fs::copy(folder.file("net/validator-1/node.key"), folder.file("net/validator-0/node.key"))
        .expect("a key");
    let refused = run(&["node", "run", &folder.file("net/validator-0")]).failed(1);
    assert!(refused.stderr.contains("another's"), "{refused:?}");
    assert!(refused.stderr.contains(&format!("127.0.0.1:{base}")), "{refused:?}");

    let whole = run(&["node", "run", &net]).failed(2);
    assert!(whole.stderr.contains("net/validator-0"), "{whole:?}");
    assert!(whole.stderr.contains("net/validator-3"), "{whole:?}");
}

#[test]
fn a_validator_whose_port_is_taken_says_so() {
    let folder = Folder::new("listen");
    let (base, net) = (free_port(1), folder.file("net"));
    let args = ["node", "init", "--validators", "1", "--base-port", &base.to_string(), &net];
    run(&args).ok();
    let _taken = TcpListener::bind(("127.0.0.1", base)).expect("a free port");
    let failed = run(&["node", "run", &format!("{net}/validator-0")]).failed(1);
    assert!(failed.stderr.contains(&format!("127.0.0.1:{base}")), "{failed:?}");
}
