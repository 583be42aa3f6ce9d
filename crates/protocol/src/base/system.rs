//! Addresses of the system actors: 19 zero bytes and a number (SPEC §3).
//!
//! Consensus: a change here forks the chain.

use crate::base::primitives::Address;

pub const RUNNER_REGISTRY: Address = Address::with_last_byte(0x01);
pub const JOB_DISPATCHER: Address = Address::with_last_byte(0x02);
pub const RESULT_VERIFIER: Address = Address::with_last_byte(0x03);
pub const SECRETS_MANAGER: Address = Address::with_last_byte(0x04);
pub const TEE_VERIFIER: Address = Address::with_last_byte(0x05);
/// `DUAL_BASEFEE` (CIP-3).
pub const BASEFEES: Address = Address::with_last_byte(0x06);
pub const ENTITLEMENT_REGISTRY: Address = Address::with_last_byte(0x07);
/// Treasury; its balance is an ordinary one.
pub const TREASURY: Address = Address::with_last_byte(0x08);
/// `GOVERNANCE_SYSTEM_ACTOR` (CIP-2).
pub const GOVERNANCE: Address = Address::with_last_byte(0x09);

/// Whether an address is reserved for system actors.
pub fn is_system(address: Address) -> bool {
    address[..19].iter().all(|byte| *byte == 0)
}
