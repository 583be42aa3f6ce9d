//! Whether somebody may do something, and counting that it was done.

use super::price::CHECK_CYCLES;
use super::record::{Assignment, Entitlement, Role};
use super::scope::{Action, Scope, right};
use crate::actors::price;
use crate::error::Refusal;
use crate::event::Event;
use crate::execute::Exec;
use crate::key::{AssignedKey, AssignmentKey, EntitlementKey, HolderKey, RightKey, RoleKey};
use crate::primitives::{Address, Amount, B256, Height};
use crate::state::{View, read};
use core::convert::Infallible;

/// A question: may `who` do `action` in `scope`?
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// Who.
    pub who: Address,
    /// Where.
    pub scope: &'q Scope,
    /// What.
    pub action: &'q Action,
    /// Of which amount; 0 where there is none.
    pub amount: Amount,
    /// When.
    pub height: Height,
}

/// What allows it, as it is after the use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permit {
    /// A record, itself first, then what it was passed on from.
    Record(Vec<(B256, Entitlement)>),
    /// A role.
    Role(B256, Assignment),
}

/// A record and its ancestors, itself first; none if one of them is gone. `visit` is asked before
/// every read.
pub fn ancestry<E>(
    view: &(impl View + ?Sized),
    id: B256,
    visit: &mut impl FnMut() -> Result<(), E>,
) -> Result<Option<Vec<(B256, Entitlement)>>, E> {
    let mut chain = Vec::new();
    let mut next = Some(id);
    // It ends: depth falls strictly with every delegation.
    while let Some(id) = next {
        visit()?;
        let Some(record) = read(view, &EntitlementKey { entitlement: id }) else {
            return Ok(None);
        };
        next = record.parent;
        chain.push((id, record));
    }
    Ok(Some(chain))
}

/// A record and its ancestors, for whoever reads without paying.
pub fn reach(view: &(impl View + ?Sized), id: B256) -> Option<Vec<(B256, Entitlement)>> {
    let Ok(chain) = ancestry(view, id, &mut || Ok::<(), Infallible>(()));
    chain
}

/// Whether a chain can be used at a height.
pub fn is_live(chain: Option<&[(B256, Entitlement)]>, height: Height) -> bool {
    let allows = |record: &Entitlement| {
        let once_more = record.used.once_more(&record.constraints, Amount::ZERO, height);
        record.accepted && once_more.is_some()
    };
    chain.is_some_and(|chain| chain.iter().all(|(_, record)| allows(record)))
}

/// Whether a chain can never be used again: somebody in it is gone, has expired or is used up.
pub fn is_dead(chain: Option<&[(B256, Entitlement)]>, height: Height) -> bool {
    chain.is_none_or(|chain| {
        chain.iter().any(|(_, record)| record.used.is_spent(&record.constraints, height))
    })
}

/// What answers a question, if anything does. Reads only; `visit` is asked before every read but
/// the first few.
pub fn permit<E>(
    view: &(impl View + ?Sized),
    question: &Question<'_>,
    mut visit: impl FnMut() -> Result<(), E>,
) -> Result<Option<Permit>, E> {
    let Question { who: holder, scope, action, .. } = *question;
    for action in [action, &Action::All] {
        let key = RightKey { holder, right: right(scope, action) };
        for id in read(view, &key).unwrap_or_default() {
            let chain = ancestry(view, id, &mut visit)?;
            if let Some(used) = chain.and_then(|chain| used_once(chain, question)) {
                return Ok(Some(Permit::Record(used)));
            }
        }
        if *action == Action::All {
            break;
        }
    }
    let roles = read(view, &HolderKey { address: holder }).map_or(0, |counters| counters.roles);
    for place in 0..roles {
        visit()?;
        let Some(role) = read(view, &AssignedKey { holder, place }) else { continue };
        let Some(record) = read(view, &RoleKey { role }) else { continue };
        if !covers(&record, question) {
            continue;
        }
        let key = AssignmentKey { holder, role };
        let Some(mut assignment) = read(view, &key) else { continue };
        let Question { amount, height, .. } = *question;
        if let Some(used) = assignment.used.once_more(&record.constraints, amount, height) {
            assignment.used = used;
            return Ok(Some(Permit::Role(role, assignment)));
        }
    }
    Ok(None)
}

fn covers(role: &Role, question: &Question<'_>) -> bool {
    let action = |action: &Action| action == question.action || *action == Action::All;
    role.scopes.contains(question.scope) && role.actions.iter().any(action)
}

/// A chain after one use, which counts all the way up: passing a right on does not multiply it.
fn used_once(
    mut chain: Vec<(B256, Entitlement)>,
    question: &Question<'_>,
) -> Option<Vec<(B256, Entitlement)>> {
    for (_, record) in &mut chain {
        if !record.accepted {
            return None;
        }
        record.used =
            record.used.once_more(&record.constraints, question.amount, question.height)?;
    }
    Some(chain)
}

impl Exec<'_> {
    fn permit(&mut self, question: &Question<'_>) -> Result<Option<Permit>, Refusal> {
        self.charge(CHECK_CYCLES, 0)?;
        let mut left = self.meter.cycles;
        let found = permit(&self.state, question, || {
            left = left.checked_sub(price::READ_CYCLES).ok_or(Refusal::OutOfCycles)?;
            Ok(())
        });
        self.meter.cycles = if found.is_ok() { left } else { 0 };
        found
    }

    /// Whether somebody may do something.
    pub(crate) fn entitled(&mut self, question: &Question<'_>) -> Result<bool, Refusal> {
        Ok(self.permit(question)?.is_some())
    }

    /// Counts a use, if there is a right to it. `by` has to decide in the scope: nobody else can use
    /// up what others have.
    pub(crate) fn use_entitlement(
        &mut self,
        by: Address,
        question: &Question<'_>,
    ) -> Result<bool, Refusal> {
        self.charge(price::READ_CYCLES, 0)?;
        self.only_authority(by, question.scope)?;
        let Some(permit) = self.permit(question)? else { return Ok(false) };
        let (entitlement, amount) = match permit {
            Permit::Record(chain) => {
                self.charge(chain.len() as u64 * price::write(256), 0)?;
                for (id, record) in &chain {
                    self.state.put(&EntitlementKey { entitlement: *id }, record);
                }
                (chain[0].0, question.amount)
            }
            Permit::Role(role, assignment) => {
                self.charge(price::write(64), 0)?;
                self.state.put(&AssignmentKey { holder: question.who, role }, &assignment);
                (role, question.amount)
            }
        };
        self.emit(Event::EntitlementUsed { entitlement, grantee: question.who, amount });
        Ok(true)
    }
}
