//! The inputs that fuzzers start from: valid transactions, and whole lives of jobs.
//!
//! They are committed under `fuzz/seeds`. This test regenerates and compares them, so that they
//! stay valid. After a change of an encoding or of the fuzzed world run it once with REMUDA_PIN=1.

use crate::common;

use common::{offer, single_job, vote_job};
use remuda_protocol::actors::NoActors;
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{SeatState, Status};
use remuda_protocol::dispatcher::submit::job_id;
use remuda_protocol::entitlements::constraints::{Constraints, Used};
use remuda_protocol::entitlements::record::{Entitlement, entitlement_id};
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::event::{CrashSignal, Event};
use remuda_protocol::execute::{apply_block, propose_block};
use remuda_protocol::fuzz::{self, keys, script, seed_transaction, world};
use remuda_protocol::local::LocalChain;
use remuda_protocol::primitives::{Amount, B256, Height, JobId};
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::record::{FEE_MAX, timer_id};
use remuda_protocol::transaction::Instruction;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Plays a life on the fuzzed world and writes down who sent what.
struct Recorder {
    chain: LocalChain,
    steps: Vec<(u8, bool, Instruction)>,
    seen: BTreeSet<&'static str>,
}

impl Recorder {
    fn new() -> Self {
        Self { chain: world().clone(), steps: Vec::new(), seen: BTreeSet::new() }
    }

    fn send(&mut self, who: u8, instruction: Instruction) -> B256 {
        self.steps.push((who, false, instruction.clone()));
        self.chain.send(&keys()[usize::from(who)], instruction)
    }

    /// Ends the block; an empty block is ended by an instruction that does nothing.
    fn step(&mut self) {
        match self.steps.last_mut() {
            Some((_, ends @ false, _)) => *ends = true,
            _ => {
                self.send(5, Instruction::Heartbeat);
                return self.step();
            }
        }
        let outcome = self.chain.step();
        self.seen.extend(outcome.events().map(Event::name));
    }

    fn submit(&mut self, spec: remuda_protocol::dispatcher::spec::JobSpec) -> JobId {
        let hash = self.send(4, Instruction::SubmitJob { spec });
        self.step();
        let job = job_id(self.chain.params.chain_id, hash, 0);
        while matches!(self.chain.job(job).map(|job| job.status), Some(Status::Pending { .. })) {
            self.step();
        }
        job
    }

    /// Every seated runner does its next step.
    fn work(&mut self, job: JobId, answer: &[u8]) {
        let Some(record) = self.chain.job(job) else { return };
        for seat in &record.seats {
            let who = keys().iter().position(|key| key.address() == seat.runner).unwrap();
            let Some((commitment, reveal)) = self.chain.sealed(&keys()[who], job, answer) else {
                continue;
            };
            let instruction = match seat.progress {
                SeatState::Waiting if record.committee == 1 => Instruction::SubmitResult {
                    job,
                    result: reveal.result,
                    result_sig: reveal.result_sig,
                },
                SeatState::Waiting => Instruction::CommitResult { job, commitment },
                SeatState::Committed { .. } => Instruction::RevealResult { job, reveal },
                _ => continue,
            };
            self.send(who as u8, instruction);
        }
        self.step();
    }
}

