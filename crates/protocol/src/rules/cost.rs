//! What instructions cost, in cycles and cells.
//!
//! Consensus: a change here forks the chain.
//!
//! A cycle is meant to be about 50 ns of a validator's time, a cell a byte that every validator
//! keeps or carries. Where an instruction's work grows with its input, so does its price.

use crate::base::codec::Encode;
use crate::rules::actors::price::COMPILE_BYTE_CYCLES;
use crate::rules::deposit::{PROGRAM_BYTES, RECORD_BYTES, RUNNER_BYTES};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::entitlements::price as entitlements;
use crate::rules::timers::host::{CHANGE_CYCLES, SCHEDULE_CELLS, SCHEDULE_CYCLES};
use crate::rules::transaction::Instruction;
use crate::rules::work::{Cost, EXCLUDED_RUNNER_CYCLES, SEAT_CYCLES};

/// Recovering the signer and moving the fee.
const TRANSACTION_CYCLES: u64 = 2_000;

/// What every transaction pays: its signature, its bytes, and the base price of its instruction.
pub fn intrinsic(instruction: &Instruction, bytes: usize) -> Cost {
    let base = base(instruction);
    Cost { cycles: TRANSACTION_CYCLES + base.cycles, cells: bytes as u64 + base.cells }
}

fn base(instruction: &Instruction) -> Cost {
    let (cycles, cells) = match instruction {
        Instruction::Transfer { .. } => (200, 0),
        Instruction::RegisterRunner { .. } => (5_000, 500),
        Instruction::UpdateRunner { .. } => (3_000, 300),
        Instruction::Stake { .. } | Instruction::Unstake { .. } => (1_000, 100),
        Instruction::Delegate { .. } | Instruction::Undelegate { .. } => (1_000, 100),
        Instruction::PauseRunner | Instruction::ResumeRunner => (1_000, 0),
        // The roster rehashes the runner's path, once for each list that jobs ask for.
        Instruction::Heartbeat => (500, 0),
        Instruction::DeregisterRunner => (2_000, 0),
        Instruction::SubmitJob { spec } => return job_cost(spec),
        Instruction::CancelJob { .. } => (1_000, 0),
        Instruction::CommitResult { .. } => (500, 32),
        Instruction::RevealResult { .. } | Instruction::RevealAggregate { .. } => (500, 0),
        Instruction::SubmitResult { .. } => (1_500, 0),
        Instruction::CrashAttestation { .. } => (500, 0),
        Instruction::ChallengeResult { .. } => (12_000, 500),
        // What it carries is kept, like a handler's.
        Instruction::ScheduleTimer { timer } => {
            (SCHEDULE_CYCLES, SCHEDULE_CELLS + timer.payload.len() as u64)
        }
        Instruction::CancelTimer { .. }
        | Instruction::ExtendTimer { .. }
        | Instruction::SystemCancelTimer { .. }
        | Instruction::SystemExtendTimer { .. }
        | Instruction::UpdateTimerConfig { .. } => (CHANGE_CYCLES, 0),
        Instruction::EntitlementGrant { .. } => return entitlements::GRANT,
        Instruction::EntitlementAccept { .. } => return entitlements::ACCEPT,
        Instruction::EntitlementRevoke { .. } => return entitlements::REVOKE,
        Instruction::EntitlementDelegate { .. } => return entitlements::DELEGATE,
        Instruction::EntitlementCreateRole { .. } => return entitlements::CREATE_ROLE,
        Instruction::EntitlementAssignRole { .. } | Instruction::EntitlementRevokeRole { .. } => {
            return entitlements::CHANGE_ROLE;
        }
        Instruction::EntitlementCreateScope { .. } => return entitlements::CREATE_SCOPE,
        // The transaction carries the code, the state keeps it.
        Instruction::DeployActor { code, .. } | Instruction::UpgradeActor { code, .. } => {
            (2_000 + code.len() as u64 * COMPILE_BYTE_CYCLES, code.len() as u64 + 300)
        }
        // Making the machine is charged when it is made.
        Instruction::CallActor { .. } => (500, 0),
    };
    Cost { cycles, cells }
}

/// A job's records, its draw and its settlement.
pub(crate) fn job_cost(spec: &JobSpec) -> Cost {
    let seats = u64::from(spec.verification.runners.clamp(3, 9));
    Cost { cycles: 4_000 + seats * SEAT_CYCLES, cells: 500 }
}

/// Bytes of the records that an instruction makes or changes, at most; for what code writes besides,
/// [`PROGRAM_BYTES`]. Clients use it as the default for `max_deposit`.
pub fn state_bytes(instruction: &Instruction) -> u64 {
    use Instruction as I;
    let carried = || instruction.to_bytes().len() as u64;
    match instruction {
        I::RegisterRunner { .. } | I::UpdateRunner { .. } => RUNNER_BYTES + carried(),
        // A right that is passed on repeats the scope and the action of its parent.
        I::EntitlementGrant { .. } | I::EntitlementDelegate { .. } => 4 * RECORD_BYTES + carried(),
        I::EntitlementCreateRole { .. }
        | I::EntitlementAssignRole { .. }
        | I::EntitlementCreateScope { .. }
        | I::ScheduleTimer { .. } => 2 * RECORD_BYTES + carried(),
        I::DeployActor { .. } | I::UpgradeActor { .. } => RECORD_BYTES + carried() + PROGRAM_BYTES,
        I::CallActor { .. } => PROGRAM_BYTES,
        _ => 0,
    }
}

/// What it costs to leave this many runners out of the lists of one job.
pub(crate) fn excluding_cycles(runners: usize) -> u64 {
    runners as u64 * EXCLUDED_RUNNER_CYCLES
}
