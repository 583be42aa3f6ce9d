//! What a network is like: the flags that `node init` and `dev` share.

use crate::duration::parse_duration;
use crate::format::cby;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use rand_core::Rng as _;
use remuda_client::amount::parse_amount;
use remuda_client::types::HexAddress;
use remuda_node::config::{Addresses, InitOptions};
use remuda_protocol::genesis::{Genesis, VALIDATORS_MAX};
use remuda_protocol::params::{ChainParams, ParamError};
use remuda_protocol::presence::PresencePolicy;
use remuda_protocol::primitives::{Address, Amount, B256};
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a network is like. What is not given has a default; `remuda dev` tells one from the other.
#[derive(clap::Args, Clone)]
pub struct NetworkArgs {
    /// How many validators [default: 4].
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(1..=VALIDATORS_MAX as u64))]
    validators: Option<usize>,
    /// Least time between blocks: 250ms, 1s, … [default: 1s].
    ///
    /// Deadlines, epochs and other block counts are scaled to last the same time at every block time.
    #[arg(long, value_parser = parse_duration)]
    block_time: Option<Duration>,
    /// The chain's number, which every signature covers [default: a random one].
    #[arg(long)]
    chain_id: Option<u64>,
    /// Address to listen on [default: 127.0.0.1].
    #[arg(long)]
    host: Option<IpAddr>,
    /// Validator i listens for the others on this port + i, and has its API on this port + 100 + i,
    /// or above all the others' ports if there are more than 100 [default: 4000].
    #[arg(long, value_parser = RangedU64ValueParser::<u16>::new().range(1..))]
    base_port: Option<u16>,
    /// What presence means for selection [default: prefer].
    #[arg(long, value_parser = policies())]
    presence: Option<PresencePolicy>,
    /// More accounts with money: ADDRESS=AMOUNT, as in 0x…=5cby. Can be given again.
    #[arg(long = "balance", value_parser = parse_balance)]
    balances: Vec<(Address, Amount)>,
    /// A program that the chain vouches for, by the BLAKE3 hash of its module: its results count as
    /// deterministic. Can be given again.
    #[arg(long = "pin", value_name = "HASH")]
    pinned: Vec<B256>,
    /// Change a parameter of the chain: KEY=VALUE, as `GET /params` names them; money can be
    /// written like 5cby. Can be given again.
    #[arg(long = "param", value_parser = parse_param)]
    params: Vec<(String, u128)>,
}

fn policies() -> impl TypedValueParser<Value = PresencePolicy> {
    PossibleValuesParser::new(PresencePolicy::ALL.map(PresencePolicy::name))
        .map(|name| PresencePolicy::from_name(&name).expect("it is one of these"))
}

pub(super) fn parse_balance(text: &str) -> Result<(Address, Amount), String> {
    let (address, amount) = text.split_once('=').ok_or("write ADDRESS=AMOUNT, as in 0x…=5cby")?;
    let HexAddress(address) = address.parse().map_err(|e| format!("{address:?}: {e}"))?;
    let amount = parse_amount(amount).map_err(|e| format!("{amount:?}: {e}"))?;
    Ok((address, amount))
}

fn parse_param(text: &str) -> Result<(String, u128), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    let number = match value.parse() {
        Ok(number) => number,
        Err(_) => parse_amount(value).map_err(|e| format!("{value:?} is no number: {e}"))?.get(),
    };
    Ok((key.to_owned(), number))
}

impl NetworkArgs {
    pub fn options(&self) -> Result<InitOptions, ParamError> {
        let block_time = self.block_time.unwrap_or(Duration::from_secs(1));
        let mut params = ChainParams::for_block_time(in_ms(block_time));
        params.chain_id = self.chain_id.unwrap_or_else(random_chain_id);
        params.presence_policy = self.presence.unwrap_or(PresencePolicy::Prefer) as u8;
        for (key, value) in &self.params {
            params.set(key, *value)?;
        }
        params.validate()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(InitOptions {
            validators: self.validators.unwrap_or(4),
            params,
            timestamp_ms: in_ms(now),
            host: self.host.unwrap_or(Ipv4Addr::LOCALHOST.into()),
            base_port: self.base_port.unwrap_or(4000),
            faucet: true,
            balances: self.balances.clone(),
            fee_recipients: Vec::new(),
            system_deployers: Vec::new(),
            pinned_executors: self.pinned.clone(),
        })
    }

