//! A network in which known attacks are tried at random among honest work, block after block.
//!
//! All money is counted after every block. No honest runner loses stake, reputation for nothing it
//! did, or freedom; no honest delegator loses a unit that it put in; no liar's coalition gains by
//! trials. A few seeds run by default; `REMUDA_SEEDS=500` runs as many.

use crate::common;

use common::{ANSWER, Choices, World, calm, offer, single_job, vote_job};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{SeatState, Status};
use remuda_protocol::dispatcher::spec::{JobKind, JobSpec};
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::event::{CrashSignal, Event};
use remuda_protocol::key::DelegationKey;
use remuda_protocol::primitives::{Address, Amount, JobId};
use remuda_protocol::registry::runner::Offer;
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;
use remuda_protocol::verifier::excuse::{Delivery, Excuse};
use std::collections::BTreeMap;

const LIE: &[u8] = br#"{"answer":"a lie"}"#;
const HONEST: usize = 13;
const STAKE: Amount = Amount::cby(40_000);
const BLOCKS: u64 = 120;

/// What each of the last three runners, and the two hostile customers, are up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Liar {
    /// Orders bonded work, challenges its runner, and lies as a judge.
    BondThief,
    /// Orders dust, work of a pool, and work that only few offer, which makes honest runners fail.
    DustJailer,
    /// Makes itself a first delegator, gives money to the pool, and leaves.
    ShareInflator,
    /// Commits and never opens, after its friends' stake has left.
    CommitBreaker,
    /// Says of every job that it cannot be done.
    Excuser,
    /// Cancels its jobs when it knows whom they draw.
    Canceller,
}

const ALL: [Liar; 6] = [
    Liar::BondThief,
    Liar::DustJailer,
    Liar::ShareInflator,
    Liar::CommitBreaker,
    Liar::Excuser,
    Liar::Canceller,
];

struct Story {
    world: World,
    choices: Choices,
    jobs: Vec<JobId>,
    /// Jobs in which a hostile server tells honest runners different things.
    traps: Vec<JobId>,
    trapped: BTreeMap<Address, u64>,
    shares: u128,
    seen: BTreeMap<&'static str, u64>,
}

impl Story {
    fn new(seed: u64) -> Self {
        let mut offers = vec![(STAKE, offer()); HONEST + 3];
        // A few honest ones offer what nobody else does.
        for (_, offer) in &mut offers[..4] {
            *offer = Offer {
                kinds: vec![JobKind::Llm, JobKind::Http, JobKind::Custom],
                models: vec!["rare".into()],
                ..offer.clone()
            };
        }
        let mut world = World::with_runners(calm(), offers);
        world.chain.paranoid = false;
        let mut choices = Choices::new(seed);
        world.chain.skip_views = choices.below(500);
        world.step();
        world.chain.skip_views = 0;
        let mut story = Self {
            world,
            choices,
            jobs: Vec::new(),
            traps: Vec::new(),
            trapped: BTreeMap::new(),
            shares: 0,
            seen: BTreeMap::new(),
        };
        story.begin();
        story
    }

    fn honest_customer(&self) -> SecretKey {
        self.world.customers[2].clone()
    }

    fn thief(&self) -> SecretKey {
        self.world.customers[0].clone()
    }

    fn helper(&self) -> SecretKey {
        self.world.customers[1].clone()
    }

    fn is_honest(&self, who: Address) -> bool {
        self.world.runners[..HONEST].iter().any(|key| key.address() == who)
    }

    /// The honest customer stakes on an honest runner and on a liar that will be slashed; the thief
    /// has a pool, and invites everybody.
    fn begin(&mut self) {
        let (honest, runner) = (self.honest_customer(), self.world.runner(5).address());
        let amount = Amount::cby(5_000);
        self.world.ok(&honest, Instruction::Delegate { runner, amount, min_shares: 0 });
        let liar = self.world.runner(HONEST).address();
        let receipt =
            self.world.ok(&honest, Instruction::Delegate { runner: liar, amount, min_shares: 0 });
        let shares = receipt.events.iter().find_map(|event| match event {
            Event::Delegated { shares, .. } => Some(*shares),
            _ => None,
        });
        self.shares = shares.expect("it has shares");
        // It thinks better of it in time: nothing that is drawn later is its business.
        let shares = self.shares;
        self.world.ok(&honest, Instruction::Undelegate { runner: liar, shares });
        let scope = Scope::RunnerPool { id: pool() };
        let thief = self.thief();
        self.world.ok(&thief, Instruction::EntitlementCreateScope { scope: scope.clone() });
        for key in self.world.runners.clone() {
            let (grantee, action) = (key.address(), Action::join(&pool()));
            let constraints = Default::default();
            let scope = scope.clone();
            let grant = Instruction::EntitlementGrant { grantee, scope, action, constraints };
            self.world.chain.send(&thief, grant);
        }
        self.world.step();
    }

