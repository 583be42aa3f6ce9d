use super::*;
use crate::case::End;
use crate::testing::{http_spec, job, seat};
use remuda_protocol::dispatcher::job::Status;
use remuda_protocol::primitives::Height;
use remuda_protocol::verifier::commitment::result_digest;

const JOB: B256 = B256::repeat_byte(1);

fn identity() -> Identity {
    let key = SecretKey::from_label("runner");
    Identity { chain_id: 7, me: key.address(), key }
}

fn outcome(result: &[u8]) -> Outcome {
    let Identity { chain_id, key, me } = identity();
    let digest = result_digest(chain_id, JOB, 0, me, result);
    Outcome { delivery: result.into(), salt: B256::repeat_byte(3), result_sig: key.sign(&digest) }
}

fn entry(method: &str, stage: Stage) -> Entry {
    let spec = http_spec(method, "http://example.com/");
    Entry { job_id: JOB, attempt: 0, spec, stage }
}

fn after_restart(method: &str, stage: Stage, progress: SeatState) -> Step {
    let mut open = OpenJob::recalled(entry(method, stage), 100);
    let job = job(Status::Assigned, None, vec![seat(identity().me, progress)]);
    open.check = ChainCheck::Passed { pinned: false };
    open.update(
        &identity(),
        JobSnapshot { height: 101, job: Some(job), spec: None, pinned: false },
    );
    open.step(&identity()).unwrap().1
}

fn committed(result: &[u8]) -> SeatState {
    let mut open = OpenJob::new(JOB, 0, None, 100);
    open.work = Work::Done(outcome(result));
    let commitment = open.commitment(&identity(), &outcome(result));
    SeatState::Committed { commitment, at: Height(100) }
}

#[test]
fn only_repeatable_work_begins_again_after_a_restart() {
    assert_eq!(after_restart("GET", Stage::Begun, SeatState::Waiting), Step::Execute);
    let missed = Step::Close(End::Missed);
    assert_eq!(after_restart("POST", Stage::Begun, SeatState::Waiting), missed);
    assert_eq!(after_restart("POST", Stage::Taken, SeatState::Waiting), Step::Execute);
    let failed = Stage::Failed("why".to_owned());
    assert_eq!(after_restart("GET", failed, SeatState::Waiting), missed);
}

#[test]
fn result_of_the_journal_is_committed_and_a_lost_one_attested() {
    let done = Stage::Done(outcome(b"42"));
    assert_eq!(after_restart("POST", done.clone(), SeatState::Waiting), Step::Commit);
    assert_eq!(after_restart("POST", done, committed(b"42")), Step::Wait);
    assert_eq!(after_restart("GET", Stage::Begun, committed(b"42")), Step::AttestCrash);
}

#[test]
fn result_without_its_commitment_is_never_revealed() {
    let done = Stage::Done(outcome(b"42"));
    assert_eq!(after_restart("GET", done, committed(b"43")), Step::AttestCrash);
}

#[test]
fn older_snapshot_is_ignored() {
    let mut open = OpenJob::recalled(entry("GET", Stage::Taken), 100);
    let at = |height, status| JobSnapshot {
        height,
        job: Some(job(status, None, vec![])),
        spec: None,
        pinned: false,
    };
    open.update(&identity(), at(101, Status::Settled));
    open.update(&identity(), at(100, Status::Assigned));
    assert_eq!(open.view.unwrap().1.status, Status::Settled);
}

#[test]
fn aggregate_fits_into_a_transaction() {
    let mut open = OpenJob::recalled(entry("GET", Stage::Done(outcome(&[7; 60_000]))), 100);
    let others: Vec<Address> = (1..4).map(Address::repeat_byte).collect();
    for other in &others {
        let reveal = Reveal { runner: *other, ..open.reveal(&identity()).unwrap() };
        open.collected.insert(*other, reveal);
    }
    let all: Vec<Address> = std::iter::once(identity().me).chain(others).collect();
    let reveals = open.aggregate(&identity(), &all);
    assert_eq!(reveals.iter().map(|reveal| reveal.runner).collect::<Vec<_>>(), all[..2]);
}
