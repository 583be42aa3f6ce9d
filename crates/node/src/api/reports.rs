//! `POST /runner/{address}/{job_result,heartbeat}`: how runners without a session report.
//!
//! A validator only forwards (SPEC §5): what comes in is a transaction that the runner signed, as
//! bytes or as its parts, and what goes out says where it went.

use super::App;
use super::error::Failure;
use super::extract::{Body, Part};
use axum::Json;
use axum::extract::State;
use remuda_client::types::{ApiError, HexAddress, HexHash, RunnerPost, RunnerPosted, code};
use remuda_protocol::codec::{Decode, Encode};
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::transaction::{Instruction, SignedTransaction};

/// Takes a runner's commit, reveal or result.
#[utoipa::path(
    post, path = "/runner/{address}/job_result", tag = "runners", request_body = RunnerPost,
    params(("address" = HexAddress, Path, description = "The runner's account")),
    responses(
        (status = 200, body = RunnerPosted),
        (status = 410, body = ApiError, description = "Polling has ended on this chain"),
        (status = "4XX", body = ApiError), (status = "5XX", body = ApiError),
    )
)]
pub(super) async fn job_result(
    State(app): State<App>,
    Part(HexAddress(runner)): Part<HexAddress>,
    Body(post): Body<RunnerPost>,
) -> Result<Json<RunnerPosted>, Failure> {
    app.forward(runner, post, |instruction| match instruction {
        Instruction::CommitResult { job, .. } => Some(("CommitResult", Some(*job))),
        Instruction::RevealResult { job, .. } => Some(("RevealResult", Some(*job))),
        Instruction::RevealAggregate { job, .. } => Some(("RevealAggregate", Some(*job))),
        Instruction::SubmitResult { job, .. } => Some(("SubmitResult", Some(*job))),
        Instruction::CrashAttestation { job, .. } => Some(("CrashAttestation", Some(*job))),
        _ => None,
    })
    .map(Json)
}

/// Takes a runner's heartbeat.
#[utoipa::path(
    post, path = "/runner/{address}/heartbeat", tag = "runners", request_body = RunnerPost,
    params(("address" = HexAddress, Path, description = "The runner's account")),
    responses(
        (status = 200, body = RunnerPosted),
        (status = 410, body = ApiError, description = "Polling has ended on this chain"),
        (status = "4XX", body = ApiError), (status = "5XX", body = ApiError),
    )
)]
pub(super) async fn heartbeat(
    State(app): State<App>,
    Part(HexAddress(runner)): Part<HexAddress>,
    Body(post): Body<RunnerPost>,
) -> Result<Json<RunnerPosted>, Failure> {
    let kind = |instruction: &Instruction| {
        matches!(instruction, Instruction::Heartbeat).then_some(("Heartbeat", None))
    };
    app.forward(runner, post, kind).map(Json)
}

/// What an endpoint takes: the instruction's name and job, or nothing.
type Kind = fn(&Instruction) -> Option<(&'static str, Option<JobId>)>;

impl App {
    fn forward(
        &self,
        runner: Address,
        post: RunnerPost,
        kind: Kind,
    ) -> Result<RunnerPosted, Failure> {
        self.check_sunset()?;
        let signed = read_post(post)?;
        let (name, job) = kind(&signed.body.instruction).ok_or_else(|| {
            Failure::new(code::WRONG_INSTRUCTION, "this endpoint does not take this instruction")
                .hint("results, commits and reveals go to job_result, heartbeats to heartbeat, everything else to /submit")
        })?;
        let signer = signed.signature.recover_address(&signed.body.digest());
        if signer != Ok(runner) {
            return Err(Failure::new(
                code::WRONG_SIGNER,
                "the signature is not that of the runner in the path",
            )
            .hint("sign keccak256(\"cowboy-tx-v1:\" ‖ chain_id ‖ keccak256(body)) with the runner's key"));
        }
        let submitted = self.hand_in(signed.to_bytes())?;
        Ok(RunnerPosted {
            went_to: "mempool".to_owned(),
            instruction: name.to_owned(),
            job: job.map(HexHash),
            submitted,
        })
    }
}

fn read_post(post: RunnerPost) -> Result<SignedTransaction, Failure> {
    let invalid = |message: String| Failure::new(code::INVALID_BODY, message);
    match (post.transaction, post.parts) {
        (Some(bytes), None) => SignedTransaction::from_bytes(&bytes.0)
            .map_err(|error| invalid(format!("`transaction` is no transaction: {error}"))),
        (None, Some(parts)) => parts.try_into().map_err(|error| invalid(format!("{error}"))),
        _ => Err(invalid("give either `transaction` or `parts`".to_owned())),
    }
}
