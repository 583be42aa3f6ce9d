//! What the rows must say, by counting all of them.

use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use remuda_fleet::lease::{AttemptState, JobRecord, LeaseRecord, Policy, RunStatus, Standing};
use remuda_fleet::message::Tag;
use remuda_fleet::store::Tables;
use remuda_fleet::time::LeaseTime;
use std::collections::{BTreeMap, BTreeSet};

type Checked = Result<(), TestCaseError>;

/// Every sum and every relation between rows.
pub fn account(tables: &Tables, policy: &Policy) -> Checked {
    let jobs: BTreeMap<_, _> = tables.jobs().map(|job| (&job.job_id, job)).collect();
    let live: Vec<&LeaseRecord> = tables.leases().filter(|lease| lease.state.live()).collect();
    let runners: BTreeSet<_> = live.iter().map(|lease| &lease.runner_id).collect();
    prop_assert_eq!(runners.len(), live.len(), "a runner has one live lease");
    for job in tables.jobs() {
        account_job(job, tables, &jobs, policy)?;
    }
    for run in tables.runs() {
        let of_run: Vec<_> = tables.jobs().filter(|job| job.run_id == run.run_id).collect();
        let held = live.iter().filter(|lease| lease.run_id == run.run_id).count();
        let ended = |states: &[AttemptState]| {
            let status = |job: &JobRecord| job.outcome().map(|outcome| outcome.status);
            of_run.iter().filter(|j| status(j).is_some_and(|s| states.contains(&s))).count()
        };
        prop_assert_eq!(run.in_use as usize, held);
        prop_assert!(run.max_parallel.is_none_or(|most| run.in_use <= most));
        let open = of_run.iter().filter(|job| job.outcome().is_none()).count();
        prop_assert_eq!(run.open as usize, open);
        let failed = ended(&[AttemptState::Failed, AttemptState::TimedOut]);
        prop_assert_eq!(run.failed as usize, failed);
        let given_up = |job: &&&JobRecord| job.outcome().is_some_and(|end| end.dead_letter);
        prop_assert_eq!(run.dead_letters as usize, of_run.iter().filter(given_up).count());
        prop_assert_eq!(run.canceled as usize, ended(&[AttemptState::Canceled]));
        prop_assert_eq!(run.ended_at.is_some(), open == 0);
        prop_assert_eq!(run.status() == RunStatus::Running, open > 0);
    }
    for label in tables.labels() {
        let with = |lease: &&&LeaseRecord| {
            jobs.get(&lease.job_id).is_some_and(|job| job.order.labels.contains(&label.label))
        };
        prop_assert_eq!(label.in_use as usize, live.iter().filter(with).count());
    }
    Ok(())
}

fn account_job(
    job: &JobRecord,
    tables: &Tables,
    jobs: &BTreeMap<&remuda_fleet::id::JobId, &JobRecord>,
    policy: &Policy,
) -> Checked {
    let mut leases: Vec<_> = tables.leases().filter(|lease| lease.job_id == job.job_id).collect();
    leases.sort_by_key(|lease| lease.fence);
    let fences: Vec<u64> = leases.iter().map(|lease| lease.fence.0).collect();
    let counted: Vec<u64> = (1..=job.fence.0).collect();
    prop_assert_eq!(fences, counted, "every fence was granted once");
    let live: Vec<_> = leases.iter().filter(|lease| lease.state.live()).collect();
    match &job.standing {
        Standing::Held(id) => {
            prop_assert_eq!(live.len(), 1);
            prop_assert_eq!(&live[0].lease_id, id);
            prop_assert_eq!(live[0].fence, job.fence);
        }
        _ => prop_assert!(live.is_empty(), "only who holds a job has a lease"),
    }
    let needed = |need: &&remuda_fleet::id::JobId| {
        let outcome = jobs.get(*need).and_then(|job| job.outcome());
        outcome.is_none_or(|outcome| outcome.status != AttemptState::Succeeded)
    };
    let unmet = job.needs.iter().filter(needed).count();
    if job.outcome().is_none() {
        prop_assert_eq!(job.needs_open as usize, unmet);
    }
    prop_assert!(leases.is_empty() || unmet == 0, "nothing starts before what it needs");
    prop_assert!(job.attempt.0 <= job.order.retry.max_attempts);
    prop_assert!(job.losses <= policy.losses_max);
    prop_assert!(job.returns <= policy.returns_max);
    let finals = leases.iter().filter(|lease| {
        lease.attempt == job.attempt
            && lease.answer.is_some()
            && lease.attempt_state != AttemptState::Stale
    });
    prop_assert!(finals.count() <= 1, "one finalisation is accepted");
    for pair in leases.windows(2) {
        prop_assert!(pair[0].attempt <= pair[1].attempt);
        prop_assert!(pair[0].ended_at.is_some_and(|ended| ended <= pair[1].granted_at));
    }
    Ok(())
}

/// The rule of the queue, by looking at every job.
pub fn next<'a>(
    tables: &'a Tables,
    now: LeaseTime,
    capabilities: &BTreeSet<Tag>,
) -> Option<&'a JobRecord> {
    let fits = |job: &&JobRecord| {
        let room = tables.runs().any(|run| run.run_id == job.run_id && run.has_room());
        let full = |l: &remuda_fleet::lease::LabelRecord| {
            job.order.labels.contains(&l.label) && !l.has_room()
        };
        job.waiting()
            && job.not_before <= now
            && job.order.tags.is_subset(capabilities)
            && room
            && !tables.labels().any(full)
    };
    tables.jobs().filter(fits).min_by_key(|job| (-i32::from(job.order.priority), job.seq))
}
