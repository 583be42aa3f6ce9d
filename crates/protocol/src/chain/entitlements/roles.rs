//! Roles: rights by the bundle, given and taken as one.
//!
//! A change of a role counts for all of its holders at once: checks read the role, nothing copies it.
//! Uses are counted for each of them. Pools have no roles: a membership is a record of its own.

use crate::base::codec::{Bytes, Encode};
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256};
use crate::chain::execute::Exec;
use crate::rules::actors::price;
use crate::rules::deposit::RECORD_BYTES;
use crate::rules::entitlements::constraints::{Constraints, Used};
use crate::rules::entitlements::record::{Assignment, ROLES_MAX, Role, role_id};
use crate::rules::entitlements::scope::{Action, NAME_BYTES_MAX, Scope, check_pair};
use crate::rules::event::Event;
use crate::rules::key::{AssignedKey, AssignmentKey, RoleKey};

/// Scopes of a role, and actions of one: a check looks through all of them.
const LIST_MAX: usize = 8;

impl Exec<'_> {
    /// EntitlementCreateRole: by the authority of all of its scopes.
    pub(crate) fn create_role(
        &mut self,
        who: Address,
        name: &Bytes,
        scopes: &[Scope],
        actions: &[Action],
        constraints: &Constraints,
    ) -> Result<B256, Refusal> {
        if !(1..=NAME_BYTES_MAX).contains(&name.len()) {
            return Err(Refusal::ScopeNameTooLong);
        }
        if !(1..=LIST_MAX).contains(&scopes.len()) || !(1..=LIST_MAX).contains(&actions.len()) {
            return Err(Refusal::BadRole);
        }
        for scope in scopes {
            if matches!(scope, Scope::RunnerPool { .. }) {
                return Err(Refusal::BadRole);
            }
            actions.iter().try_for_each(|action| check_pair(scope, action))?;
        }
        constraints.check(self.env.height)?;
        if constraints.delegatable {
            return Err(Refusal::BadRole);
        }
        for scope in scopes {
            self.charge(price::READ_CYCLES, 0)?;
            self.only_authority(who, scope)?;
        }
        let key = RoleKey { role: role_id(who, name) };
        if self.state.get(&key).is_some() {
            return Err(Refusal::NameTaken);
        }
        let (scopes, actions) = (scopes.to_vec(), actions.to_vec());
        let constraints = *constraints;
        let deposit = Amount::ZERO;
        let mut role =
            Role { owner: who, name: name.clone(), scopes, actions, constraints, deposit };
        role.deposit = self.deposit_for(RECORD_BYTES + role.to_bytes().len() as u64);
        self.hold(who, role.deposit);
        self.state.put(&key, &role);
        self.emit(Event::RoleCreated { role: key.role, owner: who, name: name.clone() });
        Ok(key.role)
    }

    /// EntitlementAssignRole: by the role's owner.
    pub(crate) fn assign_role(
        &mut self,
        who: Address,
        role: B256,
        assignee: Address,
    ) -> Result<(), Refusal> {
        let record = self.state.get(&RoleKey { role }).ok_or(Refusal::UnknownRole)?;
        if record.owner != who {
            return Err(Refusal::NotYourRole);
        }
        if record.constraints.until() < self.env.height {
            return Err(Refusal::EntitlementLapsed);
        }
        let holder = assignee;
        if self.state.get(&AssignmentKey { holder, role }).is_some() {
            return Err(Refusal::HasRole);
        }
        self.make_room_for_role(holder)?;
        let place = self.holder(holder).roles;
        if place >= ROLES_MAX {
            return Err(Refusal::TooManyRoles);
        }
        self.state.put(&AssignedKey { holder, place }, &role);
        let deposit = self.deposit_for(RECORD_BYTES);
        self.hold(who, deposit);
        let assignment = Assignment { place, used: Used::default(), deposit };
        self.state.put(&AssignmentKey { holder, role }, &assignment);
        self.change_holder(holder, |counters| counters.roles += 1);
        self.emit(Event::RoleAssigned { role, assignee, by: who });
        Ok(())
    }

    /// At the maximum of roles, removes those that have expired.
    fn make_room_for_role(&mut self, holder: Address) -> Result<(), Refusal> {
        let mut place = self.holder(holder).roles;
        while place > 0 && self.holder(holder).roles >= ROLES_MAX {
            place -= 1;
            self.charge(2 * price::READ_CYCLES, 0)?;
            let Some(role) = self.state.get(&AssignedKey { holder, place }) else { continue };
            let Some(record) = self.state.get(&RoleKey { role }) else { continue };
            if record.constraints.until() < self.env.height {
                self.charge(price::write(0) * 4, 0)?;
                self.remove_role(holder, role, record.owner)?;
                self.emit(Event::EntitlementCleared { entitlement: role, grantee: holder });
            }
        }
        Ok(())
    }

    /// EntitlementRevokeRole: by the role's owner, if it can be revoked; by the one who has it always.
    pub(crate) fn revoke_role(
        &mut self,
        who: Address,
        role: B256,
        assignee: Address,
    ) -> Result<(), Refusal> {
        let record = self.state.get(&RoleKey { role }).ok_or(Refusal::UnknownRole)?;
        if who != assignee {
            if record.owner != who {
                return Err(Refusal::NotYourRole);
            }
            if !record.constraints.revocable {
                return Err(Refusal::NotRevocable);
            }
        }
        self.remove_role(assignee, role, record.owner)?;
        self.emit(Event::RoleRevoked { role, assignee, by: who });
        Ok(())
    }

    fn remove_role(&mut self, holder: Address, role: B256, owner: Address) -> Result<(), Refusal> {
        let key = AssignmentKey { holder, role };
        let Assignment { place, deposit, .. } =
            self.state.get(&key).ok_or(Refusal::HasNoSuchRole)?;
        self.give_back(owner, deposit);
        self.state.remove(&key);
        self.change_holder(holder, |counters| counters.roles -= 1);
        let last = AssignedKey { holder, place: self.holder(holder).roles };
        if let Some(moved) = self.state.get(&last).filter(|moved| *moved != role) {
            self.state.put(&AssignedKey { holder, place }, &moved);
            let key = AssignmentKey { holder, role: moved };
            if let Some(other) = self.state.get(&key) {
                self.state.put(&key, &Assignment { place, ..other });
            }
        }
        self.state.remove(&last);
        Ok(())
    }
}
