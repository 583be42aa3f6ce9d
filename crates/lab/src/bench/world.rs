//! A chain with many runners for benchmarks of its rules: blocks without signatures, fees and storage.

use remuda::demo::network;
use remuda_protocol::beacon::Round;
use remuda_protocol::block::{Header, SeedSignature, StateCommitment};
use remuda_protocol::chain::Validator;
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::crypto::PublicKey;
use remuda_protocol::deposit::Held;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{JobKind, JobSpec, JobType, Message};
use remuda_protocol::entries::Entries;
use remuda_protocol::execute::{Draft, Outcome, submit_unsigned};
use remuda_protocol::genesis::Genesis;
use remuda_protocol::key::{ChainKey, PresenceKey, ProfileKey, RunnerKey, SlotKey};
use remuda_protocol::local::{PROPOSER, VALIDATOR};
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::PresenceState;
use remuda_protocol::primitives::{Address, Amount, B256, Height, Slot, keccak256};
use remuda_protocol::registry::register::plain_offer;
use remuda_protocol::registry::runner::{Profile, RateCard, Runner, SlotRecord, Terms};
use remuda_protocol::registry::versioned::{Stamp, Versioned};
use remuda_protocol::state::{MemoryState, StateKey, read};
use remuda_protocol::verifier::check::VerifierCheck;

/// A chain with many runners.
pub(super) struct World {
    pub(super) params: ChainParams,
    pub(super) state: MemoryState,
    pub(super) runners: u32,
    pub(super) nonce: u64,
}

pub(super) const SUBMITTER: Address = Address::repeat_byte(0x51);

impl World {
    pub(super) fn new(runners: u32) -> Self {
        let mut params = ChainParams::one_second();
        // Presence comes from consensus; here everybody counts alike.
        params.presence_policy = 0;
        params.heartbeat_timeout_blocks = 1 << 30;
        Self::of(runners, params, 1, |_, _, _| ())
    }

    /// A chain whose runners `arrange` may change one by one.
    pub(super) fn of(
        runners: u32,
        params: ChainParams,
        validators: u8,
        arrange: impl Fn(u32, &mut Profile, &mut Runner),
    ) -> Self {
        let balances = vec![(SUBMITTER, Amount(1 << 95))];
        let others = (1..validators).map(|i| {
            let mut key = VALIDATOR;
            key[0] ^= i;
            key
        });
        let mut keys: Vec<_> = [VALIDATOR].into_iter().chain(others).collect();
        keys.sort_unstable();
        let genesis = Genesis {
            params: params.clone(),
            timestamp_ms: 0,
            balances,
            pinned_executors: vec![],
            system_deployers: Vec::new(),
            validators: keys
                .into_iter()
                .map(|key| Validator { key, fee_recipient: PROPOSER })
                .collect(),
            threshold_key: Bytes::default(),
        };
        let mut entries = genesis.entries().expect("a sound genesis");
        let mut chain = read(&MemoryState::new(entries.clone(), &params), &ChainKey {})
            .expect("genesis has a tip");
        chain.next_slot = Slot(runners);
        entries.insert(ChainKey {}.bytes(), chain.to_bytes());
        for i in 0..runners {
            let address = address_of(i);
            let (mut profile, mut runner) = (profile_of(i), runner_of(i));
            arrange(i, &mut profile, &mut runner);
            runner.candidacy = Versioned::new(runner.candidacy_now(), Stamp::default());
            let profile = Versioned::new(profile, Stamp::default());
            entries.insert(
                SlotKey { slot: Slot(i) }.bytes(),
                SlotRecord { runner: address, vacated: None }.to_bytes(),
            );
            entries.insert(ProfileKey { runner: address }.bytes(), profile.to_bytes());
            entries.insert(RunnerKey { runner: address }.bytes(), runner.to_bytes());
        }
        let state = MemoryState::new(entries, &params);
        Self { params, state, runners, nonce: 0 }
    }

    /// Where presence stands; after the first block.
    pub(super) fn presence(&self) -> PresenceState {
        read(&self.state, &PresenceKey {}).expect("the first block counts presence")
    }

