//! What is wrong with rights: who gives them, what they say, and how they are passed on.

use super::common::World;
use super::{Case, Signed, case};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::entitlements::constraints::{Constraints, RateLimit};
use remuda_protocol::entitlements::record::{HELD_MAX, ROLES_MAX, role_id};
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::error::Refusal::*;
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Address, B256, Height};
use remuda_protocol::transaction::Instruction;

const NOBODY: Address = Address::repeat_byte(0x0b);
const PLAIN: Constraints = Constraints::UNLIMITED;
const PASSED_ON: Constraints =
    Constraints { delegatable: true, delegation_depth_max: 2, max_uses: 5, ..PLAIN };

fn name(length: usize) -> Bytes {
    Bytes(vec![b'n'; length])
}

fn pool() -> Scope {
    Scope::RunnerPool { id: name(4) }
}

fn space() -> Scope {
    Scope::Namespace { name: name(4) }
}

fn join() -> Action {
    Action::RunnerJoinPool { pool: name(4) }
}

fn read() -> Action {
    Action::Custom { name: Bytes(b"read".to_vec()) }
}

fn to(grantee: Address, scope: Scope, action: Action, constraints: Constraints) -> Instruction {
    Instruction::EntitlementGrant { grantee, scope, action, constraints }
}

impl World {
    /// The customer makes a pool and a namespace.
    fn domains(&mut self) {
        for scope in [pool(), space()] {
            self.ok(&self.customer(), Instruction::EntitlementCreateScope { scope });
        }
    }

    /// The customer gives a right; its id.
    fn given(&mut self, instruction: Instruction) -> B256 {
        let receipt = self.ok(&self.customer(), instruction);
        let id = receipt.events.iter().find_map(|event| match event {
            Event::EntitlementGranted { entitlement, .. } => Some(*entitlement),
            _ => None,
        });
        id.expect("it is given")
    }

    /// The stranger has a right in the customer's namespace; its id.
    fn entitled(&mut self, constraints: Constraints) -> B256 {
        self.domains();
        self.given(to(self.stranger().address(), space(), read(), constraints))
    }

    /// A grant by the customer, to a runner.
    fn grant(&mut self, scope: Scope, action: Action, constraints: Constraints) -> Signed {
        self.domains();
        let grantee = self.runner(0).address();
        self.signed(&self.customer(), to(grantee, scope, action, constraints))
    }

    fn passed_on(&self, key: &SecretKey, entitlement: B256, constraints: Constraints) -> Signed {
        let delegatee = NOBODY;
        let delegation = Instruction::EntitlementDelegate { entitlement, delegatee, constraints };
        self.signed(key, delegation)
    }

    fn role(&mut self, change: impl FnOnce(&mut Vec<Scope>, &mut Constraints)) -> Signed {
        self.domains();
        let (mut scopes, mut constraints) = (vec![space()], PLAIN);
        change(&mut scopes, &mut constraints);
        let actions = vec![read()];
        let role =
            Instruction::EntitlementCreateRole { name: name(1), scopes, actions, constraints };
        self.signed(&self.customer(), role)
    }

    /// The customer makes a role.
    fn clerk(&mut self, nth: u32, constraints: Constraints) -> B256 {
        let name = Bytes(format!("clerk {nth}").into_bytes());
        let (scopes, actions) = (vec![space()], vec![read()]);
        let id = role_id(self.customer().address(), &name);
        let role = Instruction::EntitlementCreateRole { name, scopes, actions, constraints };
        self.chain.send(&self.customer(), role);
        id
    }
}

pub(super) fn entitlement_cases() -> Vec<Case> {
    let mut all = grant_cases();
    all.extend(delegation_cases());
    all.extend(role_cases());
    all
}

