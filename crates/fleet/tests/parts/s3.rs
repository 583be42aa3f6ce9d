//! Objects in a bucket.

use crate::parts::server::Server;
use crate::parts::support::{Folder, Running, own_address, part, status};
use remuda_fleet::auth::sha256_hex;
use remuda_fleet::http::Trust;
use remuda_fleet::object::{BucketConfig, ObjectError, Objects, Sent};
use remuda_fleet::worker::{self, Config, Sandbox};
use serde_json::{Value, json};
use std::process::Command;

/// A store of objects that runs until this is dropped.
struct Store {
    _running: Running,
    folder: Folder,
    config: BucketConfig,
}

impl Store {
    async fn start(name: &str) -> Self {
        let folder = Folder::new(name);
        let address = own_address().to_string();
        let mut moto = Command::new(part("s3").join("bin/python"));
        moto.args(["-m", "moto.server", "-H", &address, "-p", "9000"]);
        let mut running = Running::start(&folder, "moto", &moto);
        running.until(|| status(&format!("{address}:9000"), "/"));
        let endpoint = format!("http://{address}:9000");
        let made = reqwest::Client::new().put(format!("{endpoint}/fleet")).send().await;
        assert!(made.expect("an answer").status().is_success());
        let config = BucketConfig {
            endpoint,
            bucket: "fleet".to_owned(),
            region: "us-east-1".to_owned(),
            access_key: "name".to_owned(),
            secret_key: "key".to_owned(),
            prefix: "ours/".to_owned(),
            trust: Trust::default(),
        };
        Self { _running: running, folder, config }
    }

    async fn objects(&self) -> Objects {
        let folder = self.folder.path().join("incoming");
        Objects::open(&folder, u64::MAX, Some(self.config.clone())).await.expect("a bucket")
    }

    /// Names of all objects in the bucket.
    async fn names(&self) -> Vec<String> {
        let url = format!("{}/fleet?list-type=2", self.config.endpoint);
        let text = reqwest::get(url).await.expect("an answer").text().await.expect("text");
        let keys = text.split("<Key>").skip(1).map(|rest| rest.split("</Key>").next());
        keys.map(|key| key.expect("a name").to_owned()).collect()
    }
}

async fn sent(objects: &Objects, bytes: &[u8]) -> Sent {
    let mut incoming = objects.begin(bytes.len() as u64).await.expect("begun");
    incoming.write(bytes).await.expect("written");
    incoming.finish(&sha256_hex(bytes)).await.expect("whole")
}

async fn text(objects: &Objects, path: &str) -> Option<String> {
    let (body, bytes) = objects.read(path).await.expect("an answer")?;
    let read = axum::body::to_bytes(body, 1_000_000).await.expect("bytes");
    assert_eq!(read.len() as u64, bytes);
    Some(String::from_utf8(read.to_vec()).expect("text"))
}

#[tokio::test]
async fn an_object_in_a_bucket_is_written_once() {
    let store = Store::start("s3-once").await;
    let objects = store.objects().await;
    let path = "runs/run_1/jobs/job_1-0/1-1/a+b@c=d";
    objects.keep(sent(&objects, b"first").await, path).await.expect("kept");
    objects.keep(sent(&objects, b"first").await, path).await.expect("the same again");
    let second = objects.keep(sent(&objects, b"second").await, path).await;
    assert!(matches!(second, Err(ObjectError::Exists)), "{second:?}");
    // Another orchestrator finds it, and cannot change it either.
    let other = store.objects().await;
    assert_eq!(text(&other, path).await.as_deref(), Some("first"));
    let third = other.keep(sent(&other, b"third").await, path).await;
    assert!(matches!(third, Err(ObjectError::Exists)), "{third:?}");
    assert_eq!(text(&other, "runs/nothing").await, None);
    assert_eq!(store.names().await, [format!("ours/{path}")], "nothing else is left there");
}

