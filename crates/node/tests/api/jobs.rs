//! A job from its submission to its pay, through the API alone.

use crate::api::chain::{calm, key, seed_of};
use crate::api::world::{ANSWER, Server, World, any_port, roomy, seal, single_job, vote_job};
use remuda_client::types::{
    BidView, BigUint, CauseName, EventBody, HexBytes, HexHash, JobSpecView, JobStatusView,
    ProgressView, RevealView, RunnerInstruction, RunnerPost, SignedParts, SubmitStatus, Uint,
};
use remuda_node::api::Limits;
use remuda_protocol::beacon::{Round, SelectionMode, beacon, selection_seed};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::key::JobKey;
use remuda_protocol::primitives::{Address, B256};
use remuda_protocol::state::StateKey;
use remuda_protocol::transaction::Instruction;

fn names(history: &remuda_client::types::JobHistory) -> Vec<&'static str> {
    history.entries.iter().map(|entry| entry.event.name()).collect()
}

/// A transaction of a runner in parts, as a runner without our library would post it.
async fn parts(world: &World, who: &SecretKey, what: Instruction) -> RunnerPost {
    let quote = world.client.quote(who.address()).await.unwrap();
    let signed = quote.transaction(what.clone()).sign(who);
    let bid = |bid: remuda_protocol::fees::Bid| BidView {
        max_fee: BigUint(bid.max_fee),
        max_priority: BigUint(bid.max_priority),
    };
    let instruction = match what {
        Instruction::Heartbeat => RunnerInstruction::Heartbeat {},
        Instruction::CommitResult { job, commitment } => {
            RunnerInstruction::CommitResult { job: HexHash(job), commitment: HexHash(commitment) }
        }
        Instruction::RevealResult { job, reveal } => RunnerInstruction::RevealResult {
            job: HexHash(job),
            reveal: RevealView {
                runner: reveal.runner.into(),
                result: reveal.result.into(),
                salt: HexHash(reveal.salt),
                result_sig: HexBytes(reveal.result_sig.bytes.to_vec()),
            },
        },
        Instruction::SubmitResult { job, result, result_sig } => RunnerInstruction::SubmitResult {
            job: HexHash(job),
            result: result.into(),
            result_sig: HexBytes(result_sig.bytes.to_vec()),
        },
        other => panic!("no runner posts {other:?}"),
    };
    let body = &signed.body;
    let parts = SignedParts {
        chain_id: Uint(body.chain_id),
        nonce: Uint(body.nonce),
        cycles_limit: Uint(body.cycles_limit),
        cells_limit: Uint(body.cells_limit),
        cycle_bid: bid(body.cycle_bid),
        cell_bid: bid(body.cell_bid),
        max_deposit: BigUint(body.max_deposit.get()),
        instruction,
        signature: HexBytes(signed.signature.bytes.to_vec()),
    };
    RunnerPost { transaction: None, parts: Some(parts) }
}

async fn in_bytes(world: &World, who: &SecretKey, what: Instruction) -> RunnerPost {
    let signed = world.client.sign(who, what).await.unwrap();
    RunnerPost { transaction: Some(HexBytes(signed.bytes)), parts: None }
}

