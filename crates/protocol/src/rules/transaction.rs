//! Transactions: signed by one account, one instruction each.
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::{Bytes, Encode, codec_enum, codec_struct};
use crate::base::crypto::{SecretKey, Signature};
use crate::base::primitives::{Address, Amount, B256, Height, JobId, TxHash, keccak256};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::entitlements::constraints::Constraints;
use crate::rules::entitlements::scope::{Action, Scope};
use crate::rules::event::CrashSignal;
use crate::rules::fees::{Bid, Lane};
use crate::rules::registry::runner::Offer;
use crate::rules::timers::config::TimerConfig;
use crate::rules::timers::host::ScheduleTimer;
use crate::rules::verifier::excuse::Delivery;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub chain_id: u64,
    /// The account's count of transactions.
    pub nonce: u64,
    pub cycles_limit: u64,
    pub cells_limit: u64,
    pub cycle_bid: Bid,
    pub cell_bid: Bid,
    /// Deposits for what it leaves in the state, at most. They are taken besides the fee, and returned
    /// to the owners of the records.
    pub max_deposit: Amount,
    pub instruction: Instruction,
}
codec_struct!(Transaction {
    chain_id,
    nonce,
    cycles_limit,
    cells_limit,
    cycle_bid,
    cell_bid,
    max_deposit,
    instruction,
});

impl Transaction {
    /// What is signed: `keccak256("cowboy-tx-v1:" ‖ chain_id_be8 ‖ keccak256(body))`.
    pub fn digest(&self) -> B256 {
        let mut bytes = b"cowboy-tx-v1:".to_vec();
        self.chain_id.encode(&mut bytes);
        keccak256(self.to_bytes()).encode(&mut bytes);
        keccak256(bytes)
    }

    pub fn sign(self, key: &SecretKey) -> SignedTransaction {
        let signature = key.sign(&self.digest());
        SignedTransaction { body: self, signature }
    }
}

/// A transaction as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTransaction {
    pub body: Transaction,
    pub signature: Signature,
}
codec_struct!(SignedTransaction { body, signature });

