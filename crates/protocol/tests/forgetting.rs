//! What leaves the state by itself, and that a chain under steady load does not grow.

use crate::common;

use common::{ANSWER, World, calm, single_job, vote_job};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::Status;
use remuda_protocol::dispatcher::roster::WARM_BLOCKS;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::event::Event;
use remuda_protocol::key::*;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Amount, Height, JobId};
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeMap;

const RETENTION: u64 = 20;
const PRICE: Amount = Amount::cby(9);

fn forgetful() -> ChainParams {
    let mut params = calm();
    params.job_retention_blocks = RETENTION;
    params.mru_ttl_blocks = 10;
    params
}

/// Keys and bytes of each kind of record.
fn census(world: &World) -> BTreeMap<u8, (usize, usize)> {
    let mut census = BTreeMap::new();
    for (key, value) in world.chain.state.entries().iter() {
        let kind: &mut (usize, usize) = census.entry(key[0]).or_default();
        *kind = (kind.0 + 1, kind.1 + key.len() + value.len());
    }
    census
}

fn count(world: &World, tag: u8) -> usize {
    world.chain.state.entries_of(tag).count()
}

/// Records that a job has to itself.
fn records_of(world: &World, job: JobId) -> usize {
    let entries = world.chain.state.entries();
    let keys = entries.iter().map(|(key, _)| key);
    keys.filter(|key| key.windows(32).any(|part| part == job.as_slice())).count()
}

// spec §5.13
#[test]
fn ended_jobs_leave_the_state_after_their_retention_however_they_ended() {
    let mut world = World::new(forgetful(), 5);
    let settled = world.settled(vote_job(3, PRICE));
    let single = world.settled(single_job(VerificationMode::None, PRICE));
    let cancelled = world.submit(vote_job(3, PRICE));
    let customer = world.customer();
    world.ok(&customer, Instruction::CancelJob { job: cancelled });
    // Nobody works on it, until nobody is left to be drawn.
    let failed = world.assigned(vote_job(3, PRICE));
    while !matches!(world.status(failed), Status::Failed { .. }) {
        world.step();
    }
    let jobs = [settled, single, cancelled, failed];
    assert!(world.chain.result(single).is_some_and(|result| *result.result == *ANSWER));
    assert!(world.chain.job(failed).is_some());
    let end = world.chain.height().plus(RETENTION);
    world.step_to(end.minus(1));
    assert!(world.chain.job(failed).is_some(), "it is kept for all of the retention");
    world.step_to(end);
    for job in jobs {
        assert_eq!(records_of(&world, job), 0);
    }
    for tag in [JobKey::TAG, JobSpecKey::TAG, ResultKey::TAG, RevealKey::TAG, PendingKey::TAG] {
        assert_eq!(count(&world, tag), 0, "tag {tag}");
    }
    let refused = world.run(&customer, Instruction::CancelJob { job: settled });
    assert_eq!(refused.code, remuda_protocol::error::Refusal::UnknownJob.code());
}

#[test]
fn a_bonded_job_stays_until_its_window_has_passed() {
    let mut params = forgetful();
    params.job_retention_blocks = 2;
    params.dispute_blocks = 15;
    let mut world = World::new(params, 12);
    let job = world.settled(single_job(VerificationMode::EconomicBond, PRICE));
    let until = world.bond(job).unwrap().until;
    world.step_to(until);
    assert!(world.chain.job(job).is_some() && world.chain.result(job).is_some());
    world.step_to(until.plus(17));
    assert_eq!(records_of(&world, job), 0);
}

#[test]
fn a_bonded_job_stays_until_its_trial_is_over() {
    let mut params = forgetful();
    params.job_retention_blocks = 2;
    params.dispute_blocks = 15;
    let mut world = World::new(params, 12);
    let job = world.settled(single_job(VerificationMode::EconomicBond, PRICE));
    let until = world.bond(job).unwrap().until;
    world.step_to(until.minus(1));
    let challenger = world.stranger();
    let receipt = world.ok(&challenger, Instruction::ChallengeResult { job });
    let trial = receipt.events.iter().find_map(|event| match event {
        Event::ResultChallenged { by_job, .. } => Some(*by_job),
        _ => None,
    });
    let trial = trial.expect("it is on trial");
    world.await_draw(trial);
    world.step_to(until.plus(8));
    assert!(world.bond(job).unwrap().trial.is_some());
    assert!(world.chain.result(job).is_some(), "the trial compares with it");
    world.commit_all(trial, ANSWER);
    let events = world.reveal_all(trial, ANSWER);
    assert!(events.iter().any(|event| matches!(event, Event::ChallengeRejected { .. })));
    let released = world.bond(job).unwrap().until;
    world.step_to(released.plus(40));
    assert_eq!(records_of(&world, job) + records_of(&world, trial), 0);
}

// spec §5.13
#[test]
fn favours_and_warm_queries_leave_when_they_lapse_and_stay_while_they_are_renewed() {
    let mut world = World::new(forgetful(), 5);
    for _ in 0..6 {
        world.settled(vote_job(3, PRICE));
        assert_eq!(count(&world, MruKey::TAG), 1);
        assert!(count(&world, WarmKey::TAG) > 0);
    }
    let end = world.chain.height();
    world.step_to(end.plus(10));
    assert_eq!(count(&world, MruKey::TAG), 1, "it still favours somebody");
    world.step_to(end.plus(11));
    assert_eq!(count(&world, MruKey::TAG), 0);
    world.step_to(end.plus(WARM_BLOCKS + 1));
    assert_eq!(count(&world, WarmKey::TAG), 0);
    world.step_to(end.plus(RETENTION + 1));
    assert_eq!(count(&world, AgendaKey::TAG), 0, "nothing is promised any more");
    assert_eq!(count(&world, AgendaLengthKey::TAG), 0);
}

