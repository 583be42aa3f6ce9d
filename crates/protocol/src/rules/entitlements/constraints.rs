//! How long, how often, how much and how far a right reaches (CIP-2 §7.1).

use crate::base::codec::codec_struct;
use crate::base::error::Refusal;
use crate::base::primitives::{Amount, Height};

/// Delegations below a grant (CIP-2 §7.5).
pub const DEPTH_MAX: u8 = 5;

/// At most `max_uses` in `window_blocks`. A window begins with the first use after the last one's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub max_uses: u64,
    pub window_blocks: u64,
}
codec_struct!(RateLimit { max_uses, window_blocks });

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraints {
    /// First height at which it counts.
    pub valid_from: Option<Height>,
    /// Last height at which it counts.
    pub valid_until: Option<Height>,
    /// Uses; 0 for any number.
    pub max_uses: u64,
    /// Amount of a single use.
    pub max_amount_per_use: Option<Amount>,
    /// Amount of all uses together.
    pub max_total_amount: Option<Amount>,
    pub rate_limit: Option<RateLimit>,
    /// Whether parts of it may be passed on.
    pub delegatable: bool,
    /// Delegations below it, one under the other; 0 where it may not be passed on.
    pub delegation_depth_max: u8,
    /// Whether others than the grantee may end it.
    pub revocable: bool,
}
codec_struct!(Constraints {
    valid_from,
    valid_until,
    max_uses,
    max_amount_per_use,
    max_total_amount,
    rate_limit,
    delegatable,
    delegation_depth_max,
    revocable,
});

impl Default for Constraints {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

impl Constraints {
    /// No limits; cannot be delegated; can be revoked.
    pub const UNLIMITED: Self = Self {
        valid_from: None,
        valid_until: None,
        max_uses: 0,
        max_amount_per_use: None,
        max_total_amount: None,
        rate_limit: None,
        delegatable: false,
        delegation_depth_max: 0,
        revocable: true,
    };

    /// First height at which it counts.
    pub fn from(&self) -> Height {
        self.valid_from.unwrap_or(Height::ZERO)
    }

    /// Last height at which it counts.
    pub fn until(&self) -> Height {
        self.valid_until.unwrap_or(Height(u64::MAX))
    }

    /// Whether they make sense by themselves at a height.
    pub(crate) fn check(&self, height: Height) -> Result<(), Refusal> {
        if self.until() < height || self.until() < self.from() {
            return Err(Refusal::AlreadyExpired);
        }
        if self.delegation_depth_max > DEPTH_MAX {
            return Err(Refusal::DelegationTooDeep);
        }
        let rate = self.rate_limit.is_none_or(|rate| rate.max_uses > 0 && rate.window_blocks > 0);
        if !rate || self.delegatable != (self.delegation_depth_max > 0) {
            return Err(Refusal::BadConstraints);
        }
        Ok(())
    }

    /// Whether uses are unlimited and delegation is off, as a membership must be.
    pub(crate) fn is_plain(&self) -> bool {
        let Self { valid_from, valid_until, revocable, .. } = *self;
        *self == Self { valid_from, valid_until, revocable, ..Self::default() }
    }

    /// Whether they are no wider than a parent's, in every field, and the depth is less.
    pub fn within(&self, parent: &Self) -> bool {
        let rate = match (self.rate_limit, parent.rate_limit) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(parent)) => {
                own.max_uses <= parent.max_uses && own.window_blocks >= parent.window_blocks
            }
        };
        // 0 is any number.
        let uses = |max_uses: u64| max_uses.wrapping_sub(1);
        self.from() >= parent.from()
            && self.until() <= parent.until()
            && uses(self.max_uses) <= uses(parent.max_uses)
            && capped(self.max_amount_per_use, parent.max_amount_per_use)
            && capped(self.max_total_amount, parent.max_total_amount)
            && rate
            && (parent.delegatable || !self.delegatable)
            && self.delegation_depth_max < parent.delegation_depth_max
            && (self.revocable || !parent.revocable)
    }
}

fn capped(own: Option<Amount>, parent: Option<Amount>) -> bool {
    parent.is_none_or(|parent| own.is_some_and(|own| own <= parent))
}

/// What has been used of a right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub count: u64,
    /// Amounts of all of them.
    pub total: Amount,
    /// First height of the running window.
    pub window_start: Height,
    pub window_count: u64,
}
codec_struct!(Used { count, total, window_start, window_count });

