//! What happened, in JSON: `{"JobAssigned":{"job":"0x…",…}}`.

use super::entitlement::{ActionText, ScopeText};
use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint};
use super::timer::TimerConfigView;
use super::view::{ToView, named_view, names};
use remuda_protocol::dispatcher::job::Failure;
use remuda_protocol::entitlements::scope::Action;
use remuda_protocol::event::{CrashSignal, Event};
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::verifier::excuse::Excuse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

names! {
    /// Why a job failed.
    FailureName for Failure, "PascalCase" { InsufficientRunners, NoRunners, NoAgreement, NoSeed, Excused }
}
names! {
    /// Why a runner has no result.
    ExcuseName for Excuse, "snake_case" {
        Unreachable, Refused, NotFound, BadJob, TooLarge, TimedOut, ProgramFailed, TooCostly,
    }
}
names! {
    /// Why a runner says that it crashed.
    SignalName for CrashSignal, "PascalCase" {
        Oom, NetworkPartition, HardwareFault, TeeAttestationLost, Other,
    }
}

/// Root and total weight of a list of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RootView {
    /// Root of the Merkle-sum trie.
    pub root: HexHash,
    /// Sum of the candidates' weights.
    pub sum: BigUint,
}

impl ToView for (JobId, u128) {
    type View = RootView;
    fn to_view(&self) -> RootView {
        RootView { root: HexHash(self.0), sum: BigUint(self.1) }
    }
}

