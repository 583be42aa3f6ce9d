//! When blocks became final, as a validator saw it.

use crate::percentile;
use remuda_node::block::Block;
use remuda_node::gate::to_ms;
use std::sync::Mutex;
use std::time::SystemTime;

/// What one run gave. Latencies are from the proposer's time to the moment at which a validator had
/// the block final and executed, in milliseconds; all validators are on one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub seconds: f64,
    /// Final blocks in that time.
    pub blocks: u64,
    pub transactions: u64,
    /// Half of all blocks were final by then, for the validator that saw it.
    pub latency_p50_ms: f64,
    /// 95 of 100 were.
    pub latency_p95_ms: f64,
}

#[derive(Clone, Copy)]
struct Seen {
    height: u64,
    made_ms: u64,
    final_ms: u64,
    transactions: u64,
}

#[derive(Default)]
pub(super) struct Record(Mutex<Vec<Seen>>);

impl Record {
    pub(super) fn note(&self, block: &Block) {
        let header = block.header();
        let seen = Seen {
            height: header.height.get(),
            made_ms: header.timestamp_ms,
            final_ms: to_ms(SystemTime::now()),
            transactions: block.rules().transactions.len() as u64,
        };
        self.0.lock().expect("nobody panics here").push(seen);
    }

    pub(super) fn height(&self) -> u64 {
        self.0.lock().expect("nobody panics here").last().map_or(0, |seen| seen.height)
    }

    /// What was seen since `start_ms`.
    pub(super) fn figures(&self, start_ms: u64, seconds: f64) -> Figures {
        let seen = self.0.lock().expect("nobody panics here");
        let seen: Vec<Seen> =
            seen.iter().filter(|seen| seen.final_ms >= start_ms).copied().collect();
        let mut latencies: Vec<u64> =
            seen.iter().map(|seen| seen.final_ms.saturating_sub(seen.made_ms)).collect();
        latencies.sort_unstable();
        let at = |percent| percentile(&latencies, percent) as f64;
        Figures {
            seconds,
            blocks: seen.len() as u64,
            transactions: seen.iter().map(|seen| seen.transactions).sum(),
            latency_p50_ms: at(50),
            latency_p95_ms: at(95),
        }
    }
}