    /// The flags that ask for something else than the network that is there, and what that has.
    pub fn contradictions(&self, genesis: &Genesis, network: &[Addresses]) -> Vec<String> {
        let params = &genesis.params;
        let ms = |ms: u64| format!("{ms}ms");
        let block_time = self.block_time.map(|time| ms(in_ms(time)));
        let mut found = vec![
            differs("--validators", self.validators, network.len()),
            differs("--block-time", block_time, ms(params.block_time_ms)),
            differs("--chain-id", self.chain_id, params.chain_id),
            differs("--presence", self.presence.map(PresencePolicy::name), params.policy().name()),
        ];
        if let Some(first) = network.first() {
            found.push(differs("--host", self.host, first.listen.ip()));
            found.push(differs("--base-port", self.base_port, first.listen.port()));
        }
        for (address, amount) in &self.balances {
            let there = genesis.balances.iter().find(|(other, _)| other == address);
            let there = there.map_or(Amount::default(), |(_, amount)| *amount);
            found.push(differs(&format!("--balance {address}"), Some(cby(*amount)), cby(there)));
        }
        for (key, value) in &self.params {
            let there = params.table().into_iter().find(|row| row.key == key);
            let there = there.map_or("nothing".to_owned(), |row| row.value.to_string());
            found.push(differs(&format!("--param {key}"), Some(value), there));
        }
        found.into_iter().flatten().collect()
    }
}

/// No two networks share one, so that no signature for one counts on the other. Below 2^53: JSON readers
/// keep it as a number.
pub(crate) fn random_chain_id() -> u64 {
    1 + (crate::rng::from_os().next_u64() >> 11)
}

fn differs(flag: &str, asked: Option<impl Display>, there: impl Display) -> Option<String> {
    let (asked, there) = (asked?.to_string(), there.to_string());
    (asked != there).then(|| format!("{flag} {asked} (there: {there})"))
}

fn in_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use remuda_protocol::codec::Bytes;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        network: NetworkArgs,
    }

    fn flags(text: &str) -> Result<NetworkArgs, clap::Error> {
        let words = text.split_whitespace();
        Ok(Flags::try_parse_from(["test"].into_iter().chain(words))?.network)
    }

    const ADA: &str = "0x52908400098527886e0f7030069857d2e4169ee7";

    fn genesis(options: &InitOptions) -> Genesis {
        Genesis {
            params: options.params.clone(),
            timestamp_ms: 0,
            balances: options.balances.clone(),
            pinned_executors: Vec::new(),
            system_deployers: Vec::new(),
            validators: Vec::new(),
            threshold_key: Bytes::default(),
        }
    }

    #[test]
    fn networks_do_not_share_a_chain_id_by_default() {
        let ids: Vec<u64> =
            (0..3).map(|_| flags("").unwrap().options().unwrap().params.chain_id).collect();
        assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
        assert!(ids.iter().all(|id| (1..=1 << 53).contains(id)), "{ids:?}");
        assert_eq!(flags("--chain-id 7").unwrap().options().unwrap().params.chain_id, 7);
    }

    #[test]
    fn block_counts_follow_the_block_time_unless_they_are_given() {
        let epoch = |text: &str| flags(text).unwrap().options().unwrap().params;
        assert_eq!(epoch("").subset_overlap_blocks, 160, "as the specification has it");
        assert_eq!(epoch("").subset_epoch_blocks, 40_960);
        assert_eq!(epoch("--block-time 250ms").subset_overlap_blocks, 640);
        let given = epoch("--block-time 250ms --param system:cip11:overlap_blocks=32");
        assert_eq!(given.subset_overlap_blocks, 32);
    }

    #[test]
    fn money_is_written_as_everywhere() {
        let balance = format!("--balance {ADA}=1.5cby");
        assert_eq!(flags(&balance).unwrap().balances[0].1, Amount(1_500_000_000));
        let stake = flags("--param system:cip2:min_stake=5cby").unwrap().options().unwrap();
        assert_eq!(stake.params.min_stake, Amount::cby(5).get());
        assert_eq!(flags("--param system:cip2:max_retries=0").unwrap().params[0].1, 0);
        for wrong in ["1.5", "1e9", "much", ""] {
            assert!(flags(&format!("--balance {ADA}={wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_flags_that_ask_for_something_else_contradict() {
        let made =
            format!("--validators 7 --block-time 250ms --balance {ADA}=5cby --presence require");
        let made = flags(&made).unwrap();
        let options = made.options().unwrap();
        let (genesis, network) = (genesis(&options), options.addresses().unwrap());
        let against = |text: &str| flags(text).unwrap().contradictions(&genesis, &network);
        assert_eq!(made.contradictions(&genesis, &network), [""; 0]);
        assert_eq!(against(""), [""; 0], "what is not given asks for nothing");
        assert_eq!(against("--block-time 250ms --base-port 4000"), [""; 0]);
        assert_eq!(against("--validators 4"), ["--validators 4 (there: 7)"]);
        assert_eq!(against("--block-time 1s"), ["--block-time 1000ms (there: 250ms)"]);
        let both = against(&format!("--host ::1 --balance {ADA}=1cby"));
        let balance = &both[1];
        assert_eq!(both[0], "--host ::1 (there: 127.0.0.1)");
        assert!(balance.ends_with("1 CBY (there: 5 CBY)"), "{balance}");
        let param = against("--param system:cip2:max_retries=1");
        assert_eq!(param, ["--param system:cip2:max_retries 1 (there: 3)"]);
    }
}
