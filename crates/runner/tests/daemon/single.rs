//! Jobs of one runner.

use crate::daemon::network::{TestNetwork, sees};
use remuda_protocol::transaction::Instruction;

#[tokio::test]
async fn a_pushed_job_is_done_and_paid() {
    let network = TestNetwork::build(1, 3).await;
    let mut runner = network.runner(0, "single").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 3).await;
    let before = network.world().chain.balance(runner.runner());
    let job = network.order(network.single("GET"));
    network.settled(job).await;
    assert_eq!(network.web.asked(), 1, "three validators pushed it, and it was done once");
    assert!(network.world().chain.balance(runner.runner()) > before);
    let paid = |s: &remuda_runner::daemon::StatusView| {
        s.finished.first().is_some_and(|job| job.paid.is_some_and(|paid| paid.0 > 0))
    };
    sees(&runner, "it says so", paid).await;
    let status = runner.status();
    assert_eq!((status.jobs.len(), status.totals.settled.0), (0, 1));
    assert_eq!(status.sending, 0);
    let results = |i: &Instruction| matches!(i, Instruction::SubmitResult { .. });
    assert_eq!(network.world().count(results), 1);
    runner.drain().await;
}

#[tokio::test]
async fn many_jobs_at_once_are_all_done() {
    let network = TestNetwork::build(1, 3).await;
    let runner = network.runner(0, "many").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 3).await;
    let jobs: Vec<_> = (0..20).map(|_| network.order(network.single("GET"))).collect();
    for job in jobs {
        network.settled(job).await;
    }
    assert_eq!(network.web.asked(), 20);
    let results = |i: &Instruction| matches!(i, Instruction::SubmitResult { .. });
    assert_eq!(network.world().count(results), 20);
    runner.stop().await;
}

#[tokio::test]
async fn without_sessions_jobs_are_polled_for() {
    let network = TestNetwork::build(1, 0).await;
    let runner = network.runner(0, "polled").await;
    sees(&runner, "it runs", |s| s.height.0 > 0).await;
    let job = network.order(network.single("GET"));
    network.settled(job).await;
    runner.stop().await;
}

#[tokio::test]
async fn where_polling_is_over_sessions_are_enough() {
    let network = TestNetwork::build(1, 1).await;
    network.world().sunset = true;
    let runner = network.runner(0, "sunset").await;
    let job = network.order(network.single("GET"));
    network.settled(job).await;
    runner.stop().await;
}

#[tokio::test]
async fn what_no_validator_pushes_is_found_all_the_same() {
    let network = TestNetwork::build(1, 2).await;
    network.world().push = false;
    let runner = network.runner(0, "unpushed").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    let job = network.order(network.single("GET"));
    network.settled(job).await;
    runner.stop().await;
}
