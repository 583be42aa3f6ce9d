//! What a node says, as far as a runner asks.

use crate::daemon::network::{World, named};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use remuda_client::types::{
    AccountView, ApiError, BasefeesView, BigUint, CauseName, HandedOver, HandoverPost, HexAddress,
    HexBytes, HexHash, HistoryEntry, JobHistory, JobRecords, JobView, ProofView, ReceiptView,
    RunnerJobs, RunnerValidator, RunnerValidators, RunnerView, StatusView, SubmitRequest,
    SubmitResponse, SubmitStatus, Submitted, TransactionStatus, TransactionStatusView, Uint, code,
};
use remuda_link::frame::Handover;
use remuda_link::quic::server::Server;
use remuda_protocol::fees::Basefees;
use remuda_protocol::key::{BasefeesKey, JobSpecKey};
use remuda_protocol::primitives::{Address, B256};
use remuda_protocol::state::{Indexed as _, View as _, read};
use remuda_protocol::transaction::tx_hash;
use std::sync::{Arc, Mutex};

#[derive(Clone)]
struct App {
    world: Arc<Mutex<World>>,
    servers: Arc<Vec<Server>>,
    me: String,
}

pub(crate) async fn serve(world: Arc<Mutex<World>>, servers: Arc<Vec<Server>>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let me = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new()
        .route("/status", get(status))
        .route("/account/{address}", get(account))
        .route("/proof/{key}", get(proof))
        .route("/runner/{address}", get(runner))
        .route("/runner/{address}/validators", get(runner_validators))
        .route("/runner/{address}/jobs", get(jobs))
        .route("/submit", post(submit))
        .route("/transaction/{hash}/status", get(transaction))
        .route("/job/{id}/handover", post(handover))
        .route("/job/{id}/history", get(history))
        .with_state(App { world, servers, me: me.clone() });
    tokio::spawn(async move { axum::serve(listener, router).await });
    me
}

fn refusal(status: StatusCode, code: &str) -> Response {
    let error = ApiError { code: code.to_owned(), message: code.to_owned(), hint: None };
    (status, Json(error)).into_response()
}

async fn status(State(app): State<App>) -> Json<StatusView> {
    let world = app.world.lock().unwrap();
    let chain = &world.chain;
    let basefees: Basefees = read(&chain.state, &BasefeesKey {}).unwrap();
    Json(StatusView {
        version: "test".to_owned(),
        chain_id: Uint(chain.params.chain_id),
        genesis_hash: HexHash(world.genesis),
        height: Uint(chain.height().get()),
        block: HexHash::default(),
        timestamp_ms: Uint(0),
        view: Uint(0),
        block_time_ms: Uint(chain.params.block_time_ms),
        validators: vec![],
        policy: chain.params.policy().name().to_owned(),
        basefees: BasefeesView { cycle: BigUint(basefees.cycle), cell: BigUint(basefees.cell) },
        state_deposit_per_kib: BigUint(chain.params.state_deposit_per_kib),
        supply: BigUint(0),
        burned: BigUint(0),
        m_adaptive: Uint(3),
        peers: 0,
        mempool: Uint(world.pool.len() as u64),
        ready: true,
        uptime_seconds: Uint(0),
    })
}

async fn account(State(app): State<App>, Path(address): Path<HexAddress>) -> Json<AccountView> {
    let world = app.world.lock().unwrap();
    let chain = &world.chain;
    let mut account = chain.account(address.0);
    account.balance = world.shown.unwrap_or(account.balance);
    let next = account.nonce;
    Json(AccountView::new(address.0, &account, next, true, chain.height()))
}

async fn proof(State(app): State<App>, Path(key): Path<HexBytes>) -> Json<ProofView> {
    let world = app.world.lock().unwrap();
    Json(ProofView {
        value: world.chain.state.get(&key.0).map(HexBytes),
        key,
        height: Uint(world.chain.height().get()),
        root: HexHash::default(),
        proof: HexBytes::default(),
    })
}

async fn runner(State(app): State<App>, Path(address): Path<HexAddress>) -> Response {
    let world = app.world.lock().unwrap();
    let chain = &world.chain;
    let (Some(runner), Some(profile)) = (chain.runner(address.0), chain.profile(address.0)) else {
        return refusal(StatusCode::NOT_FOUND, code::UNKNOWN_RUNNER);
    };
    let view = RunnerView::new(address.0, &profile, &runner, chain.height(), &chain.params);
    Json(view).into_response()
}

