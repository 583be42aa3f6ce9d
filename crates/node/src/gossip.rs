//! Transactions between nodes. Every validator is connected to every other, so the node that takes a
//! transaction sends it to all, and nobody forwards what it received.
//!
//! Local: a change here needs no agreement among validators, except for the encoding of messages: nodes that differ in
//! it drop each other's transactions.

use crate::mempool::{GossipMessage, Refusal};
use crate::pool::Pool;
use crate::rate::Buckets;
use crate::scheme::PublicKey;
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_runtime::{Clock, Handle, Spawner};
use remuda_protocol::codec::Bytes;
use remuda_protocol::genesis::VALIDATORS_MAX;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Transactions waiting to be gossiped. Beyond that they wait for this node's own block.
pub const OUTBOX: usize = 8192;
/// Transactions that arrive within this time share a message.
const GATHER: Duration = Duration::from_millis(10);
/// Transactions that one peer may send at once. Each costs the recovery of a key.
const BURST: u32 = 4_000;
/// Until it may send another one.
const REFILL_EVERY: Duration = Duration::from_micros(500);

pub struct Gossip {
    pool: Arc<Pool>,
    outbox: mpsc::Receiver<Bytes>,
    allowance: Buckets<PublicKey>,
}

impl Gossip {
    /// Sends what comes out of `outbox`.
    pub fn new(pool: Arc<Pool>, outbox: mpsc::Receiver<Bytes>) -> Self {
        let allowance = Buckets::new(BURST, REFILL_EVERY, VALIDATORS_MAX);
        Self { pool, outbox, allowance }
    }

    pub fn start<E, S, R>(self, context: E, channel: (S, R)) -> Handle<()>
    where
        E: Spawner + Clock,
        S: Sender<PublicKey = PublicKey>,
        R: Receiver<PublicKey = PublicKey>,
    {
        context.spawn(|context| self.run(context, channel))
    }

    async fn run<E, S, R>(mut self, context: E, (mut sender, mut receiver): (S, R))
    where
        E: Spawner + Clock,
        S: Sender<PublicKey = PublicKey>,
        R: Receiver<PublicKey = PublicKey>,
    {
        loop {
            tokio::select! {
                message = receiver.recv() => match message {
                    Ok((peer, bytes)) => self.receive(&peer, bytes.as_ref()),
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

    fn receive(&mut self, peer: &PublicKey, bytes: &[u8]) {
        let Ok(GossipMessage::Transactions(transactions)) = GossipMessage::from_bytes(bytes) else {
            tracing::debug!(%peer, "malformed gossip message");
            return;
        };
        let count = u32::try_from(transactions.len()).unwrap_or(u32::MAX);
        if self.allowance.take(peer, count, Instant::now()).is_err() {
            tracing::debug!(%peer, "gossip rate limit exceeded");
            return;
        }
        for transaction in transactions {
            // Two nodes may have let in the same one, and states differ for a moment. But what is
            // wrong with the bytes alone, the sending peer has seen too.
            if let Err(Refusal::Inadmissible(reason)) = self.pool.submit_gossiped(&transaction) {
                tracing::debug!(%peer, %reason, "inadmissible gossiped transaction");
                return;
            }
        }
    }
}
