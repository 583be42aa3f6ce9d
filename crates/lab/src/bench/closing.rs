//! `remuda-lab bench closing`: the work that a block does by itself, at its worst.
//!
//! Every block draws committees, counts presence and keeps promises of earlier blocks before and
//! after its transactions. No fee of the block pays for that, so the rules bound it. Each case here
//! prepares the worst that the rules admit of one kind of such work, on a chain with many runners,
//! and times a block without transactions.

use super::world::{SUBMITTER, World, address_of, http, llm, spec_of};
use super::{Output, progress};
use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use remuda::failure::Failure;
use remuda_protocol::actors::record::{Actor, Frame, Wait, WaitOn};
use remuda_protocol::agenda::{Task, WORK_PER_BLOCK};
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::deposit::Held;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Job, Seat, SeatState, Snapshot, Stakes, Status};
use remuda_protocol::dispatcher::spec::{JobKind, JobSpec, JobType};
use remuda_protocol::entries::Entries;
use remuda_protocol::event::Event;
use remuda_protocol::key::{
    ActorKey, AgendaKey, AgendaLengthKey, AttestationKey, FrameBytesKey, FrameKey, JobKey,
    JobSpecKey, RevealKey, RunnerKey, WaitKey,
};
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::{AttestationRecord, PRESENCE_TIMEOUT_BLOCKS};
use remuda_protocol::primitives::{Address, Amount, B256, Height, JobId, keccak256};
use remuda_protocol::registry::runner::Runner;
use remuda_protocol::state::{Indexed, StateKey, read};
use remuda_protocol::verifier::check::VerifierCheck;
use serde_json::json;
use std::time::{Duration, Instant};

/// Time the work that a block does besides its transactions, at its worst.
///
/// Before and after its transactions, every block draws committees, counts presence and runs tasks
/// that earlier blocks scheduled. The rules bound that work. Each case prepares the worst that they
/// admit of one kind, and times a block without transactions. The target is a fifth of the leader
/// timeout: 500 ms where blocks are a second apart. The exit status is 1 if a case takes longer.
///
/// The default takes about 3 minutes. Only a release build counts (`make bench`).
#[derive(ClapArgs)]
pub(super) struct Args {
    /// Number of runners, from 1,000 to 1,000,000.
    #[arg(long, default_value_t = 100_000)]
    #[arg(value_parser = RangedU64ValueParser::<u32>::new().range(1_000..=1_000_000))]
    runners: u32,
    /// Only this case.
    #[arg(long, value_parser = PossibleValuesParser::new(CASES.iter().map(|(name, ..)| *name)))]
    case: Option<String>,
    #[command(flatten)]
    out: Output,
}

/// A fifth of a leader's time on a chain with a block each second.
const AIM: Duration = Duration::from_millis(500);
/// Validators of the cases about presence: as many as a network can have.
const VALIDATORS: u8 = 100;
/// How often a block is timed; the fastest counts.
const RUNS: u32 = 3;

type Case = (&'static str, &'static str, fn(u32) -> World);

const CASES: &[Case] = &[
    ("retries", "jobs with prices of their own that nobody worked on draw again", retries),
    ("specifications", "the same for jobs with specifications of 110 kB", specifications),
    ("judging", "large results with many checks are judged at their deadline", judging),
    ("draws", "as many committees of nine as a block draws", draws),
    ("sleepers", "as many calls as can wait for one height, with 64 KiB each", sleepers),
    ("subsets", "a part of the next epoch's subsets is drawn, with 100 validators", subsets),
    ("rotation", "the last part is drawn, and the epoch begins", rotation),
    ("blackout", "all attestations expire, every runner becomes absent", blackout),
    ("silence", "the heartbeats of all runners run out at one height", silence),
    ("epoch", "committee sizes of an epoch", epoch),
];

