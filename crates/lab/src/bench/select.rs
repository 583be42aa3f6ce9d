//! `remuda-lab bench select`: what it costs to get from a submitted job to its committee.
//!
//! A chain with N runners, blocks with 100 jobs, 1 % of the runners changing before each block.
//! What is counted: keeping the roster up to date, opening the block (which draws the committees of
//! earlier blocks' jobs), submitting the jobs (validation, escrow, filters, snapshot) and closing
//! it. What is not: signatures and fees, and storing the diff. Beside it the naive rule: walk over
//! all runners, filter, sort, hash, draw. Both must agree on every root.

use super::world::{SUBMITTER, World, address_of, http, llm, profile_of, spec_of};
use super::{Output, failed, progress};
use clap::builder::RangedU64ValueParser;
use clap::{Args as ClapArgs, ValueEnum};
use remuda::failure::Failure;
use remuda_protocol::codec::Encode;
use remuda_protocol::dispatcher::filter::{Entry, Query, Rules};
use remuda_protocol::dispatcher::naive::{Candidate, naive_draw, naive_root};
use remuda_protocol::dispatcher::roster::{load_entry, naive_lists};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::dispatcher::trie::Leaf;
use remuda_protocol::event::Event;
use remuda_protocol::execute::Outcome;
use remuda_protocol::key::RunnerKey;
use remuda_protocol::primitives::{Address, Amount, B256, Slot, keccak256};
use remuda_protocol::registry::versioned::Stamp;
use remuda_protocol::state::{Diff, Indexed, StateKey, View, read};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From a submitted job to its committee, for growing numbers of runners, beside the naive rule.
///
/// A chain with so many runners, of which 1 % change before each block, takes blocks full of jobs.
/// The naive rule does the same for some of the jobs in the same run, and must find the same roots;
/// otherwise the exit status is 1.
///
/// The default takes about 4 minutes on 2 cores. Only a release build counts (`make bench`): the
/// development profile checks every assertion on the way.
#[derive(ClapArgs)]
#[command(after_long_help = COLUMNS)]
pub(super) struct Args {
    /// Numbers of runners, each from 3 to 2,000,000, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000,1000000")]
    #[arg(value_parser = RangedU64ValueParser::<u32>::new().range(3..=2_000_000))]
    runners: Vec<u32>,
    /// Jobs in a block, from 1 to 10,000; hostile blocks of large networks have fewer.
    #[arg(long, default_value_t = 100)]
    #[arg(value_parser = RangedU64ValueParser::<u32>::new().range(1..=10_000))]
    jobs: u32,
    /// Blocks to measure, from 1 to 10,000; a few more run before to warm up.
    #[arg(long, default_value_t = 10)]
    #[arg(value_parser = RangedU64ValueParser::<u32>::new().range(1..=10_000))]
    blocks: u32,
    /// Only this workload, instead of all three.
    #[arg(long, value_enum)]
    workload: Option<Workload>,
    #[command(flatten)]
    out: Output,
}

const COLUMNS: &str = "\
Columns:
  runners       runners of the chain
  workload      what the jobs of a block have in common, see --workload
  µs per job    all of it: roster and block, for one job
  roster µs     of that, keeping the indexes up to date as runners change
  block µs      of that, opening the block, submitting its jobs and closing it
  naive µs/job  the naive rule for one job: walk over all runners, filter, sort, hash, draw
  ratio         naive µs/job, divided by µs per job

Signatures, fees and storing the state are not counted.";

/// What the jobs of a block have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Workload {
    /// Web requests that every runner can do at its price
    Alike,
    /// Four kinds of request; every fifth job pays too little for the dearest 5 % of the runners
    Mixed,
    /// Every job has a price of its own that rules out its own part of the runners, up to half
    Hostile,
}

