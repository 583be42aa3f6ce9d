//! Entitlements in JSON. Scopes and actions are text: `pool:trusted`, `RunnerJoinPool:trusted`.

use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint, string_scalar};
use super::view::{ToView, view};
use core::fmt;
use remuda_protocol::entitlements::constraints::{Constraints, RateLimit};
use remuda_protocol::entitlements::record::{Assignment, Entitlement, Role, RunnerPool, pool_hash};
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::entitlements::text::{self, Name, NoAction, NoScope};
use remuda_protocol::primitives::B256;
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use thiserror::Error;
use utoipa::ToSchema;

/// A scope: `global`, `actor:0x…`, `runner:0x…`, `pool:<name>` or `namespace:<name>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeText(pub Scope);
string_scalar!(
    ScopeText,
    "global, actor:0x…, token:0x…, runner:0x…, pool:<name> or namespace:<name>",
    "^(global|(actor|token|runner|pool|namespace):.+)$"
);

/// An action: a name of CIP-2, with what it is about after a colon, or any other text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionText(pub Action);
string_scalar!(ActionText, "a name of CIP-2, or any other text", "^.+$");

/// The name of a pool: its text, or 0x and hex digits where it is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolName(pub Vec<u8>);
string_scalar!(PoolName, "a text, or bytes as hex", "^.+$");

/// A text that begins with 0x and goes on with something else than bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a pool is named by a text, or by 0x and two hex digits for each byte")]
pub struct NoName;

macro_rules! text_scalar {
    ($name:ident, $error:ty) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
        impl FromStr for $name {
            type Err = $error;
            fn from_str(text: &str) -> Result<Self, $error> {
                text.parse().map(Self)
            }
        }
    };
}
text_scalar!(ScopeText, NoScope);
text_scalar!(ActionText, NoAction);

impl fmt::Display for PoolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Name(&self.0).fmt(f)
    }
}
impl FromStr for PoolName {
    type Err = NoName;
    fn from_str(text: &str) -> Result<Self, NoName> {
        text::name(text).filter(|name| !name.is_empty()).map(|name| Self(name.0)).ok_or(NoName)
    }
}

impl ToView for Scope {
    type View = ScopeText;
    fn to_view(&self) -> ScopeText {
        ScopeText(self.clone())
    }
}
impl ToView for Action {
    type View = ActionText;
    fn to_view(&self) -> ActionText {
        ActionText(self.clone())
    }
}

view! {
    /// So many uses in so many blocks.
    #[derive(Copy)]
    pub struct RateLimitView of RateLimit {
        /// Uses allowed in a window.
        max_uses: Uint,
        /// Length of a window.
        window_blocks: Uint,
    }
}

view! {
    /// Conditions of a right.
    #[derive(Copy)]
    pub struct ConstraintsView of Constraints {
        /// First height at which it counts.
        valid_from: Option<Uint>,
        /// Last height at which it counts.
        valid_until: Option<Uint>,
        /// Uses; 0 for any number.
        max_uses: Uint,
        /// Amount of a single use.
        max_amount_per_use: Option<BigUint>,
        /// Amount of all uses together.
        max_total_amount: Option<BigUint>,
        /// Uses allowed per window of blocks.
        rate_limit: Option<RateLimitView>,
        /// Whether parts of it may be passed on.
        delegatable: bool,
        /// Delegations below it, one under the other.
        delegation_depth_max: u32,
        /// Whether others than the grantee may end it.
        revocable: bool,
    }
}

/// A right that somebody has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntitlementView {
    pub id: HexHash,
    pub granter: HexAddress,
    pub grantee: HexAddress,
    /// Where the action is allowed.
    pub scope: ScopeText,
    pub action: ActionText,
    pub constraints: ConstraintsView,
    /// The one that it was passed on from.
    pub parent: Option<HexHash>,
    /// How often it was used.
    pub used_count: Uint,
    /// Sum of the amounts of all uses.
    pub total_amount_used: BigUint,
    /// Whether it holds: a membership does once its runner has accepted it.
    pub accepted: bool,
    /// Whether it can be used in the next block: it and all that it was passed on from hold.
    pub live: bool,
}

impl EntitlementView {
    /// A record as the state has it.
    pub fn new(id: B256, record: &Entitlement, live: bool) -> Self {
        Self {
            id: HexHash(id),
            granter: record.granter.to_view(),
            grantee: record.grantee.to_view(),
            scope: record.scope.to_view(),
            action: record.action.to_view(),
            constraints: record.constraints.to_view(),
            parent: record.parent.to_view(),
            used_count: record.used.count.to_view(),
            total_amount_used: record.used.total.to_view(),
            accepted: record.accepted,
            live,
        }
    }
}

/// A role that somebody has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoleView {
    pub id: HexHash,
    /// Account that created the role and assigns it.
    pub owner: HexAddress,
    /// What its owner calls it.
    pub name: HexBytes,
    /// Where the actions are allowed.
    pub scopes: Vec<ScopeText>,
    pub actions: Vec<ActionText>,
    pub constraints: ConstraintsView,
    /// How often this one used it.
    pub used_count: Uint,
    /// Sum of the amounts of all uses.
    pub total_amount_used: BigUint,
}

impl RoleView {
    /// A role as somebody has it.
    pub fn new(id: B256, role: &Role, assignment: &Assignment) -> Self {
        Self {
            id: HexHash(id),
            owner: role.owner.to_view(),
            name: role.name.to_view(),
            scopes: role.scopes.to_view(),
            actions: role.actions.to_view(),
            constraints: role.constraints.to_view(),
            used_count: assignment.used.count.to_view(),
            total_amount_used: assignment.used.total.to_view(),
        }
    }
}

/// What an address may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntitlementsView {
    /// Holder of the rights.
    pub address: HexAddress,
    /// Its rights, live and lapsed.
    pub entitlements: Vec<EntitlementView>,
    pub roles: Vec<RoleView>,
    /// The height that all of this is from.
    pub height: Uint,
}

/// A pool of runners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PoolView {
    /// Its name, as text where it is one.
    pub name: PoolName,
    /// The same in hex: a job's `required_runner_pool`.
    pub id: HexBytes,
    /// What it is kept under.
    pub hash: HexHash,
    /// Account that grants and revokes memberships.
    pub owner: HexAddress,
    /// Number of memberships, live and lapsed.
    pub members: u32,
    /// One page of memberships.
    pub memberships: Vec<EntitlementView>,
    /// What to ask for next with `after`, if there are more.
    pub next: Option<u32>,
    /// The height that all of this is from.
    pub height: Uint,
}

impl PoolView {
    /// A pool as the state has it.
    pub fn new(pool: &RunnerPool, memberships: Vec<EntitlementView>, height: Uint) -> Self {
        Self {
            name: PoolName(pool.id.0.clone()),
            id: pool.id.to_view(),
            hash: HexHash(pool_hash(&pool.id)),
            owner: pool.owner.to_view(),
            members: pool.members,
            memberships,
            next: None,
            height,
        }
    }
}
