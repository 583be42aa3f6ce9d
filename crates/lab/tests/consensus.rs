//! Networks of 4 and 7 validators under faults and liars, from seeds.
//!
//! A run that fails prints its seed; `REMUDA_SEED=<seed>` runs that one alone.

use remuda_lab::consensus::{
    Misconduct, Plan, Report, blackouts, dark_drought, drought, late_joiner, no_time_to_fill, run,
    stopped,
};
use std::time::Duration;

fn hold(plan: &Plan) -> Report {
    let report = run(plan);
    if let Err(error) = &report.verdict {
        panic!("seed {}: {error}; again with REMUDA_SEED={}\n{plan:#?}", plan.seed, plan.seed);
    }
    println!("seed {}: {:?} {:?}", plan.seed, report.verdict, report.lies);
    report
}

fn seeds(from: u64, count: u64) {
    let seeds = match std::env::var("REMUDA_SEED") {
        Ok(seed) => vec![seed.parse().expect("REMUDA_SEED is a number")],
        Err(_) => (from..from + count).collect(),
    };
    for seed in seeds {
        hold(&Plan::from_seed(seed));
    }
}

#[test]
fn every_liar_among_four_is_survived() {
    for (seed, conduct) in (100..).zip(Misconduct::ALL) {
        let report = hold(&Plan::with_liar(seed, 4, *conduct));
        assert!(report.lies.iter().all(|(_, told)| *told > 0), "{} told no lie", conduct.name());
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let plan = Plan::from_seed(7);
    assert_eq!(run(&plan).fingerprint, run(&plan).fingerprint);
}

#[test]
fn seeds_0_to_24() {
    seeds(0, 25);
}

#[test]
fn seeds_25_to_49() {
    seeds(25, 25);
}

#[test]
fn drought_of_more_rounds_than_a_block_has_room_for_ends() {
    for seed in 0..2 {
        let counts = drought(seed, 120, 16).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(counts.view - counts.height >= 120, "there was a drought: {counts:?}");
    }
}

#[test]
fn drought_with_power_losses_loses_no_seed() {
    for seed in 0..2 {
        let counts = dark_drought(seed, 60, 16).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(counts.view - counts.height >= 60, "there was a drought: {counts:?}");
    }
}

#[test]
fn leader_out_of_time_makes_an_empty_block() {
    assert_eq!(no_time_to_fill(0).expect("blocks come"), 0, "transactions in empty blocks");
}

#[test]
fn stop_in_the_middle_of_everything_is_clean() {
    for i in 0..40 {
        let after = Duration::from_millis(300 + 17 * i);
        stopped(i, after).unwrap_or_else(|e| panic!("seed {i}, after {after:?}: {e}"));
    }
}

#[test]
fn power_loss_of_everybody_loses_nothing_final() {
    for seed in 0..3 {
        blackouts(seed, 4).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

#[test]
fn joiner_from_genesis_catches_up_and_counts() {
    for seed in 0..2 {
        late_joiner(seed, 25).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}
