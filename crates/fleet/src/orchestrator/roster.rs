//! Runners heard of recently, for people. Nothing is decided by it, so it is not stored: it fills again after
//! a restart, and each of several orchestrators knows the runners that connection to it.

use crate::id::{KeyId, RunnerId};
use crate::message::Tag;
use crate::time::Millis;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A runner silent for this long is dropped. A `LeaseRequest` waits a minute at most.
const SILENCE_MILLIS_MAX: u64 = 150_000;
/// Most runners in the list. Further ones work normally but are not shown.
const RUNNERS_MAX: usize = 50_000;
/// Most bytes of their tags. Beyond it capabilities of further runners are unknown.
const TAG_BYTES_MAX: usize = 64 << 20;

#[derive(Clone, Debug)]
pub(super) struct Heard {
    /// Capabilities. None: it has not asked for a job here yet.
    pub(super) capabilities: Option<Arc<BTreeSet<Tag>>>,
    /// Time of its last message.
    pub(super) at: Millis,
}

impl Heard {
    fn bytes(&self) -> usize {
        self.capabilities.as_ref().map_or(0, |tags| bytes(tags))
    }
}

/// 32 bytes of overhead per tag.
fn bytes(tags: &BTreeSet<Tag>) -> usize {
    tags.iter().map(|tag| tag.as_str().len() + 32).sum()
}

#[derive(Debug, Default)]
struct Known {
    runners: BTreeMap<RunnerId, Heard>,
    tag_bytes: usize,
}

impl Known {
    fn keep(&mut self, keep: impl Fn(&RunnerId, &Heard) -> bool) {
        let tag_bytes = &mut self.tag_bytes;
        self.runners.retain(|runner, heard| {
            let keep = keep(runner, heard);
            *tag_bytes -= if keep { 0 } else { heard.bytes() };
            keep
        });
    }

    fn learn(&mut self, runner: &RunnerId, tags: &BTreeSet<Tag>) {
        let Some(heard) = self.runners.get_mut(runner) else { return };
        if heard.capabilities.as_deref() == Some(tags) {
            return;
        }
        self.tag_bytes -= heard.bytes();
        heard.capabilities = None;
        if self.tag_bytes + bytes(tags) <= TAG_BYTES_MAX {
            heard.capabilities = Some(Arc::new(tags.clone()));
            self.tag_bytes += bytes(tags);
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Roster(Mutex<Known>);

impl Roster {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a message of a runner, with its capabilities if it asked for a job.
    pub(super) fn heard(
        &self,
        now: Millis,
        runner: &RunnerId,
        capabilities: Option<&BTreeSet<Tag>>,
    ) {
        let mut known = self.known();
        if let Some(heard) = known.runners.get_mut(runner) {
            heard.at = now;
        } else {
            if known.runners.len() >= RUNNERS_MAX {
                known.keep(|_, heard| recent(now, heard));
            }
            if known.runners.len() < RUNNERS_MAX {
                known.runners.insert(runner.clone(), Heard { capabilities: None, at: now });
            }
        }
        if let Some(tags) = capabilities {
            known.learn(runner, tags);
        }
    }

    /// Drops a runner that shut down.
    pub(super) fn left(&self, runner: &RunnerId) {
        let mut known = self.known();
        if let Some(heard) = known.runners.remove(runner) {
            known.tag_bytes -= heard.bytes();
        }
    }

    /// Drops the runners of an expelled machine.
    pub(super) fn expelled(&self, key: &KeyId) {
        self.known().keep(|runner, _| !runner.belongs_to(key));
    }

    pub(super) fn count(&self, now: Millis) -> usize {
        self.known().runners.values().filter(|heard| recent(now, heard)).count()
    }

    pub(super) fn recent(&self, now: Millis) -> BTreeMap<RunnerId, Heard> {
        let mut known = self.known();
        known.keep(|_, heard| recent(now, heard));
        known.runners.clone()
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
        assert_eq!((heard.at, heard.capabilities.as_deref()), (Millis(2_000), Some(&tags)));
        assert!(roster.recent(Millis(2_000 + SILENCE_MILLIS_MAX + 1)).is_empty());
    }

    #[test]
    fn tags_have_a_bound_together_and_room_again_when_their_runners_are_gone() {
        let tags: BTreeSet<Tag> =
            (0..256).map(|n| Tag::new(&format!("{n:0>128}")).expect("a tag")).collect();
        let runner = |n: usize| RunnerId::new(&format!("runner_{n}")).expect("an id");
        let roster = Roster::default();
        let fit = TAG_BYTES_MAX / bytes(&tags);
        for n in 0..fit + 10 {
            roster.heard(Millis(1_000), &runner(n), Some(&tags));
            roster.heard(Millis(1_000), &runner(n), Some(&tags));
        }
        let known = roster.recent(Millis(1_000));
        assert_eq!(known.len(), fit + 10, "everybody is known");
        assert_eq!(known.values().filter(|heard| heard.capabilities.is_some()).count(), fit);
        roster.left(&runner(0));
        roster.heard(Millis(2_000), &runner(fit), Some(&tags));
        let known = roster.recent(Millis(1_000 + SILENCE_MILLIS_MAX + 1));
        assert_eq!(known.len(), 1);
        assert_eq!(known[&runner(fit)].capabilities.as_deref(), Some(&tags));
        assert_eq!(roster.known().tag_bytes, bytes(&tags));
    }
}