fn lives() -> BTreeMap<&'static str, Vec<u8>> {
    let mut vote = Recorder::new();
    let job = vote.submit(vote_job(3, Amount::cby(10)));
    vote.work(job, b"{\"answer\":1}");
    vote.work(job, b"{\"answer\":1}");
    assert!(vote.seen.contains("JobSettled"), "the life of a vote ends well: {:?}", vote.seen);

    let mut bonded = Recorder::new();
    let job = bonded.submit(single_job(VerificationMode::EconomicBond, Amount::cby(10)));
    bonded.work(job, b"{\"answer\":1}");
    bonded.send(5, Instruction::ChallengeResult { job });
    bonded.step();
    assert!(bonded.seen.contains("BondLocked"), "{:?}", bonded.seen);

    let mut crash = Recorder::new();
    let job = crash.submit(vote_job(3, Amount::cby(10)));
    crash.work(job, b"{\"answer\":1}");
    let runner = crash.chain.awaited(job)[0];
    let who = keys().iter().position(|key| key.address() == runner).unwrap();
    crash.send(who as u8, Instruction::CrashAttestation { job, signal: CrashSignal::Oom });
    crash.step();
    assert!(crash.seen.contains("CrashAttested"), "{:?}", crash.seen);

    let mut stakes = Recorder::new();
    let runner = keys()[0].address();
    for (who, instruction) in [
        (5, Instruction::Delegate { runner, amount: Amount::cby(100), min_shares: 0 }),
        (5, Instruction::Undelegate { runner, shares: 2_000_000_000_000 }),
        (0, Instruction::Unstake { amount: Amount::cby(1) }),
        (0, Instruction::PauseRunner),
        (0, Instruction::ResumeRunner),
        (0, Instruction::UpdateRunner { offer: offer() }),
        (3, Instruction::DeregisterRunner),
        (4, Instruction::Transfer { to: runner, amount: Amount(1) }),
    ] {
        stakes.send(who, instruction);
    }
    stakes.step();
    let recorders = [
        ("vote", vote),
        ("bonded", bonded),
        ("crash", crash),
        ("stakes", stakes),
        ("timers", timers()),
        ("rights", rights()),
    ];
    let scripts = recorders.into_iter().map(|(name, recorder)| (name, script(&recorder.steps)));
    scripts.chain([("whole", whole_block())]).collect()
}

/// Timers that fire, that are cancelled and extended, and one that nobody pays for; and the
/// instructions that only system deployers may send.
fn timers() -> Recorder {
    let mut timers = Recorder::new();
    let due = timers.chain.height().plus(4);
    let timer = |height: Height, payload: &[u8]| ScheduleTimer {
        height,
        payload: payload.into(),
        max_cells: Some(0),
        ..ScheduleTimer::default()
    };
    let mut ids = Vec::new();
    for (who, payload) in [(4, &b"fires"[..]), (4, b"cancelled"), (5, b"extended")] {
        let who_pays = keys()[usize::from(who)].address();
        let counter = ids.len() as u64 * u64::from(who == 4);
        ids.push(timer_id(who_pays, due, payload, counter));
        timers.send(who, Instruction::ScheduleTimer { timer: timer(due, payload) });
    }
    let dear = ScheduleTimer {
        max_fee_per_cycle: Some(FEE_MAX),
        max_priority_fee_per_cycle: Some(FEE_MAX),
        gas_limit: Some(250_000),
        agent: Some(keys()[5].address()),
        expires_at: Some(due.plus(2)),
        ..timer(due, b"nobody can pay for it")
    };
    timers.send(5, Instruction::ScheduleTimer { timer: dear });
    timers.step();
    timers.send(4, Instruction::CancelTimer { timer: ids[1] });
    timers.send(5, Instruction::ExtendTimer { timer: ids[2], expires_at: due.plus(2_592_000 - 9) });
    timers.send(5, Instruction::CancelTimer { timer: ids[0] });
    timers.send(4, Instruction::SystemCancelTimer { timer: ids[2] });
    timers.send(4, Instruction::UpdateTimerConfig { config: TimerConfig::GENESIS });
    for _ in 0..6 {
        timers.step();
    }
    for event in [
        "TimerFired",
        "TimerCancelled",
        "TimerPriorityClampedAtSchedule",
        "GasBidFailed",
        "TimerCancelledInsufficientFunds",
    ] {
        assert!(timers.seen.contains(event), "{event}: {:?}", timers.seen);
    }
    timers
}

