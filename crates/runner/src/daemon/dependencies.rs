//! Servers, programs and workers that work depends on: whether each is available now.
//!
//! The offer on chain says what a runner can do in general. While the server of a model is down the runner
//! tells its sessions (`CapabilityDelta`, CIP-11 §6.5), refuses jobs for the model, and shows the operator. The
//! same holds for the workers of a fleet.

use super::settings::Settings;
use super::unsupported::UnsupportedJob;
use crate::executor::dns::DNS_VERIFIER_EXECUTOR_HASH;
use crate::executor::{Capabilities, resolvers_asked};
use crate::fleet::FleetSettings;
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

pub(crate) const PROBE_EVERY: Duration = Duration::from_secs(5);
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// Failed probes after which an available dependency counts as lost, so that a restart does not.
const MISSES: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Location {
    Server(String, u16),
    Program(PathBuf),
    /// Workers of a fleet with these capabilities.
    Workers(Capabilities),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// Its name in a `CapabilityDelta`.
    pub(crate) capability: String,
    what: String,
    location: Location,
}

/// The capabilities that a job needs.
pub(crate) fn capabilities(spec: &JobSpec) -> [Option<String>; 2] {
    let work = match &spec.job_type {
        JobType::Llm { model, .. } => format!("model:{model}"),
        JobType::Mcp { server, .. } => format!("mcp:{server}"),
        JobType::EthSend { chain_id, .. } => format!("eth:{chain_id}"),
        JobType::Http { .. } => "http".to_owned(),
        JobType::Custom { executor_hash, .. } => format!("program:{executor_hash}"),
    };
    [Some(work), (resolvers_asked(spec) > 0).then(|| "dns".to_owned())]
}

/// What the settings expect of a fleet's workers.
fn of_fleet(settings: &FleetSettings) -> Vec<Dependency> {
    let none = Capabilities::default;
    let all = settings.capabilities();
    let mut found = Vec::new();
    let mut add = |capability: String, what: String, workers: Capabilities| {
        let location = Location::Workers(workers);
        found.push(Dependency {
            capability,
            what: format!("any worker of the fleet {what}"),
            location,
        });
    };
    if all.http {
        add(
            "http".to_owned(),
            "for web requests".to_owned(),
            Capabilities { http: true, ..none() },
        );
    }
    for model in all.models {
        let what = format!("with the model {model:?}");
        add(format!("model:{model}"), what, Capabilities { models: [model].into(), ..none() });
    }
    for id in all.eth_chains {
        let what = format!("for Ethereum chain {id}");
        add(format!("eth:{id}"), what, Capabilities { eth_chains: [id].into(), ..none() });
    }
    for server in all.servers {
        let what = format!("with the MCP server {server:?}");
        add(format!("mcp:{server}"), what, Capabilities { servers: [server].into(), ..none() });
    }
    for hash in all.programs {
        let what = format!("with the program {hash}");
        let programs = [hash].into();
        // The DNS verifier is part of every worker with resolvers.
        let resolvers = match hash == DNS_VERIFIER_EXECUTOR_HASH {
            true => all.resolvers.clone(),
            false => BTreeSet::new(),
        };
        add(format!("program:{hash}"), what, Capabilities { programs, resolvers, ..none() });
    }
    if !all.resolvers.is_empty() {
        let what = "with as many resolvers".to_owned();
        add("dns".to_owned(), what, Capabilities { resolvers: all.resolvers, ..none() });
    }
    found
}

fn server(address: &str) -> Option<Location> {
    let url = Url::parse(address).ok()?;
    // Sockets take IPv6 addresses without brackets.
    let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']').to_owned();
    Some(Location::Server(host, url.port_or_known_default()?))
}

