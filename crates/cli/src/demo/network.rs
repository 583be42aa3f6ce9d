//! A network with runners on this machine: for the demonstration, and for tests that want all of it.

use super::wire;
use crate::dev::{self, Home, Kept, Logs};
use crate::exit_with_parent;
use crate::failure::Failure;
use crate::poll;
use remuda_client::types::EventBody;
use remuda_client::{Client, Config, wallet};
use remuda_node::config::{InitOptions, Initialised, init};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::PresencePolicy;
use remuda_protocol::primitives::{Address, Amount, B256, JobId, keccak256};
use remuda_protocol::transaction::Instruction;
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_runner::daemon::{Daemon, Handle, ResultTampering, Settings};
use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::process::{Child, Command};

/// How directories of demonstrations are called, before the process that made them.
const PREFIX: &str = "remuda-demo-";

/// How often the chain is looked at while waiting.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What a runner puts at stake, and what it has besides.
const STAKE: Amount = Amount::cby(15_000);
const POCKET: Amount = Amount::cby(1_000);
const PURSE: Amount = Amount::cby(100_000);
/// What [`job`] pays.
pub const PRICE: Amount = Amount::cby(100);
pub const VALIDATORS: usize = 4;
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// What a network is to be like.
#[derive(Clone, Debug)]
pub struct NetworkOptions {
    /// The `remuda` that validators and runners are.
    pub program: PathBuf,
    /// Least time between blocks.
    pub block_time: Duration,
    /// Runners' names. Genesis gives each runner enough for a stake.
    pub runners: Vec<String>,
    /// Programs that governance vouches for.
    pub pinned: Vec<B256>,
    /// `RUST_LOG` of all processes, which then log JSON; `None` keeps the default text.
    pub logs: Option<&'static str>,
    /// Runners reach validators over wires that take this long, each way.
    pub delay: Option<Duration>,
    /// Changes parameters of a development chain.
    pub params: fn(&mut ChainParams),
}

impl NetworkOptions {
    pub fn new<N: Into<String>>(
        program: impl Into<PathBuf>,
        block_time: Duration,
        runners: impl IntoIterator<Item = N>,
    ) -> Self {
        Self {
            program: program.into(),
            block_time,
            runners: runners.into_iter().map(Into::into).collect(),
            pinned: Vec::new(),
            logs: None,
            delay: None,
            params: |_| {},
        }
    }
}

/// Validators as processes.
pub struct Network {
    /// Asks all of them.
    pub client: Client,
    pub apis: Vec<String>,
    /// The same, as runners reach them.
    far_apis: Vec<String>,
    /// Where they take runners in.
    pub links: Vec<SocketAddr>,
    pub submitter: SecretKey,
    program: PathBuf,
    logs: Option<&'static str>,
    validators: Vec<Kept>,
    home: Home,
}

/// A web request for a field of a JSON answer, or for all of it.
pub fn http(url: String, extract: &str) -> JobType {
    JobType::Http {
        method: "GET".into(),
        url,
        headers: Vec::new(),
        body: Bytes::default(),
        extract: extract.to_owned(),
    }
}

