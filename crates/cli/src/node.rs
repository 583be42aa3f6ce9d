//! `remuda node`: set a validator up, and run it.

use crate::duration::parse_duration;
use clap::Subcommand;
use remuda_node::config::{InitOptions, Settings, init};
use remuda_node::process;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount};
use serde_json::json;
use std::io::IsTerminal as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Set a validator up, and run it.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(Init),
    Run(Run),
}

/// Make a network: deal keys for its validators, and write a genesis and everybody's settings.
///
/// One program knows all secrets for a moment, so this is for development networks. The directory
/// gets genesis.json, faucet.key, and a directory for each validator with node.toml and node.key
/// (readable by its owner only).
///
/// Example: remuda node init net --validators 4 && remuda node run net/validator-0
#[derive(clap::Args)]
pub struct Init {
    /// Where to; must not hold a network already.
    directory: PathBuf,
    #[command(flatten)]
    network: NetworkArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What a network is like.
#[derive(clap::Args, Clone)]
pub struct NetworkArgs {
    /// How many validators.
    #[arg(long, default_value_t = 4)]
    pub validators: usize,
    /// Least time between blocks: 250ms, 1s, …
    #[arg(long, default_value = "1s", value_parser = parse_duration)]
    pub block_time: Duration,
    /// The chain's number, which every signature covers.
    #[arg(long, default_value_t = 31337)]
    pub chain_id: u64,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Validator i listens for the others on this port + i, and has its API on this port + 100 + i.
    #[arg(long, default_value_t = 4000)]
    pub base_port: u16,
    /// What presence means for selection: shadow, prefer, require or sunset.
    #[arg(long, default_value = "prefer")]
    pub presence: String,
    /// More accounts with money: ADDRESS=AMOUNT in base units. Can be given again.
    #[arg(long = "balance", value_parser = parse_balance)]
    pub balances: Vec<(Address, Amount)>,
    /// Change a parameter of the chain: KEY=VALUE, as `GET /params` names them. Can be given again.
    #[arg(long = "param", value_parser = parse_param)]
    pub params: Vec<(String, u128)>,
}

fn parse_balance(text: &str) -> Result<(Address, Amount), String> {
    let (address, amount) = text.split_once('=').ok_or("write ADDRESS=AMOUNT")?;
    let address = address.parse().map_err(|_| format!("{address:?} is not an address"))?;
    let amount = amount.parse().map_err(|_| format!("{amount:?} is not an amount"))?;
    Ok((address, Amount(amount)))
}

fn parse_param(text: &str) -> Result<(String, u128), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    let value = value.parse().map_err(|_| format!("{value:?} is not a number"))?;
    Ok((key.to_owned(), value))
}

impl NetworkArgs {
    /// What to make.
    pub fn options(&self) -> Result<InitOptions, String> {
        let mut params = ChainParams::development();
        params.chain_id = self.chain_id;
        params.block_time_ms = u64::try_from(self.block_time.as_millis()).unwrap_or(u64::MAX);
        let policy = remuda_protocol::presence::PresencePolicy::from_name(&self.presence)
            .ok_or("--presence is one of shadow, prefer, require, sunset")?;
        params.presence_policy = policy as u8;
        for (key, value) in &self.params {
            params.set(key, *value).map_err(|e| e.to_string())?;
        }
        params.validate().map_err(|e| e.to_string())?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Ok(InitOptions {
            validators: self.validators,
            params,
            timestamp_ms: u64::try_from(now).unwrap_or(0),
            host: self.host,
            base_port: self.base_port,
            balances: self.balances.clone(),
        })
    }
}

/// Run a validator until Ctrl-C or SIGTERM. It may be killed at any moment: it goes on from its
/// last final block.
///
/// Logs go to standard error; RUST_LOG chooses them (default: info), RUST_LOG=debug shows more.
#[derive(clap::Args)]
pub struct Run {
    /// Directory with node.toml, or the file itself.
    path: PathBuf,
    /// Logs as JSON lines.
    #[arg(long)]
    json_logs: bool,
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let (name, result) = match &args.command {
        Command::Init(args) => ("init", make(args)),
        Command::Run(args) => ("run", run(args)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("remuda node {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn make(args: &Init) -> Result<(), String> {
    let made = init(&args.directory, args.network.options()?, crate::entropy::rng())
        .map_err(|e| e.to_string())?;
    if args.json {
        let object = json!({
            "genesis_hash": made.genesis_hash.to_string(),
            "settings": made.settings,
            "apis": made.apis.iter().map(|api| format!("http://{api}")).collect::<Vec<_>>(),
            "faucet": { "address": made.faucet_address.to_string(), "key": made.faucet },
        });
        println!("{object}");
        return Ok(());
    }
    println!("genesis  {}", made.genesis_hash);
    println!("faucet   {} in {}", made.faucet_address, made.faucet.display());
    for (settings, api) in made.settings.iter().zip(&made.apis) {
        println!("run      remuda node run {}   # API http://{api}", settings.display());
    }
    Ok(())
}

fn run(args: &Run) -> Result<(), String> {
    let path = if args.path.is_dir() { args.path.join("node.toml") } else { args.path.clone() };
    let settings = Settings::read(&path).map_err(|e| e.to_string())?;
    log(args.json_logs);
    process::run(settings).map_err(|e| e.to_string())
}

/// Logs to standard error. The engine's own are for its makers: warnings are enough.
fn log(json: bool) {
    let chosen = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".to_owned());
    let filter = tracing_subscriber::EnvFilter::new(format!(
        "commonware_p2p=warn,commonware_consensus=warn,commonware_glue=warn,\
         commonware_storage=error,commonware_runtime=warn,commonware_resolver=warn,{chosen}"
    ));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    if json { logs.json().init() } else { logs.init() }
}
