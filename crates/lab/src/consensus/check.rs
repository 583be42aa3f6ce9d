//! What must hold at the end of every run.
//!
//! - Agreement: no height has two final blocks, on one validator or on two.
//! - Every round's seed is on chain exactly once and in order, and is the network's signature.
//! - Equal states: the roots that honest validators reached are those of the blocks.
//! - Presence: a runner counts as present if and only if it is there, unless liars have enough of
//!   its subset to say otherwise.
//! - No honest validator has blocked another.

use super::cast;
use super::cluster::Cluster;
use commonware_codec::DecodeExt as _;
use commonware_consensus::marshal::Identifier;
use commonware_consensus::types::Height;
use remuda_node::scheme::SeedPoint;
use remuda_protocol::key::RunnerKey;
use remuda_protocol::presence::presence_threshold;
use remuda_protocol::state::{Indexed as _, MemoryState, read};
use std::collections::{BTreeMap, BTreeSet};

/// What was counted on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Final blocks that all honest validators have.
    pub height: u64,
    pub view: u64,
    pub seeds: u64,
    /// Blocks with a certificate.
    pub certificates: u64,
    pub transactions: u64,
}

pub(super) async fn check(cluster: &Cluster, there: &BTreeSet<usize>) -> Result<Counts, String> {
    let honest = cluster.honest();
    agreement(cluster, &honest)?;
    nobody_blocked(cluster).await?;
    equal_states(cluster, &honest)?;
    for i in &honest {
        presence(cluster, *i, there)?;
    }
    seed_log(cluster, &honest).await
}

fn agreement(cluster: &Cluster, honest: &[usize]) -> Result<(), String> {
    let mut blocks = BTreeMap::new();
    for i in honest {
        let log = &cluster.nodes[*i].log;
        if let Some(height) = log.conflicts().first() {
            return Err(format!("validator {i} finalised two blocks at height {height}"));
        }
        for (height, entry) in log.blocks() {
            let first = blocks.entry(height).or_insert(entry);
            if *first != entry {
                return Err(format!("two blocks are final at height {height}"));
            }
        }
    }
    Ok(())
}

async fn nobody_blocked(cluster: &Cluster) -> Result<(), String> {
    let blocked = cluster.oracle.blocked().await.map_err(|e| e.to_string())?;
    let wrong = blocked.iter().find(|(by, whom)| cluster.is_honest(by) && cluster.is_honest(whom));
    wrong.map_or(Ok(()), |(by, whom)| Err(format!("{by} blocked {whom}, who is honest")))
}

/// At equal heights, everything is equal, entry by entry.
fn equal_states(cluster: &Cluster, honest: &[usize]) -> Result<(), String> {
    let mut by_height: BTreeMap<u64, MemoryState> = BTreeMap::new();
    for i in honest {
        let Some(state) = cluster.nodes[*i].log.newest() else { continue };
        let height = remuda_node::chain::chain_state(&state).height.get();
        let first = by_height.entry(height).or_insert_with(|| state.clone());
        if first.entries() != state.entries() {
            return Err(format!("states at height {height} differ"));
        }
    }
    Ok(())
}

fn presence(cluster: &Cluster, i: usize, there: &BTreeSet<usize>) -> Result<(), String> {
    let state = cluster.nodes[i].log.newest().ok_or("nothing is final")?;
    for r in 0..cast::RUNNERS {
        let address = cast::runner(r).address();
        let runner = read(&state, &RunnerKey { runner: address });
        let runner = runner.ok_or_else(|| format!("runner {r} is not registered"))?;
        let members = state.subsets().members(runner.slot);
        let is_liar = |member: &&u32| cluster.nodes[**member as usize].liar.is_some();
        let liars = members.iter().filter(is_liar).count();
        let threshold = presence_threshold(members.len());
        let enough_to_lie = match there.contains(&r) {
            true => liars > members.len() - threshold,
            false => liars >= threshold,
        };
        if runner.present != there.contains(&r) && !enough_to_lie {
            let is = if runner.present { "present" } else { "absent" };
            let height = remuda_node::chain::chain_state(&state).height;
            return Err(format!(
                "for validator {i} at height {height} runner {r} is {is}, with {liars} liars among \
                 the {} of its subset",
                members.len()
            ));
        }
    }
    Ok(())
}

/// Read from the archive of a validator: what its log was told may have gaps after a restart.
async fn seed_log(cluster: &Cluster, honest: &[usize]) -> Result<Counts, String> {
    let height = honest.iter().map(|i| cluster.nodes[*i].log.height()).min().unwrap_or(0);
    let node = honest.iter().find(|i| cluster.is_up(**i)).ok_or("nobody is up")?;
    let running = cluster.nodes[*node].running.as_ref().ok_or("nobody is up")?;
    let transactions = cluster.nodes[*node].log.transactions();
    let mut counts = Counts { height, transactions, ..Counts::default() };
    let (mut seeds, mut owed) = (Vec::new(), 0);
    let told = cluster.nodes[*node].log.blocks();
    let most = cluster.network.genesis().params.max_seeds_per_block;
    for at in 1..=height {
        let id = Identifier::Height(Height::new(at));
        let block = running.blocks.get_block(id).await;
        let block = block.ok_or_else(|| format!("validator {node} has no block {at}"))?;
        let rules = block.inner().rules();
        // After a restart the log may not have been told of every block.
        if told.get(&at).is_some_and(|(hash, _)| *hash != rules.header.hash()) {
            return Err(format!("the archive of validator {node} has another block {at}"));
        }
        counts.view = rules.header.round.view;
        counts.certificates += u64::from(rules.presence.is_some());
        for seed in &rules.seeds {
            let seed = SeedPoint::decode(commonware_runtime::IoBuf::from(seed.bytes.to_vec()));
            seeds.push((seeds.len() as u64 + 1, seed.map_err(|e| e.to_string())?));
        }
        // All that are owed, or as many as a block takes.
        owed = counts.view - 1 - seeds.len() as u64;
        if owed > 0 && (rules.seeds.len() as u64) < most {
            return Err(format!("block {at} of view {} leaves {owed} seeds out", counts.view));
        }
    }
    if owed > 0 {
        return Err(format!("{owed} seeds are still owed at height {height}"));
    }
    counts.seeds = seeds.len() as u64;
    let mut rng = <rand::rngs::StdRng as rand::SeedableRng>::seed_from_u64(1);
    if !cluster.network.verifier().verify_seeds(&mut rng, seeds) {
        return Err("a seed on chain is not the network's signature on its round".into());
    }
    Ok(counts)
}
