//! Random transactions by honest, lazy, lying and confused people, block after block.
//!
//! After every block: all money is where the rules say, a node that applies the block gets the same
//! bytes, and so does a node that has just restarted from the state alone.

use crate::common;

use common::{Choices, brisk, callback, offer, single_job, vote_job, with_seeds};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Progress, Status};
use remuda_protocol::dispatcher::spec::{Callback, DataFormat, JobSpec};
use remuda_protocol::dispatcher::validate::TIMEOUT_BLOCKS_MIN;
use remuda_protocol::event::{CrashSignal, Event};
use remuda_protocol::local::LocalChain;
use remuda_protocol::primitives::{Address, Amount, B256, JobId};
use remuda_protocol::registry::runner::{Offer, RateCard};
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::check::VerifierCheck;
use std::collections::BTreeMap;

struct Chaos {
    chain: LocalChain,
    choices: Choices,
    keys: Vec<SecretKey>,
    jobs: Vec<JobId>,
    seen: BTreeMap<&'static str, u64>,
    codes: BTreeMap<u16, u64>,
}

const RUNNERS: usize = 10;

impl Chaos {
    fn new(seed: u64) -> Self {
        let keys: Vec<SecretKey> =
            (0..RUNNERS + 4).map(|i| SecretKey::from_label(&format!("key {i}"))).collect();
        let balances = keys.iter().map(|key| (key.address(), Amount::cby(1_000_000)));
        let mut params = brisk();
        params.job_retention_blocks = 12;
        params.mru_ttl_blocks = 40;
        params.presence_policy = (seed % 4) as u8;
        let mut chain = LocalChain::start(params, balances, vec![B256::ZERO]).unwrap();
        chain.paranoid = true;
        let choices = Choices::new(seed);
        Self {
            chain,
            choices,
            keys,
            jobs: Vec::new(),
            seen: BTreeMap::new(),
            codes: BTreeMap::new(),
        }
    }

    fn offer(&mut self) -> Offer {
        let mut offer = offer();
        offer.max_concurrent_jobs = 1 + self.choices.below(4) as u32;
        offer.accepts_unpaid = self.choices.chance(50);
        offer.commission_bps = self.choices.below(10_001) as u16;
        offer.rates = RateCard {
            base: Amount(u128::from(self.choices.below(3)) * 2_000_000_000),
            ..RateCard::default()
        };
        offer.declared_max_job_value = Amount::cby(u128::from(self.choices.below(3)) * 10_000);
        offer.resolvers = (0..self.choices.below(4)).map(|i| format!("10.0.0.{i}")).collect();
        offer
    }

