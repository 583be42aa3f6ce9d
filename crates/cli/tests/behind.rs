//! A runner with a fleet behind it, all of it real programs: validators, the runner, an orchestrator and two
//! workers, of which one is killed and the other stopped in the middle of a job.

use crate::support;

use remuda::demo::network::{Network, NetworkOptions, http, job};
use remuda_client::types::{JobStatusView, JobView};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::primitives::JobId;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use support::process::{Running, new_orchestrator};
use support::{Folder, Run, remuda, web};

const PATIENCE: Duration = Duration::from_secs(90);

/// Answers after so many milliseconds, and counts.
#[derive(Default)]
struct Web {
    asked: AtomicU64,
    delay: AtomicU64,
}

impl Web {
    async fn serve(self: Arc<Self>) -> String {
        web::serve(move |_| {
            let web = self.clone();
            async move {
                web.asked.fetch_add(1, SeqCst);
                tokio::time::sleep(Duration::from_millis(web.delay.load(SeqCst))).await;
                r#"{"price":42}"#.to_owned()
            }
        })
        .await
    }

    async fn asked(&self, times: u64) {
        let began = Instant::now();
        while self.asked.load(SeqCst) < times {
            assert!(began.elapsed() < PATIENCE, "it was not asked {times} times");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A worker with executors, as its operator would make one.
fn worker(folder: &Folder, url: &str, name: &str) -> Running {
    let (home, token) = (folder.file(name), folder.file("fleet/worker.token"));
    let init = ["worker", "init", &home, "--orchestrator", url, "--sandbox", "plain"];
    Run::of(remuda().args(init).args(["--token-file", &token, "--executors"])).ok();
    let settings = Path::new(&home).join("worker.toml");
    let file = std::fs::OpenOptions::new().append(true).open(&settings);
    let allowed = "[executors.http.addresses]\nallow = ['127.0.0.0/8']\n";
    file.expect("settings").write_all(allowed.as_bytes()).expect("written");
    let child = remuda()
        .args(["worker", "run", &home])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Running(child.expect("it starts"))
}

struct Scene {
    network: Network,
    url: String,
}

impl Scene {
    async fn order(&self) -> JobId {
        let work = http(self.url.clone(), "price");
        let mut spec = job(work, VerificationMode::None, 1, 1, Vec::new());
        spec.bounds.max_wall_time_seconds = 30;
        spec.timeout_blocks = 300;
        self.network.submit(spec).await.expect("taken")
    }

    async fn settled(&self, id: JobId) {
        let look = async || self.network.client.job(id).await.ok().filter(|job| job.over);
        let job: JobView = self.network.wait("the job's end", look).await.expect("an end");
        assert!(matches!(job.status, JobStatusView::Settled {}), "{job:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_killed_and_stopped_and_every_job_is_settled_once() {
    let folder = Folder::new("behind");
    let program = env!("CARGO_BIN_EXE_remuda");
    let options = NetworkOptions::new(program, Duration::from_millis(150), ["ada"]);
    let home = folder.file("net");
    let network = Network::start(Some(Path::new(&home)), &options).await.expect("a network");
    let web = Arc::new(Web::default());
    let url = web.clone().serve().await;
    let (_orchestrator, fleet) = new_orchestrator(&folder.file("fleet"));
    let token = folder.file("fleet/submitter.token");
    let work = format!("[fleet]\norchestrator = '{fleet}'\ntoken_file = '{token}'\nhttp = true\n");
    let first = worker(&folder, &fleet, "first");
    let mut runner = network.equip("ada", &work).expect("a folder");
    network.register(&runner).await.expect("registered");
    runner.spawn().expect("it starts");
    network.present(&[runner.address()]).await.expect("it is there");
    let scene = Scene { network, url };

    // Killed in the middle: another worker does it, in time.
    web.delay.store(60_000, SeqCst);
    let job = scene.order().await;
    web.asked(1).await;
    first.signal("-KILL");
    web.delay.store(0, SeqCst);
    let second = worker(&folder, &fleet, "second");
    scene.settled(job).await;
    assert_eq!(web.asked.load(SeqCst), 2);

    // A suspended worker loses its lease: the result it has when it resumes is discarded.
    web.delay.store(3_000, SeqCst);
    let job = scene.order().await;
    web.asked(3).await;
    second.signal("-STOP");
    let third = worker(&folder, &fleet, "third");
    scene.settled(job).await;
    assert_eq!(web.asked.load(SeqCst), 4);
    third.signal("-KILL");
    second.signal("-CONT");
    web.delay.store(0, SeqCst);
    scene.settled(scene.order().await).await;
    assert_eq!(web.asked.load(SeqCst), 5, "it goes on with the next job");
    runner.kill().await;
}
