use super::*;
use remuda_client::types::{
    ExcuseName, FailureName, HexBytes, HexHash, RootView, SignalName, TimerConfigView, Uint,
};

const JOB: HexHash = HexHash(alloy_primitives::B256::ZERO);
const WHO: HexAddress = HexAddress(alloy_primitives::Address::ZERO);
const SOME: BigUint = BigUint(1_500_000_000);

/// Every kind of event that there is. Who adds one to the protocol and not here sees the count.
fn all() -> Vec<EventBody> {
    use EventBody as E;
    let (runner, amount, job) = (WHO, SOME, JOB);
    let at = Uint(9);
    let limits = TimerConfigView {
        ttl_blocks_max: at,
        live_per_actor_max: 1,
        payload_bytes_max: 1,
        gas_limit_max: at,
        cells_max: at,
        gc_cycles_per_block: at,
    };
    let root = RootView { root: JOB, sum: SOME };
    vec![
        E::Transferred { from: WHO, to: WHO, amount },
        E::DepositTaken { payer: WHO, owner: WHO, amount },
        E::DepositReturned { owner: WHO, amount },
        E::RunnerRegistered { runner, slot: 1, stake: SOME },
        E::RunnerUpdated { runner },
        E::Staked { runner, amount },
        E::Unstaked { runner, owner: WHO, amount, payable_at: at },
        E::StakeReleased { owner: WHO, amount },
        E::RunnerPaused { runner },
        E::RunnerResumed { runner },
        E::RunnerDeregistered { runner },
        E::Delegated { runner, delegator: WHO, amount, shares: SOME },
        E::ReputationChanged { runner, reputation_nano: Uint(60_000_000_000), score: 0 },
        E::RunnerJailed { runner, until: at },
        E::RunnerReleased { runner },
        E::PresenceChanged { runner, present: true },
        E::HeartbeatSeen { runner },
        E::JobSubmitted { job, submitter: WHO, escrow: SOME },
        E::JobBound { job, attempt: 1, view: at, roots: vec![root], seats: 3 },
        E::JobAssigned {
            job,
            attempt: 0,
            seed: JOB,
            runners: vec![WHO],
            aggregator: Some(WHO),
            commit_by: at,
        },
        E::JobCancelled { job, burned: SOME },
        E::JobFailed { job, reason: FailureName::NoAgreement },
        E::Refunded { job, to: WHO, amount },
        E::RunnerTimedOut { job, runner, excused: false },
        E::CommitteeSized { active: at, hhi_nano: None, m_adaptive: Uint(3) },
        E::Committed { job, runner, commitment: JOB },
        E::CommitsClosed { job },
        E::Revealed { job, runner, result_hash: JOB },
        E::CrashAttested { job, runner, signal: SignalName::Oom, exempt: true },
        E::CrashFlagged { runner, attestations: 5 },
        E::NonRevealSlash { job, runner, amount },
        E::InvalidRevealSlash { job, runner, amount },
        E::ResultRejected { job, runner },
        E::JobSettled { job, winners: vec![WHO], gross: SOME, burned: SOME, treasury: SOME },
        E::Paid { job, runner, amount, to_delegators: SOME },
        E::CallbackQueued { job, actor: WHO },
        E::CallbackFailed { job, actor: WHO },
        E::BondLocked { job, runner, amount, until: at },
        E::BondReleased { job, runner, amount },
        E::ResultChallenged { job, challenger: WHO, by_job: JOB },
        E::ChallengeUpheld { job, runner, slashed: SOME },
        E::ChallengeRejected { job, challenger: WHO, forfeited: SOME },
        E::ChallengeUndecided { job },
        E::ResultExcused { job, runner: WHO, excuse: ExcuseName::NotFound },
        E::TimerScheduled { timer: JOB, actor: WHO, due: at, expires_at: at },
        E::TimerPriorityClampedAtSchedule { timer: JOB, stated: SOME, clamped: SOME },
        E::TimerFired { timer: JOB, actor: WHO, code: 0, cycles: at, cells: at, fee: SOME },
        E::TimerFired { timer: JOB, actor: WHO, code: 618, cycles: at, cells: at, fee: SOME },
        E::TimerExpired { timer: JOB, actor: WHO },
        E::TimerCancelledInsufficientFunds { timer: JOB, actor: WHO, payer: WHO },
        E::TimerCancelled { timer: JOB, actor: WHO, by: WHO },
        E::TimerExtended { timer: JOB, expires_at: at },
        E::GasBidFailed { timer: JOB, agent: WHO, code: 601 },
        E::TimerConfigUpdated { config: limits },
        E::ActorDeployed { actor: WHO, owner: WHO, code_hash: JOB },
        E::ActorUpgraded { actor: WHO, code_hash: JOB },
        E::ActorEvent { actor: WHO, topic: "added".into(), data: HexBytes(vec![1]) },
        E::ActorReturned { actor: WHO, method: "add".into(), value: HexBytes(vec![1]) },
        E::CallFailed { actor: WHO, method: "add".into(), code: 706, error: "ValueError".into() },
        E::CallQueued { call: JOB, from: WHO, to: WHO, method: "add".into() },
        E::CallRan { call: JOB, actor: WHO, code: 0, cycles: at, cells: at, fee: SOME },
        E::CallRan { call: JOB, actor: WHO, code: 706, cycles: at, cells: at, fee: SOME },
        E::CallSuspended { actor: WHO, frame: at, method: "add".into() },
        E::CallFinished { actor: WHO, frame: at, code: 0 },
        E::CallFinished { actor: WHO, frame: at, code: 706 },
        E::PoolCreated { pool: JOB, id: HexBytes(b"trusted".to_vec()), owner: WHO },
        E::NamespaceCreated { name: HexBytes(vec![0xff]), owner: WHO },
        granted("pool:trusted", "RunnerJoinPool:trusted", None),
        granted("namespace:n", "read", Some(JOB)),
        E::EntitlementRevoked { entitlement: JOB, grantee: WHO, by: WHO },
        E::MembershipAccepted { entitlement: JOB, runner: WHO },
        E::EntitlementCleared { entitlement: JOB, grantee: WHO },
        E::EntitlementUsed { entitlement: JOB, grantee: WHO, amount },
        E::RoleCreated { role: JOB, owner: WHO, name: HexBytes(b"clerk".to_vec()) },
        E::RoleAssigned { role: JOB, assignee: WHO, by: WHO },
        E::RoleRevoked { role: JOB, assignee: WHO, by: WHO },
    ]
}

