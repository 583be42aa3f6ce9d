//! The chain of one test: its blocks, its people, and what happened.

use std::collections::BTreeMap;

use remuda_protocol::block::SeedSignature;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::job::{SeatState, Status};
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::entitlements::scope::Action;
use remuda_protocol::event::{Cause, Event, Receipt};
use remuda_protocol::local::LocalChain;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256, JobId, TxHash, keccak256};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::registry::runner::Offer;
use remuda_protocol::transaction::Instruction;

use super::fault::Fault;
use crate::chain::{Machine, PrintSink};
use crate::{HostError, HostErrorKind};

/// Runners of a test's chain. A job for three without deliveries uses up twelve.
const RUNNERS: usize = 32;
/// What each has at stake: enough for jobs of any sensible price.
const STAKE: Amount = Amount::cby(1_000_000);
/// Balance of an account when a test first names it.
const MONEY: Amount = Amount::cby(1_000_000);
/// What everybody's money comes from.
const BANK: Amount = Amount::cby(1_000_000_000_000);
/// Who sends what a test sends, unless it says otherwise.
const TESTER: &str = "tester";
const ACCOUNTS_MAX: usize = 1_000;
/// The model that jobs ask for unless they say otherwise (`cowboy.runner`).
const MODEL: &str = "default";
/// The program that jobs for DNS name (`cowboy.runner`).
const DNS: &str = "7b0b9edbc1b3976e1c2eb81cc2ed1cac70c3350fc959a243e4289b62edd7a5be";

/// A file that was deployed.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) file: String,
    pub(super) text: String,
}

/// The chain and what a test may ask about it.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) chain: LocalChain,
    pub(super) prints: PrintSink,
    pub(super) runners: Vec<SecretKey>,
    pub(super) offer: Offer,
    pub(super) sources: BTreeMap<Address, Source>,
    pub(super) events: Vec<(Address, String, Vec<u8>)>,
    /// Failures of calls that no transaction of the test made.
    pub(super) faults: Vec<Fault>,
    /// All jobs, oldest first.
    pub(super) jobs: Vec<JobId>,
    /// Results that runners are bound to.
    pub(super) bound: BTreeMap<(JobId, Address), Vec<u8>>,
    pub(super) blocks: u64,
    /// The chain's cycles that actors used so far.
    pub(super) cycles: u64,
    /// Blocks that the test's current call may still make.
    pub(super) room: u64,
    accounts: BTreeMap<Address, SecretKey>,
    seed: String,
}

fn key(name: &str) -> SecretKey {
    SecretKey::from_label(&format!("rehearsal: {name}"))
}

fn account_key(name: &str) -> SecretKey {
    key(&format!("account {name}"))
}

pub(super) fn refused(message: impl Into<String>) -> HostError {
    HostError::new(HostErrorKind::Refused, message)
}

/// As on a development network, but runners need no presence or heartbeats.
fn params() -> ChainParams {
    let mut params = ChainParams::development();
    params.presence_policy = 0;
    params.heartbeat_timeout_blocks = 1 << 40;
    // A quiet network's: fees have come down.
    params.initial_basefee = params.min_basefee;
    params
}

fn dns() -> Option<B256> {
    DNS.parse().ok()
}

