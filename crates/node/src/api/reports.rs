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
    app.forward(Endpoint::JobResult, runner, post).map(Json)
}

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
    app.forward(Endpoint::Heartbeat, runner, post).map(Json)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    JobResult,
    Heartbeat,
}

/// Where a report belongs, its name, and the job that it is about; none if it is no report.
fn report(instruction: &Instruction) -> Option<(Endpoint, &'static str, Option<JobId>)> {
    use Endpoint::{Heartbeat, JobResult};
    Some(match instruction {
        Instruction::CommitResult { job, .. } => (JobResult, "CommitResult", Some(*job)),
        Instruction::RevealResult { job, .. } => (JobResult, "RevealResult", Some(*job)),
        Instruction::RevealAggregate { job, .. } => (JobResult, "RevealAggregate", Some(*job)),
        Instruction::SubmitResult { job, .. } => (JobResult, "SubmitResult", Some(*job)),
        Instruction::CrashAttestation { job, .. } => (JobResult, "CrashAttestation", Some(*job)),
        Instruction::Heartbeat => (Heartbeat, "Heartbeat", None),
        _ => return None,
    })
}

impl App {
    fn forward(
        &self,
        endpoint: Endpoint,
        runner: Address,
        post: RunnerPost,
    ) -> Result<RunnerPosted, Failure> {
        self.check_sunset()?;
        let signed = read_post(post)?;
        let report = report(&signed.body.instruction).filter(|(taken, ..)| *taken == endpoint);
        let (_, name, job) = report.ok_or_else(|| {
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
