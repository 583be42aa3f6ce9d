//! The address of an actor.

use crate::base::primitives::{Address, B256, keccak256};

/// No method at all: the program's body runs, and nothing is called. Callers cannot name it.
pub const BODY: &str = "";

/// Last 20 bytes of `keccak256("cowboy-actor-v1:" ‖ deployer ‖ salt ‖ keccak256(code))`: known before
/// it is deployed, and bound to the code.
pub fn actor_address(deployer: Address, salt: B256, code: &str) -> Address {
    let mut bytes = b"cowboy-actor-v1:".to_vec();
    bytes.extend_from_slice(deployer.as_slice());
    bytes.extend_from_slice(salt.as_slice());
    bytes.extend_from_slice(keccak256(code).as_slice());
    Address::from_word(keccak256(bytes))
}
