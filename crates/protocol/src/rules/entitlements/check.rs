//! What a record or a role allows, and what is left of it after a use.

use crate::base::primitives::{Address, Amount, B256, Height};
use crate::rules::entitlements::record::{Assignment, Entitlement, Role};
use crate::rules::entitlements::scope::{Action, Scope};

/// A question: may `who` do `action` in `scope`?
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    pub who: Address,
    pub scope: &'q Scope,
    pub action: &'q Action,
    /// Of which amount; 0 where there is none.
    pub amount: Amount,
    pub height: Height,
}

/// What allows it, as it is after the use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permit {
    /// A record, then its ancestors.
    Record(Vec<(B256, Entitlement)>),
    Role(B256, Assignment),
}

/// Whether a chain can be used at a height.
pub fn is_live(chain: Option<&[(B256, Entitlement)]>, height: Height) -> bool {
    let allows = |record: &Entitlement| {
        let once_more = record.used.once_more(&record.constraints, Amount::ZERO, height);
        record.accepted && once_more.is_some()
    };
    chain.is_some_and(|chain| chain.iter().all(|(_, record)| allows(record)))
}

/// Whether a chain can never be used again: a record of it is gone, expired or used up.
pub fn is_dead(chain: Option<&[(B256, Entitlement)]>, height: Height) -> bool {
    chain.is_none_or(|chain| {
        chain.iter().any(|(_, record)| record.used.is_spent(&record.constraints, height))
    })
}

pub(crate) fn covers(role: &Role, question: &Question<'_>) -> bool {
    let action = |action: &Action| action == question.action || *action == Action::All;
    role.scopes.contains(question.scope) && role.actions.iter().any(action)
}

/// A chain after one use, which counts all the way up: passing a right on does not multiply it.
pub(crate) fn used_once(
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
