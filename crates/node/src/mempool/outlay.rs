//! The money that an instruction takes from its sender besides the fee.

use remuda_protocol::fees::cost;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::Amount;
use remuda_protocol::transaction::{Instruction, Transaction};

/// The most that an instruction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outlay {
    /// As far as the transaction says.
    pub(super) known: Amount,
    /// Whether the state adds to it. Then nothing of this sender may follow in the same block:
    /// whether it can pay shows only afterwards.
    pub(super) open_ended: bool,
}

impl Outlay {
    /// Of a transaction; `None` if it does not fit into 128 bits.
    ///
    /// Every instruction is named: a new one must not be free by default.
    pub(super) fn of(body: &Transaction, params: &ChainParams) -> Option<Self> {
        let known = match &body.instruction {
            Instruction::Transfer { amount, .. }
            | Instruction::Stake { amount }
            | Instruction::Delegate { amount, .. } => *amount,
            Instruction::RegisterRunner { stake, .. } => *stake,
            // What the code spends is the actor's.
            Instruction::DeployActor { value, .. } | Instruction::CallActor { value, .. } => *value,
            Instruction::SubmitJob { spec } => {
                let cycles = spec.callback.as_ref().map_or(0, |callback| callback.cycles_limit);
                let callback = cost(cycles, body.cycle_bid.max_fee)?;
                spec.max_price.plus(spec.tip)?.plus(callback)?
            }
            Instruction::ChallengeResult { .. } => {
                // And the price of the trial, which follows from the challenged job in the state.
                let known = Amount(params.challenge_bond);
                return Some(Self { known: known.plus(body.max_deposit)?, open_ended: true });
            }
            Instruction::UpdateRunner { .. }
            | Instruction::Unstake { .. }
            | Instruction::PauseRunner
            | Instruction::ResumeRunner
            | Instruction::Heartbeat
            | Instruction::DeregisterRunner
            | Instruction::Undelegate { .. }
            | Instruction::CancelJob { .. }
            | Instruction::CommitResult { .. }
            | Instruction::RevealResult { .. }
            | Instruction::RevealAggregate { .. }
            | Instruction::SubmitResult { .. }
            | Instruction::CrashAttestation { .. }
            // A timer is paid for when it fires.
            | Instruction::ScheduleTimer { .. }
            | Instruction::CancelTimer { .. }
            | Instruction::ExtendTimer { .. }
            | Instruction::SystemCancelTimer { .. }
            | Instruction::SystemExtendTimer { .. }
            | Instruction::UpdateTimerConfig { .. }
            | Instruction::EntitlementGrant { .. }
            | Instruction::EntitlementAccept { .. }
            | Instruction::EntitlementRevoke { .. }
            | Instruction::EntitlementDelegate { .. }
            | Instruction::EntitlementCreateRole { .. }
            | Instruction::EntitlementAssignRole { .. }
            | Instruction::EntitlementRevokeRole { .. }
            | Instruction::EntitlementCreateScope { .. }
            | Instruction::UpgradeActor { .. } => Amount::ZERO,
        };
        // What it leaves in the state is held against so much more.
        Some(Self { known: known.plus(body.max_deposit)?, open_ended: false })
    }
}
