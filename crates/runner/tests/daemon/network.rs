//! A network of one process: a chain, its validators, and runners.

use crate::daemon::api;
use crate::daemon::web::Web;
use crate::executors::job;
use remuda_client::types::RunnerValidator;
use remuda_link::frame::CloseReason;
use remuda_link::quic::server::{Registry, Server};
use remuda_link::session::validator::{Assignment, Event, Head, Place, Settings as Gate};
use remuda_link::sign::Identity;
use remuda_protocol::codec::{Bytes, Decode as _, Encode as _};
use remuda_protocol::crypto::{PublicKey, SecretKey};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Job, SeatState, Status};
use remuda_protocol::dispatcher::spec::{JobSpec, ResourceBounds, ResultSchema, Verification};
use remuda_protocol::dispatcher::submit::job_id;
use remuda_protocol::error::Inadmissible;
use remuda_protocol::key::{JobSpecKey, PresenceKey};
use remuda_protocol::local::LocalChain;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256, JobId, Slot};
use remuda_protocol::state::{Indexed as _, read};
use remuda_protocol::transaction::{Instruction, SignedTransaction, tx_hash};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_runner::daemon::{Daemon, Handle, ResultTampering, Settings, StatusView};
use std::collections::{BTreeSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

/// Time between two blocks.
pub(crate) const BLOCK: Duration = Duration::from_millis(50);
/// The same where validators change: time enough for sessions on a busy machine.
const SLOW_BLOCK: Duration = Duration::from_millis(150);
/// Blocks of a subset epoch where validators change, and of an overlap: the shortest that are allowed.
pub(crate) const ROTATION: u64 = 60;
const OVERLAP: u64 = 30;
/// Blocks until a vote is in one.
const VOTE_BLOCKS: usize = 2;
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) chain: LocalChain,
    /// What waits for a block.
    pub(crate) pool: Vec<Vec<u8>>,
    /// What was on chain, in order.
    pub(crate) done: Vec<(Address, Instruction)>,
    /// What happened.
    pub(crate) events: Vec<remuda_protocol::event::Event>,
    /// How far jobs are, as runners told their validators.
    pub(crate) told: Vec<(JobId, u8)>,
    pub(crate) jobs: Vec<JobId>,
    pub(crate) runners: Vec<SecretKey>,
    /// Polls are answered with 410.
    pub(crate) sunset: bool,
    /// Handovers are swallowed.
    pub(crate) deaf: bool,
    /// Validators that keep what runners send them.
    pub(crate) bury: Vec<usize>,
    /// Blocks are not made.
    pub(crate) halted: bool,
    /// Jobs are not pushed.
    pub(crate) push: bool,
    /// What the node says that every account has, if not what it has.
    pub(crate) shown: Option<Amount>,
    /// The chain's beginning, as its node says.
    pub(crate) genesis: B256,
    /// Where validators change: the slots that each of them sees. Elsewhere everybody is attested by all.
    pub(crate) seen: Option<Vec<BTreeSet<Slot>>>,
    /// The same at the newest blocks, oldest first.
    votes: VecDeque<Vec<BTreeSet<Slot>>>,
}

#[derive(Clone)]
pub(crate) struct TestNetwork {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) servers: Arc<Vec<Server>>,
    pub(crate) api: String,
    pub(crate) web: Arc<Web>,
    block: Duration,
}

struct Registered(Arc<Mutex<World>>, usize);

impl Registry for Registered {
    fn place(&self, key: &PublicKey) -> Result<Place, CloseReason> {
        let world = self.0.lock().unwrap();
        let address = key.address().ok_or(CloseReason::NotRegistered)?;
        let profile = world.chain.profile(address).ok_or(CloseReason::NotRegistered)?;
        if world.seen.is_some() && !world.chain.state.subsets().attests(self.1 as u32, profile.slot)
        {
            return Err(CloseReason::WrongSubset);
        }
        Ok(Place { address, slot: Slot(profile.slot.get()) })
    }
}

fn seed(validator: usize) -> [u8; 32] {
    [u8::try_from(validator).unwrap() + 10; 32]
}

fn customer() -> SecretKey {
    SecretKey::from_label("customer")
}

impl TestNetwork {
    /// With so many runners and validators.
    pub(crate) async fn build(runners: usize, validators: usize) -> Self {
        Self::build_with(runners, validators, vec![]).await
    }