impl Stage {
    /// A chain with runners, on which nothing has happened yet.
    pub(super) fn open() -> Result<Self, String> {
        let runners: Vec<SecretKey> = (0..RUNNERS).map(|i| key(&format!("runner {i}"))).collect();
        let stakes = runners.iter().map(|key| (key.address(), STAKE.get() * 2));
        let rich =
            [(key("bank").address(), BANK.get()), (account_key(TESTER).address(), MONEY.get())];
        let balances = stakes.chain(rich).map(|(who, amount)| (who, Amount(amount)));
        let mut chain = LocalChain::start(params(), balances, dns().into_iter().collect())
            .map_err(|error| format!("the test's chain does not start: {error}"))?;
        let prints = PrintSink::default();
        // Chains keep their machine for as long as the process lives; it runs few files of tests.
        chain.actors = Box::leak(Box::new(Machine::printing_to(prints.clone())));
        let kinds = [JobKind::Llm, JobKind::Http, JobKind::Mcp, JobKind::EthSend, JobKind::Custom];
        let offer = Offer {
            models: vec![MODEL.to_owned()],
            executors: dns().into_iter().collect(),
            resolvers: (1..=8).map(|i| format!("resolver-{i}")).collect(),
            accepts_unpaid: true,
            ..plain_offer(&kinds)
        };
        let tester = account_key(TESTER);
        let mut stage = Self {
            chain,
            prints,
            runners,
            offer: offer.clone(),
            sources: BTreeMap::new(),
            events: Vec::new(),
            faults: Vec::new(),
            jobs: Vec::new(),
            bound: BTreeMap::new(),
            blocks: 0,
            cycles: 0,
            room: 1,
            accounts: BTreeMap::from([(tester.address(), tester)]),
            seed: String::new(),
        };
        for key in stage.runners.clone() {
            stage
                .chain
                .send(&key, Instruction::RegisterRunner { stake: STAKE, offer: offer.clone() });
        }
        stage.step(None).map_err(|error| error.message)?;
        if stage.runners.iter().any(|key| stage.chain.runner(key.address()).is_none()) {
            return Err("the runners of the test's chain could not register".to_owned());
        }
        stage.blocks = 0;
        Ok(stage)
    }

    /// The same chain for a test: its seeds follow from the test's name.
    pub(super) fn of_test(&self, name: &str) -> Self {
        Self { seed: name.to_owned(), ..self.clone() }
    }

    /// Makes a block. The cycles of the transaction `own` are counted.
    pub(super) fn step(&mut self, own: Option<TxHash>) -> Result<(), HostError> {
        self.room = self.room.checked_sub(1).ok_or_else(|| {
            let message = "this call would take more blocks than a test's call may; let time pass in \
                           smaller parts, and see whether the job or timer can end at all";
            HostError::new(HostErrorKind::Limit, message)
        })?;
        self.reveal_bound();
        let mut draft = self.chain.draft();
        let first = self.chain.chain().newest_seed + 1;
        for (view, seed) in (first..).zip(&mut draft.seeds) {
            *seed = self.seed_of(view);
        }
        let outcome = self.chain.step_with(draft);
        self.blocks += 1;
        for receipt in &outcome.receipts {
            self.note(receipt, own);
        }
        Ok(())
    }

    pub(super) fn steps(&mut self, blocks: u64) -> Result<(), HostError> {
        (0..blocks).try_for_each(|_| self.step(None))
    }

    fn seed_of(&self, view: u64) -> SeedSignature {
        let mut bytes = [0; 48];
        let seed = [self.seed.as_bytes(), &view.to_be_bytes()].concat();
        bytes[..32].copy_from_slice(keccak256(seed).as_slice());
        SeedSignature { bytes }
    }

    /// The runners of a test are everybody's friends: they accept every membership, in the next
    /// block.
    fn accept(&mut self, entitlement: B256, grantee: Address, action: &Action) {
        let runner = self.runners.iter().find(|key| key.address() == grantee).cloned();
        if let (Action::RunnerJoinPool { .. }, Some(key)) = (action, runner) {
            self.chain.send(&key, Instruction::EntitlementAccept { entitlement });
        }
    }

    fn note(&mut self, receipt: &Receipt, own: Option<TxHash>) {
        let sent = matches!(receipt.cause, Cause::Transaction { hash } if own == Some(hash));
        if sent {
            self.cycles += receipt.used.cycles.get();
        }
        for event in &receipt.events {
            match event {
                Event::ActorEvent { actor, topic, data } => {
                    self.events.push((*actor, topic.clone(), data.0.clone()));
                }
                Event::JobSubmitted { job, .. } => self.jobs.push(*job),
                Event::EntitlementGranted { entitlement, grantee, action, .. } => {
                    self.accept(*entitlement, *grantee, action);
                }
                Event::TimerFired { cycles, .. } | Event::CallRan { cycles, .. } => {
                    self.cycles += cycles;
                }
                Event::CallFailed { .. } if sent => {}
                Event::CallFailed { .. }
                | Event::TimerExpired { .. }
                | Event::TimerCancelledInsufficientFunds { .. } => {
                    self.faults.extend(Fault::of(event));
                }
                _ => {}
            }
        }
    }

