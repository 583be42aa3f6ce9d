//! The Entitlement Registry (0x07): who may do what, by whose word (CIP-2 §7, SPEC §10).
//!
//! Consensus: a change here forks the chain.
//!
//! One record says: this grantee may do this action in this scope, under these constraints. Every
//! scope has an authority that grants in it; who holds a record that may be passed on delegates
//! parts of it.
//!
//! ```text
//! grant    authority(scope) says yes → record, root of a chain
//! delegate grantee of a live parent  → record below it: no constraint wider, depth strictly less
//! revoke   granter, authority or the grantee itself → the record is removed, and nothing else
//! check    some record of (grantee, scope, action or All) is live, up to its root
//! use      one use is counted on every record up to the root
//! ```
//!
//! **Revoking walks nowhere.** A record is live if it and all of its ancestors are there and hold at
//! this height. A chain has at most [`constraints::DEPTH_MAX`] delegations, so that a check reads
//! a handful of records, and a removed parent ends everything below it in the same moment. Ids
//! are never given twice, so what hangs on a removed parent never comes back to life.
//!
//! **Memberships** of runner pools are what selection reads: a root record, never delegated and
//! never used up, mirrored in the runner's profile, where filter 7 and the roster's indexes find it.
//! A draw reads nothing of this module. [`record::RunnerPool`] counts a pool's members, and
//! they are listed by place.
//!
//! **Lapsed records** stay until a write touches them: a grant looks at a few of the same right, and
//! at a few of the grantee's if its table is full; anybody may revoke one. Checks never write.
//!
//! # Layout
//! - [`scope`], [`text`]: scopes and actions, and how they are written as text
//! - [`constraints`]: how long, how often, how much, how far
//! - [`record`]: what the state keeps
//! - [`check`]: what a record or a role allows
//! - [`price`]: what it costs
//!
//! In `chain/entitlements`:
//! - `authority`: who may grant where; pools and namespaces
//! - `table`: records in and out of their indexes
//! - `grant`: grant, delegate, revoke
//! - `check`: reading and using
//! - `roles`: rights by the bundle
//!
//! What this does not have: tokens (there are none on this chain), and the actions that
//! no part of this chain asks for. They have numbers, and are refused.

pub(crate) mod check;
pub mod constraints;
pub mod price;
pub mod record;
pub mod scope;
pub mod text;
