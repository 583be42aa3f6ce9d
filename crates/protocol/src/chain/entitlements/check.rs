//! Checks rights and counts their uses.

use crate::base::error::Refusal;
use crate::base::primitives::{Address, B256};
use crate::base::state::{View, read};
use crate::chain::execute::Exec;
use crate::rules::actors::price;
pub use crate::rules::entitlements::check::{Permit, Question, is_dead, is_live};
use crate::rules::entitlements::check::{covers, used_once};
use crate::rules::entitlements::price::CHECK_CYCLES;
use crate::rules::entitlements::record::Entitlement;
use crate::rules::entitlements::scope::{Action, right};
use crate::rules::event::Event;
use crate::rules::key::{AssignedKey, AssignmentKey, EntitlementKey, HolderKey, RightKey, RoleKey};
use core::convert::Infallible;

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

/// A record and its ancestors, for readers that do not pay.
pub fn reach(view: &(impl View + ?Sized), id: B256) -> Option<Vec<(B256, Entitlement)>> {
    let Ok(chain) = ancestry(view, id, &mut || Ok::<(), Infallible>(()));
    chain
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

    /// Whether the holder has the right.
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
