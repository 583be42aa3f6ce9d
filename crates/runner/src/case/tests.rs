//! The next step of a runner, at every point of a job's life.

use super::*;
use crate::testing::seat;
use remuda_protocol::primitives::{B256, Height};

const ME: Address = Address::repeat_byte(1);
const BEA: Address = Address::repeat_byte(2);
const CY: Address = Address::repeat_byte(3);
const COMMIT_BY: u64 = 136;
const AGGREGATOR_UNTIL: u64 = 166;
const REVEAL_BY: u64 = 196;
const VOTE: VerificationMode = VerificationMode::MajorityVote;

fn job(status: Status, aggregator: Option<Address>, mine: SeatState, others: SeatState) -> Job {
    let seats = vec![seat(ME, mine), seat(BEA, others), seat(CY, others)];
    crate::testing::job(status, aggregator, seats)
}

const COMMITTED: SeatState = SeatState::Committed { commitment: B256::ZERO, at: Height(110) };
const REVEALED: SeatState = SeatState::Revealed { result_hash: B256::ZERO };

fn step(job: &Job, held: Held, from: &[Address], height: u64) -> Step {
    next(ME, job, VOTE, held, &Collected { from: from.to_vec() }, height)
}

#[test]
fn work_then_commit_then_wait_for_the_others() {
    let drawn = job(Status::Assigned, Some(BEA), SeatState::Waiting, SeatState::Waiting);
    assert_eq!(step(&drawn, Held::Nothing, &[], 101), Step::Execute);
    assert_eq!(step(&drawn, Held::Result, &[], 101), Step::Commit);
    assert_eq!(step(&drawn, Held::Result, &[], COMMIT_BY - 1), Step::Commit);
    assert_eq!(step(&drawn, Held::Result, &[], COMMIT_BY), Step::Close(End::Missed));
    assert_eq!(step(&drawn, Held::NoResult, &[], 101), Step::Close(End::Missed));
    let committed = job(Status::Assigned, Some(BEA), COMMITTED, SeatState::Waiting);
    assert_eq!(step(&committed, Held::Result, &[], 120), Step::Wait);
}

#[test]
fn a_single_runner_commits_to_nothing() {
    let drawn = job(Status::Assigned, None, SeatState::Waiting, SeatState::Waiting);
    for mode in [VerificationMode::None, VerificationMode::EconomicBond] {
        let collected = Collected::default();
        assert_eq!(next(ME, &drawn, mode, Held::Result, &collected, 101), Step::Submit);
    }
}

#[test]
fn nobody_shows_a_result_before_commits_are_closed() {
    for height in 100..300 {
        for held in [Held::Nothing, Held::Result, Held::NoResult, Held::Lost] {
            for mine in [SeatState::Waiting, COMMITTED] {
                let open = job(Status::Assigned, Some(BEA), mine, COMMITTED);
                let shows = matches!(
                    step(&open, held, &[BEA, CY], height),
                    Step::HandOver(_) | Step::RevealAll(_) | Step::RevealOwn
                );
                assert!(!shows, "at {height} with {held:?}");
            }
        }
    }
}

#[test]
fn members_hand_over_and_open_for_themselves_when_the_aggregator_is_late() {
    let closed = job(Status::Committed, Some(BEA), COMMITTED, COMMITTED);
    assert_eq!(step(&closed, Held::Result, &[], COMMIT_BY), Step::HandOver(BEA));
    assert_eq!(step(&closed, Held::Result, &[], AGGREGATOR_UNTIL - 1), Step::HandOver(BEA));
    assert_eq!(step(&closed, Held::Result, &[], AGGREGATOR_UNTIL), Step::RevealOwn);
    let headless = job(Status::Committed, None, COMMITTED, COMMITTED);
    assert_eq!(step(&headless, Held::Result, &[], COMMIT_BY), Step::RevealOwn);
    let revealed = job(Status::Committed, Some(BEA), REVEALED, COMMITTED);
    assert_eq!(step(&revealed, Held::Result, &[], COMMIT_BY), Step::Wait);
}

#[test]
fn a_committed_runner_reveals_before_the_deadline_regardless_of_the_aggregator() {
    let closed = job(Status::Committed, Some(BEA), COMMITTED, COMMITTED);
    let last: Vec<_> =
        (REVEAL_BY - 20..REVEAL_BY).map(|h| step(&closed, Held::Result, &[], h)).collect();
    assert!(last.iter().all(|step| *step == Step::RevealOwn), "{last:?}");
}

#[test]
fn the_aggregator_waits_for_all_and_then_opens_what_it_has() {
    let closed = job(Status::Committed, Some(ME), COMMITTED, COMMITTED);
    assert_eq!(step(&closed, Held::Result, &[BEA], COMMIT_BY), Step::Wait);
    let all = Step::RevealAll(vec![ME, BEA, CY]);
    assert_eq!(step(&closed, Held::Result, &[CY, BEA], COMMIT_BY), all);
    let pressed = step(&closed, Held::Result, &[CY], AGGREGATOR_UNTIL - 5);
    assert_eq!(pressed, Step::RevealAll(vec![ME, CY]));
    // What came later is opened later.
    let rest = job(Status::Committed, Some(ME), REVEALED, COMMITTED);
    assert_eq!(step(&rest, Held::Result, &[], AGGREGATOR_UNTIL), Step::Wait);
    assert_eq!(
        step(&rest, Held::Result, &[BEA, CY], AGGREGATOR_UNTIL),
        Step::RevealAll(vec![BEA, CY])
    );
}

#[test]
fn a_commit_without_its_result_is_a_crash_to_own_up_to() {
    let committed = job(Status::Assigned, Some(BEA), COMMITTED, SeatState::Waiting);
    for held in [Held::Lost, Held::Nothing, Held::NoResult] {
        assert_eq!(step(&committed, held, &[], 120), Step::AttestCrash);
    }
}

#[test]
fn what_is_over_is_closed() {
    let ends = [
        (Status::Settled, End::Settled),
        (Status::Failed { reason: Failure::NoRunners }, End::Failed(Failure::NoRunners)),
        (Status::Cancelled, End::Cancelled),
    ];
    for (status, end) in ends {
        let over = job(status, None, COMMITTED, COMMITTED);
        assert_eq!(step(&over, Held::Result, &[], 150), Step::Close(end));
    }
    for out in [SeatState::Crashed, SeatState::TimedOut, SeatState::Slashed] {
        let unseated = job(Status::Committed, None, out, COMMITTED);
        assert_eq!(step(&unseated, Held::Result, &[], 150), Step::Close(End::Unseated));
    }
}
