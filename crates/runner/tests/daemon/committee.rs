//! Jobs of three.

use crate::daemon::network::{TestNetwork, sees};
use remuda_protocol::transaction::Instruction;
use remuda_runner::daemon::Handle;

async fn three(network: &TestNetwork, name: &str) -> Vec<Handle> {
    let mut runners = Vec::new();
    for number in 0..3 {
        let runner = network.runner(number, &format!("{name}-{number}")).await;
        let all = |s: &remuda_runner::daemon::StatusView| s.sessions.iter().all(|v| v.open);
        sees(&runner, "sessions are open", |s| s.sessions.len() == 2 && all(s)).await;
        runners.push(runner);
    }
    runners
}

fn own(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::RevealResult { .. })
}

fn aggregate(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::RevealAggregate { .. })
}

#[tokio::test]
async fn the_aggregator_opens_the_results_of_all() {
    let network = TestNetwork::build(3, 2).await;
    let runners = three(&network, "aggregate").await;
    let job = network.order(network.vote("GET"));
    network.settled(job).await;
    let (commits, own, aggregates) = {
        let world = network.world();
        let commits = world.count(|i| matches!(i, Instruction::CommitResult { .. }));
        (commits, world.count(own), world.count(aggregate))
    };
    assert_eq!((commits, own, aggregates), (3, 0, 1));
    for runner in &runners {
        sees(runner, "it was paid", |s| s.totals.paid.0 > 0).await;
    }
    for runner in runners {
        runner.stop().await;
    }
}

#[tokio::test]
async fn who_cannot_reach_the_aggregator_opens_its_own() {
    let network = TestNetwork::build(3, 2).await;
    network.world().deaf = true;
    let runners = three(&network, "deaf").await;
    let job = network.order(network.vote("GET"));
    network.settled(job).await;
    assert_eq!(network.world().count(own), 2);
    for runner in runners {
        runner.stop().await;
    }
}

#[tokio::test]
async fn an_aggregator_that_is_gone_costs_nobody_else_anything() {
    let network = TestNetwork::build(3, 2).await;
    let runners = three(&network, "gone").await;
    let job = network.order(network.vote("GET"));
    let closed = remuda_protocol::dispatcher::job::Status::Committed;
    network.world().deaf = true;
    network
        .until("commits are closed", |w| w.chain.job(job).is_some_and(|j| j.status == closed))
        .await;
    let aggregator = network.job(job).unwrap().aggregator.unwrap();
    let (gone, others): (Vec<_>, Vec<_>) =
        runners.into_iter().partition(|runner| runner.runner() == aggregator);
    for runner in gone {
        runner.stop().await;
    }
    network.settled(job).await;
    for runner in others {
        sees(&runner, "it was paid", |s| s.totals.paid.0 > 0).await;
        runner.stop().await;
    }
}
