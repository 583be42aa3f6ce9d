//! What the tests of whole chains share: a seeded source of choices, and specs to choose from.
#![allow(dead_code, unreachable_pub)]

use remuda_protocol::codec::Bytes;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    Callback, DataFormat, JobKind, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::registry::runner::Offer;
use remuda_protocol::verifier::check::VerifierCheck;

/// SplitMix64: small, seeded, the same everywhere.
#[derive(Clone)]
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// Seeds to run: `REMUDA_SEED` alone if it is set, else `count` of them from a fixed start.
pub fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("REMUDA_SEED") {
        Ok(seed) => vec![seed.parse().expect("REMUDA_SEED is a number")],
        Err(_) => (0..count).map(|i| 0x5eed + i).collect(),
    }
}

/// Runs a test once per seed and says which one failed.
pub fn with_seeds(count: u64, test: impl Fn(u64) + std::panic::RefUnwindSafe) {
    for seed in seeds(count) {
        let result = std::panic::catch_unwind(|| test(seed));
        if let Err(panic) = result {
            eprintln!("failed with seed {seed}; run again with REMUDA_SEED={seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// Parameters under which a few hundred blocks see everything: short epochs, terms and windows.
pub fn brisk() -> ChainParams {
    let mut params = ChainParams::development();
    params.epoch_blocks = 10;
    params.unbonding_blocks = 20;
    params.dispute_blocks = 15;
    params.jail_blocks = 8;
    params.jail_blocks_max = 40;
    params.heartbeat_timeout_blocks = 25;
    params.aggregator_blocks = 3;
    params.reveal_blocks = 6;
    params.presence_policy = 1;
    params
}

pub fn offer() -> Offer {
    Offer { accepts_unpaid: true, ..plain_offer(&[JobKind::Http, JobKind::Custom]) }
}

/// A web request under majority vote on the whole answer.
pub fn vote_job(runners: u32, price: Amount) -> JobSpec {
    JobSpec {
        job_type: JobType::Http {
            method: "GET".into(),
            url: "https://example.org/price".into(),
            headers: Vec::new(),
            body: Bytes::default(),
            extract: String::new(),
        },
        bounds: ResourceBounds::default(),
        verification: Verification {
            mode: VerificationMode::MajorityVote,
            runners,
            threshold: 1,
            checks: vec![VerifierCheck::MajorityVote { field: "answer".into() }],
        },
        result_schema: ResultSchema {
            max_return_bytes: 1_024,
            expected_execution_ms: 100,
            data_format: DataFormat::Json,
        },
        max_price: price,
        tip: Amount::ZERO,
        timeout_blocks: 10,
        callback: None,
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}

/// The same for one runner.
pub fn single_job(mode: VerificationMode, price: Amount) -> JobSpec {
    let mut spec = vote_job(1, price);
    spec.verification = Verification { mode, runners: 1, threshold: 1, checks: Vec::new() };
    spec
}

pub fn callback(cycles_limit: u64) -> Callback {
    Callback { actor: Address::repeat_byte(0xac), handler: "on_result".into(), cycles_limit }
}
