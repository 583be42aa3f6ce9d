//! The worked scenario, checked against the formulas of the specification, which are written down
//! here once more: nothing below calls the rules that it checks.

use alloy_primitives::Address;
use remuda::demo::rules::{JobEnd, Role, RunnerEnd, Summary, run};
use remuda_protocol::dispatcher::job::{Failure, Status};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

const CBY: u128 = 1_000_000_000;
/// Price and tip of the jobs with a committee, and of the one with a single runner.
const GROSS: u128 = 100 * CBY;
const SINGLE_GROSS: u128 = 40 * CBY;
/// A committee is drawn by the seed of the view 4 after the submission, which the block after that
/// view carries; every view of this chain has a block.
const DRAW_DELAY: u64 = 5;
/// ceil(6 · 10 / 10) blocks to commit, 6 more to reveal.
const COMMIT_BLOCKS: u64 = 6;
const REVEAL_BLOCKS: u64 = 6;
const JAIL_BLOCKS: u64 = 3_600;

const COMMITTEE_ACTS: [usize; 2] = [0, 2];
const SINGLE_ACT: usize = 3;
const UNDECIDED_ACT: usize = 1;
/// Half of the price of each of the four seats, of five, whose result is valid.
const UNDECIDED_GROSS: u128 = GROSS / 2 * 4 / 5;

/// Different seeds draw different runners.
fn stories() -> Vec<Summary> {
    let story = |seed| run(seed).unwrap_or_else(|surprise| panic!("seed {seed}: {surprise}"));
    ["remuda", "1", "2", "3", "4", "5", "6", "7"].map(story).into()
}

/// What a settled job does with its price.
struct Split {
    payouts: BTreeMap<Address, u128>,
    burned: u128,
    treasury: u128,
}

fn split(gross: u128, winners: &[Address], aggregator: Option<Address>) -> Split {
    let pool = gross * 8_900 / 10_000;
    let treasury = gross * 100 / 10_000;
    let has_bonus = |who: &Address| aggregator == Some(*who);
    let bonus = if winners.iter().any(has_bonus) { gross * 150 / 10_000 } else { 0 };
    let share = (pool - bonus) / winners.len() as u128;
    let payout = |who: &Address| (*who, share + if has_bonus(who) { bonus } else { 0 });
    let payouts: BTreeMap<Address, u128> = winners.iter().map(payout).collect();
    let burned = gross - treasury - payouts.values().sum::<u128>();
    Split { payouts, burned, treasury }
}

fn honest(job: &JobEnd) -> Vec<Address> {
    let honest = job.seats.iter().filter(|seat| seat.role == Role::Honest);
    honest.map(|seat| seat.runner).collect()
}

/// Whose result is valid, right or wrong.
fn opened(job: &JobEnd) -> Vec<Address> {
    let opened = job.seats.iter().filter(|seat| matches!(seat.role, Role::Honest | Role::Liar));
    opened.map(|seat| seat.runner).collect()
}

fn splits(story: &Summary) -> Vec<Split> {
    let job = |act: usize| &story.jobs[act];
    let mut splits: Vec<Split> = COMMITTEE_ACTS
        .iter()
        .map(|act| split(GROSS, &honest(job(*act)), job(*act).aggregator))
        .collect();
    splits.push(split(SINGLE_GROSS, &honest(job(SINGLE_ACT)), None));
    splits.push(split(UNDECIDED_GROSS, &opened(job(UNDECIDED_ACT)), None));
    splits
}

fn silent(story: &Summary) -> &RunnerEnd {
    let who = story.jobs[1].who(Role::Silent).expect("somebody is silent in act two");
    story.runner(who).expect("it is a runner")
}

/// Basefees burned and tips paid, from what each transaction used: both basefees start at 10,000
/// and move by an eighth at most; everybody bids a tenth of the basefee as a tip.
fn fees(story: &Summary) -> (u128, u128) {
    let (mut burned, mut tips) = (0, 0);
    let (mut cycle, mut cell) = (10_000u128, 10_000u128);
    for height in 1..=story.height {
        let (mut cycles, mut cells) = (0, 0);
        for fee in story.fees.iter().filter(|fee| fee.height == height) {
            let (used_cycles, used_cells) = (u128::from(fee.cycles), u128::from(fee.cells));
            let base = used_cycles * cycle + used_cells * cell;
            let tip = used_cycles * (cycle / 10) + used_cells * (cell / 10);
            assert_eq!(fee.paid.get(), base + tip, "a fee at height {height}");
            (burned, tips) = (burned + base, tips + tip);
            (cycles, cells) = (cycles + used_cycles, cells + used_cells);
        }
        cycle = next_basefee(cycle, cycles, 10_000_000);
        cell = next_basefee(cell, cells, 500_000);
    }
    (burned, tips)
}

