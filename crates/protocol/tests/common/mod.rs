//! What the tests of whole chains share: a seeded source of choices, specs to choose from, and a
//! small world of runners and customers.
#![allow(dead_code, unreachable_pub)]

use remuda_protocol::agenda::{Task, WORK_PER_BLOCK};
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::crypto::{SecretKey, Signature};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Job, SeatState, Status};
use remuda_protocol::dispatcher::spec::{
    Callback, DataFormat, JobKind, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::dispatcher::submit::job_id;
use remuda_protocol::entitlements::constraints::{Constraints, RateLimit};
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::event::{CrashSignal, Event, Receipt};
use remuda_protocol::execute::Draft;
use remuda_protocol::key::{AgendaKey, AgendaLengthKey, BondKey};
use remuda_protocol::local::LocalChain;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256, Height, JobId};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::registry::runner::{Offer, Runner};
use remuda_protocol::state::{MemoryState, StateKey, read};
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::challenge::Bond;
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::excuse::Delivery;

/// SplitMix64: small, seeded, the same everywhere.
#[derive(Clone)]
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// Seeds to run: `REMUDA_SEED` alone if it is set, else `count` of them from a fixed start.
pub fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("REMUDA_SEED") {
        Ok(seed) => vec![seed.parse().expect("REMUDA_SEED is a number")],
        Err(_) => (0..count).map(|i| 0x5eed + i).collect(),
    }
}

