//! Records in and out of their indexes: the grantee's table, the rights that it is found by, the
//! members of a pool, and the profile that selection reads.
//!
//! Lists are kept by place, and the last one moves into a gap, so that every change is a handful
//! of records however long a list is.

use super::check::reach;
use crate::base::codec::Encode;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256};
use crate::chain::execute::Exec;
use crate::rules::actors::price;
use crate::rules::deposit::RECORD_BYTES;
use crate::rules::entitlements::check::is_dead;
use crate::rules::entitlements::constraints::DEPTH_MAX;
use crate::rules::entitlements::record::{
    Entitlement, HELD_MAX, Holder, entitlement_id, pool_hash,
};
use crate::rules::entitlements::scope::right;
use crate::rules::event::Event;
use crate::rules::key::{EntitlementKey, HeldKey, HolderKey, PoolKey, PoolMemberKey, RightKey};
use crate::rules::registry::runner::Membership;

/// Records that a grant looks at to see whether they have lapsed: of the same right, and of a table
/// that is full. A grant's work is bounded; any account may revoke the lapsed ones that it does not find.
const TOUCHED_MAX: usize = 8;
/// Bytes of a membership in a runner's profile.
const MEMBERSHIP_BYTES: usize = 48;
/// Lapsed records of the same right that a grant removes.
const CLEARED_MAX: usize = 2;

