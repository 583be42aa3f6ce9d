//! `GET /runner/{address}/validators` and `POST /job/{id}/handover`: what runners need beside their
//! sessions.

use super::App;
use super::error::Failure;
use super::extract::{Body, Part};
use super::runners::unknown_runner;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{
    ApiError, HandedOver, HandoverPost, HexAddress, HexHash, RunnerValidator, RunnerValidators,
    Uint, code,
};
use remuda_link::frame::Handover;
use remuda_link::sign;
use remuda_protocol::chain::Validator;
use remuda_protocol::crypto::Signature;
use remuda_protocol::dispatcher::job::{SeatState, Status};
use remuda_protocol::key::{JobKey, PresenceKey, RunnerKey, ValidatorsKey};
use remuda_protocol::presence::presence_threshold;
use remuda_protocol::primitives::B256;
use remuda_protocol::state::{Indexed as _, read};

/// The largest result, and what a seal adds to it.
const SEALED_BYTES_MAX: usize = 65_536 + 1_024;

/// The validators that a runner keeps sessions with, and where they are.
#[utoipa::path(
    get, path = "/runner/{address}/validators", operation_id = "runner_validators", tag = "runners",
    params(("address" = HexAddress, Path, description = "The runner's account")),
    responses((status = 200, body = RunnerValidators), (status = "4XX", body = ApiError))
)]
pub(super) async fn validators(
    State(app): State<App>,
    Part(HexAddress(address)): Part<HexAddress>,
) -> Result<Json<RunnerValidators>, Failure> {
    let tip = app.tip();
    let runner = read(&tip.state, &RunnerKey { runner: address }).ok_or_else(unknown_runner)?;
    let known: Vec<Validator> = read(&tip.state, &ValidatorsKey {}).unwrap_or_default();
    let subsets = tip.state.subsets();
    let now = subsets.members(runner.slot);
    let before = subsets.members_before(runner.slot);
    let threshold = presence_threshold(now.len());
    let view = |index: u32, current: bool| {
        let validator = known.get(index as usize)?;
        let endpoints = app.runners.endpoints(index);
        let key = HexHash(B256::new(validator.key));
        Some(RunnerValidator { index, key, link: endpoints.link, api: endpoints.api, current })
    };
    let older = before.iter().filter(|index| !now.contains(index));
    let validators = now.iter().filter_map(|index| view(*index, true));
    let validators = validators.chain(older.filter_map(|index| view(*index, false)));
    Ok(Json(RunnerValidators {
        runner: HexAddress(address),
        height: Uint(tip.finalised.height().get()),
        epoch: Uint(read(&tip.state, &PresenceKey {}).map_or(0, |state| state.epoch.number)),
        threshold: u32::try_from(threshold).unwrap_or(u32::MAX),
        validators: validators.collect(),
    }))
}

/// Passes a result on to the job's aggregator. Only it can open it; here only the envelope is read.
#[utoipa::path(
    post, path = "/job/{id}/handover", operation_id = "job_handover", tag = "jobs",
    request_body = HandoverPost,
    params(("id" = HexHash, Path, description = "The job")),
    responses((status = 200, body = HandedOver), (status = "4XX", body = ApiError))
)]
pub(super) async fn handover(
    State(app): State<App>,
    Part(HexHash(id)): Part<HexHash>,
    Body(post): Body<HandoverPost>,
) -> Result<Json<HandedOver>, Failure> {
    let HandoverPost { runner: HexAddress(runner), sealed, signature } = post;
    let tip = app.tip();
    let unknown = || Failure::new(code::UNKNOWN_JOB, "there is no such job");
    let job = read(&tip.state, &JobKey { job: id }).ok_or_else(unknown)?;
    // Not before commits are closed: then nobody can commit to what another has found.
    let Some(aggregator) = job.aggregator.filter(|_| job.status == Status::Committed) else {
        let sentence = "this job takes no results for an aggregator now";
        return Err(Failure::new(code::WRONG_STATUS, sentence)
            .hint("commits must be closed, and nothing settled; /job/{id} says how far it is"));
    };
    let committed = job
        .taking_part()
        .any(|seat| seat.runner == runner && matches!(seat.progress, SeatState::Committed { .. }));
    if !committed {
        let sentence = "this runner has no result to hand over for this job";
        return Err(Failure::new(code::WRONG_SIGNER, sentence));
    }
    if sealed.0.len() > SEALED_BYTES_MAX {
        return Err(Failure::new(code::BODY_TOO_LARGE, "more bytes than any result has"));
    }
    let malformed = || Failure::new(code::INVALID_BODY, "a signature has 65 bytes");
    let runner_signed: [u8; 65] = signature.0.try_into().map_err(|_| malformed())?;
    let handover =
        Handover { job_id: id, runner: runner.into_array(), sealed: sealed.0, runner_signed };
    let digest = sign::handover(app.params().chain_id, &aggregator.into_array(), &handover);
    let signer = Signature { bytes: runner_signed }.recover_address(&digest);
    if signer != Ok(runner) {
        return Err(Failure::new(code::WRONG_SIGNER, "the signature is not this runner's").hint(
            "it covers the chain, the aggregator, the job, the runner and the sealed bytes",
        ));
    }
    Ok(Json(HandedOver { connected: app.runners.hand_over(&aggregator, handover) }))
}
