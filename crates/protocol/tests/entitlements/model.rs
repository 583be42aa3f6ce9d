//! Random histories against the rule as one would tell it: a list of records, searched from end to end.

use super::*;
use crate::entitlements::common::calm;
use proptest::prelude::*;
use remuda_protocol::registry::runner::Membership;
use std::collections::BTreeMap;

/// What somebody may do, and who they have it from.
#[derive(Clone, Debug)]
struct Right {
    grantee: Address,
    action: Action,
    constraints: Constraints,
    parent: Option<B256>,
}

#[derive(Default)]
struct Model {
    rights: BTreeMap<B256, Right>,
}

impl Model {
    /// It, and everything above it, is there and has not ended; `begun` if it has to have begun, too.
    fn holds(&self, id: B256, height: Height, begun: bool) -> bool {
        self.rights.get(&id).is_some_and(|right| {
            let Constraints { valid_from, valid_until, .. } = right.constraints;
            let ended = valid_until.is_some_and(|until| until < height);
            let early = begun && valid_from.is_some_and(|from| from > height);
            let above = right.parent.is_none_or(|parent| self.holds(parent, height, begun));
            !ended && !early && above
        })
    }

    fn may(&self, who: Address, action: &Action, height: Height) -> bool {
        self.rights.iter().any(|(id, right)| {
            // Membership is another scope, in which nobody has everything.
            let all = right.action == Action::All && matches!(action, Action::Custom { .. });
            let fits = right.action == *action || all;
            right.grantee == who && fits && self.holds(*id, height, true)
        })
    }

    fn may_delegate(&self, id: B256, by: Address, new: &Constraints, height: Height) -> bool {
        let Some(right) = self.rights.get(&id) else { return false };
        let old = &right.constraints;
        let late = |c: &Constraints| c.valid_until.map_or(u64::MAX, Height::get);
        let early = |c: &Constraints| c.valid_from.map_or(0, Height::get);
        right.grantee == by
            && self.holds(id, height, false)
            && late(new) >= height.get()
            && late(new) >= early(new)
            && new.delegation_depth_max < old.delegation_depth_max
            && late(new) <= late(old)
            && early(new) >= early(old)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Grant { to: usize, action: usize, terms: Terms },
    Delegate { of: usize, by_owner: bool, to: usize, terms: Terms },
    Revoke { of: usize, by: usize },
    Join { runner: usize, terms: Terms },
    Wait(u64),
}

/// Blocks from now, and how deep it may be passed on.
#[derive(Clone, Debug)]
struct Terms {
    from: Option<u64>,
    until: Option<u64>,
    depth: u8,
}

impl Terms {
    fn at(&self, height: Height) -> Constraints {
        Constraints {
            valid_from: self.from.map(|blocks| height.plus(blocks)),
            valid_until: self.until.map(|blocks| height.plus(blocks)),
            ..deep(self.depth)
        }
    }
}

fn terms() -> impl Strategy<Value = Terms> {
    let from = proptest::option::weighted(0.2, 0u64..4);
    let until = proptest::option::weighted(0.5, 0u64..12);
    (from, until, 0u8..4).prop_map(|(from, until, depth)| Terms { from, until, depth })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..4usize, 0..3usize, terms())
            .prop_map(|(to, action, terms)| Step::Grant { to, action, terms }),
        5 => (any::<usize>(), proptest::bool::weighted(0.1), 0..4usize, terms())
            .prop_map(|(of, by_owner, to, terms)| Step::Delegate { of, by_owner, to, terms }),
        2 => (any::<usize>(), 0..4usize).prop_map(|(of, by)| Step::Revoke { of, by }),
        2 => (0..3usize, terms()).prop_map(|(runner, terms)| Step::Join { runner, terms }),
        1 => (1u64..5).prop_map(Step::Wait),
    ]
}

const ACTIONS: [&str; 2] = ["read", "write"];

fn action(index: usize) -> Action {
    ACTIONS.get(index).map_or(Action::All, |name| custom(name))
}

struct Story {
    world: World,
    model: Model,
    /// Every id that was ever given.
    ids: Vec<B256>,
    people: Vec<SecretKey>,
}

impl Story {
    fn new() -> Self {
        let mut world = World::new(calm(), 3);
        let owner = world.customer();
        world.create(&owner, space());
        world.create(&owner, pool("pool"));
        let people = vec![owner, world.stranger(), world.runner(0), world.runner(1)];
        Self { world, model: Model::default(), ids: Vec::new(), people }
    }

    /// The height of the next block.
    fn next(&self) -> Height {
        self.world.chain.height().plus(1)
    }

    /// Sends it; it is accepted exactly if `expected`.
    fn send(&mut self, key: &SecretKey, instruction: Instruction, expected: bool) -> Receipt {
        let words = format!("{instruction:?}");
        let receipt = self.world.run(key, instruction);
        assert_eq!(receipt.code == 0, expected, "{words}: {:?}", refusal(&receipt));
        for event in &receipt.events {
            if let Event::EntitlementCleared { entitlement, .. } = event {
                let height = self.world.chain.height();
                assert!(!self.model.holds(*entitlement, height, false), "it was alive");
                self.model.rights.remove(entitlement);
            }
        }
        receipt
    }