    fn order(&mut self, by: &SecretKey, spec: JobSpec, trap: bool) {
        let hash = self.world.chain.send(by, Instruction::SubmitJob { spec });
        let job =
            remuda_protocol::dispatcher::submit::job_id(self.world.chain.params.chain_id, hash, 0);
        self.jobs.push(job);
        if trap {
            self.traps.push(job);
        }
    }

    /// A liar does one thing.
    fn lie(&mut self, liar: Liar) {
        let (thief, helper) = (self.thief(), self.helper());
        let price = Amount::cby(*self.choices.pick(&[1, 20, 300]));
        match liar {
            Liar::BondThief if self.choices.chance(40) => {
                let mut spec = single_job(VerificationMode::EconomicBond, price);
                if self.choices.chance(30) {
                    spec.required_runner_pool = Some(pool());
                }
                self.order(&thief, spec, false);
            }
            Liar::BondThief => {
                let bonded: Vec<JobId> = self
                    .jobs
                    .iter()
                    .copied()
                    .filter(|job| self.world.bond(*job).is_some())
                    .collect();
                if !bonded.is_empty() {
                    let job = *self.choices.pick(&bonded);
                    self.world.chain.send(&helper, Instruction::ChallengeResult { job });
                }
            }
            Liar::DustJailer => {
                let dust = Amount(Amount::CBY.get() / 10 - 1);
                let mut spec = vote_job(3, dust);
                match self.choices.below(3) {
                    0 => {}
                    1 => spec.required_runner_pool = Some(pool()),
                    _ => {
                        spec.max_price = price;
                        spec.job_type = rare();
                    }
                }
                self.order(&thief, spec, true);
            }
            Liar::ShareInflator => {
                let runner = self.world.runner(HONEST + 1).address();
                let held = read(
                    &self.world.chain.state,
                    &DelegationKey { runner, delegator: helper.address() },
                );
                let instruction = match held {
                    Some(shares) if shares > 1 => {
                        Instruction::Undelegate { runner, shares: shares - 1 }
                    }
                    _ => {
                        Instruction::Delegate { runner, amount: Amount::cby(90_000), min_shares: 0 }
                    }
                };
                self.world.chain.send(&helper, instruction);
            }
            Liar::CommitBreaker => self.order(&thief, vote_job(3, price), false),
            Liar::Excuser => self.order(&helper, vote_job(9, price), false),
            Liar::Canceller => {
                if let Some(job) = self.jobs.last().copied() {
                    self.world.chain.send(&thief, Instruction::CancelJob { job });
                }
            }
        }
    }

    fn honest_order(&mut self) {
        let price = Amount::cby(10);
        let spec = match self.choices.below(3) {
            0 => single_job(VerificationMode::None, price),
            1 => single_job(VerificationMode::EconomicBond, price),
            _ => vote_job(5, price),
        };
        let customer = self.honest_customer();
        self.order(&customer, spec, false);
    }

    /// What a runner delivers. Honest ones tell what they found, which in a trap is each its own.
    fn delivery(&self, key: &SecretKey, job: JobId) -> Delivery {
        let who = key.address();
        if self.is_honest(who) {
            return match self.traps.contains(&job) {
                true => format!("{{\"answer\":{}}}", u32::from(who[0]) * 256 + u32::from(who[1]))
                    .into_bytes()
                    .into(),
                false => ANSWER.into(),
            };
        }
        match self.place(key) {
            0 => LIE.into(),
            1 => ANSWER.into(),
            _ => Excuse::Unreachable.into(),
        }
    }

    /// 0 for the thief's runner, 1 for the one that breaks commits, 2 for the excuser.
    fn place(&self, key: &SecretKey) -> usize {
        let place = self.world.runners.iter().position(|other| other.address() == key.address());
        place.expect("a runner").saturating_sub(HONEST)
    }