impl Exec<'_> {
    pub(super) fn holder(&self, address: Address) -> Holder {
        self.state.get(&HolderKey { address }).unwrap_or_default()
    }

    fn put_holder(&mut self, address: Address, holder: &Holder) {
        let key = HolderKey { address };
        // A granter's counter stays: it keeps ids unique.
        if *holder == Holder::default() {
            self.state.remove(&key);
        } else {
            self.state.put(&key, holder);
        }
    }

    pub(super) fn change_holder(&mut self, address: Address, change: impl FnOnce(&mut Holder)) {
        let mut holder = self.holder(address);
        change(&mut holder);
        self.put_holder(address, &holder);
    }

    pub(super) fn entitlement(&self, id: B256) -> Result<Entitlement, Refusal> {
        self.state.get(&EntitlementKey { entitlement: id }).ok_or(Refusal::UnknownEntitlement)
    }

    /// Makes sure that a grantee can hold one record more. Touches the oldest records of the same
    /// right, and the newest of the table if that is full; those that have lapsed go.
    pub(super) fn make_room(&mut self, record: &Entitlement) -> Result<(), Refusal> {
        let holder = record.grantee;
        let key = RightKey { holder, right: right(&record.scope, &record.action) };
        let mut cleared = 0;
        for id in self.state.get(&key).unwrap_or_default().into_iter().take(TOUCHED_MAX) {
            cleared += usize::from(cleared < CLEARED_MAX && self.clear_if_dead(id)?);
        }
        let held = self.holder(holder).held;
        if held < HELD_MAX {
            return Ok(());
        }
        for place in (0..held).rev().take(TOUCHED_MAX) {
            self.charge(price::READ_CYCLES, 0)?;
            let id = self.state.get(&HeldKey { holder, place });
            if let Some(id) = id
                && self.clear_if_dead(id)?
            {
                return Ok(());
            }
        }
        Err(Refusal::TooManyHeld)
    }

    /// Whether a record can never be used again.
    pub(super) fn has_lapsed(&mut self, id: B256) -> Result<bool, Refusal> {
        let chain = reach(&self.state, id);
        let reads = chain.as_ref().map_or(DEPTH_MAX.into(), |chain| chain.len() as u64);
        self.charge(reads * price::READ_CYCLES, 0)?;
        Ok(is_dead(chain.as_deref(), self.env.height))
    }

    fn clear_if_dead(&mut self, id: B256) -> Result<bool, Refusal> {
        if !self.has_lapsed(id)? {
            return Ok(false);
        }
        let record = self.entitlement(id)?;
        self.charge(price::write(0) * 4, 0)?;
        self.remove_entitlement(id, &record)?;
        self.emit(Event::EntitlementCleared { entitlement: id, grantee: record.grantee });
        Ok(true)
    }

    /// Writes a new record; its id.
    pub(super) fn insert_entitlement(&mut self, mut record: Entitlement) -> Result<B256, Refusal> {
        // A record that was passed on is held for itself.
        record.deposit = Amount::ZERO;
        record.deposit = self.deposit_for(RECORD_BYTES + record.to_bytes().len() as u64);
        self.hold(record.granter, record.deposit);
        let mut nonce = 0;
        self.change_holder(record.granter, |holder| {
            nonce = holder.granted;
            holder.granted += 1;
        });
        let id = entitlement_id(&record, nonce);
        let holder = record.grantee;
        self.change_holder(holder, |counters| {
            record.held_place = counters.held;
            counters.held += 1;
        });
        self.state.put(&HeldKey { holder, place: record.held_place }, &id);
        let key = RightKey { holder, right: right(&record.scope, &record.action) };
        let mut ids = self.state.get(&key).unwrap_or_default();
        ids.push(id);
        self.charge(ids.len() as u64 * 32 / price::WRITE_BYTES_PER_CYCLE, 0)?;
        self.state.put(&key, &ids);
        if record.accepted {
            self.enter_pool(id, &mut record)?;
        }
        self.state.put(&EntitlementKey { entitlement: id }, &record);
        Ok(id)
    }

    /// A membership holds from now on.
    pub(super) fn accept_membership(
        &mut self,
        id: B256,
        record: &mut Entitlement,
    ) -> Result<(), Refusal> {
        record.accepted = true;
        self.enter_pool(id, record)?;
        self.state.put(&EntitlementKey { entitlement: id }, record);
        Ok(())
    }

    /// Removes a record. What was passed on from it ends with it, without being touched.
    pub(super) fn remove_entitlement(
        &mut self,
        id: B256,
        record: &Entitlement,
    ) -> Result<(), Refusal> {
        self.state.remove(&EntitlementKey { entitlement: id });
        self.give_back(record.granter, record.deposit);
        let holder = record.grantee;
        let mut counters = self.holder(holder);
        counters.held -= 1;
        self.put_holder(holder, &counters);
        let last = HeldKey { holder, place: counters.held };
        if let Some(moved) = self.state.get(&last).filter(|moved| *moved != id) {
            self.state.put(&HeldKey { holder, place: record.held_place }, &moved);
            self.change_entitlement(moved, |other| other.held_place = record.held_place);
        }
        self.state.remove(&last);
        let key = RightKey { holder, right: right(&record.scope, &record.action) };
        let mut ids = self.state.get(&key).unwrap_or_default();
        ids.retain(|other| *other != id);
        self.charge(ids.len() as u64 * 32 / price::WRITE_BYTES_PER_CYCLE, 0)?;
        if ids.is_empty() {
            self.state.remove(&key);
        } else {
            self.state.put(&key, &ids);
        }
        if record.accepted { self.leave_pool(id, record) } else { Ok(()) }
    }

    fn change_entitlement(&mut self, id: B256, change: impl FnOnce(&mut Entitlement)) {
        let key = EntitlementKey { entitlement: id };
        if let Some(mut record) = self.state.get(&key) {
            change(&mut record);
            self.state.put(&key, &record);
        }
    }

    fn enter_pool(&mut self, id: B256, record: &mut Entitlement) -> Result<(), Refusal> {
        let Some(pool) = record.pool().map(|id| pool_hash(id)) else { return Ok(()) };
        let mut members = self.state.get(&PoolKey { pool }).ok_or(Refusal::UnknownPool)?;
        record.member_place = members.members;
        self.state.put(&PoolMemberKey { pool, place: members.members }, &id);
        members.members += 1;
        self.state.put(&PoolKey { pool }, &members);
        let membership = membership(pool, record);
        self.change_memberships(record.grantee, |pools| {
            let place = pools.partition_point(|other| *other < membership);
            pools.insert(place, membership);
        })
    }

    fn leave_pool(&mut self, id: B256, record: &Entitlement) -> Result<(), Refusal> {
        let Some(pool) = record.pool().map(|id| pool_hash(id)) else { return Ok(()) };
        let mut members = self.state.get(&PoolKey { pool }).ok_or(Refusal::UnknownPool)?;
        members.members -= 1;
        self.state.put(&PoolKey { pool }, &members);
        let last = PoolMemberKey { pool, place: members.members };
        if let Some(moved) = self.state.get(&last).filter(|moved| *moved != id) {
            self.state.put(&PoolMemberKey { pool, place: record.member_place }, &moved);
            self.change_entitlement(moved, |other| other.member_place = record.member_place);
        }
        self.state.remove(&last);
        let membership = membership(pool, record);
        self.change_memberships(record.grantee, |pools| {
            // One of those that are alike; one that has lapsed may have gone before.
            if let Some(place) = pools.iter().position(|other| *other == membership) {
                pools.remove(place);
            }
        })
    }

    /// Writes what selection reads of a runner's memberships, without those that have lapsed.
    fn change_memberships(
        &mut self,
        runner: Address,
        change: impl FnOnce(&mut Vec<Membership>),
    ) -> Result<(), Refusal> {
        let mut profile = self.profile(runner).ok_or(Refusal::UnknownRunner)?;
        change(&mut profile.pools);
        let height = self.env.height;
        profile.pools.retain(|membership| membership.valid_until >= height);
        // Jobs that wait for their draw keep a few older versions alive.
        self.charge(price::write(profile.pools.len() * MEMBERSHIP_BYTES * 4), 0)?;
        self.put_profile(runner, profile);
        Ok(())
    }
}

fn membership(pool: B256, record: &Entitlement) -> Membership {
    let (valid_from, valid_until) = (record.constraints.from(), record.constraints.until());
    Membership { pool, valid_from, valid_until }
}