named_view! {
    /// An event of a receipt.
    pub enum EventBody of Event;

    Transferred { from: HexAddress, to: HexAddress, amount: BigUint } "Money moved.";
    DepositTaken { payer: HexAddress, owner: HexAddress, amount: BigUint } "A payer deposited money for records of an owner that stay in the state.";
    DepositReturned { owner: HexAddress, amount: BigUint } "An owner's records were removed or shrank, and their deposit was returned.";

    RunnerRegistered { runner: HexAddress, slot: u32, stake: BigUint } "A runner joined.";
    RunnerUpdated { runner: HexAddress } "A runner changed its offer.";
    Staked { runner: HexAddress, amount: BigUint } "A runner raised its stake.";
    Unstaked { runner: HexAddress, owner: HexAddress, amount: BigUint, payable_at: Uint } "Stake began to unbond.";
    StakeReleased { owner: HexAddress, amount: BigUint } "Unbonded stake was paid out.";
    RunnerPaused { runner: HexAddress } "A runner wants no work.";
    RunnerResumed { runner: HexAddress } "A runner wants work again.";
    RunnerDeregistered { runner: HexAddress } "A runner left.";
    Delegated { runner: HexAddress, delegator: HexAddress, amount: BigUint, shares: BigUint } "Somebody staked on a runner.";
    ReputationChanged { runner: HexAddress, reputation_nano: Uint, score: u32 } "A runner was scored.";
    RunnerJailed { runner: HexAddress, until: Uint } "A runner was jailed.";
    RunnerReleased { runner: HexAddress } "A runner left jail, on probation.";
    PresenceChanged { runner: HexAddress, present: bool } "The validators' attestation of a runner changed.";
    HeartbeatSeen { runner: HexAddress } "A runner said that it is alive.";

    JobSubmitted { job: HexHash, submitter: HexAddress, escrow: BigUint } "A job was accepted.";
    JobBound { job: HexHash, attempt: u32, view: Uint, roots: Vec<RootView>, seats: u32 } "Candidates are fixed; the draw waits for the seed of a view.";
    JobAssigned { job: HexHash, attempt: u32, seed: HexHash, runners: Vec<HexAddress>, aggregator: Option<HexAddress>, commit_by: Uint } "Runners were drawn.";
    JobCancelled { job: HexHash, burned: BigUint } "The submitter called it off.";
    JobFailed { job: HexHash, reason: FailureName } "A job ended without a result.";
    Refunded { job: HexHash, to: HexAddress, amount: BigUint } "What was left of an escrow went back.";
    RunnerTimedOut { job: HexHash, runner: HexAddress, excused: bool } "A runner did not deliver in time.";
    CommitteeSized { active: Uint, hhi_nano: Option<Uint>, m_adaptive: Uint } "An epoch begins with another look at how large committees are.";

    Committed { job: HexHash, runner: HexAddress, commitment: HexHash } "A runner is bound to a result.";
    CommitsClosed { job: HexHash } "Reveals are taken from now on.";
    Revealed { job: HexHash, runner: HexAddress, result_hash: HexHash } "A result is known.";
    CrashAttested { job: HexHash, runner: HexAddress, signal: SignalName, exempt: bool } "A runner said that it crashed after its commit.";
    CrashFlagged { runner: HexAddress, attestations: u32 } "A runner attests crashes too often.";
    NonRevealSlash { job: HexHash, runner: HexAddress, amount: BigUint } "A runner committed and did not reveal.";
    InvalidRevealSlash { job: HexHash, runner: HexAddress, amount: BigUint } "A runner revealed something else than it committed to.";
    ResultRejected { job: HexHash, runner: HexAddress } "A result breaks the schema or is outside the winning group.";
    JobSettled { job: HexHash, winners: Vec<HexAddress>, gross: BigUint, burned: BigUint, treasury: BigUint } "A job ended with a verified result.";
    Paid { job: HexHash, runner: HexAddress, amount: BigUint, to_delegators: BigUint } "A winner was paid.";
    CallbackQueued { job: HexHash, actor: HexAddress } "The actor will be called in the next block.";
    CallbackFailed { job: HexHash, actor: HexAddress } "The actor could not be called.";
    BondLocked { job: HexHash, runner: HexAddress, amount: BigUint, until: Uint } "Stake answers for a bonded result.";
    BondReleased { job: HexHash, runner: HexAddress, amount: BigUint } "It no longer does.";
    ResultChallenged { job: HexHash, challenger: HexAddress, by_job: HexHash } "A bonded result is executed again.";
    ChallengeUpheld { job: HexHash, runner: HexAddress, slashed: BigUint } "The bonded result was wrong.";
    ChallengeRejected { job: HexHash, challenger: HexAddress, forfeited: BigUint } "The bonded result was right.";
    ChallengeUndecided { job: HexHash } "No committee could tell; the bond went back.";

    ResultExcused { job: HexHash, runner: HexAddress, excuse: ExcuseName } "A runner submitted an excuse instead of a result.";

    TimerScheduled { timer: HexHash, actor: HexAddress, due: Uint, expires_at: Uint } "An actor will be called at a height.";
    TimerPriorityClampedAtSchedule { timer: HexHash, stated: BigUint, clamped: BigUint } "A tip was above what the maximal fee leaves.";
    TimerFired { timer: HexHash, actor: HexAddress, code: u16, cycles: Uint, cells: Uint, fee: BigUint } "An actor was called; the code says how that ended.";
    TimerExpired { timer: HexHash, actor: HexAddress } "A timer did not fire in time.";
    TimerCancelledInsufficientFunds { timer: HexHash, actor: HexAddress, payer: HexAddress } "The payer could not pay for the call.";
    TimerCancelled { timer: HexHash, actor: HexAddress, by: HexAddress } "A timer was called off.";
    TimerExtended { timer: HexHash, expires_at: Uint } "A timer may fire for longer.";
    GasBidFailed { timer: HexHash, agent: HexAddress, code: u16 } "An agent named no fees; the stored ones count.";
    TimerConfigUpdated { config: TimerConfigView } "Limits on timers changed.";

    ActorDeployed { actor: HexAddress, owner: HexAddress, code_hash: HexHash } "Code has an address.";
    ActorUpgraded { actor: HexAddress, code_hash: HexHash } "An actor has other code from now on.";
    ActorEvent { actor: HexAddress, topic: String, data: HexBytes } "An actor says something.";
    ActorReturned { actor: HexAddress, method: String, value: HexBytes } "A transaction's call ended with this value.";
    CallFailed { actor: HexAddress, method: String, code: u16, error: String } "A call failed; nothing is left of what it did.";
    CallQueued { call: HexHash, from: HexAddress, to: HexAddress, method: String } "An actor will be called in a later block.";
    CallRan { call: HexHash, actor: HexAddress, code: u16, cycles: Uint, cells: Uint, fee: BigUint } "A queued call ran; the code says how that ended.";
    CallSuspended { actor: HexAddress, frame: Uint, method: String } "A call waits for an answer.";
    CallFinished { actor: HexAddress, frame: Uint, code: u16 } "A call that waited has ended.";

    PoolCreated { pool: HexHash, id: HexBytes, owner: HexAddress } "A runner pool was made.";
    NamespaceCreated { name: HexBytes, owner: HexAddress } "A namespace was made.";
    EntitlementGranted { entitlement: HexHash, granter: HexAddress, grantee: HexAddress, scope: ScopeText, action: ActionText, parent: Option<HexHash> } "Somebody was given a right.";
    EntitlementRevoked { entitlement: HexHash, grantee: HexAddress, by: HexAddress } "A right was taken, and what was passed on from it.";
    MembershipAccepted { entitlement: HexHash, runner: HexAddress } "A runner joined a pool.";
    EntitlementCleared { entitlement: HexHash, grantee: HexAddress } "A right that had lapsed was removed.";
    EntitlementUsed { entitlement: HexHash, grantee: HexAddress, amount: BigUint } "A right was made use of.";
    RoleCreated { role: HexHash, owner: HexAddress, name: HexBytes } "A role was made.";
    RoleAssigned { role: HexHash, assignee: HexAddress, by: HexAddress } "Somebody was given a role.";
    RoleRevoked { role: HexHash, assignee: HexAddress, by: HexAddress } "A role was taken.";
}

