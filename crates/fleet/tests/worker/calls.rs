//! Calls, over real HTTP, by an executor of the test's own.

use super::jobs::Worker;
use super::server::{Server, endpoint, hasty};
use futures::future::BoxFuture;
use remuda_fleet::client::Client;
use remuda_fleet::id::RunId;
use remuda_fleet::lease::{AttemptState, EndReason};
use remuda_fleet::message::{Call, Data, Failure};
use remuda_fleet::view::JobView;
use remuda_fleet::worker::{CallError, Calls, Executor, Report};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

/// Turns bytes round; or does what they say.
#[derive(Default)]
struct Mirror {
    /// Calls that were dropped before they ended.
    dropped: AtomicU32,
}

struct Counted<'a>(&'a AtomicU32);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Executor for Mirror {
    fn execute<'a>(
        &'a self,
        call: &'a Call,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<Data, CallError>> {
        Box::pin(async move {
            let (failure, why) = (Failure::SpecInvalid, "no sense".to_owned());
            match call.input.bytes() {
                b"panic" => panic!("as told"),
                b"nonsense" => Err(CallError { failure, why }),
                b"long" => {
                    let _counted = Counted(&self.dropped);
                    report(50, "halfway");
                    std::future::pending().await
                }
                bytes => {
                    let turned: Vec<u8> = bytes.iter().rev().copied().collect();
                    Ok(Data::new(&turned).expect("as many"))
                }
            }
        })
    }
}

struct Scene {
    server: Server,
    client: Client,
    mirror: Arc<Mirror>,
    _worker: Worker,
}

impl Scene {
    async fn open() -> Self {
        let server = Server::with(|config| config.policy = hasty()).await;
        let client = Client::new(endpoint(&server.url), None);
        let mirror = Arc::new(Mirror::default());
        let calls = Calls(mirror.clone());
        let worker = Worker::start(&server, |config| config.executor = Some(calls));
        Self { server, client, mirror, _worker: worker }
    }

    async fn submit(&self, input: &[u8], runtime: u32) -> RunId {
        let input = serde_json::to_value(Data::new(input).expect("few")).expect("json");
        let spec =
            json!({ "name": "a", "steps": [], "call": { "kind": "mirror", "input": input } });
        let job = json!({ "name": "a", "max_runtime_seconds": runtime, "job_spec": spec });
        let run = self.server.ok("/runs", json!({ "jobs": [job] })).await;
        RunId::new(run["run_id"].as_str().expect("an id")).expect("an id")
    }

    async fn until(&self, run: &RunId, wanted: impl Fn(&JobView) -> bool) -> JobView {
        let began = Instant::now();
        loop {
            let job = self.client.run(run).await.expect("a run").jobs.remove(0);
            if wanted(&job) {
                return job;
            }
            assert!(began.elapsed() < PATIENCE, "{job:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn ended(&self, run: &RunId) -> JobView {
        self.until(run, |job| job.reason.is_some()).await
    }
}

#[tokio::test]
async fn a_call_gives_its_output_and_a_failure_gives_none() {
    let scene = Scene::open().await;
    let job = scene.ended(&scene.submit(b"abc", 60).await).await;
    assert_eq!(job.state, AttemptState::Succeeded);
    assert_eq!(scene.client.output(&job.job_id).await.expect("output"), b"cba");
    for (input, failure) in
        [(&b"nonsense"[..], Failure::SpecInvalid), (b"panic", Failure::StepFailed)]
    {
        let job = scene.ended(&scene.submit(input, 60).await).await;
        assert_eq!((job.state, job.failure), (AttemptState::Failed, Some(failure)));
        assert!(scene.client.output(&job.job_id).await.is_err());
    }
}

#[tokio::test]
async fn a_call_that_is_called_off_or_takes_too_long_is_dropped() {
    let scene = Scene::open().await;
    let run = scene.submit(b"long", 60).await;
    let far = |job: &JobView| job.progress.as_ref().is_some_and(|far| far.percent == Some(50));
    scene.until(&run, far).await;
    scene.client.cancel(&run).await.expect("canceled");
    assert_eq!(scene.ended(&run).await.reason, Some(EndReason::CancelAcked));
    assert_eq!(scene.mirror.dropped.load(Ordering::SeqCst), 1);
    let run = scene.submit(b"long", 1).await;
    assert_eq!(scene.ended(&run).await.state, AttemptState::TimedOut);
    assert_eq!(scene.mirror.dropped.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_call_is_none_for_who_does_none() {
    let server = Server::with(|config| {
        config.policy = remuda_fleet::lease::Policy { losses_max: 0, ..hasty() };
    })
    .await;
    let worker = Worker::start(&server, |_| {});
    let client = Client::new(endpoint(&server.url), None);
    let mirror = Arc::new(Mirror::default());
    let scene = Scene { server, client, mirror, _worker: worker };
    let job = scene.ended(&scene.submit(b"abc", 60).await).await;
    assert_eq!((job.state, job.reason), (AttemptState::Failed, Some(EndReason::Lost)));
}
