//! A chain of one behind the API: the real rules, blocks made in this process, no consensus.

use futures::FutureExt;
use futures::future::BoxFuture;
use remuda_client::types::JobPlace;
use remuda_node::backend::{Backend, Finalised, NodeStatus, ProofError, Refusal, StateProof, Tip};
use remuda_node::index::{Index, Limits, OpenJobs};
use remuda_protocol::actors::NoActors;
use remuda_protocol::beacon::Round;
use remuda_protocol::block::{Block, Header, SeedSignature, StateCommitment};
use remuda_protocol::chain::Validator;
use remuda_protocol::codec::{Bytes, Decode, Encode};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::execute::{Draft, propose_block};
use remuda_protocol::genesis::Genesis;
use remuda_protocol::key::{AccountKey, ChainKey};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256, Height, JobId, Slot, TxHash, keccak256};
use remuda_protocol::state::{MemoryState, View, read};
use remuda_protocol::transaction::{SignedTransaction, tx_hash};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::broadcast;

pub const FAUCET: &str = "the faucet's secret";

pub struct Chain {
    genesis: Genesis,
    inner: Mutex<Inner>,
    blocks: broadcast::Sender<Arc<Finalised>>,
    started: Instant,
    /// Of the index; removed with the chain.
    directory: PathBuf,
    /// Refuse everything, as a full pool does.
    pub full: AtomicBool,
    /// As a node that is catching up.
    pub behind: AtomicBool,
    /// As a node without an authenticated store.
    pub proofless: AtomicBool,
    /// A development chain.
    pub generous: AtomicBool,
    /// Forget what waits, as a pool under pressure does.
    pub forgetful: AtomicBool,
    /// Every transaction comes from a peer just before it is handed in.
    pub outrun: AtomicBool,
    /// A block comes right after somebody asked which block has a transaction.
    pub overtaken: AtomicBool,
    /// Milliseconds that reading a block takes of its thread.
    pub dear: AtomicU64,
}

struct Inner {
    tip: Arc<Tip>,
    blocks: BTreeMap<Height, Arc<Finalised>>,
    index: Index,
    open_jobs: OpenJobs,
    waiting: Vec<Bytes>,
}