fn next_basefee(basefee: u128, used: u128, target: u128) -> u128 {
    assert!(used <= target, "the story fills no block");
    (basefee - basefee * (target - used) / target / 8).max(1_000)
}

#[test]
fn everybody_has_what_the_formulas_say_to_the_unit() {
    for story in stories() {
        let splits = splits(&story);
        let (basefees, tips) = fees(&story);
        let slash = silent(&story).staked.get() * 2_500 / 10_000;
        for runner in &story.runners {
            let earned: u128 =
                splits.iter().filter_map(|split| split.payouts.get(&runner.address)).sum();
            let start = runner.genesis.get() - runner.staked.get();
            let taken = runner.fees.get() + runner.deposit.get();
            assert_eq!(runner.balance.get(), start + earned - taken, "{}", runner.name);
            let lost = if runner.address == silent(&story).address { slash } else { 0 };
            assert_eq!(runner.stake.get(), runner.staked.get() - lost, "{}", runner.name);
            assert_eq!(runner.locked.get(), 0, "{}", runner.name);
        }
        let submitter = &story.submitter;
        let spent = 2 * GROSS + SINGLE_GROSS + UNDECIDED_GROSS + submitter.fees.get();
        assert_eq!(submitter.balance.get(), submitter.genesis.get() - spent);
        assert_eq!(story.treasury.get(), splits.iter().map(|split| split.treasury).sum::<u128>());
        assert_eq!(story.proposer.get(), tips);
        let burned: u128 = splits.iter().map(|split| split.burned).sum();
        assert_eq!(story.burned.get(), burned + slash + basefees);
        assert_eq!(story.genesis.get() - story.burned.get(), story.supply.get());
    }
}

#[test]
fn supply_is_what_everybody_has_together() {
    for story in stories() {
        let stakes: u128 = story.runners.iter().map(|runner| runner.stake.get()).sum();
        let runners: u128 = story.runners.iter().map(|runner| runner.balance.get()).sum();
        let others = [story.submitter.balance, story.proposer, story.treasury];
        let balances = runners + others.iter().map(|amount| amount.get()).sum::<u128>();
        assert_eq!(story.holdings.balances.get(), balances);
        assert_eq!(story.holdings.stakes.get(), stakes);
        assert_eq!((story.holdings.escrows.get(), story.holdings.bonds.get()), (0, 0));
        assert_eq!(story.supply.get(), balances + stakes + story.holdings.deposits.get());
    }
}

/// The part of a sum that is left after `dt` blocks, of 2^64 (no half-life passes in the story).
fn keep(dt: u64) -> u128 {
    let x = (dt << 32) / 1_209_600;
    let mut k = 1u128 << 64;
    let mut root = (1u128 << 127).isqrt();
    for bit in (0..32).rev() {
        if x >> bit & 1 == 1 {
            k = (k * root) >> 64;
        }
        root = (root << 64).isqrt();
    }
    k
}

#[derive(Clone, Copy, Default)]
struct Sums {
    score: u128,
    weight: u128,
    height: u64,
}

impl Sums {
    fn decay(&mut self, height: u64) {
        let kept = keep(height - self.height);
        *self =
            Self { score: (self.score * kept) >> 64, weight: (self.weight * kept) >> 64, height };
    }

    fn score(&mut self, points: u32) {
        self.score += u128::from(points) * 1_000_000_000;
        self.weight += 1_000_000_000;
    }

    fn nano(&self) -> u64 {
        let prior = 20 * 1_000_000_000;
        let mean = (self.score + 60 * prior) * 1_000_000_000 / (self.weight + prior);
        mean.min(200_000_000_000) as u64
    }
}

