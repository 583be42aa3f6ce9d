//! Those who ask, in their order.

use super::{Ask, BATCH_MAX};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long more asks are waited for before a write.
const GATHER_MAX: Duration = Duration::from_micros(500);
/// Others had so many turns, and nobody asked.
const STILL_MAX: u32 = 3;

pub(super) struct Inbox {
    asks: mpsc::Receiver<Ask>,
    /// Events already received; they precede those in the channel.
    heard: VecDeque<Ask>,
}

impl Inbox {
    pub(super) fn new(asks: mpsc::Receiver<Ask>) -> Self {
        Self { asks, heard: VecDeque::new() }
    }

    /// Waits for follow-up events of clients that were just answered, to batch them. A write costs the
    /// same for few events and for many, so waiting goes on while more arrive, for a small fraction of the
    /// time of a write.
    pub(super) async fn gather(&mut self) {
        let began = Instant::now();
        let (mut there, mut still) = (self.asks.len(), 0);
        while still < STILL_MAX && there < BATCH_MAX && began.elapsed() < GATHER_MAX {
            tokio::task::yield_now().await;
            still = if self.asks.len() > there { 0 } else { still + 1 };
            there = self.asks.len();
        }
    }

    /// Waits for events. Returns 0 when all senders are gone. Cancel-safe: a dropped future loses no event.
    pub(super) async fn hear(&mut self, came: &mut Vec<Ask>, most: usize) -> usize {
        if self.heard.is_empty() {
            return self.asks.recv_many(came, most).await;
        }
        let count = self.heard.len().min(most);
        came.extend(self.heard.drain(..count));
        count
    }

    pub(super) fn len(&self) -> usize {
        self.heard.len() + self.asks.len()
    }

    pub(super) fn heard(&mut self) -> Option<Ask> {
        self.heard.pop_front().or_else(|| self.asks.try_recv().ok())
    }

    /// These come before all others.
    pub(super) fn first(&mut self, asks: &mut Vec<Ask>) {
        asks.drain(..).rev().for_each(|ask| self.heard.push_front(ask));
    }
}
