//! The first state of a chain.
//!
//! Consensus: a change here forks the chain.

use crate::base::account::Account;
use crate::base::codec::{Bytes, Encode, codec_struct};
use crate::base::primitives::{Address, Amount, B256, Height, Slot, keccak256};
use crate::base::state::{Key, StateKey, Value};
use crate::base::system::is_system;
use crate::chain::memory::MemoryState;
use crate::rules::agenda::Cursor;
use crate::rules::beacon::{Round, genesis_beacon};
use crate::rules::fees::Basefees;
use crate::rules::key::{
    AccountKey, BasefeesKey, BeaconKey, ChainKey, EpochCommitteeKey, PinnedExecutorKey, SupplyKey,
    SystemDeployersKey, TimerConfigKey, TimerLaneKey, ValidatorsKey,
};
use crate::rules::params::{ChainParams, ParamError};
use crate::rules::timers::config::TimerConfig;
use crate::rules::timers::record::TimerLane;
pub use crate::rules::tip::VALIDATORS_MAX;
use crate::rules::tip::{ChainState, EpochCommittee, Supply, Validator};
use std::collections::BTreeMap;
use thiserror::Error;

/// The supply at most. Weights are stake times at most 1.5 · 10^9, so their sum fits into 128 bits.
pub const SUPPLY_MAX: Amount = Amount(1 << 96);

/// System deployers at most: every call of theirs reads the list.
pub const SYSTEM_DEPLOYERS_MAX: usize = 16;

/// What a chain starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    pub params: ChainParams,
    pub timestamp_ms: u64,
    /// Balances, ascending by address.
    pub balances: Vec<(Address, Amount)>,
    /// Executors that governance vouches for from the start.
    pub pinned_executors: Vec<B256>,
    /// Who may cancel and extend any timer and tune the limits on timers; ascending.
    pub system_deployers: Vec<Address>,
    /// Who makes blocks; ascending by key. Their places in this list are their numbers.
    pub validators: Vec<Validator>,
    /// The validators' public threshold key, in the encoding of the consensus engine.
    pub threshold_key: Bytes,
}

/// Why a genesis cannot start a chain.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GenesisError {
    /// A parameter is out of range.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// An account twice, or out of order.
    #[error("balances must be ascending by address")]
    NotAscending,
    /// Validators missing, twice, or out of order.
    #[error("between 1 and {VALIDATORS_MAX} validators, ascending by key")]
    BadValidators,
    /// A validator could not receive tips.
    #[error(
        "validator {0} has no fee recipient: name an account, not a system actor, to receive its tips"
    )]
    NoFeeRecipient(usize),
    /// System deployers twice, out of order, or too many.
    #[error("at most {SYSTEM_DEPLOYERS_MAX} system deployers, ascending by address")]
    BadSystemDeployers,
    #[error("the balances add up to more than {SUPPLY_MAX} base units")]
    TooMuchMoney,
}

/// What the genesis hash covers besides the parameters.
struct Contents {
    params_hash: B256,
    timestamp_ms: u64,
    balances: Vec<(Address, Amount)>,
    pinned_executors: Vec<B256>,
    system_deployers: Vec<Address>,
    validators: Vec<Validator>,
    threshold_key: Bytes,
}
codec_struct!(Contents {
    params_hash,
    timestamp_ms,
    balances,
    pinned_executors,
    system_deployers,
    validators,
    threshold_key,
});

impl Genesis {
    /// Names the chain's beginning; covers everything in it.
    pub fn hash(&self) -> B256 {
        let contents = Contents {
            params_hash: self.params.hash(),
            timestamp_ms: self.timestamp_ms,
            balances: self.balances.clone(),
            pinned_executors: self.pinned_executors.clone(),
            system_deployers: self.system_deployers.clone(),
            validators: self.validators.clone(),
            threshold_key: self.threshold_key.clone(),
        };
        let mut bytes = b"cowboy-genesis-v1:".to_vec();
        bytes.extend_from_slice(&self.params.chain_id.to_be_bytes());
        contents.encode(&mut bytes);
        keccak256(bytes)
    }

    /// The state at height 0.
    pub fn state(&self) -> Result<MemoryState, GenesisError> {
        Ok(MemoryState::new(self.entries()?, &self.params))
    }