#[tokio::test]
async fn a_voted_job_leaves_its_whole_life_behind() {
    let world = World::new().await;
    let runners = world.register(3).await;
    let id = world.submit_job(vote_job()).await;
    let job = world.assigned(id).await;
    assert_eq!((job.committee, job.seats.len(), job.over), (3, 3, false));
    assert_eq!(JobSpec::try_from(&job.spec).unwrap().max_price, vote_job().max_price);

    for (i, runner) in runners.iter().enumerate() {
        let polled = world.client.runner_jobs(runner.address()).await.unwrap();
        assert_eq!(polled.jobs.iter().map(|job| job.id.0).collect::<Vec<_>>(), [id]);
        let commitment = seal(runner, id, 0, ANSWER).commitment;
        let commit = Instruction::CommitResult { job: id, commitment };
        let post = if i == 0 {
            parts(&world, runner, commit).await
        } else {
            in_bytes(&world, runner, commit).await
        };
        let posted = world.client.post_job_result(runner.address(), &post).await.unwrap();
        assert_eq!((posted.went_to.as_str(), posted.job), ("mempool", Some(HexHash(id))));
        assert_eq!(posted.instruction, "CommitResult");
        assert_eq!(posted.submitted.status, SubmitStatus::Accepted);
    }
    let closed = |job: &remuda_client::types::JobView| job.status == JobStatusView::Committed {};
    let job = world.job_when(id, closed).await;
    assert!(job.seats.iter().all(|s| matches!(s.progress, ProgressView::Committed { .. })));

    for (i, runner) in runners.iter().enumerate() {
        let reveal = seal(runner, id, 0, ANSWER).reveal;
        let what = Instruction::RevealResult { job: id, reveal };
        let post = if i == 1 {
            parts(&world, runner, what).await
        } else {
            in_bytes(&world, runner, what).await
        };
        world.client.post_job_result(runner.address(), &post).await.unwrap();
    }
    let job = world.job_when(id, |job| job.over).await;
    assert_eq!(job.status, JobStatusView::Settled {});
    let result = job.result.clone().unwrap();
    assert_eq!(result.result.0, ANSWER);
    assert!(world.client.runner_jobs(runners[0].address()).await.unwrap().jobs.is_empty());

    let history = world.client.job_history(id).await.unwrap();
    assert!(history.complete);
    let names = names(&history);
    let expected = [
        ("JobSubmitted", 1),
        ("JobBound", 1),
        ("JobAssigned", 1),
        ("Committed", 3),
        ("CommitsClosed", 1),
        ("Revealed", 3),
        ("JobSettled", 1),
        ("Paid", 3),
    ];
    for (name, count) in expected {
        assert_eq!(names.iter().filter(|other| **other == name).count(), count, "{names:?}");
    }
    let first = |name| names.iter().position(|other| *other == name).unwrap();
    let order = expected.map(|(name, _)| first(name));
    assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    assert!(history.entries.windows(2).all(|pair| pair[0].height <= pair[1].height));
    let submission = &history.entries[0];
    assert_eq!(submission.cause, CauseName::Transaction);
    assert_eq!(submission.height, job.submitted_at);
    assert!(submission.view > submission.height, "views and heights are different things here");
    assert_eq!(history.entries[first("JobAssigned")].cause, CauseName::Opening);

    let [draw] = history.draws.as_slice() else { panic!("one selection") };
    let view = draw.bound_view.unwrap().0;
    assert_eq!(view, submission.view.0 + calm().selection_seed_delay_views);
    let signature = seed_of(view);
    let expected = beacon(Round { epoch: 0, view }, &signature.bytes);
    assert_eq!(draw.seed_signature, Some(HexBytes(signature.bytes.to_vec())));
    assert_eq!(draw.beacon, Some(HexHash(expected)));
    let seed = selection_seed(SelectionMode::Delayed, expected, id, job.submitted_at.0);
    assert_eq!(draw.seed, Some(HexHash(seed)));
    assert_eq!((draw.runners.len(), draw.aggregator), (3, job.aggregator));
    assert_eq!(draw.roots, job.snapshot.roots);

    // A history is read from many blocks, and costs accordingly.
    let limits = Limits { burst: 12, per_second: 1, ..Limits::default() };
    let dear = Server::start(&world.chain, limits, any_port()).await;
    let url = format!("{}/job/{}/history", dear.url(), HexHash(id));
    let mut answered = 0;
    while reqwest::get(&url).await.unwrap().status().is_success() {
        answered += 1;
        assert!(answered < 10, "it costs no more than any request");
    }
    assert!(answered > 0);

    let receipt = world.client.job_receipt(id).await.unwrap();
    assert_eq!((receipt.job.id, receipt.history.entries.len()), (HexHash(id), names.len()));
    assert_eq!(receipt.proof.key.0, JobKey { job: id }.bytes());
    assert_eq!(receipt.proof.root, receipt.block.state.root);
}

#[tokio::test]
async fn a_draw_at_once_names_the_beacon_of_its_block() {
    let world = World::new().await;
    let runners = world.register(2).await;
    let id = world.submit_job(single_job()).await;
    let job = world.client.job(id).await.unwrap();
    assert_eq!(job.status, JobStatusView::Assigned {});
    let drawn = runners.iter().find(|key| key.address() == job.seats[0].runner.0).unwrap();
    let sealed = seal(drawn, id, 0, ANSWER);
    let (result, result_sig) = (sealed.reveal.result, sealed.reveal.result_sig);
    let what = Instruction::SubmitResult { job: id, result, result_sig };
    let post = parts(&world, drawn, what).await;
    world.client.post_job_result(drawn.address(), &post).await.unwrap();
    world.job_when(id, |job| job.status == JobStatusView::Settled {}).await;

    let history = world.client.job_history(id).await.unwrap();
    assert_eq!(&names(&history)[..2], ["JobSubmitted", "JobAssigned"]);
    let [draw] = history.draws.as_slice() else { panic!("one selection") };
    assert_eq!((draw.bound_view, draw.seats), (None, 1));
    assert_eq!(draw.assigned_at, Some(job.submitted_at));
    let seed = selection_seed(
        SelectionMode::Immediate,
        draw.beacon.expect("the beacon is known").0,
        id,
        job.submitted_at.0,
    );
    assert_eq!(draw.seed, Some(HexHash(seed)));
    assert!(draw.seed_signature.is_some());
    assert_eq!(draw.roots, job.snapshot.roots);
}

