//! What reading costs: a peer's allowance of bytes, and places for requests that read many blocks.
//!
//! The cost of a request is known only after it has read, so bytes are charged afterwards. A peer in debt is
//! refused until its allowance has been refilled.

use super::App;
use super::error::Failure;
use super::extract::Peer;
use super::places::Place;
use crate::backend::Finalised;
use crate::rate::peer_key;
use remuda_client::types::code;
use remuda_protocol::primitives::Height;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

const KIB: u64 = 1_024;

/// A request that reads many blocks.
pub(super) struct Reading<'a> {
    app: &'a App,
    peer: Peer,
    /// Bytes that it may go on reading.
    left: u64,
    _place: Place,
}

impl App {
    /// How long a peer has to wait until it owes no bytes.
    pub(super) fn owes(&self, peer: Peer) -> Option<Duration> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.take(&peer_key(peer.0), 0, Instant::now()).err()
    }

    /// Sends a peer away that has read more than its allowance.
    pub(super) fn may_read(&self, peer: Peer) -> Result<(), Failure> {
        self.owes(peer).map_or(Ok(()), |wait| {
            self.metrics.limited.inc();
            Err(Failure::new(code::RATE_LIMITED, "this address has exceeded its read allowance")
                .hint("retry after the time in Retry-After; /events streams what is new")
                .retry_after(wait))
        })
    }

    /// Takes bytes that were read for a peer.
    pub(super) fn spend(&self, peer: Peer, bytes: u64) {
        let mut allowances = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        allowances.spend(&peer_key(peer.0), bytes.div_ceil(KIB), Instant::now());
    }

    /// A final block, paid for by the peer.
    pub(super) async fn read_block(&self, peer: Peer, height: Height) -> Option<Arc<Finalised>> {
        let block = self.backend.block(height).await?;
        self.spend(peer, block.bytes);
        Some(block)
    }

    /// Begins to read many blocks.
    pub(super) fn reading(&self, peer: Peer) -> Result<Reading<'_>, Failure> {
        let place = self.readers.take(peer.0).ok_or_else(|| {
            self.metrics.limited.inc();
            Failure::new(code::RATE_LIMITED, "too many requests for old blocks at a time")
                .hint("ask again in a moment")
                .retry_after(Duration::from_secs(1))
        })?;
        Ok(Reading { app: self, peer, left: self.limits.history_bytes, _place: place })
    }
}

impl Reading<'_> {
    pub(super) async fn block(&mut self, height: Height) -> Option<Arc<Finalised>> {
        let block = self.app.read_block(self.peer, height).await?;
        self.left = self.left.saturating_sub(block.bytes);
        Some(block)
    }

    /// Whether this request has read all that one may.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }
}
