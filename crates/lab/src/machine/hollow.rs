//! An application that does nothing: empty blocks, no state, always valid.

use commonware_actor::Feedback;
use commonware_consensus::marshal::Update;
use commonware_consensus::marshal::ancestry::Ancestry;
use commonware_consensus::{Application, Reporter};
use commonware_cryptography::{Digested, Digestible as _};
use commonware_runtime::{Clock, Spawner};
use commonware_utils::Acknowledgement as _;
use futures::StreamExt as _;
use rand_core::CryptoRng;
use remuda_node::block::{Block, BlockContext, to_hash};
use remuda_node::gate::to_ms;
use remuda_node::scheme::Scheme;
use remuda_protocol::beacon::Round;
use remuda_protocol::block::{self, Header, StateCommitment};
use remuda_protocol::primitives::B256;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// See the module. Keeps the block time, as ours does.
#[derive(Clone)]
pub(super) struct Hollow {
    pub(super) block_time_ms: u64,
}

impl<E: CryptoRng + Spawner + Clock> Application<E> for Hollow {
    type SigningScheme = Scheme;
    type Context = BlockContext;
    type Block = Block;
    type Input = ();

    async fn propose(
        &mut self,
        (runtime, context): (E, BlockContext),
        mut ancestry: impl Ancestry<Block>,
        (): (),
    ) -> Option<Digested<Block>> {
        let parent = ancestry.next().await?;
        let earliest = parent.inner().header().timestamp_ms + self.block_time_ms;
        let time = UNIX_EPOCH + Duration::from_millis(earliest);
        if time > runtime.current() {
            runtime.sleep_until(time).await;
        }
        let header = Header {
            parent: to_hash(&parent.digest()),
            parent_view: context.parent.0.get(),
            height: parent.inner().header().height.plus(1),
            round: Round { epoch: context.round.epoch().get(), view: context.round.view().get() },
            proposer: B256::from_slice(&context.leader).0,
            timestamp_ms: to_ms(runtime.current()).max(earliest),
            transactions_root: block::transactions_root(&[]),
            receipts_root: B256::ZERO,
            state: StateCommitment::default(),
            seeds_root: block::seeds_root(&[]),
            presence_hash: B256::ZERO,
        };
        let (seeds, transactions) = (Vec::new(), Vec::new());
        let block = Block::new(block::Block { header, seeds, presence: None, transactions })?;
        let digest = block.digest();
        Some(Digested::precomputed(block, digest))
    }

    async fn verify(&mut self, _: (E, BlockContext), _: impl Ancestry<Block>) -> bool {
        true
    }
}

#[derive(Clone)]
pub(super) struct Listener(pub(super) Arc<dyn Fn(&Block) + Send + Sync>);

impl Reporter for Listener {
    type Activity = Update<Block>;

    fn report(&mut self, update: Update<Block>) -> Feedback {
        if let Update::Block(block, acknowledgement) = update {
            (self.0)(block.inner());
            acknowledgement.acknowledge();
        }
        Feedback::Ok
    }
}
