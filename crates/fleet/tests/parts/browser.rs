//! Pages in a browser, with their script running: what is seen is checked by `browser.mjs`, as a person
//! would look at it.

use crate::parts::server::{Server, folder};
use crate::parts::support::part;
use remuda_fleet::auth::{Access, Scope, Token, TokenHash};
use remuda_fleet::worker::{self, Config, Sandbox};
use std::time::Duration;
use tokio::process::Command;

/// How long all of it may take, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(300);

fn token(name: &str, scope: Scope) -> Token {
    let sha256 = TokenHash::of(&format!("secret-{name}"));
    Token::new(name, scope, sha256)
}

#[tokio::test]
async fn pages_go_live_to_the_end_of_a_run_without_a_word_of_complaint_from_the_browser() {
    let browser = part("browser");
    let server = Server::with(|config| {
        let all = [token("submitter", Scope::Submitter), token("enrol", Scope::Enrol)];
        config.access = Access(all.to_vec());
    })
    .await;
    let folder = folder();
    let mut config = Config::new(&server.url, folder.join("worker"), Sandbox::Process);
    config.token = Some("secret-enrol".to_owned());
    config.grace = Duration::from_millis(200);
    let working = tokio::spawn(worker::run(config, std::future::pending()));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parts/browser.mjs");
    let mut command = Command::new("node");
    command.arg(script).arg(browser).arg(&server.url);
    // Screenshots for manual inspection.
    command.args(std::env::var_os("REMUDA_PICTURES"));
    command.env("GATE", folder.join("gate")).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.expect("an end");
    let output = output.expect("node");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.trim() == "seen", "{said}\n{complaints}");
    working.abort();
    std::fs::remove_dir_all(folder).expect("removed");
}