fn grant_cases() -> Vec<Case> {
    vec![
        case(ScopeNameTooLong, "a pool without a name", |w| {
            let scope = Scope::RunnerPool { id: name(0) };
            w.signed(&w.customer(), Instruction::EntitlementCreateScope { scope })
        }),
        case(ScopeNameTooLong, "a namespace with a long name", |w| {
            let scope = Scope::Namespace { name: name(129) };
            w.grant(scope, read(), PLAIN)
        }),
        case(ActionNameTooLong, "an action with a long name", |w| {
            w.grant(space(), Action::Custom { name: name(65) }, PLAIN)
        }),
        case(ActionNameTooLong, "a handler without a name", |w| {
            w.grant(space(), Action::ActorExecuteHandler { name: name(0) }, PLAIN)
        }),
        case(ScopeUnavailable, "a right to a token", |w| {
            w.grant(Scope::Token { id: B256::ZERO }, Action::All, PLAIN)
        }),
        case(ActionDoesNotFitScope, "everything in a pool", |w| {
            w.grant(pool(), Action::All, PLAIN)
        }),
        case(ActionDoesNotFitScope, "membership of another pool", |w| {
            w.grant(pool(), Action::RunnerJoinPool { pool: name(5) }, PLAIN)
        }),
        case(ActionDoesNotFitScope, "membership in a namespace", |w| {
            w.grant(space(), join(), PLAIN)
        }),
        case(ActionUnavailable, "minting", |w| w.grant(space(), Action::TokenMint, PLAIN)),
        case(ActionUnavailable, "registering with less stake", |w| {
            let min_stake_override = None;
            w.grant(space(), Action::RunnerRegister { min_stake_override }, PLAIN)
        }),
        case(AlreadyExpired, "a right that has ended", |w| {
            let valid_until = Some(w.chain.height());
            w.grant(space(), read(), Constraints { valid_until, ..PLAIN })
        }),
        case(AlreadyExpired, "a right that ends before it begins", |w| {
            let (valid_from, valid_until) = (Some(Height(900)), Some(Height(899)));
            w.grant(space(), read(), Constraints { valid_from, valid_until, ..PLAIN })
        }),
        case(DelegationTooDeep, "a grant that may be passed on six deep", |w| {
            w.grant(space(), read(), Constraints { delegation_depth_max: 6, ..PASSED_ON })
        }),
        case(BadConstraints, "to be passed on, and not", |w| {
            w.grant(space(), read(), Constraints { delegation_depth_max: 0, ..PASSED_ON })
        }),
        case(BadConstraints, "a rate limit without a window", |w| {
            let rate_limit = Some(RateLimit { max_uses: 1, window_blocks: 0 });
            w.grant(space(), read(), Constraints { rate_limit, ..PLAIN })
        }),
        case(NothingToCreate, "the global scope is made", |w| {
            let scope = Scope::Global;
            w.signed(&w.customer(), Instruction::EntitlementCreateScope { scope })
        }),
        case(NameTaken, "a pool of somebody else's name", |w| {
            w.domains();
            w.signed(&w.stranger(), Instruction::EntitlementCreateScope { scope: pool() })
        }),
        case(NameTaken, "a namespace for the second time", |w| {
            w.domains();
            w.signed(&w.customer(), Instruction::EntitlementCreateScope { scope: space() })
        }),
        case(UnknownPool, "membership of a pool that is not there", |w| {
            let grantee = w.runner(0).address();
            w.signed(&w.customer(), to(grantee, pool(), join(), PLAIN))
        }),
        case(UnknownNamespace, "a right in a namespace that is not there", |w| {
            w.signed(&w.customer(), to(NOBODY, space(), read(), PLAIN))
        }),
        case(NoCode, "a right at an actor that is not there", |w| {
            w.grant(Scope::Actor { address: NOBODY }, read(), PLAIN)
        }),
        case(UnknownRunner, "a right at a runner that is not there", |w| {
            w.grant(Scope::Runner { address: NOBODY }, read(), PLAIN)
        }),
        case(UnknownRunner, "membership of somebody who is no runner", |w| {
            w.domains();
            w.signed(&w.customer(), to(NOBODY, pool(), join(), PLAIN))
        }),
        case(NotRegistered, "membership of a runner that has left", |w| {
            w.ok(&w.runner(0), Instruction::DeregisterRunner);
            w.grant(pool(), join(), PLAIN)
        }),
        case(NotAuthority, "membership, granted by somebody else", |w| {
            w.domains();
            let grantee = w.runner(0).address();
            w.signed(&w.runner(0), to(grantee, pool(), join(), PLAIN))
        }),
        case(NotAuthority, "a right in a namespace, granted by somebody else", |w| {
            w.domains();
            w.signed(&w.stranger(), to(NOBODY, space(), read(), PLAIN))
        }),
        case(NotAuthority, "a right on the chain, granted by anybody", |w| {
            w.grant(Scope::Global, read(), PLAIN)
        }),
        case(NotAuthority, "a right at a runner, granted by another", |w| {
            let address = w.runner(0).address();
            w.signed(&w.runner(1), to(NOBODY, Scope::Runner { address }, read(), PLAIN))
        }),
        case(BadMembership, "membership that is used up", |w| {
            w.grant(pool(), join(), Constraints { max_uses: 1, ..PLAIN })
        }),
        case(BadMembership, "membership to be passed on", |w| w.grant(pool(), join(), PASSED_ON)),
        case(TooManyHeld, "one right too many", |w| {
            w.domains();
            for i in 0..HELD_MAX {
                let action = Action::Custom { name: Bytes(format!("{i}").into_bytes()) };
                w.chain.send(&w.customer(), to(NOBODY, space(), action, PLAIN));
                if i % 32 == 31 {
                    w.step();
                }
            }
            w.signed(&w.customer(), to(NOBODY, space(), read(), PLAIN))
        }),
    ]
}

