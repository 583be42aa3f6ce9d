//! What the state keeps of entitlements.

use super::constraints::{Constraints, Used};
use super::scope::{Action, Scope};
use crate::base::codec::{Bytes, Encode, codec_struct};
use crate::base::primitives::{Address, Amount, B256, keccak256};

/// Records that an address holds, live or lapsed (CIP-2 §7.5).
pub const HELD_MAX: u32 = 256;
/// Roles that an address has (CIP-2 §7.5).
pub const ROLES_MAX: u32 = 64;

/// A right and its grantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entitlement {
    pub granter: Address,
    pub grantee: Address,
    pub scope: Scope,
    pub action: Action,
    pub constraints: Constraints,
    /// The one that it was passed on from.
    pub parent: Option<B256>,
    /// What has been used of it.
    pub used: Used,
    /// Whether it holds: a membership does once its runner has accepted it, every other right at
    /// once.
    pub accepted: bool,
    /// Its place among the grantee's.
    pub held_place: u32,
    /// Its place among the pool's members, if it is a membership.
    pub member_place: u32,
    /// What it is held against: its granter's.
    pub deposit: Amount,
}
codec_struct!(Entitlement {
    granter,
    grantee,
    scope,
    action,
    constraints,
    parent,
    used,
    accepted,
    held_place,
    member_place,
    deposit,
});

impl Entitlement {
    /// The pool that it makes a member of.
    pub fn pool(&self) -> Option<&Bytes> {
        match &self.action {
            Action::RunnerJoinPool { pool } => Some(pool),
            _ => None,
        }
    }
}

/// The id of a record:
/// `keccak256("cowboy-entitlement-v1:" ‖ granter ‖ grantee ‖ keccak256(scope) ‖ keccak256(action) ‖
/// parent_or_zero32 ‖ nonce_be8)`, the nonce being the granter's count of what it gave.
pub fn entitlement_id(record: &Entitlement, nonce: u64) -> B256 {
    let mut bytes = b"cowboy-entitlement-v1:".to_vec();
    record.granter.encode(&mut bytes);
    record.grantee.encode(&mut bytes);
    record.scope.hash().encode(&mut bytes);
    record.action.hash().encode(&mut bytes);
    record.parent.unwrap_or_default().encode(&mut bytes);
    nonce.encode(&mut bytes);
    keccak256(bytes)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    pub held: u32,
    pub roles: u32,
    /// Records that it ever gave.
    pub granted: u64,
}
codec_struct!(Holder { held, roles, granted });

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerPool {
    pub owner: Address,
    /// Its name: what jobs ask for.
    pub id: Bytes,
    pub members: u32,
    /// What it is held against.
    pub deposit: Amount,
}
codec_struct!(RunnerPool { owner, id, members, deposit });

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    pub owner: Address,
    /// What it is held against.
    pub deposit: Amount,
}
codec_struct!(Namespace { owner, deposit });

/// What a pool is kept under.
pub fn pool_hash(id: &[u8]) -> B256 {
    keccak256(id)
}

/// Rights by the bundle: every action in every scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub owner: Address,
    /// What its owner calls it.
    pub name: Bytes,
    pub scopes: Vec<Scope>,
    pub actions: Vec<Action>,
    /// On what conditions, for each that has it.
    pub constraints: Constraints,
    /// What it is held against.
    pub deposit: Amount,
}
codec_struct!(Role { owner, name, scopes, actions, constraints, deposit });

/// The id of a role: `keccak256("cowboy-role-v1:" ‖ owner ‖ keccak256(name))`.
pub fn role_id(owner: Address, name: &[u8]) -> B256 {
    let mut bytes = b"cowboy-role-v1:".to_vec();
    owner.encode(&mut bytes);
    keccak256(name).encode(&mut bytes);
    keccak256(bytes)
}

/// A role and its holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Its place among the holder's roles.
    pub place: u32,
    /// What has been used of it.
    pub used: Used,
    /// What it is held against: the role's owner's.
    pub deposit: Amount,
}
codec_struct!(Assignment { place, used, deposit });
