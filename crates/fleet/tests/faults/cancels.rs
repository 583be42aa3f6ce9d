//! Jobs that are canceled while their worker is about to end them.

use crate::faults::peer::{Fleet, job};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const WORKERS: u64 = 4;
const ROUNDS: u64 = 12;

/// Numbers that look random, and are the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn within(&mut self, from: u64, to: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        from + (self.0 >> 33) % (to - from)
    }

    /// How long a job lasts, and when it is canceled, in milliseconds. A worker hears of it by a heartbeat: when
    /// the job begins, when its files are sent if that is half a second later, and about a second later.
    fn moments(&mut self) -> (u64, u64) {
        let lasts = match self.within(0, 3) {
            0 => self.within(0, 100),
            1 => self.within(450, 600),
            _ => self.within(750, 1_000),
        };
        let after = match self.within(0, 4) {
            // It is being granted.
            0 => self.within(0, 4),
            1 => self.within(0, lasts + 50),
            // It ends.
            _ => self.within(lasts.saturating_sub(50), lasts + 150),
        };
        (lasts, after)
    }
}

fn seed() -> u64 {
    let seed = std::env::var("REMUDA_SEED").ok();
    let seed = seed.map_or(0x5eed, |seed| seed.parse().expect("REMUDA_SEED is a number"));
    println!("REMUDA_SEED={seed}");
    seed
}

/// Jobs that say outside when they begin and when they are done.
struct Traces(PathBuf);

impl Traces {
    fn job(&self, lasts: u64) -> Value {
        let at = format!("{}/$REMUDA_JOB_ID", self.0.display());
        let lasts = Duration::from_millis(lasts).as_secs_f64();
        let step = format!("echo begun >> {at}; sleep {lasts}; echo done >> {at}; echo x > r");
        let kept = json!([{ "type": "r", "path_glob": "r" }]);
        json!({ "name": "a", "job_spec": { "name": "a", "steps": [step], "artifacts": kept } })
    }

    /// What was done is what is said of it.
    async fn fit(&self, fleet: &Fleet, view: &Value) {
        let job = &view["jobs"][0];
        let id = job["job_id"].as_str().expect("an id");
        let trace = std::fs::read_to_string(self.0.join(id)).unwrap_or_default();
        let artifacts = fleet.artifacts(job).await.as_array().map_or(0, Vec::len);
        assert_eq!(job["losses"], 0, "{view}");
        match (job["state"].as_str(), job["reason"].as_str()) {
            // A result that comes while a stop is requested counts as it is.
            (Some("SUCCEEDED"), Some("REPORTED")) => {
                assert_eq!((trace.as_str(), artifacts), ("begun\ndone\n", 2), "{view}");
            }
            (Some("CANCELED"), Some("CANCELED_IN_QUEUE")) => {
                assert_eq!((trace.as_str(), artifacts), ("", 0), "{view}");
            }
            (Some("CANCELED"), Some("CANCEL_ACKED")) => {
                assert!("begun\ndone\n".starts_with(&trace), "at most once: {trace:?} {view}");
            }
            other => panic!("{other:?}: {view}"),
        }
    }
}

/// Orders jobs one after the other, and cancels each; how they ended.
async fn cancels(fleet: &Fleet, traces: &Traces, mut numbers: Numbers) -> Vec<(String, Value)> {
    let mut seen = Vec::new();
    for _ in 0..ROUNDS {
        let (lasts, after) = numbers.moments();
        let run = fleet.submit(vec![traces.job(lasts)]).await;
        tokio::time::sleep(Duration::from_millis(after)).await;
        fleet.post(&format!("/runs/{run}/cancel"), json!({})).await;
        let view = fleet.ended(&run).await;
        traces.fit(fleet, &view).await;
        seen.push((run, view));
    }
    seen
}

fn folder(at: &Path) -> PathBuf {
    std::fs::create_dir(at).expect("a folder");
    at.to_owned()
}

/// Fault 10: cancellations race results, of workers that are processes. Each job ends once, in one of two ways,
/// and stays so.
#[tokio::test]
async fn a_job_that_is_canceled_at_any_moment_ends_once() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 3 }));
    let _workers: Vec<_> = (0..WORKERS).map(|n| fleet.worker(&format!("worker{n}"))).collect();
    let traces = Traces(folder(&fleet.folder.0.join("traces")));
    let seed = seed();
    let lanes = (0..WORKERS).map(|n| cancels(&fleet, &traces, Numbers(seed.wrapping_add(n << 32))));
    let seen = futures::future::join_all(lanes).await.concat();
    let ways = |field: &str, way: &str| {
        seen.iter().filter(|(_, view)| view["jobs"][0][field] == way).count()
    };
    let (succeeded, canceled) = (ways("state", "SUCCEEDED"), ways("state", "CANCELED"));
    let unbegun = ways("reason", "CANCELED_IN_QUEUE");
    println!("{succeeded} succeeded, {canceled} canceled, {unbegun} of them before they began");
    assert!(succeeded > 0 && canceled > unbegun, "both: {succeeded}, {canceled}");
    // Workers have said all that they have to say when they do others.
    let next = (0..2 * WORKERS).map(|n| job(&format!("j{n}"), "sleep 0.2")).collect();
    assert_eq!(fleet.ended(&fleet.submit(next).await).await["status"], "SUCCEEDED");
    for (run, view) in &seen {
        assert_eq!(fleet.run(run).await.as_ref(), Some(view), "what has ended never changes");
        traces.fit(&fleet, view).await;
    }
    let counted = async |status: &str| {
        fleet.counted(&format!("fleet_jobs_ended_total{{status=\"{status}\"}}")).await as usize
    };
    let next = 2 * WORKERS as usize;
    assert_eq!(counted("SUCCEEDED").await, succeeded + next, "each ended once");
    assert_eq!(counted("CANCELED").await, canceled, "each ended once");
}

/// Nobody had it, and nobody will.
#[tokio::test]
async fn a_job_that_is_canceled_before_it_begins_never_begins() {
    let fleet = Fleet::start(json!({ "lease_ttl_seconds": 5 }));
    let traces = fleet.folder.0.join("traces");
    let leaves = |name: &str| job(name, &format!("echo {name} >> {}", traces.display()));
    // One that waits for a worker, and one that waits for the first.
    let (first, mut second) = (leaves("first"), leaves("second"));
    second["needs"] = json!(["first"]);
    let run = fleet.submit(vec![first, second]).await;
    fleet.post(&format!("/runs/{run}/cancel"), json!({})).await;
    let view = fleet.ended(&run).await;
    for job in view["jobs"].as_array().expect("jobs") {
        assert_eq!((&job["state"], &job["fence"]), (&json!("CANCELED"), &json!(0)), "{view}");
    }
    let _worker = fleet.worker("worker");
    let next = fleet.submit(vec![job("next", "true")]).await;
    assert_eq!(fleet.ended(&next).await["status"], "SUCCEEDED", "there is somebody to do it");
    assert!(!traces.exists(), "{:?}", std::fs::read_to_string(&traces));
    assert_eq!(fleet.run(&run).await, Some(view), "what has ended never changes");
}