    /// The same, where governance vouches for these programs.
    pub(crate) async fn build_with(runners: usize, validators: usize, pinned: Vec<B256>) -> Self {
        Self::build_offering(runners, validators, pinned, "[http]").await
    }

    /// The same, where runners offer what such sections say.
    pub(crate) async fn build_offering(
        runners: usize,
        validators: usize,
        pinned: Vec<B256>,
        sections: &str,
    ) -> Self {
        let start = |params, rich| LocalChain::start(params, rich, pinned).unwrap();
        Self::build_on(runners, validators, sections, false, start).await
    }

    /// The same, where each runner has the validators that the chain draws for it, and is present if they
    /// have sessions with it.
    pub(crate) async fn rotating(runners: usize, validators: usize) -> Self {
        let n = u8::try_from(validators).unwrap();
        let start = |mut params: ChainParams, rich| {
            params.subset_epoch_blocks = ROTATION;
            params.subset_overlap_blocks = OVERLAP;
            LocalChain::with_validators(n, params, rich, vec![]).unwrap()
        };
        Self::build_on(runners, validators, "[http]", true, start).await
    }

    async fn build_on(
        runners: usize,
        validators: usize,
        sections: &str,
        rotates: bool,
        start: impl FnOnce(ChainParams, Vec<(Address, Amount)>) -> LocalChain,
    ) -> Self {
        let block = if rotates { SLOW_BLOCK } else { BLOCK };
        let mut params = ChainParams::development();
        params.block_time_ms = u64::try_from(block.as_millis()).unwrap();
        let runners: Vec<SecretKey> =
            (0..runners).map(|i| SecretKey::from_label(&format!("runner {i}"))).collect();
        let rich = runners.iter().map(SecretKey::address).chain([customer().address()]);
        let rich = rich.map(|address| (address, Amount::cby(1_000_000))).collect();
        let chain = start(params, rich);
        let world = Arc::new(Mutex::new(World {
            chain,
            pool: vec![],
            done: vec![],
            events: vec![],
            told: vec![],
            jobs: vec![],
            runners: runners.clone(),
            sunset: false,
            deaf: false,
            bury: vec![],
            halted: false,
            push: true,
            shown: None,
            genesis: B256::repeat_byte(1),
            seen: rotates.then(|| vec![BTreeSet::new(); validators]),
            votes: VecDeque::new(),
        }));
        let web = Arc::new(Web::start().await);
        {
            let mut world = world.lock().unwrap();
            for key in &runners {
                let registration = settings("d", &[], sections).registration().unwrap();
                world.chain.send(key, registration);
            }
            world.chain.step();
            for key in &runners {
                world.chain.attest(key.address(), !rotates);
            }
            world.chain.steps(if rotates { ROTATION - 10 } else { 3 });
        }
        let servers = (0..validators).map(|i| gate(i, &world)).collect();
        let servers = Arc::new(servers);
        let api = api::serve(world.clone(), Arc::clone(&servers)).await;
        let network = Self { world, servers, api, web, block };
        tokio::spawn(network.clone().make_blocks());
        network
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    async fn make_blocks(self) {
        loop {
            sleep(self.block).await;
            let (pushes, head) = {
                let mut world = self.world();
                if world.halted {
                    continue;
                }
                world.step();
                (world.pushes(), world.head())
            };
            for server in self.servers.iter() {
                server.head(head);
                for (runner, assignment) in &pushes {
                    server.push(runner, assignment.clone());
                }
            }
        }
    }

    pub(crate) fn height(&self) -> u64 {
        self.world().chain.height().get()
    }

    /// Orders work, after what the customer has ordered already.
    pub(crate) fn order(&self, spec: JobSpec) -> JobId {
        let mut world = self.world();
        let customer = customer();
        let instruction = Instruction::SubmitJob { spec };
        let mut body = world.chain.transaction(customer.address(), instruction);
        let nonce = |bytes: &Vec<u8>| {
            let SignedTransaction { body, signature } =
                SignedTransaction::from_bytes(bytes).ok()?;
            let from = signature.recover_address(&body.digest()).ok()?;
            (from == customer.address()).then_some(body.nonce + 1)
        };
        body.nonce = world.pool.iter().filter_map(nonce).max().unwrap_or(body.nonce);
        let bytes = body.sign(&customer).to_bytes();
        let job = job_id(world.chain.params.chain_id, tx_hash(&bytes), 0);
        world.pool.push(bytes);
        world.jobs.push(job);
        job
    }

    pub(crate) fn job(&self, job: JobId) -> Option<Job> {
        self.world().chain.job(job)
    }

    /// A request for the price, by one runner.
    pub(crate) fn single(&self, method: &str) -> JobSpec {
        let verification =
            Verification { mode: VerificationMode::None, runners: 1, threshold: 1, checks: vec![] };
        spec(method, &self.web.url, verification)
    }

    /// A request for the price, by three.
    pub(crate) fn vote(&self, method: &str) -> JobSpec {
        let checks = vec![VerifierCheck::MajorityVote { field: "body.price".to_owned() }];
        let mode = VerificationMode::MajorityVote;
        let verification = Verification { mode, runners: 3, threshold: 2, checks };
        spec(method, &self.web.url, verification)
    }

    /// Starts a runner that keeps its files under a name.
    pub(crate) async fn runner(&self, number: usize, name: &str) -> Handle {
        self.runner_with(number, name, "").await
    }

    pub(crate) async fn runner_with(&self, number: usize, name: &str, top: &str) -> Handle {
        let key = self.world().runners[number].clone();
        let sections = format!("{top}\n[http.addresses]\nallow = ['127.0.0.0/8']");
        let settings = settings(&folder(name), std::slice::from_ref(&self.api), &sections);
        Daemon::start_with(&settings, key, ResultTampering::none()).await.unwrap()
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&World) -> bool) {
        let started = Instant::now();
        while !holds(&self.world()) {
            assert!(started.elapsed() < PATIENCE, "waited in vain until {what}");
            sleep(BLOCK / 5).await;
        }
    }

