//! `remuda-lab bench fleet`: what an orchestrator can carry.

use super::{Output, progress};
use crate::percentile;
use remuda::demo::network::resident_bytes;
use remuda::failure::Failure;
use remuda::fleet::{Stage, failed, local, read_token};
use remuda::format::grouped;
use remuda_fleet::auth::KeyPair;
use remuda_fleet::bench::{Figures, Load, store};
use remuda_fleet::id::{KeyId, RunnerId};
use remuda_fleet::lease::Policy;
use remuda_fleet::message::{
    AckLease, AckLeaseAck, Complete, CompleteAck, CompleteStatus, LeaseRequest, Message,
    RunSubmission, decode,
};
use remuda_fleet::store::{Postgres, Sqlite, Time};
use remuda_fleet::time::Clock;
use remuda_fleet::worker::Link;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// A fleet's orchestrator: jobs that do nothing, heartbeats, and workers that wait.
///
/// Jobs are submitted, granted, acknowledged and completed against the store itself, every step on the disk
/// (fsync) before it is answered. Then so many workers wait for work at one orchestrator, a process of its
/// own: each is a signed request over HTTP that is held open, as `remuda worker run` makes it.
///
/// Example: remuda-lab bench fleet --idle 5000 --json
#[derive(clap::Args)]
pub(super) struct Args {
    /// Workers that do jobs at the same time.
    #[arg(long, default_value_t = 64)]
    workers: u32,
    /// Jobs per worker.
    #[arg(long, default_value_t = 50)]
    jobs: u32,
    /// Heartbeats per worker.
    #[arg(long, default_value_t = 200)]
    beats: u32,
    /// Workers that wait for work.
    #[arg(long, default_value_t = 5_000)]
    idle: usize,
    /// How long they are watched, in seconds.
    #[arg(long, default_value_t = 30)]
    hold: u64,
    /// A PostgreSQL database to measure besides. It must be empty, or one of ours that nobody uses.
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    #[command(flatten)]
    out: Output,
}

/// Connections that are opened at a time.
const AT_A_TIME: usize = 64;
/// How long a question for work waits. As a worker's.
const WAIT: Duration = Duration::from_secs(30);
/// Besides those of the workers: the database, logs, people.
const FILES_BESIDES: u64 = 512;
/// The system counts a process's time in these.
const TICKS_PER_SECOND: u64 = 100;

/// Workers that wait, at one orchestrator.
#[derive(Debug, Serialize)]
struct Idle {
    workers: usize,
    connected_millis: u64,
    /// Of the orchestrator's process, without and with them.
    resident_bytes_before: u64,
    resident_bytes: u64,
    bytes_per_worker: u64,
    watched_seconds: u64,
    /// Of one core, in thousandths.
    cpu_permille: u64,
}

/// The same jobs, asked for over HTTP by signed requests.
#[derive(Debug, Serialize)]
struct Http {
    jobs_per_second: u64,
    lease_micros_p50: u64,
    lease_micros_p99: u64,
}

#[derive(Debug, Serialize)]
struct Report {
    workers: u32,
    jobs: u64,
    sqlite: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    postgres: Option<Figures>,
    http: Http,
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<Idle>,
}

pub(super) async fn run(args: &Args) -> Result<bool, Failure> {
    let load = Load { runners: args.workers, jobs_each: args.jobs, beats_each: args.beats };
    let mut stage = Stage::start(super::program()?, "remuda-bench-fleet-", |text| text).await?;
    let measured = measure(args, load, &stage).await;
    stage.stop().await;
    let mut report = measured?;
    if args.idle > 0 {
        // Another orchestrator: what the first one did is not theirs.
        let mut stage =
            Stage::start(super::program()?, "remuda-bench-fleet-idle-", |text| text).await?;
        let measured = idle(&stage, args.idle, Duration::from_secs(args.hold)).await;
        stage.stop().await;
        report.idle = Some(measured?);
    }
    let out = &args.out;
    out.line(format_args!("{} workers at a time, {} jobs", report.workers, grouped(report.jobs)));
    print(out, "SQLite", &report.sqlite);
    report.postgres.iter().for_each(|found| print(out, "PostgreSQL", found));
    let Http { jobs_per_second, lease_micros_p50, lease_micros_p99 } = report.http;
    out.line(format_args!(
        "SQLite over HTTP, signed: {} jobs/s, lease p50 {} µs, p99 {} µs",
        grouped(jobs_per_second),
        grouped(lease_micros_p50),
        grouped(lease_micros_p99)
    ));
    if let Some(idle) = &report.idle {
        out.line(format_args!(
            "{} idle workers: {} MiB resident ({} kB each), {}.{} % of a core over {} s",
            grouped(idle.workers as u64),
            idle.resident_bytes >> 20,
            idle.bytes_per_worker / 1_000,
            idle.cpu_permille / 10,
            idle.cpu_permille % 10,
            idle.watched_seconds
        ));
    }
    out.figures(&report)?;
    Ok(true)
}

