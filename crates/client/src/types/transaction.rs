//! Transactions in JSON.

use super::entitlement::{ActionText, ConstraintsView, ScopeText};
use super::event::{ExcuseName, SignalName};
use super::receipt::ReceiptView;
use super::runner::OfferView;
use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint};
use super::spec::JobSpecView;
use super::timer::{ScheduleTimerView, TimerConfigView};
use super::view::{ToView, named_view, view};
use remuda_protocol::codec::{Bytes, Decode, DecodeError};
use remuda_protocol::fees::Bid;
use remuda_protocol::primitives::Height;
use remuda_protocol::transaction::{Instruction, Reveal, SignedTransaction, tx_hash};
use remuda_protocol::verifier::excuse::{Delivery, Excuse};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A transaction, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TransactionView {
    /// Hash of its signed bytes.
    pub hash: HexHash,
    /// Who signed it; none if the signature names nobody.
    pub from: Option<HexAddress>,
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
    /// Deposits for what it leaves in the state, at most; returned to the owners of the records.
    pub max_deposit: BigUint,
    pub instruction: InstructionView,
    /// r, s and v.
    pub signature: HexBytes,
    /// Size of its signed bytes.
    pub bytes: u32,
    /// Height of its block.
    pub height: Uint,
    /// Its place in that block.
    pub index: u32,
}

impl TransactionView {
    /// Reads the bytes that a block holds.
    pub fn new(signed: &[u8], height: Height, index: u32) -> Result<Self, DecodeError> {
        let SignedTransaction { body, signature } = SignedTransaction::from_bytes(signed)?;
        let from = signature.recover_address(&body.digest()).ok();
        Ok(Self {
            hash: HexHash(tx_hash(signed)),
            from: from.to_view(),
            chain_id: Uint(body.chain_id),
            nonce: Uint(body.nonce),
            cycles_limit: Uint(body.cycles_limit),
            cells_limit: Uint(body.cells_limit),
            cycle_bid: body.cycle_bid.to_view(),
            cell_bid: body.cell_bid.to_view(),
            max_deposit: body.max_deposit.to_view(),
            instruction: body.instruction.to_view(),
            signature: signature.to_view(),
            bytes: u32::try_from(signed.len()).unwrap_or(u32::MAX),
            height: height.to_view(),
            index,
        })
    }
}

/// Where a transaction is, as far as a node knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TransactionStatusView {
    /// Hash of its signed bytes.
    pub hash: HexHash,
    pub status: TransactionStatus,
    /// Height of the newest finalised block then.
    pub height: Uint,
}

/// Where a transaction is: `{"Pending":{}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum TransactionStatus {
    /// In a finalised block.
    Included {
        height: Uint,
        /// How it ended; none if this node no longer has the block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt: Option<Box<ReceiptView>>,
    },
    /// It waits at this node.
    Pending {},
    /// This node does not have it. It may never have been handed in, be on its way from another
    /// node, or have been dropped.
    Unknown {},
}

view! {
    /// What a transaction offers for one meter.
    #[derive(Copy)]
    pub struct BidView of Bid {
        /// Most it pays per unit, everything included.
        max_fee: BigUint,
        /// Most of it that goes to the proposer.
        max_priority: BigUint,
    }
}

/// What a runner delivers: a result as hex, or `{"excuse":"unreachable"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum DeliveryView {
    /// A result.
    Result(HexBytes),
    /// The reason why there is none.
    Excuse { excuse: ExcuseName },
}

impl ToView for Delivery {
    type View = DeliveryView;
    fn to_view(&self) -> DeliveryView {
        match self {
            Self::Result { bytes } => DeliveryView::Result(bytes.to_view()),
            Self::Excuse { code } => DeliveryView::Excuse { excuse: code.to_view() },
        }
    }
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        delivery.to_view()
    }
}

impl From<DeliveryView> for Delivery {
    fn from(view: DeliveryView) -> Self {
        match view {
            DeliveryView::Result(bytes) => Bytes(bytes.0).into(),
            DeliveryView::Excuse { excuse } => Excuse::from(excuse).into(),
        }
    }
}

