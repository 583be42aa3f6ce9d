//! A chain, a pool, and some people with money.

use remuda_node::mempool::{Accepted, Budget, Dropped, Limits, Mempool, Refusal};
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::deposit::{price_of, state_bytes};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    Callback, DataFormat, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::execute::intrinsic;
use remuda_protocol::fees::{Basefees, Bid};
use remuda_protocol::key::BasefeesKey;
use remuda_protocol::local::LocalChain;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, TxHash};
use remuda_protocol::state::read;
use remuda_protocol::transaction::{Instruction, SignedTransaction, Transaction, tx_hash};

/// Where money goes that nobody needs any more.
pub(crate) const ELSEWHERE: Address = Address::repeat_byte(0xee);

pub(crate) struct World {
    pub(crate) chain: LocalChain,
    pub(crate) pool: Mempool,
    pub(crate) keys: Vec<SecretKey>,
}

pub(crate) fn key(n: usize) -> SecretKey {
    SecretKey::from_label(&format!("sender {n}"))
}

pub(crate) fn pay(amount: u128) -> Instruction {
    Instruction::Transfer { to: ELSEWHERE, amount: Amount(amount) }
}

impl World {
    /// As many people as there are balances, in CBY.
    pub(crate) fn new(limits: Limits, balances: &[u128]) -> Self {
        let keys: Vec<SecretKey> = (0..balances.len()).map(key).collect();
        let owners = keys.iter().map(SecretKey::address);
        let balances = owners.zip(balances.iter().map(|n| Amount::cby(*n)));
        let params = ChainParams::one_second();
        let mut chain = LocalChain::start(params, balances, Vec::new()).expect("a valid genesis");
        chain.paranoid = true;
        Self { chain, pool: Mempool::new(limits), keys }
    }

    pub(crate) fn basefees(&self) -> Basefees {
        read(&self.chain.state, &BasefeesKey {}).expect("genesis has them")
    }

    /// A payment of 1 with limits as tight as can be, a little over twice the basefee, and a tip.
    pub(crate) fn body(&self, nonce: u64, tip: u128) -> Transaction {
        let fees = self.basefees();
        let bid = |fee: u128| Bid { max_fee: fee * 2 + tip, max_priority: tip };
        let body = Transaction {
            chain_id: self.chain.params.chain_id,
            nonce,
            cycles_limit: 0,
            cells_limit: 0,
            cycle_bid: bid(fees.cycle),
            cell_bid: bid(fees.cell),
            max_deposit: Amount::ZERO,
            instruction: pay(1),
        };
        tight(body)
    }

    pub(crate) fn insert(&mut self, bytes: &[u8]) -> Result<Accepted, Refusal> {
        self.pool.insert(bytes, &self.chain.state, &self.chain.params)
    }

    /// Signs and inserts.
    pub(crate) fn offer(&mut self, who: usize, body: Transaction) -> Result<Accepted, Refusal> {
        let bytes = sign(&self.keys[who], body);
        self.insert(&bytes)
    }

    /// A payment of 1 that must be let in.
    pub(crate) fn wait(&mut self, who: usize, nonce: u64, tip: u128) -> TxHash {
        let body = self.body(nonce, tip);
        self.offer(who, body).expect("it is let in").hash
    }

    pub(crate) fn pick(&self) -> Vec<TxHash> {
        let budget = Budget::of_block(&self.chain.params);
        self.pick_within(budget).iter().map(|bytes| tx_hash(bytes)).collect()
    }

    pub(crate) fn pick_within(&self, budget: Budget) -> Vec<Bytes> {
        self.pool.pick(&self.chain.state, &self.chain.params, budget)
    }

    /// Makes a block of these and tells the pool. Each must be in the block.
    pub(crate) fn block(&mut self, picked: &[Bytes]) -> Vec<Dropped> {
        let hashes: Vec<TxHash> =
            picked.iter().map(|bytes| self.chain.queue(bytes.to_vec())).collect();
        self.chain.step();
        for hash in &hashes {
            assert_eq!(self.chain.left_out(*hash), None, "the block left out what was picked");
            assert!(self.chain.receipt(*hash).is_some(), "it has a receipt");
        }
        self.pool.advance(&self.chain.state, &self.chain.params, hashes)
    }

    /// Picks and makes a block of it.
    pub(crate) fn step(&mut self) -> Vec<Dropped> {
        let picked = self.pick_within(Budget::of_block(&self.chain.params));
        self.block(&picked)
    }
}

/// The least limits that the transaction may have.
pub(crate) fn tight(mut body: Transaction) -> Transaction {
    let price = ChainParams::development().state_deposit_per_kib;
    body.max_deposit = price_of(price, state_bytes(&body.instruction));
    let size = body.to_bytes().len() + SignedTransaction::SIGNATURE_BYTES;
    let least = intrinsic(&body.instruction, size);
    (body.cycles_limit, body.cells_limit) = (least.cycles, least.cells);
    body
}

pub(crate) fn sign(key: &SecretKey, body: Transaction) -> Vec<u8> {
    body.sign(key).to_bytes()
}

/// A web request for one runner, with a tip and a callback to its submitter.
pub(crate) fn job(submitter: Address, price: Amount) -> JobSpec {
    let mode = VerificationMode::None;
    JobSpec {
        job_type: JobType::Http {
            method: "GET".into(),
            url: "https://example.org".into(),
            headers: Vec::new(),
            body: Bytes::default(),
            extract: String::new(),
        },
        bounds: ResourceBounds::default(),
        verification: Verification { mode, runners: 1, threshold: 1, checks: Vec::new() },
        result_schema: ResultSchema {
            max_return_bytes: 128,
            expected_execution_ms: 100,
            data_format: DataFormat::Json,
        },
        max_price: price,
        tip: Amount(price.get() / 10),
        timeout_blocks: 10,
        callback: Some(Callback { actor: submitter, handler: "on".into(), cycles_limit: 100_000 }),
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}
