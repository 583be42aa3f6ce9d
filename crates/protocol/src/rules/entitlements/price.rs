//! What entitlements cost, in cycles and cells (CIP-2 §7.4). What grows with how much somebody holds
//! is charged where it is done.

use crate::rules::work::Cost;

pub const GRANT: Cost = Cost { cycles: 5_000, cells: 500 };
/// A membership is accepted: its place in the pool, and in the profile.
pub const ACCEPT: Cost = Cost { cycles: 3_000, cells: 200 };
pub const REVOKE: Cost = Cost { cycles: 2_000, cells: 100 };
pub const DELEGATE: Cost = Cost { cycles: 3_000, cells: 300 };
pub const CREATE_ROLE: Cost = Cost { cycles: 5_000, cells: 500 };
/// A role is given or taken.
pub const CHANGE_ROLE: Cost = Cost { cycles: 2_000, cells: 100 };
/// A pool or a namespace is made. The seeds have no number for it.
pub const CREATE_SCOPE: Cost = Cost { cycles: 2_000, cells: 300 };
/// A check: the index, a record and its role.
pub const CHECK_CYCLES: u64 = 500;
