//! The validators of a run, and the network between them.

use super::adversary::{Adversary, Misconduct};
use super::cast;
use super::log::Log;
use super::plan::Plan;
use commonware_p2p::Recipients;
use commonware_p2p::simulated::{Config, Link, Network as Wires, Oracle, SplitOrigin};
use commonware_runtime::{Handle, IoBuf, Quota, Spawner as _, Supervisor as _, deterministic};
use commonware_utils::{NZU32, NZUsize, channel::oneshot, probability};
use remuda_node::app::FaultInjection;
use remuda_node::chain::{LocalPresence, Sessions};
use remuda_node::network::{Network, Secrets};
use remuda_node::scheme::PublicKey;
use remuda_node::validator::{
    self, CHANNELS, Patience, Setup, Validator, open_state, start_consensus,
};
use remuda_protocol::params::ChainParams;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

pub(super) type Context = deterministic::Context;

/// One validator of a run.
pub(super) struct Node {
    task: Option<Handle<()>>,
    twin: Option<Handle<()>>,
    generation: usize,
    pub(super) liar: Option<Adversary>,
    pub(super) log: Log,
    pub(super) sessions: Sessions,
    pub(super) running: Option<Validator<Context>>,
}

/// What a run has besides its plan.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) params: ChainParams,
    /// While this is set, nobody proposes.
    pub(super) silence: Arc<AtomicBool>,
    /// What validators finalised; kept by those who start a network again.
    pub(super) logs: Option<Vec<Log>>,
    /// A validator that is not started.
    pub(super) late: Option<usize>,
    /// Sets the lives of a validator apart in metrics.
    pub(super) generation: usize,
    /// How long leaders fill a block.
    pub(super) filling: Duration,
}

impl Default for Stage {
    fn default() -> Self {
        let mut params = ChainParams::development();
        params.block_time_ms = 50;
        Self {
            params,
            silence: Arc::default(),
            logs: None,
            late: None,
            generation: 0,
            filling: Duration::from_millis(200),
        }
    }
}

pub(super) struct Cluster {
    context: Context,
    pub(super) network: Arc<Network>,
    secrets: Vec<Secrets>,
    pub(super) oracle: Oracle<PublicKey, Context>,
    pub(super) nodes: Vec<Node>,
    link: Link,
    silence: Arc<AtomicBool>,
    filling: Duration,
}

pub(super) fn good_link() -> Link {
    Link {
        latency: Duration::from_millis(20),
        jitter: Duration::from_millis(5),
        success_rate: probability!(1.0),
    }
}

/// Slow, uneven and lossy: rounds without a block, late certificates, forks.
pub(super) fn bad_link() -> Link {
    Link {
        latency: Duration::from_millis(120),
        jitter: Duration::from_millis(110),
        success_rate: probability!(0.80),
    }
}

impl Cluster {
    pub(super) async fn new(context: &Context, plan: &Plan, stage: &Stage) -> Self {
        let params = stage.params.clone();
        // The same keys for all runs of a size: what differs comes from the seed of the run.
        let seed = plan.validators as u64;
        let (network, secrets) = crate::deal(seed, plan.validators, &params, 0, &cast::balances());
        let keys: Vec<PublicKey> = network.participants().iter().cloned().collect();
        let (wires, oracle) = Wires::new_with_peers(
            context.child("network"),
            Config {
                max_size: validator::max_message_size(plan.validators as u32),
                max_peers_per_set: NZUsize!(128),
                disconnect_on_block: true,
                tracked_peer_sets: NZUsize!(1),
            },
            keys,
        )
        .await;
        wires.start();
        let waiting = Arc::new(cast::transactions(&params));
        let nodes = (0..plan.validators).map(|i| Node {
            task: None,
            twin: None,
            generation: stage.generation,
            liar: plan
                .liars
                .iter()
                .find(|(who, _)| *who == i)
                .map(|(_, conduct)| Adversary::new(*conduct)),
            log: match &stage.logs {
                Some(logs) => logs[i].clone(),
                None => Log::new(waiting.clone()),
            },
            sessions: Sessions::default(),
            running: None,
        });
        let mut cluster = Self {
            context: context.child("cluster"),
            network: Arc::new(network),
            secrets,
            oracle,
            nodes: nodes.collect(),
            link: good_link(),
            silence: stage.silence.clone(),
            filling: stage.filling,
        };
        for i in 0..plan.validators {
            cluster.connect(i).await;
        }
        for i in (0..plan.validators).filter(|i| stage.late != Some(*i)) {
            cluster.start(i).await;
        }
        cluster
    }

    fn key(&self, i: usize) -> PublicKey {
        self.secrets[i].public_key()
    }