pub(super) fn run(args: &Args) -> Result<bool, Failure> {
    let mut rows = Vec::new();
    let mut slow = false;
    for (name, what, prepare) in CASES {
        if args.case.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        progress(&format!("{name} …"));
        let (took, events) = measure(&prepare(args.runners));
        slow |= took > AIM;
        args.out.line(format_args!("{:>9.1} ms  {events:>7} events  {name}: {what}", millis(took)));
        rows.push(json!({ "case": name, "what": what, "ms": millis(took), "events": events }));
    }
    args.out.figures(&json!({
        "bench": "closing", "runners": args.runners, "validators": VALIDATORS,
        "aim_ms": millis(AIM), "rows": rows,
    }))?;
    Ok(!slow)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The fastest of some runs of the next block, and how much happened in it.
fn measure(world: &World) -> (Duration, usize) {
    let run = |_| {
        let start = Instant::now();
        let outcome = world.block(&[]);
        (start.elapsed(), outcome.events().count())
    };
    (0..RUNS).map(run).min().unwrap_or_default()
}

/// A chain without presence whose runners all have prices of their own.
fn network(runners: u32) -> World {
    let mut params = ChainParams::one_second();
    params.presence_policy = 0;
    params.heartbeat_timeout_blocks = 1 << 30;
    let mut world = World::of(runners, params, 1, |i, profile, _| {
        let step = 9_500_000_000 / u128::from(runners);
        profile.offer.rates.base = Amount(10_000_000_000 + u128::from(i) * step);
    });
    // The first block of a chain draws the first subsets.
    steps(&mut world, 1);
    world
}

fn steps(world: &mut World, blocks: u32) {
    for _ in 0..blocks {
        let outcome = world.block(&[]);
        world.commit(&outcome);
    }
}

/// Submits jobs in one block, and steps until the one before they are due to be drawn again.
fn until_retry(world: &mut World, jobs: u32, spec: impl Fn(&mut World) -> JobSpec) {
    let jobs: Vec<_> = (0..jobs)
        .map(|_| {
            let spec = spec(world);
            (SUBMITTER, keccak256(world.random().to_be_bytes()), spec)
        })
        .collect();
    let outcome = world.block(&jobs);
    world.commit(&outcome);
    let due = loop {
        let outcome = world.block(&[]);
        world.commit(&outcome);
        let commit_by = outcome.events().find_map(|event| match event {
            Event::JobAssigned { commit_by, .. } => Some(*commit_by),
            _ => None,
        });
        if let Some(commit_by) = commit_by {
            break commit_by;
        }
    };
    while world.height().plus(1) < due {
        steps(world, 1);
    }
}

fn retries(runners: u32) -> World {
    let mut world = network(runners);
    until_retry(&mut world, 300, |world| {
        let price = 52_000_000_000 + world.random() % 15_000_000_000;
        spec_of(http(), Amount(price.into()))
    });
    world
}

fn specifications(runners: u32) -> World {
    let mut world = network(runners);
    let text = "x".repeat(110_000);
    until_retry(&mut world, 1_500, |_| spec_of(llm_saying(&text), Amount::cby(100)));
    world
}

fn llm_saying(text: &str) -> JobType {
    let mut job = llm("small");
    if let JobType::Llm { messages, .. } = &mut job {
        messages[0].content = text.into();
    }
    job
}

fn draws(runners: u32) -> World {
    let mut world = network(runners);
    // Committees of nine, as in any large network.
    let jobs: Vec<_> = (0..20_000)
        .map(|_| {
            let mut spec = spec_of(http(), Amount::cby(300));
            spec.verification.runners = 9;
            spec.verification.threshold = 6;
            (SUBMITTER, keccak256(world.random().to_be_bytes()), spec)
        })
        .collect();
    let outcome = world.block(&jobs);
    world.commit(&outcome);
    loop {
        let outcome = world.block(&[]);
        if outcome.events().any(|event| matches!(event, Event::JobAssigned { .. })) {
            return world;
        }
        world.commit(&outcome);
    }
}

/// Puts tasks on the agenda of the next block.
fn schedule(world: &World, entries: &mut Entries, tasks: impl Iterator<Item = Task>) {
    let height = world.height().plus(1);
    let mut length = 0u32;
    for task in tasks {
        put(entries, &AgendaKey { height, index: length }, &task);
        length += 1;
    }
    put(entries, &AgendaLengthKey { height }, &length);
}

fn put<K: StateKey>(entries: &mut Entries, key: &K, value: &K::Value) {
    let mut diff = remuda_protocol::state::Diff::new();
    diff.insert(key.bytes().into(), Some(value.to_bytes().into()));
    entries.write(&diff);
}

/// Results as large and checks as many as the fees of one block pay for in a single reveal.
fn judging(runners: u32) -> World {
    let mut world = network(runners);
    let fields: Vec<String> = (0..32).map(|i| format!("f{i}")).collect();
    let members: String = fields.iter().map(|field| format!("\"{field}\":1,")).collect();
    let result = format!("{{{members}\"pad\":[{}1]}}", "1,".repeat(32_000)).into_bytes();
    let mut spec = spec_of(http(), Amount::cby(300));
    spec.verification.mode = VerificationMode::StructuredMatch;
    spec.verification.checks = vec![VerifierCheck::StructuredMatch { fields }; 2];
    spec.result_schema.max_return_bytes = 65_536;
    let jobs: Vec<JobId> = (0..200u32).map(|i| keccak256(i.to_be_bytes())).collect();
    let chain = world.height();
    let seats = |job: u32| -> Vec<Seat> {
        (0..9)
            .map(|i| Seat {
                runner: address_of(job * 9 + i),
                attempt: 0,
                since: chain,
                reputation_nano: 60_000_000_000,
                stake: Amount::cby(1_000_000),
                effective: Amount::cby(1_000_000),
                delegated: Amount::ZERO,
                commission_bps: 0,
                stakes: Stakes::default(),
                scored: true,
                overbooked: false,
                progress: match i {
                    0 => SeatState::Committed { commitment: B256::ZERO, at: chain },
                    _ => SeatState::Revealed { result_hash: keccak256(&result) },
                },
            })
            .collect()
    };
    let tasks = jobs.iter().map(|job| Task::RevealDeadline { job: *job, attempt: 0 });
    let mut entries = world.state.entries().clone();
    schedule(&world, &mut entries, tasks);
    for (number, id) in (0..).zip(&jobs) {
        let job = Job {
            submitter: SUBMITTER,
            submitted_at: chain,
            kind: JobKind::Http,
            status: Status::Committed,
            attempt: 0,
            committee: 9,
            n_threshold: 6,
            snapshot: Snapshot::default(),
            seed: B256::ZERO,
            seats: seats(number),
            excluded: Vec::new(),
            aggregator: None,
            commit_by: chain,
            aggregator_until: chain,
            reveal_by: chain,
            closed_at: Some(chain),
            escrow: Amount::ZERO,
            callback_deposit: Amount::ZERO,
            callback_max_fee: 0,
            challenges: None,
        };
        for seat in &job.seats[1..] {
            let key = RevealKey { job: *id, runner: seat.runner };
            put(&mut entries, &key, &Bytes(result.clone()));
        }
        put(&mut entries, &JobKey { job: *id }, &job);
        put(&mut entries, &JobSpecKey { job: *id }, &spec);
    }
    world.edit(|old| *old = entries);
    world
}

fn sleepers(runners: u32) -> World {
    let mut world = network(runners);
    let actor = |i: u64| Address::from_slice(&keccak256(i.to_le_bytes())[12..]);
    let count = WORK_PER_BLOCK / 4;
    let mut entries = world.state.entries().clone();
    let wakes = (0..count).map(|i| Task::Wake { actor: actor(i), token: 1 });
    schedule(&world, &mut entries, wakes);
    let height = world.height().plus(1);
    for i in 0..count {
        let actor = actor(i);
        let record = Actor {
            owner: SUBMITTER,
            code_hash: B256::ZERO,
            code_bytes: 0,
            storage_bytes: 0,
            root: None,
            suspended: 1,
            next_frame: 1,
            next_token: 64,
            held: Held::default(),
        };
        let frame = Frame {
            method: "run".into(),
            sender: SUBMITTER,
            origin: SUBMITTER,
            reply: None,
            since: Height::ZERO,
            open: (1..=64).collect(),
            awaits: vec![1],
            resume_cycles: 200_000,
            held: Amount::ZERO,
        };
        let on = WaitOn::Height { height };
        let (deposit, held) = (Amount::ZERO, Amount::ZERO);
        let wait = Wait { frame: 1, on, deposit, cycles_limit: 1, held, answer: None };
        put(&mut entries, &ActorKey { actor }, &record);
        put(&mut entries, &FrameKey { actor, frame: 1 }, &frame);
        put(&mut entries, &FrameBytesKey { actor, frame: 1 }, &Bytes(vec![7; 65_536]));
        put(&mut entries, &WaitKey { actor, token: 1 }, &wait);
    }
    world.edit(|old| *old = entries);
    world
}

/// A chain whose runners are drawn by presence.
fn attested(runners: u32, present: bool) -> World {
    let mut params = ChainParams::one_second();
    params.presence_policy = 2;
    params.subset_epoch_blocks = 60;
    params.subset_overlap_blocks = 30;
    World::of(runners, params, VALIDATORS, |_, _, runner| runner.present = present)
}

/// Draws a part of the next epoch's subsets.
fn subsets(runners: u32) -> World {
    let mut world = attested(runners, false);
    steps(&mut world, 60);
    world
}

/// Draws the last part, and begins the epoch.
fn rotation(runners: u32) -> World {
    let mut world = subsets(runners);
    loop {
        let outcome = world.block(&[]);
        let before = world.presence().epoch.number;
        let state = world.state.clone();
        world.commit(&outcome);
        if world.presence().epoch.number > before {
            world.state = state;
            return world;
        }
    }
}

fn blackout(runners: u32) -> World {
    let mut world = attested(runners, false);
    let outcome = world.block(&[]);
    world.commit(&outcome);
    let height = world.height();
    let lists = world.state.subsets();
    let mut entries = world.state.entries().clone();
    for validator in 0..u32::from(VALIDATORS) {
        let bits = Bytes(lists.pack(validator, |_| true));
        put(&mut entries, &AttestationKey { validator }, &AttestationRecord { height, bits });
    }
    for slot in 0..runners {
        let address = address_of(slot);
        let key = RunnerKey { runner: address };
        let Some(mut runner) = read(&world.state, &key) else { continue };
        runner.present = true;
        let mut fresh = Runner { candidacy: runner.candidacy.clone(), ..runner };
        let candidacy = fresh.candidacy_now();
        fresh.candidacy = remuda_protocol::registry::versioned::Versioned::new(
            candidacy,
            remuda_protocol::registry::versioned::Stamp::default(),
        );
        put(&mut entries, &key, &fresh);
    }
    world.edit(|old| *old = entries);
    // The attestations are as old as they may be after this.
    steps(&mut world, PRESENCE_TIMEOUT_BLOCKS as u32 - 1);
    world
}

fn silence(runners: u32) -> World {
    let mut params = ChainParams::one_second();
    params.presence_policy = 0;
    params.heartbeat_timeout_blocks = 4;
    let mut world = World::of(runners, params, 1, |_, _, _| ());
    steps(&mut world, 4);
    world
}

fn epoch(runners: u32) -> World {
    let mut params = ChainParams::one_second();
    params.presence_policy = 0;
    params.heartbeat_timeout_blocks = 1 << 30;
    params.epoch_blocks = 10;
    let mut world = World::of(runners, params, 1, |_, _, _| ());
    steps(&mut world, 9);
    world
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each case does what it says, so that the times mean something.
    #[test]
    fn every_case_has_work_to_do() {
        for (name, _, prepare) in CASES {
            let world = prepare(1_000);
            let (_, events) = measure(&world);
            let silent = ["silence", "subsets", "rotation", "sleepers"].contains(name);
            assert!(silent || events > 0, "{name}: nothing happens");
        }
    }
}