/// Every score that the roles earn: 100 for winners, 110 for the aggregator among them, 0 for who
/// is outvoted when the job ends or absent when the commits close, none where nobody wins.
fn earned_scores(story: &Summary, who: Address) -> Vec<(u64, u32)> {
    let mut scores = Vec::new();
    for job in story.jobs.iter().filter(|job| job.status == Status::Settled) {
        let role = job.seats.iter().find(|seat| seat.runner == who).map(|seat| seat.role);
        scores.extend(match role {
            Some(Role::Honest) if job.aggregator == Some(who) => Some((job.ended_at, 110)),
            Some(Role::Honest) => Some((job.ended_at, 100)),
            Some(Role::Liar) => Some((job.ended_at, 0)),
            Some(Role::Absent) => Some((job.drawn_at + COMMIT_BLOCKS, 0)),
            Some(Role::Silent) | None => None,
        });
    }
    scores
}

#[test]
fn reputations_are_the_decayed_means_of_the_scores() {
    for story in stories() {
        for runner in &story.runners {
            let scores = earned_scores(&story, runner.address);
            let mut sums = Sums::default();
            let mut expected = Vec::new();
            for height in 1..=story.height {
                // Own transactions let the sums decay; a score does, too, and adds to them.
                let own =
                    story.fees.iter().any(|f| f.payer == runner.address && f.height == height);
                let score = scores.iter().find(|(at, _)| *at == height);
                if own || score.is_some() {
                    sums.decay(height);
                }
                if let Some((_, points)) = score {
                    sums.score(*points);
                    expected.push((height, *points, sums.nano()));
                }
            }
            let found: Vec<_> =
                runner.scores.iter().map(|s| (s.height, s.points, s.reputation_nano)).collect();
            assert_eq!(found, expected, "{}", runner.name);
            let disgraced = runner.address == silent(&story).address;
            let reputation = if disgraced { 0 } else { sums.nano() };
            assert_eq!(runner.reputation_nano, reputation, "{}", runner.name);
        }
    }
}

/// By hand: (score + 60 · 20) / (1 + 20) for the first score of everybody in act one.
#[test]
fn first_scores_move_a_newcomer_by_a_twenty_first() {
    for story in stories() {
        let job = &story.jobs[0];
        for seat in &job.seats {
            let runner = story.runner(seat.runner).expect("a seat is a runner's");
            let expected = match (seat.role, job.aggregator == Some(seat.runner)) {
                (Role::Liar, _) => 57_142_857_142,
                (_, true) => 62_380_952_380,
                (_, false) => 61_904_761_904,
            };
            assert_eq!(runner.scores[0].reputation_nano, expected, "{}", runner.name);
        }
    }
}

#[test]
fn jobs_end_as_their_committees_are_sized() {
    for story in stories() {
        let sizes: Vec<_> = story.jobs.iter().map(|job| (job.committee, job.n_threshold)).collect();
        assert_eq!(sizes, [(3, 2), (5, 4), (4, 3), (1, 1)]);
        let [one, two, three, four] = &story.jobs[..] else { panic!("four jobs") };
        for job in [one, two, three] {
            assert_eq!(job.drawn_at, job.submitted_at + DRAW_DELAY);
        }
        assert_eq!(four.drawn_at, four.submitted_at, "nothing moves on an unverified result");
        assert_eq!(two.status, Status::Failed { reason: Failure::NoAgreement });
        assert_eq!(two.ended_at, two.drawn_at + COMMIT_BLOCKS + REVEAL_BLOCKS);
        assert_eq!((two.refunded.get(), two.paid.len()), (GROSS - UNDECIDED_GROSS, 4));
        for job in [one, three, four] {
            assert_eq!((&job.status, &job.winners), (&Status::Settled, &honest(job)));
            assert_eq!(job.refunded.get(), 0);
        }
        assert_eq!([one, three].map(|job| job.agreed.as_deref()), [Some("\"1.07\""); 2]);
        assert_eq!(silent(&story).jailed_until, Some(two.ended_at + JAIL_BLOCKS));
        let jailed = story.runners.iter().filter(|runner| runner.jailed_until.is_some());
        assert_eq!(jailed.count(), 1);
        assert_eq!(story.submitter.failed_callbacks, 1);
    }
}

