//! Everything that happens, typed. Receipts carry these; explorers and auditors read them.
//!
//! Consensus: a change here forks the chain.

use crate::base::codec::{Bytes, codec_enum, codec_struct};
use crate::base::primitives::{Address, Amount, B256, Height, JobId, Slot};
use crate::rules::dispatcher::job::Failure;
use crate::rules::entitlements::scope::{Action, Scope};
use crate::rules::fees::Usage;
use crate::rules::timers::config::TimerConfig;
use crate::rules::verifier::excuse::Excuse;

macro_rules! events {
    ($( $tag:literal $variant:ident { $($field:ident: $ty:ty),* } $about:literal; )*) => {
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Event { $( #[doc = $about] $variant { $( #[doc = stringify!($field)] $field: $ty, )* }, )* }
        codec_enum!(Event { $( $tag => $variant { $($field),* } ),* });

        impl Event {
            /// The name of its kind.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant { .. } => stringify!($variant), )* }
            }
        }
    };
}

events! {
    1 Transferred { from: Address, to: Address, amount: Amount } "Money moved.";
    2 DepositTaken { payer: Address, owner: Address, amount: Amount } "A payer deposited money for records of an owner that stay in the state.";
    3 DepositReturned { owner: Address, amount: Amount } "An owner's records were removed or shrank, and their deposit was returned.";

    10 RunnerRegistered { runner: Address, slot: Slot, stake: Amount } "A runner joined.";
    11 RunnerUpdated { runner: Address } "A runner changed its offer.";
    12 Staked { runner: Address, amount: Amount } "A runner raised its stake.";
    13 Unstaked { runner: Address, owner: Address, amount: Amount, payable_at: Height } "Stake began to unbond.";
    14 StakeReleased { owner: Address, amount: Amount } "Unbonded stake was paid out.";
    15 RunnerPaused { runner: Address } "A runner wants no work.";
    16 RunnerResumed { runner: Address } "A runner wants work again.";
    17 RunnerDeregistered { runner: Address } "A runner left.";
    18 Delegated { runner: Address, delegator: Address, amount: Amount, shares: u128 } "Somebody staked on a runner.";
    19 ReputationChanged { runner: Address, reputation_nano: u64, score: u32 } "A runner was scored.";
    20 RunnerJailed { runner: Address, until: Height } "A runner was jailed.";
    21 RunnerReleased { runner: Address } "A runner left jail, on probation.";
    22 PresenceChanged { runner: Address, present: bool } "The validators' attestation of a runner changed.";
    23 HeartbeatSeen { runner: Address } "A runner said that it is alive.";

    40 JobSubmitted { job: JobId, submitter: Address, escrow: Amount } "A job was accepted.";
    41 JobBound { job: JobId, attempt: u32, view: u64, roots: Vec<(B256, u128)>, seats: u32 } "Candidates are fixed; the draw waits for the seed of a view.";
    42 JobAssigned { job: JobId, attempt: u32, seed: B256, runners: Vec<Address>, aggregator: Option<Address>, commit_by: Height } "Runners were drawn.";
    43 JobCancelled { job: JobId, burned: Amount } "The submitter called it off.";
    44 JobFailed { job: JobId, reason: Failure } "A job ended without a result.";
    45 Refunded { job: JobId, to: Address, amount: Amount } "What was left of an escrow went back.";
    46 RunnerTimedOut { job: JobId, runner: Address, excused: bool } "A runner did not deliver in time.";
    47 CommitteeSized { active: u64, hhi_nano: Option<u64>, m_adaptive: u64 } "An epoch begins with another look at how large committees are.";

    60 Committed { job: JobId, runner: Address, commitment: B256 } "A runner is bound to a result.";
    61 CommitsClosed { job: JobId } "Reveals are taken from now on.";
    62 Revealed { job: JobId, runner: Address, result_hash: B256 } "A result is known.";
    63 CrashAttested { job: JobId, runner: Address, signal: CrashSignal, exempt: bool } "A runner said that it crashed after its commit.";
    64 CrashFlagged { runner: Address, attestations: u32 } "A runner attests crashes too often.";
    65 NonRevealSlash { job: JobId, runner: Address, amount: Amount } "A runner committed and did not reveal.";
    66 InvalidRevealSlash { job: JobId, runner: Address, amount: Amount } "A runner revealed something else than it committed to.";
    67 ResultRejected { job: JobId, runner: Address } "A result breaks the schema or is outside the winning group.";
    68 JobSettled { job: JobId, winners: Vec<Address>, gross: Amount, burned: Amount, treasury: Amount } "A job ended with a verified result.";
    69 Paid { job: JobId, runner: Address, amount: Amount, to_delegators: Amount } "A winner was paid.";
    70 CallbackQueued { job: JobId, actor: Address } "The actor will be called in the next block.";
    71 CallbackFailed { job: JobId, actor: Address } "The actor could not be called.";
    72 BondLocked { job: JobId, runner: Address, amount: Amount, until: Height } "Stake answers for a bonded result.";
    73 BondReleased { job: JobId, runner: Address, amount: Amount } "It no longer does.";
    74 ResultChallenged { job: JobId, challenger: Address, by_job: JobId } "A bonded result is executed again.";
    75 ChallengeUpheld { job: JobId, runner: Address, slashed: Amount } "The bonded result was wrong.";
    76 ChallengeRejected { job: JobId, challenger: Address, forfeited: Amount } "The bonded result was right.";
    77 ChallengeUndecided { job: JobId } "No committee could tell; the bond went back.";
    78 ResultExcused { job: JobId, runner: Address, excuse: Excuse } "A runner submitted an excuse instead of a result.";

    90 TimerScheduled { timer: B256, actor: Address, due: Height, expires_at: Height } "An actor will be called at a height.";
    91 TimerPriorityClampedAtSchedule { timer: B256, stated: u128, clamped: u128 } "A tip was above what the maximal fee leaves.";
    92 TimerFired { timer: B256, actor: Address, code: u16, cycles: u64, cells: u64, fee: Amount } "An actor was called; the code says how that ended.";
    93 TimerExpired { timer: B256, actor: Address } "A timer did not fire in time.";
    94 TimerCancelledInsufficientFunds { timer: B256, actor: Address, payer: Address } "The payer could not pay for the call.";
    95 TimerCancelled { timer: B256, actor: Address, by: Address } "A timer was called off.";
    96 TimerExtended { timer: B256, expires_at: Height } "A timer may fire for longer.";
    97 GasBidFailed { timer: B256, agent: Address, code: u16 } "An agent named no fees; the stored ones count.";
    98 TimerConfigUpdated { config: TimerConfig } "Limits on timers changed.";

    110 ActorDeployed { actor: Address, owner: Address, code_hash: B256 } "Code has an address.";
    111 ActorUpgraded { actor: Address, code_hash: B256 } "An actor has other code from now on.";
    112 ActorEvent { actor: Address, topic: String, data: Bytes } "An actor says something.";
    113 ActorReturned { actor: Address, method: String, value: Bytes } "A transaction's call ended with this value.";
    114 CallFailed { actor: Address, method: String, code: u16, error: String } "A call failed; nothing is left of what it did.";
    115 CallQueued { call: B256, from: Address, to: Address, method: String } "An actor will be called in a later block.";
    116 CallRan { call: B256, actor: Address, code: u16, cycles: u64, cells: u64, fee: Amount } "A queued call ran; the code says how that ended.";
    117 CallSuspended { actor: Address, frame: u64, method: String } "A call waits for an answer.";
    118 CallFinished { actor: Address, frame: u64, code: u16 } "A call that waited has ended.";

    130 PoolCreated { pool: B256, id: Bytes, owner: Address } "A runner pool was made.";
    131 NamespaceCreated { name: Bytes, owner: Address } "A namespace was made.";
    132 EntitlementGranted { entitlement: B256, granter: Address, grantee: Address, scope: Scope, action: Action, parent: Option<B256> } "Somebody was given a right.";
    133 EntitlementRevoked { entitlement: B256, grantee: Address, by: Address } "A right was taken, and what was passed on from it.";
    134 EntitlementCleared { entitlement: B256, grantee: Address } "A right that had lapsed was removed.";
    135 EntitlementUsed { entitlement: B256, grantee: Address, amount: Amount } "A right was made use of.";
    136 RoleCreated { role: B256, owner: Address, name: Bytes } "A role was made.";
    137 RoleAssigned { role: B256, assignee: Address, by: Address } "Somebody was given a role.";
    138 RoleRevoked { role: B256, assignee: Address, by: Address } "A role was taken.";
    139 MembershipAccepted { entitlement: B256, runner: Address } "A runner joined a pool.";
}

/// Why a runner says that it crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashSignal {
    Oom,
    /// Cut off from the network.
    NetworkPartition,
    HardwareFault,
    /// The TEE lost its attestation.
    TeeAttestationLost,
    Other,
}
codec_enum!(CrashSignal {
    1 => Oom {},
    2 => NetworkPartition {},
    3 => HardwareFault {},
    4 => TeeAttestationLost {},
    5 => Other {},
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Transaction {
        hash: B256,
    },
    /// The block itself, before its transactions: presence, drawn committees, deferred calls.
    Opening,
    /// The block itself, after its transactions: deadlines and counters.
    Closing,
}
codec_enum!(Cause { 1 => Transaction { hash }, 2 => Opening {}, 3 => Closing {} });

/// How a transaction, or a block's own work, ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub cause: Cause,
    /// 0, or the code of the [`Refusal`](crate::base::error::Refusal).
    pub code: u16,
    pub used: Usage,
    pub fee: Amount,
    pub events: Vec<Event>,
}
codec_struct!(Receipt { cause, code, used, fee, events });
