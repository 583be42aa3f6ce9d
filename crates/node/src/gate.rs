//! Everything that waits, in front of what must not: while the [application](crate::app) builds a
//! block, the engine cannot finalise any.
//!
//! Local: a change here needs no agreement among validators.
//!
//! A block is never made earlier than one block time after its parent. A block that seems to be from
//! the future is not invalid, only early: saying no is for ever, so the vote is delayed instead.

use crate::app::App;
use crate::block::{Block, BlockContext};
use crate::scheme::Scheme;
use crate::seeds::Seeds;
use commonware_consensus::Application;
use commonware_consensus::marshal::ancestry::Ancestry;
use commonware_cryptography::Digested;
use commonware_glue::stateful::Mailbox;
use commonware_runtime::{Clock, Spawner, signal::Signal};
use commonware_storage::Context as StorageContext;
use futures::StreamExt as _;
use futures::future::{Either, pending, select};
use rand_core::CryptoRng;
use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How far clocks of honest validators may be apart.
pub const MAX_DRIFT: Duration = Duration::from_millis(500);

pub struct Gate<E: CryptoRng + Spawner + StorageContext> {
    /// What it stands in front of.
    pub inner: Mailbox<E, App<E>>,
    pub seeds: Seeds,
    /// Least time between blocks; a rule of the chain.
    pub block_time_ms: u64,
}

impl<E: CryptoRng + Spawner + StorageContext> Clone for Gate<E> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            seeds: self.seeds.clone(),
            block_time_ms: self.block_time_ms,
        }
    }
}

/// A time as blocks have it.
pub fn to_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    u64::try_from(since).unwrap_or(u64::MAX)
}

/// Waits until a block of this time is not early; for ever if that time cannot come.
async fn wait_until(clock: &impl Clock, ms: u64) {
    match UNIX_EPOCH.checked_add(Duration::from_millis(ms)) {
        Some(time) if time > clock.current() => clock.sleep_until(time).await,
        Some(_) => {}
        None => pending().await,
    }
}

/// Resolves with the answer, or never after shutdown: a stopped actor panics its callers.
async fn unless<T>(stopped: Signal, question: impl Future<Output = T>) -> T {
    let answer = match select(stopped, pin!(question)).await {
        Either::Left(_) => None,
        Either::Right((answer, _)) => Some(answer),
    };
    // The signal is gone by now: as long as somebody holds it, the stop waits.
    match answer {
        Some(answer) => answer,
        None => pending().await,
    }
}

impl<E> Application<E> for Gate<E>
where
    E: CryptoRng + Spawner + StorageContext,
{
    type SigningScheme = Scheme;
    type Context = BlockContext;
    type Block = Block;
    type Input = ();

    async fn propose(
        &mut self,
        (runtime, context): (E, BlockContext),
        ancestry: impl Ancestry<Block>,
        (): (),
    ) -> Option<Digested<Block>> {
        let parent = ancestry.clone().next().await?;
        let earliest = parent.inner().header().timestamp_ms.saturating_add(self.block_time_ms);
        wait_until(&runtime, earliest).await;
        // A proposal may be asked for before the reporter has seen the newest certificate.
        let (first, view) = (context.parent.0.get().max(1), context.round.view().get());
        self.seeds.wait(first..view).await;
        let now = to_ms(runtime.current()).max(earliest);
        self.inner.propose((runtime, context), ancestry, now).await
    }

    async fn verify(
        &mut self,
        (runtime, context): (E, BlockContext),
        ancestry: impl Ancestry<Block>,
    ) -> bool {
        let time = ancestry.peek().map_or(0, |block| block.inner().header().timestamp_ms);
        let drift = u64::try_from(MAX_DRIFT.as_millis()).unwrap_or(0);
        wait_until(&runtime, time.saturating_sub(drift)).await;
        let stopped = runtime.stopped();
        unless(stopped, self.inner.verify((runtime, context), ancestry)).await
    }
}
