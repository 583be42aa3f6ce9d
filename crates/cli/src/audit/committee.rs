//! Topics `committee-size` and `aggregator`.

use super::input::{Node, hex_text};
use super::{Code, Failure};
use remuda_protocol::dispatcher::committee::{self, VerificationMode};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, NANO};
use remuda_protocol::verifier::aggregator as rule;
use serde_json::{Value, json};

/// `MAX_RUNNERS requested` (SPEC §17).
const RUNNERS_MAX: u32 = 64;

pub(super) fn size(input: &Node<'_>) -> Result<Value, Failure> {
    let stakes: Vec<u128> = input.get("stakes")?.each(|stake| stake.uint_in(1, u128::MAX))?;
    let prior =
        input.get("hhi_prior_nano")?.non_null().map(|prior| prior.uint_in(0, NANO)).transpose()?;
    let modes = VerificationMode::ALL.map(|mode| (mode.name(), mode));
    let mode = input.get("mode")?.one_of("mode", &modes)?;
    let runners = input.get("runners")?.uint_in(1, RUNNERS_MAX)?;
    let threshold = input.get("threshold")?.uint_in(1, runners)?;
    let candidates: u32 = input.get("candidates")?.uint()?;

    let params = ChainParams::one_second();
    // Nobody's stake adds nothing to the index.
    let instant = committee::hhi_instant(stakes.iter().copied()).unwrap_or(0);
    let hhi = committee::smooth_hhi(instant, prior, params.hhi_alpha_nano);
    let target = committee::m_target(stakes.len() as u64, hhi, params.hhi_min_nano);
    let m = committee::committee_size(
        mode,
        committee::m_adaptive(target, params.m_min, params.m_max),
        runners,
        candidates as usize,
    )
    .map_err(|error| Failure::new(Code::InsufficientRunners, error))?;
    let needed = committee::n_threshold(m as u64, runners, threshold)
        .ok_or_else(|| Failure::overflow("n_threshold"))?;
    Ok(json!({ "hhi_nano": hhi, "m_target": target, "m": m, "n_threshold": needed }))
}

pub(super) fn aggregator(input: &Node<'_>) -> Result<Value, Failure> {
    let list = input.get("committee")?;
    let members: Vec<(Address, u64)> = list
        .each(|node| Ok((node.get("address")?.address()?, node.get("reputation_nano")?.uint()?)))?;
    list.distinct(members.iter().map(|(address, _)| *address), "address")?;
    let seed = input.get("selection_seed")?.hash()?;
    let job_id = input.get("job_id")?.hash()?;

    let eligible = rule::eligible(&members);
    let chosen = rule::choose(seed, job_id, &eligible)
        .ok_or_else(|| list.invalid("needs at least one member"))?;
    let eligible: Vec<String> = eligible.iter().map(hex_text).collect();
    Ok(json!({ "eligible": eligible, "aggregator": hex_text(chosen) }))
}
