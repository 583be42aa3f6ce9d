//! Workers that are lost in the middle, and what becomes of what they say.

use super::{Fleet, Puppet, asked, patient, results};
use crate::daemon::network::{TestNetwork, sees};
use remuda_fleet::id::Fence;
use remuda_fleet::lease::EndReason;
use remuda_fleet::message::StaleReason;
use remuda_fleet::worker::LinkError;
use remuda_protocol::codec::Decode as _;
use remuda_protocol::primitives::{Address, B256};
use remuda_protocol::transaction::{Instruction, SignedTransaction};
use std::collections::BTreeSet;
use std::time::Duration;

const LIE: &[u8] = br#"{"body":{"price":666},"content_type":"application/json","status":200}"#;

fn stale(answer: Result<remuda_fleet::message::CompleteAck, LinkError>) -> StaleReason {
    match answer {
        Err(LinkError::Stale(stale)) => stale.reason,
        other => panic!("not stale: {other:?}"),
    }
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_cannot_cause_a_commit() {
    let network = TestNetwork::build(1, 2).await;
    let fleet = Fleet::start("lease-lost").await;
    let liar = Puppet::begin(&fleet).await;
    let runner = fleet.runner(&network, 0, "lease-lost-runner").await;
    let job = network.order(patient(network.single("GET")));
    let liar = liar.await.unwrap();
    // It is silent for longer than its lease lives.
    fleet.job("a lost lease", |job| job.losses == 1).await;
    assert_eq!(stale(liar.complete(LIE).await), StaleReason::LeaseExpired);
    assert_eq!(results(&network), 0);
    let _honest = fleet.worker("honest");
    network.settled(job).await;
    assert_eq!(stale(liar.complete(LIE).await), StaleReason::Superseded);
    let height = network.height();
    network.until("five blocks later", |w| w.chain.height().get() > height + 5).await;
    let done = network.world().done.clone();
    let delivered: Vec<_> = done
        .into_iter()
        .filter_map(|(_, instruction)| match instruction {
            Instruction::SubmitResult { result, .. } => Some(result),
            _ => None,
        })
        .collect();
    assert_eq!(delivered.len(), 1, "one result, and no other");
    assert!(String::from_utf8_lossy(delivered[0].bytes().unwrap()).contains("42"));
    let job = fleet.job("an end", |job| job.reason.is_some()).await;
    assert_eq!((job.fence, job.attempt.0), (Fence(2), 1));
    runner.stop().await;
}

/// What a runner has bound itself to, by all that is on chain or waits for a block. The same may be sent twice.
fn commitments(network: &TestNetwork, runner: Address) -> BTreeSet<B256> {
    let world = network.world();
    let waits = world.pool.iter().filter_map(|bytes| {
        let SignedTransaction { body, signature } = SignedTransaction::from_bytes(bytes).ok()?;
        Some((signature.recover_address(&body.digest()).ok()?, body.instruction))
    });
    let own = world.done.iter().cloned().chain(waits).filter(|(from, _)| *from == runner);
    own.filter_map(|(_, instruction)| match instruction {
        Instruction::CommitResult { commitment, .. } => Some(commitment),
        _ => None,
    })
    .collect()
}

/// What a runner's results were when they were opened, by itself or by the aggregator.
fn opened(network: &TestNetwork, runner: Address) -> Vec<String> {
    let done = network.world().done.clone();
    let reveals = done.into_iter().flat_map(|(_, instruction)| match instruction {
        Instruction::RevealResult { reveal, .. } => vec![reveal],
        Instruction::RevealAggregate { reveals, .. } => reveals,
        _ => vec![],
    });
    let own = reveals.filter(|reveal| reveal.runner == runner);
    own.map(|reveal| String::from_utf8_lossy(reveal.result.bytes().unwrap()).into_owned()).collect()
}

/// The same in a committee, where a runner that commits to a wrong result is bound to it.
#[tokio::test]
async fn a_worker_that_lost_its_lease_cannot_bind_its_runner_in_a_committee() {
    let network = TestNetwork::build(3, 2).await;
    let fleet = Fleet::start("committee-lost").await;
    let liar = Puppet::begin(&fleet).await;
    let runner = fleet.runner(&network, 0, "committee-lost-0").await;
    let others =
        [network.runner(1, "committee-lost-1").await, network.runner(2, "committee-lost-2").await];
    let me = runner.runner();
    let job = network.order(patient(network.vote("GET")));
    let liar = liar.await.unwrap();
    // All that is missing is what the liar has.
    network
        .until("the others have committed", |w| {
            w.count(|i| matches!(i, Instruction::CommitResult { .. })) == others.len()
        })
        .await;
    fleet.job("a lost lease", |job| job.losses == 1).await;
    assert_eq!(stale(liar.complete(LIE).await), StaleReason::LeaseExpired);
    let height = network.height();
    network.until("five blocks later", |w| w.chain.height().get() > height + 5).await;
    assert_eq!(
        commitments(&network, me).len(),
        0,
        "nobody has told the runner anything that counts"
    );
    let _honest = fleet.worker("honest");
    network
        .until("it has committed", |w| {
            w.done
                .iter()
                .any(|(from, i)| *from == me && matches!(i, Instruction::CommitResult { .. }))
        })
        .await;
    // While it could still be bound to something else.
    assert_eq!(stale(liar.complete(LIE).await), StaleReason::Superseded);
    network.settled(job).await;
    assert_eq!(stale(liar.complete(LIE).await), StaleReason::Superseded);
    let height = network.height();
    network.until("five blocks later", |w| w.chain.height().get() > height + 5).await;
    assert_eq!(commitments(&network, me).len(), 1, "one, and no other");
    let opened = opened(&network, me);
    assert_eq!(opened.len(), 1, "{opened:?}");
    assert!(opened[0].contains("42") && !opened[0].contains("666"), "{opened:?}");
    let job = fleet.job("an end", |job| job.reason.is_some()).await;
    assert_eq!((job.fence, job.attempt.0), (Fence(2), 1));
    for runner in others.into_iter().chain([runner]) {
        runner.stop().await;
    }
}

#[tokio::test]
async fn a_worker_that_is_killed_is_replaced_in_time() {
    let network = TestNetwork::build(1, 2).await;
    let fleet = Fleet::start("killed").await;
    let first = fleet.worker("first");
    fleet.knows(1).await;
    let runner = fleet.runner(&network, 0, "killed-runner").await;
    network.web.slow(Duration::from_secs(60));
    let job = network.order(patient(network.single("GET")));
    asked(&network, 1).await;
    first.signal("-KILL");
    network.web.slow(Duration::ZERO);
    let _second = fleet.worker("second");
    network.settled(job).await;
    assert_eq!((network.web.asked(), results(&network)), (2, 1));
    let job = fleet.job("an end", |job| job.reason.is_some()).await;
    assert_eq!((job.fence, job.losses), (Fence(2), 1));
    runner.stop().await;
}

#[tokio::test]
async fn a_worker_that_was_stopped_has_nothing_more_to_say() {
    let network = TestNetwork::build(1, 2).await;
    let fleet = Fleet::start("stopped").await;
    let first = fleet.worker("first");
    fleet.knows(1).await;
    let runner = fleet.runner(&network, 0, "stopped-runner").await;
    // Long enough to be stopped in, and over by the time that it goes on.
    network.web.slow(Duration::from_secs(2));
    let job = network.order(patient(network.single("GET")));
    asked(&network, 1).await;
    first.signal("-STOP");
    let second = fleet.worker("second");
    network.settled(job).await;
    let ended = fleet.job("an end", |job| job.reason.is_some()).await;
    assert_eq!(ended.fence, Fence(2));
    drop(second);
    first.signal("-CONT");
    // It goes on, finds that its lease is lost, and takes the next job like any other.
    network.web.slow(Duration::ZERO);
    let next = network.order(patient(network.single("GET")));
    network.settled(next).await;
    assert_eq!(results(&network), 2, "one of each job");
    let result = network.world().chain.result(job).unwrap().result;
    assert!(String::from_utf8_lossy(&result).contains("42"));
    assert_eq!(network.web.asked(), 3);
    runner.stop().await;
}

#[tokio::test]
async fn what_may_be_done_once_only_is_given_to_nobody_else() {
    let network = TestNetwork::build(1, 2).await;
    let fleet = Fleet::start("once").await;
    let silent = Puppet::begin(&fleet).await;
    let runner = fleet.runner(&network, 0, "once-runner").await;
    let job = network.order(patient(network.single("POST")));
    let _silent = silent.await.unwrap();
    let _other = fleet.worker("other");
    let ended = fleet.job("an end", |job| job.reason.is_some()).await;
    assert_eq!(ended.reason, Some(EndReason::Lost));
    let failed = |j: &remuda_runner::daemon::status::OpenJobView| {
        j.job.0 == job && j.failure.as_ref().is_some_and(|why| why.contains("fleet"))
    };
    sees(&runner, "it says why", |s| s.jobs.iter().any(failed)).await;
    assert_eq!((network.web.asked(), results(&network)), (0, 0));
    runner.stop().await;
}