#[tokio::test]
async fn a_large_object_goes_there_in_parts_and_is_written_once_too() {
    let store = Store::start("s3-parts").await;
    let objects = store.objects().await;
    let path = "runs/run_1/jobs/job_1-0/1-1/large";
    let first = vec![b'a'; 40 << 20];
    objects.keep(sent(&objects, &first).await, path).await.expect("kept");
    objects.keep(sent(&objects, &first).await, path).await.expect("the same again");
    for other in [vec![b'b'; 40 << 20], b"small".to_vec()] {
        let second = objects.keep(sent(&objects, &other).await, path).await;
        assert!(matches!(second, Err(ObjectError::Exists)), "{second:?}");
    }
    let (body, bytes) = objects.read(path).await.expect("an answer").expect("an object");
    assert_eq!(bytes, 40 << 20);
    let read = axum::body::to_bytes(body, 64 << 20).await.expect("bytes");
    assert!(read[..] == first[..], "unchanged");
    let uploads = format!("{}/fleet?uploads", store.config.endpoint);
    let text = reqwest::get(uploads).await.expect("an answer").text().await.expect("text");
    assert!(!text.contains("<UploadId>"), "none is left half done: {text}");
}

#[tokio::test]
async fn what_a_run_left_in_a_bucket_is_forgotten_and_nothing_else() {
    let store = Store::start("s3-forget").await;
    let objects = store.objects().await;
    for path in ["runs/run_1/a", "runs/run_1/b/c", "runs/run_10/a"] {
        objects.keep(sent(&objects, path.as_bytes()).await, path).await.expect("kept");
    }
    objects.forget("runs/run_1").await.expect("forgotten");
    assert_eq!(store.names().await, ["ours/runs/run_10/a"]);
    assert!(matches!(objects.forget("..").await, Err(ObjectError::Path)));
}

#[tokio::test]
async fn artifacts_of_a_job_are_in_the_bucket_and_are_read_from_there() {
    let store = Store::start("s3-job").await;
    let server = Server::with(|config| config.bucket = Some(store.config.clone())).await;
    let spec = json!({ "name": "a", "steps": ["echo result > out.txt"],
        "artifacts": [{ "type": "text", "path_glob": "*.txt" }] });
    let run = server.ok("/runs", json!({ "jobs": [{ "name": "a", "job_spec": spec }] })).await;
    let folder = crate::parts::server::folder();
    let mut config = Config::new(&server.url, folder.clone(), Sandbox::Process);
    config.one_shot = true;
    worker::run(config, std::future::pending()).await.expect("worked");
    let run = run["run_id"].as_str().expect("an id");
    let job: Value = server.get(&format!("/runs/{run}")).await.1["jobs"][0].clone();
    assert_eq!(job["state"], "SUCCEEDED", "{job}");
    let job = server.get(&format!("/jobs/{}", job["job_id"].as_str().expect("an id"))).await.1;
    let uri = job["artifacts"][1]["uri"].as_str().expect("a place");
    let names = store.names().await;
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(uri.ends_with(names[0].strip_prefix("ours/").expect("a prefix")), "{uri} {names:?}");
    let read = server.http.get(format!("{}{uri}", server.url)).send().await.expect("sent");
    assert_eq!(read.text().await.expect("text"), "result\n");
    std::fs::remove_dir_all(folder).expect("removed");
}

/// A store that is not there, or a bucket that is not, is told at the start and not with the first job.
#[tokio::test]
async fn a_bucket_that_cannot_be_used_is_told_at_once() {
    let store = Store::start("s3-none").await;
    let folder = store.folder.path().join("incoming");
    let nowhere = BucketConfig { bucket: "nowhere".to_owned(), ..store.config.clone() };
    let none = Objects::open(&folder, u64::MAX, Some(nowhere)).await;
    assert!(matches!(none, Err(ObjectError::Store(_))), "{none:?}");
    let nobody = BucketConfig { endpoint: "http://127.0.0.1:9".to_owned(), ..store.config.clone() };
    let none = Objects::open(&folder, u64::MAX, Some(nobody)).await;
    assert!(matches!(none, Err(ObjectError::Store(_))), "{none:?}");
}
