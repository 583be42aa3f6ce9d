//! A chain without consensus: blocks are built and applied in this process.
//!
//! Local: a change here needs no agreement among validators. No node runs it.
//!
//! Tests, the demonstration, simulations and benchmarks drive the rules through it. Its seeds are
//! made up from the view; on a network they are threshold signatures that consensus verifies.

use crate::base::account::Account;
use crate::base::codec::{Bytes, Encode};
use crate::base::crypto::SecretKey;
use crate::base::error::Inadmissible;
use crate::base::primitives::{Address, Amount, B256, Height, JobId, Slot, TxHash, keccak256};
use crate::base::state::read;
use crate::chain::actors::{Actors, NoActors};
use crate::chain::execute::{Draft, Outcome, apply_block, propose_block};
use crate::chain::genesis::{Genesis, GenesisError};
use crate::chain::index::Indexed;
use crate::chain::memory::MemoryState;
use crate::chain::supply::{Holdings, recorded};
use crate::rules::beacon::Round;
use crate::rules::block::{Block, Header, SeedSignature, StateCommitment};
use crate::rules::cost::intrinsic;
use crate::rules::dispatcher::job::{Job, SeatState};
use crate::rules::event::{Cause, Receipt};
use crate::rules::fees::{Basefees, Bid};
use crate::rules::key::{
    AccountKey, BasefeesKey, ChainKey, JobKey, ProfileKey, ResultKey, RunnerKey,
};
use crate::rules::params::ChainParams;
use crate::rules::presence::{Attestation, PresenceCertificate};
use crate::rules::registry::runner::{Profile, Runner};
use crate::rules::tip::{ChainState, Validator};
use crate::rules::transaction::{Instruction, Reveal, SignedTransaction, Transaction, tx_hash};
use crate::rules::verifier::excuse::Delivery;
use crate::rules::verifier::settle::VerifiedResult;
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

pub const PROPOSER: Address = Address::repeat_byte(0xb0);
/// The first validator, which makes all blocks.
pub const VALIDATOR: [u8; 32] = [0; 32];

/// What calls of code get here besides their base price.
const RUNNING_CYCLES: u64 = 500_000;
/// What transactions here may have to pay for what they leave in the state.
const MAX_DEPOSIT: Amount = Amount::cby(1_000);
const RUNNING_CELLS: u64 = 100_000;

#[derive(Clone, Debug)]
pub struct LocalChain {
    pub params: ChainParams,
    /// The state after the newest block.
    pub state: MemoryState,
    /// Views that pass without a block before the next one.
    pub skip_views: u64,
    /// After every block, check all money, and that a node that applies the block, or restarts
    /// and applies it, gets the same.
    pub paranoid: bool,
    pub actors: &'static dyn Actors,
    tip: B256,
    /// View of the tip's parent.
    parent_view: u64,
    waiting: Vec<Bytes>,
    nonces: BTreeMap<Address, u64>,
    validators: Range<u32>,
    /// Slots that the validators see.
    attested: BTreeSet<Slot>,
    receipts: BTreeMap<TxHash, Receipt>,
    left_out: BTreeMap<TxHash, Inadmissible>,
}

impl LocalChain {
    /// Starts a chain of one validator, on which some keys have money.
    pub fn start(
        params: ChainParams,
        balances: impl IntoIterator<Item = (Address, Amount)>,
        pinned_executors: Vec<B256>,
    ) -> Result<Self, GenesisError> {
        Self::with_validators(1, params, balances, pinned_executors)
    }

    /// Starts a chain of `n` validators, on which some keys have money.
    pub fn with_validators(
        n: u8,
        params: ChainParams,
        balances: impl IntoIterator<Item = (Address, Amount)>,
        pinned_executors: Vec<B256>,
    ) -> Result<Self, GenesisError> {
        let balances: BTreeMap<Address, Amount> = balances.into_iter().collect();
        let balances = balances.into_iter().collect();
        let validators: Vec<Validator> =
            (0..n).map(|i| Validator { key: [i; 32], fee_recipient: PROPOSER }).collect();
        let numbers = 0..u32::from(n);
        let threshold_key = Bytes::default();
        let genesis = Genesis {
            params,
            timestamp_ms: 0,
            balances,
            pinned_executors,
            system_deployers: Vec::new(),
            validators,
            threshold_key,
        };
        Ok(Self {
            state: genesis.state()?,
            validators: numbers,
            tip: genesis.hash(),
            parent_view: 0,
            params: genesis.params,
            skip_views: 0,
            paranoid: false,
            actors: &NoActors,
            waiting: Vec::new(),
            nonces: BTreeMap::new(),
            attested: BTreeSet::new(),
            receipts: BTreeMap::new(),
            left_out: BTreeMap::new(),
        })
    }

    pub fn chain(&self) -> ChainState {
        read(&self.state, &ChainKey {}).expect("a chain has a genesis")
    }

    /// Height of the newest block.
    pub fn height(&self) -> Height {
        self.chain().height
    }

