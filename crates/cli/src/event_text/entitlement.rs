//! Events about entitlements as text.

use super::{EventLine, Money, bad, good, plain};
use crate::style::clip;
use remuda_client::types::{EventBody, PoolName};
use remuda_protocol::entitlements::scope::Scope;

/// Characters of a name in a line; `--json` has all of them.
const NAME_CHARS_MAX: usize = 60;

/// Who may do what.
pub(super) fn entitlement(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    let clip = |text: &str| clip(text, NAME_CHARS_MAX, "…");
    let name = |bytes: &[u8]| clip(&PoolName(bytes.to_vec()).to_string());
    let one = match event {
        E::PoolCreated { id, owner, .. } => {
            good(format!("owns the pool {} now", name(&id.0))).who(*owner)
        }
        E::NamespaceCreated { name: made, owner } => {
            good(format!("owns the namespace {} now", name(&made.0))).who(*owner)
        }
        E::EntitlementGranted { grantee, scope, action, parent, .. } => {
            let what = match &scope.0 {
                Scope::RunnerPool { id } => format!("is invited to the pool {}", name(id)),
                _ => {
                    let from = if parent.is_some() { ", passed on" } else { "" };
                    let (action, scope) = (action.to_string(), scope.to_string());
                    format!("may do {} in {}{from}", clip(&action), clip(&scope))
                }
            };
            good(what).who(*grantee)
        }
        E::EntitlementRevoked { grantee, by, .. } if grantee == by => {
            plain("gives a right up").who(*grantee)
        }
        E::MembershipAccepted { runner, .. } => good("is in the pool").who(*runner),
        E::EntitlementRevoked { grantee, .. } => bad("loses a right").who(*grantee),
        E::EntitlementCleared { grantee, .. } => {
            plain("a right that had lapsed is removed").who(*grantee)
        }
        E::EntitlementUsed { grantee, amount, .. } if amount.0 == 0 => {
            plain("makes use of a right").who(*grantee)
        }
        E::EntitlementUsed { grantee, amount, .. } => {
            plain("makes use of a right").who(*grantee).money(Money::About(*amount))
        }
        E::RoleCreated { owner, name: made, .. } => {
            good(format!("owns the role {} now", name(&made.0))).who(*owner)
        }
        E::RoleAssigned { assignee, .. } => good("has a role").who(*assignee),
        E::RoleRevoked { assignee, .. } => bad("loses a role").who(*assignee),
        _ => return None,
    };
    Some(vec![one])
}
