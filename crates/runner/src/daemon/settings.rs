//! What an operator decides about a runner: one TOML file, `runner.toml`.

use crate::executor::dns::DnsConfig;
use crate::executor::eth::EthConfig;
use crate::executor::http::HttpConfig;
use crate::executor::llm::LlmConfig;
use crate::executor::mcp::McpConfig;
use crate::executor::wasm::WasmConfig;
use crate::executor::{Capabilities, ExecutorSettings};
use crate::fleet::FleetSettings;
use remuda_client::amount::Money;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::error::Refusal;
use remuda_protocol::primitives::{Amount, B256};
use remuda_protocol::registry::register::validate_offer;
use remuda_protocol::registry::runner::{Offer, RateCard};
use remuda_protocol::transaction::Instruction;
use serde::Deserialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Bytes that the file may have.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Jobs at a time at most; what the chain takes in an offer.
const SLOTS_MAX: u32 = 10_000;

/// Why settings cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    /// It is not what it should be.
    #[error("{}: {reason}", path.display())]
    Malformed {
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The values do not fit.
    #[error("{0}")]
    Wrong(&'static str),
    /// The chain would refuse the offer.
    #[error("invalid [offer], the chain would refuse it: {0}")]
    Offer(Refusal),
}

/// Settings of a runner. Paths are relative to the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The path of this file, for messages to the operator.
    #[serde(skip)]
    pub file: PathBuf,
    pub key: PathBuf,
    /// Where it keeps what must survive a restart.
    pub data: PathBuf,
    /// APIs of nodes, best first. A second one allows to check the first one's validator.
    pub nodes: Vec<String>,
    pub slots: u32,
    /// Where connections to validators come from; port 0 for any.
    #[serde(default = "anywhere")]
    pub bind: SocketAddr,
    /// Whether it keeps sessions with validators, and so is pushed its jobs. Without them it polls, which
    /// takes longer, and it is not present.
    #[serde(default = "yes")]
    pub push: bool,
    /// Where the status page is, if anywhere. On this machine only.
    #[serde(default)]
    pub status: Option<SocketAddr>,
    /// Whether a runner that was paused, by draining say, takes jobs again when it starts.
    #[serde(default = "yes")]
    pub resume: bool,
    #[serde(default)]
    pub offer: OfferSettings,
    /// Workers that execute the jobs instead of the runner.
    #[serde(default)]
    pub fleet: Option<FleetSettings>,
    /// Web requests, if it makes any.
    #[serde(default)]
    pub http: Option<HttpConfig>,
    /// DNS checks, if it makes any.
    #[serde(default)]
    pub dns: Option<DnsConfig>,
    /// Language models, if it has any.
    #[serde(default)]
    pub llm: Option<LlmConfig>,
    /// Ethereum chains, if it sends to any.
    #[serde(default)]
    pub eth: Option<EthConfig>,
    /// MCP servers, if it has any.
    #[serde(default)]
    pub mcp: Option<McpConfig>,
    /// Programs in WebAssembly, if it runs any.
    #[serde(default)]
    pub wasm: Option<WasmConfig>,
}

/// The part of an offer that does not follow from what is configured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OfferSettings {
    /// Own stake to register with.
    pub stake: Money,
    pub base: Money,
    /// Per second of the allowed wall time.
    pub per_second: Money,
    /// Per 1,000 input tokens allowed.
    pub per_1k_in: Money,
    /// Per 1,000 output tokens allowed.
    pub per_1k_out: Money,
    /// The largest job value it declares; the stake covers 1.5 times that.
    pub declared_max_job_value: Money,
    /// Whether it takes jobs with a price of 0.
    pub accepts_unpaid: bool,
    /// Its part of what its delegators earn, in bps.
    pub commission_bps: u16,
    /// Whether it takes work that its stake answers for.
    pub accept_bonded: bool,
}

fn anywhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
}

fn yes() -> bool {
    true
}

