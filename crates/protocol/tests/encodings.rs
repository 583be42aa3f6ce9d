//! One hash per encoded type and per key, kept in `encodings.txt`, so that no encoding changes by
//! accident. On a chain that runs, a changed line is a fork.

use crate::common;

use common::{
    STAKE, callback, every_instruction, full_constraints, full_offer, full_spec, full_timer,
};
use remuda_protocol::account::Account;
use remuda_protocol::actors::actor_address;
use remuda_protocol::actors::record::{Actor, Answer, Frame, KeyNode, Wait, WaitOn};
use remuda_protocol::agenda::{Cursor, Task};
use remuda_protocol::beacon::{Round, SelectionMode};
use remuda_protocol::beacon::{beacon, genesis_beacon, retry_seed, selection_seed};
use remuda_protocol::block::{
    Block, Header, SeedSignature, StateCommitment, presence_hash, seeds_root, transactions_root,
};
use remuda_protocol::callback::{Deferred, DeferredCall, call_id};
use remuda_protocol::chain::{ChainState, EpochCommittee, Supply, Validator, Warm};
use remuda_protocol::codec::{Bytes, Decode, Encode};
use remuda_protocol::crypto::{PublicKey, SecretKey, Signature};
use remuda_protocol::deposit::Held;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::filter::Query;
use remuda_protocol::dispatcher::job::{
    Failure, Job, MruRecord, PendingSelection, Progress, Retry, Seat, Snapshot, Stakes, Status,
};
use remuda_protocol::dispatcher::spec::{DataFormat, JobKind, JobType, Message};
use remuda_protocol::dispatcher::submit::job_id;
use remuda_protocol::entitlements::constraints::{Constraints, Used};
use remuda_protocol::entitlements::record::{
    Assignment, Entitlement, Holder, Namespace, Role, RunnerPool, entitlement_id, pool_hash,
    role_id,
};
use remuda_protocol::entitlements::scope::{Action, Scope, right};
use remuda_protocol::event::{Cause, CrashSignal, Event, Receipt};
use remuda_protocol::fees::{Basefees, Bid, Usage};
use remuda_protocol::genesis::Genesis;
use remuda_protocol::key::*;
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::{
    AncestorRecord, Attestation, AttestationRecord, NextSubsets, Phase, PresenceCertificate,
    PresenceState, SubsetEpoch,
};
use remuda_protocol::primitives::{Address, Amount, B256, Cells, Cycles, Height, Slot, keccak256};
use remuda_protocol::registry::pool::Pool;
use remuda_protocol::registry::reputation::Reputation;
use remuda_protocol::registry::runner::{
    Candidacy, Membership, Profile, Runner, SlotRecord, Status as RunnerStatus, Terms,
};
use remuda_protocol::registry::unbonding::{Batch, Unbonding};
use remuda_protocol::registry::versioned::{Stamp, Versioned};
use remuda_protocol::state::StateKey;
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::order::lot;
use remuda_protocol::timers::record::{Payload, Timer, TimerLane, timer_id};
use remuda_protocol::transaction::{Instruction, Transaction, tx_hash};
use remuda_protocol::verifier::challenge::{Bond, Challenge};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::commitment::{
    commitment, excuse_commitment, excuse_digest, result_digest,
};
use remuda_protocol::verifier::excuse::{Delivery, Excuse};
use remuda_protocol::verifier::json::Decimal;
use remuda_protocol::verifier::settle::VerifiedResult;
use std::collections::BTreeSet;
use std::fmt::Debug;

const WHO: Address = Address::repeat_byte(0xa1);
const OTHER: Address = Address::repeat_byte(0xa2);
const JOB: B256 = B256::repeat_byte(0xb1);
const HASH: B256 = B256::repeat_byte(0xb2);
const AT: Height = Height(0x0102_0304);
const SOME: Amount = Amount(0x0506_0708_090a);

/// Names and hashes, in the order of the file.
#[derive(Default)]
struct Pins(Vec<(String, B256)>);

