//! Rights: who has them follows from a simple model, whatever is granted, passed on, revoked and
//! left to lapse; and nobody gets more than they were given.

#[path = "entitlements/attacks.rs"]
mod attacks;
use crate::common;
#[path = "entitlements/model.rs"]
mod model;
#[path = "entitlements/pools.rs"]
mod pools;

use common::World;
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::entitlements::check::{Question, permit};
use remuda_protocol::entitlements::constraints::Constraints;
use remuda_protocol::entitlements::record::{Holder, RunnerPool, pool_hash};
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::error::Refusal;
use remuda_protocol::event::{Event, Receipt};
use remuda_protocol::key::{EntitlementKey, HeldKey, HolderKey, PoolKey, PoolMemberKey};
use remuda_protocol::primitives::{Address, Amount, B256, Height};
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeSet;
use std::convert::Infallible;

const OPEN: Constraints = Constraints::UNLIMITED;

fn name(text: &str) -> Bytes {
    Bytes(text.as_bytes().to_vec())
}

fn space() -> Scope {
    Scope::Namespace { name: name("space") }
}

fn pool(id: &str) -> Scope {
    Scope::RunnerPool { id: name(id) }
}

fn custom(action: &str) -> Action {
    Action::Custom { name: name(action) }
}

fn until(height: Height) -> Constraints {
    Constraints { valid_until: Some(height), ..OPEN }
}

fn deep(depth: u8) -> Constraints {
    Constraints { delegatable: depth > 0, delegation_depth_max: depth, ..OPEN }
}

fn grant(grantee: Address, scope: Scope, action: Action, constraints: Constraints) -> Instruction {
    Instruction::EntitlementGrant { grantee, scope, action, constraints }
}

fn join(id: &str, runner: Address, constraints: Constraints) -> Instruction {
    grant(runner, pool(id), Action::join(&name(id)), constraints)
}

fn refusal(receipt: &Receipt) -> Option<Refusal> {
    Refusal::from_code(receipt.code)
}

impl World {
    fn create(&mut self, key: &SecretKey, scope: Scope) {
        self.ok(key, Instruction::EntitlementCreateScope { scope });
    }

    /// The id of the right that a transaction gave.
    fn give(&mut self, key: &SecretKey, instruction: Instruction) -> B256 {
        let joins = matches!(
            &instruction,
            Instruction::EntitlementGrant { action: Action::RunnerJoinPool { .. }, .. }
        );
        let id = given(&self.ok(key, instruction)).expect("it is given");
        if joins {
            self.accept(id);
        }
        id
    }

    /// The grantee of a membership accepts it.
    fn accept(&mut self, entitlement: B256) {
        let record = read(&self.chain.state, &EntitlementKey { entitlement }).expect("a record");
        let runner = self.key_of(record.grantee);
        if !record.accepted {
            self.ok(&runner, Instruction::EntitlementAccept { entitlement });
        }
    }

    fn delegate(&mut self, key: &SecretKey, parent: B256, to: Address, c: Constraints) -> B256 {
        let (entitlement, delegatee, constraints) = (parent, to, c);
        let pass = Instruction::EntitlementDelegate { entitlement, delegatee, constraints };
        self.give(key, pass)
    }

    /// Whether somebody may do something in the next block.
    fn may(&self, who: Address, scope: &Scope, action: &Action) -> bool {
        let (amount, height) = (Amount::ZERO, self.chain.height().plus(1));
        let question = Question { who, scope, action, amount, height };
        let Ok(found) = permit(&self.chain.state, &question, || Ok::<(), Infallible>(()));
        found.is_some()
    }

    fn holder(&self, address: Address) -> Holder {
        read(&self.chain.state, &HolderKey { address }).unwrap_or_default()
    }

    fn pool(&self, id: &str) -> RunnerPool {
        read(&self.chain.state, &PoolKey { pool: pool_hash(id.as_bytes()) }).expect("it was made")
    }

    /// Lists by place have no gaps, and what they say the records say, too.
    fn check_lists(&self, holders: &[Address], pools: &[&str]) {
        for &holder in holders {
            let mut seen = BTreeSet::new();
            for place in 0..self.holder(holder).held {
                let id = read(&self.chain.state, &HeldKey { holder, place }).expect("no gap");
                let record =
                    read(&self.chain.state, &EntitlementKey { entitlement: id }).expect("a record");
                assert_eq!((record.grantee, record.held_place), (holder, place));
                assert!(seen.insert(id));
            }
            let beyond = HeldKey { holder, place: self.holder(holder).held };
            assert_eq!(read(&self.chain.state, &beyond), None);
        }
        for id in pools {
            let pool = pool_hash(id.as_bytes());
            let members = self.pool(id).members;
            for place in 0..members {
                let id = read(&self.chain.state, &PoolMemberKey { pool, place }).expect("no gap");
                let record =
                    read(&self.chain.state, &EntitlementKey { entitlement: id }).expect("a record");
                assert_eq!(record.member_place, place);
            }
            assert_eq!(read(&self.chain.state, &PoolMemberKey { pool, place: members }), None);
        }
    }
}

fn given(receipt: &Receipt) -> Option<B256> {
    receipt.events.iter().find_map(|event| match event {
        Event::EntitlementGranted { entitlement, .. } => Some(*entitlement),
        _ => None,
    })
}
