//! The answer to an assignment, and whether the chain agrees with it.
//!
//! The answer is immediate and uses local knowledge only. The chain is asked before any work begins. Until then
//! a job counts only against its validator's share of slots, so that made up jobs do not displace others.

use super::unsupported::UnsupportedJob;
use remuda_link::frame::{AckStatus, RejectReason};
use remuda_protocol::codec::Encode as _;
use remuda_protocol::dispatcher::job::Job;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::primitives::Address;

/// Blocks before the deadline in which no work begins: a result needs a block to be included.
pub const MARGIN_BLOCKS: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Jobs confirmed by the chain and without a result.
    pub busy: usize,
    /// Jobs of this validator that are not checked yet.
    pub unchecked: usize,
    pub slots: usize,
    pub draining: bool,
    /// The balance does not cover one more job.
    pub broke: bool,
}

/// Whether this (job, attempt) was seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    No,
    /// Open or done.
    Same,
    /// Another selection of the job is open.
    OtherAttempt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub reason: RejectReason,
    pub words: String,
    /// For the operator.
    pub advice: Option<String>,
}

impl Refused {
    pub fn text(&self) -> String {
        match &self.advice {
            Some(advice) => format!("{}; {advice}", self.words),
            None => self.words.clone(),
        }
    }
}

pub fn answer(
    known: Known,
    spec: Option<&JobSpec>,
    deadline: u64,
    height: u64,
    load: Load,
    able: impl Fn(&JobSpec) -> Result<(), UnsupportedJob>,
) -> Result<AckStatus, Refused> {
    let reject = |reason, words: &str, advice: &str| {
        let advice = Some(advice.to_owned()).filter(|advice| !advice.is_empty());
        Err(Refused { reason, words: words.to_owned(), advice })
    };
    match known {
        Known::Same => return Ok(AckStatus::Duplicate),
        Known::OtherAttempt => {
            let words = "another selection of the job is open";
            return reject(RejectReason::NotAssigned, words, "");
        }
        Known::No => {}
    }
    if load.draining {
        return reject(RejectReason::Draining, "the runner is draining", "");
    }
    let Some(spec) = spec else {
        let advice = "the network may be newer than this runner: update it";
        return reject(RejectReason::NotAssigned, "malformed specification", advice);
    };
    if let Err(unable) = able(spec) {
        return reject(RejectReason::Capability, &unable.words(), &unable.advice());
    }
    if height.saturating_add(MARGIN_BLOCKS) > deadline {
        return reject(RejectReason::TooLate, "no time left", "");
    }
    if load.busy >= load.slots || load.unchecked >= load.slots {
        let advice = "raise `slots` in runner.toml, or lower it and run: remuda runner update";
        return reject(RejectReason::Capacity, "all slots are taken", advice);
    }
    if load.broke {
        let words = "the runner cannot pay the fees";
        return reject(RejectReason::Capacity, words, "send money to its account");
    }
    Ok(AckStatus::Accepted)
}

/// What the chain makes of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The job is this runner's, by this selection. The text names a field in which the assignment
    /// differed: the chain's value counts, so a lie that arrives first cannot suppress the job.
    Ours(u32, Option<&'static str>),
    /// The node does not know the block of the assignment yet.
    Behind,
    /// It is not this runner's.
    NotOurs(&'static str),
}

/// The claims of an assignment.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    pub attempt: u32,
    pub assigned_at: u64,
    /// The specification; none if the job was found in the state itself.
    pub spec: Option<&'a JobSpec>,
}

/// Compares an assignment with the state at `height`.
pub fn verdict(
    me: Address,
    claim: Claim<'_>,
    height: u64,
    job: Option<&Job>,
    spec: Option<&JobSpec>,
) -> Verdict {
    let mine = |exact: bool| {
        let seats = job.iter().flat_map(|job| &job.seats);
        let mut seats = seats.filter(move |seat| {
            seat.runner == me
                && (seat.attempt == claim.attempt || (!exact && seat.progress.takes_part()))
        });
        seats.next()
    };
    let (Some(seat), Some(spec)) = (mine(true).or_else(|| mine(false)), spec) else {
        return match job {
            _ if height < claim.assigned_at => Verdict::Behind,
            None => Verdict::NotOurs("the chain does not have the job"),
            Some(_) => Verdict::NotOurs("the runner was not drawn for the job"),
        };
    };
    let lie = if seat.attempt != claim.attempt {
        Some("wrong selection")
    } else if claim.spec.is_some_and(|claimed| claimed.to_bytes() != spec.to_bytes()) {
        Some("wrong specification")
    } else {
        None
    };
    Verdict::Ours(seat.attempt, lie)
}

#[cfg(test)]
mod tests {
    use super::super::abilities::Abilities;
    use super::*;
    use crate::testing::{http_spec, job, seat, settings};
    use remuda_protocol::dispatcher::job::{SeatState, Status};

