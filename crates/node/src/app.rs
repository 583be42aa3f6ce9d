//! What the engine asks of the chain: a block, a verdict, and to note what is final.
//!
//! Consensus: a change here forks the chain.
//!
//! Building and verifying run the same code of the rules on the same state, because a validator does
//! not verify its own block: if they could disagree, it would certify what all others refuse.
//! Nothing here waits for anything but the disk; whatever has to wait does so in the
//! [gate](crate::gate).

use crate::block::{Block, BlockContext, to_hash};
use crate::chain::{Chain, Executed, Tip, chain_state};
use crate::history::History;
use crate::scheme::{Scheme, SeedPoint, from_carried, to_carried};
use crate::seeds::Seeds;
use crate::store::{self, Batch, Databases, Sealed};
use commonware_codec::DecodeExt as _;
use commonware_consensus::Heightable as _;
use commonware_consensus::marshal::ancestry::Ancestry;
use commonware_cryptography::Digestible as _;
use commonware_glue::stateful::{Application, Finality, Input, Proposed, db::DatabaseSet};
use commonware_parallel::Sequential;
use commonware_runtime::Spawner;
use commonware_storage::Context as StorageContext;
use futures::StreamExt as _;
use rand_core::CryptoRng;
use remuda_protocol::block::{Header, StateCommitment};
use remuda_protocol::codec::Bytes;
use remuda_protocol::execute::{Draft, Outcome, apply_block, propose_block};
use remuda_protocol::presence::{PresenceCertificate, acceptable, ancestor};
use remuda_protocol::primitives::B256;
use remuda_protocol::state::MemoryState;
use remuda_vm::chain::machine;
use std::sync::Arc;
use std::time::Duration;

/// Where transactions for a block come from, and where it is told what became final.
pub trait Pool: Send + Sync + 'static {
    /// Transactions for a block on this state, best first.
    fn pick(&self, state: &MemoryState) -> Vec<Bytes>;

    /// A block is final: calls [`Chain::finalise`], so that the pool and the chain's tip move on
    /// together.
    fn finalised(&self, block: &Block, chain: &Chain) -> Arc<Tip>;
}

/// How a test makes a validator misbehave. An honest one has none.
pub trait FaultInjection: Send + Sync + 'static {
    /// Whether it proposes at all.
    fn proposes(&self) -> bool {
        true
    }

    /// Changes what is about to be built.
    fn draft(&self, _: &mut Draft, _: &MemoryState) {}

    fn built(&self, _: &mut remuda_protocol::block::Block) {}
}

pub struct App<E: Spawner + StorageContext> {
    /// The block of height 0.
    pub genesis: Block,
    pub scheme: Scheme,
    pub chain: Chain,
    pub seeds: Seeds,
    pub history: History<E>,
    pub pool: Arc<dyn Pool>,
    /// How long it fills a block; see [`Patience`](crate::validator::Patience).
    pub filling: Duration,
    pub faults: Option<Arc<dyn FaultInjection>>,
}

impl<E: Spawner + StorageContext> Clone for App<E> {
    fn clone(&self) -> Self {
        Self {
            genesis: self.genesis.clone(),
            scheme: self.scheme.clone(),
            chain: self.chain.clone(),
            seeds: self.seeds.clone(),
            history: self.history.clone(),
            pool: self.pool.clone(),
            filling: self.filling,
            faults: self.faults.clone(),
        }
    }
}

impl<E: Spawner + StorageContext> App<E> {
    /// The newest certificate that a block with this header may carry.
    fn presence(&self, state: &MemoryState, header: &Header) -> Option<PresenceCertificate> {
        self.seeds.certificates().iter().find_map(|finalization| {
            let hash = to_hash(&finalization.proposal.payload);
            let certificate = to_carried(ancestor(state, header, hash)?.height, finalization)?;
            acceptable(state, header, &certificate).ok().map(|()| certificate)
        })
    }

    /// The signatures in a block: its seeds', and its certificate's.
    fn signatures_hold(
        &self,
        rng: &mut impl CryptoRng,
        parent: &MemoryState,
        block: &remuda_protocol::block::Block,
    ) -> bool {
        // The rules say how many there have to be; here only that checking them has an end.
        if block.seeds.len() as u64 > self.chain.params().max_seeds_per_block {
            return false;
        }
        let newest = chain_state(parent).newest_seed;
        let seeds: Option<Vec<(u64, SeedPoint)>> = (newest + 1..)
            .zip(&block.seeds)
            .map(|(view, seed)| {
                let bytes = bytes::Bytes::copy_from_slice(&seed.bytes);
                Some((view, SeedPoint::decode(bytes).ok()?))
            })
            .collect();
        let Some(seeds) = seeds else { return false };
        let certificate = match &block.presence {
            None => true,
            Some(carried) => {
                from_carried(carried).is_some_and(|f| f.verify(rng, &self.scheme, &Sequential))
            }
        };
        certificate && self.scheme.verify_seeds(rng, seeds)
    }
}