/// Before there was forgetting, each of these queries stayed for ever, at the price of a job that
/// is cancelled at once.
#[test]
fn queries_of_cancelled_jobs_do_not_pile_up() {
    let mut world = World::new(forgetful(), 5);
    let customer = world.customer();
    for i in 0..60 {
        let spec = JobSpec { max_price: Amount(PRICE.get() + i * 1_000), ..vote_job(3, PRICE) };
        let job = world.submit(spec);
        world.ok(&customer, Instruction::CancelJob { job });
    }
    assert!(count(&world, WarmKey::TAG) <= WARM_BLOCKS as usize + 2);
    assert!(count(&world, JobKey::TAG) <= RETENTION as usize / 2 + 1);
}

#[test]
fn forgetting_waits_for_room_in_the_agenda_and_is_done_then() {
    let mut world = World::new(forgetful(), 5);
    let jobs: Vec<JobId> = (0..4).map(|_| world.settled(vote_job(3, PRICE))).collect();
    let last = world.chain.height().plus(RETENTION);
    let busy = Height(last.get() + 1);
    world.step_to(last.minus(1));
    // Two blocks of other promises come before what is promised from now on.
    let job = world.assigned(vote_job(3, PRICE));
    let customer = world.customer();
    world.step_to(busy);
    world.crowd(world.chain.height().plus(RETENTION + 1), 2);
    world.ok(&customer, Instruction::CancelJob { job });
    let due = world.chain.height().plus(RETENTION);
    world.step_to(due.plus(1));
    assert!(world.chain.job(job).is_some(), "other promises were first");
    world.step_to(due.plus(2));
    assert_eq!(jobs.iter().chain([&job]).map(|job| records_of(&world, *job)).sum::<usize>(), 0);
}

/// The whole state, by kind, after twice and after six times the retention.
#[test]
fn state_is_bounded_under_steady_load() {
    let mut world = World::new(forgetful(), 9);
    world.chain.paranoid = false;
    let mut marks = Vec::new();
    for round in 0..60 {
        let spec = vote_job(3, Amount(PRICE.get() + round % 7 * 1_000_000));
        world.settled(spec);
        world.settled(single_job(VerificationMode::None, PRICE));
        let customer = world.customer();
        let cancelled = world.submit(vote_job(3, PRICE));
        world.run(&customer, Instruction::CancelJob { job: cancelled });
        if round == 20 || round == 59 {
            marks.push((world.chain.height(), census(&world)));
        }
    }
    let [(early, before), (late, after)] = &marks[..] else { panic!("two marks") };
    assert!(late.get() - early.get() > 10 * RETENTION, "{early} to {late}");
    for (tag, (keys, bytes)) in after {
        // The last 8,192 views; bounded, but not within this test.
        if *tag == BeaconKey::TAG {
            continue;
        }
        let (keys_before, bytes_before) = before.get(tag).copied().unwrap_or_default();
        assert!(
            *keys <= keys_before + keys_before / 10 + 3 && *bytes <= bytes_before * 11 / 10 + 400,
            "tag {tag}: {keys_before} keys of {bytes_before} bytes became {keys} of {bytes}"
        );
    }
}

/// What a finished job holds for its retention: the numbers of docs/state.md.
#[test]
fn finished_job_size_matches_the_documentation() {
    let mut params = forgetful();
    params.job_retention_blocks = 10_000;
    let mut world = World::new(params, 12);
    world.chain.paranoid = false;
    // One of each first: what all share is there then.
    let specs = [vote_job(3, PRICE), single_job(VerificationMode::None, PRICE)];
    for spec in &specs {
        world.settled(spec.clone());
    }
    let permanent = |world: &World| -> usize {
        let lasting = [BeaconKey::TAG, AncestorKey::TAG, RunnerKey::TAG, ChainKey::TAG];
        let sizes = census(world).into_iter().filter(|(tag, _)| !lasting.contains(tag));
        sizes.map(|(_, (_, bytes))| bytes).sum()
    };
    let per_job = specs.map(|spec| {
        let before = permanent(&world);
        for _ in 0..50 {
            world.settled(spec.clone());
        }
        (permanent(&world) - before) / 50
    });
    println!("bytes of a finished job: {per_job:?} (vote of three, single runner)");
    let [vote, single] = per_job;
    assert!((1_000..1_200).contains(&vote), "{vote}");
    assert!((650..850).contains(&single), "{single}");
}

#[test]
fn every_kind_of_record_has_one_row_in_docs_state() {
    let table = include_str!("../../../docs/state.md");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    let source = include_str!("../src/rules/key.rs");
    let kinds = source.lines().filter_map(|line| line.trim().split_once(" => "));
    let kinds = kinds.filter(|(tag, _)| tag.parse::<u8>().is_ok());
    let mut names: Vec<&str> = kinds.filter_map(|(_, kind)| kind.split(' ').next()).collect();
    names.extend(["StorageKey", "StorageNodeKey"]);
    assert!(names.len() > 40, "the table of keys is not where it was");
    for name in names {
        let name = format!("`{name}`");
        let found = rows.iter().filter(|row| row.contains(&name)).count();
        assert_eq!(found, 1, "{name}");
    }
}