impl Used {
    /// After one use more of an amount; none if the constraints do not allow it at this height.
    pub fn once_more(&self, limits: &Constraints, amount: Amount, height: Height) -> Option<Self> {
        let mut next = Self { count: self.count.checked_add(1)?, ..*self };
        next.total = self.total.plus(amount)?;
        if let Some(rate) = limits.rate_limit {
            if self.window_count == 0 || height >= self.window_start.plus(rate.window_blocks) {
                (next.window_start, next.window_count) = (height, 0);
            }
            next.window_count = next.window_count.checked_add(1)?;
            if next.window_count > rate.max_uses {
                return None;
            }
        }
        let allowed = (limits.from()..=limits.until()).contains(&height)
            && (limits.max_uses == 0 || next.count <= limits.max_uses)
            && limits.max_amount_per_use.is_none_or(|most| amount <= most)
            && limits.max_total_amount.is_none_or(|most| next.total <= most);
        allowed.then_some(next)
    }

    /// Whether no later block can allow another use.
    pub fn is_spent(&self, limits: &Constraints, height: Height) -> bool {
        limits.until() < height || (limits.max_uses > 0 && self.count >= limits.max_uses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Constraints = Constraints {
        valid_from: Some(Height(10)),
        valid_until: Some(Height(20)),
        max_uses: 5,
        max_amount_per_use: Some(Amount(7)),
        max_total_amount: Some(Amount(30)),
        rate_limit: Some(RateLimit { max_uses: 3, window_blocks: 4 }),
        delegatable: true,
        delegation_depth_max: 2,
        revocable: true,
    };

    #[test]
    fn no_field_of_a_delegation_may_be_wider() {
        let same = Constraints { delegation_depth_max: 1, ..WIDE };
        assert!(same.within(&WIDE));
        let rate = |max_uses, window_blocks| Some(RateLimit { max_uses, window_blocks });
        let wider = [
            Constraints { valid_from: None, ..same },
            Constraints { valid_from: Some(Height(9)), ..same },
            Constraints { valid_until: None, ..same },
            Constraints { valid_until: Some(Height(21)), ..same },
            Constraints { max_uses: 0, ..same },
            Constraints { max_uses: 6, ..same },
            Constraints { max_amount_per_use: None, ..same },
            Constraints { max_amount_per_use: Some(Amount(8)), ..same },
            Constraints { max_total_amount: None, ..same },
            Constraints { max_total_amount: Some(Amount(31)), ..same },
            Constraints { rate_limit: None, ..same },
            Constraints { rate_limit: rate(4, 4), ..same },
            Constraints { rate_limit: rate(3, 3), ..same },
            Constraints { delegation_depth_max: 2, ..same },
            Constraints { revocable: false, ..same },
        ];
        for constraints in wider {
            assert!(!constraints.within(&WIDE), "{constraints:?}");
        }
        let closed = Constraints { delegatable: false, delegation_depth_max: 1, ..WIDE };
        assert!(!Constraints { delegation_depth_max: 0, ..WIDE }.within(&closed));
    }

    #[test]
    fn a_window_begins_with_the_first_use_after_the_last_one() {
        let limits = Constraints {
            rate_limit: Some(RateLimit { max_uses: 2, window_blocks: 10 }),
            ..Constraints::default()
        };
        let step = |used: Used, at| used.once_more(&limits, Amount::ZERO, Height(at));
        let used = step(step(Used::default(), 5).unwrap(), 9).unwrap();
        assert_eq!(step(used, 14), None);
        let used = step(used, 15).unwrap();
        assert_eq!((used.window_start, used.window_count, used.count), (Height(15), 1, 3));
    }

    #[test]
    fn uses_and_amounts_end() {
        let limits = Constraints { rate_limit: None, ..WIDE };
        let mut used = Used::default();
        let once = |used: &Used, amount| used.once_more(&limits, Amount(amount), Height(10));
        assert_eq!(once(&used, 8), None);
        for _ in 0..4 {
            used = once(&used, 7).unwrap();
        }
        assert_eq!(once(&used, 3), None);
        used = once(&used, 2).unwrap();
        assert_eq!((once(&used, 0), used.is_spent(&limits, Height(10))), (None, true));
        assert_eq!(Used::default().once_more(&limits, Amount::ZERO, Height(9)), None);
        assert_eq!(Used::default().once_more(&limits, Amount::ZERO, Height(21)), None);
    }
}
