//! Handing transactions in.

use super::error::ApiError;
use super::receipt::ReceiptView;
use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint};
use super::transaction::{BidView, DeliveryView, RevealView};
use remuda_protocol::crypto::Signature;
use remuda_protocol::fees::Bid;
use remuda_protocol::primitives::Amount;
use remuda_protocol::transaction::{Instruction, Reveal, SignedTransaction, Transaction};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use utoipa::ToSchema;

/// One signed transaction, or several: exactly one of the two fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<HexBytes>,
    /// Several, taken in this order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<Vec<HexBytes>>,
    /// Answer only when they are in finalised blocks, or the node's patience ends.
    #[serde(default)]
    pub wait: bool,
}

/// What became of what was handed in, in the same order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SubmitResponse {
    /// One result per transaction, in order.
    pub results: Vec<Submitted>,
}

/// What became of one transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    pub hash: HexHash,
    pub status: SubmitStatus,
    /// How it ended, once it is in a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<ReceiptView>,
    /// Why it was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ApiError>,
}

/// How far a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubmitStatus {
    /// It waits for a block.
    Accepted,
    /// It is in a finalised block; see its receipt for how it ended.
    Included,
    /// It was not taken.
    Refused,
    /// It was taken, then dropped before any block had it; hand it in again.
    Dropped,
}

/// What a runner posts to its own endpoints: a signed transaction, or the parts of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunnerPost {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<HexBytes>,
    /// Its parts and the signature over them; the node puts them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<SignedParts>,
}

/// The parts of a runner's transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignedParts {
    pub chain_id: Uint,
    /// The account's count of transactions.
    pub nonce: Uint,
    /// Most cycles it may use.
    pub cycles_limit: Uint,
    /// Most cells it may use.
    pub cells_limit: Uint,
    /// Price offered per cycle.
    pub cycle_bid: BidView,
    /// Price offered per cell.
    pub cell_bid: BidView,
    /// Deposits for what it leaves in the state, at most: 0, since no report of a runner stays there.
    #[serde(default)]
    pub max_deposit: BigUint,
    pub instruction: RunnerInstruction,
    /// r, s and v, over the transaction's digest.
    pub signature: HexBytes,
}

/// What a runner reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum RunnerInstruction {
    /// Heartbeat.
    Heartbeat {},
    /// It is bound to a result.
    CommitResult { job: HexHash, commitment: HexHash },
    /// Reveals a committed result.
    RevealResult { job: HexHash, reveal: RevealView },
    /// The result of a job with a single runner.
    SubmitResult {
        job: HexHash,
        /// The result, or an excuse.
        result: DeliveryView,
        /// The runner's signature over it.
        result_sig: HexBytes,
    },
}

/// Why parts do not make a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PartsError {
    /// A signature of another length.
    #[error("{0} must have 65 bytes: r, s and v")]
    SignatureLength(&'static str),
}

/// Where a runner's report went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnerPosted {
    /// Where: always `mempool`; a validator only forwards what a runner signed.
    pub went_to: String,
    /// Name of the instruction.
    pub instruction: String,
    /// The job that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<HexHash>,
    /// Hash and status of the transaction; look it up at `/transaction/{hash}`.
    pub submitted: Submitted,
}

/// Who wants money for trying things out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FaucetRequest {
    pub address: HexAddress,
}

/// What the faucet gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FaucetResponse {
    /// Hash of the transfer.
    pub transaction: HexHash,
    pub amount: BigUint,
}

fn signature(bytes: &HexBytes, field: &'static str) -> Result<Signature, PartsError> {
    let bytes = bytes.0.as_slice().try_into();
    Ok(Signature { bytes: bytes.map_err(|_| PartsError::SignatureLength(field))? })
}

impl From<BidView> for Bid {
    fn from(view: BidView) -> Self {
        Self { max_fee: view.max_fee.0, max_priority: view.max_priority.0 }
    }
}

impl TryFrom<SignedParts> for SignedTransaction {
    type Error = PartsError;

    fn try_from(parts: SignedParts) -> Result<Self, PartsError> {
        let instruction = match parts.instruction {
            RunnerInstruction::Heartbeat {} => Instruction::Heartbeat,
            RunnerInstruction::CommitResult { job, commitment } => {
                Instruction::CommitResult { job: job.0, commitment: commitment.0 }
            }
            RunnerInstruction::RevealResult { job, reveal } => {
                let result_sig = signature(&reveal.result_sig, "reveal.result_sig")?;
                let (runner, salt) = (reveal.runner.0, reveal.salt.0);
                let reveal = Reveal { runner, result: reveal.result.into(), salt, result_sig };
                Instruction::RevealResult { job: job.0, reveal }
            }
            RunnerInstruction::SubmitResult { job, result, result_sig } => {
                let result_sig = signature(&result_sig, "result_sig")?;
                Instruction::SubmitResult { job: job.0, result: result.into(), result_sig }
            }
        };
        let body = Transaction {
            chain_id: parts.chain_id.0,
            nonce: parts.nonce.0,
            cycles_limit: parts.cycles_limit.0,
            cells_limit: parts.cells_limit.0,
            cycle_bid: parts.cycle_bid.into(),
            cell_bid: parts.cell_bid.into(),
            max_deposit: Amount(parts.max_deposit.0),
            instruction,
        };
        Ok(Self { body, signature: signature(&parts.signature, "signature")? })
    }
}
