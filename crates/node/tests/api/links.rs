//! A validator's runners over real QUIC, with the real rules behind: pushes, presence, results.

use crate::api::chain::{calm, key};
use crate::api::world::{ANSWER, Server, World, any_port, hasty, roomy, seal, unserved, vote_job};
use futures::StreamExt as _;
use remuda_client::EventFilter;
use remuda_client::types::{HandoverPost, HexAddress, HexBytes, JobStatusView};
use remuda_link::frame::{AckStatus, Handover, RejectReason};
use remuda_link::quic::client::{Command, Connector, Link};
use remuda_link::session::runner::{Event, Settings};
use remuda_link::sign::{self, Identity};
use remuda_node::backend::RunnerLinks as _;
use remuda_node::chain::Sessions;
use remuda_node::runners::{LinkServerConfig, Runners};
use remuda_protocol::codec::Decode as _;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::{JobId, Slot};
use remuda_protocol::transaction::Instruction;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

const SEED: [u8; 32] = [9; 32];
const SOON: Duration = Duration::from_secs(20);

/// A free port, so that the test can say where the link is.
fn free_port() -> SocketAddr {
    std::net::UdpSocket::bind(any_port()).unwrap().local_addr().unwrap()
}

/// Where runners of a validator connect to.
struct Door {
    address: SocketAddr,
    sessions: Sessions,
    runners: Arc<Runners>,
}

/// Serves runners for one of their validators, and puts an API that knows them in the place of the old one.
async fn open(world: &mut World, validator: u32) -> Door {
    let (listen, sessions) = (free_port(), Sessions::default());
    let config = LinkServerConfig { listen, seed: SEED, validator, sessions: sessions.clone() };
    let (runners, _) = Runners::serve(world.chain.clone(), Vec::new(), config).unwrap();
    world.server = Server::with_runners(&world.chain, runners.clone(), roomy(), any_port()).await;
    world.client = hasty([world.server.url()]);
    Door { address: listen, sessions, runners }
}

async fn connect(to: SocketAddr, runner: &SecretKey) -> Link {
    let validator = Identity::from_seed(&SEED).unwrap().key();
    let settings =
        Settings { chain_id: calm().chain_id, key: runner.clone(), validator, subset_epoch: 0 };
    Connector::new(any_port()).unwrap().connect(to, settings, 0).await.unwrap()
}

async fn until<T>(link: &mut Link, wanted: impl Fn(Event) -> Option<T>) -> T {
    loop {
        let event = timeout(SOON, link.events.recv()).await.expect("in time");
        if let Some(found) = wanted(event.expect("it is open")) {
            return found;
        }
    }
}

/// The next job that is pushed.
async fn pushed(link: &mut Link) -> (JobId, u32, JobSpec) {
    until(link, |event| match event {
        Event::Assigned(it) => {
            Some((it.job_id, it.attempt, JobSpec::from_bytes(&it.job_spec).expect("a spec")))
        }
        _ => None,
    })
    .await
}

/// The one validator that all of these runners have.
async fn common(world: &World, runners: &[SecretKey]) -> u32 {
    let mut common: Vec<u32> = (0..4).collect();
    for runner in runners {
        let view = world.client.runner_validators(runner.address()).await.unwrap();
        assert_eq!((view.validators.len(), view.threshold), (3, 2), "three of four, two of three");
        common.retain(|index| view.validators.iter().any(|v| v.index == *index && v.current));
    }
    common[0]
}