/// What an event is about. Explorers, filters and indexes ask the same question, so it has one
/// answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Jobs: one, or two for a challenge.
    pub jobs: Vec<JobId>,
    pub runners: Vec<Address>,
}

impl Subject {
    pub fn of(event: &Event) -> Self {
        let about = |jobs: &[JobId], runners: &[Address]| Self {
            jobs: jobs.to_vec(),
            runners: runners.to_vec(),
        };
        match event {
            Event::Transferred { .. }
            | Event::DepositTaken { .. }
            | Event::DepositReturned { .. }
            | Event::StakeReleased { .. }
            | Event::CommitteeSized { .. }
            | Event::TimerScheduled { .. }
            | Event::TimerPriorityClampedAtSchedule { .. }
            | Event::TimerFired { .. }
            | Event::TimerExpired { .. }
            | Event::TimerCancelledInsufficientFunds { .. }
            | Event::TimerCancelled { .. }
            | Event::TimerExtended { .. }
            | Event::GasBidFailed { .. }
            | Event::TimerConfigUpdated { .. }
            | Event::ActorDeployed { .. }
            | Event::ActorUpgraded { .. }
            | Event::ActorEvent { .. }
            | Event::ActorReturned { .. }
            | Event::CallFailed { .. }
            | Event::CallQueued { .. }
            | Event::CallRan { .. }
            | Event::CallSuspended { .. }
            | Event::CallFinished { .. }
            | Event::PoolCreated { .. }
            | Event::NamespaceCreated { .. }
            | Event::EntitlementRevoked { .. }
            | Event::EntitlementCleared { .. }
            | Event::EntitlementUsed { .. }
            | Event::RoleCreated { .. }
            | Event::RoleAssigned { .. }
            | Event::RoleRevoked { .. } => Self::default(),

            Event::EntitlementGranted { grantee, action, .. } => match action {
                Action::RunnerJoinPool { .. } => about(&[], &[*grantee]),
                _ => Self::default(),
            },

            Event::RunnerRegistered { runner, .. }
            | Event::MembershipAccepted { runner, .. }
            | Event::RunnerUpdated { runner }
            | Event::Staked { runner, .. }
            | Event::Unstaked { runner, .. }
            | Event::RunnerPaused { runner }
            | Event::RunnerResumed { runner }
            | Event::RunnerDeregistered { runner }
            | Event::Delegated { runner, .. }
            | Event::ReputationChanged { runner, .. }
            | Event::RunnerJailed { runner, .. }
            | Event::RunnerReleased { runner }
            | Event::PresenceChanged { runner, .. }
            | Event::HeartbeatSeen { runner }
            | Event::CrashFlagged { runner, .. } => about(&[], &[*runner]),

            Event::JobSubmitted { job, .. }
            | Event::JobBound { job, .. }
            | Event::JobCancelled { job, .. }
            | Event::JobFailed { job, .. }
            | Event::Refunded { job, .. }
            | Event::CommitsClosed { job }
            | Event::CallbackQueued { job, .. }
            | Event::CallbackFailed { job, .. }
            | Event::ChallengeRejected { job, .. }
            | Event::ChallengeUndecided { job } => about(&[*job], &[]),

            Event::JobAssigned { job, runners, .. } => about(&[*job], runners),
            Event::JobSettled { job, winners, .. } => about(&[*job], winners),
            Event::ResultChallenged { job, by_job, .. } => about(&[*job, *by_job], &[]),

            Event::RunnerTimedOut { job, runner, .. }
            | Event::Committed { job, runner, .. }
            | Event::Revealed { job, runner, .. }
            | Event::ResultExcused { job, runner, .. }
            | Event::CrashAttested { job, runner, .. }
            | Event::NonRevealSlash { job, runner, .. }
            | Event::InvalidRevealSlash { job, runner, .. }
            | Event::ResultRejected { job, runner }
            | Event::Paid { job, runner, .. }
            | Event::BondLocked { job, runner, .. }
            | Event::BondReleased { job, runner, .. }
            | Event::ChallengeUpheld { job, runner, .. } => about(&[*job], &[*runner]),
        }
    }
}
