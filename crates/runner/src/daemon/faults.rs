//! A circuit breaker for each part of the runner that work depends on.
//!
//! A full disk or a revoked provider key makes every job fail. A runner that carries on is drawn again,
//! misses again, and is jailed after three misses. So a fault opens the circuit of its part: the runner refuses
//! jobs that need the part and pauses on chain, and its operator sees why. The part is then tested without a
//! job, and a passed test closes the circuit. A part that cannot be tested is trusted again after a pause that
//! doubles with every fault in a row.
//!
//! A certain failure opens the circuit at once. Otherwise two jobs in a row must fail, so that a server
//! restart, a lost worker or a job that crashes its executor costs one job only.

use crate::backoff::Backoff;
use std::collections::BTreeMap;
use std::time::Duration;

/// The part that every job needs.
pub(crate) const JOURNAL: &str = "journal";
/// Suspected failures in a row that open a circuit.
const STRIKES: u32 = 2;
/// How long a part that cannot be tested stays open.
const PAUSE: Backoff =
    Backoff { first: Duration::from_secs(5 * 60), max: Duration::from_secs(60 * 60) };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// The part itself reports the fault.
    Certain,
    /// The failure may be chance.
    Suspected,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartTest {
    Passed,
    Failed(String),
    /// Only a job can tell.
    NotTestable,
}

#[derive(Clone, Debug, Default)]
struct Part {
    /// Jobs that failed since the last success.
    strikes: u32,
    /// Openings since the last success.
    openings: u32,
    open: Option<OpenJob>,
}

#[derive(Clone, Debug)]
struct OpenJob {
    why: String,
    /// When a part that cannot be tested is trusted again.
    until_ms: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(BTreeMap<String, Part>);

impl Faults {
    /// Records a failure. Returns whether it opened the part. Call it once per job for suspected faults.
    pub(crate) fn strike(
        &mut self,
        name: &str,
        why: &str,
        certainty: Certainty,
        now_ms: u64,
    ) -> bool {
        let part = self.0.entry(name.to_owned()).or_default();
        part.strikes = part.strikes.saturating_add(1);
        if let Some(open) = &mut part.open {
            why.clone_into(&mut open.why);
            return false;
        }
        if certainty == Certainty::Suspected && part.strikes < STRIKES {
            return false;
        }
        let pause_ms = u64::try_from(PAUSE.pause(part.openings).as_millis()).unwrap_or(u64::MAX);
        part.openings = part.openings.saturating_add(1);
        part.open =
            Some(OpenJob { why: why.to_owned(), until_ms: now_ms.saturating_add(pause_ms) });
        true
    }

    /// A part did a job. Returns whether that closed it.
    pub(crate) fn works(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some_and(|part| part.open.is_some())
    }

    /// Records a test of an open part. Returns whether that closed it.
    pub(crate) fn tested(&mut self, name: &str, test: PartTest, now_ms: u64) -> bool {
        let Some(part) = self.0.get_mut(name) else { return false };
        let Some(open) = &mut part.open else { return false };
        match test {
            PartTest::Passed => return self.works(name),
            PartTest::Failed(why) => open.why = why,
            PartTest::NotTestable if now_ms >= open.until_ms => {
                // One more failure opens it again, for longer.
                (part.open, part.strikes) = (None, STRIKES - 1);
                return true;
            }
            PartTest::NotTestable => {}
        }
        false
    }

    /// Why a job that needs these parts cannot be executed.
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
                "not working: {}. The runner refuses jobs that need it and pauses on chain until a test \
                 succeeds",
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
    fn certain_fault_opens_at_once_and_a_suspected_one_at_the_second() {
        let mut faults = Faults::default();
        assert!(faults.strike(MODEL, "status 401", Certainty::Certain, 0) && is_open(&faults));
        assert!(!faults.strike(MODEL, "status 403", Certainty::Certain, 0), "it is open already");
        assert_eq!(faults.of([MODEL].into_iter()), Some("status 403"));
        assert_eq!(faults.of(["http"].into_iter()), None, "others are not concerned");

        let mut faults = Faults::default();
        assert!(!faults.strike(MODEL, "lost", Certainty::Suspected, 0));
        faults.works(MODEL);
        assert!(!faults.strike(MODEL, "lost", Certainty::Suspected, 0), "not in a row");
        assert!(faults.strike(MODEL, "lost", Certainty::Suspected, 0) && is_open(&faults));
    }

    #[test]
    fn only_a_passed_test_closes_a_part() {
        let mut faults = Faults::default();
        faults.strike(MODEL, "status 401", Certainty::Certain, 0);
        assert!(!faults.tested(MODEL, PartTest::Failed("status 402".to_owned()), 1_000));
        assert!(faults.problem().unwrap().contains("status 402"));
        assert!(faults.tested(MODEL, PartTest::Passed, 2_000) && !faults.any());
        assert_eq!(faults.problem(), None);
    }

    #[test]
    fn untestable_part_is_trusted_after_pauses_that_double() {
        let mut faults = Faults::default();
        let (mut now, first) = (0, 300_000);
        for pause in [first, 2 * first, 4 * first, 8 * first, 12 * first, 12 * first] {
            let certainty = if now == 0 { Certainty::Certain } else { Certainty::Suspected };
            assert!(faults.strike(MODEL, "panicked", certainty, now), "once is enough by now");
            assert!(!faults.tested(MODEL, PartTest::NotTestable, now + pause - 1));
            now += pause;
            assert!(faults.tested(MODEL, PartTest::NotTestable, now) && !faults.any());
        }
    }

    #[test]
    fn every_job_needs_the_journal() {
        let mut faults = Faults::default();
        faults.strike(JOURNAL, "no space left", Certainty::Certain, 0);
        assert_eq!(faults.of(std::iter::empty()), Some("no space left"));
        assert_eq!(faults.open(), [JOURNAL]);
    }
}