impl Pins {
    /// A value that can be read back: pinned, and its encoding checked.
    fn value<T: Encode + Decode + PartialEq + Debug>(
        &mut self,
        name: impl Into<String>,
        value: &T,
    ) {
        let (name, bytes) = (name.into(), value.to_bytes());
        assert_eq!(T::from_bytes(&bytes).as_ref(), Ok(value), "{name} does not come back");
        for length in 0..bytes.len() {
            assert!(T::from_bytes(&bytes[..length]).is_err(), "{name}: {length} bytes are enough");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(T::from_bytes(&longer).is_err(), "{name}: a byte too many is not noticed");
        self.hash(name, keccak256(bytes));
    }

    /// A key of the state and what is stored under it.
    fn record<K: StateKey<Value: PartialEq + Debug>>(
        &mut self,
        name: &str,
        key: &K,
        value: &K::Value,
    ) {
        self.hash(format!("key.{name}"), keccak256(key.bytes()));
        self.value(format!("state.{name}"), value);
    }

    fn hash(&mut self, name: impl Into<String>, hash: B256) {
        self.0.push((name.into(), hash));
    }
}

/// Names the variants of an enum. One that is missing does not compile.
macro_rules! variants {
    ($check:ident: $ty:ident { $($variant:ident),* $(,)? }) => {
        fn $check(pins: &mut Pins, values: &[$ty]) {
            let name = |value: &$ty| match value {
                $( $ty::$variant { .. } => stringify!($variant), )*
            };
            let expected = BTreeSet::from([$( stringify!($variant) ),*]);
            let given: BTreeSet<_> = values.iter().map(name).collect();
            assert_eq!(given, expected, "a variant without a sample");
            let label = stringify!($check);
            for value in values {
                pins.value(format!("{label}.{}", name(value)), value);
            }
        }
    };
}

variants!(instruction: Instruction {
    Transfer, RegisterRunner, UpdateRunner, Stake, Unstake, PauseRunner, ResumeRunner, Heartbeat,
    DeregisterRunner, Delegate, Undelegate, SubmitJob, CancelJob, CommitResult, RevealResult,
    RevealAggregate, SubmitResult, CrashAttestation, ChallengeResult, SystemCancelTimer,
    UpdateTimerConfig, SystemExtendTimer, ScheduleTimer, CancelTimer, ExtendTimer,
    DeployActor, CallActor, UpgradeActor, EntitlementGrant, EntitlementRevoke, EntitlementDelegate,
    EntitlementCreateRole, EntitlementAssignRole, EntitlementRevokeRole, EntitlementCreateScope,
    EntitlementAccept,
});
variants!(event: Event {
    Transferred, DepositTaken, DepositReturned, RunnerRegistered, RunnerUpdated, Staked, Unstaked, StakeReleased, RunnerPaused,
    RunnerResumed, RunnerDeregistered, Delegated, ReputationChanged, RunnerJailed, RunnerReleased,
    PresenceChanged, HeartbeatSeen, CommitteeSized, JobSubmitted, JobBound, JobAssigned, JobCancelled, JobFailed, Refunded,
    RunnerTimedOut, Committed, CommitsClosed, Revealed, CrashAttested, CrashFlagged, NonRevealSlash,
    InvalidRevealSlash, ResultRejected, JobSettled, Paid, CallbackQueued, CallbackFailed, BondLocked,
    BondReleased, ResultChallenged, ChallengeUpheld, ChallengeRejected, ChallengeUndecided,
    ResultExcused, TimerScheduled, TimerPriorityClampedAtSchedule, TimerFired, TimerExpired,
    TimerCancelledInsufficientFunds, TimerCancelled, TimerExtended, GasBidFailed, TimerConfigUpdated,
    ActorDeployed, ActorUpgraded, ActorEvent, ActorReturned, CallFailed, CallQueued, CallRan,
    CallSuspended, CallFinished, PoolCreated, NamespaceCreated, EntitlementGranted,
    EntitlementRevoked, EntitlementCleared, EntitlementUsed, RoleCreated, RoleAssigned, RoleRevoked, MembershipAccepted,
});
variants!(scope: Scope { Global, Actor, Token, Runner, RunnerPool, Namespace });
variants!(action: Action {
    All, TokenTransfer, TokenMint, TokenBurn, TokenFreeze, TokenSetHook, TokenTransferOwnership,
    ActorDeploy, ActorSendMessage, ActorExecuteHandler, RunnerRegister, RunnerSubmitJob,
    RunnerSubmitResult, RunnerJoinPool, SystemTransfer, SystemCreateAccount, SystemUpgrade, Custom,
});
variants!(cause: Cause { Transaction, Opening, Closing });
variants!(crash_signal: CrashSignal { Oom, NetworkPartition, HardwareFault, TeeAttestationLost, Other });
variants!(task: Task {
    CommitDeadline, RevealDeadline, JailRelease, StakeRelease, BondRelease, Wake, ForgetJob,
    ForgetMru, ForgetWarm,
});
variants!(job_status: Status { Pending, Assigned, Committed, Settled, Failed, Cancelled });
variants!(failure: Failure { InsufficientRunners, NoRunners, NoAgreement, NoSeed, Excused });
variants!(progress: Progress { Waiting, Committed, Revealed, Crashed, TimedOut, Slashed, Excused });
variants!(excuse: Excuse {
    Unreachable, Refused, NotFound, BadJob, TooLarge, TimedOut, ProgramFailed, TooCostly,
});
variants!(delivery: Delivery { Result, Excuse });
variants!(runner_status: RunnerStatus { Active, Paused, Deregistered });
variants!(job_kind: JobKind { Llm, Http, Mcp, EthSend, Custom });
variants!(job_type: JobType { Llm, Http, Mcp, EthSend, Custom });
variants!(data_format: DataFormat { Json, Text, Bytes });
variants!(check: VerifierCheck {
    MajorityVote, JsonSchemaValid, StructuredMatch, NumericTolerance, NumericRange, Custom,
    DnsTxtRecordMatch, DnsCnameMatch,
});
variants!(mode: VerificationMode {
    None, EconomicBond, MajorityVote, StructuredMatch, Deterministic, SemanticSimilarity,
});

fn pins() -> Pins {
    let mut pins = Pins::default();
    pin_small_enums(&mut pins);
    pin_jobs(&mut pins);
    pin_events(&mut pins);
    pin_transactions(&mut pins);
    pin_blocks(&mut pins);
    pin_state(&mut pins);
    pin_digests(&mut pins);
    pins
}

fn pin_small_enums(pins: &mut Pins) {
    use CrashSignal::{HardwareFault, NetworkPartition, Oom, Other, TeeAttestationLost};
    use Failure::{Excused, InsufficientRunners, NoAgreement, NoRunners, NoSeed};
    crash_signal(pins, &[Oom, NetworkPartition, HardwareFault, TeeAttestationLost, Other]);
    failure(pins, &[InsufficientRunners, NoRunners, NoAgreement, NoSeed, Excused]);
    let kinds = [JobKind::Llm, JobKind::Http, JobKind::Mcp, JobKind::EthSend, JobKind::Custom];
    job_kind(pins, &kinds);
    data_format(pins, &[DataFormat::Json, DataFormat::Text, DataFormat::Bytes]);
    mode(pins, &VerificationMode::ALL);
    excuse(pins, &Excuse::ALL);
    delivery(pins, &[b"result".into(), Excuse::NotFound.into()]);
    use RunnerStatus::{Active, Deregistered, Paused};
    runner_status(pins, &[Active, Paused, Deregistered]);
    cause(pins, &[Cause::Transaction { hash: HASH }, Cause::Opening, Cause::Closing]);
}

fn pin_jobs(pins: &mut Pins) {
    let messages = vec![Message { role: "user".into(), content: "hello".into() }];
    job_type(
        pins,
        &[
            JobType::Llm { model: "llama".into(), messages, temperature_milli: 700, seed: 9 },
            full_spec().job_type,
            JobType::Mcp { server: "s".into(), tool: "t".into(), arguments: "{}".into() },
            JobType::EthSend { chain_id: 1, raw_transaction: Bytes(vec![1, 2, 3]) },
            JobType::Custom { executor_hash: HASH, params: Bytes(vec![4, 5]) },
        ],
    );
    let decimal = |text| Decimal::parse_plain(text).unwrap();
    let field = || String::from("a.b[0]");
    check(
        pins,
        &[
            VerifierCheck::MajorityVote { field: field() },
            VerifierCheck::JsonSchemaValid { schema: "{}".into() },
            VerifierCheck::StructuredMatch { fields: vec![field(), "c".into()] },
            VerifierCheck::NumericTolerance { field: field(), tolerance: decimal("0.5") },
            VerifierCheck::NumericRange { field: field(), min: decimal("-1"), max: decimal("2") },
            VerifierCheck::Custom { actor: WHO, method: "check".into() },
            VerifierCheck::DnsTxtRecordMatch {
                fqdn: "example.org".into(),
                expected_value: "v=1".into(),
                min_resolvers: 3,
            },
            VerifierCheck::DnsCnameMatch {
                fqdn: "www.example.org".into(),
                expected_target: "example.org".into(),
                min_resolvers: 2,
            },
        ],
    );
    let reason = Failure::NoAgreement;
    use Status::{Assigned, Cancelled, Committed, Failed, Pending, Settled};
    job_status(
        pins,
        &[Pending { view: 7 }, Assigned, Committed, Settled, Failed { reason }, Cancelled],
    );
    progress(
        pins,
        &[
            Progress::Waiting,
            Progress::Committed { commitment: HASH, at: AT },
            Progress::Revealed { result_hash: HASH },
            Progress::Crashed,
            Progress::TimedOut,
            Progress::Slashed,
            Progress::Excused { excuse: Excuse::TooLarge },
        ],
    );
    pins.value("job_spec", &full_spec());
    pins.value("seat", &seat());
}

fn seat() -> Seat {
    Seat {
        runner: WHO,
        attempt: 1,
        since: AT,
        reputation_nano: 60_000_000_000,
        effective: Amount(31),
        delegated: Amount(32),
        stake: SOME,
        commission_bps: 250,
        stakes: Stakes { value: Amount(34), locked: Amount(35) },
        scored: true,
        overbooked: true,
        progress: Progress::Committed { commitment: HASH, at: AT },
    }
}

fn events() -> Vec<Event> {
    let (job, runner, amount, until) = (JOB, WHO, SOME, AT);
    let (challenger, actor, submitter) = (OTHER, OTHER, OTHER);
    let signal = CrashSignal::Oom;
    let roots = vec![(HASH, 5), (JOB, 6)];
    vec![
        Event::Transferred { from: WHO, to: OTHER, amount },
        Event::DepositTaken { payer: WHO, owner: OTHER, amount },
        Event::DepositReturned { owner: OTHER, amount },
        Event::RunnerRegistered { runner, slot: Slot(3), stake: amount },
        Event::RunnerUpdated { runner },
        Event::Staked { runner, amount },
        Event::Unstaked { runner, owner: OTHER, amount, payable_at: AT },
        Event::StakeReleased { owner: OTHER, amount },
        Event::RunnerPaused { runner },
        Event::RunnerResumed { runner },
        Event::RunnerDeregistered { runner },
        Event::Delegated { runner, delegator: OTHER, amount, shares: 11 },
        Event::ReputationChanged { runner, reputation_nano: 12, score: 100 },
        Event::RunnerJailed { runner, until },
        Event::RunnerReleased { runner },
        Event::PresenceChanged { runner, present: true },
        Event::HeartbeatSeen { runner },
        Event::JobSubmitted { job, submitter, escrow: amount },
        Event::JobBound { job, attempt: 1, view: 13, roots, seats: 3 },
        Event::JobAssigned {
            job,
            attempt: 1,
            seed: HASH,
            runners: vec![WHO, OTHER],
            aggregator: Some(WHO),
            commit_by: AT,
        },
        Event::JobCancelled { job, burned: amount },
        Event::JobFailed { job, reason: Failure::NoRunners },
        Event::Refunded { job, to: OTHER, amount },
        Event::RunnerTimedOut { job, runner, excused: true },
        Event::CommitteeSized { active: 7, hhi_nano: Some(8), m_adaptive: 9 },
        Event::Committed { job, runner, commitment: HASH },
        Event::CommitsClosed { job },
        Event::Revealed { job, runner, result_hash: HASH },
        Event::CrashAttested { job, runner, signal, exempt: true },
        Event::CrashFlagged { runner, attestations: 5 },
        Event::NonRevealSlash { job, runner, amount },
        Event::InvalidRevealSlash { job, runner, amount },
        Event::ResultRejected { job, runner },
        Event::JobSettled {
            job,
            winners: vec![WHO],
            gross: amount,
            burned: Amount(1),
            treasury: Amount(2),
        },
        Event::Paid { job, runner, amount, to_delegators: Amount(3) },
        Event::CallbackQueued { job, actor },
        Event::CallbackFailed { job, actor },
        Event::BondLocked { job, runner, amount, until },
        Event::BondReleased { job, runner, amount },
        Event::ResultChallenged { job, challenger, by_job: HASH },
        Event::ChallengeUpheld { job, runner, slashed: amount },
        Event::ChallengeRejected { job, challenger, forfeited: amount },
        Event::ChallengeUndecided { job },
        Event::ResultExcused { job, runner, excuse: Excuse::Refused },
        Event::TimerScheduled { timer: HASH, actor, due: AT, expires_at: AT },
        Event::TimerPriorityClampedAtSchedule { timer: HASH, stated: 126, clamped: 127 },
        Event::TimerFired { timer: HASH, actor, code: 619, cycles: 128, cells: 129, fee: amount },
        Event::TimerExpired { timer: HASH, actor },
        Event::TimerCancelledInsufficientFunds { timer: HASH, actor, payer: WHO },
        Event::TimerCancelled { timer: HASH, actor, by: WHO },
        Event::TimerExtended { timer: HASH, expires_at: AT },
        Event::GasBidFailed { timer: HASH, agent: WHO, code: 3 },
        Event::TimerConfigUpdated { config: TimerConfig::GENESIS },
        Event::ActorDeployed { actor, owner: WHO, code_hash: HASH },
        Event::ActorUpgraded { actor, code_hash: HASH },
        Event::ActorEvent { actor, topic: "t".into(), data: Bytes(vec![1]) },
        Event::ActorReturned { actor, method: "m".into(), value: Bytes(vec![2]) },
        Event::CallFailed { actor, method: "m".into(), code: 706, error: "e".into() },
        Event::CallQueued { call: HASH, from: actor, to: WHO, method: "m".into() },
        Event::CallRan { call: HASH, actor, code: 0, cycles: 151, cells: 152, fee: amount },
        Event::CallSuspended { actor, frame: 153, method: "m".into() },
        Event::CallFinished { actor, frame: 154, code: 0 },
        Event::PoolCreated { pool: HASH, id: Bytes(vec![180]), owner: WHO },
        Event::NamespaceCreated { name: Bytes(vec![181]), owner: WHO },
        Event::EntitlementGranted {
            entitlement: HASH,
            granter: WHO,
            grantee: OTHER,
            scope: Scope::Global,
            action: Action::All,
            parent: Some(JOB),
        },
        Event::EntitlementRevoked { entitlement: HASH, grantee: WHO, by: OTHER },
        Event::EntitlementCleared { entitlement: HASH, grantee: WHO },
        Event::EntitlementUsed { entitlement: HASH, grantee: WHO, amount },
        Event::RoleCreated { role: HASH, owner: WHO, name: Bytes(vec![182]) },
        Event::RoleAssigned { role: HASH, assignee: WHO, by: OTHER },
        Event::RoleRevoked { role: HASH, assignee: WHO, by: OTHER },
        Event::MembershipAccepted { entitlement: HASH, runner },
    ]
}

fn receipt(events: Vec<Event>) -> Receipt {
    let used = Usage { cycles: Cycles(14), cells: Cells(15) };
    Receipt { cause: Cause::Transaction { hash: HASH }, code: 422, used, fee: SOME, events }
}

fn pin_events(pins: &mut Pins) {
    event(pins, &events());
    pins.value("receipt", &receipt(events()));
    pins.value("receipt.empty", &receipt(Vec::new()));
}

fn transaction(instruction: Instruction) -> Transaction {
    Transaction {
        chain_id: 16,
        nonce: 17,
        cycles_limit: 18,
        cells_limit: 19,
        cycle_bid: Bid { max_fee: 20, max_priority: 21 },
        cell_bid: Bid { max_fee: 22, max_priority: 23 },
        max_deposit: Amount(199),
        instruction,
    }
}

fn pin_transactions(pins: &mut Pins) {
    let instructions = every_instruction();
    instruction(pins, &instructions);
    let key = SecretKey::from_label("pinned");
    for instruction in instructions {
        let words = format!("{instruction:?}");
        let name = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let body = transaction(instruction);
        pins.value(format!("transaction.{name}"), &body);
        pins.hash(format!("transaction.{name}.digest"), body.digest());
        pins.value(format!("transaction.{name}.signed"), &body.sign(&key));
    }
}

fn header() -> Header {
    Header {
        parent: B256::repeat_byte(1),
        parent_view: 103,
        height: AT,
        round: Round { epoch: 24, view: 25 },
        proposer: [2; 32],
        timestamp_ms: 26,
        transactions_root: B256::repeat_byte(3),
        receipts_root: B256::repeat_byte(4),
        state: StateCommitment {
            root: B256::repeat_byte(5),
            ops_root: B256::repeat_byte(10),
            ops_start: 104,
            ops_end: 105,
        },
        seeds_root: B256::repeat_byte(6),
        presence_hash: B256::repeat_byte(7),
    }
}

fn certificate() -> PresenceCertificate {
    let attestation =
        |validator, bits| Attestation { validator, bits: Bytes(bits), signature: [106; 64] };
    PresenceCertificate {
        height: AT,
        round: Round { epoch: 107, view: 108 },
        parent_view: 109,
        block: HASH,
        vote_signature: [110; 48],
        seed_signature: [111; 48],
        attestations: vec![attestation(1, vec![5]), attestation(2, vec![])],
    }
}

fn validators() -> Vec<Validator> {
    let validator = |byte, fee_recipient| Validator { key: [byte; 32], fee_recipient };
    vec![validator(1, WHO), validator(2, OTHER)]
}

fn pin_blocks(pins: &mut Pins) {
    let seeds = vec![SeedSignature { bytes: [8; 48] }, SeedSignature { bytes: [9; 48] }];
    let transactions = vec![Bytes(vec![1, 2]), Bytes(vec![3]), Bytes(vec![])];
    pins.hash("block.transactions_root", transactions_root(&transactions));
    pins.hash("block.seeds_root", seeds_root(&seeds));
    pins.hash("block.presence_hash", presence_hash(Some(&certificate())));
    pins.value("certificate", &certificate());
    pins.value("header", &header());
    pins.hash("header.hash", header().hash());
    pins.value(
        "block",
        &Block { header: header(), seeds, presence: Some(certificate()), transactions },
    );
}

fn job() -> Job {
    Job {
        submitter: OTHER,
        submitted_at: AT,
        kind: JobKind::Http,
        status: Status::Pending { view: 27 },
        attempt: 1,
        committee: 3,
        n_threshold: 2,
        snapshot: Snapshot {
            height: AT,
            roots: vec![(HASH, 28), (JOB, 29)],
            seats: 2,
            bound: 3,
            mru: Some(WHO),
            scored: true,
        },
        seed: HASH,
        seats: vec![seat()],
        excluded: vec![OTHER],
        aggregator: Some(WHO),
        commit_by: Height(30),
        aggregator_until: Height(31),
        reveal_by: Height(32),
        closed_at: Some(Height(33)),
        escrow: SOME,
        callback_deposit: Amount(33),
        callback_max_fee: 34,
        challenges: Some(HASH),
    }
}

fn terms() -> Terms {
    Terms { max_concurrent_jobs: 35, commission_bps: 36, stake_floor: STAKE, since: AT }
}

fn candidacy() -> Candidacy {
    Candidacy {
        effective_stake: SOME,
        reputation_nano: 37,
        open_jobs: 38,
        open_value: Amount(39),
        locked: Amount(40),
        available: true,
        present: false,
        last_seen: AT,
        tee_until: Some(Height(41)),
    }
}

/// A value with an older version.
fn versioned<T: Clone + PartialEq>(old: T, new: T) -> Versioned<T> {
    let mut versioned = Versioned::new(old, Stamp::opening(AT));
    versioned.write(new, Stamp::body(AT), Some(Stamp::opening(AT)));
    versioned
}

fn runner() -> Runner {
    let mut runner = Runner::newcomer(Slot(42), terms(), AT, Stamp::opening(AT));
    runner.stake = SOME;
    runner.delegated = Pool { amount: Amount(43), shares: 44 };
    let pool = Pool { amount: Amount(45), shares: 46 };
    let batch = Batch { began: Height(121), pool, duties: 122 };
    runner.unbonding = Unbonding { batches: vec![batch], since: 123 };
    runner.locked = Amount(47);
    runner.reputation = Reputation { score_sum: 48, weight_sum: 49, last_update: 50 };
    runner.failures = 51;
    runner.jailed_until = Some(Height(52));
    runner.jail_terms = 53;
    runner.jailed_at = Height(54);
    runner.present = true;
    runner.last_seen = Height(55);
    runner.open_jobs = 56;
    runner.open_value = Amount(57);
    runner.tee_until = Some(Height(58));
    runner.exempted_in = Some(59);
    runner.crashes = vec![Height(60), Height(61)];
    runner.candidacy = versioned(Candidacy::NOBODY, candidacy());
    runner
}

fn profile() -> Profile {
    let (valid_from, valid_until) = (Height(62), Height(63));
    Profile {
        public_key: PublicKey { bytes: [2; 33] },
        slot: Slot(42),
        offer: full_offer(),
        pools: vec![Membership { pool: HASH, valid_from, valid_until }],
        held: Held { bytes: 203, parts: 204 },
    }
}

fn chain_state() -> ChainState {
    ChainState {
        genesis_hash: HASH,
        height: AT,
        round: Round { epoch: 64, view: 65 },
        timestamp_ms: 66,
        newest_seed: 67,
        next_slot: Slot(68),
        pending_head: 69,
        pending_tail: 70,
        retries_head: 212,
        retries_tail: 213,
        calls_head: 71,
        calls_tail: 72,
        roster_changes: 33,
        warm_nodes: 214,
        agenda: Cursor { height: Height(73), index: 74 },
    }
}

fn pin_state(pins: &mut Pins) {
    let committee = EpochCommittee { active: 75, hhi_nano: Some(76), m_adaptive: 9 };
    let account = Account { balance: SOME, nonce: 77, failed_callbacks: 78 };
    pins.record("ChainKey", &ChainKey {}, &chain_state());
    pins.record("SupplyKey", &SupplyKey {}, &Supply { total: SOME, burned: Amount(79) });
    pins.record("BasefeesKey", &BasefeesKey {}, &Basefees { cycle: 80, cell: 81 });
    pins.record("EpochCommitteeKey", &EpochCommitteeKey {}, &committee);
    pins.record("AccountKey", &AccountKey { address: WHO }, &account);
    pins.record("BeaconKey", &BeaconKey { view: 82 }, &HASH);
    pins.record("ValidatorsKey", &ValidatorsKey {}, &validators());
    pin_tasks(pins);
    pin_presence(pins);
    let profiles = versioned(Profile { pools: Vec::new(), ..profile() }, profile());
    pins.record("ProfileKey", &ProfileKey { runner: WHO }, &profiles);
    pins.record("RunnerKey", &RunnerKey { runner: WHO }, &runner());
    let slot = SlotRecord { runner: WHO, vacated: Some(Height(120)) };
    pins.record("SlotKey", &SlotKey { slot: Slot(42) }, &slot);
    pins.record("DelegationKey", &DelegationKey { runner: WHO, delegator: OTHER }, &83);
    pins.record("JobKey", &JobKey { job: JOB }, &job());
    pins.record("JobSpecKey", &JobSpecKey { job: JOB }, &full_spec());
    let pending = PendingSelection { job: JOB, view: 84, snapshot_height: AT };
    pins.record("PendingKey", &PendingKey { index: 85 }, &pending);
    let mru = MruRecord { runner_address: WHO, set_at_block: AT };
    pins.record("MruKey", &MruKey { submitter: OTHER, kind: 2 }, &mru);
    let result = Bytes(b"result".to_vec());
    pins.record("RevealKey", &RevealKey { job: JOB, runner: WHO }, &result);
    let agreed = Some(Bytes(b"agreed".to_vec()));
    pins.record(
        "ResultKey",
        &ResultKey { job: JOB },
        &VerifiedResult { agreed, result, runner: WHO },
    );
    pins.record("BondKey", &BondKey { job: JOB }, &bond());
    pins.record("CallKey", &CallKey { index: 86 }, &call());
    let warm = Warm { asked_at: AT, changes: 34, nodes: 215 };
    pins.record("WarmKey", &WarmKey { query: HASH }, &warm);
    let retry = Retry { job: JOB, attempt: 2, since: AT };
    pins.record("RetryKey", &RetryKey { index: 216 }, &retry);
    pins.record("PinnedExecutorKey", &PinnedExecutorKey { hash: HASH }, &true);
    pin_entitlements(pins);
    pins.record("SystemDeployersKey", &SystemDeployersKey {}, &vec![WHO, OTHER]);
    pin_timers(pins);
    pin_actors(pins);
}

fn pin_entitlements(pins: &mut Pins) {
    let name = || Bytes(b"name".to_vec());
    let scopes = [
        Scope::Global,
        Scope::Actor { address: WHO },
        Scope::Token { id: HASH },
        Scope::Runner { address: WHO },
        Scope::RunnerPool { id: name() },
        Scope::Namespace { name: name() },
    ];
    scope(pins, &scopes);
    action(
        pins,
        &[
            Action::All,
            Action::TokenTransfer,
            Action::TokenMint,
            Action::TokenBurn,
            Action::TokenFreeze,
            Action::TokenSetHook,
            Action::TokenTransferOwnership,
            Action::ActorDeploy,
            Action::ActorSendMessage,
            Action::ActorExecuteHandler { name: name() },
            Action::RunnerRegister { min_stake_override: Some(SOME) },
            Action::RunnerSubmitJob,
            Action::RunnerSubmitResult,
            Action::RunnerJoinPool { pool: name() },
            Action::SystemTransfer,
            Action::SystemCreateAccount,
            Action::SystemUpgrade,
            Action::Custom { name: name() },
        ],
    );
    pins.value("constraints", &full_constraints());
    pins.value("constraints.default", &Constraints::default());
    let used = Used { count: 183, total: SOME, window_start: AT, window_count: 184 };
    let record = Entitlement {
        granter: WHO,
        grantee: OTHER,
        scope: Scope::Global,
        action: Action::All,
        constraints: full_constraints(),
        parent: Some(JOB),
        used,
        accepted: true,
        held_place: 185,
        member_place: 186,
        deposit: Amount(205),
    };
    pins.hash("entitlement_id", entitlement_id(&record, 187));
    let root = Entitlement { parent: None, ..record.clone() };
    pins.hash("entitlement_id.root", entitlement_id(&root, 187));
    pins.hash("right", right(&record.scope, &record.action));
    pins.hash("role_id", role_id(WHO, b"clerk"));
    pins.hash("pool_hash", pool_hash(b"pool"));
    let pool = RunnerPool { owner: WHO, id: name(), members: 188, deposit: Amount(202) };
    pins.record("PoolKey", &PoolKey { pool: HASH }, &pool);
    pins.record("EntitlementKey", &EntitlementKey { entitlement: HASH }, &record);
    let holder = Holder { held: 189, roles: 190, granted: 191 };
    pins.record("HolderKey", &HolderKey { address: WHO }, &holder);
    pins.record("HeldKey", &HeldKey { holder: WHO, place: 192 }, &HASH);
    pins.record("RightKey", &RightKey { holder: WHO, right: HASH }, &vec![JOB, HASH]);
    pins.record("PoolMemberKey", &PoolMemberKey { pool: HASH, place: 193 }, &JOB);
    let namespace = Namespace { owner: WHO, deposit: Amount(206) };
    pins.record("NamespaceKey", &NamespaceKey { namespace: HASH }, &namespace);
    let role = Role {
        owner: WHO,
        name: name(),
        scopes: scopes.to_vec(),
        actions: vec![Action::All, Action::ActorSendMessage],
        constraints: full_constraints(),
        deposit: Amount(207),
    };
    pins.record("RoleKey", &RoleKey { role: HASH }, &role);
    pins.record("AssignedKey", &AssignedKey { holder: WHO, place: 194 }, &HASH);
    let assignment = Assignment { place: 195, used, deposit: Amount(208) };
    pins.record("AssignmentKey", &AssignmentKey { holder: WHO, role: HASH }, &assignment);
}

fn pin_actors(pins: &mut Pins) {
    let record = Actor {
        owner: WHO,
        code_hash: HASH,
        code_bytes: 155,
        storage_bytes: 156,
        held: Held { bytes: 200, parts: 201 },
        root: Some(Bytes(vec![157])),
        suspended: 158,
        next_frame: 159,
        next_token: 160,
    };
    pins.record("ActorKey", &ActorKey { actor: WHO }, &record);
    pins.record("CodeKey", &CodeKey { actor: WHO }, &"pass".to_owned());
    let open = vec!["on_price".to_owned()];
    pins.record("OpenHandlersKey", &OpenHandlersKey { actor: WHO }, &open);
    let key: &[u8] = b"key";
    pins.record("StorageKey", &StorageKey { actor: WHO, key }, &Bytes(vec![161]));
    let node = KeyNode { left: Some(Bytes(vec![162])), right: None };
    pins.record("StorageNodeKey", &StorageNodeKey { actor: WHO, key }, &node);
    let frame = Frame {
        method: "m".into(),
        sender: WHO,
        origin: OTHER,
        reply: Some((OTHER, 163)),
        since: AT,
        open: vec![164, 165],
        awaits: vec![164],
        resume_cycles: 200_166,
        held: Amount(210),
    };
    pins.record("FrameKey", &FrameKey { actor: WHO, frame: 167 }, &frame);
    let frames = Bytes(vec![166]);
    pins.record("FrameBytesKey", &FrameBytesKey { actor: WHO, frame: 167 }, &frames);
    let wait = |on, answer| Wait {
        frame: 168,
        on,
        deposit: SOME,
        cycles_limit: 169,
        held: Amount(211),
        answer,
    };
    let failed = Answer::Failed { code: 706, message: "e".into() };
    let returned = Answer::Returned { value: Bytes(vec![170]) };
    let key = WaitKey { actor: WHO, token: 171 };
    pins.record("WaitKey", &key, &wait(WaitOn::Height { height: AT }, Some(failed)));
    pins.value("wait.job", &wait(WaitOn::Job { job: JOB }, Some(Answer::Job { job: JOB })));
    pins.value("wait.method", &wait(WaitOn::Method { actor: OTHER }, Some(returned)));
    pins.value("wait.open", &wait(WaitOn::Method { actor: OTHER }, Some(Answer::Slept)));
    pins.record("JobWaitKey", &JobWaitKey { job: JOB }, &(WHO, 172));
    let deferred = |what| DeferredCall { what, ..call() };
    let message = Deferred::Message {
        from: WHO,
        origin: OTHER,
        method: "m".into(),
        payload: Bytes(vec![173]),
        value: SOME,
        reply: Some((WHO, 174)),
    };
    pins.value("deferred.message", &deferred(message));
    let resume = Deferred::Resume { frame: 175, token: 176, answer: Answer::Slept };
    pins.value("deferred.resume", &deferred(resume));
    pins.hash("call_id", call_id(177, 178));
    pins.hash("actor_address", actor_address(WHO, HASH, "pass").into_word());
}

fn pin_timers(pins: &mut Pins) {
    let timer = Timer {
        actor: WHO,
        due: AT,
        expires_at: AT.plus(1),
        fee_payer: OTHER,
        gas_limit: 130,
        max_cells: 131,
        max_fee: 132,
        max_priority_fee: 133,
        agent: Some(OTHER),
        deposit: Amount(209),
        payload: Payload::new(&[134]),
    };
    pins.record("TimerKey", &TimerKey { timer: HASH }, &timer);
    let long = Timer { fee_payer: WHO, agent: None, payload: Payload::new(&[0; 138]), ..timer };
    pins.value("state.TimerKey.long", &long);
    pins.record("TimerPayloadKey", &TimerPayloadKey { timer: HASH }, &Bytes(vec![135, 136]));
    pins.record("TimerCounterKey", &TimerCounterKey { actor: WHO }, &137);
    pins.record("DueBeaconKey", &DueBeaconKey { height: AT }, &JOB);
    pins.record("ChunkKey", &ChunkKey { height: AT, chunk: 142 }, &vec![HASH, JOB]);
    pins.record("FiresKey", &FiresKey { height: AT }, &vec![(WHO, 143), (OTHER, 144)]);
    let lane = TimerLane { basefee: 145, median_tip: 146, block_cycles: 147 };
    pins.record("TimerLaneKey", &TimerLaneKey {}, &lane);
    pins.record("TimerConfigKey", &TimerConfigKey {}, &TimerConfig::GENESIS);
    pins.value("schedule_timer", &full_timer());
    pins.hash("timer_id", timer_id(WHO, AT, b"payload", 148));
    pins.hash("timer_lot", lot(&JOB, &HASH));
}

fn pin_presence(pins: &mut Pins) {
    let epoch =
        |number, seed| SubsetEpoch { number, start: Height(115), first_slot: Slot(121), seed };
    let presence = PresenceState {
        epoch: epoch(114, HASH),
        previous: Some(epoch(113, JOB)),
        phase: Phase { since: Height(122), overlap: true },
        newest_certificate: Some(Height(116)),
        next: Some(NextSubsets { seed: HASH, drawn: Slot(122) }),
        stale_from: Some(Slot(123)),
    };
    pins.record("PresenceKey", &PresenceKey {}, &presence);
    let attestation = AttestationRecord { height: AT, bits: Bytes(vec![0, 1]) };
    pins.record("AttestationKey", &AttestationKey { validator: 117 }, &attestation);
    let ancestor = AncestorRecord {
        height: AT,
        hash: HASH,
        view: 118,
        parent_view: Some(123),
        next_slot: Slot(124),
    };
    pins.record("AncestorKey", &AncestorKey { place: 119 }, &ancestor);
}

fn pin_tasks(pins: &mut Pins) {
    let commit_deadline = Task::CommitDeadline { job: JOB, attempt: 2 };
    pins.record("AgendaLengthKey", &AgendaLengthKey { height: AT }, &87);
    pins.record("AgendaKey", &AgendaKey { height: AT, index: 88 }, &commit_deadline);
    task(
        pins,
        &[
            commit_deadline,
            Task::RevealDeadline { job: JOB, attempt: 2 },
            Task::JailRelease { runner: WHO },
            Task::StakeRelease { runner: WHO, owner: OTHER, shares: 89, began: Height(125) },
            Task::BondRelease { job: JOB },
            Task::Wake { actor: WHO, token: 150 },
            Task::ForgetJob { job: JOB },
            Task::ForgetMru { submitter: WHO, kind: 2 },
            Task::ForgetWarm { query: HASH },
        ],
    );
}

fn bond() -> Bond {
    let challenge =
        Challenge { challenger: OTHER, bond: Amount(90), cost: Amount(91), by_job: JOB };
    Bond {
        runner: WHO,
        locked: SOME,
        since: Height(124),
        until: AT,
        trials: 2,
        trial: Some(challenge),
    }
}

fn call() -> DeferredCall {
    DeferredCall {
        actor: callback(1).actor,
        payer: OTHER,
        deposit: SOME,
        cycles_limit: 92,
        what: Deferred::Job { job: JOB, handler: callback(1).handler },
    }
}

/// Hashes that the protocol itself takes over encodings.
fn pin_digests(pins: &mut Pins) {
    pins.hash("params.one_second", ChainParams::one_second().hash());
    pins.hash("params.development", ChainParams::development().hash());
    let genesis = Genesis {
        params: ChainParams::development(),
        timestamp_ms: 93,
        balances: vec![(WHO, SOME), (OTHER, Amount(94))],
        pinned_executors: vec![HASH],
        system_deployers: vec![OTHER],
        validators: validators(),
        threshold_key: Bytes(vec![112, 113]),
    };
    pins.hash("genesis", genesis.hash());
    pins.hash("genesis.state", genesis.state().unwrap().digest());
    pins.hash("tx_hash", tx_hash(b"bytes"));
    pins.hash("job_id", job_id(95, HASH, 96));
    pins.hash("query", Query::of(&full_spec(), &ChainParams::one_second(), 5).hash());
    pins.hash("beacon", beacon(Round { epoch: 97, view: 98 }, &[99; 48]));
    pins.hash("beacon.genesis", genesis_beacon(HASH));
    pins.hash("seed.immediate", selection_seed(SelectionMode::Immediate, HASH, JOB, 100));
    pins.hash("seed.delayed", selection_seed(SelectionMode::Delayed, HASH, JOB, 100));
    pins.hash("seed.retry", retry_seed(HASH, 2));
    pins.hash("result_digest", result_digest(95, JOB, 1, WHO, b"result"));
    let signature = Signature { bytes: [101; 65] };
    let salt = B256::repeat_byte(102);
    let excuse = Excuse::Unreachable;
    pins.hash("excuse_digest", excuse_digest(95, JOB, 1, WHO, excuse));
    let bound = excuse_commitment(95, JOB, 1, WHO, excuse, &salt, &signature.bytes);
    pins.hash("excuse_commitment", bound);
    pins.hash("commitment", commitment(95, JOB, 1, WHO, b"result", &salt, &signature.bytes));
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/encodings.txt");

// spec §1.1, §1.3, §5.10
#[test]
fn no_encoding_has_changed() {
    let pins = pins().0;
    let names: BTreeSet<&String> = pins.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), pins.len(), "a name is used twice");
    let now: Vec<String> = pins.iter().map(|(name, hash)| format!("{name} {hash}")).collect();
    if std::env::var_os("REMUDA_PIN").is_some() {
        std::fs::write(FILE, now.join("\n") + "\n").expect("the file can be written");
        return;
    }
    let file = std::fs::read_to_string(FILE).unwrap_or_default();
    let before: Vec<&str> = file.lines().collect();
    let gone = before.iter().filter(|line| !now.iter().any(|other| other == *line));
    let new = now.iter().filter(|line| !before.contains(&line.as_str()));
    let gone = gone.map(|line| format!("- {line}\n"));
    let changes: String = gone.chain(new.map(|line| format!("+ {line}\n"))).collect();
    assert!(
        changes.is_empty(),
        "encodings have changed, which forks every chain that runs:\n{changes}\
         If that is meant: REMUDA_PIN=1 cargo test -p remuda-protocol --test integration encodings"
    );
}

/// The table of keys has no list of its own, so its source is asked.
#[test]
fn every_key_of_the_state_is_pinned() {
    let source = include_str!("../src/rules/key.rs");
    let rows = source.lines().filter_map(|line| line.trim().split_once(" => "));
    let rows = rows.filter(|(tag, _)| tag.parse::<u8>().is_ok());
    let mut keys: BTreeSet<String> =
        rows.filter_map(|(_, row)| Some(format!("key.{}", row.split_once(' ')?.0))).collect();
    assert!(keys.len() > 20, "the table is not where it was");
    // These two have keys of any length.
    keys.extend(["key.StorageKey".to_owned(), "key.StorageNodeKey".to_owned()]);
    let pinned: BTreeSet<String> =
        pins().0.into_iter().map(|(name, _)| name).filter(|n| n.starts_with("key.")).collect();
    assert_eq!(keys, pinned);
}
