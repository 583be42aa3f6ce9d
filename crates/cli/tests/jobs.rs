//! Jobs through real consensus: four validators as processes, runners over real QUIC, every mode that
//! there is, and every way to misbehave. Money is counted to the unit.

use crate::support::web;
use remuda::demo::network::{Network, NetworkOptions, PRICE, Runner, http, job};
use remuda_client::types::{EventBody, HexAddress, JobStatusView, JobView};
use remuda_client::{BlockId, Client};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_protocol::presence::PresencePolicy;
use remuda_protocol::primitives::{Address, B256, Height, JobId};
use remuda_protocol::transaction::Instruction;
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_runner::daemon::ResultTampering;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const NAMES: [&str; 5] = ["ada", "ben", "cleo", "dora", "egon"];
/// A module that returns its params: `alloc` gives 1024, `run` returns where they are.
const ECHO: &str = r#"(module (memory (export "memory") 1)
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "run") (param i32 i32) (result i64)
    (i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32))
            (i64.extend_i32_u (local.get 1)))))"#;

struct Ranch {
    network: Network,
    url: String,
    echo: B256,
    runners: BTreeMap<&'static str, Runner>,
    /// How the last runner behaves: 0 honest, 1 lies, more: that many milliseconds late.
    whim: Arc<AtomicU64>,
}