    pub fn account(&self, address: Address) -> Account {
        read(&self.state, &AccountKey { address }).unwrap_or_default()
    }

    pub fn balance(&self, address: Address) -> Amount {
        self.account(address).balance
    }

    pub fn runner(&self, runner: Address) -> Option<Runner> {
        read(&self.state, &RunnerKey { runner })
    }

    pub fn profile(&self, runner: Address) -> Option<Profile> {
        read(&self.state, &ProfileKey { runner }).map(|profile| profile.current().clone())
    }

    pub fn job(&self, job: JobId) -> Option<Job> {
        read(&self.state, &JobKey { job })
    }

    /// The verified result of a job.
    pub fn result(&self, job: JobId) -> Option<VerifiedResult> {
        read(&self.state, &ResultKey { job })
    }

    pub fn receipt(&self, hash: TxHash) -> Option<&Receipt> {
        self.receipts.get(&hash)
    }

    /// Why a transaction was not taken.
    pub fn left_out(&self, hash: TxHash) -> Option<Inadmissible> {
        self.left_out.get(&hash).copied()
    }

    /// Signs an instruction with ample limits and queues it for the next block.
    pub fn send(&mut self, key: &SecretKey, instruction: Instruction) -> TxHash {
        let body = self.transaction(key.address(), instruction);
        self.nonces.insert(key.address(), body.nonce + 1);
        self.queue(body.sign(key).to_bytes())
    }

    /// Queues bytes as they are.
    pub fn queue(&mut self, bytes: Vec<u8>) -> TxHash {
        let hash = tx_hash(&bytes);
        self.waiting.push(Bytes(bytes));
        hash
    }

    /// A transaction with the account's next nonce, limits to spare, and twice the basefee.
    pub fn transaction(&self, sender: Address, instruction: Instruction) -> Transaction {
        let nonce = self.nonces.get(&sender).copied();
        let nonce = nonce.unwrap_or_else(|| self.account(sender).nonce);
        let basefees: Basefees = read(&self.state, &BasefeesKey {}).expect("genesis has it");
        let bid = |basefee: u128| Bid { max_fee: basefee * 2, max_priority: basefee / 10 };
        let mut body = Transaction {
            chain_id: self.params.chain_id,
            nonce,
            cycles_limit: 0,
            cells_limit: 0,
            cycle_bid: bid(basefees.cycle),
            cell_bid: bid(basefees.cell),
            max_deposit: MAX_DEPOSIT,
            instruction,
        };
        let size = body.to_bytes().len() + SignedTransaction::SIGNATURE_BYTES;
        let least = intrinsic(&body.instruction, size);
        let judging = match &body.instruction {
            Instruction::RevealResult { .. }
            | Instruction::RevealAggregate { .. }
            | Instruction::SubmitResult { .. } => 20 * size as u64 + 20_000,
            _ => 20_000,
        };
        let running = matches!(
            body.instruction,
            Instruction::DeployActor { .. } | Instruction::CallActor { .. }
        );
        body.cycles_limit = least.cycles + if running { RUNNING_CYCLES } else { judging };
        body.cells_limit = least.cells + if running { RUNNING_CELLS } else { 0 };
        body
    }

    /// From the next block on the validators see this runner, or no longer do.
    pub fn attest(&mut self, runner: Address, present: bool) {
        let Some(Profile { slot, .. }) = self.profile(runner) else { return };
        if present {
            self.attested.insert(slot);
        } else {
            self.attested.remove(&slot);
        }
    }

    /// Makes a block of everything that waits.
    pub fn step(&mut self) -> Outcome {
        self.step_with(self.draft())
    }

    /// Makes a block of everything that waits, on a draft that was changed.
    pub fn step_with(&mut self, draft: Draft) -> Outcome {
        let waiting = core::mem::take(&mut self.waiting);
        let (block, outcome, left_out) =
            propose_block(&self.state, &self.params, draft, &waiting, self.actors)
                .expect("a draft of ours follows its parent");
        for (index, reason) in left_out {
            self.left_out.insert(tx_hash(&waiting[index]), reason);
        }
        if self.paranoid {
            self.check_replay(&block, &outcome);
        }
        self.commit(&block, &outcome);
        if self.paranoid {
            self.check_money();
        }
        outcome
    }

    pub fn steps(&mut self, n: u64) {
        for _ in 0..n {
            self.step();
        }
    }

    /// What the next block will be, but for its transactions.
    pub fn draft(&self) -> Draft {
        let chain = self.chain();
        let view = chain.round.view + 1 + self.skip_views;
        let owed = (view - 1 - chain.newest_seed).min(self.params.max_seeds_per_block);
        let seeds = (1..=owed).map(|i| seed_of(chain.newest_seed + i)).collect();
        let header = Header {
            parent: self.tip,
            parent_view: chain.round.view,
            height: chain.height.plus(1),
            round: Round { epoch: chain.round.epoch, view },
            proposer: VALIDATOR,
            timestamp_ms: chain.timestamp_ms + self.params.block_time_ms,
            transactions_root: B256::ZERO,
            receipts_root: B256::ZERO,
            state: StateCommitment::default(),
            seeds_root: B256::ZERO,
            presence_hash: B256::ZERO,
        };
        Draft { header, seeds, presence: self.certificate(&chain) }
    }