impl Drop for Chain {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Everybody's money and everybody's key.
pub fn key(label: &str) -> SecretKey {
    SecretKey::from_label(label)
}

/// Presence counts for nothing and nobody falls silent, so that a test is about the API.
pub fn calm() -> ChainParams {
    let mut params = ChainParams::development();
    params.presence_policy = 0;
    params.heartbeat_timeout_blocks = 100_000;
    params
}

impl Chain {
    pub fn start(params: ChainParams, rich: &[&str]) -> Arc<Self> {
        let rich = rich.iter().chain(&[FAUCET]);
        let balances: BTreeMap<Address, Amount> =
            rich.map(|name| (key(name).address(), Amount::cby(1_000_000))).collect();
        let validators = (0..4)
            .map(|i| Validator { key: [i; 32], fee_recipient: Address::repeat_byte(0xb0 + i) });
        let genesis = Genesis {
            params,
            timestamp_ms: 1_000,
            balances: balances.into_iter().collect(),
            pinned_executors: Vec::new(),
            system_deployers: vec![key(FAUCET).address()],
            validators: validators.collect(),
            threshold_key: Bytes::default(),
        };
        let state = genesis.state().expect("a valid genesis");
        let block = Block {
            header: header(B256::ZERO, &state, Height(0), 0),
            seeds: Vec::new(),
            presence: None,
            transactions: Vec::new(),
        };
        let finalised = Arc::new(Finalised {
            block: Arc::new(block),
            hash: genesis.hash(),
            receipts: Arc::default(),
            bytes: 0,
        });
        static CHAINS: AtomicU64 = AtomicU64::new(0);
        let number = CHAINS.fetch_add(1, Ordering::Relaxed);
        let name = format!("remuda-api-index-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        // Small segments, so that lookups cross their borders.
        let limits = Limits { segment: 12, ..Limits::default() };
        let index = Index::open(&directory, limits).expect("a directory of its own");
        index.apply(&finalised);
        let inner = Inner {
            tip: Arc::new(Tip { finalised: finalised.clone(), state }),
            blocks: [(Height(0), finalised)].into(),
            index,
            open_jobs: OpenJobs::default(),
            waiting: Vec::new(),
        };
        Arc::new(Self {
            genesis,
            inner: Mutex::new(inner),
            blocks: broadcast::Sender::new(16),
            started: Instant::now(),
            directory,
            full: AtomicBool::new(false),
            behind: AtomicBool::new(false),
            proofless: AtomicBool::new(false),
            generous: AtomicBool::new(true),
            forgetful: AtomicBool::new(false),
            outrun: AtomicBool::new(false),
            overtaken: AtomicBool::new(false),
            dear: AtomicU64::new(0),
        })
    }

    /// Makes a block of everything that waits.
    pub fn step(&self) {
        let mut inner = self.inner.lock().unwrap();
        let waiting = core::mem::take(&mut inner.waiting);
        let draft = draft(&inner.tip, &self.genesis.params);
        let mut state = inner.tip.state.clone();
        let (mut block, outcome, _) =
            propose_block(&state, &self.genesis.params, draft, &waiting, &NoActors)
                .expect("it follows");
        state.commit(&outcome);
        block.header.state.root = state.digest();
        let finalised = Arc::new(Finalised {
            hash: block.header.hash(),
            bytes: block.to_bytes().len() as u64 + outcome.receipts.to_bytes().len() as u64,
            block: Arc::new(block),
            receipts: Arc::new(outcome.receipts),
        });
        inner.blocks.insert(finalised.height(), finalised.clone());
        inner.index.apply(&finalised);
        inner.open_jobs.apply(&finalised, &state);
        inner.tip = Arc::new(Tip { finalised: finalised.clone(), state });
        drop(inner);
        let _ = self.blocks.send(finalised);
    }

    /// Makes blocks until the task is dropped with its runtime.
    pub fn run(self: &Arc<Self>, every: Duration) {
        let chain = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                chain.step();
            }
        });
    }

    /// Keeps only the newest blocks.
    pub fn prune(&self, keep: u64) {
        let mut inner = self.inner.lock().unwrap();
        let first = inner.tip.finalised.height().minus(keep);
        inner.blocks.retain(|height, _| *height > first);
    }
}

fn header(parent: B256, state: &MemoryState, height: Height, view: u64) -> Header {
    let chain = read(state, &ChainKey {}).expect("a genesis");
    Header {
        parent,
        parent_view: chain.round.view,
        height,
        round: Round { epoch: 0, view },
        proposer: [0; 32],
        timestamp_ms: chain.timestamp_ms + 250 * height.get().min(1),
        transactions_root: B256::ZERO,
        receipts_root: B256::ZERO,
        state: StateCommitment::default(),
        seeds_root: B256::ZERO,
        presence_hash: B256::ZERO,
    }
}

fn draft(tip: &Tip, params: &ChainParams) -> Draft {
    let chain = read(&tip.state, &ChainKey {}).expect("a genesis");
    // Every third view passes without a block, so that heights and views are not the same.
    let next = chain.round.view + 1;
    let view = if next.is_multiple_of(3) { next + 1 } else { next };
    let owed = (view - 1 - chain.newest_seed).min(params.max_seeds_per_block);
    let header = header(tip.finalised.hash, &tip.state, chain.height.plus(1), view);
    let seeds = (1..=owed).map(|i| seed_of(chain.newest_seed + i)).collect();
    Draft { header, seeds, presence: None }
}

/// The made-up signature of a view.
pub fn seed_of(view: u64) -> SeedSignature {
    let mut bytes = [7; 48];
    bytes[..32].copy_from_slice(keccak256(view.to_be_bytes()).as_slice());
    SeedSignature { bytes }
}

impl Backend for Chain {
    fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    fn tip(&self) -> Arc<Tip> {
        self.inner.lock().unwrap().tip.clone()
    }