/// A pool with a member, and a right that is passed on and revoked.
fn rights() -> Recorder {
    let mut rights = Recorder::new();
    let name = || Bytes(b"name".to_vec());
    let (pool, space) = (Scope::RunnerPool { id: name() }, Scope::Namespace { name: name() });
    for scope in [pool.clone(), space.clone()] {
        rights.send(4, Instruction::EntitlementCreateScope { scope });
    }
    let (owner, friend) = (keys()[4].address(), keys()[5].address());
    let constraints =
        Constraints { delegatable: true, delegation_depth_max: 1, ..Constraints::default() };
    let record = Entitlement {
        granter: owner,
        grantee: friend,
        scope: space.clone(),
        action: Action::All,
        constraints,
        parent: None,
        used: Used::default(),
        accepted: true,
        held_place: 0,
        member_place: 0,
        deposit: Amount(30),
    };
    let entitlement = entitlement_id(&record, 0);
    let (grantee, scope, action) = (friend, space, Action::All);
    rights.send(4, Instruction::EntitlementGrant { grantee, scope, action, constraints });
    let (grantee, action) = (keys()[0].address(), Action::join(&name()));
    let constraints = Constraints::default();
    rights.send(4, Instruction::EntitlementGrant { grantee, scope: pool, action, constraints });
    rights.step();
    let delegatee = keys()[1].address();
    rights.send(5, Instruction::EntitlementDelegate { entitlement, delegatee, constraints });
    rights.step();
    rights.send(4, Instruction::EntitlementRevoke { entitlement });
    rights.step();
    for event in ["PoolCreated", "EntitlementGranted", "EntitlementRevoked"] {
        assert!(rights.seen.contains(event), "{event}: {:?}", rights.seen);
    }
    rights
}

/// The next block of the fuzzed world, with a presence certificate.
fn whole_block() -> Vec<u8> {
    let (chain, draft) = (world(), world().draft());
    assert!(draft.presence.is_some());
    let (block, ..) = propose_block(&chain.state, &chain.params, draft, &[], &NoActors).unwrap();
    assert!(apply_block(&chain.state, &chain.params, &block, &NoActors).is_ok());
    block.to_bytes()
}

fn transactions() -> BTreeMap<&'static str, Vec<u8>> {
    let transfer = Instruction::Transfer { to: keys()[0].address(), amount: Amount::cby(1) };
    let job = Instruction::SubmitJob { spec: vote_job(3, Amount::cby(1)) };
    let register = Instruction::RegisterRunner { stake: Amount::cby(10_000), offer: offer() };
    let height = world().height().plus(9);
    let timer = ScheduleTimer { height, payload: b"wake".as_slice().into(), ..Default::default() };
    let timer = Instruction::ScheduleTimer { timer };
    let id = Bytes(b"pool".to_vec());
    let grant = Instruction::EntitlementGrant {
        grantee: keys()[0].address(),
        action: Action::join(&id),
        scope: Scope::RunnerPool { id },
        constraints: Constraints::default(),
    };
    [
        ("transfer", transfer),
        ("job", job),
        ("register", register),
        ("timer", timer),
        ("grant", grant),
    ]
    .into_iter()
    .map(|(name, instruction)| (name, seed_transaction(instruction).0))
    .collect()
}

fn compare(target: &str, expected: BTreeMap<&'static str, Vec<u8>>) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    for (name, bytes) in expected {
        let path = folder.join(name);
        if std::env::var_os("REMUDA_PIN").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &bytes).unwrap();
        }
        let committed = std::fs::read(&path).unwrap_or_default();
        assert!(committed == bytes, "fuzz/seeds/{target}/{name} is stale: run with REMUDA_PIN=1");
    }
}

#[test]
fn fuzzers_start_from_valid_inputs() {
    for bytes in transactions().values() {
        fuzz::transaction(bytes);
    }
    for bytes in lives().values() {
        fuzz::block(bytes);
    }
    compare("transaction", transactions());
    compare("block", lives());
}