/// A job with a JSON result and the chain's default deadline.
pub fn job(
    job_type: JobType,
    mode: VerificationMode,
    runners: u32,
    threshold: u32,
    checks: Vec<VerifierCheck>,
) -> JobSpec {
    JobSpec {
        job_type,
        bounds: ResourceBounds::default(),
        verification: Verification { mode, runners, threshold, checks },
        result_schema: ResultSchema {
            max_return_bytes: 4_096,
            expected_execution_ms: 100,
            data_format: DataFormat::Json,
        },
        max_price: PRICE,
        tip: Amount::ZERO,
        timeout_blocks: 0,
        callback: None,
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}

/// Somebody's key, from a name. Only development networks give such keys money.
pub fn key(name: &str) -> SecretKey {
    SecretKey::from_label(&label(name))
}

fn label(name: &str) -> String {
    format!("demo: {name}")
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Network(error.to_string())
}

/// Removes what demonstrations left that were killed. Whose process is alive is left alone; where
/// that cannot be told, everybody's is.
fn sweep() {
    let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        let processes = Path::new("/proc");
        let dead =
            |pid: u32| processes.join("self").exists() && !processes.join(pid.to_string()).exists();
        // A demonstration takes minutes; one in another namespace has no process here.
        let age =
            entry.metadata().and_then(|it| it.modified()).ok().and_then(|at| at.elapsed().ok());
        let old = age.is_some_and(|age| age > Duration::from_secs(3_600));
        if old && pid.is_some_and(dead) {
            // Somebody else's cannot be removed, and need not be.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Network {
    /// Makes one in a new directory, and waits for its first block.
    pub async fn start(directory: Option<&Path>, wanted: &NetworkOptions) -> Result<Self, Failure> {
        let path = directory.map_or_else(
            || std::env::temp_dir().join(format!("{PREFIX}{}", std::process::id())),
            Path::to_owned,
        );
        if directory.is_none() {
            sweep();
        }
        let home = Home { path, temporary: directory.is_none() };
        let submitter = key("submitter");
        let mut balances = vec![(submitter.address(), PURSE)];
        let rich = Amount(STAKE.get() + POCKET.get());
        balances.extend(wanted.runners.iter().map(|name| (key(name).address(), rich)));
        let mut params = ChainParams::development();
        params.chain_id = crate::node::random_chain_id();
        params.block_time_ms = wanted.block_time.as_millis() as u64;
        params.presence_policy = PresencePolicy::Require as u8;
        (wanted.params)(&mut params);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let options = InitOptions {
            validators: VALIDATORS,
            params,
            timestamp_ms: now.as_millis() as u64,
            host: HOST,
            base_port: free_ports().ok_or_else(|| failed("no ports are free"))?,
            faucet: true,
            balances,
            fee_recipients: Vec::new(),
            system_deployers: Vec::new(),
            pinned_executors: wanted.pinned.clone(),
        };
        let made = init(&home.path, options, crate::rng::from_os()).map_err(failed)?;
        let apis: Vec<String> =
            made.addresses.iter().map(|at| format!("http://{}", at.api)).collect();
        let mut far_apis = apis.clone();
        if let Some(delay) = wanted.delay {
            far_apis = string_wires(&made, delay).map_err(failed)?;
        }
        let mut validators = Vec::new();
        for settings in &made.settings {
            validators.push(
                Kept::start_with(&wanted.program, settings, Logs::File(wanted.logs))
                    .map_err(failed)?,
            );
        }
        let client = Client::with(Config::new(apis.iter().cloned()))?;
        let (program, links) =
            (wanted.program.clone(), made.addresses.iter().map(|at| at.listen).collect());
        let network = Self {
            client,
            apis,
            far_apis,
            links,
            submitter,
            program,
            logs: wanted.logs,
            validators,
            home,
        };
        network
            .wait("the first block", async || {
                let status = network.client.status().await.ok()?;
                (status.height.0 > 0 && status.ready).then_some(())
            })
            .await?;
        Ok(network)
    }

    /// Waits for something.
    pub async fn wait<T>(
        &self,
        what: &str,
        look: impl AsyncFn() -> Option<T>,
    ) -> Result<T, Failure> {
        poll::until(LOOK_EVERY, look).await.ok_or_else(|| {
            let logs = self.home.path.display();
            failed(format!("{what} did not come; the logs are in {logs}"))
        })
    }

    /// Makes a runner's directory. `work` is the part of its settings that says what it can do.
    pub fn equip(&self, name: &str, work: &str) -> Result<Runner, Failure> {
        let directory = self.home.path.join(format!("runner-{name}"));
        fs::create_dir_all(directory.join("modules")).map_err(failed)?;
        let secret = key(name);
        wallet::write(&directory.join("runner.key"), &keccak256(label(name)))?;
        let quoted: Vec<String> = self.far_apis.iter().map(|api| format!("{api:?}")).collect();
        let text = format!(
            "key = \"runner.key\"\ndata = \"data\"\nnodes = [{}]\nslots = 8\n\
             bind = \"0.0.0.0:0\"\n{work}\n[offer]\nstake = \"{}\"\nbase = \"0.001cby\"\n\
             declared_max_job_value = \"1000cby\"\n",
            quoted.join(", "),
            STAKE.get(),
        );
        let settings = directory.join("runner.toml");
        remuda_runner::private::replace(&settings, &text).map_err(failed)?;
        let name = name.to_owned();
        let (program, logs) = (self.program.clone(), self.logs);
        Ok(Runner { name, key: secret, directory, program, logs, settings, cast: Cast::Away })
    }

    /// Submits a job of the submitter's.
    pub async fn submit(&self, spec: JobSpec) -> Result<JobId, Failure> {
        let instruction = Instruction::SubmitJob { spec };
        let receipt = self.client.send(&self.submitter, instruction).await?;
        let submitted = receipt.events.iter().find_map(|event| match event {
            EventBody::JobSubmitted { job, .. } => Some(job.0),
            _ => None,
        });
        submitted.ok_or_else(|| Failure::TurnedDown(Box::new(receipt)))
    }

    /// Puts a runner's stake down.
    pub async fn register(&self, runner: &Runner) -> Result<(), Failure> {
        let instruction = runner.settings()?.registration()?;
        let receipt = self.client.send(&runner.key, instruction).await?;
        if receipt.ok { Ok(()) } else { Err(Failure::TurnedDown(Box::new(receipt))) }
    }

    /// Waits until the validators attest all of these.
    pub async fn present(&self, runners: &[Address]) -> Result<(), Failure> {
        self.wait("the validators' word that all runners are there", async || {
            for runner in runners {
                if !self.client.runner(*runner).await.ok()?.present {
                    return None;
                }
            }
            Some(())
        })
        .await
    }

    /// Kills all validators, with SIGKILL and one after the other, and starts them again when none is left.
    pub async fn strike_down(&mut self) -> Result<(), Failure> {
        for validator in 0..VALIDATORS {
            self.kill(validator).await?;
        }
        (0..VALIDATORS).try_for_each(|validator| self.start_again(validator))
    }

    /// Kills a validator, with SIGKILL.
    pub async fn kill(&mut self, validator: usize) -> Result<(), Failure> {
        self.validators[validator].kill().await.map_err(failed)
    }

    /// Starts a validator that was killed.
    pub fn start_again(&mut self, validator: usize) -> Result<(), Failure> {
        self.validators[validator].start_again().map_err(failed)
    }

    pub fn is_up(&mut self, validator: usize) -> bool {
        self.validators[validator].is_up()
    }

    pub fn resident_bytes(&self, validator: usize) -> u64 {
        let id = self.validators.get(validator).and_then(Kept::id).unwrap_or(0);
        resident_bytes(&id.to_string())
    }

    /// What a validator has logged.
    pub fn log(&self, validator: usize) -> String {
        let path = self.home.path.join(format!("validator-{validator}/log"));
        fs::read_to_string(path).unwrap_or_default()
    }

    pub async fn stop(mut self) {
        dev::stop(std::mem::take(&mut self.validators)).await;
    }
}

/// Resident memory of a process (`self` or its number), or 0.
pub fn resident_bytes(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1_024
}

enum Cast {
    Away,
    Process(Box<Child>),
    Task(Box<Handle>),
}

/// A runner of a [`Network`].
pub struct Runner {
    pub name: String,
    pub key: SecretKey,
    pub directory: PathBuf,
    program: PathBuf,
    logs: Option<&'static str>,
    settings: PathBuf,
    cast: Cast,
}

impl Runner {
    pub fn address(&self) -> Address {
        self.key.address()
    }

    pub fn settings(&self) -> Result<Settings, Failure> {
        Ok(Settings::read(&self.settings)?)
    }

    /// Runs it as a process of its own.
    pub fn spawn(&mut self) -> Result<(), Failure> {
        let mut command = Command::new(&self.program);
        let log = File::options().create(true).append(true).open(self.directory.join("log"));
        let log = log.map_err(Failure::Start)?;
        if let Some(logs) = self.logs {
            command.env("RUST_LOG", logs);
        }
        command.args(["runner", "run", "--json-logs", exit_with_parent::FLAG]).arg(&self.settings);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        command.process_group(0).kill_on_drop(true);
        self.cast = Cast::Process(Box::new(command.spawn().map_err(Failure::Start)?));
        Ok(())
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// Runs it in this process.
    pub async fn join(&mut self, conduct: ResultTampering) -> Result<(), Failure> {
        let handle = Daemon::start_with(&self.settings()?, self.key.clone(), conduct).await?;
        self.cast = Cast::Task(Box::new(handle));
        Ok(())
    }

    /// Ends it at once, without a word: what it had in memory is gone.
    pub async fn kill(&mut self) {
        match std::mem::replace(&mut self.cast, Cast::Away) {
            Cast::Process(mut child) => {
                let _ = child.kill().await;
            }
            Cast::Task(handle) => handle.stop().await,
            Cast::Away => {}
        }
    }
}

/// Puts wires before all validators, and tells their settings. Returns the near ends of their APIs.
fn string_wires(made: &Initialised, delay: Duration) -> std::io::Result<Vec<String>> {
    let mut changes = Vec::new();
    let mut apis = Vec::new();
    for at in &made.addresses {
        let link = wire::datagrams(at.listen.ip(), at.listen, delay)?;
        let api = wire::connections(at.api.ip(), at.api, delay)?;
        let known = format!("address = \"{}\"\n", at.listen);
        changes.push((known.clone(), format!("{known}link = \"{link}\"\n")));
        changes.push((format!("api = \"http://{}\"", at.api), format!("api = \"http://{api}\"")));
        apis.push(format!("http://{api}"));
    }
    for path in &made.settings {
        let mut text = fs::read_to_string(path)?;
        for (from, to) in &changes {
            text = text.replace(from, to);
        }
        fs::write(path, text)?;
    }
    Ok(apis)
}

/// The first of as many ports in a row as the network takes; those of the APIs are 100 above.
pub fn free_ports() -> Option<u16> {
    let free = |port: u16| {
        let address = SocketAddr::from((HOST, port));
        TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok()
    };
    let all = |base: u16| (0..VALIDATORS as u16).all(|i| free(base + i) && free(base + 100 + i));
    (0..200).map(|_| 20_000 + rand::random::<u16>() % 12_000).find(|base| all(*base))
}