fn delegation_cases() -> Vec<Case> {
    vec![
        case(UnknownEntitlement, "passing on nothing", |w| {
            w.passed_on(&w.stranger(), B256::repeat_byte(1), PLAIN)
        }),
        case(UnknownEntitlement, "revoking twice", |w| {
            let entitlement = w.entitled(PLAIN);
            w.ok(&w.customer(), Instruction::EntitlementRevoke { entitlement });
            w.signed(&w.customer(), Instruction::EntitlementRevoke { entitlement })
        }),
        case(AcceptedAlready, "a membership accepted twice", |w| {
            w.domains();
            let runner = w.runner(0);
            let entitlement = w.given(to(runner.address(), pool(), join(), PLAIN));
            w.ok(&runner, Instruction::EntitlementAccept { entitlement });
            w.signed(&runner, Instruction::EntitlementAccept { entitlement })
        }),
        case(NotYourEntitlement, "a membership accepted by its granter", |w| {
            w.domains();
            let entitlement = w.given(to(w.runner(0).address(), pool(), join(), PLAIN));
            w.signed(&w.customer(), Instruction::EntitlementAccept { entitlement })
        }),
        case(NotYourEntitlement, "passing on what somebody else has", |w| {
            let entitlement = w.entitled(PASSED_ON);
            w.passed_on(&w.customer(), entitlement, PLAIN)
        }),
        case(NotYourEntitlement, "revoking what one neither gave nor has", |w| {
            let entitlement = w.entitled(PLAIN);
            w.signed(&w.runner(0), Instruction::EntitlementRevoke { entitlement })
        }),
        case(EntitlementLapsed, "passing on what has ended", |w| {
            let valid_until = Some(w.chain.height().plus(4));
            let entitlement = w.entitled(Constraints { valid_until, ..PASSED_ON });
            w.step_to(w.chain.height().plus(4));
            w.passed_on(&w.stranger(), entitlement, PLAIN)
        }),
        case(NotDelegatable, "passing on what may not be", |w| {
            let entitlement = w.entitled(PLAIN);
            w.passed_on(&w.stranger(), entitlement, PLAIN)
        }),
        case(DelegationTooDeep, "passing on as deep as it was given", |w| {
            let entitlement = w.entitled(PASSED_ON);
            w.passed_on(&w.stranger(), entitlement, PASSED_ON)
        }),
        case(DelegationTooWide, "passing on more uses than there are", |w| {
            let entitlement = w.entitled(PASSED_ON);
            w.passed_on(&w.stranger(), entitlement, Constraints { max_uses: 6, ..PLAIN })
        }),
        case(NotRevocable, "revoking what was given for good", |w| {
            let entitlement = w.entitled(Constraints { revocable: false, ..PLAIN });
            w.signed(&w.customer(), Instruction::EntitlementRevoke { entitlement })
        }),
    ]
}