view! {
    /// One runner's result, opened.
    pub struct RevealView of Reveal {
        runner: HexAddress,
        /// The result, or an excuse.
        result: DeliveryView,
        /// What hid it in the commitment.
        salt: HexHash,
        /// The runner's signature over it.
        result_sig: HexBytes,
    }
}

named_view! {
    /// What a transaction does: `{"Transfer":{"to":"0x…","amount":"1"}}`.
    pub enum InstructionView of Instruction;

    Transfer { to: HexAddress, amount: BigUint } "Send money.";
    RegisterRunner { stake: BigUint, offer: OfferView } "Join as a runner.";
    UpdateRunner { offer: OfferView } "Change the offer.";
    Stake { amount: BigUint } "Raise the own stake.";
    Unstake { amount: BigUint } "Lower the own stake.";
    PauseRunner {} "Take no new jobs.";
    ResumeRunner {} "Take jobs again.";
    Heartbeat {} "Say that one is alive.";
    DeregisterRunner {} "Leave; all stake unbonds.";
    Delegate { runner: HexAddress, amount: BigUint, min_shares: BigUint } "Stake on a runner.";
    Undelegate { runner: HexAddress, shares: BigUint } "Withdraw from a runner.";
    SubmitJob { spec: JobSpecView } "Order work.";
    CancelJob { job: HexHash } "Call a job off.";
    CommitResult { job: HexHash, commitment: HexHash } "Bind oneself to a result.";
    RevealResult { job: HexHash, reveal: RevealView } "Open one's own result.";
    RevealAggregate { job: HexHash, reveals: Vec<RevealView> } "Open the results of several runners.";
    SubmitResult { job: HexHash, result: DeliveryView, result_sig: HexBytes } "Deliver the result of a job with a single runner.";
    CrashAttestation { job: HexHash, signal: SignalName } "Say that one crashed after the commit.";
    ChallengeResult { job: HexHash } "Put a bond on a bonded result being wrong.";
    EntitlementGrant { grantee: HexAddress, scope: ScopeText, action: ActionText, constraints: ConstraintsView } "Give somebody a right.";
    EntitlementAccept { entitlement: HexHash } "Accept a membership of a runner pool.";
    EntitlementRevoke { entitlement: HexHash } "Take a right, or give up one's own.";
    EntitlementDelegate { entitlement: HexHash, delegatee: HexAddress, constraints: ConstraintsView } "Pass on a part of one's own right.";
    EntitlementCreateRole { name: HexBytes, scopes: Vec<ScopeText>, actions: Vec<ActionText>, constraints: ConstraintsView } "Bundle rights.";
    EntitlementAssignRole { role: HexHash, assignee: HexAddress } "Give somebody a role.";
    EntitlementRevokeRole { role: HexHash, assignee: HexAddress } "Take a role, or give up one's own.";
    EntitlementCreateScope { scope: ScopeText } "Make a runner pool or a namespace, and own it.";
    SystemCancelTimer { timer: HexHash } "End a timer that misbehaves or is abandoned.";
    UpdateTimerConfig { config: TimerConfigView } "Change the limits on timers.";
    SystemExtendTimer { timer: HexHash, expires_at: Uint } "Let a timer live whose actor can no longer do it.";
    ScheduleTimer { timer: ScheduleTimerView } "Have oneself called at a height.";
    CancelTimer { timer: HexHash } "Call off a timer of one's own.";
    ExtendTimer { timer: HexHash, expires_at: Uint } "Let a timer of one's own live for longer.";
    DeployActor { salt: HexHash, code: String, payload: HexBytes, value: BigUint } "Put code on the chain.";
    CallActor { actor: HexAddress, method: String, payload: HexBytes, value: BigUint } "Call an actor.";
    UpgradeActor { actor: HexAddress, code: String } "Give an actor of one's own other code.";
}