impl Dependency {
    /// All dependencies of the settings.
    pub(crate) fn all(settings: &Settings) -> Vec<Self> {
        if let Some(fleet) = &settings.fleet {
            return of_fleet(fleet);
        }
        let models = settings.llm.iter().flat_map(|llm| &llm.models).map(|(name, model)| {
            (
                format!("model:{name}"),
                format!("the server of model {name:?}"),
                server(&model.base_url),
            )
        });
        let chains = settings.eth.iter().flat_map(|eth| &eth.chains).map(|chain| {
            let id = chain.chain_id;
            (
                format!("eth:{id}"),
                format!("the node of Ethereum chain {id}"),
                server(&chain.rpc_url),
            )
        });
        let tools = settings.mcp.iter().flat_map(|mcp| &mcp.servers).map(|(name, tools)| {
            let program = tools.command.clone().map(Location::Program);
            let location = program.or_else(|| tools.url.as_deref().and_then(server));
            (format!("mcp:{name}"), format!("the MCP server {name:?}"), location)
        });
        let all = models.chain(chains).chain(tools);
        let known = all.filter_map(|(capability, what, location)| {
            Some(Self { capability, what, location: location? })
        });
        known.collect()
    }

    /// The capabilities of a worker that provides it; none if no worker does.
    pub(crate) fn workers(&self) -> Option<&Capabilities> {
        match &self.location {
            Location::Workers(capabilities) => Some(capabilities),
            Location::Server(..) | Location::Program(_) => None,
        }
    }

    /// Whether it is available; always `true` for workers. For a server it has to accept a connection: more takes
    /// a job.
    pub(crate) async fn probe(&self) -> bool {
        match &self.location {
            Location::Server(host, port) => {
                let connected =
                    timeout(PROBE_TIMEOUT, TcpStream::connect((host.as_str(), *port))).await;
                matches!(connected, Ok(Ok(_)))
            }
            Location::Program(path) => tokio::fs::metadata(path).await.is_ok_and(|it| it.is_file()),
            Location::Workers(_) => true,
        }
    }
}

#[derive(Clone, Debug)]
struct Known {
    what: String,
    seen: bool,
    misses: u32,
    lost: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Dependencies {
    all: BTreeMap<String, Known>,
}

impl Dependencies {
    pub(crate) fn new(all: &[Dependency]) -> Self {
        let known = |dependency: &Dependency| {
            let what = dependency.what.clone();
            (dependency.capability.clone(), Known { what, seen: false, misses: 0, lost: false })
        };
        Self { all: all.iter().map(known).collect() }
    }

    /// Records a probe. Returns whether the dependency was lost or came back.
    pub(crate) fn update(&mut self, capability: &str, there: bool) -> bool {
        let Some(known) = self.all.get_mut(capability) else { return false };
        known.misses = if there { 0 } else { known.misses.saturating_add(1) };
        // One that was never available is lost at once.
        let patience = if known.seen { MISSES } else { 1 };
        known.seen |= there;
        let lost = known.misses >= patience || (known.lost && !there);
        std::mem::replace(&mut known.lost, lost) != lost
    }

    pub(crate) fn lost(&self) -> Vec<String> {
        let lost = self.all.iter().filter(|(_, known)| known.lost);
        lost.map(|(capability, _)| capability.clone()).collect()
    }

    /// Whether there are dependencies, and all are lost.
    pub(crate) fn all_lost(&self) -> bool {
        !self.all.is_empty() && self.all.values().all(|known| known.lost)
    }

    pub(crate) fn check(&self, spec: &JobSpec) -> Result<(), UnsupportedJob> {
        let needed = capabilities(spec).into_iter().flatten();
        match needed.filter_map(|name| self.all.get(&name)).find(|known| known.lost) {
            Some(known) => Err(UnsupportedJob::Unavailable(known.what.clone())),
            None => Ok(()),
        }
    }

