//! What an operator does.

use crate::daemon::network::{TestNetwork, sees};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::{Amount, B256};
use remuda_protocol::registry::runner::Status;
use remuda_runner::daemon::{
    Daemon, Handle, ResultTampering, RunState, Settings, StartError, StatusView,
};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

async fn start(settings: &Settings, key: SecretKey) -> Result<Handle, StartError> {
    Daemon::start_with(settings, key, ResultTampering::none()).await
}

async fn ask(runner: &Handle, request: &str) -> String {
    let address = runner.status_address().unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn draining_finishes_what_is_open_and_pauses() {
    let network = TestNetwork::build(1, 2).await;
    let mut runner = network.runner(0, "drain").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    network.web.slow(Duration::from_millis(500));
    let job = network.order(network.single("GET"));
    sees(&runner, "it is at work", |s| s.jobs.len() == 1).await;
    let me = runner.runner();
    tokio::time::timeout(Duration::from_secs(30), runner.drain()).await.expect("it ends");
    assert_eq!(runner.status().state, RunState::Drained);
    network.settled(job).await;
    assert_eq!(network.world().chain.runner(me).unwrap().status, Status::Paused);
    // And back again.
    let runner = network.runner(0, "drain").await;
    network.until("it has resumed", |w| w.chain.runner(me).unwrap().status == Status::Active).await;
    runner.stop().await;
}

#[tokio::test]
async fn the_status_page_tells_and_drains() {
    let network = TestNetwork::build(1, 1).await;
    let mut runner = network.runner_with(0, "page", "status = '127.0.0.1:0'").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().any(|v| v.open)).await;
    let head = "host: localhost\r\nconnection: close\r\n";
    let page = ask(&runner, &format!("GET / HTTP/1.1\r\n{head}\r\n")).await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Runner"), "{page}");
    let json = ask(&runner, &format!("GET /status HTTP/1.1\r\n{head}\r\n")).await;
    let body = json.split_once("\r\n\r\n").unwrap().1;
    let view: StatusView = serde_json::from_str(body).unwrap();
    assert_eq!(view.runner.0, runner.runner());
    let foreign = "GET /status HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    assert!(ask(&runner, foreign).await.starts_with("HTTP/1.1 403"));
    let file = Path::new(&crate::daemon::network::folder("page")).join("drain.token");
    let token = std::fs::read_to_string(&file).unwrap();
    let (token, length) = (token.trim(), token.trim().len());
    for shown in [
        String::new(),
        "x-remuda-drain: yes\r\n".to_owned(),
        format!("authorization: Bearer {}\r\n", "0".repeat(length)),
        format!("authorization: Bearer {}\r\n", &token[1..]),
        format!("authorization: {token}\r\n"),
    ] {
        let refused = ask(&runner, &format!("POST /drain HTTP/1.1\r\n{head}{shown}\r\n")).await;
        assert!(refused.starts_with("HTTP/1.1 401"), "{shown}: {refused}");
    }
    assert_eq!(runner.status().state, RunState::Running, "nobody has drained it");
    remuda_runner::daemon::remote::drain(
        runner.status_address().unwrap(),
        Path::new(&crate::daemon::network::folder("page")),
    )
    .await
    .unwrap();
    tokio::time::timeout(Duration::from_secs(30), runner.finished()).await.expect("it ends");
    assert_eq!(runner.status().state, RunState::Drained);
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn open_up(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn files_that_others_can_read_are_tightened_at_the_start() {
    let network = TestNetwork::build(1, 1).await;
    let folder = PathBuf::from(crate::daemon::network::folder("tight"));
    let (jobs, settings_file) = (folder.join("jobs"), folder.join("runner.toml"));
    std::fs::create_dir_all(&jobs).unwrap();
    let key = folder.join("model.key");
    for file in [&settings_file, &key, &jobs.join("1-0.json"), &folder.join("lock")] {
        std::fs::write(file, "sk-0123456789").unwrap();
        open_up(file, 0o644);
    }
    open_up(&folder, 0o755);
    open_up(&jobs, 0o755);
    let model = format!(
        "status = '127.0.0.1:0'\n[llm.models.tiny]\nbase_url = 'http://127.0.0.1:9'\napi_key_file = '{}'",
        key.display()
    );
    let nodes = std::slice::from_ref(&network.api);
    let mut settings =
        crate::daemon::network::settings(&crate::daemon::network::folder("tight"), nodes, &model);
    settings.file = settings_file.clone();
    let secret = network.world().runners[0].clone();
    let runner = start(&settings, secret).await.unwrap();
    sees(&runner, "it runs", |s| s.state == RunState::Running).await;
    assert_eq!((mode(&folder), mode(&jobs)), (0o700, 0o700));
    for file in ["runner.toml", "model.key", "jobs/1-0.json", "lock", "genesis", "drain.token"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    runner.stop().await;
}

#[tokio::test]
async fn two_runners_do_not_share_a_journal() {
    let network = TestNetwork::build(2, 0).await;
    let first = network.runner(0, "shared").await;
    let settings = crate::daemon::network::settings(
        &crate::daemon::network::folder("shared"),
        std::slice::from_ref(&network.api),
        "",
    );
    let key = network.world().runners[1].clone();
    let second = start(&settings, key).await;
    assert!(matches!(second, Err(remuda_runner::daemon::StartError::InUse(_))));
    first.stop().await;
}

#[tokio::test]
async fn nodes_that_are_not_there_are_waited_for() {
    let network = TestNetwork::build(1, 1).await;
    let sections = "[http.addresses]\nallow = ['127.0.0.0/8']";
    let dead = "http://127.0.0.1:9".to_owned();
    let data = crate::daemon::network::folder("dead");
    let settings = crate::daemon::network::settings(&data, std::slice::from_ref(&dead), sections);
    let key = network.world().runners[0].clone();
    let alone = start(&settings, key.clone()).await.unwrap();
    sees(&alone, "it says so", |s| !s.problems.is_empty()).await;
    assert_eq!(alone.status().state, RunState::Starting);
    alone.stop().await;
    let settings = crate::daemon::network::settings(&data, &[dead, network.api.clone()], sections);
    let runner = start(&settings, key).await.unwrap();
    let job = network.order(network.single("GET"));
    network.settled(job).await;
    runner.stop().await;
}

#[tokio::test]
async fn a_journal_of_another_chain_is_not_used() {
    let network = TestNetwork::build(1, 1).await;
    let runner = network.runner(0, "chains").await;
    sees(&runner, "it is connected", |s| s.state == RunState::Running).await;
    runner.stop().await;
    let first = std::mem::replace(&mut network.world().genesis, B256::repeat_byte(2));
    let runner = network.runner(0, "chains").await;
    let other = B256::repeat_byte(2).to_string();
    sees(&runner, "it says so", |s| {
        let says = |part: &str| s.problems.iter().any(|why| why.contains(part));
        says(&network.api) && says(&first.to_string()) && says(&other) && says("data directory")
    })
    .await;
    assert_eq!(runner.status().state, RunState::Starting);
    let kept =
        std::fs::read_to_string(format!("{}/genesis", crate::daemon::network::folder("chains")));
    assert_eq!(kept.unwrap().trim(), first.to_string(), "nothing is written over");
    // The right network is back.
    network.world().genesis = first;
    sees(&runner, "it goes on", |s| s.state == RunState::Running && s.problems.is_empty()).await;
    // The network restarts from another genesis while the runner is up.
    network.world().genesis = B256::repeat_byte(2);
    sees(&runner, "it notices", |s| !s.problems.is_empty()).await;
    runner.stop().await;
}

#[tokio::test]
async fn a_second_node_of_another_chain_is_left_out() {
    let (network, wrong) = (TestNetwork::build(1, 1).await, TestNetwork::build(1, 0).await);
    wrong.world().genesis = B256::repeat_byte(2);
    let sections = "[http.addresses]\nallow = ['127.0.0.0/8']";
    let nodes = [network.api.clone(), wrong.api.clone()];
    let settings = crate::daemon::network::settings(
        &crate::daemon::network::folder("second"),
        &nodes,
        sections,
    );
    let key = network.world().runners[0].clone();
    let runner = start(&settings, key).await.unwrap();
    sees(&runner, "it says so", |s| s.problems.iter().any(|why| why.contains(&wrong.api))).await;
    let job = network.order(network.single("GET"));
    network.settled(job).await;
    assert_eq!(wrong.world().done.len(), 0);
    runner.stop().await;
}

#[tokio::test]
async fn a_runner_without_money_says_so_and_goes_on_once_it_has_some() {
    let network = TestNetwork::build(1, 2).await;
    let runner = network.runner(0, "poor").await;
    let me = runner.runner();
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    network.world().shown = Some(Amount(1_000));
    let poor = |s: &StatusView| s.problems.iter().any(|why| why.contains("send it some"));
    sees(&runner, "it says so", poor).await;
    let job = network.order(network.single("GET"));
    network.until("it is drawn", |w| w.progress(job, me).is_some()).await;
    let height = network.height();
    network.until("some blocks later", |w| w.chain.height().get() > height + 12).await;
    assert_eq!(network.web.asked(), 0, "it could not deliver what it found");
    network.world().shown = Some(Amount::cby(100));
    network.settled(job).await;
    sees(&runner, "all is well", |s| s.problems.is_empty()).await;
    runner.stop().await;
}

#[tokio::test]
async fn a_model_server_that_is_gone_is_told_until_it_is_back() {
    let network = TestNetwork::build(1, 1).await;
    // A port of this test's own, where nobody is yet.
    let port = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let section = format!("[llm.models.tiny]\nbase_url = 'http://127.0.0.1:{port}'");
    let runner = network.runner_with(0, "backend", &section).await;
    let gone = |s: &StatusView| {
        s.problems.iter().any(|why| why.contains("no answer from the server of model"))
    };
    sees(&runner, "it is gone", gone).await;
    let _server = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    sees(&runner, "it is back", |s| !gone(s)).await;
    runner.stop().await;
}