pub(crate) fn validators(
    world: &World,
    servers: &[Server],
    runner: Address,
    api: Option<String>,
) -> RunnerValidators {
    let named = |i: usize| named(i, &servers[i], api.clone());
    let (now, before) = match (&world.seen, world.chain.profile(runner)) {
        (Some(_), Some(profile)) => {
            let subsets = world.chain.state.subsets();
            (subsets.members(profile.slot), subsets.members_before(profile.slot))
        }
        _ => ((0..servers.len() as u32).collect(), vec![]),
    };
    let older = before.iter().filter(|index| !now.contains(index));
    let older = older.map(|i| RunnerValidator { current: false, ..named(*i as usize) });
    RunnerValidators {
        runner: HexAddress(runner),
        height: Uint(world.chain.height().get()),
        epoch: Uint(world.subset_epoch()),
        threshold: 1,
        validators: now.iter().map(|i| named(*i as usize)).chain(older).collect(),
    }
}

async fn runner_validators(
    State(app): State<App>,
    Path(address): Path<HexAddress>,
) -> Json<RunnerValidators> {
    let world = app.world.lock().unwrap();
    Json(validators(&world, &app.servers, address.0, Some(app.me.clone())))
}

async fn jobs(State(app): State<App>, Path(address): Path<HexAddress>) -> Response {
    let world = app.world.lock().unwrap();
    if world.sunset {
        return refusal(StatusCode::GONE, code::SUNSET);
    }
    let chain = &world.chain;
    let view = |id: &B256| {
        let job = chain.job(*id)?;
        let spec = read(&chain.state, &JobSpecKey { job: *id })?;
        let mine = job.taking_part().any(|seat| seat.runner == address.0);
        let records = JobRecords { job: &job, spec: &spec, result: None, bond: None };
        (mine && !world.is_over(*id)).then(|| JobView::new(*id, records, chain.height()))
    };
    let jobs = world.jobs.iter().filter_map(view).collect();
    Json(RunnerJobs { runner: address, height: Uint(chain.height().get()), jobs }).into_response()
}

async fn submit(
    State(app): State<App>,
    Json(request): Json<SubmitRequest>,
) -> Json<SubmitResponse> {
    let mut world = app.world.lock().unwrap();
    let bytes = request.transaction.unwrap().0;
    let hash = HexHash(tx_hash(&bytes));
    if !world.pool.contains(&bytes) {
        world.pool.push(bytes);
    }
    let status = SubmitStatus::Accepted;
    Json(SubmitResponse { results: vec![Submitted { hash, status, receipt: None, error: None }] })
}

async fn transaction(
    State(app): State<App>,
    Path(hash): Path<HexHash>,
) -> Json<TransactionStatusView> {
    let world = app.world.lock().unwrap();
    let height = world.chain.height();
    let status = match world.chain.receipt(hash.0) {
        Some(receipt) => TransactionStatus::Included {
            height: Uint(height.get()),
            receipt: Some(Box::new(ReceiptView::new(receipt, height, B256::ZERO))),
        },
        None => TransactionStatus::Unknown {},
    };
    Json(TransactionStatusView { hash, status, height: Uint(height.get()) })
}

async fn handover(
    State(app): State<App>,
    Path(id): Path<HexHash>,
    Json(post): Json<HandoverPost>,
) -> Json<HandedOver> {
    let world = app.world.lock().unwrap();
    let aggregator = world.chain.job(id.0).and_then(|job| job.aggregator);
    let frame = Handover {
        job_id: id.0,
        runner: post.runner.0.into_array(),
        sealed: post.sealed.0,
        runner_signed: post.signature.0.try_into().unwrap(),
    };
    let connected = !world.deaf
        && aggregator
            .is_some_and(|to| app.servers.iter().any(|server| server.handover(&to, frame.clone())));
    Json(HandedOver { connected })
}

/// Only what was paid.
async fn history(State(app): State<App>, Path(id): Path<HexHash>) -> Json<JobHistory> {
    let world = app.world.lock().unwrap();
    let entry = |event: &remuda_protocol::event::Event| HistoryEntry {
        height: Uint(0),
        view: Uint(0),
        timestamp_ms: Uint(0),
        block: HexHash::default(),
        cause: CauseName::Transaction,
        transaction: None,
        event: event.into(),
    };
    let about = |event: &&remuda_protocol::event::Event| matches!(event, remuda_protocol::event::Event::Paid { job, .. } if *job == id.0);
    let entries = world.events.iter().filter(about).map(entry).collect();
    let height = Uint(world.chain.height().get());
    Json(JobHistory { id, height, complete: true, entries, draws: vec![] })
}