    /// Waits until a job is over.
    pub(crate) async fn settled(&self, job: JobId) {
        self.until("the job is over", |world| world.is_over(job)).await;
        assert_eq!(self.job(job).unwrap().status, Status::Settled);
    }
}

/// Waits until a runner says that something is so.
pub(crate) async fn sees(handle: &Handle, what: &str, holds: impl Fn(&StatusView) -> bool) {
    let started = Instant::now();
    while !holds(&handle.status()) {
        assert!(started.elapsed() < PATIENCE, "in vain, {what}: {:#?}", handle.status());
        sleep(BLOCK / 5).await;
    }
}

impl World {
    fn step(&mut self) {
        let pool = std::mem::take(&mut self.pool);
        for bytes in &pool {
            self.chain.queue(bytes.clone());
        }
        let mut draft = self.chain.draft();
        if let (Some(certificate), Some(seen)) = (&mut draft.presence, &self.seen) {
            self.votes.push_back(seen.clone());
            self.votes.drain(..self.votes.len().saturating_sub(VOTE_BLOCKS + 1));
            let subsets = self.chain.state.subsets();
            for vote in &mut certificate.attestations {
                let sees = |slot| self.votes[0][vote.validator as usize].contains(&slot);
                vote.bits = Bytes(subsets.pack(vote.validator, sees));
            }
        }
        let outcome = self.chain.step_with(draft);
        self.events.extend(outcome.receipts.into_iter().flat_map(|receipt| receipt.events));
        for bytes in pool {
            let hash = tx_hash(&bytes);
            if self.chain.receipt(hash).is_some() {
                let signed = SignedTransaction::from_bytes(&bytes).unwrap();
                let from = signed.signature.recover_address(&signed.body.digest()).unwrap();
                if self.done.iter().all(|(_, known)| *known != signed.body.instruction) {
                    self.done.push((from, signed.body.instruction));
                }
            } else if self.chain.left_out(hash) == Some(Inadmissible::NonceTooHigh) {
                self.pool.push(bytes);
            }
        }
    }

    pub(crate) fn subset_epoch(&self) -> u64 {
        let state = read(&self.chain.state, &PresenceKey {}).expect("there was a block");
        self.seen.as_ref().map_or(0, |_| state.epoch.number)
    }

    fn head(&self) -> Head {
        Head { height: self.chain.height().get(), subset_epoch: self.subset_epoch() }
    }

