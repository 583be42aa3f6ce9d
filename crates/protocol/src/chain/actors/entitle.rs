//! What a running call may do with entitlements: ask for them, and give them as the actor that it is.

use super::host::Host;
use crate::base::codec::Encode;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256};
use crate::rules::entitlements::check::Question;
use crate::rules::entitlements::constraints::Constraints;
use crate::rules::entitlements::price::{CREATE_SCOPE, DELEGATE, GRANT, REVOKE};
use crate::rules::entitlements::scope::{Action, Scope};
use crate::rules::work::Cost;

impl Host<'_, '_> {
    /// The scope that a text names; the actor's own where there is none.
    fn scope(&self, text: &str) -> Result<Scope, Refusal> {
        match text {
            "" => Ok(Scope::Actor { address: self.running.actor }),
            text => text.parse().map_err(|_| Refusal::BadScope),
        }
    }

    /// Holder, action and scope, from texts; the caller if no holder is named.
    fn asked(
        &self,
        who: Option<Address>,
        action: &str,
        scope: &str,
    ) -> Result<(Address, Action, Scope), Refusal> {
        let action = action.parse().map_err(|_| Refusal::BadHostCall)?;
        Ok((who.unwrap_or(self.running.sender), action, self.scope(scope)?))
    }

    fn pay(&mut self, price: Cost, bytes: usize) -> Result<(), Refusal> {
        self.charge(price.cycles, price.cells + bytes as u64)
    }

    /// Whether the named holder, or else the caller, has a right. Changes nothing.
    pub fn entitled(
        &mut self,
        who: Option<Address>,
        action: &str,
        scope: &str,
    ) -> Result<bool, Refusal> {
        let (who, action, scope) = self.asked(who, action, scope)?;
        let height = self.height();
        let amount = Amount::ZERO;
        self.exec.entitled(&Question { who, scope: &scope, action: &action, amount, height })
    }

    /// Checks the right and counts a use. Only in scopes in which the actor decides.
    pub fn use_entitlement(
        &mut self,
        who: Option<Address>,
        action: &str,
        scope: &str,
        amount: Amount,
    ) -> Result<bool, Refusal> {
        let (who, action, scope) = self.asked(who, action, scope)?;
        let (actor, height) = (self.running.actor, self.height());
        let question = Question { who, scope: &scope, action: &action, amount, height };
        self.atomically(|host| host.exec.use_entitlement(actor, &question))
    }

    /// Makes a pool or a namespace that the actor owns.
    pub fn create_scope(&mut self, scope: &str) -> Result<(), Refusal> {
        let scope = self.scope(scope)?;
        self.pay(CREATE_SCOPE, scope.to_bytes().len())?;
        self.atomically(|host| host.exec.create_scope(host.running.actor, &scope))
    }

    /// Grants a right as the authority of the scope. Returns its id.
    pub fn grant(
        &mut self,
        grantee: Address,
        action: &str,
        scope: &str,
        constraints: &Constraints,
    ) -> Result<B256, Refusal> {
        let (grantee, action, scope) = self.asked(Some(grantee), action, scope)?;
        self.pay(GRANT, scope.to_bytes().len() + action.to_bytes().len())?;
        let actor = self.running.actor;
        self.atomically(|host| {
            host.exec.grant_entitlement(actor, grantee, &scope, &action, constraints)
        })
    }

    /// Passes on a part of a right that the actor has. Its id.
    pub fn delegate(
        &mut self,
        entitlement: B256,
        delegatee: Address,
        constraints: &Constraints,
    ) -> Result<B256, Refusal> {
        self.pay(DELEGATE, 0)?;
        let actor = self.running.actor;
        self.atomically(|host| {
            host.exec.delegate_entitlement(actor, entitlement, delegatee, constraints)
        })
    }

    /// Takes a right that the actor gave, or may take, or gives up one that it has.
    pub fn revoke(&mut self, entitlement: B256) -> Result<(), Refusal> {
        self.pay(REVOKE, 0)?;
        self.atomically(|host| host.exec.revoke_entitlement(host.running.actor, entitlement))
    }
}