impl Settings {
    /// Reads a file and makes its paths absolute.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let failed = |error| SettingsError::Io { path: path.to_owned(), error };
        let malformed = |reason| SettingsError::Malformed { path: path.to_owned(), reason };
        if std::fs::metadata(path).map_err(failed)?.len() > FILE_BYTES_MAX {
            return Err(malformed("it is too long to be settings".to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let mut settings: Self = toml::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        settings.below(path.parent().unwrap_or(Path::new(".")));
        settings.file = path.to_owned();
        settings.check()?;
        Ok(settings)
    }

    /// Resolves relative paths against this directory.
    fn below(&mut self, base: &Path) {
        let mut paths = vec![&mut self.key, &mut self.data];
        if let Some(fleet) = &mut self.fleet {
            paths.extend(fleet.token_file.as_mut());
            paths.extend(fleet.ca_file.as_mut());
        }
        for path in paths {
            *path = base.join(&*path);
        }
        let mut executors = self.executors();
        executors.below(base);
        let ExecutorSettings { http, dns, llm, eth, mcp, wasm } = executors;
        (self.http, self.dns, self.llm) = (http, dns, llm);
        (self.eth, self.mcp, self.wasm) = (eth, mcp, wasm);
    }

    /// The kinds of work that are set up here.
    pub fn executors(&self) -> ExecutorSettings {
        ExecutorSettings {
            http: self.http.clone(),
            dns: self.dns.clone(),
            llm: self.llm.clone(),
            eth: self.eth.clone(),
            mcp: self.mcp.clone(),
            wasm: self.wasm.clone(),
        }
    }

    /// What work can be done, here or by the fleet.
    pub fn capabilities(&self) -> Capabilities {
        match &self.fleet {
            Some(fleet) => fleet.capabilities(),
            None => Capabilities::of(&self.executors()),
        }
    }

    /// Whether the values fit each other.
    pub fn check(&self) -> Result<(), SettingsError> {
        if self.nodes.is_empty() {
            return Err(SettingsError::Wrong("`nodes` names no node; name one at least"));
        }
        if !(1..=SLOTS_MAX).contains(&self.slots) {
            return Err(SettingsError::Wrong("`slots` must be 1 to 10000"));
        }
        if self.status.is_some_and(|status| !status.ip().is_loopback()) {
            let text = "`status` must be a loopback address, such as 127.0.0.1:8090: \
                        any client of the page can drain the runner";
            return Err(SettingsError::Wrong(text));
        }
        if let Some(fleet) = &self.fleet {
            if self.executors() != ExecutorSettings::default() {
                let text = "with [fleet] the sections [http], [dns], [llm], [eth], [mcp] and [wasm] belong \
                            to its workers: move them to worker.toml, as [executors.http] and so on";
                return Err(SettingsError::Wrong(text));
            }
            fleet.problem().map_or(Ok(()), |text| Err(SettingsError::Wrong(text)))?;
        }
        Ok(())
    }

    /// What the runner offers: the kinds follow from the sections that are there.
    pub fn offer(&self) -> Result<Offer, SettingsError> {
        self.offer_with(&[])
    }

    /// The same where governance vouches for these of its [`Settings::pinnable`] programs.
    pub fn offer_with(&self, pinned: &[B256]) -> Result<Offer, SettingsError> {
        let OfferSettings { base, per_second, per_1k_in, per_1k_out, .. } = self.offer.clone();
        let capabilities = self.capabilities();
        let kinds = [
            (self.llm.is_some(), JobKind::Llm),
            (self.http.is_some(), JobKind::Http),
            (self.mcp.is_some(), JobKind::Mcp),
            (self.eth.is_some(), JobKind::EthSend),
            (self.dns.is_some() || self.wasm.is_some(), JobKind::Custom),
        ];
        // What a fleet has is named; what is set up here may be empty yet.
        let kinds = kinds.iter().filter(|(there, _)| *there).map(|(_, kind)| *kind);
        let offer = Offer {
            kinds: sorted(kinds.chain(capabilities.kinds())),
            models: sorted(capabilities.models.into_iter()),
            executors: sorted(capabilities.programs.into_iter().chain(pinned.iter().copied())),
            eth_chains: sorted(capabilities.eth_chains.into_iter()),
            resolvers: sorted(capabilities.resolvers.into_iter()),
            rates: RateCard {
                base: base.0,
                per_second: per_second.0,
                per_1k_in: per_1k_in.0,
                per_1k_out: per_1k_out.0,
            },
            max_concurrent_jobs: self.slots,
            declared_max_job_value: self.offer.declared_max_job_value.0,
            accepts_unpaid: self.offer.accepts_unpaid,
            commission_bps: self.offer.commission_bps,
            accept_bonded: self.offer.accept_bonded,
        };
        validate_offer(&offer).map_err(SettingsError::Offer)?;
        Ok(offer)
    }

    /// Programs that nobody lists here, and that may be run if governance vouches for them: those whose
    /// modules are there, unless the operator does not want that.
    pub fn pinnable(&self) -> Vec<B256> {
        let Capabilities { programs, modules, .. } = self.capabilities();
        modules.into_iter().filter(|hash| !programs.contains(hash)).collect()
    }

    /// The stake to register with.
    pub fn stake(&self) -> Amount {
        self.offer.stake.0
    }

    /// The instruction that makes it a runner.
    pub fn registration(&self) -> Result<Instruction, SettingsError> {
        self.registration_with(&[])
    }

    /// The same with programs that governance vouches for.
    pub fn registration_with(&self, pinned: &[B256]) -> Result<Instruction, SettingsError> {
        Ok(Instruction::RegisterRunner { stake: self.stake(), offer: self.offer_with(pinned)? })
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect::<std::collections::BTreeSet<T>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::dns::DNS_VERIFIER_EXECUTOR_HASH;

    fn read(text: &str) -> Result<Settings, toml::de::Error> {
        toml::from_str(text)
    }

    const LEAST: &str = "key = 'k'\ndata = 'd'\nnodes = ['http://127.0.0.1:1']\nslots = 2\n";

    #[test]
    fn kinds_follow_from_the_sections() {
        let text = format!(
            "{LEAST}[http]\n[dns]\n[llm.models.tiny]\nbase_url = 'http://127.0.0.1:2'\n\
             [[eth.chains]]\nchain_id = 1\nrpc_url = 'http://127.0.0.1:3'\n"
        );
        let offer = read(&text).unwrap().offer().unwrap();
        let all = [JobKind::Llm, JobKind::Http, JobKind::EthSend, JobKind::Custom];
        assert_eq!(offer.kinds, all);
        assert_eq!((offer.models, offer.eth_chains), (vec!["tiny".to_owned()], vec![1]));
        assert_eq!((offer.resolvers.len(), offer.max_concurrent_jobs), (4, 2));
        assert_eq!(offer.executors, [DNS_VERIFIER_EXECUTOR_HASH]);
    }

    #[test]
    fn who_can_do_nothing_offers_nothing() {
        let settings = read(LEAST).unwrap();
        assert!(matches!(settings.offer(), Err(SettingsError::Offer(Refusal::NoKinds))));
    }

    #[test]
    fn bonded_work_is_taken_only_if_the_operator_says_so() {
        let offer = |section: &str| {
            let settings = read(&format!("{LEAST}{section}[http]\n")).unwrap();
            settings.offer().unwrap().accept_bonded
        };
        assert!(!offer("") && !offer("[offer]\nbase = '1cby'\n"));
        assert!(offer("[offer]\naccept_bonded = true\n"));
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        assert!(read(&format!("{LEAST}slot = 3\n")).is_err());
        assert!(read(&format!("{LEAST}[offer]\nprice = '1cby'\n")).is_err());
    }

    #[test]
    fn paths_start_where_the_file_is() {
        let text = format!(
            "{LEAST}[http]\nca_file = 'ca.pem'\n[llm.models.tiny]\nbase_url = 'http://127.0.0.1:2'\n\
             api_key_file = '/secrets/key'\n"
        );
        let mut settings = read(&text).unwrap();
        settings.below(Path::new("/etc/runner"));
        assert_eq!(settings.key, Path::new("/etc/runner/k"));
        let http = settings.http.unwrap();
        assert_eq!(http.ca_file.unwrap(), Path::new("/etc/runner/ca.pem"));
        let key = settings.llm.unwrap().models["tiny"].api_key_file.clone();
        assert_eq!(key.unwrap(), Path::new("/secrets/key"), "absolute ones stay");
    }

    #[test]
    fn a_status_page_that_others_reach_is_refused() {
        for address in ["0.0.0.0:1", "192.0.2.1:1", "[::]:1"] {
            let settings = read(&format!("status = '{address}'\n{LEAST}")).unwrap();
            assert!(settings.check().is_err(), "{address}");
        }
        let settings = read(&format!("status = '127.0.0.1:1'\n{LEAST}")).unwrap();
        assert!(settings.check().is_ok());
    }

    #[test]
    fn with_a_fleet_what_workers_have_is_offered_and_nothing_is_set_up_here() {
        let fleet = "[fleet]\norchestrator = 'http://127.0.0.1:4400'\ntoken_file = 'fleet.token'\n\
                     http = true\nmodels = ['tiny']\neth_chains = [1]\nresolvers = ['1.1.1.1']\n";
        let mut settings = read(&format!("{LEAST}{fleet}")).unwrap();
        settings.check().unwrap();
        let offer = settings.offer().unwrap();
        let all = [JobKind::Llm, JobKind::Http, JobKind::EthSend, JobKind::Custom];
        assert_eq!(offer.kinds, all);
        assert_eq!((offer.models, offer.eth_chains), (vec!["tiny".to_owned()], vec![1]));
        assert_eq!(offer.executors, [DNS_VERIFIER_EXECUTOR_HASH]);
        settings.below(Path::new("/etc/runner"));
        let token = settings.fleet.unwrap().token_file.unwrap();
        assert_eq!(token, Path::new("/etc/runner/fleet.token"));
        let both = read(&format!("{LEAST}{fleet}[http]\n")).unwrap();
        assert!(both.check().unwrap_err().to_string().contains("worker.toml"));
        let wrong = read(&format!("{LEAST}[fleet]\norchestrator = 'fleet.example.com'\n")).unwrap();
        assert!(wrong.check().is_err());
        let clear = format!("{LEAST}[fleet]\norchestrator = 'http://10.0.0.5:4400'\n");
        assert!(read(&clear).unwrap().check().unwrap_err().to_string().contains("https://"));
        assert!(read(&format!("{clear}insecure = true\n")).unwrap().check().is_ok());
    }
}
