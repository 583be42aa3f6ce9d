//! One run, from its plan to its verdict.

use super::adversary::Misconduct;
use super::cast;
use super::check::{self, Counts};
use super::cluster::{Cluster, Context, Stage, bad_link, good_link};
use super::plan::{Fault, Plan};
use commonware_runtime::{Clock as _, Runner as _, deterministic};
use remuda_protocol::key::ProfileKey;
use remuda_protocol::state::read;
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Report {
    pub plan: Plan,
    /// How often each liar lied.
    pub lies: Vec<(Misconduct, u64)>,
    /// What was counted, or what did not hold.
    pub verdict: Result<Counts, String>,
    /// A hash of everything that happened: the same seed gives the same one.
    pub fingerprint: String,
}

/// A run that takes longer than this, of its own time, has stopped.
const PATIENCE: Duration = Duration::from_secs(120);
/// Blocks before anything goes wrong, so that runners are registered.
const WARM_UP: u64 = 4;

pub fn run(plan: &Plan) -> Report {
    let config = deterministic::Config::default().with_seed(plan.seed);
    let plan = plan.clone();
    deterministic::Runner::new(config).start(|context| async move {
        let mut cluster = Cluster::new(&context, &plan, &Stage::default()).await;
        let verdict = play(&context, &mut cluster, &plan).await;
        let liars = cluster.nodes.iter().filter_map(|node| node.liar.as_ref());
        let lies = liars.map(|liar| (liar.misconduct, liar.committed())).collect();
        Report { plan, lies, verdict, fingerprint: context.auditor().state() }
    })
}

async fn play(context: &Context, cluster: &mut Cluster, plan: &Plan) -> Result<Counts, String> {
    reach(context, cluster, WARM_UP, "at the start").await?;
    // Half of the runners are there from the start.
    let mut there: BTreeSet<usize> = (0..cast::RUNNERS).step_by(2).collect();
    for i in &there {
        connect_runner(cluster, *i, true);
    }
    for (wait, fault) in &plan.faults {
        context.sleep(*wait).await;
        match fault {
            Fault::Runner(i, true) => drop(there.insert(*i)),
            Fault::Runner(i, false) => drop(there.remove(i)),
            _ => {}
        }
        suffer(context, cluster, *fault).await;
    }
    let honest = cluster.honest();
    let height = honest.iter().map(|i| cluster.nodes[*i].log.height()).max().unwrap_or(0);
    reach(context, cluster, height + plan.calm_blocks, "after calm returned").await?;
    check::check(cluster, &there).await
}

async fn suffer(context: &Context, cluster: &mut Cluster, fault: Fault) {
    match fault {
        Fault::Crash(i, length) => {
            cluster.kill(i);
            context.sleep(length).await;
            cluster.start(i).await;
        }
        Fault::Cut(i, length) => {
            cluster.cut(i).await;
            context.sleep(length).await;
            cluster.connect(i).await;
        }
        Fault::Storm(length) => {
            cluster.relink(bad_link()).await;
            context.sleep(length).await;
            cluster.relink(good_link()).await;
        }
        Fault::Runner(i, live) => connect_runner(cluster, i, live),
    }
}

pub(super) fn connect_runner(cluster: &Cluster, i: usize, live: bool) {
    for node in &cluster.nodes {
        let runner = cast::runner(i).address();
        let profile = node.log.newest().and_then(|state| read(&state, &ProfileKey { runner }));
        if let Some(profile) = profile {
            node.sessions.set(profile.current().slot, live);
        }
    }
}

/// Waits until all honest validators that run have this height.
pub(super) async fn reach(
    context: &Context,
    cluster: &Cluster,
    height: u64,
    when: &str,
) -> Result<(), String> {
    let end = context.current() + PATIENCE;
    let behind = || {
        let mut running = cluster.honest().into_iter().filter(|i| cluster.is_up(*i));
        running.find(|i| cluster.nodes[*i].log.height() < height)
    };
    while let Some(i) = behind() {
        if context.current() > end {
            let at = cluster.nodes[i].log.height();
            return Err(format!("validator {i} stays at height {at} of {height} {when}"));
        }
        context.sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
