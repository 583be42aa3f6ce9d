//! An orchestrator that is not there: the runner says so, and loses nothing.

use super::{Fleet, asked, patient, results};
use crate::daemon::network::{TestNetwork, sees};
use remuda_protocol::registry::runner::Status;
use std::time::Duration;

#[tokio::test]
async fn without_its_fleet_a_runner_says_that_it_cannot_and_is_not_drawn() {
    let network = TestNetwork::build(1, 2).await;
    let mut fleet = Fleet::start("away").await;
    fleet.stop().await;
    let runner = fleet.runner(&network, 0, "away-runner").await;
    let me = runner.runner();
    sees(&runner, "it says so", |s| s.problems.iter().any(|why| why.contains("fleet"))).await;
    let status =
        |world: &crate::daemon::network::World| world.chain.runner(me).map(|runner| runner.status);
    let paused = |world: &crate::daemon::network::World| status(world) == Some(Status::Paused);
    network.until("it is paused", paused).await;
    fleet.serve().await;
    let _worker = fleet.worker("worker");
    sees(&runner, "that is over", |s| s.problems.is_empty()).await;
    let active = |world: &crate::daemon::network::World| status(world) == Some(Status::Active);
    network.until("it is back", active).await;
    let job = network.order(patient(network.single("GET")));
    network.settled(job).await;
    runner.stop().await;
}

#[tokio::test]
async fn an_orchestrator_that_is_started_again_loses_no_job() {
    let network = TestNetwork::build(1, 2).await;
    let mut fleet = Fleet::start("restarted").await;
    let _worker = fleet.worker("worker");
    fleet.knows(1).await;
    let runner = fleet.runner(&network, 0, "restarted-runner").await;
    network.web.slow(Duration::from_secs(3));
    let job = network.order(patient(network.single("GET")));
    asked(&network, 1).await;
    fleet.stop().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    fleet.serve().await;
    network.settled(job).await;
    assert_eq!((network.web.asked(), results(&network)), (1, 1), "nothing is done twice");
    runner.stop().await;
}
