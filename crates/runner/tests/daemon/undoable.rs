//! Jobs that nobody can do, ordered to harm those who are drawn for them.

use crate::daemon::network::{TestNetwork, sees};
use remuda_protocol::dispatcher::job::{Failure, SeatState, Status};
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use remuda_protocol::dispatcher::validate::RETURN_BYTES_MIN;
use remuda_protocol::primitives::JobId;
use remuda_protocol::registry::reputation::Reputation;
use remuda_protocol::verifier::excuse::Excuse;
use remuda_runner::daemon::Handle;

/// Where nobody listens.
const NOWHERE: &str = "http://127.0.0.1:9/";

fn at(mut spec: JobSpec, address: &str) -> JobSpec {
    if let JobType::Http { url, .. } = &mut spec.job_type {
        *url = address.to_owned();
    }
    spec
}

/// Each of them would be one failure of three that mean jail.
fn undoable(spec: &JobSpec, network: &TestNetwork) -> Vec<(&'static str, JobSpec)> {
    let mut small = spec.clone();
    small.result_schema.max_return_bytes = RETURN_BYTES_MIN;
    if let JobType::Http { url, .. } = &mut small.job_type {
        *url = format!("{}long", network.web.url);
    }
    let mut late = at(spec.clone(), &network.web.url);
    late.bounds.max_wall_time_seconds = 1;
    vec![
        ("nobody listens", at(spec.clone(), NOWHERE)),
        ("an address that is not for jobs", at(spec.clone(), "http://10.1.2.3/")),
        ("a name that does not exist", at(spec.clone(), "http://nowhere.invalid/")),
        ("a result without room", small),
        ("a header that is not a job's", with_header(spec.clone())),
        ("too slow", late),
    ]
}

fn with_header(mut spec: JobSpec) -> JobSpec {
    if let JobType::Http { headers, .. } = &mut spec.job_type {
        headers.push(("host".to_owned(), "example.org".to_owned()));
    }
    spec
}

async fn over(network: &TestNetwork, job: JobId) -> Status {
    network.until("the job is over", |world| world.is_over(job)).await;
    network.job(job).unwrap().status
}

async fn start(network: &TestNetwork, count: usize, name: &str) -> Vec<Handle> {
    let mut runners = Vec::new();
    for number in 0..count {
        let runner = network.runner(number, &format!("{name}-{number}")).await;
        sees(&runner, "sessions are open", |s| s.sessions.iter().filter(|v| v.open).count() == 2)
            .await;
        runners.push(runner);
    }
    runners
}

#[tokio::test]
async fn a_committee_excuses_itself_and_nobody_is_scored() {
    let network = TestNetwork::build(3, 2).await;
    let runners = start(&network, 3, "undoable").await;
    let before: Vec<_> =
        runners.iter().map(|runner| network.world().chain.runner(runner.runner())).collect();
    network.web.slow(std::time::Duration::from_secs(3));
    for (what, spec) in undoable(&network.vote("GET"), &network) {
        let job = network.order(spec);
        let end = over(&network, job).await;
        assert_eq!(end, Status::Failed { reason: Failure::Excused }, "{what}");
    }
    for (runner, before) in runners.iter().zip(&before) {
        let (now, before) = (network.world().chain.runner(runner.runner()), before.clone());
        let standing = |it: Option<remuda_protocol::registry::runner::Runner>| {
            let scores = |it: &Reputation| (it.score_sum, it.weight_sum);
            it.map(|it| (scores(&it.reputation), it.failures, it.jailed_until, it.stake))
        };
        assert_eq!(standing(now), standing(before));
        sees(runner, "why", |s| {
            s.finished.iter().any(|job| job.why.as_ref().is_some_and(|why| why.contains("reach")))
        })
        .await;
    }
    for runner in runners {
        runner.stop().await;
    }
}

#[tokio::test]
async fn a_single_runner_excuses_itself_in_one_word() {
    let network = TestNetwork::build(1, 2).await;
    let runners = start(&network, 1, "undoable-single").await;
    let job = network.order(at(network.single("GET"), NOWHERE));
    assert_eq!(over(&network, job).await, Status::Failed { reason: Failure::Excused });
    let seat = network.world().progress(job, runners[0].runner());
    assert_eq!(seat, Some(SeatState::Excused { excuse: Excuse::Unreachable }));
    assert!(network.world().chain.result(job).is_none(), "an excuse is no result");
    for runner in runners {
        runner.stop().await;
    }
}