impl Ranch {
    async fn new() -> Self {
        let module = wat::parse_str(ECHO).unwrap();
        let echo = B256::new(*blake3::hash(&module).as_bytes());
        let url = web::serve(|_| async { r#"{"price":"42.17"}"#.to_owned() }).await;
        let program = env!("CARGO_BIN_EXE_remuda");
        let mut options = NetworkOptions::new(program, Duration::from_millis(100), NAMES);
        options.pinned = vec![echo];
        options.params = |params| {
            // Who is drawn is chosen by who is there; one of them works without a program.
            params.presence_policy = PresencePolicy::Shadow as u8;
            params.heartbeat_timeout_blocks = 100_000;
            params.aggregator_blocks = 20;
            params.reveal_blocks = 40;
        };
        let network = Network::start(None, &options).await.expect("a network");
        let work = format!(
            "[http]\naddresses = {{ allow = [\"127.0.0.0/8\"] }}\n[wasm]\nallow = [\"{echo}\"]\n"
        );
        let mut runners = BTreeMap::new();
        for name in NAMES {
            let runner = network.equip(name, &work).expect("a folder");
            let path = runner.directory.join(format!("modules/{echo:x}.wasm"));
            std::fs::write(path, &module).unwrap();
            runners.insert(name, runner);
        }
        let mut ranch = Self { network, url, echo, runners, whim: Arc::default() };
        // Committees have three seats here, so with three runners everybody sits.
        for name in ["ada", "ben", "egon"] {
            ranch.network.register(&ranch.runners[name]).await.expect("registered");
            ranch.join(name).await;
        }
        ranch
    }

    /// Starts a runner in this process.
    async fn join(&mut self, name: &'static str) {
        let conduct = if name == "egon" {
            let whim = self.whim.clone();
            ResultTampering::with(move |result| match whim.load(Relaxed) {
                0 => result,
                1 => String::from_utf8(result).unwrap().replace("42.17", "99.99").into_bytes(),
                late => {
                    std::thread::sleep(Duration::from_millis(late));
                    result
                }
            })
        } else {
            ResultTampering::none()
        };
        let runner = self.runners.get_mut(name).unwrap();
        runner.join(conduct).await.expect("it starts");
    }

    fn client(&self) -> &Client {
        &self.network.client
    }

    async fn send(&self, who: &SecretKey, what: Instruction) {
        let receipt = self.client().send(who, what).await.expect("taken");
        assert!(receipt.ok, "{receipt:?}");
    }

    async fn pause(&self, name: &str) {
        self.send(&self.runners[name].key, Instruction::PauseRunner).await;
    }

    async fn submit(&self, spec: JobSpec) -> JobId {
        self.network.submit(spec).await.expect("taken")
    }

    async fn when(&self, what: &str, id: JobId, wanted: impl Fn(&JobView) -> bool) -> JobView {
        let look = async || self.client().job(id).await.ok().filter(|job| wanted(job));
        self.network.wait(what, look).await.unwrap_or_else(|error| panic!("{error}"))
    }

    async fn over(&self, id: JobId) -> JobView {
        self.when("the job's end", id, |job| job.over).await
    }

    fn http(&self, mode: VerificationMode, runners: u32, threshold: u32) -> JobSpec {
        let field = "value".to_owned();
        let checks = match mode {
            VerificationMode::MajorityVote => vec![VerifierCheck::MajorityVote { field }],
            VerificationMode::StructuredMatch => {
                vec![VerifierCheck::StructuredMatch { fields: vec![field] }]
            }
            _ => Vec::new(),
        };
        let work = http(self.url.clone(), "price");
        let mut spec = job(work, mode, runners, threshold, checks);
        spec.timeout_blocks = 100;
        spec
    }

    fn address(&self, name: &str) -> Address {
        self.runners[name].address()
    }

    async fn balances(&self) -> BTreeMap<Address, i128> {
        let mut balances = BTreeMap::new();
        let everybody = NAMES.map(|name| self.address(name));
        for who in everybody.into_iter().chain([self.network.submitter.address()]) {
            let account = self.client().account(who).await.expect("an account");
            balances.insert(who, account.balance.0 as i128);
        }
        balances
    }

    /// What blocks say that everybody's balance has changed by: fees, pay, escrow, refunds.
    async fn changes(&self, from: u64, to: u64) -> BTreeMap<Address, i128> {
        let mut changes: BTreeMap<Address, i128> = BTreeMap::new();
        for height in from + 1..=to {
            let block = self.client().full_block(BlockId::Height(Height(height))).await.unwrap();
            let bodies = block.bodies.unwrap_or_default();
            for receipt in block.receipts.unwrap_or_default() {
                let sender = receipt.transaction.and_then(|hash| {
                    bodies.iter().find(|body| body.hash == hash).and_then(|body| body.from)
                });
                if let Some(HexAddress(who)) = sender {
                    *changes.entry(who).or_default() -= receipt.fee.0 as i128;
                }
                for event in &receipt.events {
                    let (who, amount) = match event {
                        EventBody::JobSubmitted { submitter, escrow, .. } => {
                            (submitter.0, -(escrow.0 as i128))
                        }
                        EventBody::Paid { runner, amount, .. } => (runner.0, amount.0 as i128),
                        EventBody::Refunded { to, amount, .. } => (to.0, amount.0 as i128),
                        _ => continue,
                    };
                    *changes.entry(who).or_default() += amount;
                }
            }
        }
        changes
    }
}

fn paid(events: &[EventBody]) -> BTreeMap<Address, u128> {
    let pay = events.iter().filter_map(|event| match event {
        EventBody::Paid { runner, amount, .. } => Some((runner.0, amount.0)),
        _ => None,
    });
    pay.collect()
}

async fn history(ranch: &Ranch, id: JobId) -> Vec<EventBody> {
    let history = ranch.client().job_history(id).await.expect("a history");
    history.entries.into_iter().map(|entry| entry.event).collect()
}

async fn every_mode_settles(ranch: &Ranch) {
    let before = ranch.client().status().await.unwrap().height.0;
    let balances = ranch.balances().await;
    let echo = JobType::Custom { executor_hash: ranch.echo, params: Bytes(b"hello".to_vec()) };
    let mut program = ranch.http(VerificationMode::Deterministic, 3, 2);
    (program.job_type, program.result_schema.data_format) = (echo, DataFormat::Text);
    let specs = [
        ranch.http(VerificationMode::None, 1, 1),
        ranch.http(VerificationMode::MajorityVote, 3, 2),
        ranch.http(VerificationMode::StructuredMatch, 3, 2),
        program,
    ];
    for spec in specs {
        let (mode, seats) = (spec.verification.mode, spec.verification.runners);
        let id = ranch.submit(spec).await;
        let job = ranch.over(id).await;
        let events = history(ranch, id).await;
        assert_eq!(job.status, JobStatusView::Settled {}, "{mode:?}: {events:#?}");
        let result = job.result.expect("a settled job has one").result.0;
        let expected: &[u8] = match mode {
            VerificationMode::Deterministic => b"hello",
            _ => br#"{"status":200,"value":"42.17"}"#,
        };
        assert_eq!(String::from_utf8_lossy(&result), String::from_utf8_lossy(expected), "{mode:?}");
        // 89 % of the price go to the winners, equally but for the aggregator's 1.5 %.
        let pay = paid(&events);
        assert_eq!(pay.len(), seats as usize, "{mode:?}: all were right");
        let (gross, shares) = (PRICE.get(), seats as u128);
        let bonus = if shares > 1 { gross * 150 / 10_000 } else { 0 };
        let share = (gross * 8_900 / 10_000 - bonus) / shares;
        let mut amounts: Vec<u128> = pay.values().copied().collect();
        amounts.sort_unstable();
        let mut wanted = vec![share; seats as usize];
        wanted[seats as usize - 1] += bonus;
        assert_eq!(amounts, wanted, "{mode:?}");
    }
    let after = ranch.client().status().await.unwrap().height.0;
    let (now, changes) = (ranch.balances().await, ranch.changes(before, after).await);
    // Nothing is in flight: the height has moved on without anybody's balance.
    for (who, balance) in balances {
        let change = changes.get(&who).copied().unwrap_or_default();
        assert_eq!(now[&who], balance + change, "{who}");
    }
}

async fn a_liar_is_not_paid(ranch: &Ranch) {
    let egon = ranch.address("egon");
    let before = ranch.client().runner(egon).await.unwrap().reputation_nano.0;
    ranch.whim.store(1, Relaxed);
    let id = ranch.submit(ranch.http(VerificationMode::MajorityVote, 3, 2)).await;
    let job = ranch.over(id).await;
    ranch.whim.store(0, Relaxed);
    let events = history(ranch, id).await;
    assert_eq!(job.status, JobStatusView::Settled {}, "{events:#?}");
    let pay = paid(&events);
    assert_eq!((pay.len(), pay.contains_key(&egon)), (2, false));
    let rejected = |event: &EventBody| matches!(event, EventBody::ResultRejected { runner, .. } if runner.0 == egon);
    assert!(events.iter().any(rejected), "{events:#?}");
    assert!(ranch.client().runner(egon).await.unwrap().reputation_nano.0 < before);
}

/// Its disk is gone between commit and reveal: it says so itself when it comes back.
async fn a_crash_is_attested(ranch: &mut Ranch) {
    ranch.pause("ben").await;
    ranch.network.register(&ranch.runners["cleo"]).await.expect("registered");
    ranch.join("cleo").await;
    let cleo = ranch.address("cleo");
    let stake = ranch.client().runner(cleo).await.unwrap().stake.0;
    // Commits stay open for 180 blocks, and the last one comes long before that.
    ranch.whim.store(5_000, Relaxed);
    let mut spec = ranch.http(VerificationMode::MajorityVote, 3, 2);
    spec.timeout_blocks = 300;
    let id = ranch.submit(spec).await;
    let committed = |job: &JobView| {
        let own = job.seats.iter().find(|seat| seat.runner.0 == cleo);
        own.is_some_and(|seat| format!("{:?}", seat.progress).starts_with("Committed"))
    };
    ranch.when("a commit", id, committed).await;
    let runner = ranch.runners.get_mut("cleo").unwrap();
    runner.kill().await;
    let journal = runner.directory.join("data/jobs");
    std::fs::remove_dir_all(&journal).expect("it had a journal");
    ranch.join("cleo").await;
    let job = ranch.over(id).await;
    ranch.whim.store(0, Relaxed);
    let events = history(ranch, id).await;
    let attested = |event: &EventBody| matches!(event, EventBody::CrashAttested { runner, .. } if runner.0 == cleo);
    assert!(events.iter().any(attested), "{events:#?}");
    assert_eq!(job.status, JobStatusView::Settled {}, "two of three are enough");
    assert!(!paid(&events).contains_key(&cleo));
    let now = ranch.client().runner(cleo).await.unwrap().stake.0;
    assert_eq!(now, stake, "the first attestation is excused");
}

/// It is drawn for work that it says it does, and its program says no.
async fn a_refusal_is_a_timeout(ranch: &mut Ranch) {
    let dora = ranch.address("dora");
    ranch.network.register(&ranch.runners["dora"]).await.expect("registered");
    let settings = ranch.runners["dora"].directory.join("runner.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let (start, end) = (text.find("[http]").unwrap(), text.find("[wasm]").unwrap());
    std::fs::write(&settings, format!("{}{}", &text[..start], &text[end..])).unwrap();
    ranch.join("dora").await;
    ranch.pause("cleo").await;
    let before = ranch.client().runner(dora).await.unwrap().reputation_nano.0;
    let mut spec = ranch.http(VerificationMode::MajorityVote, 3, 2);
    spec.timeout_blocks = 60;
    let id = ranch.submit(spec).await;
    let job = ranch.over(id).await;
    let events = history(ranch, id).await;
    assert_eq!(job.status, JobStatusView::Settled {}, "{events:#?}");
    let late = |event: &EventBody| matches!(event, EventBody::RunnerTimedOut { runner, .. } if runner.0 == dora);
    assert!(events.iter().any(late), "{events:#?}");
    assert!(!paid(&events).contains_key(&dora));
    assert!(ranch.client().runner(dora).await.unwrap().reputation_nano.0 < before);
}

/// It commits to something, and never opens it.
async fn a_silence_is_slashed(ranch: &mut Ranch) {
    ranch.runners.get_mut("dora").unwrap().kill().await;
    let dora = ranch.runners["dora"].key.clone();
    let stake = ranch.client().runner(dora.address()).await.unwrap().stake.0;
    let mut spec = ranch.http(VerificationMode::MajorityVote, 3, 2);
    spec.timeout_blocks = 60;
    let id = ranch.submit(spec).await;
    let drawn = |job: &JobView| job.seats.iter().any(|seat| seat.runner.0 == dora.address());
    ranch.when("the draw", id, drawn).await;
    let commitment = B256::repeat_byte(7);
    ranch.send(&dora, Instruction::CommitResult { job: id, commitment }).await;
    let job = ranch.over(id).await;
    let events = history(ranch, id).await;
    assert_eq!(job.status, JobStatusView::Settled {}, "{events:#?}");
    let slashed = events.iter().find_map(|event| match event {
        EventBody::NonRevealSlash { runner, amount, .. } if runner.0 == dora.address() => {
            Some(amount.0)
        }
        _ => None,
    });
    let slashed = slashed.unwrap_or_else(|| panic!("{events:#?}"));
    assert!(slashed > 0);
    let now = ranch.client().runner(dora.address()).await.unwrap().stake.0;
    assert_eq!(now, stake - slashed, "to the unit");
    assert_eq!(paid(&events).len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn jobs_end_as_the_rules_say() {
    assert!(Path::new(env!("CARGO_BIN_EXE_remuda")).exists());
    // Shown with a failure: what the runners in this process thought they were doing.
    let filter = std::env::var("RUST_LOG").unwrap_or("remuda_runner=debug".to_owned());
    tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().init();
    let mut ranch = Ranch::new().await;
    every_mode_settles(&ranch).await;
    a_liar_is_not_paid(&ranch).await;
    a_crash_is_attested(&mut ranch).await;
    a_refusal_is_a_timeout(&mut ranch).await;
    a_silence_is_slashed(&mut ranch).await;
    let Ranch { network, runners, .. } = ranch;
    for (_, mut runner) in runners {
        runner.kill().await;
    }
    network.stop().await;
}