/// The name of a transaction: the hash of its signed bytes.
pub fn tx_hash(signed_bytes: &[u8]) -> TxHash {
    keccak256(signed_bytes)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reveal {
    pub runner: Address,
    /// The result, or an excuse for there being none.
    pub result: Delivery,
    /// What hid it in the commitment.
    pub salt: B256,
    /// The runner's signature over it.
    pub result_sig: Signature,
}
codec_struct!(Reveal { runner, result, salt, result_sig });

/// What a transaction does. The numbers are the protocol's instruction numbers; 30–35 and
/// 48–50 are the seeds' for entitlements and the timers' system instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    Transfer {
        to: Address,
        amount: Amount,
    },
    RegisterRunner {
        stake: Amount,
        offer: Offer,
    },
    UpdateRunner {
        offer: Offer,
    },
    Stake {
        amount: Amount,
    },
    /// Lower the own stake; paid out after the unbonding time.
    Unstake {
        amount: Amount,
    },
    PauseRunner,
    ResumeRunner,
    /// Say that one is alive.
    Heartbeat,
    DeregisterRunner,
    Delegate {
        runner: Address,
        amount: Amount,
        /// The fewest shares that it has to be worth.
        min_shares: u128,
    },
    /// Withdraw from a runner; paid out after the unbonding time.
    Undelegate {
        runner: Address,
        shares: u128,
    },
    SubmitJob {
        spec: JobSpec,
    },
    /// Cancel a job before the first commit.
    CancelJob {
        job: JobId,
    },
    /// Bind oneself to a result.
    CommitResult {
        job: JobId,
        commitment: B256,
    },
    RevealResult {
        job: JobId,
        reveal: Reveal,
    },
    /// Open the results of several runners, as the job's aggregator.
    RevealAggregate {
        job: JobId,
        reveals: Vec<Reveal>,
    },
    /// Deliver the result of a job with a single runner.
    SubmitResult {
        job: JobId,
        /// The result, or an excuse for there being none.
        result: Delivery,
        /// The runner's signature over it.
        result_sig: Signature,
    },
    /// Say that one crashed after the commit.
    CrashAttestation {
        job: JobId,
        signal: CrashSignal,
    },
    EntitlementGrant {
        grantee: Address,
        scope: Scope,
        action: Action,
        constraints: Constraints,
    },
    /// Accept a membership of a runner pool, which holds from then on.
    EntitlementAccept {
        entitlement: B256,
    },
    /// Take a right, or give up the sender's.
    EntitlementRevoke {
        entitlement: B256,
    },
    /// Delegate a part of the sender's right.
    EntitlementDelegate {
        entitlement: B256,
        delegatee: Address,
        constraints: Constraints,
    },
    EntitlementCreateRole {
        name: Bytes,
        scopes: Vec<Scope>,
        actions: Vec<Action>,
        constraints: Constraints,
    },
    EntitlementAssignRole {
        role: B256,
        assignee: Address,
    },
    /// Take a role, or give up the sender's.
    EntitlementRevokeRole {
        role: B256,
        assignee: Address,
    },
    /// Make a runner pool or a namespace, and own it.
    EntitlementCreateScope {
        scope: Scope,
    },
    /// SYS_CANCEL_TIMER: end a timer that misbehaves or is abandoned.
    SystemCancelTimer {
        timer: B256,
    },
    /// SYS_UPDATE_TIMER_CONFIG: change the limits on timers.
    UpdateTimerConfig {
        config: TimerConfig,
    },
    /// SYS_EXTEND_TIMER: let a timer live whose actor can no longer do it.
    SystemExtendTimer {
        timer: B256,
        expires_at: Height,
    },
    /// Have oneself called at a height.
    ScheduleTimer {
        /// When, and on what terms.
        timer: ScheduleTimer,
    },
    CancelTimer {
        timer: B256,
    },
    ExtendTimer {
        timer: B256,
        expires_at: Height,
    },
    /// Put a bond on a bonded result being wrong, and pay for its trial.
    ChallengeResult {
        job: JobId,
    },
    /// Put code on the chain. Its address follows from the account, the salt and the code.
    DeployActor {
        /// Tells apart what one account deploys of the same code.
        salt: B256,
        code: String,
        payload: Bytes,
        /// Money that it begins with.
        value: Amount,
    },
    CallActor {
        actor: Address,
        method: String,
        payload: Bytes,
        /// Money that goes with the call.
        value: Amount,
    },
    /// Replace the code of the sender's actor.
    UpgradeActor {
        actor: Address,
        code: String,
    },
}
codec_enum!(Instruction {
    1 => Transfer { to, amount },
    10 => RegisterRunner { stake, offer },
    11 => UpdateRunner { offer },
    12 => Stake { amount },
    13 => Unstake { amount },
    14 => PauseRunner {},
    15 => ResumeRunner {},
    16 => Heartbeat {},
    17 => DeregisterRunner {},
    18 => Delegate { runner, amount, min_shares },
    19 => Undelegate { runner, shares },
    20 => SubmitJob { spec },
    21 => CancelJob { job },
    24 => CommitResult { job, commitment },
    25 => RevealResult { job, reveal },
    26 => RevealAggregate { job, reveals },
    27 => SubmitResult { job, result, result_sig },
    28 => CrashAttestation { job, signal },
    29 => ChallengeResult { job },
    30 => EntitlementGrant { grantee, scope, action, constraints },
    31 => EntitlementRevoke { entitlement },
    32 => EntitlementDelegate { entitlement, delegatee, constraints },
    33 => EntitlementCreateRole { name, scopes, actions, constraints },
    34 => EntitlementAssignRole { role, assignee },
    35 => EntitlementRevokeRole { role, assignee },
    36 => EntitlementCreateScope { scope },
    37 => EntitlementAccept { entitlement },
    48 => SystemCancelTimer { timer },
    49 => UpdateTimerConfig { config },
    50 => SystemExtendTimer { timer, expires_at },
    51 => ScheduleTimer { timer },
    52 => CancelTimer { timer },
    53 => ExtendTimer { timer, expires_at },
    60 => DeployActor { salt, code, payload, value },
    61 => CallActor { actor, method, payload, value },
    62 => UpgradeActor { actor, code },
});

impl Instruction {
    /// Whose cycles it draws on.
    pub fn lane(&self) -> Lane {
        match self {
            Self::Heartbeat
            | Self::CommitResult { .. }
            | Self::RevealResult { .. }
            | Self::RevealAggregate { .. }
            | Self::SubmitResult { .. }
            | Self::CrashAttestation { .. } => Lane::Runner,
            Self::SystemCancelTimer { .. }
            | Self::UpdateTimerConfig { .. }
            | Self::SystemExtendTimer { .. } => Lane::System,
            _ => Lane::User,
        }
    }
}

impl SignedTransaction {
    /// Bytes that the signature adds to the body.
    pub const SIGNATURE_BYTES: usize = 65;
}
