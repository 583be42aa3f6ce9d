//! What happens: the network comes up, six jobs are done, one runner lies, one is killed.

use super::dns::{self, Resolvers};
use super::network::{self, Network, NetworkOptions, Runner, VALIDATORS, http};
use super::printer::Printer;
use super::program::{Program, primes};
use super::report::{Check, JobReport, Report};
use super::web::Web;
use crate::failure::Failure;
use crate::job;
use crate::style::Style;
use crate::timeline::{Timeline, entries, is_end};
use futures::StreamExt as _;
use remuda_client::EventFilter;
use remuda_client::types::{BlockView, HexAddress, HistoryEntry};
use remuda_client::{BlockId, Client};
use remuda_protocol::codec::Bytes;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_protocol::primitives::{Address, Height, JobId};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_runner::daemon::ResultTampering;
use remuda_runner::executor::dns::DNS_VERIFIER_EXECUTOR_HASH;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Everybody who works; who is there from the beginning, and who comes later.
const NAMES: [&str; 5] = ["ada", "ben", "cleo", "dora", "egon"];
const FIRST: [&str; 3] = ["ada", "ben", LIAR];
const LATER: [&str; 2] = ["cleo", "dora"];
/// Lies in its first job.
const LIAR: &str = "egon";
const BLOCK_TIME: Duration = Duration::from_millis(200);
/// Blocks for a job that nobody delays, and for the one whose runner is killed.
const ROOMY: u64 = 200;
const TIGHT: u64 = 40;

pub(super) async fn play(json: bool, directory: Option<&Path>) -> Result<Report, Failure> {
    let mut printer = if json { Printer::silent() } else { Printer::stdout() };
    let began = Instant::now();
    let web = Web::start().await.map_err(Failure::Start)?;
    let resolvers = Resolvers::start().await.map_err(Failure::Start)?;
    let primes = primes();
    printer.title("A network comes up");
    let program = std::env::current_exe().map_err(Failure::Start)?;
    let mut options = NetworkOptions::new(program, BLOCK_TIME, NAMES);
    options.pinned = vec![primes.hash];
    let network = Network::start(directory, &options).await?;
    printer.why(&format!(
        "{VALIDATORS} validators agree on a block every {} ms. Each is a process; their APIs are {}.",
        BLOCK_TIME.as_millis(),
        network.apis.join(", ")
    ));
    let runners = equip(&network, &resolvers, &primes)?;
    let mut stage = Stage { network, runners, printer, web, jobs: Vec::new() };
    stage.hire(&FIRST).await?;
    stage.printer.why(
        "Three runners have put 15,000 CBY each at stake, and keep a QUIC session with three \
         validators each. The validators say so in their votes, so all three can be drawn.",
    );
    stage.acts(&primes).await?;
    let checks = stage.agreement().await?;
    let Stage { network, runners, jobs, .. } = stage;
    for mut runner in runners {
        runner.kill().await;
    }
    network.stop().await;
    Ok(Report { jobs, checks, millis: began.elapsed().as_millis() as u64 })
}

fn equip(
    network: &Network,
    resolvers: &Resolvers,
    program: &Program,
) -> Result<Vec<Runner>, Failure> {
    let quoted = |at: &std::net::SocketAddr| format!("{:?}", at.to_string());
    let resolvers: Vec<String> = resolvers.addresses.iter().map(quoted).collect();
    let work = format!(
        "[http]\naddresses = {{ allow = [\"127.0.0.0/8\"] }}\n[dns]\nresolvers = [{}]\n\
         [wasm]\nallow = [\"{}\"]\n",
        resolvers.join(", "),
        program.hash
    );
    let mut runners = Vec::new();
    for name in NAMES {
        let runner = network.equip(name, &work)?;
        let module = runner.directory.join(format!("modules/{:x}.wasm", program.hash));
        std::fs::write(&module, &program.module)
            .map_err(|source| Failure::File { path: module, source })?;
        runners.push(runner);
    }
    Ok(runners)
}

/// Lies once, and is honest ever after.
fn liar() -> ResultTampering {
    let told = AtomicBool::new(false);
    ResultTampering::with(move |result| match told.swap(true, Relaxed) {
        false => String::from_utf8_lossy(&result).replace("42.17", "99.99").into_bytes(),
        true => result,
    })
}

