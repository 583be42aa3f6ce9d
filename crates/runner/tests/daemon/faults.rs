//! Faults of the runner's own, made for real: a disk that is full, a journal that is read-only, a provider
//! that does not know the key any more. Each costs one job at most, and none leads to jail. What a
//! provider refuses because of the job is no fault.

use crate::daemon::network::{TestNetwork, folder, sees};
use crate::namespace::run_in;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use remuda_protocol::dispatcher::job::{Failure, SeatState, Status as JobStatus};
use remuda_protocol::dispatcher::spec::{JobSpec, JobType, Message};
use remuda_protocol::registry::runner::Status;
use remuda_protocol::verifier::excuse::Excuse;
use remuda_runner::daemon::{Handle, StatusView};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// A prompt that the provider answers, and one that it refuses.
const CAPITAL: &str = "the capital of France?";
const UNWANTED: &str = "how to pick a lock";

/// A provider of a model.
struct Provider {
    url: String,
    /// Whether it knows the key.
    locked: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

impl Provider {
    async fn start() -> Self {
        let (locked, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (shut, count) = (locked.clone(), asked.clone());
        let answer = async move |body: String| {
            count.fetch_add(1, Ordering::SeqCst);
            if body.contains(UNWANTED) {
                return (StatusCode::FORBIDDEN, r#"{"error":"against our policy"}"#);
            }
            let says = r#"{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}]}"#;
            match shut.load(Ordering::SeqCst) {
                true => (StatusCode::UNAUTHORIZED, r#"{"error":"invalid key"}"#),
                false => (StatusCode::OK, says),
            }
        };
        let router = Router::new().route("/v1/chat/completions", post(answer));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, locked, asked }
    }

    fn section(&self) -> String {
        format!("[llm.models.tiny]\nbase_url = '{}'", self.url)
    }
}

fn question(network: &TestNetwork, content: &str) -> JobSpec {
    let message = Message { role: "user".to_owned(), content: content.to_owned() };
    let mut spec = network.single("GET");
    spec.job_type = JobType::Llm {
        model: "tiny".to_owned(),
        messages: vec![message],
        temperature_milli: 0,
        seed: 0,
    };
    (spec.bounds.max_input_tokens, spec.bounds.max_output_tokens) = (100, 10);
    spec
}

async fn has_sessions(runner: &Handle) {
    let open = |s: &StatusView| s.sessions.iter().filter(|v| v.open).count() == 2;
    sees(runner, "sessions are open", open).await;
}

async fn says(runner: &Handle, why: &str) {
    sees(runner, why, |s| s.problems.iter().any(|problem| problem.contains(why))).await;
}

impl TestNetwork {
    async fn until_status(&self, runner: &Handle, status: Status) {
        let me = runner.runner();
        self.until(&format!("it is {status:?}"), |w| w.chain.runner(me).unwrap().status == status)
            .await;
    }

    /// Jobs find nobody: the runner is not drawn.
    async fn draws_nobody(&self, spec: &JobSpec) {
        for _ in 0..4 {
            let job = self.order(spec.clone());
            self.until("the job is over", |world| world.is_over(job)).await;
            let nobody = JobStatus::Failed { reason: Failure::InsufficientRunners };
            assert_eq!(self.job(job).unwrap().status, nobody);
        }
    }

    fn assert_free(&self, runner: &Handle, failures: u32) {
        let standing = self.world().chain.runner(runner.runner()).unwrap();
        assert_eq!(standing.jailed_until, None);
        assert!(standing.failures <= failures, "{standing:?}");
    }
}

#[tokio::test]
async fn a_prompt_that_its_provider_refuses_is_excused_and_nobody_is_scored() {
    let provider = Provider::start().await;
    let sections = format!("[http]\n{}", provider.section());
    let network = TestNetwork::build_offering(1, 2, vec![], &sections).await;
    let runner = network.runner_with(0, "refused", &provider.section()).await;
    has_sessions(&runner).await;
    for _ in 0..4 {
        let job = network.order(question(&network, UNWANTED));
        network.until("the job is over", |world| world.is_over(job)).await;
        let excused = JobStatus::Failed { reason: Failure::Excused };
        assert_eq!(network.job(job).unwrap().status, excused);
        let seat = network.world().progress(job, runner.runner());
        assert_eq!(seat, Some(SeatState::Excused { excuse: Excuse::Refused }));
    }
    network.assert_free(&runner, 0);
    assert_eq!(runner.status().problems, [""; 0], "nothing is out of order");
    let next = network.order(question(&network, CAPITAL));
    network.settled(next).await;
    runner.stop().await;
}

#[tokio::test]
async fn a_key_that_its_provider_revokes_costs_one_job_and_a_pause() {
    let provider = Provider::start().await;
    let sections = format!("[http]\n{}", provider.section());
    let network = TestNetwork::build_offering(1, 2, vec![], &sections).await;
    let runner = network.runner_with(0, "revoked", &provider.section()).await;
    has_sessions(&runner).await;
    let first = network.order(question(&network, CAPITAL));
    network.settled(first).await;

    provider.locked.store(true, Ordering::SeqCst);
    let lost = network.order(question(&network, CAPITAL));
    says(&runner, "401").await;
    network.until_status(&runner, Status::Paused).await;
    network.draws_nobody(&question(&network, CAPITAL)).await;
    network.until("the job is over", |world| world.is_over(lost)).await;
    let asked = provider.asked.load(Ordering::SeqCst);
    assert!(asked <= 8, "it tries the provider now and then, not all the time: {asked}");
    network.assert_free(&runner, 1);

    provider.locked.store(false, Ordering::SeqCst);
    sees(&runner, "all is well", |s| s.problems.is_empty()).await;
    network.until_status(&runner, Status::Active).await;
    let next = network.order(question(&network, CAPITAL));
    network.settled(next).await;
    runner.stop().await;
}

fn run(program: &str, args: &[&str]) {
    let done = Command::new(program).args(args).status().unwrap();
    assert!(done.success(), "{program} {args:?}");
}

/// A data directory on a disk of its own, of 24 MiB.
fn small_disk(name: &str) -> String {
    let data = folder(name);
    std::fs::create_dir_all(&data).unwrap();
    run("mount", &["-t", "tmpfs", "-o", "size=24m", "tmpfs", &data]);
    data
}

fn fill(data: &str) {
    let full = std::fs::write(Path::new(data).join("big"), vec![1; 32 << 20]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
}

fn clear(data: &str) {
    std::fs::remove_file(Path::new(data).join("big")).unwrap();
}

#[test]
fn a_full_disk_costs_no_job_and_a_pause() {
    run_in("--mount", "daemon::faults::a_full_disk_costs_no_job_and_a_pause", async {
        let data = small_disk("full");
        let network = TestNetwork::build(1, 2).await;
        let runner = network.runner(0, "full").await;
        has_sessions(&runner).await;
        fill(&data);
        says(&runner, "no space left").await;
        network.until_status(&runner, Status::Paused).await;
        network.draws_nobody(&network.single("GET")).await;
        network.assert_free(&runner, 0);

        clear(&data);
        sees(&runner, "all is well", |s| s.problems.is_empty()).await;
        network.until_status(&runner, Status::Active).await;
        let next = network.order(network.single("GET"));
        network.settled(next).await;
        runner.stop().await;
    });
}

#[test]
fn a_result_waits_for_a_disk_that_fills_up_while_it_is_found() {
    run_in(
        "--mount",
        "daemon::faults::a_result_waits_for_a_disk_that_fills_up_while_it_is_found",
        async {
            let data = small_disk("filling");
            let network = TestNetwork::build(1, 2).await;
            let runner = network.runner(0, "filling").await;
            has_sessions(&runner).await;
            network.web.slow(Duration::from_secs(1));
            let job = network.order(network.single("GET"));
            network.until("it is asked for", |_| network.web.asked() == 1).await;
            fill(&data);
            says(&runner, "journal not writable").await;
            clear(&data);
            network.settled(job).await;
            assert_eq!(network.web.asked(), 1, "the work is not done again");
            runner.stop().await;
        },
    );
}

#[test]
fn a_journal_that_becomes_read_only_costs_no_job_and_a_pause() {
    run_in(
        "--mount",
        "daemon::faults::a_journal_that_becomes_read_only_costs_no_job_and_a_pause",
        async {
            let network = TestNetwork::build(1, 2).await;
            let runner = network.runner(0, "read-only").await;
            has_sessions(&runner).await;
            let jobs = Path::new(&folder("read-only")).join("jobs").display().to_string();
            run("mount", &["--bind", &jobs, &jobs]);
            run("mount", &["-o", "remount,bind,ro", &jobs]);
            says(&runner, "Read-only file system").await;
            network.until_status(&runner, Status::Paused).await;
            network.draws_nobody(&network.single("GET")).await;
            network.assert_free(&runner, 0);

            run("umount", &[&jobs]);
            network.until_status(&runner, Status::Active).await;
            let next = network.order(network.single("GET"));
            network.settled(next).await;
            runner.stop().await;
        },
    );
}