#[tokio::test]
async fn a_job_is_pushed_and_its_commit_comes_up_the_stream() {
    let mut world = World::new().await;
    let runners = world.register(3).await;
    let validator = common(&world, &runners[..1]).await;
    let door = open(&mut world, validator).await;
    let me = &runners[0];
    let mut link = connect(door.address, me).await;
    until(&mut link, |event| (event == Event::Opened).then_some(())).await;
    let slot = Slot(world.client.runner(me.address()).await.unwrap().slot);
    let present = async {
        while !door.sessions.has(slot) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, present).await.expect("it pings, so it is present");

    let id = world.submit_job(vote_job()).await;
    let (job, attempt, spec) = pushed(&mut link).await;
    assert_eq!((job, attempt, &spec.job_type), (id, 0, &vote_job().job_type));
    let wall = spec.bounds.max_wall_time_seconds;
    assert!(wall > 0, "as the chain filled it in, not as it was ordered");
    let filter = EventFilter { job: Some(id), ..EventFilter::default() };
    let url = format!("{}/events?job={}", world.server.url(), remuda_client::types::HexHash(id));
    let mut stream = reqwest::get(&url).await.unwrap().bytes_stream();
    let mut blocks = world.client.events(&filter, None);
    link.commands.send(Command::Ack(id, AckStatus::Accepted, None)).await.unwrap();
    link.commands.send(Command::Progress(id, 40, Some("half way".to_owned()))).await.unwrap();
    let heard = async {
        let mut text = String::new();
        while !text.contains("event: progress") {
            text += std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap();
        }
        text
    };
    let text = timeout(SOON, heard).await.expect("progress is told to those who follow the job");
    assert!(text.contains(r#""percent":40,"detail":"half way""#), "{text}");

    let commitment = seal(me, id, 0, ANSWER).commitment;
    let commit = Instruction::CommitResult { job: id, commitment };
    let signed = world.client.sign(me, commit).await.unwrap();
    link.commands.send(Command::Result(id, signed.bytes)).await.unwrap();
    let receipt = world.client.await_receipt(signed.hash, SOON).await.unwrap();
    assert!(receipt.ok, "{receipt:?}");
    timeout(SOON, blocks.next()).await.unwrap().unwrap().expect("a stream with progress goes on");

    let second = world.submit_job(vote_job()).await;
    assert_eq!(pushed(&mut link).await.0, second);
    world.ok(&key("ann"), Instruction::CancelJob { job: second }).await;
    let cancelled = until(&mut link, |event| match event {
        Event::Cancelled(cancel) => Some(cancel.job_id),
        _ => None,
    });
    assert_eq!(cancelled.await, second);
    assert!(door.runners.metrics().contains(r#"pushes_total{outcome="success"} 1"#));
    door.runners.stop().await;
    timeout(SOON, async {
        while door.sessions.has(slot) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("who is gone is absent");
}

#[tokio::test]
async fn who_comes_late_is_told_what_it_sits_on() {
    let mut world = World::new().await;
    let runners = world.register(3).await;
    let validator = common(&world, &runners[..1]).await;
    let door = open(&mut world, validator).await;
    let id = world.submit_job(vote_job()).await;
    world.assigned(id).await;
    let mut link = connect(door.address, &runners[0]).await;
    assert_eq!(pushed(&mut link).await.0, id);
    // And again after a break, whatever it answered before.
    link.commands.send(Command::Ack(id, AckStatus::Accepted, None)).await.unwrap();
    link.commands.send(Command::Close).await.unwrap();
    let mut link = connect(door.address, &runners[0]).await;
    assert_eq!(pushed(&mut link).await.0, id);
}

#[tokio::test]
async fn who_had_no_place_is_asked_again() {
    let mut world = World::new().await;
    let runners = world.register(3).await;
    let validator = common(&world, &runners[..1]).await;
    let door = open(&mut world, validator).await;
    let mut link = connect(door.address, &runners[0]).await;
    until(&mut link, |event| (event == Event::Opened).then_some(())).await;
    let id = world.submit_job(vote_job()).await;
    assert_eq!(pushed(&mut link).await.0, id);
    let full = AckStatus::Reject(RejectReason::Capacity);
    link.commands.send(Command::Ack(id, full, None)).await.unwrap();
    assert_eq!(pushed(&mut link).await.0, id, "in the same session");
}

#[tokio::test]
async fn only_the_runners_of_this_validator_are_let_in() {
    let mut world = World::new().await;
    let runners = world.register(2).await;
    let mine = world.client.runner_validators(runners[0].address()).await.unwrap();
    let other = (0..4).find(|i| mine.validators.iter().all(|v| v.index != *i)).unwrap();
    let validator = other;
    let door = open(&mut world, validator).await;
    let link = connect(door.address, &runners[0]).await;
    assert_eq!(timeout(SOON, link.ended).await.unwrap().unwrap(), "wrong_subset");
    let link = connect(door.address, &key("ann")).await;
    assert_eq!(timeout(SOON, link.ended).await.unwrap().unwrap(), "not_registered");
    world.ok(&runners[1], Instruction::DeregisterRunner {}).await;
    let link = connect(door.address, &runners[1]).await;
    assert_eq!(timeout(SOON, link.ended).await.unwrap().unwrap(), "not_registered");
}

#[tokio::test]
async fn a_new_subset_epoch_is_told_in_the_session_with_its_first_block() {
    let mut params = calm();
    (params.subset_epoch_blocks, params.subset_overlap_blocks) = (60, 30);
    let mut world = World::still(params, roomy()).await;
    let blocks = async {
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            world.chain.step();
        }
    };
    let me = tokio::select! {
        runners = world.register(1) => runners[0].clone(),
        () = blocks => unreachable!("blocks go on"),
    };
    let validator = common(&world, std::slice::from_ref(&me)).await;
    let door = open(&mut world, validator).await;
    let mut link = connect(door.address, &me).await;
    until(&mut link, |event| (event == Event::Opened).then_some(())).await;
    while world.height().await < 61 {
        world.chain.step();
    }
    let told = until(&mut link, |event| match event {
        Event::Epoch(epoch) => Some(epoch),
        Event::Head(height) => {
            assert!(height < 61, "its first block does not come before it");
            None
        }
        _ => None,
    });
    assert_eq!(told.await, 1);
    let view = world.client.runner_validators(me.address()).await.unwrap();
    assert_eq!(view.epoch.0, 1, "and a node knows its validators by then");
}

/// What a committee member posts.
fn handover(from: &SecretKey, to: [u8; 20], job_id: JobId, sealed: &[u8]) -> HandoverPost {
    let runner = from.address();
    let frame = Handover {
        job_id,
        runner: runner.into_array(),
        sealed: sealed.to_vec(),
        runner_signed: [0; 65],
    };
    let signature = from.sign(&sign::handover(calm().chain_id, &to, &frame));
    HandoverPost {
        runner: HexAddress(runner),
        sealed: HexBytes(frame.sealed),
        signature: HexBytes(signature.bytes.to_vec()),
    }
}

#[tokio::test]
async fn results_reach_the_aggregator_once_commits_are_closed() {
    let mut world = World::new().await;
    let runners = world.register(3).await;
    let id = world.submit_job(vote_job()).await;
    let job = world.assigned(id).await;
    let aggregator = job.aggregator.expect("a committee has one").0;
    let is_it = |runner: &&SecretKey| runner.address() == aggregator;
    let collector = runners.iter().find(is_it).unwrap();
    let sender = runners.iter().find(|runner| !is_it(runner)).unwrap();
    let validator = common(&world, std::slice::from_ref(collector)).await;
    let door = open(&mut world, validator).await;
    let mut link = connect(door.address, collector).await;
    assert_eq!(pushed(&mut link).await.0, id);

    let code = |error: remuda_client::ClientError| error.code().map(str::to_owned);
    let post = handover(sender, aggregator.into_array(), id, b"sealed");
    let early = world.client.post_handover(id, &post).await.unwrap_err();
    assert_eq!(code(early).as_deref(), Some("wrong_status"), "others could still copy it");
    for runner in &runners {
        let commitment = seal(runner, id, 0, ANSWER).commitment;
        world.ok(runner, Instruction::CommitResult { job: id, commitment }).await;
    }
    world.job_when(id, |job| job.status == JobStatusView::Committed {}).await;

    let to_sender = handover(sender, sender.address().into_array(), id, b"sealed");
    let error = world.client.post_handover(id, &to_sender).await.unwrap_err();
    assert_eq!(code(error).as_deref(), Some("wrong_signer"), "signed for somebody else");
    let foreign = handover(&key("ann"), aggregator.into_array(), id, b"sealed");
    let error = world.client.post_handover(id, &foreign).await.unwrap_err();
    assert_eq!(code(error).as_deref(), Some("wrong_signer"), "not of the committee");
    let large = handover(sender, aggregator.into_array(), id, &[0; 70_000]);
    let error = world.client.post_handover(id, &large).await.unwrap_err();
    assert_eq!(code(error).as_deref(), Some("body_too_large"));

    assert!(world.client.post_handover(id, &post).await.unwrap().connected);
    let frame = until(&mut link, |event| match event {
        Event::Handover(handover) => Some(handover),
        _ => None,
    });
    let frame = frame.await;
    assert_eq!((frame.runner, &frame.sealed[..]), (sender.address().into_array(), &b"sealed"[..]));
}

#[tokio::test]
async fn what_is_said_while_the_aggregator_is_away_does_not_use_up_its_patience() {
    let mut world = World::new().await;
    let runners = world.register(3).await;
    let id = world.submit_job(vote_job()).await;
    let aggregator = world.assigned(id).await.aggregator.expect("a committee has one").0;
    let collector = runners.iter().find(|runner| runner.address() == aggregator).unwrap();
    let sender = runners.iter().find(|runner| runner.address() != aggregator).unwrap();
    let validator = common(&world, std::slice::from_ref(collector)).await;
    let door = open(&mut world, validator).await;
    let frame = |sealed: &[u8]| Handover {
        job_id: id,
        runner: sender.address().into_array(),
        sealed: sealed.to_vec(),
        runner_signed: [0; 65],
    };
    let node = &door.runners;
    for _ in 0..100 {
        assert!(!node.hand_over(&aggregator, frame(b"repeated")), "nobody is there");
    }
    let mut link = connect(door.address, collector).await;
    assert_eq!(pushed(&mut link).await.0, id);
    assert!(node.hand_over(&aggregator, frame(b"meant")));
    let heard = until(&mut link, |event| match event {
        Event::Handover(handover) => Some(handover.sealed),
        _ => None,
    });
    assert_eq!(heard.await, b"meant");
}

#[tokio::test]
async fn a_session_that_does_not_know_the_job_takes_no_results_for_it() {
    let mut world = World::new().await;
    let runners = world.register(3).await;
    let id = world.submit_job(vote_job()).await;
    let aggregator = world.assigned(id).await.aggregator.expect("a committee has one").0;
    let collector = runners.iter().find(|runner| runner.address() == aggregator).unwrap();
    let validator = common(&world, std::slice::from_ref(collector)).await;
    let door = open(&mut world, validator).await;
    let mut link = connect(door.address, collector).await;
    assert_eq!(pushed(&mut link).await.0, id);
    let frame = |job_id| Handover {
        job_id,
        runner: [7; 20],
        sealed: b"sealed".to_vec(),
        runner_signed: [0; 65],
    };
    let node = &door.runners;
    assert!(!node.hand_over(&aggregator, frame(JobId::repeat_byte(9))), "no stream for it");
    assert!(node.hand_over(&aggregator, frame(id)));
}

#[tokio::test]
async fn a_node_without_the_aggregator_says_so() {
    let world = World::still(calm(), roomy()).await;
    assert!(!unserved().hand_over(
        &key("ann").address(),
        Handover {
            job_id: JobId::ZERO,
            runner: [0; 20],
            sealed: Vec::new(),
            runner_signed: [0; 65]
        }
    ));
    let missing = world.client.runner_validators(key("ann").address()).await.unwrap_err();
    assert_eq!(missing.code(), Some("unknown_runner"));
}