fn granted(scope: &str, action: &str, parent: Option<HexHash>) -> EventBody {
    let (scope, action) = (scope.parse().unwrap(), action.parse().unwrap());
    let (granter, grantee) = (WHO, WHO);
    EventBody::EntitlementGranted { entitlement: JOB, granter, grantee, scope, action, parent }
}

#[test]
fn every_event_has_words_that_fit_their_column() {
    for event in all() {
        let moments = of(&event);
        assert!(!moments.is_empty(), "{} says nothing", event.name());
        for moment in moments {
            let length = moment.what.chars().count();
            assert!(length <= crate::timeline::WHAT_WIDTH, "{}: {length}", moment.what);
        }
    }
}

#[test]
fn money_that_moves_is_shown_on_both_sides() {
    let moments = of(&EventBody::Transferred { from: WHO, to: WHO, amount: SOME });
    let money: Vec<String> =
        moments.iter().filter_map(|moment| moment.money).map(Money::text).collect();
    assert_eq!(money, ["-1.5 CBY", "+1.5 CBY"]);
}

#[test]
fn everybody_who_is_drawn_has_a_line() {
    let other = HexAddress(alloy_primitives::Address::repeat_byte(7));
    let event = EventBody::JobAssigned {
        job: JOB,
        attempt: 2,
        seed: JOB,
        runners: vec![WHO, other],
        aggregator: Some(other),
        commit_by: Uint(24),
    };
    let words: Vec<String> = of(&event).into_iter().map(|moment| moment.what).collect();
    assert_eq!(
        words,
        [
            "2 runners drawn (retry 2); commits until 24",
            "drawn for seat 1",
            "drawn for seat 2, collects the results"
        ]
    );
}
