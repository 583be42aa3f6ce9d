//! The host's calls about entitlements, answered by the chain.

use remuda_protocol::actors::host::Host;
use remuda_protocol::entitlements::constraints::{Constraints, RateLimit};
use remuda_protocol::primitives::{Address, Height};

use super::calls::{Answer, CallError, form, none, value};
use super::convert::{as_address, as_amount, as_hash, as_u64, bytes};
use crate::HostValue as V;

pub(super) fn answer(host: &mut Host<'_, '_>, name: &str, args: &[V]) -> Answer {
    let wrong = || form(name);
    match (name, args) {
        ("entitled", [V::Str(action), V::Str(scope), who]) => {
            value(V::Bool(host.entitled(somebody(name, who)?, action, scope)?))
        }
        ("use_entitlement", [V::Str(action), V::Str(scope), who, amount]) => {
            let amount = as_amount(amount).ok_or_else(wrong)?;
            let who = somebody(name, who)?;
            value(V::Bool(host.use_entitlement(who, action, scope, amount)?))
        }
        ("create_scope", [V::Str(scope)]) => none(host.create_scope(scope)),
        ("grant", [grantee, V::Str(action), V::Str(scope), V::Dict(options)]) => {
            let grantee = as_address(grantee).ok_or_else(wrong)?;
            let constraints = constraints(options).ok_or_else(wrong)?;
            value(bytes(host.grant(grantee, action, scope, &constraints)?.as_slice()))
        }
        ("delegate", [id, delegatee, V::Dict(options)]) => {
            let (id, delegatee) = as_hash(id).zip(as_address(delegatee)).ok_or_else(wrong)?;
            let constraints = constraints(options).ok_or_else(wrong)?;
            value(bytes(host.delegate(id, delegatee, &constraints)?.as_slice()))
        }
        ("revoke", [id]) => none(host.revoke(as_hash(id).ok_or_else(wrong)?)),
        _ => Err(wrong()),
    }
}

fn somebody(name: &str, who: &V) -> Result<Option<Address>, CallError> {
    match who {
        V::None => Ok(None),
        who => as_address(who).map(Some).ok_or_else(|| form(name)),
    }
}

/// Constraints by the seed's names. That a right may be passed on follows from its depth.
fn constraints(options: &[(V, V)]) -> Option<Constraints> {
    let mut constraints = Constraints::default();
    for (name, value) in options {
        let V::Str(name) = name else { return None };
        if matches!(value, V::None) {
            continue;
        }
        match &name[..] {
            "valid_from" => constraints.valid_from = Some(Height(as_u64(value)?)),
            "valid_until" => constraints.valid_until = Some(Height(as_u64(value)?)),
            "max_uses" => constraints.max_uses = as_u64(value)?,
            "max_amount_per_use" => constraints.max_amount_per_use = Some(as_amount(value)?),
            "max_total_amount" => constraints.max_total_amount = Some(as_amount(value)?),
            "rate_limit" => constraints.rate_limit = Some(rate_limit(value)?),
            "delegation_depth_max" => {
                constraints.delegation_depth_max = u8::try_from(as_u64(value)?).ok()?;
                constraints.delegatable = constraints.delegation_depth_max > 0;
            }
            "revocable" => {
                let V::Bool(revocable) = value else { return None };
                constraints.revocable = *revocable;
            }
            _ => return None,
        }
    }
    Some(constraints)
}

/// `[uses, blocks]`.
fn rate_limit(value: &V) -> Option<RateLimit> {
    let V::List(numbers) = value else { return None };
    let [max_uses, window_blocks] = &numbers[..] else { return None };
    Some(RateLimit { max_uses: as_u64(max_uses)?, window_blocks: as_u64(window_blocks)? })
}