fn print(out: &Output, name: &str, found: &Figures) {
    out.line(format_args!(
        "{name}: {} jobs/s (submit, grant, ack, complete), lease p50 {} µs, p99 {} µs, {} heartbeats/s",
        grouped(found.jobs_per_second),
        grouped(found.lease_micros_p50),
        grouped(found.lease_micros_p99),
        grouped(found.heartbeats_per_second)
    ));
}

async fn measure(args: &Args, load: Load, stage: &Stage) -> Result<Report, Failure> {
    let now = Clock::default().now();
    progress("jobs and heartbeats over SQLite");
    // Beside the orchestrator's own: on the same disk, and gone with it.
    let opened = Sqlite::open(&stage.file("bench.db"), Policy::default(), now).await;
    let sqlite = store(Arc::new(opened.map_err(failed)?), load).await.map_err(failed)?;
    let mut postgres = None;
    if let Some(url) = &args.postgres {
        progress("jobs and heartbeats over PostgreSQL");
        let opened = Postgres::open(url, Policy::default(), Time::Database, now).await;
        let opened = Arc::new(opened.map_err(failed)?);
        postgres = Some(store(opened, load).await.map_err(failed)?);
    }
    progress("jobs over HTTP");
    let http = over_http(stage, load).await?;
    let jobs = sqlite.jobs;
    Ok(Report { workers: args.workers, jobs, sqlite, postgres, http, idle: None })
}

/// Everybody submits, takes, acknowledges and completes, as fast as it goes.
async fn over_http(stage: &Stage, load: Load) -> Result<Http, Failure> {
    let (link, key) = machine(stage).await?;
    let began = Instant::now();
    let mut working = JoinSet::new();
    for number in 0..load.runners {
        let runner = RunnerId::of(&key, &number.to_string()).map_err(failed)?;
        let (client, link) = (stage.client.clone(), link.clone());
        working.spawn(async move {
            let mut waits = Vec::new();
            for _ in 0..load.jobs_each {
                client.submit(&nothing(), None).await.map_err(failed)?;
                waits.push(one_job(&link, &runner).await?);
            }
            Ok::<_, Failure>(waits)
        });
    }
    let mut waits: Vec<Duration> = Vec::new();
    while let Some(ended) = working.join_next().await {
        waits.extend(ended.map_err(failed)??);
    }
    let micros = (began.elapsed().as_micros() as u64).max(1);
    waits.sort_unstable();
    let at = |percent| percentile(&waits, percent).as_micros() as u64;
    Ok(Http {
        jobs_per_second: waits.len() as u64 * 1_000_000 / micros,
        lease_micros_p50: at(50),
        lease_micros_p99: at(99),
    })
}

/// A run of one job that does nothing.
fn nothing() -> RunSubmission {
    let spec = json!({ "name": "nothing", "steps": ["true"] });
    let run = json!({ "jobs": [{ "name": "nothing", "job_spec": spec }] });
    decode(run.to_string().as_bytes()).expect("a run")
}

