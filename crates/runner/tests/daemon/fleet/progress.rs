//! What goes along with work: how far it is, and that nobody wants it any more.

use super::{Fleet, Puppet, asked, patient};
use crate::daemon::network::{TestNetwork, sees};
use remuda_fleet::lease::{AttemptState, EndReason};
use remuda_protocol::codec::Encode as _;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::job::Status;
use remuda_protocol::transaction::Instruction;
use std::time::Duration;

#[tokio::test]
async fn how_far_a_worker_is_reaches_the_runner_and_its_validators() {
    let network = TestNetwork::build(1, 2).await;
    let fleet = Fleet::start("progress").await;
    let worker = Puppet::begin(&fleet).await;
    let runner = fleet.runner(&network, 0, "progress-runner").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    let job = network.order(patient(network.single("GET")));
    let worker = worker.await.unwrap();
    assert!(!worker.beat(40).await.cancel_requested);
    sees(&runner, "it is far", |s| s.jobs.iter().any(|j| j.job.0 == job && j.percent == 40)).await;
    network.until("a validator knows", |w| w.told.contains(&(job, 40))).await;
    let found = br#"{"body":{"price":42},"content_type":"application/json","status":200}"#;
    worker.complete(found).await.unwrap();
    network.settled(job).await;
    runner.stop().await;
}

#[tokio::test]
async fn a_job_that_is_called_off_is_stopped_where_it_is_done() {
    let network = TestNetwork::build(3, 2).await;
    let fleet = Fleet::start("called-off").await;
    let _worker = fleet.worker("worker");
    fleet.knows(1).await;
    let runner = fleet.runner(&network, 0, "called-off-runner").await;
    network.web.slow(Duration::from_secs(60));
    let mut spec = patient(network.vote("GET"));
    spec.bounds.max_wall_time_seconds = 25;
    let job = network.order(spec);
    asked(&network, 1).await;
    {
        let mut world = network.world();
        let customer = SecretKey::from_label("customer");
        let body = world.chain.transaction(customer.address(), Instruction::CancelJob { job });
        let bytes = body.sign(&customer).to_bytes();
        world.pool.push(bytes);
    }
    network.until("it is over", |w| w.is_over(job)).await;
    assert_eq!(network.job(job).unwrap().status, Status::Cancelled);
    let ended = fleet.job("an end", |job| job.reason.is_some()).await;
    assert_eq!(ended.state, AttemptState::Canceled);
    assert_eq!(ended.reason, Some(EndReason::CancelAcked), "the worker itself stopped it");
    runner.stop().await;
}

#[tokio::test]
async fn a_runner_that_stops_leaves_no_work_behind() {
    let network = TestNetwork::build(1, 2).await;
    let fleet = Fleet::start("left").await;
    let _worker = fleet.worker("worker");
    fleet.knows(1).await;
    let runner = fleet.runner(&network, 0, "left-runner").await;
    network.web.slow(Duration::from_secs(60));
    network.order(patient(network.single("GET")));
    asked(&network, 1).await;
    runner.stop().await;
    let ended = fleet.job("an end", |job| job.reason.is_some()).await;
    assert_eq!(ended.state, AttemptState::Canceled);
}
