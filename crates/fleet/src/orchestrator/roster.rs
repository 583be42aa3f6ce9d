//! Runners that were heard of and have not left, for people to see. Nothing is decided by it, so it is not
//! kept: after a restart it fills as runners speak, and each of several orchestrators knows those that speak
//! to it.

use crate::id::{KeyId, RunnerId};
use crate::message::Tag;
use crate::time::Millis;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Whoever says nothing for so long is gone without goodbye: a question for work waits a minute at most.
const SILENCE_MILLIS_MAX: u64 = 150_000;
/// Runners that are remembered. Beyond it, new ones work as well as others but are not shown.
const RUNNERS_MAX: usize = 50_000;

/// Somebody.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    /// What it can do. None: it has not asked for work here yet.
    pub(super) capabilities: Option<BTreeSet<Tag>>,
    /// When it last spoke.
    pub(super) at: Millis,
}

/// Everybody.
#[derive(Debug, Default)]
pub(super) struct Roster(Mutex<BTreeMap<RunnerId, Heard>>);

impl Roster {
    /// A runner spoke; if it asked for work, it said what it can do.
    pub(super) fn heard(
        &self,
        now: Millis,
        runner: &RunnerId,
        capabilities: Option<&BTreeSet<Tag>>,
    ) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(heard) = all.get_mut(runner) {
            heard.at = now;
            if let Some(capabilities) = capabilities {
                heard.capabilities = Some(capabilities.clone());
            }
            return;
        }
        if all.len() >= RUNNERS_MAX {
            all.retain(|_, heard| recent(now, heard));
        }
        if all.len() < RUNNERS_MAX {
            all.insert(runner.clone(), Heard { capabilities: capabilities.cloned(), at: now });
        }
    }

    /// A runner said that it goes. What is still on its way from it is said before.
    pub(super) fn left(&self, runner: &RunnerId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(runner);
    }

    /// A machine is not believed any more.
    pub(super) fn expelled(&self, key: &KeyId) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|runner, _| !runner.belongs_to(key));
    }

    /// How many were heard of lately.
    pub(super) fn count(&self, now: Millis) -> usize {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().filter(|heard| recent(now, heard)).count()
    }

    /// Those that were heard of lately.
    pub(super) fn recent(&self, now: Millis) -> BTreeMap<RunnerId, Heard> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, heard| recent(now, heard));
        all.clone()
    }
}

fn recent(now: Millis, heard: &Heard) -> bool {
    now.0.saturating_sub(heard.at.0) <= SILENCE_MILLIS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_goodbye_or_is_expelled_is_gone_at_once() {
        let roster = Roster::default();
        let key = KeyId::new("0123456789abcdef01234567").expect("a key");
        let [first, second, other] =
            [RunnerId::of(&key, "1"), RunnerId::of(&key, "2"), RunnerId::new("runner_a")];
        let (first, other) = (first.expect("an id"), other.expect("an id"));
        for runner in [&first, &second.expect("an id"), &other] {
            roster.heard(Millis(1_000), runner, None);
        }
        roster.left(&first);
        assert_eq!(roster.count(Millis(1_000)), 2);
        roster.expelled(&key);
        assert_eq!(roster.recent(Millis(1_000)).into_keys().collect::<Vec<_>>(), [other]);
    }

    #[test]
    fn who_is_silent_for_long_is_gone_and_who_works_keeps_its_tags() {
        let roster = Roster::default();
        let runner = RunnerId::new("runner_a").expect("an id");
        let tags = BTreeSet::from([Tag::new("gpu").expect("a tag")]);
        roster.heard(Millis(1_000), &runner, Some(&tags));
        roster.heard(Millis(2_000), &runner, None);
        let heard = roster.recent(Millis(3_000)).remove(&runner).expect("it spoke");
        assert_eq!((heard.at, heard.capabilities), (Millis(2_000), Some(tags)));
        assert!(roster.recent(Millis(2_000 + SILENCE_MILLIS_MAX + 1)).is_empty());
    }
}