fn role_cases() -> Vec<Case> {
    vec![
        case(BadRole, "a role about nothing", |w| w.role(|scopes, _| scopes.clear())),
        case(BadRole, "a role of nine scopes", |w| w.role(|scopes, _| *scopes = vec![space(); 9])),
        case(BadRole, "a role of members", |w| w.role(|scopes, _| scopes.push(pool()))),
        case(BadRole, "a role that is passed on", |w| {
            w.role(|_, constraints| *constraints = PASSED_ON)
        }),
        case(ScopeNameTooLong, "a role without a name", |w| {
            let (name, scopes, actions) = (name(0), vec![Scope::Global], vec![read()]);
            let constraints = PLAIN;
            let role = Instruction::EntitlementCreateRole { name, scopes, actions, constraints };
            w.signed(&w.customer(), role)
        }),
        case(NotAuthority, "a role in scopes of others", |w| {
            w.role(|scopes, _| scopes.push(Scope::Global))
        }),
        case(NameTaken, "a role for the second time", |w| {
            let first = w.role(|_, _| ());
            w.chain.queue(first.bytes);
            w.step();
            let (name, scopes, actions) = (name(1), vec![space()], vec![read()]);
            let constraints = PLAIN;
            let role = Instruction::EntitlementCreateRole { name, scopes, actions, constraints };
            w.signed(&w.customer(), role)
        }),
        case(UnknownRole, "a role that is not there", |w| {
            let (role, assignee) = (B256::ZERO, NOBODY);
            w.signed(&w.customer(), Instruction::EntitlementAssignRole { role, assignee })
        }),
        case(NotYourRole, "giving somebody else's role", |w| {
            w.domains();
            let (role, assignee) = (w.clerk(0, PLAIN), NOBODY);
            w.step();
            w.signed(&w.stranger(), Instruction::EntitlementAssignRole { role, assignee })
        }),
        case(NotYourRole, "taking somebody else's role", |w| {
            w.domains();
            let (role, assignee) = (w.clerk(0, PLAIN), NOBODY);
            w.ok(&w.customer(), Instruction::EntitlementAssignRole { role, assignee });
            w.signed(&w.stranger(), Instruction::EntitlementRevokeRole { role, assignee })
        }),
        case(EntitlementLapsed, "giving a role that has ended", |w| {
            w.domains();
            let valid_until = Some(w.chain.height().plus(2));
            let (role, assignee) = (w.clerk(0, Constraints { valid_until, ..PLAIN }), NOBODY);
            w.step_to(w.chain.height().plus(3));
            w.signed(&w.customer(), Instruction::EntitlementAssignRole { role, assignee })
        }),
        case(HasRole, "giving a role twice", |w| {
            w.domains();
            let (role, assignee) = (w.clerk(0, PLAIN), NOBODY);
            w.ok(&w.customer(), Instruction::EntitlementAssignRole { role, assignee });
            w.signed(&w.customer(), Instruction::EntitlementAssignRole { role, assignee })
        }),
        case(HasNoSuchRole, "taking a role that nobody has", |w| {
            w.domains();
            let (role, assignee) = (w.clerk(0, PLAIN), NOBODY);
            w.step();
            w.signed(&w.customer(), Instruction::EntitlementRevokeRole { role, assignee })
        }),
        case(NotRevocable, "taking a role that was given for good", |w| {
            w.domains();
            let role = w.clerk(0, Constraints { revocable: false, ..PLAIN });
            let assignee = NOBODY;
            w.ok(&w.customer(), Instruction::EntitlementAssignRole { role, assignee });
            w.signed(&w.customer(), Instruction::EntitlementRevokeRole { role, assignee })
        }),
        case(TooManyRoles, "one role too many", |w| {
            w.domains();
            let assignee = NOBODY;
            for i in 0..ROLES_MAX {
                let role = w.clerk(i, PLAIN);
                w.ok(&w.customer(), Instruction::EntitlementAssignRole { role, assignee });
            }
            let role = w.clerk(ROLES_MAX, PLAIN);
            w.step();
            w.signed(&w.customer(), Instruction::EntitlementAssignRole { role, assignee })
        }),
    ]
}