    /// The entries of the state at height 0.
    pub fn entries(&self) -> Result<BTreeMap<Key, Value>, GenesisError> {
        self.params.validate()?;
        if !self.balances.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            return Err(GenesisError::NotAscending);
        }
        let ascending = self.validators.windows(2).all(|pair| pair[0].key < pair[1].key);
        if !ascending || !(1..=VALIDATORS_MAX).contains(&self.validators.len()) {
            return Err(GenesisError::BadValidators);
        }
        let nobody = |validator: &Validator| is_system(validator.fee_recipient);
        if let Some(index) = self.validators.iter().position(nobody) {
            return Err(GenesisError::NoFeeRecipient(index));
        }
        let deployers = &self.system_deployers;
        if deployers.len() > SYSTEM_DEPLOYERS_MAX || !deployers.is_sorted_by(|a, b| a < b) {
            return Err(GenesisError::BadSystemDeployers);
        }
        let mut entries = BTreeMap::new();
        let mut total = Amount::ZERO;
        for (address, balance) in &self.balances {
            total = total.plus(*balance).ok_or(GenesisError::TooMuchMoney)?;
            let account = Account { balance: *balance, ..Account::default() };
            insert(&mut entries, &AccountKey { address: *address }, &account);
        }
        if total > SUPPLY_MAX {
            return Err(GenesisError::TooMuchMoney);
        }
        for hash in &self.pinned_executors {
            insert(&mut entries, &PinnedExecutorKey { hash: *hash }, &true);
        }
        if !deployers.is_empty() {
            insert(&mut entries, &SystemDeployersKey {}, deployers);
        }
        self.insert_chain(&mut entries, total);
        Ok(entries)
    }

    fn insert_chain(&self, entries: &mut BTreeMap<Key, Value>, total: Amount) {
        let genesis_hash = self.hash();
        let chain = ChainState {
            genesis_hash,
            height: Height::ZERO,
            round: Round { epoch: 0, view: 0 },
            timestamp_ms: self.timestamp_ms,
            newest_seed: 0,
            next_slot: Slot::ZERO,
            pending_head: 0,
            pending_tail: 0,
            retries_head: 0,
            retries_tail: 0,
            calls_head: 0,
            calls_tail: 0,
            roster_changes: 0,
            warm_nodes: 0,
            agenda: Cursor { height: Height(1), index: 0 },
        };
        let fee = self.params.initial_basefee.max(self.params.min_basefee);
        let committee =
            EpochCommittee { active: 0, hhi_nano: None, m_adaptive: self.params.m_min.max(3) };
        insert(entries, &ChainKey {}, &chain);
        insert(entries, &ValidatorsKey {}, &self.validators);
        insert(entries, &SupplyKey {}, &Supply { total, burned: Amount::ZERO });
        insert(entries, &BasefeesKey {}, &Basefees { cycle: fee, cell: fee });
        insert(entries, &EpochCommitteeKey {}, &committee);
        insert(entries, &TimerLaneKey {}, &TimerLane::default());
        insert(entries, &TimerConfigKey {}, &TimerConfig::GENESIS);
        insert(entries, &BeaconKey { view: 0 }, &genesis_beacon(genesis_hash));
    }
}

fn insert<K: StateKey>(entries: &mut BTreeMap<Key, Value>, key: &K, value: &K::Value) {
    entries.insert(key.bytes(), value.to_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn genesis() -> Genesis {
        Genesis {
            params: ChainParams::development(),
            timestamp_ms: 0,
            balances: Vec::new(),
            pinned_executors: Vec::new(),
            system_deployers: Vec::new(),
            validators: vec![Validator { key: [1; 32], fee_recipient: Address::repeat_byte(0xfe) }],
            threshold_key: Bytes::default(),
        }
    }

    #[test]
    fn a_validator_whose_tips_go_to_nobody_is_refused() {
        assert!(genesis().entries().is_ok());
        for nobody in [Address::ZERO, Address::with_last_byte(0x14)] {
            let mut genesis = genesis();
            genesis.validators.push(Validator { key: [2; 32], fee_recipient: nobody });
            assert_eq!(genesis.entries().unwrap_err(), GenesisError::NoFeeRecipient(1));
        }
    }

    #[test]
    fn system_deployers_are_few_in_order_and_part_of_the_hash() {
        let with = |system_deployers| Genesis { system_deployers, ..genesis() };
        let some = |count: u8| (0..count).map(Address::repeat_byte).collect::<Vec<_>>();
        let key = SystemDeployersKey {}.bytes();
        assert!(!with(some(0)).entries().unwrap().contains_key(&key));
        assert_eq!(with(some(2)).entries().unwrap()[&key], some(2).to_bytes());
        assert_ne!(with(some(2)).hash(), with(some(1)).hash());
        assert!(with(some(16)).entries().is_ok());
        let twice = vec![Address::ZERO; 2];
        for wrong in [some(17), twice, some(2).into_iter().rev().collect()] {
            assert_eq!(with(wrong).entries().unwrap_err(), GenesisError::BadSystemDeployers);
        }
    }
}