#[tokio::test]
async fn a_job_without_candidates_fails_in_plain_words() {
    let world = World::new().await;
    let id = world.submit_job(vote_job()).await;
    let job = world.client.job(id).await.unwrap();
    assert!(job.over && matches!(job.status, JobStatusView::Failed { .. }));
    let history = world.client.job_history(id).await.unwrap();
    assert!(names(&history).contains(&"Refunded"));
    assert!(history.draws.is_empty());
}

#[tokio::test]
async fn a_job_written_as_json_runs() {
    let world = World::new().await;
    world.register(3).await;
    let json = serde_json::to_vec(&JobSpecView::from(&vote_job())).unwrap();
    let spec = JobSpec::try_from(&JobSpecView::from_json(&json).unwrap()).unwrap();
    let id = world.submit_job(spec).await;
    world.assigned(id).await;
}

#[tokio::test]
async fn a_heartbeat_reaches_the_chain() {
    let world = World::new().await;
    let runner = world.register(1).await.remove(0);
    for in_parts in [true, false] {
        let post = if in_parts {
            parts(&world, &runner, Instruction::Heartbeat).await
        } else {
            in_bytes(&world, &runner, Instruction::Heartbeat).await
        };
        let posted = world.client.post_heartbeat(runner.address(), &post).await.unwrap();
        assert_eq!(posted.instruction, "Heartbeat");
        let hash = posted.submitted.hash.0;
        let receipt = loop {
            match world.client.receipt(hash).await {
                Ok(receipt) => break receipt,
                Err(error) => assert_eq!(error.code(), Some("unknown_transaction")),
            }
        };
        assert!(matches!(receipt.events[..], [EventBody::HeartbeatSeen { .. }, ..]));
    }
}

#[tokio::test]
async fn a_report_must_be_the_runners_own_and_fit_its_endpoint() {
    let world = World::still(calm(), roomy()).await;
    let (bob, ann) = (key("bob"), key("ann"));
    let heartbeat = in_bytes(&world, &bob, Instruction::Heartbeat).await;
    let code = |result: Result<_, remuda_client::ClientError>| {
        let _: &remuda_client::types::RunnerPosted = match &result {
            Ok(posted) => posted,
            Err(error) => return error.code().map(str::to_owned),
        };
        None
    };
    let post = |who: Address, post: RunnerPost| {
        let client = world.client.clone();
        async move { client.post_heartbeat(who, &post).await }
    };
    assert_eq!(code(post(ann.address(), heartbeat.clone()).await).as_deref(), Some("wrong_signer"));
    let result = world.client.post_job_result(bob.address(), &heartbeat).await;
    assert_eq!(code(result).as_deref(), Some("wrong_instruction"));
    let transfer = Instruction::Transfer {
        to: ann.address(),
        amount: remuda_protocol::primitives::Amount::CBY,
    };
    let transfer = in_bytes(&world, &bob, transfer).await;
    assert_eq!(code(post(bob.address(), transfer).await).as_deref(), Some("wrong_instruction"));
    let neither = RunnerPost::default();
    assert_eq!(code(post(bob.address(), neither).await).as_deref(), Some("invalid_body"));
    let mut short = parts(&world, &bob, Instruction::Heartbeat).await;
    short.parts.as_mut().unwrap().signature.0.pop();
    assert_eq!(code(post(bob.address(), short).await).as_deref(), Some("invalid_body"));
    let garbage = RunnerPost { transaction: Some(HexBytes(vec![1, 2, 3])), parts: None };
    assert_eq!(code(post(bob.address(), garbage).await).as_deref(), Some("invalid_body"));
}

#[tokio::test]
async fn under_sunset_runners_are_not_served_by_polling() {
    let mut params = calm();
    params.presence_policy = 3;
    let world = World::still(params, roomy()).await;
    let bob = key("bob");
    let heartbeat = in_bytes(&world, &bob, Instruction::Heartbeat).await;
    let errors = [
        world.client.runner_jobs(bob.address()).await.map(drop).unwrap_err(),
        world.client.post_heartbeat(bob.address(), &heartbeat).await.map(drop).unwrap_err(),
        world.client.post_job_result(bob.address(), &heartbeat).await.map(drop).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, remuda_client::ClientError::Refused { status: 410, .. }));
        assert_eq!(error.code(), Some("sunset"));
    }
    assert_eq!(world.client.status().await.unwrap().policy, "sunset");
    let unknown = world.client.job(B256::ZERO).await.unwrap_err();
    assert!(unknown.is_not_found());
}
