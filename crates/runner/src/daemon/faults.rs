//! Faults of the runner's own: a circuit breaker for each part that its work depends on.
//!
//! A full disk or a revoked provider key makes every job fail. A runner that carries on is drawn again,
//! misses again, and is jailed after three misses. So a fault *opens* its part, as a circuit: jobs that
//! need the part are refused, the runner pauses on chain, and its operator sees why. The part is then
//! tested without a job, and the fault ends when a test succeeds. Parts that cannot be tested without a
//! job are trusted again after a pause that doubles with every fault in a row.
//!
//! One failure opens a part if it leaves no doubt. Otherwise two jobs in a row must fail, so that a server
//! restart, a lost worker or a job that crashes its executor costs one job only.

use std::collections::BTreeMap;
use std::time::Duration;

/// The part that every job needs.
pub(crate) const JOURNAL: &str = "journal";
/// Jobs in a row whose failure opens a part, where one may be chance.
const STRIKES: u32 = 2;
/// For how long a part that cannot be tried stays open at first, and at most.
const PAUSE_MIN: Duration = Duration::from_secs(5 * 60);
const PAUSE_MAX: Duration = Duration::from_secs(60 * 60);

/// How a failure is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The part itself says that it is out of order.
    None,
    /// The next job may succeed.
    Some,
}

/// What came of trying a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    Works,
    /// It does not, and why.
    Fails(String),
    /// That cannot be told without a job.
    Untold,
}

#[derive(Clone, Debug, Default)]
struct Part {
    /// Jobs that failed since the last success.
    strikes: u32,
    /// Times that it was opened since the last success.
    openings: u32,
    open: Option<Open>,
}

#[derive(Clone, Debug)]
struct Open {
    why: String,
    /// When it is trusted again, if nobody can try it.
    until_ms: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(BTreeMap<String, Part>);

impl Faults {
    /// Records that a part failed at a job, and returns whether that opened it. Unless the failure leaves no doubt,
    /// call it once per job.
    pub(crate) fn strike(&mut self, name: &str, why: &str, doubt: Doubt, now_ms: u64) -> bool {
        let part = self.0.entry(name.to_owned()).or_default();
        part.strikes = part.strikes.saturating_add(1);
        if let Some(open) = &mut part.open {
            why.clone_into(&mut open.why);
            return false;
        }
        if doubt == Doubt::Some && part.strikes < STRIKES {
            return false;
        }
        let pause = PAUSE_MIN.saturating_mul(1 << part.openings.min(8)).min(PAUSE_MAX);
        let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        part.openings = part.openings.saturating_add(1);
        part.open = Some(Open { why: why.to_owned(), until_ms: now_ms.saturating_add(pause_ms) });
        true
    }

    /// A part did a job: what was before does not count any more. Whether that closed it.
    pub(crate) fn works(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some_and(|part| part.open.is_some())
    }

    /// A part that is open was tried. Whether that closed it.
    pub(crate) fn tried(&mut self, name: &str, trial: Trial, now_ms: u64) -> bool {
        let Some(part) = self.0.get_mut(name) else { return false };
        let Some(open) = &mut part.open else { return false };
        match trial {
            Trial::Works => return self.works(name),
            Trial::Fails(why) => open.why = why,
            Trial::Untold if now_ms >= open.until_ms => {
                // The next failure opens it again, for longer.
                (part.open, part.strikes) = (None, STRIKES - 1);
                return true;
            }
            Trial::Untold => {}
        }
        false
    }

    /// Why a job that needs these cannot be done now.
    pub(crate) fn of<'a>(&self, mut needed: impl Iterator<Item = &'a str>) -> Option<&str> {
        let open = |name: &str| Some(self.0.get(name)?.open.as_ref()?.why.as_str());
        open(JOURNAL).or_else(|| needed.find_map(open))
    }

    pub(crate) fn open(&self) -> Vec<String> {
        let open = self.0.iter().filter(|(_, part)| part.open.is_some());
        open.map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn any(&self) -> bool {
        self.0.values().any(|part| part.open.is_some())
    }

    pub(crate) fn problem(&self) -> Option<String> {
        let open = self.0.iter().filter_map(|(name, part)| Some((name, part.open.as_ref()?)));
        let all: Vec<String> = open.map(|(name, open)| format!("{name}: {}", open.why)).collect();
        (!all.is_empty()).then(|| {
            format!(
                "not working: {}. Jobs that need it are refused, and the runner pauses on chain, until a \
                 test succeeds",
                all.join("; ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "model:tiny";

    fn is_open(faults: &Faults) -> bool {
        faults.of([MODEL].into_iter()).is_some()
    }

    #[test]
    fn a_certain_fault_opens_at_once_and_a_doubtful_one_at_the_second_in_a_row() {
        let mut faults = Faults::default();
        assert!(faults.strike(MODEL, "status 401", Doubt::None, 0) && is_open(&faults));
        assert!(!faults.strike(MODEL, "status 403", Doubt::None, 0), "it is open already");
        assert_eq!(faults.of([MODEL].into_iter()), Some("status 403"));
        assert_eq!(faults.of(["http"].into_iter()), None, "others are not concerned");

        let mut faults = Faults::default();
        assert!(!faults.strike(MODEL, "lost", Doubt::Some, 0));
        faults.works(MODEL);
        assert!(!faults.strike(MODEL, "lost", Doubt::Some, 0), "not in a row");
        assert!(faults.strike(MODEL, "lost", Doubt::Some, 0) && is_open(&faults));
    }

    #[test]
    fn a_trial_that_succeeds_closes_a_part_and_one_that_fails_does_not() {
        let mut faults = Faults::default();
        faults.strike(MODEL, "status 401", Doubt::None, 0);
        assert!(!faults.tried(MODEL, Trial::Fails("status 402".to_owned()), 1_000));
        assert!(faults.problem().unwrap().contains("status 402"));
        assert!(faults.tried(MODEL, Trial::Works, 2_000) && !faults.any());
        assert_eq!(faults.problem(), None);
    }

    #[test]
    fn what_cannot_be_tried_is_trusted_after_pauses_that_double() {
        let mut faults = Faults::default();
        let (mut now, first) = (0, 300_000);
        for pause in [first, 2 * first, 4 * first, 8 * first, 12 * first, 12 * first] {
            let doubt = if now == 0 { Doubt::None } else { Doubt::Some };
            assert!(faults.strike(MODEL, "panicked", doubt, now), "once is enough by now");
            assert!(!faults.tried(MODEL, Trial::Untold, now + pause - 1));
            now += pause;
            assert!(faults.tried(MODEL, Trial::Untold, now) && !faults.any());
        }
    }

    #[test]
    fn every_job_needs_the_journal() {
        let mut faults = Faults::default();
        faults.strike(JOURNAL, "no space left", Doubt::None, 0);
        assert_eq!(faults.of(std::iter::empty()), Some("no space left"));
        assert_eq!(faults.open(), [JOURNAL]);
    }
}
