//! Validators that mean harm.

use crate::daemon::network::{TestNetwork, sees};
use remuda_link::session::validator::Assignment;
use remuda_protocol::codec::Encode as _;
use remuda_protocol::primitives::B256;

#[tokio::test]
async fn a_validator_that_buries_results_only_delays_them() {
    let network = TestNetwork::build(1, 3).await;
    network.world().bury = vec![0, 1];
    let runner = network.runner(0, "buried").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 3).await;
    let jobs: Vec<B256> = (0..3).map(|_| network.order(network.single("GET"))).collect();
    for job in jobs {
        network.settled(job).await;
    }
    runner.stop().await;
}

#[tokio::test]
async fn when_all_of_them_do_it_goes_by_http() {
    let network = TestNetwork::build(1, 2).await;
    network.world().bury = vec![0, 1];
    let runner = network.runner(0, "all-buried").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    let job = network.order(network.single("GET"));
    network.settled(job).await;
    runner.stop().await;
}

#[tokio::test]
async fn what_the_chain_knows_nothing_of_is_not_done_and_is_told() {
    let network = TestNetwork::build(1, 2).await;
    let runner = network.runner(0, "false").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    let me = runner.runner();
    // More than there are places for.
    for n in 0..10 {
        let (block_height, deadline_block) = (network.height(), network.height() + 1_000);
        let job_spec = network.single("GET").to_bytes();
        let job_id = B256::repeat_byte(n);
        let made_up = Assignment { job_id, attempt: 0, job_spec, block_height, deadline_block };
        assert!(network.servers[0].push(&me, made_up));
    }
    let job = network.order(network.single("GET"));
    network.settled(job).await;
    assert_eq!(network.web.asked(), 1, "only the one that the chain knows");
    sees(&runner, "it says so", |s| s.false_assignments.len() >= 4).await;
    let status = runner.status();
    let liar = status.sessions[0].validator;
    assert!(status.false_assignments.iter().all(|lie| lie.validator == liar));
    runner.stop().await;
}

#[tokio::test]
async fn a_lie_about_a_real_job_does_not_cost_the_job() {
    let network = TestNetwork::build(1, 2).await;
    network.world().push = false;
    network.world().sunset = true;
    let runner = network.runner(0, "lie").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    let job = network.order(network.single("GET"));
    network.until("it is drawn", |w| w.progress(job, runner.runner()).is_some()).await;
    let mut other = network.single("GET");
    other.max_price = remuda_protocol::primitives::Amount(7);
    let lie = Assignment {
        job_id: job,
        attempt: 3,
        job_spec: other.to_bytes(),
        block_height: 0,
        deadline_block: u64::MAX,
    };
    assert!(network.servers[0].push(&runner.runner(), lie));
    network.settled(job).await;
    sees(&runner, "it says so", |s| s.false_assignments.len() == 1).await;
    runner.stop().await;
}