    fn note(&mut self, receipt: &Receipt, right: Right) {
        if let Some(id) = given(receipt) {
            assert!(!self.ids.contains(&id), "no id is given twice");
            self.ids.push(id);
            self.model.rights.insert(id, right);
        }
    }

    fn step(&mut self, step: &Step) {
        let owner = self.world.customer();
        match step {
            Step::Wait(blocks) => self.world.chain.steps(*blocks),
            Step::Grant { to, action: index, terms } => {
                let (grantee, constraints) = (self.people[*to].address(), terms.at(self.next()));
                let action = action(*index);
                let ends = constraints.valid_until.unwrap_or(Height(u64::MAX));
                let sound = ends >= constraints.valid_from.unwrap_or(Height::ZERO);
                let order = grant(grantee, space(), action.clone(), constraints);
                let receipt = self.send(&owner, order, sound);
                self.note(&receipt, Right { grantee, action, constraints, parent: None });
            }
            Step::Join { runner, terms } => {
                let grantee = self.world.runner(*runner).address();
                let terms = Terms { depth: 0, ..terms.clone() };
                let constraints = terms.at(self.next());
                let ends = constraints.valid_until.unwrap_or(Height(u64::MAX));
                let sound = ends >= constraints.valid_from.unwrap_or(Height::ZERO);
                let receipt = self.send(&owner, join("pool", grantee, constraints), sound);
                let action = Action::join(&name("pool"));
                self.note(&receipt, Right { grantee, action, constraints, parent: None });
                if let Some(entitlement) = given(&receipt) {
                    let (key, in_time) = (self.world.runner(*runner), ends >= self.next());
                    let accept = Instruction::EntitlementAccept { entitlement };
                    self.send(&key, accept, in_time);
                }
            }
            Step::Delegate { of, by_owner, to, terms } => {
                let Some(&id) = self.ids.get(of % self.ids.len().max(1)) else { return };
                let record = read(&self.world.chain.state, &EntitlementKey { entitlement: id });
                let holder = record.map(|record| record.grantee);
                let holder = holder.filter(|_| !by_owner);
                let by = holder.map_or(owner, |holder| self.world.key_of(holder));
                let constraints = terms.at(self.next());
                let delegatee = self.people[*to].address();
                let expected = self.model.may_delegate(id, by.address(), &constraints, self.next());
                let action = self.model.rights.get(&id).map(|right| right.action.clone());
                let pass =
                    Instruction::EntitlementDelegate { entitlement: id, delegatee, constraints };
                let receipt = self.send(&by, pass, expected);
                if let Some(action) = action {
                    let (grantee, parent) = (delegatee, Some(id));
                    self.note(&receipt, Right { grantee, action, constraints, parent });
                }
            }
            Step::Revoke { of, by } => {
                let Some(&entitlement) = self.ids.get(of % self.ids.len().max(1)) else { return };
                let by = self.people[*by].clone();
                let record = read(&self.world.chain.state, &EntitlementKey { entitlement });
                let concerned = record.as_ref().is_some_and(|record| {
                    [record.grantee, record.granter, owner.address()].contains(&by.address())
                });
                let lapsed = !self.model.holds(entitlement, self.next(), false);
                let expected = record.is_some() && (concerned || lapsed);
                self.send(&by, Instruction::EntitlementRevoke { entitlement }, expected);
                if expected {
                    self.model.rights.remove(&entitlement);
                }
            }
        }
    }

    /// Everybody may do exactly what the model says, and selection sees the same members.
    fn check(&self) {
        let next = self.next();
        let runners: Vec<Address> = self.world.runners.iter().map(SecretKey::address).collect();
        let people: Vec<Address> = self.people.iter().map(SecretKey::address).collect();
        for who in people.iter().chain(&runners) {
            for action in ACTIONS.map(custom) {
                let expected = self.model.may(*who, &action, next);
                assert_eq!(self.world.may(*who, &space(), &action), expected, "{who} {action}");
            }
        }
        let action = Action::join(&name("pool"));
        for runner in &runners {
            let expected = self.model.may(*runner, &action, next);
            assert_eq!(self.world.may(*runner, &pool("pool"), &action), expected);
            let pools = self.world.chain.profile(*runner).unwrap().pools;
            assert!(pools.is_sorted());
            let counts = |m: &Membership| (m.valid_from..=m.valid_until).contains(&next);
            assert_eq!(pools.iter().any(counts), expected, "{pools:?} at {next}");
        }
        let holders: Vec<Address> = people.into_iter().chain(runners).collect();
        self.world.check_lists(&holders, &["pool"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    // spec §11.5, §11.6, §11.8
    #[test]
    fn everybody_may_do_what_the_model_says(
        steps in proptest::collection::vec(step(), 1..60)
    ) {
        let mut story = Story::new();
        for step in &steps {
            story.step(step);
            story.check();
        }
    }
}
