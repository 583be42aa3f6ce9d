//! Transactions between nodes. Every validator is connected to every other, so whoever lets one in
//! at its door tells all, and nobody passes on what it was told.
//!
//! Consensus: validators of one network must run the same version.

use crate::ledger::Ledger;
use crate::mempool::allowance::{Allowance, Rate};
use crate::mempool::{GossipMessage, Refusal};
use crate::scheme::PublicKey;
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_runtime::{Clock, Handle, Spawner};
use commonware_storage::Context as StorageContext;
use rand_core::CryptoRng;
use remuda_protocol::codec::Bytes;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::mpsc;

/// Transactions that wait to be told; more are not told, and wait for this node's own block.
pub const OUTBOX: usize = 8192;
/// Transactions are told together if they come within this time.
const GATHER: Duration = Duration::from_millis(10);
/// Of one peer: what it may send at once and per tick of a tenth of a second.
/// Each costs the recovery of a key.
const RATE: Rate = Rate { burst: 4_000, per_tick: 200 };

pub struct Gossip<E: CryptoRng + Spawner + StorageContext> {
    ledger: Arc<Ledger<E>>,
    outbox: mpsc::Receiver<Bytes>,
    allowance: Allowance<PublicKey>,
}

impl<E: CryptoRng + Spawner + StorageContext> Gossip<E> {
    /// Tells what comes out of `outbox`.
    pub fn new(ledger: Arc<Ledger<E>>, outbox: mpsc::Receiver<Bytes>) -> Self {
        Self { ledger, outbox, allowance: Allowance::new(RATE) }
    }

    pub fn start<S, R>(self, context: E, channel: (S, R)) -> Handle<()>
    where
        S: Sender<PublicKey = PublicKey>,
        R: Receiver<PublicKey = PublicKey>,
    {
        context.spawn(|context| self.run(context, channel))
    }

    async fn run<S, R>(mut self, context: E, (mut sender, mut receiver): (S, R))
    where
        S: Sender<PublicKey = PublicKey>,
        R: Receiver<PublicKey = PublicKey>,
    {
        loop {
            tokio::select! {
                message = receiver.recv() => match message {
                    Ok((peer, bytes)) => self.hear(&context, &peer, bytes.as_ref()),
                    Err(_) => return,
                },
                first = self.outbox.recv() => match first {
                    Some(first) => {
                        context.sleep(GATHER).await;
                        let mut batch = vec![first];
                        while let Ok(more) = self.outbox.try_recv() {
                            batch.push(more);
                        }
                        for message in GossipMessage::pack(batch) {
                            sender.send(Recipients::All, message.to_bytes(), false);
                        }
                    }
                    None => return,
                },
            }
        }
    }

    fn hear(&mut self, clock: &impl Clock, peer: &PublicKey, bytes: &[u8]) {
        let Ok(GossipMessage::Transactions(transactions)) = GossipMessage::from_bytes(bytes) else {
            tracing::debug!(%peer, "a gossip message that is none");
            return;
        };
        let since = clock.current().duration_since(UNIX_EPOCH).unwrap_or_default();
        let tick = u64::try_from(since.as_millis() / 100).unwrap_or(u64::MAX);
        if !self.allowance.spend(peer, tick, transactions.len() as u64) {
            tracing::debug!(%peer, "too many transactions at once");
            return;
        }
        for transaction in transactions {
            // Two nodes may have let in the same one, and states differ for a moment. But what is
            // wrong with the bytes alone, a peer has seen too before it told us.
            if let Err(Refusal::Inadmissible(reason)) = self.ledger.hear(&transaction) {
                tracing::debug!(%peer, %reason, "a transaction that no node lets in");
                return;
            }
        }
    }
}
