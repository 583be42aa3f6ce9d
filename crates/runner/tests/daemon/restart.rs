//! Runners that stop in the middle, and start again.

use crate::daemon::network::{TestNetwork, folder, sees};
use remuda_protocol::dispatcher::job::SeatState;
use remuda_protocol::transaction::Instruction;
use std::time::Duration;

fn files(name: &str) -> usize {
    std::fs::read_dir(format!("{}/jobs", folder(name))).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_result_that_was_committed_to_is_opened_after_a_restart() {
    let network = TestNetwork::build(3, 2).await;
    let runner = network.runner(0, "restart").await;
    let me = runner.runner();
    let job = network.order(network.vote("GET"));
    let bound = |p: Option<SeatState>| matches!(p, Some(SeatState::Committed { .. }));
    network.until("it has committed", |world| bound(world.progress(job, me))).await;
    runner.stop().await;
    assert_eq!((files("restart"), network.web.asked()), (1, 1));
    // Only now the others come, and commits close.
    let runner = network.runner(0, "restart").await;
    let mut others = Vec::new();
    for number in 1..3 {
        others.push(network.runner(number, &format!("restart-other-{number}")).await);
    }
    network.settled(job).await;
    let revealed = |p: Option<SeatState>| matches!(p, Some(SeatState::Revealed { .. }));
    assert!(revealed(network.world().progress(job, me)));
    assert_eq!(network.web.asked(), 3, "nobody does anything twice");
    sees(&runner, "it is over", |s| s.totals.settled.0 == 1).await;
    runner.stop().await;
    assert_eq!(files("restart"), 0);
}

#[tokio::test]
async fn a_result_that_is_lost_is_attested() {
    let network = TestNetwork::build(3, 2).await;
    let runner = network.runner(0, "lost").await;
    let me = runner.runner();
    let job = network.order(network.vote("GET"));
    let bound = |p: Option<SeatState>| matches!(p, Some(SeatState::Committed { .. }));
    network.until("it has committed", |world| bound(world.progress(job, me))).await;
    runner.stop().await;
    std::fs::remove_dir_all(folder("lost")).unwrap();
    let runner = network.runner(0, "lost").await;
    network
        .until("it is attested", |world| world.progress(job, me) == Some(SeatState::Crashed))
        .await;
    let attested = |i: &Instruction| matches!(i, Instruction::CrashAttestation { .. });
    assert_eq!(network.world().count(attested), 1);
    runner.stop().await;
}

#[tokio::test]
async fn what_may_be_done_once_only_is_not_begun_again() {
    let network = TestNetwork::build(1, 2).await;
    network.web.slow(Duration::from_secs(60));
    for (method, asked) in [("GET", 2), ("POST", 1)] {
        let name = format!("once-{method}");
        let before = network.web.asked();
        let runner = network.runner(0, &name).await;
        let job = network.order(network.single(method));
        let started = std::time::Instant::now();
        while network.web.asked() == before {
            assert!(started.elapsed() < Duration::from_secs(20));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        runner.stop().await;
        let runner = network.runner(0, &name).await;
        if method == "POST" {
            sees(&runner, "it says why", |s| {
                s.jobs.iter().any(|j| j.job.0 == job && j.failure.is_some())
            })
            .await;
        }
        let height = network.height();
        network.until("ten blocks later", |w| w.chain.height().get() > height + 10).await;
        assert_eq!(network.web.asked() - before, asked, "{method}");
        runner.stop().await;
        std::fs::remove_dir_all(folder(&name)).unwrap();
        // So that the next one is not held up by it.
        network.until("it is over", |world| world.is_over(job)).await;
    }
}
