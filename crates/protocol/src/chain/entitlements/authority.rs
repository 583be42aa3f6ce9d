//! Who may grant where, and how pools and namespaces come to be (SPEC §10).

use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, keccak256};
use crate::chain::execute::Exec;
use crate::rules::deposit::RECORD_BYTES;
use crate::rules::entitlements::record::{Namespace, RunnerPool, pool_hash};
use crate::rules::entitlements::scope::Scope;
use crate::rules::event::Event;
use crate::rules::key::{ActorKey, NamespaceKey, PoolKey};

impl Exec<'_> {
    /// Creates a pool or a namespace. The first creator owns it.
    pub(crate) fn create_scope(&mut self, who: Address, scope: &Scope) -> Result<(), Refusal> {
        scope.check_length()?;
        match scope {
            Scope::RunnerPool { id } => {
                let key = PoolKey { pool: pool_hash(id) };
                if self.state.get(&key).is_some() {
                    return Err(Refusal::NameTaken);
                }
                let deposit = self.hold_name(who, id);
                let pool = RunnerPool { owner: who, id: id.clone(), members: 0, deposit };
                self.state.put(&key, &pool);
                self.emit(Event::PoolCreated { pool: key.pool, id: id.clone(), owner: who });
            }
            Scope::Namespace { name } => {
                let key = NamespaceKey { namespace: keccak256(&name[..]) };
                if self.state.get(&key).is_some() {
                    return Err(Refusal::NameTaken);
                }
                let deposit = self.hold_name(who, name);
                self.state.put(&key, &Namespace { owner: who, deposit });
                self.emit(Event::NamespaceCreated { name: name.clone(), owner: who });
            }
            _ => return Err(Refusal::NothingToCreate),
        }
        Ok(())
    }

    /// Nothing removes a pool or a namespace, so this deposit stays.
    fn hold_name(&mut self, who: Address, name: &[u8]) -> Amount {
        let deposit = self.deposit_for(RECORD_BYTES + name.len() as u64);
        self.hold(who, deposit);
        deposit
    }

    /// Whether `who` decides in a scope.
    pub(super) fn only_authority(&self, who: Address, scope: &Scope) -> Result<(), Refusal> {
        let decides = match scope {
            Scope::Global => self.is_system_deployer(who),
            Scope::Actor { address } => {
                let actor = self.state.get(&ActorKey { actor: *address });
                let actor = actor.ok_or(Refusal::NoCode)?;
                who == *address || who == actor.owner
            }
            Scope::Token { .. } => return Err(Refusal::ScopeUnavailable),
            Scope::Runner { address } => {
                self.registered(*address)?;
                who == *address
            }
            Scope::RunnerPool { id } => {
                let pool = self.state.get(&PoolKey { pool: pool_hash(id) });
                let pool = pool.ok_or(Refusal::UnknownPool)?;
                who == pool.owner || self.is_system_deployer(who)
            }
            Scope::Namespace { name } => {
                let key = NamespaceKey { namespace: keccak256(&name[..]) };
                who == self.state.get(&key).ok_or(Refusal::UnknownNamespace)?.owner
            }
        };
        if decides { Ok(()) } else { Err(Refusal::NotAuthority) }
    }
}
