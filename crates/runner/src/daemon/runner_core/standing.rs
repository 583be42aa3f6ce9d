//! The runner's registration, and the pauses that it makes itself.

use remuda_client::types::RunnerView;

/// A pause that the runner makes itself lasts at least this many blocks.
const PAUSE_BLOCKS: u64 = 20;

/// The registration that a node reported last.
#[derive(Debug)]
pub(super) enum Standing {
    Unknown,
    Current(Registration),
    /// A transaction of the runner may have changed it since.
    Stale(Registration),
}

#[derive(Debug)]
pub(super) struct Registration {
    /// The runner's height at the answer.
    pub(super) height: u64,
    /// None: not registered.
    pub(super) view: Option<RunnerView>,
}

impl Standing {
    /// Current or not.
    pub(super) fn last(&self) -> Option<&Registration> {
        match self {
            Self::Unknown => None,
            Self::Current(last) | Self::Stale(last) => Some(last),
        }
    }

    /// None if the runner is not registered, or that is unknown.
    pub(super) fn view(&self) -> Option<&RunnerView> {
        self.last()?.view.as_ref()
    }

    pub(super) fn mark_stale(&mut self) {
        *self = match std::mem::replace(self, Self::Unknown) {
            Self::Current(last) => Self::Stale(last),
            other => other,
        };
    }
}

/// A pause on chain that the runner made itself because it could not do what it would be drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// The chain has not shown the runner active since the start: a pause may be an earlier one.
    Unknown,
    Off,
    BySelf {
        /// Height of the pause.
        since: u64,
    },
    /// The runner has asked to resume, and the chain does not show it yet.
    Resuming {
        /// Height of the request.
        since: u64,
    },
}

/// What a pause depends on besides the chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fitness {
    pub(super) height: u64,
    pub(super) draining: bool,
    /// The runner would fail at whatever it is drawn for: it has no money, no backend, or a faulty part. A
    /// missed draw costs reputation, a pause next to nothing.
    pub(super) unfit: bool,
    pub(super) affords_pause: bool,
    /// The operator wants a pause from before the start to end.
    pub(super) resume: bool,
    /// A transaction to pause, or to resume, is on its way.
    pub(super) pausing: bool,
    pub(super) resuming: bool,
}

impl Pause {
    fn since(self) -> Option<u64> {
        match self {
            Self::Unknown | Self::Off => None,
            Self::BySelf { since } | Self::Resuming { since } => Some(since),
        }
    }

    pub(super) fn is_by_self(self) -> bool {
        self.since().is_some()
    }

    /// Prevents that the runner pauses and resumes with every block.
    fn is_long_enough(self, height: u64) -> bool {
        self.since().is_none_or(|since| height >= since.saturating_add(PAUSE_BLOCKS))
    }

    /// Whether the runner ends a pause that the chain shows: its own, or with `resume` one from before the
    /// start. A later pause by the operator is kept.
    pub(super) fn ends(self, resume: bool) -> bool {
        self.is_by_self() || (resume && self == Self::Unknown)
    }

    /// Whether the registration is asked for with every block, because a pause is about to begin or end.
    pub(super) fn changes_soon(self, fitness: Fitness) -> bool {
        let begins = fitness.unfit && !self.is_by_self() && fitness.affords_pause;
        fitness.draining || begins || (self.is_by_self() && !fitness.unfit)
    }

    /// The chain shows the runner paused. Returns whether to resume.
    pub(super) fn seen_paused(&mut self, fitness: Fitness) -> bool {
        let Fitness { height, draining, unfit, resume, .. } = fitness;
        let resumes = !draining && !unfit && self.ends(resume) && self.is_long_enough(height);
        if resumes {
            // Stays until the chain shows the runner active: the transaction may be lost.
            *self = Self::Resuming { since: height };
        }
        resumes
    }

    /// The chain shows the runner active. Returns whether to pause.
    pub(super) fn seen_active(&mut self, fitness: Fitness) -> bool {
        let Fitness { height, draining, unfit, affords_pause, pausing, resuming, .. } = fitness;
        let resumed = match self {
            Self::Unknown => true,
            Self::Resuming { .. } => !resuming,
            Self::Off | Self::BySelf { .. } => false,
        };
        if resumed {
            *self = Self::Off;
        }
        let pauses = !draining && unfit && affords_pause;
        if pauses && !self.is_by_self() {
            *self = Self::BySelf { since: height };
        }
        if !pauses && self.is_long_enough(height) && !pausing {
            *self = Self::Off;
        }
        draining || pauses
    }

    /// The transaction to resume was replaced by another one: the next attempt need not wait.
    pub(super) fn resume_lost(&mut self) {
        *self = match self {
            Self::Resuming { .. } => Self::Resuming { since: 0 },
            _ => Self::BySelf { since: 0 },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIT: Fitness = Fitness {
        height: 100,
        draining: false,
        unfit: false,
        affords_pause: true,
        resume: true,
        pausing: false,
        resuming: false,
    };
    const UNFIT: Fitness = Fitness { unfit: true, ..FIT };

    #[test]
    fn unfit_runner_pauses_and_resumes_after_the_least_time() {
        let mut pause = Pause::Unknown;
        assert!(pause.seen_active(UNFIT));
        assert_eq!(pause, Pause::BySelf { since: 100 });
        assert!(!pause.seen_paused(Fitness { height: 119, ..FIT }), "too soon");
        assert!(!pause.seen_paused(Fitness { height: 120, ..UNFIT }));
        assert!(pause.seen_paused(Fitness { height: 120, ..FIT }));
        assert!(!pause.seen_active(Fitness { height: 121, resuming: true, ..FIT }));
        assert!(pause.is_by_self(), "the chain may be behind the transaction");
        assert!(!pause.seen_active(Fitness { height: 122, ..FIT }));
        assert_eq!(pause, Pause::Off);
    }

    #[test]
    fn pause_of_the_operator_is_kept() {
        let mut pause = Pause::Off;
        assert!(!pause.seen_paused(FIT));
        let mut earlier = Pause::Unknown;
        assert!(!earlier.seen_paused(Fitness { resume: false, ..FIT }));
        assert!(earlier.seen_paused(FIT));
    }

    #[test]
    fn draining_runner_pauses_and_never_resumes() {
        let draining = Fitness { draining: true, ..FIT };
        let mut pause = Pause::Off;
        assert!(pause.seen_active(draining));
        assert!(!pause.is_by_self() && !pause.seen_paused(draining));
    }

    #[test]
    fn lost_resume_is_repeated_at_once() {
        let mut pause = Pause::BySelf { since: 100 };
        assert!(pause.seen_paused(Fitness { height: 120, ..FIT }));
        assert!(!pause.seen_paused(Fitness { height: 121, ..FIT }));
        pause.resume_lost();
        assert!(pause.seen_paused(Fitness { height: 121, ..FIT }));
    }
}