    pub(crate) fn problem(&self) -> Option<String> {
        let lost: Vec<&str> =
            self.all.values().filter(|known| known.lost).map(|known| known.what.as_str()).collect();
        (!lost.is_empty()).then(|| {
            let lost = lost.join(" and ");
            format!(
                "no answer from {lost}: jobs that need it are refused; start it, or correct its address in \
                 runner.toml"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::tags;
    use crate::testing::{http_spec, settings};

    const MODEL: &str = "[llm.models.tiny]\nbase_url = 'http://127.0.0.1:9/v1'";

    #[test]
    fn every_dependency_of_the_settings_is_probed() {
        let sections = format!(
            "{MODEL}\n[[eth.chains]]\nchain_id = 1\nrpc_url = 'https://rpc.example.com/key'\n\
             [mcp.servers.time]\ncommand = '/bin/time'\n[mcp.servers.far]\nurl = 'http://[::1]:3/mcp'"
        );
        let all = Dependency::all(&settings(&sections));
        let locations: Vec<(&str, &Location)> =
            all.iter().map(|it| (it.capability.as_str(), &it.location)).collect();
        let server = |host: &str, port| Location::Server(host.to_owned(), port);
        assert_eq!(
            locations,
            [
                ("model:tiny", &server("127.0.0.1", 9)),
                ("eth:1", &server("rpc.example.com", 443)),
                ("mcp:far", &server("::1", 3)),
                ("mcp:time", &Location::Program("/bin/time".into())),
            ]
        );
        assert!(Dependency::all(&settings("[http]\n[dns]")).is_empty());
    }

    #[test]
    fn available_dependency_is_lost_after_two_misses() {
        let mut dependencies = Dependencies::new(&Dependency::all(&settings(MODEL)));
        assert!(!dependencies.update("model:tiny", true));
        assert!(!dependencies.update("model:tiny", false), "it may be starting again");
        assert!(dependencies.update("model:tiny", false));
        assert_eq!(dependencies.lost(), ["model:tiny"]);
        assert!(!dependencies.update("model:tiny", false), "that is no news");
        assert!(dependencies.update("model:tiny", true));
        assert!(dependencies.lost().is_empty() && dependencies.problem().is_none());
    }

    #[test]
    fn never_seen_dependency_is_lost_after_one_miss() {
        let mut dependencies = Dependencies::new(&Dependency::all(&settings(MODEL)));
        assert!(dependencies.update("model:tiny", false));
        let mut spec = http_spec("GET", "http://example.com/");
        assert_eq!(dependencies.check(&spec), Ok(()));
        spec.job_type = JobType::Llm {
            model: "tiny".to_owned(),
            messages: vec![],
            temperature_milli: 0,
            seed: 0,
        };
        assert!(
            matches!(dependencies.check(&spec), Err(UnsupportedJob::Unavailable(what)) if what.contains("tiny"))
        );
        assert!(dependencies.problem().unwrap().contains("tiny"));
    }

    #[tokio::test]
    async fn server_is_available_if_it_accepts_connections() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let sections = format!("[llm.models.tiny]\nbase_url = 'http://127.0.0.1:{port}'");
        let dependency = Dependency::all(&settings(&sections)).remove(0);
        assert!(dependency.probe().await);
        drop(listener);
        assert!(!dependency.probe().await);
    }

    #[test]
    fn dependencies_of_a_fleet_are_its_workers() {
        let fleet = "[fleet]\norchestrator = 'http://127.0.0.1:1'\nhttp = true\nmodels = ['tiny']\n\
                     resolvers = ['1.1.1.1', '9.9.9.9']";
        let all = Dependency::all(&settings(fleet));
        let names: Vec<&str> = all.iter().map(|it| it.capability.as_str()).collect();
        let dns = format!("program:{DNS_VERIFIER_EXECUTOR_HASH}");
        assert_eq!(names, ["http", "model:tiny", dns.as_str(), "dns"]);
        let worker = "[http]\n[dns]\nresolvers = ['1.1.1.1', '9.9.9.9']";
        let has = tags::offered(&settings(worker).capabilities());
        let offers = |it: &Dependency| tags::offered(it.workers().unwrap()).is_subset(&has);
        let found: Vec<bool> = all.iter().map(offers).collect();
        assert_eq!(found, [true, false, true, true]);
        let mut dependencies = Dependencies::new(&all);
        assert!(dependencies.update("http", false));
        let spec = http_spec("GET", "http://example.com/");
        assert!(
            matches!(dependencies.check(&spec), Err(UnsupportedJob::Unavailable(what)) if what.contains("web"))
        );
    }
}
