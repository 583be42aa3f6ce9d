//! `remuda-lab sim`: whole networks in this process, from seeds.

use crate::consensus::{Misconduct, Plan, Report, run};
use crate::progress;
use clap::Subcommand;
use clap::builder::RangedU64ValueParser;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Instant;

/// Run whole networks in this process, from seeds.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Consensus(Consensus),
}

/// Validators under crashes, partitions, bad links and named liars, on a simulated network.
///
/// Each seed is one run: 4 or 7 real validators, up to a third of them liars, whatever goes wrong
/// drawn from the seed. A run fails if two honest validators disagree, a round's seed is not on
/// chain exactly once, presence is not what it should be, an honest validator is blocked, or blocks
/// do not come again after calm returns. The same seed gives the same run.
///
/// Example: remuda-lab sim consensus --seeds 1000
#[derive(clap::Args)]
struct Consensus {
    /// Number of seeds.
    #[arg(long, default_value_t = 20, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    seeds: u64,
    /// First seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Runs in parallel.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, |n| n.get()))]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    threads: usize,
    /// Instead: one run with this liar among four, for each seed.
    #[arg(long)]
    liar: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn main(args: &Args) -> ExitCode {
    match &args.command {
        Command::Consensus(args) => consensus(args),
    }
}

fn consensus(args: &Consensus) -> ExitCode {
    let liar = match args.liar.as_deref().map(liar_named).transpose() {
        Ok(liar) => liar,
        Err(error) => {
            eprintln!("remuda-lab sim consensus: {error}");
            return ExitCode::from(2);
        }
    };
    let plan = |seed| match liar {
        Some(conduct) => Plan::with_liar(seed, 4, conduct),
        None => Plan::from_seed(seed),
    };
    let started = Instant::now();
    let next = AtomicU64::new(args.from);
    let end = args.from.saturating_add(args.seeds);
    let (done, reports) = mpsc::channel();
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        for _ in 0..args.threads {
            let (done, next, plan) = (done.clone(), &next, &plan);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= end || done.send(run(&plan(seed))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        for report in reports {
            tally.add(&report);
            let (runs, failed) = (tally.runs, tally.failed.len());
            progress(&format!("{runs} of {} runs, {failed} failed", args.seeds));
            if let Err(error) = &report.verdict {
                eprintln!("\rseed {}: {error}", report.plan.seed);
                let liar = args.liar.as_ref().map(|liar| format!(" --liar {liar}"));
                let (seed, liar) = (report.plan.seed, liar.unwrap_or_default());
                eprintln!("  again: remuda-lab sim consensus --from {seed} --seeds 1{liar}");
            }
        }
    });
    progress("");
    let seconds = started.elapsed().as_secs_f64();
    if args.json {
        println!("{}", tally.json(seconds));
    } else {
        println!(
            "{} runs, {} failed; {} blocks, {} rounds without one, {} seeds each on chain once, \
             {} blocks with a certificate, {} lies told; {seconds:.1} s",
            tally.runs,
            tally.failed.len(),
            tally.blocks,
            tally.skipped,
            tally.seeds,
            tally.certificates,
            tally.lies
        );
    }
    if tally.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn liar_named(name: &str) -> Result<Misconduct, String> {
    let found = Misconduct::ALL.iter().find(|conduct| conduct.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = Misconduct::ALL.iter().map(|conduct| conduct.name()).collect();
        format!("there is no liar {name:?}; there are {}", names.join(", "))
    })
}

#[derive(Default)]
struct Tally {
    runs: u64,
    failed: Vec<(u64, String)>,
    blocks: u64,
    skipped: u64,
    seeds: u64,
    certificates: u64,
    transactions: u64,
    lies: u64,
}

impl Tally {
    fn add(&mut self, report: &Report) {
        self.runs += 1;
        self.lies += report.lies.iter().map(|(_, told)| told).sum::<u64>();
        match &report.verdict {
            Ok(counts) => {
                self.blocks += counts.height;
                self.skipped += counts.view - counts.height;
                self.seeds += counts.seeds;
                self.certificates += counts.certificates;
                self.transactions += counts.transactions;
            }
            Err(error) => self.failed.push((report.plan.seed, error.clone())),
        }
    }

    fn json(&self, seconds: f64) -> Value {
        let failed: Vec<Value> = self
            .failed
            .iter()
            .map(|(seed, error)| json!({ "seed": seed, "error": error }))
            .collect();
        json!({
            "ok": self.failed.is_empty(),
            "runs": self.runs,
            "failed": failed,
            "blocks": self.blocks,
            "rounds_without_a_block": self.skipped,
            "seeds_on_chain": self.seeds,
            "blocks_with_a_certificate": self.certificates,
            "transactions": self.transactions,
            "lies": self.lies,
            "seconds": seconds,
        })
    }
}
