//! Validators that mean harm.

use crate::daemon::town::{Town, sees};
use remuda_link::session::validator::Assignment;
use remuda_protocol::codec::Encode as _;
use remuda_protocol::primitives::B256;

#[tokio::test]
async fn a_validator_that_buries_results_only_delays_them() {
    let town = Town::build(1, 3).await;
    town.world().bury = vec![0, 1];
    let runner = town.runner(0, "buried").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 3).await;
    let jobs: Vec<B256> = (0..3).map(|_| town.order(town.single("GET"))).collect();
    for job in jobs {
        town.settled(job).await;
    }
    runner.stop().await;
}

#[tokio::test]
async fn when_all_of_them_do_it_goes_by_http() {
    let town = Town::build(1, 2).await;
    town.world().bury = vec![0, 1];
    let runner = town.runner(0, "all-buried").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    let job = town.order(town.single("GET"));
    town.settled(job).await;
    runner.stop().await;
}

#[tokio::test]
async fn what_the_chain_knows_nothing_of_is_not_done_and_is_told() {
    let town = Town::build(1, 2).await;
    let runner = town.runner(0, "false").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    let me = runner.runner();
    // More than there are places for.
    for n in 0..10 {
        let (block_height, deadline_block) = (town.height(), town.height() + 1_000);
        let job_spec = town.single("GET").to_bytes();
        let job_id = B256::repeat_byte(n);
        let made_up = Assignment { job_id, attempt: 0, job_spec, block_height, deadline_block };
        assert!(town.servers[0].push(&me, made_up));
    }
    let job = town.order(town.single("GET"));
    town.settled(job).await;
    assert_eq!(town.web.asked(), 1, "only the one that the chain knows");
    sees(&runner, "it says so", |s| s.false_assignments.len() >= 4).await;
    let status = runner.status();
    let liar = status.sessions[0].validator;
    assert!(status.false_assignments.iter().all(|lie| lie.validator == liar));
    runner.stop().await;
}

#[tokio::test]
async fn a_lie_about_a_real_job_does_not_cost_the_job() {
    let town = Town::build(1, 2).await;
    town.world().push = false;
    town.world().sunset = true;
    let runner = town.runner(0, "lie").await;
    sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2).await;
    let job = town.order(town.single("GET"));
    town.until("it is drawn", |w| w.progress(job, runner.runner()).is_some()).await;
    let mut other = town.single("GET");
    other.max_price = remuda_protocol::primitives::Amount(7);
    let lie = Assignment {
        job_id: job,
        attempt: 3,
        job_spec: other.to_bytes(),
        block_height: 0,
        deadline_block: u64::MAX,
    };
    assert!(town.servers[0].push(&runner.runner(), lie));
    town.settled(job).await;
    sees(&runner, "it says so", |s| s.false_assignments.len() == 1).await;
    runner.stop().await;
}