/// Runs a test once per seed and says which one failed.
pub fn with_seeds(count: u64, test: impl Fn(u64) + std::panic::RefUnwindSafe) {
    for seed in seeds(count) {
        let result = std::panic::catch_unwind(|| test(seed));
        if let Err(panic) = result {
            eprintln!("failed with seed {seed}; run again with REMUDA_SEED={seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// Parameters under which a few hundred blocks see everything: short epochs, terms and windows.
pub fn brisk() -> ChainParams {
    let mut params = ChainParams::development();
    params.epoch_blocks = 10;
    params.unbonding_blocks = 20;
    params.dispute_blocks = 15;
    params.jail_blocks = 8;
    params.jail_blocks_max = 40;
    params.heartbeat_timeout_blocks = 25;
    params.aggregator_blocks = 3;
    params.reveal_blocks = 6;
    params.presence_policy = 1;
    params
}

pub fn offer() -> Offer {
    let executors = vec![B256::ZERO];
    let plain = plain_offer(&[JobKind::Http, JobKind::Custom]);
    Offer { accepts_unpaid: true, accept_bonded: true, executors, ..plain }
}

/// A web request under majority vote on the whole answer.
pub fn vote_job(runners: u32, price: Amount) -> JobSpec {
    JobSpec {
        job_type: JobType::Http {
            method: "GET".into(),
            url: "https://example.org/price".into(),
            headers: Vec::new(),
            body: Bytes::default(),
            extract: String::new(),
        },
        bounds: ResourceBounds::default(),
        verification: Verification {
            mode: VerificationMode::MajorityVote,
            runners,
            threshold: 1,
            checks: vec![VerifierCheck::MajorityVote { field: "answer".into() }],
        },
        result_schema: ResultSchema {
            max_return_bytes: 1_024,
            expected_execution_ms: 100,
            data_format: DataFormat::Json,
        },
        max_price: price,
        tip: Amount::ZERO,
        timeout_blocks: 10,
        callback: None,
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}

/// The same for one runner; bonded work is that of a pinned program.
pub fn single_job(mode: VerificationMode, price: Amount) -> JobSpec {
    let mut spec = vote_job(1, price);
    if mode == VerificationMode::EconomicBond {
        spec.job_type = JobType::Custom { executor_hash: B256::ZERO, params: Bytes::default() };
    }
    spec.verification = Verification { mode, runners: 1, threshold: 1, checks: Vec::new() };
    spec
}

pub fn callback(cycles_limit: u64) -> Callback {
    Callback { actor: Address::repeat_byte(0xac), handler: "on_result".into(), cycles_limit }
}

/// As [`brisk`], but nobody falls silent and presence counts for nothing: for tests of one rule.
pub fn calm() -> ChainParams {
    let mut params = brisk();
    params.presence_policy = 0;
    params.heartbeat_timeout_blocks = 100_000;
    params
}

/// What an honest runner answers.
pub const ANSWER: &[u8] = br#"{"answer":42}"#;

/// A chain with runners of equal stake, and customers with money. Every block is checked as
/// [`LocalChain::paranoid`] says.
#[derive(Clone)]
pub struct World {
    pub chain: LocalChain,
    pub runners: Vec<SecretKey>,
    pub customers: Vec<SecretKey>,
}

/// Own stake of the runners of a [`World`].
pub const STAKE: Amount = Amount::cby(40_000);

impl World {
    pub fn new(params: ChainParams, runners: usize) -> Self {
        Self::with_runners(params, vec![(STAKE, offer()); runners])
    }

    pub fn with_runners(params: ChainParams, offers: Vec<(Amount, Offer)>) -> Self {
        let keys = |name: &str, n: usize| -> Vec<SecretKey> {
            (0..n).map(|i| SecretKey::from_label(&format!("{name} {i}"))).collect()
        };
        let (runners, customers) = (keys("runner", offers.len()), keys("customer", 3));
        let rich = runners.iter().chain(&customers);
        let balances = rich.map(|key| (key.address(), Amount::cby(1_000_000)));
        let mut chain = LocalChain::start(params, balances, vec![B256::ZERO]).unwrap();
        chain.paranoid = true;
        let mut world = Self { chain, runners, customers };
        for (key, (stake, offer)) in world.runners.clone().iter().zip(offers) {
            world.chain.send(key, Instruction::RegisterRunner { stake, offer });
        }
        let outcome = world.chain.step();
        assert!(outcome.receipts.iter().all(|receipt| receipt.code == 0));
        world
    }

    pub fn runner(&self, i: usize) -> SecretKey {
        self.runners[i].clone()
    }

    pub fn customer(&self) -> SecretKey {
        self.customers[0].clone()
    }

    /// Somebody who has nothing to do with the customer's jobs.
    pub fn stranger(&self) -> SecretKey {
        self.customers[1].clone()
    }

    pub fn key_of(&self, address: Address) -> SecretKey {
        let mut keys = self.runners.iter().chain(&self.customers);
        keys.find(|key| key.address() == address).expect("everybody here is known").clone()
    }

    /// Sends one transaction in a block of its own.
    pub fn run(&mut self, key: &SecretKey, instruction: Instruction) -> Receipt {
        let hash = self.chain.send(key, instruction);
        self.chain.step();
        let left_out = self.chain.left_out(hash);
        self.chain.receipt(hash).unwrap_or_else(|| panic!("left out: {left_out:?}")).clone()
    }

    /// The same, for one that the rules accept.
    pub fn ok(&mut self, key: &SecretKey, instruction: Instruction) -> Receipt {
        let receipt = self.run(key, instruction);
        assert_eq!(receipt.code, 0, "refused");
        receipt
    }

    /// Queues a job by the customer for the next block.
    pub fn send_job(&mut self, spec: JobSpec) -> JobId {
        let hash = self.chain.send(&self.customer(), Instruction::SubmitJob { spec });
        job_id(self.chain.params.chain_id, hash, 0)
    }

    /// A runner is let into a pool by its owner, and accepts.
    pub fn join(
        &mut self,
        owner: &SecretKey,
        runner: &SecretKey,
        pool: &Bytes,
        on: Constraints,
    ) -> B256 {
        let grant = Instruction::EntitlementGrant {
            grantee: runner.address(),
            scope: Scope::RunnerPool { id: pool.clone() },
            action: Action::join(pool),
            constraints: on,
        };
        let receipt = self.ok(owner, grant);
        let granted = receipt.events.iter().find_map(|event| match event {
            Event::EntitlementGranted { entitlement, .. } => Some(*entitlement),
            _ => None,
        });
        let entitlement = granted.expect("it is granted");
        self.ok(runner, Instruction::EntitlementAccept { entitlement });
        entitlement
    }

    /// A job by the customer, in a block of its own.
    pub fn submit(&mut self, spec: JobSpec) -> JobId {
        let job = self.send_job(spec);
        self.chain.step();
        assert!(self.chain.job(job).is_some(), "the job was refused");
        job
    }

    /// A job by the customer that has its committee.
    pub fn assigned(&mut self, spec: JobSpec) -> JobId {
        let job = self.submit(spec);
        self.await_draw(job);
        job
    }

    /// Makes blocks until a waiting job has its committee.
    pub fn await_draw(&mut self, job: JobId) {
        while matches!(self.status(job), Status::Pending { .. }) {
            self.chain.step();
        }
        assert_eq!(self.status(job), Status::Assigned);
    }

    pub fn job(&self, job: JobId) -> Job {
        self.chain.job(job).expect("the job is there")
    }

    pub fn status(&self, job: JobId) -> Status {
        self.job(job).status
    }

    pub fn bond(&self, job: JobId) -> Option<Bond> {
        read(&self.chain.state, &BondKey { job })
    }

    pub fn standing(&self, key: &SecretKey) -> Runner {
        self.chain.runner(key.address()).expect("it is registered")
    }

    pub fn balance(&self, key: &SecretKey) -> Amount {
        self.chain.balance(key.address())
    }

    /// Keys of all seats of a job, in draw order.
    pub fn seated(&self, job: JobId) -> Vec<SecretKey> {
        self.job(job).seats.iter().map(|seat| self.key_of(seat.runner)).collect()
    }

    /// Keys of those that still have to commit, deliver or reveal, in draw order.
    pub fn awaited(&self, job: JobId) -> Vec<SecretKey> {
        self.chain.awaited(job).into_iter().map(|runner| self.key_of(runner)).collect()
    }

    /// The progress of a runner's newest seat.
    pub fn progress(&self, job: JobId, key: &SecretKey) -> SeatState {
        let seats = self.job(job).seats;
        seats.iter().rev().find(|seat| seat.runner == key.address()).expect("seated").progress
    }

    /// Makes a block; what happened in it.
    pub fn step(&mut self) -> Vec<Event> {
        self.chain.step().events().cloned().collect()
    }

    /// Makes blocks up to and including a height; what happened in them.
    pub fn step_to(&mut self, height: Height) -> Vec<Event> {
        let mut events = Vec::new();
        while self.chain.height() < height {
            events.extend(self.step());
        }
        events
    }

    /// All awaited runners commit to a result, in one block.
    pub fn commit_all(&mut self, job: JobId, result: &[u8]) {
        for key in self.awaited(job) {
            self.chain.send_commit(&key, job, result);
        }
        self.chain.step();
    }

    /// All awaited runners reveal, in one block; what happened.
    pub fn reveal_all(&mut self, job: JobId, result: &[u8]) -> Vec<Event> {
        for key in self.awaited(job) {
            self.chain.send_reveal(&key, job, result);
        }
        self.step()
    }

    /// A job that everybody does honestly, to its end.
    pub fn settled(&mut self, spec: JobSpec) -> JobId {
        let job = self.assigned(spec);
        if self.job(job).committee > 1 {
            self.commit_all(job, ANSWER);
            self.reveal_all(job, ANSWER);
        } else {
            let runner = self.awaited(job).remove(0);
            self.chain.send_result(&runner, job, ANSWER);
            self.chain.step();
        }
        assert_eq!(self.status(job), Status::Settled);
        job
    }

    /// Puts so much idle work on the agenda of a height that whatever is scheduled for it from now
    /// on has to wait `blocks` blocks longer.
    pub fn crowd(&mut self, height: Height, blocks: u32) {
        self.idle_tasks(height, WORK_PER_BLOCK as u32 * blocks);
    }

    /// Puts so many tasks that do nothing on the agenda of a height.
    pub fn idle_tasks(&mut self, height: Height, tasks: u32) {
        let mut entries = self.chain.state.entries().clone();
        let length = read(&self.chain.state, &AgendaLengthKey { height });
        assert_eq!(length, None, "what is scheduled already is not put off");
        for index in 0..tasks {
            let task = Task::BondRelease { job: B256::ZERO };
            entries.insert(AgendaKey { height, index }.bytes(), task.to_bytes());
        }
        entries.insert(AgendaLengthKey { height }.bytes(), tasks.to_bytes());
        self.chain.state = MemoryState::new(entries, &self.chain.params);
    }

    /// Changes a record of the state by hand, for what no instruction does yet.
    pub fn rewrite<K: StateKey>(&mut self, key: &K, change: impl FnOnce(&mut K::Value)) {
        let mut entries = self.chain.state.entries().clone();
        let mut value = read(&self.chain.state, key).expect("the record is there");
        change(&mut value);
        entries.insert(key.bytes(), value.to_bytes());
        self.chain.state = MemoryState::new(entries, &self.chain.params);
    }

    /// Writes a record of the state by hand, whether it is there or not.
    pub fn set_record<K: StateKey>(&mut self, key: &K, value: &K::Value) {
        let mut entries = self.chain.state.entries().clone();
        entries.insert(key.bytes(), value.to_bytes());
        self.chain.state = MemoryState::new(entries, &self.chain.params);
    }

    /// Schedules a timer in a block of its own.
    pub fn schedule(&mut self, key: &SecretKey, timer: ScheduleTimer) -> B256 {
        let receipt = self.ok(key, Instruction::ScheduleTimer { timer });
        let id = receipt.events.iter().find_map(|event| match event {
            Event::TimerScheduled { timer, .. } => Some(*timer),
            _ => None,
        });
        id.expect("it is scheduled")
    }

    /// What the next block would be, without transactions.
    pub fn draft(&self) -> Draft {
        self.chain.draft()
    }
}

/// A representative of each kind of instruction.
pub fn every_instruction() -> Vec<Instruction> {
    let (job, runner) = (B256::repeat_byte(0x4a), Address::repeat_byte(0x52));
    let result_sig = Signature { bytes: [0x51; 65] };
    let result = Delivery::from(ANSWER);
    let reveal =
        Reveal { runner, result: result.clone(), salt: B256::repeat_byte(0x53), result_sig };
    let (amount, stake, offer) = (Amount(1_000_000_007), STAKE, full_offer());
    vec![
        Instruction::Transfer { to: runner, amount },
        Instruction::RegisterRunner { stake, offer: offer.clone() },
        Instruction::UpdateRunner { offer },
        Instruction::Stake { amount },
        Instruction::Unstake { amount },
        Instruction::PauseRunner,
        Instruction::ResumeRunner,
        Instruction::Heartbeat,
        Instruction::DeregisterRunner,
        Instruction::Delegate { runner, amount, min_shares: 0 },
        Instruction::Undelegate { runner, shares: 99 },
        Instruction::SubmitJob { spec: full_spec() },
        Instruction::CancelJob { job },
        Instruction::CommitResult { job, commitment: B256::repeat_byte(0x43) },
        Instruction::RevealResult { job, reveal: reveal.clone() },
        Instruction::RevealAggregate { job, reveals: vec![reveal.clone(), reveal] },
        Instruction::SubmitResult { job, result, result_sig },
        Instruction::CrashAttestation { job, signal: CrashSignal::HardwareFault },
        Instruction::ChallengeResult { job },
        Instruction::EntitlementGrant {
            grantee: runner,
            scope: Scope::RunnerPool { id: Bytes(b"pool".to_vec()) },
            action: Action::RunnerJoinPool { pool: Bytes(b"pool".to_vec()) },
            constraints: full_constraints(),
        },
        Instruction::EntitlementAccept { entitlement: job },
        Instruction::EntitlementRevoke { entitlement: job },
        Instruction::EntitlementDelegate {
            entitlement: job,
            delegatee: runner,
            constraints: full_constraints(),
        },
        Instruction::EntitlementCreateRole {
            name: Bytes(b"clerk".to_vec()),
            scopes: vec![Scope::Global, Scope::Actor { address: runner }],
            actions: vec![Action::All, Action::Custom { name: Bytes(b"read".to_vec()) }],
            constraints: full_constraints(),
        },
        Instruction::EntitlementAssignRole { role: job, assignee: runner },
        Instruction::EntitlementRevokeRole { role: job, assignee: runner },
        Instruction::EntitlementCreateScope {
            scope: Scope::Namespace { name: Bytes(b"name".to_vec()) },
        },
        Instruction::SystemCancelTimer { timer: job },
        Instruction::UpdateTimerConfig { config: TimerConfig::GENESIS },
        Instruction::SystemExtendTimer { timer: job, expires_at: Height(0x0a0b) },
        Instruction::ScheduleTimer { timer: full_timer() },
        Instruction::CancelTimer { timer: job },
        Instruction::ExtendTimer { timer: job, expires_at: Height(0x0c0d) },
        Instruction::DeployActor {
            salt: job,
            code: "pass".into(),
            payload: Bytes(b"payload".to_vec()),
            value: amount,
        },
        Instruction::CallActor {
            actor: runner,
            method: "method".into(),
            payload: Bytes(b"payload".to_vec()),
            value: amount,
        },
        Instruction::UpgradeActor { actor: runner, code: "pass".into() },
    ]
}

/// Constraints in which no field is empty.
pub fn full_constraints() -> Constraints {
    Constraints {
        valid_from: Some(Height(0x1011)),
        valid_until: Some(Height(0x1213)),
        max_uses: 14,
        max_amount_per_use: Some(Amount(15)),
        max_total_amount: Some(Amount(16)),
        rate_limit: Some(RateLimit { max_uses: 17, window_blocks: 18 }),
        delegatable: true,
        delegation_depth_max: 3,
        revocable: true,
    }
}

/// A timer in which no field is empty.
pub fn full_timer() -> ScheduleTimer {
    ScheduleTimer {
        height: Height(0x0e0f),
        payload: Bytes(b"payload".to_vec()),
        fee_payer: Some(Address::repeat_byte(0x54)),
        gas_limit: Some(50_000),
        max_cells: Some(64),
        expires_at: Some(Height(0x0f0f)),
        max_fee_per_cycle: Some(5_000),
        max_priority_fee_per_cycle: Some(500),
        agent: Some(Address::repeat_byte(0x55)),
        bid: Some(1),
    }
}

/// An offer in which no field is empty.
pub fn full_offer() -> Offer {
    Offer {
        models: vec!["llama".into(), "mistral".into()],
        executors: vec![B256::repeat_byte(1), B256::repeat_byte(2)],
        eth_chains: vec![1, 10],
        resolvers: vec!["1.1.1.1".into(), "9.9.9.9".into()],
        rates: remuda_protocol::registry::runner::RateCard {
            base: Amount(1),
            per_second: Amount(2),
            per_1k_in: Amount(3),
            per_1k_out: Amount(4),
        },
        declared_max_job_value: Amount(5),
        commission_bps: 250,
        accept_bonded: true,
        ..offer()
    }
}

/// A job in which no field is empty.
pub fn full_spec() -> JobSpec {
    let mut spec = vote_job(5, Amount::cby(3));
    spec.job_type = JobType::Http {
        method: "POST".into(),
        url: "https://example.org/price".into(),
        headers: vec![("accept".into(), "application/json".into())],
        body: Bytes(b"{}".to_vec()),
        extract: "data[0].price".into(),
    };
    spec.bounds = ResourceBounds {
        max_input_tokens: 1,
        max_output_tokens: 2,
        max_wall_time_seconds: 3,
        max_memory_mb: 4,
        max_retries: 5,
    };
    spec.tip = Amount(6);
    spec.callback = Some(callback(7));
    spec.secrets = vec!["api_key".into()];
    spec.required_runner_pool = Some(Bytes(b"pool".to_vec()));
    spec
}