    /// Runners keep what they are bound to: they reveal as soon as they may.
    fn reveal_bound(&mut self) {
        let bound: Vec<(JobId, Address)> = self.bound.keys().copied().collect();
        for (job, runner) in bound {
            let Some(record) = self.chain.job(job) else { continue };
            let seat = record.seats.iter().rev().find(|seat| seat.runner == runner);
            let committed =
                seat.is_some_and(|seat| matches!(seat.progress, SeatState::Committed { .. }));
            match record.status {
                // Not yet.
                Status::Pending { .. } | Status::Assigned => continue,
                Status::Committed if committed => {}
                _ => {
                    self.bound.remove(&(job, runner));
                    continue;
                }
            }
            let (key, result) = (self.runner_key(runner), self.bound.remove(&(job, runner)));
            if let (Some(key), Some(result)) = (key, result) {
                self.chain.send_reveal(&key, job, &result);
            }
        }
    }

    pub(super) fn runner_key(&self, runner: Address) -> Option<SecretKey> {
        self.runners.iter().find(|key| key.address() == runner).cloned()
    }

    /// Sends a transaction in a block of its own.
    pub(super) fn run(
        &mut self,
        sender: Address,
        instruction: Instruction,
        cycles: Option<u64>,
    ) -> Result<Receipt, HostError> {
        let key = self.accounts.get(&sender).cloned().ok_or_else(|| {
            refused(format!("nobody here can sign for {sender}; senders are names, or addresses from chain.account(name)"))
        })?;
        self.run_as(&key, instruction, cycles)
    }

    fn run_as(
        &mut self,
        key: &SecretKey,
        instruction: Instruction,
        cycles: Option<u64>,
    ) -> Result<Receipt, HostError> {
        let mut body = self.chain.transaction(key.address(), instruction);
        body.cycles_limit = cycles.unwrap_or(body.cycles_limit);
        let bytes = remuda_protocol::codec::Encode::to_bytes(&body.sign(key));
        let hash = self.chain.queue(bytes);
        self.step(Some(hash))?;
        match (self.chain.receipt(hash), self.chain.left_out(hash)) {
            (Some(receipt), _) => Ok(receipt.clone()),
            (None, Some(why)) => Err(refused(format!("the transaction is not taken: {why}"))),
            (None, None) => Err(refused("the transaction is not taken")),
        }
    }

    /// The funded account of this name. The first mention takes a block.
    pub(super) fn account(&mut self, name: &str) -> Result<Address, HostError> {
        let key = account_key(name);
        let to = key.address();
        if self.accounts.contains_key(&to) {
            return Ok(to);
        }
        if self.accounts.len() >= ACCOUNTS_MAX {
            let message = format!("a test has at most {ACCOUNTS_MAX} accounts");
            return Err(HostError::new(HostErrorKind::Limit, message));
        }
        self.run_as(&self::key("bank"), Instruction::Transfer { to, amount: MONEY }, None)?;
        self.accounts.insert(to, key);
        Ok(to)
    }

    /// From now on all runners can do this, too.
    pub(super) fn offer(&mut self, more: Offer) -> Result<(), HostError> {
        fn add<T: Ord>(list: &mut Vec<T>, more: Vec<T>) {
            list.extend(more);
            list.sort_unstable();
            list.dedup();
        }
        add(&mut self.offer.models, more.models);
        add(&mut self.offer.executors, more.executors);
        add(&mut self.offer.eth_chains, more.eth_chains);
        remuda_protocol::registry::register::validate_offer(&self.offer)
            .map_err(|refusal| refused(refusal.to_string()))?;
        for key in self.runners.clone() {
            self.chain.send(&key, Instruction::UpdateRunner { offer: self.offer.clone() });
        }
        self.step(None)
    }
}