    /// The finalization of the newest block, by all validators. Nobody checks signatures here.
    fn certificate(&self, chain: &ChainState) -> Option<PresenceCertificate> {
        if chain.height == Height::ZERO {
            return None;
        }
        let seen = |slot: Slot| self.attested.contains(&slot);
        let subsets = self.state.subsets();
        let attest = |validator| {
            let bits = Bytes(subsets.pack(validator, seen));
            Attestation { validator, bits, signature: [0; 64] }
        };
        Some(PresenceCertificate {
            height: chain.height,
            round: chain.round,
            parent_view: self.parent_view,
            block: self.tip,
            vote_signature: [0; 48],
            seed_signature: [0; 48],
            attestations: self.validators.clone().map(attest).collect(),
        })
    }

    fn commit(&mut self, block: &Block, outcome: &Outcome) {
        self.state.commit(outcome);
        self.tip = block.header.hash();
        self.parent_view = block.header.parent_view;
        for receipt in &outcome.receipts {
            if let Cause::Transaction { hash } = receipt.cause {
                self.receipts.insert(hash, receipt.clone());
            }
        }
        self.nonces.clear();
    }

    fn check_replay(&self, block: &Block, outcome: &Outcome) {
        let restarted = MemoryState::new(self.state.entries().clone(), &self.params);
        for state in [&self.state, &restarted] {
            let again = apply_block(state, &self.params, block, self.actors)
                .expect("what was proposed can be applied");
            assert_eq!(again.receipts, outcome.receipts, "receipts of a replay differ");
            assert_eq!(again.diff, outcome.diff, "the diff of a replay differs");
            assert_eq!(
                again.timers.picture(),
                outcome.timers.picture(),
                "the due timers of a replay differ"
            );
            for validator in self.validators.clone() {
                let list = |outcome: &Outcome| outcome.subsets.list(validator);
                assert_eq!(list(&again), list(outcome), "the lists of a replay differ");
            }
        }
    }

    /// supply = balances + stakes + escrows + bonds + deposits, the treasury being a balance.
    pub fn check_money(&self) {
        let holdings = Holdings::count(&self.state);
        let supply = recorded(&self.state);
        assert_eq!(holdings.total(), supply.total, "money appeared or vanished: {holdings:?}");
    }

    /// A result, signed and bound, as a runner would make it.
    pub fn sealed(
        &self,
        key: &SecretKey,
        job: JobId,
        result: impl Into<Delivery>,
    ) -> Option<(B256, Reveal)> {
        let result = result.into();
        let runner = key.address();
        let seats = self.job(job)?.seats;
        let seat = seats.iter().rev().find(|seat| seat.runner == runner)?;
        let chain_id = self.params.chain_id;
        let digest = result.digest(chain_id, job, seat.attempt, runner);
        let result_sig = key.sign(&digest);
        let salt = keccak256([&digest[..], b"salt"].concat());
        let bound =
            result.commitment(chain_id, job, seat.attempt, runner, &salt, &result_sig.bytes);
        Some((bound, Reveal { runner, result, salt, result_sig }))
    }

    pub fn send_commit(
        &mut self,
        key: &SecretKey,
        job: JobId,
        result: impl Into<Delivery>,
    ) -> Option<TxHash> {
        let (commitment, _) = self.sealed(key, job, result)?;
        Some(self.send(key, Instruction::CommitResult { job, commitment }))
    }

    /// Sends a runner's own reveal.
    pub fn send_reveal(
        &mut self,
        key: &SecretKey,
        job: JobId,
        result: impl Into<Delivery>,
    ) -> Option<TxHash> {
        let (_, reveal) = self.sealed(key, job, result)?;
        Some(self.send(key, Instruction::RevealResult { job, reveal }))
    }

    /// Sends the result of a job with a single runner.
    pub fn send_result(
        &mut self,
        key: &SecretKey,
        job: JobId,
        result: impl Into<Delivery>,
    ) -> Option<TxHash> {
        let (_, Reveal { result, result_sig, .. }) = self.sealed(key, job, result)?;
        Some(self.send(key, Instruction::SubmitResult { job, result, result_sig }))
    }

    /// Runners that have to act on a job: seated and not through.
    pub fn awaited(&self, job: JobId) -> Vec<Address> {
        let seats = self.job(job).map(|job| job.seats).unwrap_or_default();
        let waits = |progress: &SeatState| {
            matches!(progress, SeatState::Waiting | SeatState::Committed { .. })
        };
        seats.iter().filter(|seat| waits(&seat.progress)).map(|seat| seat.runner).collect()
    }
}

/// The made-up seed of a view.
fn seed_of(view: u64) -> SeedSignature {
    let mut bytes = [0; 48];
    bytes[..32].copy_from_slice(keccak256(view.to_be_bytes()).as_slice());
    SeedSignature { bytes }
}