    fn block(&self, height: Height) -> BoxFuture<'_, Option<Arc<Finalised>>> {
        let block = self.inner.lock().unwrap().blocks.get(&height).cloned();
        let work = Duration::from_millis(self.dear.load(Ordering::Relaxed));
        async move {
            let end = Instant::now() + work;
            while Instant::now() < end {
                core::hint::spin_loop();
            }
            block
        }
        .boxed()
    }

    fn height_of(&self, hash: B256) -> Option<Height> {
        self.inner.lock().unwrap().index.height_of(hash)
    }

    fn transaction(&self, hash: TxHash) -> Option<(Height, u32)> {
        let found = self.inner.lock().unwrap().index.transaction(hash);
        if self.overtaken.load(Ordering::Relaxed) {
            self.step();
        }
        found
    }

    fn job_heights(&self, job: JobId) -> Vec<Height> {
        self.inner.lock().unwrap().index.job_heights(job)
    }

    fn jobs(
        &self,
        submitter: Option<Address>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Vec<(JobPlace, JobId)> {
        self.inner.lock().unwrap().index.jobs(submitter, after, limit)
    }

    fn open_jobs(&self, runner: Address) -> Vec<JobId> {
        self.inner.lock().unwrap().open_jobs.of_runner(runner)
    }

    fn subscribe(&self) -> broadcast::Receiver<Arc<Finalised>> {
        self.blocks.subscribe()
    }

    /// What the next block would not take is refused, by the rules themselves.
    fn submit(&self, bytes: Vec<u8>) -> Result<TxHash, Refusal> {
        if self.full.load(Ordering::Relaxed) {
            let message = "too many transactions wait".to_owned();
            return Err(Refusal { code: "pool_full", message, temporary: true });
        }
        let mut inner = self.inner.lock().unwrap();
        let hash = tx_hash(&bytes);
        let mut waiting = inner.waiting.clone();
        waiting.push(Bytes(bytes));
        let draft = draft(&inner.tip, &self.genesis.params);
        let (_, _, left_out) =
            propose_block(&inner.tip.state, &self.genesis.params, draft, &waiting, &NoActors)
                .expect("it follows");
        if let Some(reason) = left_out.get(&(waiting.len() - 1)) {
            return Err((*reason).into());
        }
        if !self.forgetful.load(Ordering::Relaxed) {
            inner.waiting = waiting;
        }
        if self.outrun.load(Ordering::Relaxed) {
            let message = "this transaction is here already".to_owned();
            return Err(Refusal { code: "already_known", message, temporary: false });
        }
        Ok(hash)
    }

    fn pending(&self, hash: TxHash) -> bool {
        self.inner.lock().unwrap().waiting.iter().any(|bytes| tx_hash(bytes) == hash)
    }

    fn next_nonce(&self, address: Address) -> u64 {
        let inner = self.inner.lock().unwrap();
        let own = |bytes: &&Bytes| {
            let signed = SignedTransaction::from_bytes(bytes).expect("it was admitted");
            signed.signature.recover_address(&signed.body.digest()) == Ok(address)
        };
        let account = read(&inner.tip.state, &AccountKey { address }).unwrap_or_default();
        account.nonce + inner.waiting.iter().filter(own).count() as u64
    }

    fn prove(&self, key: Vec<u8>) -> BoxFuture<'_, Result<StateProof, ProofError>> {
        let tip = self.tip();
        let proof = if self.proofless.load(Ordering::Relaxed) {
            Err(ProofError::Unsupported)
        } else {
            Ok(StateProof {
                height: tip.finalised.height(),
                root: tip.finalised.block.header.state.root,
                value: tip.state.get(&key),
                proof: b"a digest of everything proves nothing".to_vec(),
            })
        };
        async move { proof }.boxed()
    }

    fn status(&self) -> NodeStatus {
        let inner = self.inner.lock().unwrap();
        NodeStatus {
            peers: 3,
            view: inner.tip.finalised.block.header.round.view + 1,
            mempool: inner.waiting.len(),
            ready: !self.behind.load(Ordering::Relaxed),
            started: self.started,
        }
    }

    fn metrics(&self) -> String {
        "engine_views_total 7\n".to_owned()
    }

    fn presence_seen(&self) -> Vec<Slot> {
        vec![Slot(1)]
    }

    fn faucet(&self) -> Option<SecretKey> {
        self.generous.load(Ordering::Relaxed).then(|| key(FAUCET))
    }
}