impl<E> Application<E> for App<E>
where
    E: CryptoRng + Spawner + StorageContext,
{
    type SigningScheme = Scheme;
    type Context = BlockContext;
    type Block = Block;
    type Databases = Databases<E>;
    type Captured = ();
    type Provider = ();
    /// The time of the block.
    type Input = u64;

    fn sync_targets(block: &Block) -> <Self::Databases as DatabaseSet<E>>::SyncTargets {
        store::target(&block.header().state)
    }

    async fn genesis(&mut self) -> Block {
        self.genesis.clone()
    }

    async fn propose(
        &mut self,
        (runtime, context): (E, BlockContext),
        mut ancestry: impl Ancestry<Block>,
        batch: Batch<E>,
        input: Input<u64, ()>,
    ) -> Option<Proposed<Self, E>> {
        if self.faults.as_ref().is_some_and(|faults| !faults.proposes()) {
            return None;
        }
        let parent = ancestry.next().await?;
        let state = self.chain.state(parent.height().get(), &parent.digest())?;
        let params = self.chain.params();
        let parent_state = chain_state(&state);
        let header = Header {
            parent: to_hash(&parent.digest()),
            parent_view: context.parent.0.get(),
            height: parent_state.height.plus(1),
            round: remuda_protocol::beacon::Round {
                epoch: context.round.epoch().get(),
                view: context.round.view().get(),
            },
            proposer: B256::from_slice(&context.leader).0,
            timestamp_ms: input.upstream,
            transactions_root: B256::ZERO,
            receipts_root: B256::ZERO,
            state: StateCommitment::default(),
            seeds_root: B256::ZERO,
            presence_hash: B256::ZERO,
        };
        let first = parent_state.newest_seed + 1;
        let end = header.round.view.min(first.saturating_add(params.max_seeds_per_block));
        // After a long drought this node may miss seeds that others have: they will propose.
        let seeds = self.seeds.seeds(first..end)?;
        let presence = self.presence(&state, &header);
        let mut draft = Draft { header, seeds, presence };
        if let Some(faults) = &self.faults {
            faults.draft(&mut draft, &state);
        }
        // A block that took longer would miss its round, and so would every block after it.
        let enough = runtime.current() + self.filling;
        let waiting = self.pool.pick(&state);
        let waiting = waiting.iter().take_while(|_| runtime.current() < enough);
        let (mut rules, outcome, _) =
            propose_block(&state, params, draft, waiting, machine()).ok()?;
        let sealed = store::seal::<E>(batch, &outcome.diff).await;
        rules.header.state = store::commitment::<E>(&sealed);
        if let Some(faults) = &self.faults {
            faults.built(&mut rules);
        }
        let block = Block::new(rules)?;
        self.keep(&block, &state, outcome);
        Some(Proposed { block, merkleized: sealed })
    }

    async fn process(
        &mut self,
        (mut runtime, _): (E, BlockContext),
        ancestry: impl Ancestry<Block>,
        batch: Batch<E>,
        finality: Finality,
    ) -> Option<Sealed<E>> {
        let block = ancestry.peek()?.inner().clone();
        let header = block.header();
        let height = header.height.get().checked_sub(1)?;
        let state = self.chain.state(height, &crate::block::to_digest(header.parent));
        // The engine holds the parent's state, so we do too.
        let state = state.unwrap_or_else(|| panic!("no state of the parent at height {height}"));
        let candidate = finality == Finality::Candidate;
        if candidate && !self.signatures_hold(&mut runtime, &state, block.rules()) {
            tracing::warn!(height = height + 1, "invalid seed or certificate signature");
            return None;
        }
        let outcome = apply_block(&state, self.chain.params(), block.rules(), machine())
            .inspect_err(|error| tracing::warn!(height = height + 1, %error, "invalid block"))
            .ok()?;
        let sealed = store::seal::<E>(batch, &outcome.diff).await;
        // The engine compares the operations; the root is ours to compare.
        if store::commitment::<E>(&sealed) != header.state {
            tracing::warn!(height = height + 1, "state root mismatch");
            return None;
        }
        self.keep(&block, &state, outcome);
        Some(sealed)
    }

    async fn capture(
        &mut self,
        _: (E, BlockContext),
        _: &Block,
        _: &Sealed<E>,
        _: <Self::Databases as DatabaseSet<E>>::Readers,
    ) {
    }

    async fn finalized(
        &mut self,
        _: (E, BlockContext),
        block: &Block,
        (): (),
        _: <Self::Databases as DatabaseSet<E>>::Readers,
    ) {
        let (height, digest) = (block.height().get(), block.digest());
        let executed = self.chain.pending(height, &digest).expect("it was executed");
        self.seeds.carried(chain_state(&executed.state).newest_seed);
        // On disk before the block is announced: a subscriber may fetch it at once.
        self.history.record(height, block, &executed.receipts).await;
        self.pool.finalised(block, &self.chain);
    }
}

impl<E: Spawner + StorageContext> App<E> {
    fn keep(&self, block: &Block, parent: &MemoryState, outcome: Outcome) {
        let mut state = parent.clone();
        state.commit(&outcome);
        let receipts = Arc::new(outcome.receipts);
        self.chain.executed(block.height().get(), block.digest(), Executed { state, receipts });
    }
}