struct Stage {
    network: Network,
    runners: Vec<Runner>,
    printer: Printer,
    web: Web,
    jobs: Vec<JobReport>,
}

impl Stage {
    /// Registers and starts some, and waits until they can be drawn.
    async fn hire(&mut self, names: &[&str]) -> Result<(), Failure> {
        let mut hired = Vec::new();
        for runner in &mut self.runners {
            if !names.contains(&&*runner.name) {
                continue;
            }
            self.network.register(runner).await?;
            // A process like the others would not lie.
            if runner.name == LIAR {
                runner.join(liar()).await?
            } else {
                runner.spawn()?
            }
            hired.push(runner.address());
        }
        self.network.present(&hired).await
    }

    async fn acts(&mut self, program: &Program) -> Result<(), Failure> {
        let price = http(self.web.url("/price"), "price");
        let vote = |field: &str| vec![VerifierCheck::MajorityVote { field: field.to_owned() }];

        self.printer.title("A web page, three runners, and one of them lies (majority vote)");
        let job = network::job(price.clone(), VerificationMode::MajorityVote, 3, 2, vote("value"));
        let done = self.job("http, majority vote", job, ROOMY).await?;
        let liar = self.address(LIAR);
        self.printer.why(
            "Egon found 99.99 where the others found 42.17. It had committed before it could see \
             theirs, and so it is outside the group that agrees: no pay, and its reputation falls.",
        );
        self.check("the liar is left out of pay", !done.paid.iter().any(|(who, _)| *who == liar));
        self.check("the two others are paid", done.paid.len() == 2);

        self.printer.title("Two more runners join");
        self.hire(&LATER).await?;
        self.printer.why("Five can be drawn from now on.");

        self.printer.title("The same page, three fields at once (structured match)");
        let fields = ["body.item", "body.price", "status"].map(str::to_owned).to_vec();
        let all = http(self.web.url("/price"), "");
        let checks = vec![VerifierCheck::StructuredMatch { fields }];
        let job = network::job(all, VerificationMode::StructuredMatch, 3, 2, checks);
        self.job("http, structured match", job, ROOMY).await?;

        self.printer.title("A program, bit by bit the same everywhere (deterministic)");
        let count =
            JobType::Custom { executor_hash: program.hash, params: b"20000".as_slice().into() };
        let mut job = network::job(count, VerificationMode::Deterministic, 3, 2, Vec::new());
        job.result_schema.data_format = DataFormat::Text;
        let done = self.job("wasm, deterministic", job, ROOMY).await?;
        self.printer.why("That many primes are below 20,000.");
        self.check("the program counted 2262 primes", done.result.as_deref() == Some("2262"));

        self.printer.title("A TXT record, asked of three resolvers by each (majority vote)");
        let look_up =
            JobType::Custom { executor_hash: DNS_VERIFIER_EXECUTOR_HASH, params: Bytes::default() };
        let checks = vec![VerifierCheck::DnsTxtRecordMatch {
            fqdn: dns::NAME.to_owned(),
            expected_value: dns::TEXT.to_owned(),
            min_resolvers: 3,
        }];
        let checks = [checks, vote("dns")].concat();
        let job = network::job(look_up, VerificationMode::MajorityVote, 3, 2, checks);
        self.job("dns, majority vote", job, ROOMY).await?;

        self.printer.title("A runner is killed at work, and another one takes its seat");
        let slow = http(self.web.url("/slow"), "price");
        let job = network::job(slow, VerificationMode::MajorityVote, 3, 3, vote("value"));
        self.killed(job).await
    }