    /// Every seat that has something to do.
    fn pushes(&self) -> Vec<(Address, Assignment)> {
        let mut pushes = Vec::new();
        for job_id in self.jobs.iter().copied().filter(|_| self.push) {
            let Some(job) = self.chain.job(job_id) else { continue };
            let Some(spec) = read(&self.chain.state, &JobSpecKey { job: job_id }) else { continue };
            if self.is_over(job_id) {
                continue;
            }
            for seat in job.taking_part() {
                let assignment = Assignment {
                    job_id,
                    attempt: seat.attempt,
                    job_spec: spec.to_bytes(),
                    block_height: self.chain.height().get(),
                    deadline_block: job.commit_by.get(),
                };
                pushes.push((seat.runner, assignment));
            }
        }
        pushes
    }

    pub(crate) fn is_over(&self, job: JobId) -> bool {
        let status = self.chain.job(job).map(|job| job.status);
        matches!(status, Some(Status::Settled | Status::Failed { .. } | Status::Cancelled))
    }

    pub(crate) fn progress(&self, job: JobId, runner: Address) -> Option<SeatState> {
        let job = self.chain.job(job)?;
        job.seats.iter().find(|seat| seat.runner == runner).map(|seat| seat.progress)
    }

    /// How many instructions of a kind are on chain.
    pub(crate) fn count(&self, kind: impl Fn(&Instruction) -> bool) -> usize {
        self.done.iter().filter(|(_, instruction)| kind(instruction)).count()
    }
}

fn gate(number: usize, world: &Arc<Mutex<World>>) -> Server {
    let identity = Identity::from_seed(&seed(number)).unwrap();
    let (chain_id, head) = {
        let world = world.lock().unwrap();
        (world.chain.params.chain_id, world.head())
    };
    let settings = Gate {
        chain_id,
        me: identity.key(),
        signer: Arc::new(identity),
        presence_timeout: 15,
        ack_timeout: 15,
        transaction_bytes_max: 131_072,
    };
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (events_in, mut events) = mpsc::channel::<(Place, Event)>(1_024);
    let registry = Arc::new(Registered(world.clone(), number));
    let server = Server::start(listen, &seed(number), settings, head, registry, events_in);
    let world = world.clone();
    tokio::spawn(async move {
        while let Some((place, event)) = events.recv().await {
            let mut world = world.lock().unwrap();
            match event {
                Event::Presence(present) => {
                    let Some(seen) = &mut world.seen else { continue };
                    match present {
                        true => seen[number].insert(place.slot),
                        false => seen[number].remove(&place.slot),
                    };
                }
                Event::Transaction(_, bytes)
                    if !world.bury.contains(&number) && !world.pool.contains(&bytes) =>
                {
                    world.pool.push(bytes);
                }
                Event::Progress(far) => world.told.push((far.job_id, far.fraction)),
                _ => {}
            }
        }
    });
    server.unwrap()
}

/// A validator as the chain names it.
pub(crate) fn named(index: usize, server: &Server, api: Option<String>) -> RunnerValidator {
    RunnerValidator {
        index: u32::try_from(index).unwrap(),
        key: remuda_client::types::HexHash(Identity::from_seed(&seed(index)).unwrap().key().into()),
        link: Some(server.address().unwrap().to_string()),
        api,
        current: true,
    }
}

pub(crate) fn settings(data: &str, nodes: &[String], sections: &str) -> Settings {
    let nodes: Vec<String> = nodes.iter().map(|node| format!("'{node}'")).collect();
    let (top, rest) = match sections.find('[') {
        Some(at) => sections.split_at(at),
        None => (sections, ""),
    };
    let text = format!(
        "key = 'k'\ndata = '{data}'\nnodes = [{}]\nslots = 4\nbind = '127.0.0.1:0'\n{top}\n\
         [offer]\nstake = '15000cby'\n{rest}\n",
        nodes.join(", ")
    );
    toml::from_str(&text).unwrap()
}

/// A folder of a test's own, empty at first.
pub(crate) fn folder(name: &str) -> String {
    static ALL: OnceLock<PathBuf> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join(std::process::id().to_string());
        // Of an earlier process with the same number.
        let _ = std::fs::remove_dir_all(&all);
        all
    });
    all.join(name).to_str().unwrap().to_owned()
}

fn spec(method: &str, url: &str, verification: Verification) -> JobSpec {
    let request = job::request(method, url, &[], b"", "");
    JobSpec {
        bounds: ResourceBounds {
            max_output_tokens: 0,
            max_input_tokens: 0,
            max_wall_time_seconds: 10,
            ..request.bounds
        },
        verification,
        result_schema: ResultSchema { max_return_bytes: 4_096, ..request.result_schema },
        max_price: Amount::cby(10),
        ..request
    }
}
