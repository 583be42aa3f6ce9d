//! Runs that no seed draws: droughts, blackouts, and somebody who comes late.

use super::cast;
use super::check::{self, Counts};
use super::cluster::{Cluster, Context, Stage};
use super::log::Log;
use super::plan::Plan;
use super::run::reach;
use commonware_runtime::{Clock as _, Runner as _, Spawner as _, Supervisor as _, deterministic};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

fn four(seed: u64) -> Plan {
    Plan { seed, validators: 4, liars: Vec::new(), faults: Vec::new(), calm_blocks: 0 }
}

fn runner(seed: u64) -> deterministic::Runner {
    deterministic::Runner::new(deterministic::Config::default().with_seed(seed))
}

/// Leaders whose time is up before they took the first transaction: blocks come, and are empty.
/// Returns the transactions in them.
pub fn no_time_to_fill(seed: u64) -> Result<u64, String> {
    runner(seed).start(|context| async move {
        let stage = Stage { filling: Duration::ZERO, ..Stage::default() };
        let cluster = Cluster::new(&context, &four(seed), &stage).await;
        reach(&context, &cluster, 8, "without time to fill a block").await?;
        Ok(cluster.nodes.iter().map(|node| node.log.transactions()).sum())
    })
}

/// A drought in which power is lost everywhere, twice: while nobody proposes, and while the seeds are
/// being paid off. Seeds of rounds without a block are nowhere but on the validators' disks.
pub fn dark_drought(seed: u64, views: u64, limit: u64) -> Result<Counts, String> {
    let mut stage = Stage::default();
    stage.params.max_seeds_per_block = limit;
    let waiting = Arc::new(cast::transactions(&stage.params));
    stage.logs = Some((0..4).map(|_| Log::new(waiting.clone())).collect());
    let acts: [(&str, bool); 3] = [("dry", true), ("paying off", false), ("after", false)];
    lives(seed, acts.len(), |context, generation| {
        let (act, silent) = acts[generation];
        let stage = Stage { generation: generation * 10, ..stage.clone() };
        async move {
            let cluster = Cluster::new(&context, &four(seed), &stage).await;
            let from = top(&cluster);
            reach(&context, &cluster, from + 2, act).await?;
            stage.silence.store(silent, Relaxed);
            let end = cluster.newest_view() + if silent { views } else { 0 };
            while cluster.newest_view() < end {
                context.sleep(Duration::from_millis(50)).await;
            }
            stage.silence.store(false, Relaxed);
            if generation < 2 {
                // Power goes, with seeds still owed.
                return Ok(Counts::default());
            }
            reach(&context, &cluster, from + views / limit + 10, act).await?;
            check::check(&cluster, &BTreeSet::new()).await
        }
    })
}

/// Lives of a network whose power is lost between them: what was not synced to disk is gone.
fn lives<F: Future<Output = Result<Counts, String>>>(
    seed: u64,
    count: usize,
    live: impl Fn(Context, usize) -> F,
) -> Result<Counts, String> {
    let (mut checkpoint, mut last) = (None, Counts::default());
    for generation in 0..count {
        let runner = checkpoint.take().map_or_else(|| runner(seed), deterministic::Runner::from);
        let (verdict, next) = runner.start_and_recover(|context| live(context, generation));
        (last, checkpoint) = (verdict?, Some(next));
    }
    Ok(last)
}

/// Nobody proposes for `views` rounds, and a block takes only `limit` seeds; in the middle of
/// paying the seeds off, everybody is started again. No limit may ever make a block impossible, and
/// no seed may be lost, though the engine itself forgets rounds behind the newest final block.
pub fn drought(seed: u64, views: u64, limit: u64) -> Result<Counts, String> {
    runner(seed).start(|context| async move {
        let mut stage = Stage::default();
        stage.params.max_seeds_per_block = limit;
        let mut cluster = Cluster::new(&context, &four(seed), &stage).await;
        reach(&context, &cluster, 3, "before the drought").await?;
        stage.silence.store(true, Relaxed);
        let end = cluster.newest_view() + views;
        while cluster.newest_view() < end {
            context.sleep(Duration::from_millis(50)).await;
        }
        let dry = top(&cluster);
        stage.silence.store(false, Relaxed);
        reach(&context, &cluster, dry + 2, "after the drought").await?;
        for i in 0..4 {
            cluster.kill(i);
        }
        for i in 0..4 {
            cluster.start(i).await;
        }
        let blocks = views / limit + 10;
        reach(&context, &cluster, dry + blocks, "after the restart").await?;
        check::check(&cluster, &BTreeSet::new()).await
    })
}

/// Everybody is told to stop while blocks are being made, this long after the start. A panic of any
/// task on the way ends the run.
pub fn stopped(seed: u64, after: Duration) -> Result<(), String> {
    runner(seed).start(|context| async move {
        let _cluster = Cluster::new(&context, &four(seed), &Stage::default()).await;
        context.sleep(after).await;
        let stop = context.child("stop").stop(0, Some(Duration::from_secs(5)));
        stop.await.map_err(|error| format!("not everybody stopped: {error}"))
    })
}

fn top(cluster: &Cluster) -> u64 {
    cluster.heights().into_iter().max().unwrap_or(0)
}

/// Power is lost everywhere at once, `times` times: what was not synced to disk is gone.
pub fn blackouts(seed: u64, times: usize) -> Result<Counts, String> {
    let stage = Stage::default();
    let waiting = Arc::new(cast::transactions(&stage.params));
    let logs: Vec<Log> = (0..4).map(|_| Log::new(waiting.clone())).collect();
    lives(seed, times + 1, |context, generation| {
        let logs = Some(logs.clone());
        let stage = Stage { logs, generation: generation * 10, ..stage.clone() };
        async move {
            let cluster = Cluster::new(&context, &four(seed), &stage).await;
            reach(&context, &cluster, top(&cluster) + 6, "after power came back").await?;
            let counts = check::check(&cluster, &BTreeSet::new()).await;
            // In the middle of everything.
            context.sleep(Duration::from_millis(7 + 13 * generation as u64)).await;
            counts
        }
    })
}

/// Three of four make blocks; the fourth joins with an empty disk and must catch up and take part:
/// then another one dies, and blocks must still come.
pub fn late_joiner(seed: u64, blocks: u64) -> Result<Counts, String> {
    runner(seed).start(|context| async move {
        let late = 3;
        let stage = Stage { late: Some(late), ..Stage::default() };
        let mut cluster = Cluster::new(&context, &four(seed), &stage).await;
        reach(&context, &cluster, blocks, "without the fourth").await?;
        cluster.start(late).await;
        let height = top(&cluster);
        reach(&context, &cluster, height + 3, "with the fourth").await?;
        cluster.kill(0);
        reach(&context, &cluster, height + 10, "with the fourth and without the first").await?;
        cluster.start(0).await;
        reach(&context, &cluster, height + 14, "with all").await?;
        check::check(&cluster, &BTreeSet::new()).await
    })
}
