//! Topics `seed`, `select` and `sum-tree`.

use super::input::{Node, dec, hex_text};
use super::{Code, Failure};
use remuda_protocol::beacon::{self, Round, SelectionMode};
use remuda_protocol::dispatcher::draw::{Draw, Favourite, draw};
use remuda_protocol::dispatcher::trie::{Leaf, Trie};
use remuda_protocol::dispatcher::weight::weight;
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::PresencePolicy;
use remuda_protocol::primitives::{Address, B256, Slot};
use serde_json::{Value, json};

/// `MAX_RETRIES` (SPEC §17).
const RETRIES_MAX: u32 = 3;
/// The highest reputation: 200 points.
const REPUTATION_MAX_NANO: u64 = 200_000_000_000;
/// A BLS signature is a compressed point of one group or the other.
const SIGNATURE_LENGTHS: [usize; 2] = [48, 96];

pub(super) fn seed(input: &Node<'_>) -> Result<Value, Failure> {
    let mode = input.get("mode")?;
    let mode =
        SelectionMode::from_byte(mode.uint()?).ok_or_else(|| mode.invalid("must be 0 or 1"))?;
    let beacon = beacon(&input.get("beacon")?)?;
    let job_id = input.get("job_id")?.hash()?;
    let submitted_at = input.get("submitted_at")?.uint()?;
    let retry = input.get("retry")?.uint_in(0, RETRIES_MAX)?;

    let first = beacon::selection_seed(mode, beacon, job_id, submitted_at);
    let seed = if retry == 0 { first } else { beacon::retry_seed(first, retry) };
    Ok(json!({ "beacon": hex_text(beacon), "seed": hex_text(seed) }))
}

fn beacon(node: &Node<'_>) -> Result<B256, Failure> {
    if let Some(genesis_hash) = node.member("genesis_hash")? {
        for other in ["epoch", "view", "signature"] {
            if node.member(other)?.is_some() {
                return Err(node.invalid(format_args!("has both genesis_hash and {other}")));
            }
        }
        return Ok(beacon::genesis_beacon(genesis_hash.hash()?));
    }
    let round = Round { epoch: node.get("epoch")?.uint()?, view: node.get("view")?.uint()? };
    let signature = node.get("signature")?;
    let bytes = signature.bytes()?;
    if !SIGNATURE_LENGTHS.contains(&bytes.len()) {
        return Err(
            signature.invalid(format_args!("must have 48 or 96 bytes, but has {}", bytes.len()))
        );
    }
    Ok(beacon::beacon(round, &bytes))
}

pub(super) fn sum_tree(input: &Node<'_>) -> Result<Value, Failure> {
    let list = input.get("candidates")?;
    let candidates = list.each(|node| {
        let weight = node.get("weight")?.uint_in(1, u128::MAX)?;
        Ok(Leaf {
            address: node.get("address")?.address()?,
            slot: Slot(node.get("slot")?.uint()?),
            weight,
        })
    })?;
    distinct(&list, candidates.iter().map(|candidate| (candidate.address, candidate.slot.get())))?;
    Ok(root(&trie(candidates)?))
}

/// A candidate of `select` before it has a weight.
struct Applicant {
    address: Address,
    slot: u32,
    effective_stake: u128,
    reputation_nano: u64,
    present: bool,
}

pub(super) fn select(input: &Node<'_>) -> Result<Value, Failure> {
    let seed = input.get("seed")?.hash()?;
    let m = input.get("m")?.uint_in(1, u32::MAX)? as usize;
    let policies = PresencePolicy::ALL.map(|policy| (policy.name(), policy));
    let policy = input.get("policy")?.one_of("policy", &policies)?;
    let mru = input.get("mru")?.non_null().map(|mru| mru.address()).transpose()?;
    let list = input.get("candidates")?;
    let applicants = list.each(applicant)?;
    distinct(&list, applicants.iter().map(|applicant| (applicant.address, applicant.slot)))?;

    let lists = by_policy(policy, applicants);
    let available: usize = lists.iter().map(Vec::len).sum();
    if available < m {
        let reason = format!("{available} candidates, but m is {m}");
        return Err(Failure::new(Code::InsufficientRunners, reason));
    }
    let tries: Vec<Trie> =
        lists.into_iter().map(|list| trie(weighted(list)?)).collect::<Result<_, _>>()?;
    let multiplier = ChainParams::one_second().mru_multiplier;
    let favourite = mru.map(|address| Favourite { address, multiplier });
    let draws: Vec<Draw> = draw(seed, m, favourite, &tries)
        .map_err(|error| Failure::new(Code::InsufficientRunners, error))?;

    let roots: Vec<Value> = tries.iter().map(root).collect();
    let committee: Vec<String> = draws.iter().map(|draw| hex_text(draw.leaf.address)).collect();
    let draws: Vec<Value> = draws
        .iter()
        .map(
            |draw| json!({ "i": draw.i, "r": dec(draw.r), "address": hex_text(draw.leaf.address) }),
        )
        .collect();
    Ok(json!({ "snapshot_roots": roots, "committee": committee, "draws": draws }))
}

fn applicant(node: &Node<'_>) -> Result<Applicant, Failure> {
    Ok(Applicant {
        address: node.get("address")?.address()?,
        slot: node.get("slot")?.uint()?,
        effective_stake: node.get("effective_stake")?.uint_in(1, u128::MAX)?,
        reputation_nano: node.get("reputation_nano")?.uint_in(0, REPUTATION_MAX_NANO)?,
        present: node.get("present")?.flag()?,
    })
}

/// The lists to draw from, one after the other.
fn by_policy(policy: PresencePolicy, applicants: Vec<Applicant>) -> Vec<Vec<Applicant>> {
    if policy == PresencePolicy::Shadow {
        return vec![applicants];
    }
    let (present, absent) = applicants.into_iter().partition(|applicant| applicant.present);
    if policy == PresencePolicy::Prefer { vec![present, absent] } else { vec![present] }
}

fn weighted(applicants: Vec<Applicant>) -> Result<Vec<Leaf>, Failure> {
    let floor = ChainParams::one_second().w_min_floor_nano;
    let candidate = |applicant: Applicant| {
        let Applicant { address, slot, effective_stake, reputation_nano, .. } = applicant;
        let weight = weight(effective_stake, reputation_nano, floor).ok_or_else(|| {
            Failure::overflow(format!("the weight of {} is 2^128 or more", hex_text(address)))
        })?;
        Ok(Leaf { address, slot: Slot(slot), weight })
    };
    applicants.into_iter().map(candidate).collect()
}

/// The chain's own trie of a list.
fn trie(mut candidates: Vec<Leaf>) -> Result<Trie, Failure> {
    candidates.sort_unstable_by_key(|candidate| candidate.address);
    Trie::build(&candidates).map_err(Failure::overflow)
}

fn root(trie: &Trie) -> Value {
    json!({ "root": hex_text(trie.root()), "sum": dec(trie.sum()) })
}

fn distinct(
    list: &Node<'_>,
    names: impl Iterator<Item = (Address, u32)> + Clone,
) -> Result<(), Failure> {
    list.distinct(names.clone().map(|(address, _)| address), "address")?;
    list.distinct(names.map(|(_, slot)| slot), "slot")
}
