//! What happens in a run, drawn from its seed.

use super::Misconduct;
use super::cast::RUNNERS;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use std::time::Duration;

/// Enough for every attestation from before calm to be forgotten.
const CALM: u64 = 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A validator dies and starts again after a while.
    Crash(usize, Duration),
    /// A validator is cut off for a while.
    Cut(usize, Duration),
    /// All links are slow and lose messages for a while.
    Storm(Duration),
    /// A runner connects to everybody, or leaves.
    Runner(usize, bool),
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub validators: usize,
    pub liars: Vec<(usize, Misconduct)>,
    /// Waits and faults, in order.
    pub faults: Vec<(Duration, Fault)>,
    /// Blocks that must come after calm returns.
    pub calm_blocks: u64,
}

impl Plan {
    /// Draws one: 4 validators or 7, up to a third of them liars.
    pub fn from_seed(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let validators = if rng.random_bool(0.7) { 4 } else { 7 };
        let most = (validators - 1) / 3;
        let mut liars = Vec::new();
        for _ in 0..rng.random_range(0..=most) {
            let who = rng.random_range(0..validators);
            // Seeds in a row meet every conduct.
            let conduct =
                Misconduct::ALL[(seed as usize + liars.len() * 5) % Misconduct::ALL.len()];
            if liars.iter().all(|(other, _)| *other != who) {
                liars.push((who, conduct));
            }
        }
        let mut faults = Vec::new();
        for _ in 0..rng.random_range(2..=5) {
            let wait = Duration::from_millis(rng.random_range(50..1500));
            let who = rng.random_range(0..validators);
            let length = Duration::from_millis(rng.random_range(5..1500));
            let fault = match rng.random_range(0..10) {
                0..=3 => Fault::Crash(who, length),
                4..=5 => Fault::Cut(who, length),
                6 => Fault::Storm(length),
                _ => Fault::Runner(rng.random_range(0..RUNNERS), rng.random_bool(0.4)),
            };
            faults.push((wait, fault));
        }
        Self { seed, validators, liars, faults, calm_blocks: CALM }
    }

    /// A run with one named liar among `validators`, and nothing else.
    pub fn with_liar(seed: u64, validators: usize, conduct: Misconduct) -> Self {
        let liars = vec![(seed as usize % validators, conduct)];
        Self { seed, validators, liars, faults: Vec::new(), calm_blocks: CALM }
    }
}