impl Workload {
    /// Hostile jobs cost a part of a walk over all runners each, so a few are enough to tell.
    fn jobs_per_block(self, jobs: u32, runners: u32) -> u32 {
        match self {
            Self::Alike | Self::Mixed => jobs,
            Self::Hostile => jobs.min((1_000_000 / runners.max(1)).max(4)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Alike => "alike",
            Self::Mixed => "mixed",
            Self::Hostile => "hostile",
        }
    }
}

pub(super) fn run(args: &Args) -> Result<bool, Failure> {
    let mut rows = Vec::new();
    args.out.line(format_args!(
        "{:>9} {:>8} {:>13} {:>11} {:>11} {:>13} {:>9}",
        "runners", "workload", "µs per job", "roster µs", "block µs", "naive µs/job", "ratio"
    ));
    for &runners in &args.runners {
        for &workload in Workload::value_variants() {
            if args.workload.is_some_and(|only| only != workload) {
                continue;
            }
            progress(&format!("{runners} runners, {} jobs …", workload.name()));
            let row = measure(args, runners, workload);
            print(args, &row);
            rows.push(row);
        }
    }
    args.out.figures(&json!({
        "bench": "select", "blocks": args.blocks,
        "changed_per_block_bps": 100, "committee": 3, "rows": rows,
    }))?;
    match rows.iter().all(|row| row["roots_agree"] == Value::Bool(true)) {
        true => Ok(true),
        false => Err(failed("the naive rule finds another root")),
    }
}

fn print(args: &Args, row: &Value) {
    let number = |name: &str| row[name].as_f64().unwrap_or_default();
    let ratio = number("ratio");
    // As it is printed: 9.96 would be 10.0 with one decimal.
    let decimals = usize::from(ratio < 9.95);
    args.out.line(format_args!(
        "{:>9} {:>8} {:>13.1} {:>11.1} {:>11.1} {:>13.1} {:>8.*}×",
        row["runners"].as_u64().unwrap_or_default(),
        row["workload"].as_str().unwrap_or_default(),
        number("us_per_job"),
        number("roster_us_per_job"),
        number("block_us_per_job"),
        number("naive_us_per_job"),
        decimals,
        ratio,
    ));
}

fn measure(args: &Args, runners: u32, workload: Workload) -> Value {
    let mut world = World::new(runners);
    let jobs_per_block = workload.jobs_per_block(args.jobs, runners);
    let mut roster_time = Duration::ZERO;
    let mut block_time = Duration::ZERO;
    let mut naive_time = Duration::ZERO;
    let mut naive_jobs = 0;
    let mut assigned = 0u64;
    let mut agree = true;
    const WARM_UP: u32 = 6;
    for block in 0..WARM_UP + args.blocks {
        let roster = world.churn();
        let jobs = world.jobs(jobs_per_block, workload);
        let start = Instant::now();
        let outcome = world.block(&jobs);
        let took = start.elapsed();
        if block >= WARM_UP {
            roster_time += roster;
            block_time += took;
            assigned += count_assigned(&outcome);
            if block % 5 == 0 || block + 1 == WARM_UP + args.blocks {
                let (took, same) = world.naive(&jobs[jobs.len() / 2], &outcome);
                naive_time += took;
                naive_jobs += 1;
                agree &= same;
            }
        }
        world.commit(&outcome);
    }
    let jobs = f64::from(jobs_per_block) * f64::from(args.blocks);
    let micros = |time: Duration, jobs: f64| time.as_secs_f64() * 1e6 / jobs;
    let per_job = micros(roster_time + block_time, jobs);
    let naive = micros(naive_time, f64::from(naive_jobs));
    json!({
        "runners": runners, "workload": workload.name(), "jobs_per_block": jobs_per_block,
        "us_per_job": per_job,
        "roster_us_per_job": micros(roster_time, jobs),
        "block_us_per_job": micros(block_time, jobs),
        "naive_us_per_job": naive,
        "ratio": naive / per_job,
        "committees_drawn": assigned,
        "roots_agree": agree,
    })
}

fn count_assigned(outcome: &Outcome) -> u64 {
    outcome.events().filter(|event| matches!(event, Event::JobAssigned { .. })).count() as u64
}

impl World {
    /// One runner in a hundred gets another reputation, as after a heartbeat or a settled job.
    /// Returns what the roster needed; writing the state is not counted.
    fn churn(&mut self) -> Duration {
        let mut diff = Diff::new();
        let mut entries = Vec::new();
        for _ in 0..self.runners.div_ceil(100) {
            let slot = Slot((self.random() % u64::from(self.runners)) as u32);
            let address = address_of(slot.get());
            let key = RunnerKey { runner: address };
            let Some(mut runner) = read(&self.state, &key) else { continue };
            runner.reputation.weight_sum += 1_000_000_000;
            runner.reputation.score_sum += 100_000_000_000;
            let candidacy = runner.candidacy_now();
            let height = self.height();
            runner.candidacy.write(candidacy, Stamp::body(height), Some(Stamp::opening(height)));
            diff.insert(key.bytes().into(), Some(runner.to_bytes().into()));
            let profile = Arc::new(profile_of(slot.get()));
            entries.push(Entry { address, profile, candidacy });
        }
        // As a block does it: ascending by slot.
        entries.sort_unstable_by_key(Entry::slot);
        let mut roster = self.state.roster();
        self.state.write(&diff);
        let height = self.height();
        let start = Instant::now();
        for entry in entries {
            roster.set(entry, height);
        }
        let took = start.elapsed();
        self.state.set_roster(roster);
        took
    }

