//! `remuda-lab bench push`: how soon a runner has a job, pushed and polled for, with a real round trip.

use super::{Output, program, progress};
use crate::percentile;
use remuda::demo::network::{Network, NetworkOptions, Runner, VALIDATORS, http, job};
use remuda::demo::web::Web;
use remuda::demo::wire;
use remuda::failure::Failure;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::presence::PresencePolicy;
use remuda_protocol::primitives::Amount;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Time from a validator's final block to the runner's answer, with a round trip in between.
///
/// Four validators and two runners, all of them processes; between runners and validators are wires that
/// take half a round trip each way, for QUIC and for HTTP. One runner keeps sessions and is pushed its jobs:
/// measured is the time from a validator's finalisation of the assignment to its receipt of JobAck. The other
/// one polls once per block: measured is the time from the same finalisation to its knowing of the job, which
/// is half a round trip less than an answer would take. What the wires themselves take is measured, too.
///
/// Example: remuda-lab bench push --jobs 100
#[derive(clap::Args)]
pub(super) struct Args {
    /// Number of jobs.
    #[arg(long, default_value_t = 100)]
    jobs: usize,
    /// Milliseconds of a round trip.
    #[arg(long, default_value_t = 50)]
    rtt_ms: u64,
    /// Milliseconds between blocks.
    #[arg(long, default_value_t = 500)]
    block_ms: u64,
    #[command(flatten)]
    out: Output,
}

const NAMES: [&str; 2] = ["pushed", "polls"];

pub(super) async fn run(args: &Args) -> Result<bool, Failure> {
    let rtt = Duration::from_millis(args.rtt_ms);
    let wires = wire::round_trips(rtt / 2).map_err(Failure::Start)?;
    let wires: Vec<f64> = wires.iter().map(|time| time.as_secs_f64() * 1_000.0).collect();
    let web = Web::start().await.map_err(Failure::Start)?;
    progress("a network of four validators");
    let block_time = Duration::from_millis(args.block_ms);
    let mut options = NetworkOptions::new(program()?, block_time, NAMES);
    options.logs = Some("info,remuda_node::runners=debug,remuda_runner::daemon::runner_core=debug");
    options.delay = Some(rtt / 2);
    options.params = |params| params.presence_policy = PresencePolicy::Shadow as u8;
    let network = Network::start(None, &options).await?;
    let work = "[http]\naddresses = { allow = [\"127.0.0.0/8\"] }\n";
    let mut pushed = network.equip(NAMES[0], work)?;
    let mut polls = network.equip(NAMES[1], &format!("push = false\n{work}"))?;
    for runner in [&mut pushed, &mut polls] {
        network.register(runner).await?;
        runner.spawn()?;
    }
    network.present(&[pushed.address()]).await?;
    for i in 0..args.jobs {
        progress(&format!("{i} of {} jobs", args.jobs));
        // The draw selects the runner.
        let mut job = job(http(web.url("/price"), ""), VerificationMode::None, 1, 1, Vec::new());
        (job.max_price, job.timeout_blocks) = (Amount::cby(1), 60);
        job.result_schema.max_return_bytes = 1_024;
        network.submit(job).await?;
        tokio::time::sleep(Duration::from_millis(args.block_ms / 2)).await;
    }
    tokio::time::sleep(Duration::from_millis(args.block_ms * 8)).await;
    let logs: Vec<String> = (0..VALIDATORS).map(|validator| network.log(validator)).collect();
    let push = answers(&logs, &pushed);
    let poll = learned(&logs, &polls);
    let figures = json!({
        "jobs": args.jobs,
        "rtt_ms": args.rtt_ms,
        "block_ms": args.block_ms,
        "push": summary(&push),
        "wire": summary(&wires),
        "push_beyond_wire_ms": {
            "p50": percentile(&push, 50) - percentile(&wires, 50),
            "p99": percentile(&push, 99) - percentile(&wires, 99),
        },
        "poll_per_push_p50": percentile(&poll, 50) / percentile(&push, 50),
        "poll": summary(&poll),
    });
    for runner in [&mut pushed, &mut polls] {
        runner.kill().await;
    }
    network.stop().await;
    if push.is_empty() || poll.is_empty() {
        return Err(Failure::Network(format!("nothing was measured: {figures}")));
    }
    args.out.line(format_args!("{figures:#}"));
    args.out.figures(&figures)?;
    Ok(true)
}

/// Lines of a log about pushes, as objects.
fn lines(log: &str) -> impl Iterator<Item = Value> + '_ {
    let wanted = |line: &&str| line.contains("\"push ");
    log.lines().filter(wanted).filter_map(|line| serde_json::from_str(line).ok())
}

/// Milliseconds from finalisation to answer, of every validator and job.
fn answers(logs: &[String], runner: &Runner) -> Vec<f64> {
    let me = runner.address().to_string();
    let of = |line: Value| {
        let fields = &line["fields"];
        let mine = fields["message"] == "push acknowledged" && fields["runner"] == me.as_str();
        mine.then(|| fields["micros"].as_f64()).flatten().map(|micros| micros / 1_000.0)
    };
    let mut times: Vec<f64> = logs.iter().flat_map(|log| lines(log)).filter_map(of).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Milliseconds from the first validator's finalisation until a runner knows of its job.
fn learned(logs: &[String], runner: &Runner) -> Vec<f64> {
    let me = runner.address().to_string();
    let mut assigned: BTreeMap<String, u64> = BTreeMap::new();
    for line in logs.iter().flat_map(|log| lines(log)) {
        let fields = &line["fields"];
        if fields["message"] == "push assigned" && fields["runner"] == me.as_str() {
            let (Some(job), Some(at)) = (fields["job"].as_str(), fields["at_micros"].as_u64())
            else {
                continue;
            };
            let first = assigned.entry(job.to_owned()).or_insert(at);
            *first = at.min(*first);
        }
    }
    let log = runner.log();
    let of = |line: Value| {
        let fields = &line["fields"];
        if fields["message"] != "push learned" {
            return None;
        }
        let at = fields["at_micros"].as_u64()?;
        let since = *assigned.get(fields["job"].as_str()?)?;
        Some(at.saturating_sub(since) as f64 / 1_000.0)
    };
    let mut times: Vec<f64> = lines(&log).filter_map(of).collect();
    times.sort_by(f64::total_cmp);
    times
}

fn summary(times: &[f64]) -> Value {
    json!({
        "samples": times.len(),
        "ms_p50": percentile(times, 50),
        "ms_p99": percentile(times, 99),
    })
}