    const ME: Address = Address::repeat_byte(1);
    const FREE: Load = Load { busy: 0, unchecked: 0, slots: 2, draining: false, broke: false };

    fn ask(known: Known, load: Load, deadline: u64) -> AckStatus {
        let spec = http_spec("GET", "http://example.com/");
        let able = Abilities::of(&settings("[http]"));
        let able = |spec: &JobSpec| able.check(spec, None);
        answer(known, Some(&spec), deadline, 100, load, able)
            .unwrap_or_else(|refused| AckStatus::Reject(refused.reason))
    }

    #[test]
    fn the_first_is_taken_and_the_others_are_told() {
        assert_eq!(ask(Known::No, FREE, 136), AckStatus::Accepted);
        assert_eq!(ask(Known::Same, FREE, 136), AckStatus::Duplicate);
        let full = Load { busy: 2, draining: true, ..FREE };
        assert_eq!(ask(Known::Same, full, 136), AckStatus::Duplicate, "whatever else is the case");
    }

    #[test]
    fn every_no_has_its_reason() {
        let reject = AckStatus::Reject;
        assert_eq!(
            ask(Known::No, Load { draining: true, ..FREE }, 136),
            reject(RejectReason::Draining)
        );
        assert_eq!(ask(Known::No, Load { busy: 2, ..FREE }, 136), reject(RejectReason::Capacity));
        assert_eq!(
            ask(Known::No, Load { broke: true, ..FREE }, 136),
            reject(RejectReason::Capacity)
        );
        assert_eq!(ask(Known::No, FREE, 101), reject(RejectReason::TooLate));
        assert_eq!(ask(Known::No, FREE, 102), AckStatus::Accepted);
        assert_eq!(ask(Known::OtherAttempt, FREE, 136), reject(RejectReason::NotAssigned));
        let able = Abilities::of(&settings("[dns]"));
        let spec = http_spec("GET", "http://example.com/");
        let able = |spec: &JobSpec| able.check(spec, None);
        let refused = answer(Known::No, Some(&spec), 136, 100, FREE, able).unwrap_err();
        assert_eq!(refused.reason, RejectReason::Capability);
        assert!(refused.text().contains("[http]"), "it names the setting: {}", refused.text());
        assert!(!refused.words.contains("runner.toml"), "advice is for the operator only");
        let refused = answer(Known::No, None, 136, 100, FREE, able).unwrap_err();
        assert_eq!(refused.reason, RejectReason::NotAssigned);
    }

    #[test]
    fn a_validator_that_makes_jobs_up_takes_no_place() {
        let flooded = Load { unchecked: 2, ..FREE };
        let refused = AckStatus::Reject(RejectReason::Capacity);
        assert_eq!(ask(Known::No, flooded, 136), refused, "its own next one");
        assert_eq!(ask(Known::No, FREE, 136), AckStatus::Accepted, "another validator's");
    }

    #[test]
    fn the_chain_has_the_last_word() {
        let spec = http_spec("GET", "http://example.com/");
        let other = http_spec("GET", "http://example.org/");
        let drawn = job(Status::Assigned, None, vec![seat(ME, SeatState::Waiting)]);
        let foreign = job(Status::Assigned, None, vec![seat(Address::ZERO, SeatState::Waiting)]);
        let look = |attempt, height, job: Option<&_>, claimed: &JobSpec| {
            let claim = Claim { attempt, assigned_at: 100, spec: Some(claimed) };
            verdict(ME, claim, height, job, Some(&spec))
        };
        assert_eq!(look(0, 100, Some(&drawn), &spec), Verdict::Ours(0, None));
        assert_eq!(look(0, 99, None, &spec), Verdict::Behind);
        assert!(matches!(look(0, 100, None, &spec), Verdict::NotOurs(_)));
        assert!(matches!(look(0, 100, Some(&foreign), &spec), Verdict::NotOurs(_)));
        assert!(matches!(look(3, 100, Some(&drawn), &spec), Verdict::Ours(0, Some(_))));
        assert!(matches!(look(0, 100, Some(&drawn), &other), Verdict::Ours(0, Some(_))));
    }

    #[test]
    fn a_seat_that_was_lost_is_known_as_such() {
        let spec = http_spec("GET", "http://example.com/");
        let lost = job(Status::Assigned, None, vec![seat(ME, SeatState::TimedOut)]);
        let claim = |attempt| Claim { attempt, assigned_at: 100, spec: Some(&spec) };
        let look = |attempt| verdict(ME, claim(attempt), 100, Some(&lost), Some(&spec));
        assert_eq!(look(0), Verdict::Ours(0, None), "it was so, and is over");
        assert!(matches!(look(1), Verdict::NotOurs(_)));
    }
}