    /// Numbers of those who do not lie.
    pub(super) fn honest(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|i| self.nodes[*i].liar.is_none()).collect()
    }

    /// Heights of those who run and do not lie.
    pub(super) fn heights(&self) -> Vec<u64> {
        let running = self.honest().into_iter().filter(|i| self.is_up(*i));
        running.map(|i| self.nodes[i].log.height()).collect()
    }

    /// How many rounds have ended, as one of them knows.
    pub(super) fn newest_view(&self) -> u64 {
        let running = self.nodes.iter().filter_map(|node| node.running.as_ref());
        running.map(|running| running.seeds.newest()).max().unwrap_or(0)
    }

    pub(super) fn is_honest(&self, key: &PublicKey) -> bool {
        self.honest().into_iter().any(|i| self.key(i) == *key)
    }

    pub(super) async fn connect(&self, i: usize) {
        for j in (0..self.secrets.len()).filter(|j| *j != i) {
            for (from, to) in [(i, j), (j, i)] {
                let link = self.link.clone();
                // There may be one already.
                let _ = self.oracle.add_link(self.key(from), self.key(to), link).await;
            }
        }
    }

    pub(super) async fn cut(&self, i: usize) {
        for j in (0..self.secrets.len()).filter(|j| *j != i) {
            for (from, to) in [(i, j), (j, i)] {
                let _ = self.oracle.remove_link(self.key(from), self.key(to)).await;
            }
        }
    }

    pub(super) async fn relink(&mut self, link: Link) {
        self.link = link;
        for i in 0..self.secrets.len() {
            self.cut(i).await;
        }
        for i in 0..self.secrets.len() {
            self.connect(i).await;
        }
    }

    /// Kills a validator: its memory is gone, its disk stays.
    pub(super) fn kill(&mut self, i: usize) {
        let node = &mut self.nodes[i];
        node.running = None;
        for task in [node.task.take(), node.twin.take()].into_iter().flatten() {
            task.abort();
        }
    }

    pub(super) fn is_up(&self, i: usize) -> bool {
        self.nodes[i].task.is_some()
    }

    /// Starts a validator on what is on its disk.
    pub(super) async fn start(&mut self, i: usize) {
        self.nodes[i].generation += 1;
        let liar = self.nodes[i].liar.clone();
        let twins = liar.as_ref().is_some_and(|liar| liar.misconduct == Misconduct::Equivocates);
        let control = self.oracle.control(self.key(i));
        let others: Vec<PublicKey> =
            (0..self.secrets.len()).filter(|j| *j != i).map(|j| self.key(j)).collect();
        let middle = others.len() / 2;
        let halves = Arc::new([others[..middle].to_vec(), others[middle..].to_vec()]);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let context = self.context.child("channel");
        for channel in 0..CHANNELS as u64 {
            let quota = Quota::per_second(NZU32!(4096));
            let (sender, receiver) =
                control.register(channel, quota).await.expect("the network is up");
            let (halves, liar) = (halves.clone(), liar.clone());
            let (one, two) = sender.split_with(
                move |origin: SplitOrigin, to: &Recipients<PublicKey>, message: &IoBuf| match &liar
                {
                    None => Some(to.clone()),
                    Some(liar) => liar.forward(channel, origin, to, message, &halves),
                },
            );
            if twins {
                let context = context.child("split").with_attribute("channel", channel);
                let (for_one, for_two) =
                    receiver.split_with(context, |_| commonware_p2p::simulated::SplitTarget::Both);
                first.push((one, for_one));
                second.push((two, for_two));
            } else {
                first.push((one, receiver));
            }
        }
        let (task, running) = self.boot(i, "one", first).await;
        self.nodes[i].task = Some(task);
        self.nodes[i].running = Some(running);
        if !second.is_empty() {
            let (task, _) = self.boot(i, "two", second).await;
            self.nodes[i].twin = Some(task);
        }
    }

    async fn boot<S, R>(
        &self,
        i: usize,
        life: &'static str,
        channels: Vec<(S, R)>,
    ) -> (Handle<()>, Validator<Context>)
    where
        S: commonware_p2p::Sender<PublicKey = PublicKey>,
        R: commonware_p2p::Receiver<PublicKey = PublicKey>,
    {
        let node = &self.nodes[i];
        let (partition, network) = (format!("v{i}-{life}"), self.network.clone());
        let (liar, sessions) = (node.liar.clone(), node.sessions.clone());
        let (public_key, filling) = (self.key(i), self.filling);
        let pool = Arc::new(if life == "one" { node.log.clone() } else { Log::default() });
        let faults = match &node.liar {
            Some(liar) => liar.faults(self.secrets.len()),
            None => Arc::new(Silence(self.silence.clone())),
        };
        let mut secrets = self.secrets[i].clone();
        if node.liar.as_ref().is_some_and(|liar| liar.misconduct == Misconduct::ForgedVotes) {
            secrets.identity = self.secrets[(i + 1) % self.secrets.len()].identity.clone();
        }
        let channels: [(S, R); CHANNELS] =
            channels.try_into().unwrap_or_else(|_| unreachable!("one for each channel"));
        let control = self.oracle.control(self.key(i));
        let peers = self.oracle.manager();
        let (done, started) = oneshot::channel();
        let task = self
            .context
            .child("validator")
            .with_attribute("number", i)
            .with_attribute("life", life)
            .with_attribute("generation", node.generation)
            .spawn(move |context| async move {
                let state = open_state(&context, &partition, network.clone()).await;
                let state = state.unwrap_or_else(|e| panic!("{e}"));
                let chain = state.chain.clone();
                let honest = Arc::new(LocalPresence { chain, sessions, validator: i as u32 });
                let presence = match &liar {
                    Some(liar) => liar.presence(honest),
                    None => honest,
                };
                let scheme = network.signer_unchecked(&secrets, presence);
                let setup = Setup {
                    public_key,
                    scheme: scheme.expect("a share of this network"),
                    patience: Patience {
                        leader: Duration::from_millis(400),
                        certificate: Duration::from_millis(700),
                        retry: Duration::from_millis(500),
                        filling,
                    },
                    pool,
                    faults: Some(faults),
                };
                let running =
                    start_consensus(&context, state, setup, channels, peers, control).await;
                let _ = done.send(running.unwrap_or_else(|e| panic!("{e}")));
                std::future::pending::<()>().await;
            });
        (task, started.await.expect("it starts"))
    }
}

/// An honest validator that may be told to propose nothing.
struct Silence(Arc<AtomicBool>);

impl FaultInjection for Silence {
    fn proposes(&self) -> bool {
        !self.0.load(Relaxed)
    }
}