    /// Everybody who is drawn waits for the page; one of them is killed, then the page comes.
    async fn killed(&mut self, mut spec: JobSpec) -> Result<(), Failure> {
        spec.timeout_blocks = TIGHT;
        let id = self.network.submit(spec).await?;
        let job = self
            .network
            .wait("the draw", async || {
                let job = self.network.client.job(id).await.ok()?;
                (!job.seats.is_empty()).then_some(job)
            })
            .await?;
        let seated = |runner: &&mut Runner| {
            job.seats.iter().any(|seat| seat.runner.0 == runner.address()) && runner.name != LIAR
        };
        let victim = self.runners.iter_mut().find(seated);
        let victim = victim.ok_or_else(|| Failure::Network("nobody to kill was drawn".into()))?;
        victim.kill().await;
        let (name, address) = (victim.name.clone(), victim.address());
        self.printer.why(&format!("{name} was drawn, and is killed (SIGKILL) before it commits."));
        self.web.release();
        let done = self.follow("http, one killed", id).await?;
        self.check("the job was drawn again", done.attempts > 0);
        self.check("who was killed is not paid", !done.paid.iter().any(|(who, _)| *who == address));
        // Back at work: it finds in its journal what it had begun.
        if let Some(runner) = self.runners.iter_mut().find(|runner| runner.name == name) {
            runner.spawn()?;
        }
        self.network.present(&[address]).await?;
        self.printer.why(&format!("{name} was started again, and its validators hear it again."));
        Ok(())
    }

    fn address(&self, name: &str) -> Address {
        network::key(name).address()
    }

    fn check(&mut self, what: &str, ok: bool) {
        if let Some(job) = self.jobs.last_mut() {
            job.checks.push(Check { what: what.to_owned(), ok });
        }
    }

    async fn job(
        &mut self,
        name: &str,
        mut spec: JobSpec,
        blocks: u64,
    ) -> Result<JobReport, Failure> {
        spec.timeout_blocks = blocks;
        let id = self.network.submit(spec).await?;
        self.follow(name, id).await
    }

    /// Tells a job's life, from its order to its end.
    async fn follow(&mut self, name: &str, id: JobId) -> Result<JobReport, Failure> {
        let ordered = self.network.client.job(id).await?.submitted_at.0;
        let filter = EventFilter { job: Some(id), ..EventFilter::default() };
        let mut events = self.network.client.events(&filter, Some(Height(ordered - 1)));
        let style = Style::stdout();
        let mut timeline = Timeline::new(Style { terminal: true, ..style }).with_names(name_of);
        let mut history: Vec<HistoryEntry> = Vec::new();
        let life = async {
            while let Some(block) = events.next().await.transpose()? {
                let mut over = false;
                for entry in entries(block) {
                    over |= is_end(&entry.event);
                    for line in timeline.entry(&entry).lines() {
                        self.printer.line(line);
                    }
                    history.push(entry);
                }
                if over {
                    break;
                }
            }
            Ok::<_, Failure>(())
        };
        let patience = Duration::from_secs(90);
        let ended = tokio::time::timeout(patience, life).await;
        ended
            .map_err(|_| Failure::Network(format!("the job {id} did not end in {patience:?}")))??;
        let view = job::ended(&self.network.client, id).await?;
        let report = JobReport::new(name, &view, &history);
        if let Some(result) = &report.result {
            self.printer.why(&format!("The result: {result}"));
        }
        self.jobs.push(report.clone());
        Ok(report)
    }

    /// Whether all validators tell the same chain.
    async fn agreement(&mut self) -> Result<Vec<Check>, Failure> {
        let height = self.network.client.status().await?.height.0;
        let mut blocks: Vec<BlockView> = Vec::new();
        for api in &self.network.apis {
            let client = Client::new(api.clone())?;
            let block = self
                .network
                .wait("a block at each validator", async || {
                    client.block(BlockId::Height(Height(height))).await.ok()
                })
                .await?;
            blocks.push(block);
        }
        let same = blocks.windows(2).all(|pair| pair[0].hash == pair[1].hash);
        let what = format!("all {VALIDATORS} validators have the same block {height}");
        Ok(vec![Check { what, ok: same }])
    }
}

/// The runner's name, if it is one.
fn name_of(HexAddress(address): HexAddress) -> Option<String> {
    let name = NAMES.iter().find(|name| network::key(name).address() == address);
    name.map(|name| (*name).to_owned())
}

/// Its name or, for anybody else, the address.
pub(super) fn named(address: HexAddress) -> String {
    name_of(address).unwrap_or_else(|| address.to_string())
}