    fn work(&mut self) {
        for job in self.jobs.clone() {
            let Some(record) = self.world.chain.job(job) else { continue };
            if !matches!(record.status, Status::Assigned | Status::Committed) {
                continue;
            }
            for key in self.world.awaited(job) {
                let honest = self.is_honest(key.address());
                // Traps also make honest runners late, one in three.
                let late = self.traps.contains(&job) && key.address()[2] % 3 == 0;
                let seat =
                    record.seats.iter().rev().find(|seat| seat.runner == key.address()).unwrap();
                let delivery = self.delivery(&key, job);
                match (&record.status, seat.progress) {
                    (Status::Assigned, SeatState::Waiting) if honest && late => {}
                    (Status::Assigned, SeatState::Waiting) if record.committee == 1 => {
                        self.world.chain.send_result(&key, job, delivery);
                    }
                    (Status::Assigned, SeatState::Waiting) => {
                        self.world.chain.send_commit(&key, job, delivery);
                    }
                    (Status::Committed, SeatState::Committed { .. })
                        if !honest && self.place(&key) == 1 =>
                    {
                        let crash = Instruction::CrashAttestation { job, signal: CrashSignal::Oom };
                        if self.choices.chance(10) {
                            self.world.chain.send(&key, crash);
                        }
                    }
                    (Status::Committed, SeatState::Committed { .. }) => {
                        self.world.chain.send_reveal(&key, job, delivery);
                    }
                    _ => {}
                }
            }
        }
    }

    fn block(&mut self) {
        if self.choices.chance(50) {
            self.honest_order();
        }
        for _ in 0..self.choices.below(3) {
            let liar = *self.choices.pick(&ALL);
            self.lie(liar);
        }
        self.work();
        let outcome = self.world.chain.step();
        self.world.chain.check_money();
        for event in outcome.events() {
            *self.seen.entry(event.name()).or_default() += 1;
            match event {
                Event::ResultChallenged { by_job, .. } => self.jobs.push(*by_job),
                Event::RunnerJailed { runner, .. } => {
                    assert!(!self.is_honest(*runner), "an honest runner is jailed");
                }
                Event::NonRevealSlash { runner, .. }
                | Event::InvalidRevealSlash { runner, .. }
                | Event::ChallengeUpheld { runner, .. } => {
                    assert!(!self.is_honest(*runner), "an honest runner is slashed: {event:?}");
                }
                Event::RunnerTimedOut { runner, .. } if self.is_honest(*runner) => {
                    *self.trapped.entry(*runner).or_default() += 1;
                }
                _ => {}
            }
        }
        if self.jobs.len() > 60 {
            self.jobs.drain(..20);
        }
    }
}

fn pool() -> Bytes {
    Bytes(b"trap".to_vec())
}

fn rare() -> remuda_protocol::dispatcher::spec::JobType {
    let messages = vec![remuda_protocol::dispatcher::spec::Message {
        role: "user".into(),
        content: "hello".into(),
    }];
    remuda_protocol::dispatcher::spec::JobType::Llm {
        model: "rare".into(),
        messages,
        temperature_milli: 0,
        seed: 0,
    }
}

fn live(seed: u64) -> BTreeMap<&'static str, u64> {
    let mut story = Story::new(seed);
    let customer = story.honest_customer();
    for _ in 0..BLOCKS {
        story.block();
    }
    for key in &story.world.runners[..HONEST] {
        let standing = story.world.standing(key);
        assert_eq!(standing.stake, STAKE, "an honest runner's stake");
        assert_eq!(standing.jailed_until, None);
    }
    // What the honest customer has staked on an honest runner is worth what it put in at least, and
    // what it withdrew from a liar has come back whole.
    let runner = story.world.runner(5).address();
    let key = DelegationKey { runner, delegator: customer.address() };
    let shares = read(&story.world.chain.state, &key).expect("it still has them");
    let worth = story.world.chain.runner(runner).unwrap().delegated.worth(shares);
    assert!(worth >= Amount::cby(5_000), "{worth}");
    assert!(story.seen.get("StakeReleased").copied().unwrap_or(0) > 0);
    story.seen
}

/// `REMUDA_SEEDS` of them, or `REMUDA_SEED` alone.
fn count() -> u64 {
    std::env::var("REMUDA_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(6)
}

#[test]
fn no_honest_runner_loses_stake_or_freedom_to_known_liars() {
    let mut all: BTreeMap<&'static str, u64> = BTreeMap::new();
    let seen = std::sync::Mutex::new(&mut all);
    common::with_seeds(count(), |seed| {
        for (name, n) in live(seed) {
            *seen
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .entry(name)
                .or_default() += n;
        }
    });
    println!("{all:#?}");
    // The story is not about empty blocks.
    let expected = [
        "BondLocked",
        "ResultChallenged",
        "ChallengeRejected",
        "ResultExcused",
        "NonRevealSlash",
        "RunnerTimedOut",
        "JobCancelled",
        "JobSettled",
        "Delegated",
        "Unstaked",
    ];
    let alone = std::env::var_os("REMUDA_SEED").is_some();
    let missing: Vec<_> = expected.iter().filter(|name| !all.contains_key(**name)).collect();
    assert!(alone || missing.is_empty(), "never happened: {missing:?}");
}