    fn spec(&mut self, submitter: Address) -> JobSpec {
        let price = *self.choices.pick(&[0, 1, 7, 100, 9_000]);
        let price = Amount::cby(price);
        let mut spec = match self.choices.below(6) {
            0 => single_job(VerificationMode::None, price),
            1 => single_job(VerificationMode::EconomicBond, price),
            2 => {
                let mut spec = vote_job(2, price);
                spec.verification.mode = VerificationMode::StructuredMatch;
                spec.verification.checks = vec![
                    VerifierCheck::JsonSchemaValid { schema: r#"{"type":"object"}"#.into() },
                    VerifierCheck::StructuredMatch { fields: vec!["answer".into()] },
                ];
                spec
            }
            3 => {
                let mut spec = vote_job(3, price);
                spec.job_type = remuda_protocol::dispatcher::spec::JobType::Custom {
                    executor_hash: B256::ZERO,
                    params: Default::default(),
                };
                spec.verification.mode = VerificationMode::Deterministic;
                spec.verification.checks.clear();
                spec.result_schema.data_format = DataFormat::Bytes;
                spec
            }
            _ => vote_job(3 + self.choices.below(5) as u32, price),
        };
        spec.tip = Amount(self.choices.below(1_000).into());
        spec.timeout_blocks = TIMEOUT_BLOCKS_MIN + self.choices.below(10);
        if self.choices.chance(40) {
            let callback = callback(self.choices.below(100_000));
            spec.callback = Some(Callback { actor: submitter, ..callback });
        }
        spec
    }

    /// Somebody does something, often out of turn.
    fn act(&mut self) {
        let who = self.choices.below(self.keys.len() as u64) as usize;
        let key = self.keys[who].clone();
        let other = self.choices.pick(&self.keys).address();
        let amount = Amount(u128::from(self.choices.below(20_000)) * 1_000_000_000);
        let job = if self.jobs.is_empty() { B256::ZERO } else { *self.choices.pick(&self.jobs) };
        let instruction = match self.choices.below(24) {
            0 => Instruction::Transfer { to: other, amount },
            1 | 2 => {
                let stake = Amount::cby(10_000 + u128::from(self.choices.below(40_000)));
                Instruction::RegisterRunner { stake, offer: self.offer() }
            }
            3 => Instruction::UpdateRunner { offer: self.offer() },
            4 => Instruction::Stake { amount },
            5 => Instruction::Unstake { amount },
            6 => Instruction::PauseRunner,
            7 | 8 => Instruction::ResumeRunner,
            9 | 10 => Instruction::Heartbeat,
            11 if self.choices.chance(20) => Instruction::DeregisterRunner,
            12 => Instruction::Delegate { runner: other, amount, min_shares: 0 },
            13 => Instruction::Undelegate { runner: other, shares: amount.get() / 2 },
            14..=17 => Instruction::SubmitJob { spec: self.spec(key.address()) },
            18 => return self.cancel(),
            19 => Instruction::CrashAttestation { job, signal: CrashSignal::Oom },
            20 => Instruction::ChallengeResult { job: self.bonded().unwrap_or(job) },
            21 => Instruction::CommitResult { job, commitment: B256::ZERO },
            22 => return self.nonsense(&key),
            _ => Instruction::Heartbeat,
        };
        self.chain.send(&key, instruction);
    }

    /// A submitter thinks better of its newest job, or somebody else does.
    fn cancel(&mut self) {
        let Some(job) = self.jobs.last().copied() else { return };
        let submitter = self.chain.job(job).map(|job| job.submitter);
        let own = self.keys.iter().find(|key| Some(key.address()) == submitter).cloned();
        let key = own.filter(|_| self.choices.chance(80)).unwrap_or(self.keys[0].clone());
        self.chain.send(&key, Instruction::CancelJob { job });
    }

    /// A job whose result is bonded.
    fn bonded(&mut self) -> Option<JobId> {
        let bonds = self.jobs.iter().copied().filter(|job| {
            let key = remuda_protocol::key::BondKey { job: *job };
            remuda_protocol::state::read(&self.chain.state, &key).is_some()
        });
        let bonds: Vec<JobId> = bonds.collect();
        (!bonds.is_empty()).then(|| *self.choices.pick(&bonds))
    }

    /// Bytes that are no transaction, or one with a wrong nonce, chain or fee.
    fn nonsense(&mut self, key: &SecretKey) {
        use remuda_protocol::codec::Encode;
        let mut body = self.chain.transaction(key.address(), Instruction::Heartbeat);
        match self.choices.below(6) {
            0 => body.nonce = self.choices.next(),
            1 => body.chain_id = 1,
            2 => body.cycle_bid.max_fee = 1,
            3 => body.cycles_limit = u64::MAX,
            4 => body.cells_limit = 0,
            _ => body.cell_bid.max_priority = u128::MAX,
        }
        let mut bytes = body.sign(key).to_bytes();
        if self.choices.chance(30) {
            let at = self.choices.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << self.choices.below(8);
        }
        self.chain.queue(bytes);
    }

    /// Seated runners work: most honestly, some not.
    fn work(&mut self) {
        for job in self.jobs.clone() {
            let Some(record) = self.chain.job(job) else { continue };
            for seat in &record.seats {
                let Some(key) = self.keys.iter().find(|key| key.address() == seat.runner) else {
                    continue;
                };
                let key = key.clone();
                if !self.choices.chance(60) {
                    continue;
                }
                match (&record.status, &seat.progress) {
                    (Status::Assigned, Progress::Waiting) if record.committee == 1 => {
                        let result = self.answer(&key, job);
                        self.chain.send_result(&key, job, &result);
                    }
                    (Status::Assigned, Progress::Waiting) => {
                        let result = self.answer(&key, job);
                        self.chain.send_commit(&key, job, &result);
                    }
                    (Status::Committed, Progress::Committed { .. }) => {
                        self.reveal(&key, job, record.aggregator)
                    }
                    _ => {}
                }
            }
        }
    }

    /// The same runner gives the same answer to the same job; about one in six lies, and one in
    /// thirty gives something that is no JSON.
    fn answer(&self, key: &SecretKey, job: JobId) -> Vec<u8> {
        let mut own = Choices::new(u64::from(key.address()[0]) ^ u64::from(job[0]) << 8);
        match own.below(30) {
            0 => b"not json".to_vec(),
            1..=5 => format!("{{\"answer\":{}}}", own.below(5)).into_bytes(),
            _ => b"{\"answer\":42}".to_vec(),
        }
    }

    fn reveal(&mut self, key: &SecretKey, job: JobId, aggregator: Option<Address>) {
        let result = self.answer(key, job);
        if self.choices.chance(5) {
            self.chain.send(key, Instruction::CrashAttestation { job, signal: CrashSignal::Other });
        } else if self.choices.chance(5) {
            self.chain.send_reveal(key, job, b"{\"answer\":\"changed my mind\"}");
        } else if aggregator == Some(key.address()) && self.choices.chance(50) {
            let reveals: Vec<Reveal> = self
                .chain
                .awaited(job)
                .iter()
                .filter_map(|runner| self.keys.iter().find(|key| key.address() == *runner))
                .filter_map(|key| self.chain.sealed(key, job, self.answer(key, job)))
                .map(|(_, reveal)| reveal)
                .collect();
            self.chain.send(key, Instruction::RevealAggregate { job, reveals });
        } else if self.choices.chance(80) {
            self.chain.send_reveal(key, job, &result);
        }
    }

    fn block(&mut self) {
        for _ in 0..self.choices.below(6) {
            self.act();
        }
        self.work();
        if self.choices.chance(30) {
            let runner = self.choices.pick(&self.keys).address();
            let present = self.choices.chance(80);
            self.chain.attest(runner, present);
        }
        self.chain.skip_views = if self.choices.chance(10) { self.choices.below(9) } else { 0 };
        let outcome = self.chain.step();
        for receipt in &outcome.receipts {
            *self.codes.entry(receipt.code).or_default() += 1;
        }
        for event in outcome.events() {
            *self.seen.entry(event.name()).or_default() += 1;
            if let Event::JobSubmitted { job, .. } = event {
                self.jobs.push(*job);
            }
            if let Event::ResultChallenged { by_job, .. } = event {
                self.jobs.push(*by_job);
            }
        }
        if self.jobs.len() > 40 {
            self.jobs.drain(..10);
        }
    }
}

/// Ten runners register and are attested; then `blocks` of chaos.
fn run(seed: u64, blocks: u64, paranoid: bool) -> Chaos {
    let mut chaos = Chaos::new(seed);
    chaos.chain.paranoid = paranoid;
    let runners: Vec<SecretKey> = chaos.keys[..RUNNERS].to_vec();
    for key in &runners {
        let (stake, offer) = (Amount::cby(50_000), chaos.offer());
        chaos.chain.send(key, Instruction::RegisterRunner { stake, offer });
    }
    chaos.chain.step();
    for key in &runners {
        chaos.chain.attest(key.address(), true);
    }
    for _ in 0..blocks {
        chaos.block();
    }
    chaos
}

// spec §1.5, §5.14
#[test]
fn money_is_conserved_and_replay_equals_re_execution_whatever_people_do() {
    with_seeds(24, |seed| {
        let chaos = run(seed, 150, true);
        println!("seed {seed}: {:?}, codes {:?}", chaos.seen, chaos.codes);
    });
}

/// A run over some seeds meets every kind of event that needs no governance, so the property above
/// is not about empty blocks.
#[test]
fn chaos_meets_everything_that_can_happen() {
    let mut seen: BTreeMap<&'static str, u64> = BTreeMap::new();
    for seed in 1_000..1_012 {
        for (name, count) in run(seed, 200, false).seen {
            *seen.entry(name).or_default() += count;
        }
    }
    println!("{seen:#?}");
    let expected = [
        "Transferred",
        "RunnerRegistered",
        "RunnerUpdated",
        "Staked",
        "Unstaked",
        "StakeReleased",
        "RunnerPaused",
        "RunnerResumed",
        "RunnerDeregistered",
        "Delegated",
        "ReputationChanged",
        "RunnerJailed",
        "RunnerReleased",
        "PresenceChanged",
        "JobSubmitted",
        "JobBound",
        "JobAssigned",
        "JobCancelled",
        "JobFailed",
        "Refunded",
        "RunnerTimedOut",
        "Committed",
        "CommitsClosed",
        "Revealed",
        "CrashAttested",
        "NonRevealSlash",
        "InvalidRevealSlash",
        "ResultRejected",
        "JobSettled",
        "Paid",
        "CallbackQueued",
        "CallbackFailed",
        "BondLocked",
        "BondReleased",
        "ResultChallenged",
        "ChallengeUpheld",
        "ChallengeRejected",
        "ChallengeUndecided",
    ];
    let missing: Vec<_> = expected.iter().filter(|name| !seen.contains_key(**name)).collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
