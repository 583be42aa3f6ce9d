//! Pools of runners as a user has them, on a real network.

use crate::support;

use serde_json::Value;
use support::{Network, RUNNER};

const NOBODY: &str = "0x52908400098527886e0f7030069857d2e4169ee7";
#[test]
fn a_pool_is_made_filled_looked_at_and_emptied_by_its_owner() {
    let network = Network::start("pools");
    let (owner, address) = network.account("owner.key", "1000cby");
    let (stranger, _) = network.account("stranger.key", "1000cby");
    let (key, runner) = network.account("runner.key", "30000cby");
    let file = network.folder.write("runner.json", RUNNER);
    network.run(&["runner", "register", &file, "--key", &key]).ok();

    let unknown = network.run(&["pool", "show", "trusted"]).failed(1);
    assert!(unknown.stderr.contains("unknown_pool"), "{unknown:?}");
    let made = network.run(&["pool", "create", "trusted", "--key", &owner]).ok().stdout;
    assert!(made.contains("owns the pool trusted now"), "{made}");
    let taken = network.run(&["pool", "create", "trusted", "--key", &stranger]).failed(1);
    assert!(taken.stderr.contains("NameTaken"), "{taken:?}");

    let refused = network.run(&["pool", "grant", "trusted", &runner, "--key", &stranger]).failed(1);
    assert!(refused.stderr.contains("NotAuthority"), "{refused:?}");
    let refused = network.run(&["pool", "grant", "trusted", NOBODY, "--key", &owner]).failed(1);
    assert!(refused.stderr.contains("UnknownRunner"), "{refused:?}");
    let args = ["pool", "grant", "trusted", &runner, "--until", "100000", "--key", &owner];
    network.run(&args).ok();
    let invited = network.json(&["pool", "show", "trusted"]);
    assert_eq!(invited["members"], Value::from(0), "nobody joins without its own word");
    let refused = network.run(&["pool", "accept", "trusted", "--key", &stranger]).failed(1);
    assert!(refused.stderr.contains("no pending membership"), "{refused:?}");
    network.run(&["pool", "accept", "trusted", "--key", &key]).ok();

    // By its name and by its bytes.
    for name in ["trusted", "0x74727573746564"] {
        let shown = network.json(&["pool", "show", name]);
        assert_eq!((shown["owner"].as_str(), &shown["members"]), (Some(&*address), &1.into()));
        let member = &shown["memberships"][0];
        assert_eq!((member["grantee"].as_str(), &member["live"]), (Some(&*runner), &true.into()));
    }
    let profile = network.json(&["runner", "show", &runner]);
    assert_eq!(profile["pools"].as_array().map(Vec::len), Some(1), "{profile}");

    let refused =
        network.run(&["pool", "revoke", "trusted", &runner, "--key", &stranger]).failed(1);
    assert!(refused.stderr.contains("NotYourEntitlement"), "{refused:?}");
    network.run(&["pool", "revoke", "trusted", &runner, "--key", &owner]).ok();
    assert_eq!(network.json(&["pool", "show", "trusted"])["members"], Value::from(0));
    let args = ["pool", "revoke", "trusted", &runner, "--key", &owner, "--json"];
    assert_eq!(network.run(&args).failed(1).json()["error"], "not_a_member");
}