    /// Changes the stored state by hand, as a restart would find it.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut Entries)) {
        let mut entries = self.state.entries().clone();
        change(&mut entries);
        self.state = MemoryState::of(entries, &self.params);
    }

    pub(super) fn random(&mut self) -> u64 {
        self.nonce += 1;
        let hash = keccak256(self.nonce.to_be_bytes());
        u64::from_be_bytes(hash[..8].try_into().expect("eight bytes"))
    }

    pub(super) fn height(&self) -> Height {
        read(&self.state, &ChainKey {}).expect("the chain has a tip").height
    }

    pub(super) fn block(&self, jobs: &[(Address, B256, JobSpec)]) -> Outcome {
        let chain = read(&self.state, &ChainKey {}).expect("the chain has a tip");
        let view = chain.round.view + 1;
        let owed = view - 1 - chain.newest_seed;
        let seed = |view: u64| {
            let mut bytes = [0; 48];
            bytes[..8].copy_from_slice(&view.to_be_bytes());
            SeedSignature { bytes }
        };
        let draft = Draft {
            header: Header {
                parent: B256::ZERO,
                parent_view: chain.round.view,
                height: chain.height.plus(1),
                round: Round { epoch: 0, view },
                proposer: VALIDATOR,
                timestamp_ms: chain.timestamp_ms + self.params.block_time_ms,
                transactions_root: B256::ZERO,
                receipts_root: B256::ZERO,
                state: StateCommitment::default(),
                seeds_root: B256::ZERO,
                presence_hash: B256::ZERO,
            },
            seeds: (1..=owed).map(|i| seed(chain.newest_seed + i)).collect(),
            presence: None,
        };
        submit_unsigned(&self.state, &self.params, &draft, jobs)
            .expect("the block follows its parent")
    }

    pub(super) fn commit(&mut self, outcome: &Outcome) {
        self.state.commit(outcome);
    }
}

pub(super) fn address_of(i: u32) -> Address {
    Address::from_slice(&keccak256(i.to_be_bytes())[12..])
}

/// Twenty price levels, the dearest that of 5 % of the runners, with up to 1,000 prices in each.
pub(super) fn profile_of(i: u32) -> Profile {
    let mut offer = plain_offer(&[JobKind::Llm, JobKind::Http]);
    offer.models = match i % 4 {
        0 => vec!["large".into(), "small".into()],
        1 | 2 => vec!["small".into()],
        _ => vec![],
    };
    let level = u128::from(i % 20);
    offer.rates = RateCard {
        base: Amount(10_000_000_000 + level * 500_000_000 + u128::from(i / 20 % 1_000) * 200_000),
        ..RateCard::default()
    };
    offer.max_concurrent_jobs = 10_000;
    let mut bytes = [2; 33];
    bytes[1..].copy_from_slice(keccak256(i.to_be_bytes()).as_slice());
    let (public_key, pools, held) = (PublicKey { bytes }, Vec::new(), Held::default());
    Profile { public_key, slot: Slot(i), offer, pools, held }
}

pub(super) fn runner_of(i: u32) -> Runner {
    let terms = Terms {
        max_concurrent_jobs: 10_000,
        commission_bps: 0,
        stake_floor: Amount::ZERO,
        since: Height::ZERO,
    };
    let mut runner = Runner::newcomer(Slot(i), terms, Height::ZERO, Stamp::default());
    runner.stake = Amount::cby(1_000_000 + u128::from(keccak256(i.to_le_bytes())[0]) * 1_000);
    runner.candidacy = Versioned::new(runner.candidacy_now(), Stamp::default());
    runner
}

pub(super) fn http() -> JobType {
    network::http("https://example.org/price".into(), "")
}

pub(super) fn llm(model: &str) -> JobType {
    JobType::Llm {
        model: model.into(),
        messages: vec![Message { role: "user".into(), content: "Which city?".into() }],
        temperature_milli: 0,
        seed: 1,
    }
}

pub(super) fn spec_of(job_type: JobType, max_price: Amount) -> JobSpec {
    let checks = vec![VerifierCheck::MajorityVote { field: "answer".into() }];
    let mut spec = network::job(job_type, VerificationMode::MajorityVote, 3, 2, checks);
    (spec.max_price, spec.timeout_blocks) = (max_price, 60);
    spec.result_schema.max_return_bytes = 1_024;
    spec.result_schema.expected_execution_ms = 1_000;
    spec
}
