//! What instructions cost, in cycles and cells.
//!
//! A cycle is meant to be about 50 ns of a validator's time, a cell a byte that every validator
//! keeps or carries. Where an instruction's work grows with its input, so does its price.

use crate::actors::price::COMPILE_BYTE_CYCLES;
use crate::dispatcher::spec::JobSpec;
use crate::entitlements::price as entitlements;
use crate::timers::host::{CHANGE_CYCLES, SCHEDULE_CELLS, SCHEDULE_CYCLES};
use crate::transaction::Instruction;

/// A price in both meters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cycles.
    pub cycles: u64,
    /// Cells.
    pub cells: u64,
}

/// Recovering the signer and moving the fee.
const TRANSACTION_CYCLES: u64 = 2_000;
/// Another signature inside the transaction.
pub(crate) const SIGNATURE_CYCLES: u64 = 1_500;
/// Judging one byte of a result by one check: parse, look up, compare.
pub(crate) const CHECKED_BYTE_CYCLES: u64 = 1;
/// Taking one runner out of a trie, or putting it into one: a hash or a few, and finding it.
pub(crate) const MOVED_RUNNER_CYCLES: u64 = 40;
/// Putting a runner into the trie of a class that nobody has asked for lately.
pub(crate) const CLASS_RUNNER_CYCLES: u64 = 20;
/// Leaving one runner out of the lists of a single job: nobody shares the hashes on its path.
pub(crate) const EXCLUDED_RUNNER_CYCLES: u64 = 150;
/// Comparing prices: so many for a cycle.
pub(crate) const PRICES_PER_CYCLE: u64 = 4;
/// Drawing and seating one runner, and settling with it.
pub(crate) const SEAT_CYCLES: u64 = 1_000;

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
        Instruction::SubmitJob { spec } => return job(spec),
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
pub(crate) fn job(spec: &JobSpec) -> Cost {
    let seats = u64::from(spec.verification.runners.clamp(3, 9));
    Cost { cycles: 4_000 + seats * SEAT_CYCLES, cells: 500 }
}
