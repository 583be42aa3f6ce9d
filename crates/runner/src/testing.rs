//! What several tests need.

use crate::daemon::Settings;
use remuda_client::types::{
    BigUint, HexAddress, HexBytes, OfferView, RatesView, RunnerStatusName, RunnerView, Uint,
};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Job, Seat, SeatState, Snapshot, Stakes, Status};
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobKind, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::primitives::{Address, Amount, B256, Height};

pub(crate) fn settings(sections: &str) -> Settings {
    let text =
        format!("key = 'k'\ndata = 'd'\nnodes = ['http://127.0.0.1:1']\nslots = 2\n{sections}\n");
    toml::from_str(&text).unwrap()
}

/// A web request, by a committee of three.
pub(crate) fn http_spec(method: &str, url: &str) -> JobSpec {
    JobSpec {
        job_type: JobType::Http {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: vec![],
            body: b"".as_slice().into(),
            extract: String::new(),
        },
        bounds: ResourceBounds { max_wall_time_seconds: 5, ..ResourceBounds::default() },
        verification: Verification {
            mode: VerificationMode::MajorityVote,
            runners: 3,
            threshold: 2,
            checks: vec![],
        },
        result_schema: ResultSchema {
            max_return_bytes: 1_024,
            expected_execution_ms: 100,
            data_format: DataFormat::Json,
        },
        max_price: Amount(1),
        tip: Amount(0),
        timeout_blocks: 60,
        callback: None,
        tee_required: false,
        secrets: vec![],
        required_runner_pool: None,
    }
}

/// A seat of the first selection.
pub(crate) fn seat(runner: Address, progress: SeatState) -> Seat {
    Seat {
        runner,
        attempt: 0,
        since: Height(90),
        reputation_nano: 60,
        stake: Amount(1),
        effective: Amount(1),
        delegated: Amount(0),
        commission_bps: 0,
        stakes: Stakes::default(),
        scored: true,
        overbooked: false,
        progress,
    }
}

/// A job that these sit on: commits by 136, the aggregator's time until 166, reveals by 196.
pub(crate) fn job(status: Status, aggregator: Option<Address>, seats: Vec<Seat>) -> Job {
    Job {
        submitter: Address::ZERO,
        submitted_at: Height(90),
        kind: JobKind::Http,
        status,
        attempt: 0,
        committee: u32::try_from(seats.len()).unwrap(),
        n_threshold: 2,
        snapshot: Snapshot::default(),
        seed: B256::ZERO,
        seats,
        excluded: Vec::new(),
        aggregator,
        commit_by: Height(136),
        aggregator_until: Height(166),
        reveal_by: Height(196),
        closed_at: None,
        escrow: Amount(1),
        callback_deposit: Amount(0),
        callback_max_fee: 0,
        challenges: None,
    }
}

/// A runner that offers nothing.
pub(crate) fn runner_view(status: RunnerStatusName, present: bool, last_seen: u64) -> RunnerView {
    RunnerView {
        address: HexAddress::default(),
        slot: 0,
        public_key: HexBytes::default(),
        status,
        healthy: true,
        present,
        last_seen: Uint(last_seen),
        offer: OfferView {
            kinds: vec![],
            models: vec![],
            executors: vec![],
            eth_chains: vec![],
            resolvers: vec![],
            rates: RatesView {
                base: BigUint(0),
                per_second: BigUint(0),
                per_1k_in: BigUint(0),
                per_1k_out: BigUint(0),
            },
            max_concurrent_jobs: 1,
            declared_max_job_value: BigUint(0),
            accepts_unpaid: false,
            commission_bps: 0,
            accept_bonded: false,
        },
        pools: vec![],
        stake: BigUint(0),
        delegated: BigUint(0),
        delegated_shares: BigUint(0),
        effective_stake: BigUint(0),
        unbonding: BigUint(0),
        locked: BigUint(0),
        reputation_nano: Uint(0),
        failures: 0,
        jailed_until: None,
        jail_terms: 0,
        open_jobs: 0,
        open_value: BigUint(0),
        tee_until: None,
        crashes: vec![],
    }
}
