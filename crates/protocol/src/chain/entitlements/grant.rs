//! Granting, passing on and revoking.

use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256};
use crate::chain::execute::Exec;
use crate::rules::entitlements::constraints::{Constraints, Used};
use crate::rules::entitlements::record::Entitlement;
use crate::rules::entitlements::scope::{Action, Scope, check_pair};
use crate::rules::event::Event;

impl Exec<'_> {
    /// EntitlementGrant: by the scope's authority. Returns the id.
    pub(crate) fn grant_entitlement(
        &mut self,
        who: Address,
        grantee: Address,
        scope: &Scope,
        action: &Action,
        constraints: &Constraints,
    ) -> Result<B256, Refusal> {
        check_pair(scope, action)?;
        constraints.check(self.env.height)?;
        self.only_authority(who, scope)?;
        if matches!(scope, Scope::RunnerPool { .. }) {
            if !constraints.is_plain() {
                return Err(Refusal::BadMembership);
            }
            self.registered(grantee)?;
        }
        self.file_entitlement(Entitlement {
            granter: who,
            grantee,
            scope: scope.clone(),
            action: action.clone(),
            constraints: *constraints,
            parent: None,
            used: Used::default(),
            // The pool owner's own runner needs no consent.
            accepted: !matches!(scope, Scope::RunnerPool { .. }) || who == grantee,
            held_place: 0,
            member_place: 0,
            deposit: Amount::ZERO,
        })
    }

    /// EntitlementAccept: by the runner that a membership was granted to. Nobody is put into a pool
    /// without its consent: its owner could order work that only that runner may be drawn for.
    pub(crate) fn accept_entitlement(&mut self, who: Address, id: B256) -> Result<(), Refusal> {
        let mut record = self.entitlement(id)?;
        if record.grantee != who {
            return Err(Refusal::NotYourEntitlement);
        }
        if record.accepted {
            return Err(Refusal::AcceptedAlready);
        }
        if self.has_lapsed(id)? {
            return Err(Refusal::EntitlementLapsed);
        }
        self.registered(who)?;
        self.accept_membership(id, &mut record)?;
        self.emit(Event::MembershipAccepted { entitlement: id, runner: who });
        Ok(())
    }

    fn file_entitlement(&mut self, record: Entitlement) -> Result<B256, Refusal> {
        self.make_room(&record)?;
        let Entitlement { granter, grantee, scope, action, parent, .. } = record.clone();
        let entitlement = self.insert_entitlement(record)?;
        self.emit(Event::EntitlementGranted {
            entitlement,
            granter,
            grantee,
            scope,
            action,
            parent,
        });
        Ok(entitlement)
    }

    /// EntitlementDelegate: by the grantee, no wider than it has it. Its id.
    pub(crate) fn delegate_entitlement(
        &mut self,
        who: Address,
        id: B256,
        delegatee: Address,
        constraints: &Constraints,
    ) -> Result<B256, Refusal> {
        let parent = self.entitlement(id)?;
        if parent.grantee != who {
            return Err(Refusal::NotYourEntitlement);
        }
        if self.has_lapsed(id)? {
            return Err(Refusal::EntitlementLapsed);
        }
        constraints.check(self.env.height)?;
        if !parent.constraints.delegatable {
            return Err(Refusal::NotDelegatable);
        }
        if constraints.delegation_depth_max >= parent.constraints.delegation_depth_max {
            return Err(Refusal::DelegationTooDeep);
        }
        if !constraints.within(&parent.constraints) {
            return Err(Refusal::DelegationTooWide);
        }
        self.file_entitlement(Entitlement {
            granter: who,
            grantee: delegatee,
            constraints: *constraints,
            parent: Some(id),
            used: Used::default(),
            ..parent
        })
    }

    /// EntitlementRevoke: by the granter or the scope's authority if it can be revoked, by the grantee
    /// always, by any account once it has lapsed.
    pub(crate) fn revoke_entitlement(&mut self, who: Address, id: B256) -> Result<(), Refusal> {
        let record = self.entitlement(id)?;
        if who != record.grantee && !self.has_lapsed(id)? {
            if who != record.granter {
                let decides = self.only_authority(who, &record.scope);
                decides.map_err(|_| Refusal::NotYourEntitlement)?;
            }
            if !record.constraints.revocable {
                return Err(Refusal::NotRevocable);
            }
        }
        self.remove_entitlement(id, &record)?;
        let grantee = record.grantee;
        self.emit(Event::EntitlementRevoked { entitlement: id, grantee, by: who });
        Ok(())
    }
}