/// Takes a job of anybody's and completes it. Returns how long it took to get it.
async fn one_job(link: &Link, runner_id: &RunnerId) -> Result<Duration, Failure> {
    let request = LeaseRequest {
        runner_id: runner_id.clone(),
        capabilities: BTreeSet::new(),
        max_wait_seconds: WAIT.as_secs() as u32,
    };
    let began = Instant::now();
    let granted = match link.ask("lease", &request, WAIT).await.map_err(failed)? {
        Message::LeaseGranted(granted) => granted,
        other => return Err(failed(format!("instead of a lease: {other:?}"))),
    };
    let waited = began.elapsed();
    let (lease_id, runner_id) = (granted.lease_id, runner_id.clone());
    let ack = AckLease {
        job_id: granted.job_id,
        lease_id: lease_id.clone(),
        runner_id: runner_id.clone(),
        accepted_at: None,
    };
    link.send::<_, AckLeaseAck>("ack-lease", &ack).await.map_err(failed)?;
    let done = Complete {
        lease_id,
        runner_id,
        status: CompleteStatus::Succeeded,
        exit_code: Some(0),
        failure: None,
        timings: None,
        artifacts: vec![],
        summary: String::new(),
        output: None,
    };
    link.send::<_, CompleteAck>("complete", &done).await.map_err(failed)?;
    Ok(waited)
}

/// A machine whose key was enrolled.
async fn machine(stage: &Stage) -> Result<(Link, KeyId), Failure> {
    let key = Arc::new(KeyPair::generate());
    let link = Link::new(local(&stage.url)?, key.clone(), Clock::default());
    link.enrol(&read_token(&stage.file("worker.token"))?).await.map_err(failed)?;
    Ok((link, key.id()))
}

async fn idle(stage: &Stage, workers: usize, hold: Duration) -> Result<Idle, Failure> {
    let wanted = workers as u64 + FILES_BESIDES;
    let allowed = rlimit::increase_nofile_limit(wanted).map_err(Failure::Start)?;
    if allowed < wanted {
        return Err(failed(format!(
            "this system allows {allowed} open files, and {workers} workers take {wanted}: raise it \
             (ulimit -Hn), or take fewer with --idle"
        )));
    }
    let process = stage.parts[0].id();
    let (link, key) = machine(stage).await?;
    let resident_bytes_before = resident_bytes(&process.to_string());
    let began = Instant::now();
    let mut waiting = JoinSet::new();
    for first in (0..workers).step_by(AT_A_TIME) {
        let last = (first + AT_A_TIME).min(workers);
        progress(&format!("{last} of {workers} workers wait"));
        for number in first..last {
            let runner = RunnerId::of(&key, &number.to_string()).map_err(failed)?;
            waiting.spawn(wait_for_work(link.clone(), runner));
        }
        stage
            .wait("those who wait", async || {
                let list = stage.client.workers().await.ok()?;
                (list.total >= last).then_some(())
            })
            .await?;
    }
    let connected_millis = began.elapsed().as_millis() as u64;
    progress(&format!("{workers} workers wait for {} s", hold.as_secs()));
    let (since, ticks) = (Instant::now(), ticks(process));
    tokio::time::sleep(hold).await;
    let used = self::ticks(process).saturating_sub(ticks) * 1_000_000 / TICKS_PER_SECOND;
    let cpu_permille = used / (since.elapsed().as_millis() as u64).max(1);
    let resident_bytes = resident_bytes(&process.to_string());
    let grown = resident_bytes.saturating_sub(resident_bytes_before);
    if waiting.try_join_next().is_some() {
        return Err(failed("a worker was turned away"));
    }
    waiting.shutdown().await;
    Ok(Idle {
        workers,
        connected_millis,
        resident_bytes_before,
        resident_bytes,
        bytes_per_worker: grown / workers as u64,
        watched_seconds: hold.as_secs(),
        cpu_permille,
    })
}

/// Asks for work again and again, as a worker does. Ends only if it is refused.
async fn wait_for_work(link: Link, runner_id: RunnerId) {
    let request = LeaseRequest {
        runner_id,
        capabilities: BTreeSet::new(),
        max_wait_seconds: WAIT.as_secs() as u32,
    };
    loop {
        match link.ask("lease", &request, WAIT).await {
            Err(error) if !error.passes() => return,
            // There is no work, or nobody knows.
            _ => tokio::time::sleep(Duration::from_millis(800)).await,
        }
    }
}

/// The time that a process has had, in the system's units.
fn ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
    let stat = stat.unwrap_or_default();
    // Its name is in brackets and may have spaces in it.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum()
}