/// Σ share² for the healthy runners' stakes, in nano.
fn hhi(stakes: &[u128]) -> u128 {
    let total: u128 = stakes.iter().sum();
    let share = |stake: &u128| stake * 1_000_000_000 / total;
    stakes.iter().map(|stake| share(stake) * share(stake)).sum::<u128>() / 1_000_000_000
}

#[test]
fn committee_size_follows_the_concentration_of_stake() {
    for story in stories() {
        let mut prior = None;
        for epoch in &story.epochs {
            let is_out = |runner: &&RunnerEnd| {
                let jailed = runner.address == silent(&story).address;
                jailed && epoch.height > story.jobs[1].ended_at
            };
            let free = story.runners.iter().filter(|runner| !is_out(runner));
            let stakes: Vec<u128> = free.map(|runner| runner.staked.get()).collect();
            let instant = hhi(&stakes);
            let smooth =
                |prior: u128| (instant * 125_000_000 + prior * 875_000_000) / 1_000_000_000;
            let expected = prior.map_or(instant, smooth);
            assert_eq!((epoch.active, u128::from(epoch.hhi_nano)), (stakes.len() as u64, expected));
            assert_eq!(epoch.m_adaptive, 9);
            prior = Some(expected);
        }
        assert_eq!(story.epochs[0].hhi_nano, 225_000_000);
        // ceil(2 · 2.3219 / 0.225)
        assert_eq!(story.epochs[0].m_target, 21);
        assert!(story.jobs[0].ended_at < story.epochs[0].height);
    }
}

#[test]
fn other_seeds_draw_others_and_the_story_stays_the_same() {
    let stories = stories();
    assert!(stories.iter().all(Summary::ok));
    let names = |story: &Summary| -> Vec<&str> {
        story.jobs[0].seats.iter().map(|seat| story.name(seat.runner)).collect()
    };
    assert!(stories.iter().any(|story| names(story) != names(&stories[0])));
    assert_eq!(run("remuda").as_ref(), Ok(&stories[0]));
}

fn remuda(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_remuda")).args(args).output();
    let output = output.expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn binary_tells_the_story_without_colours_into_a_pipe() {
    let (status, stdout, stderr) = remuda(&["demo", "--rules"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert!(!stdout.contains('\x1b'), "{stdout}");
    let parts = ["Act one", "M = 9", "Act two", "NoAgreement", "Act three", "Act four"];
    for part in parts.into_iter().chain(["supply = balances + stakes + escrows + bonds"]) {
        assert!(stdout.contains(part), "{part} is missing:\n{stdout}");
    }
}

#[test]
fn binary_sums_up_in_one_json_object() {
    let (status, stdout, stderr) = remuda(&["demo", "--rules", "--json"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let object: Value = serde_json::from_str(&stdout).expect("stdout is one JSON document");
    assert!(object.is_object());
    assert_eq!(object["ok"], Value::Bool(true));
    let story = run("remuda").expect("the story is played");
    assert_eq!(object["supply"]["total"], Value::String(story.supply.to_string()));
    assert_eq!(object["runners"].as_array().map(Vec::len), Some(5));
    let address = object["runners"][0]["address"].as_str();
    assert!(address.is_some_and(|text| text.starts_with("0x") && text.len() == 42));
    assert_no_large_numbers(&object);
}

#[test]
fn a_network_does_its_jobs_and_ends_by_itself() {
    let (status, stdout, stderr) = remuda(&["demo", "--json"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{stdout}");
    let object: Value = serde_json::from_str(&stdout).expect("stdout is one JSON document");
    assert_eq!(object["ok"], Value::Bool(true), "{object:#}");
    let jobs = object["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 5);
    for job in jobs {
        let paid = job["paid"].as_array().expect("pay");
        let first = job["name"] == "http, majority vote";
        assert_eq!(paid.len(), if first { 2 } else { 3 }, "{job:#}");
    }
    assert!(object["millis"].as_u64().is_some_and(|millis| millis < 120_000), "{object:#}");
}

/// A reader that holds numbers as 64-bit floats gets every one of them right.
fn assert_no_large_numbers(value: &Value) {
    match value {
        Value::Number(number) => {
            assert!(number.as_u64().is_some_and(|n| n < 1 << 53), "{number}");
        }
        Value::Array(list) => list.iter().for_each(assert_no_large_numbers),
        Value::Object(map) => map.values().for_each(assert_no_large_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
