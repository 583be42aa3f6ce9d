use remuda_client::types::{
    BigUint, HexAddress, HexBytes, OfferView, RatesView, RunnerStatusName, RunnerView, Uint,
};

/// A runner that offers nothing.
pub(super) fn runner_view(status: RunnerStatusName, present: bool, last_seen: u64) -> RunnerView {
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