    fn jobs(&mut self, count: u32, workload: Workload) -> Vec<(Address, B256, JobSpec)> {
        (0..count)
            .map(|i| {
                let hash = keccak256(self.random().to_be_bytes());
                (SUBMITTER, hash, self.spec(i, workload))
            })
            .collect()
    }

    fn spec(&mut self, i: u32, workload: Workload) -> JobSpec {
        let full = Amount::cby(100);
        match workload {
            Workload::Alike => spec_of(http(), full),
            Workload::Mixed => {
                let job_type = match i % 4 {
                    0 | 1 => http(),
                    2 => llm("small"),
                    _ => llm("large"),
                };
                spec_of(job_type, if i.is_multiple_of(5) { Amount::cby(66) } else { full })
            }
            Workload::Hostile => {
                let price = 52_000_000_000 + self.random() % 15_000_000_000;
                spec_of(http(), Amount(price.into()))
            }
        }
    }

    /// The naive rule for one job of the block, timed; and whether it finds the same root.
    fn naive(&self, job: &(Address, B256, JobSpec), outcome: &Outcome) -> (Duration, bool) {
        let (_, hash, spec) = job;
        let mut spec = spec.clone();
        remuda_protocol::dispatcher::validate::normalise(&mut spec, &self.params);
        let id = remuda_protocol::dispatcher::submit::job_id(self.params.chain_id, *hash, 0);
        let bound = outcome.events().find_map(|event| match event {
            Event::JobBound { job, roots, .. } if *job == id => Some(roots[0]),
            _ => None,
        });
        // The block's own opening seats runners; what its jobs see is the roster after that.
        let entries: Vec<Entry> = (0..self.runners)
            .filter_map(|slot| {
                load_entry(
                    &Uncommitted(self, outcome),
                    Slot(slot),
                    Some(Stamp::opening(self.height().plus(1))),
                )
            })
            .collect();
        let rules = Rules::of(&self.params);
        let height = self.height().plus(1);
        let start = Instant::now();
        let query = Query::of(&spec, &self.params, 3);
        let lists = naive_lists(&entries, &query, &[], &rules, self.params.policy(), height);
        let candidates: Vec<Candidate> = lists[0].iter().map(candidate).collect();
        let root = naive_root(&candidates).expect("weights fit");
        let draws = naive_draw(id, 3, None, &[&candidates]);
        let took = start.elapsed();
        assert_eq!(draws.len(), 3, "a committee of three");
        (took, Some(root) == bound)
    }
}

/// The state after a block that has not been committed.
struct Uncommitted<'a>(&'a World, &'a Outcome);

impl View for Uncommitted<'_> {
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        match self.1.diff.get(key) {
            Some(value) => value.as_deref().map(<[u8]>::to_vec),
            None => self.0.state.get(key),
        }
    }
}

fn candidate(leaf: &Leaf) -> Candidate {
    Candidate { address: leaf.address, slot: leaf.slot.get(), weight: leaf.weight }
}
