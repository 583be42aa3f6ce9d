//! What an operator does.

use crate::town::{Town, sees};
use remuda_protocol::registry::runner::Status;
use remuda_runner::daemon::{RunState, StatusView};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

async fn ask(runner: &remuda_runner::daemon::Handle, request: &str) -> String {
    let address = runner.status_address().unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn draining_finishes_what_is_open_and_pauses() {
    let town = Town::build(1, 2).await;
    let mut runner = town.runner(0, "drain").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    town.web.slow(Duration::from_millis(500));
    let job = town.order(town.single("GET"));
    sees(&runner, "it is at work", |s| s.jobs.len() == 1).await;
    let me = runner.runner();
    tokio::time::timeout(Duration::from_secs(30), runner.drain()).await.expect("it ends");
    assert_eq!(runner.status().state, RunState::Drained);
    town.settled(job).await;
    assert_eq!(town.world().chain.runner(me).unwrap().status, Status::Paused);
    // And back again.
    let runner = town.runner(0, "drain").await;
    town.until("it has resumed", |w| w.chain.runner(me).unwrap().status == Status::Active).await;
    runner.stop().await;
}

#[tokio::test]
async fn the_status_page_tells_and_drains() {
    let town = Town::build(1, 1).await;
    let mut runner = town.runner_with(0, "page", "status = '127.0.0.1:0'").await;
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
    let refused = ask(&runner, &format!("POST /drain HTTP/1.1\r\n{head}\r\n")).await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    let drain = format!("POST /drain HTTP/1.1\r\n{head}x-remuda-drain: yes\r\n\r\n");
    assert!(ask(&runner, &drain).await.starts_with("HTTP/1.1 202"));
    tokio::time::timeout(Duration::from_secs(30), runner.finished()).await.expect("it ends");
    assert_eq!(runner.status().state, RunState::Drained);
}

#[tokio::test]
async fn two_runners_do_not_share_a_journal() {
    let town = Town::build(2, 0).await;
    let first = town.runner(0, "shared").await;
    let settings =
        crate::town::settings(&crate::town::folder("shared"), std::slice::from_ref(&town.api), "");
    let key = town.world().runners[1].clone();
    let second = remuda_runner::daemon::Daemon::start_with(&settings, key).await;
    assert!(matches!(second, Err(remuda_runner::daemon::StartError::InUse(_))));
    first.stop().await;
}

#[tokio::test]
async fn nodes_that_are_not_there_are_waited_for() {
    let town = Town::build(1, 1).await;
    let sections = "[http.addresses]\nallow = ['127.0.0.0/8']";
    let dead = "http://127.0.0.1:9".to_owned();
    let data = crate::town::folder("dead");
    let settings = crate::town::settings(&data, std::slice::from_ref(&dead), sections);
    let key = town.world().runners[0].clone();
    let alone = remuda_runner::daemon::Daemon::start_with(&settings, key.clone()).await.unwrap();
    sees(&alone, "it says so", |s| s.problem.is_some()).await;
    assert_eq!(alone.status().state, RunState::Starting);
    alone.stop().await;
    let settings = crate::town::settings(&data, &[dead, town.api.clone()], sections);
    let runner = remuda_runner::daemon::Daemon::start_with(&settings, key).await.unwrap();
    let job = town.order(town.single("GET"));
    town.settled(job).await;
    runner.stop().await;
}
