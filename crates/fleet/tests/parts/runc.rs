//! Jobs in containers: an image of one program, made here, run by a real runtime.

use crate::parts::server::{Server, folder, hasty};
use crate::parts::support::part;
use remuda_fleet::auth::sha256_hex;
use remuda_fleet::worker::{self, Config, Images, Runc, Sandbox};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn command(program: &str, args: &[&str]) {
    let done = Command::new(program).args(args).output().expect(program);
    assert!(done.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// A layer of a folder: its bytes, compressed, and the hash of what is in it.
fn layer(folder: &Path) -> (Vec<u8>, String) {
    let (tar, gzip) = (folder.with_extension("tar"), folder.with_extension("tar.gz"));
    command("tar", &["-C", text(folder), "--owner=0", "--group=0", "-cf", text(&tar), "."]);
    let contents = sha256_hex(&fs::read(&tar).expect("a layer"));
    command("gzip", &["-n", text(&tar)]);
    (fs::read(gzip).expect("a layer"), contents)
}

/// An image of BusyBox in the OCI's image layout: a shell with its programs in one layer, and another
/// above it that changes a file and takes one away.
fn image(at: &Path) {
    let work = at.with_extension("work");
    let (lower, upper) = (work.join("lower"), work.join("upper"));
    for folder in ["bin", "etc", "root"] {
        fs::create_dir_all(lower.join(folder)).expect("a folder");
    }
    fs::create_dir_all(upper.join("etc")).expect("a folder");
    fs::copy(part("runc").join("bin/busybox"), lower.join("bin/busybox")).expect("a program");
    for name in ["sh", "cat", "ls", "sleep", "id", "touch", "grep", "mount", "unshare", "env", "dd"]
    {
        std::os::unix::fs::symlink("busybox", lower.join("bin").join(name)).expect("a link");
    }
    fs::write(lower.join("etc/release"), "lower\n").expect("a file");
    fs::write(lower.join("etc/old"), "old\n").expect("a file");
    fs::write(upper.join("etc/release"), "upper\n").expect("a file");
    fs::write(upper.join("etc/.wh.old"), "").expect("a file");
    let blobs = at.join("blobs/sha256");
    fs::create_dir_all(&blobs).expect("a folder");
    let blob = |kind: &str, bytes: &[u8]| {
        let digits = sha256_hex(bytes);
        fs::write(blobs.join(&digits), bytes).expect("a blob");
        json!({ "mediaType": format!("application/vnd.oci.image.{kind}"),
            "digest": format!("sha256:{digits}"), "size": bytes.len() })
    };
    let layers = [layer(&lower), layer(&upper)];
    let contents: Vec<String> = layers.iter().map(|(_, hash)| format!("sha256:{hash}")).collect();
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let config = json!({ "architecture": machine, "os": "linux",
        "config": { "Env": ["PATH=/bin", "FROM_IMAGE=yes"] },
        "rootfs": { "type": "layers", "diff_ids": contents } });
    let config = blob("config.v1+json", config.to_string().as_bytes());
    let layers: Vec<Value> =
        layers.iter().map(|(bytes, _)| blob("layer.v1.tar+gzip", bytes)).collect();
    let manifest = json!({ "schemaVersion": 2, "config": config, "layers": layers });
    let mut manifest = blob("manifest.v1+json", manifest.to_string().as_bytes());
    manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": "latest" });
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    fs::write(at.join("index.json"), index.to_string()).expect("a file");
    fs::write(at.join("oci-layout"), json!({ "imageLayoutVersion": "1.0.0" }).to_string())
        .expect("a file");
    fs::remove_dir_all(work).expect("removed");
}

/// A worker's folder with an image in it.
pub(crate) struct Bench {
    server: Server,
    folder: PathBuf,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let folder = folder();
        image(&folder.join("images/busybox"));
        let archive = folder.join("images/busybox.tar");
        command("tar", &["-C", text(&folder.join("images/busybox")), "-cf", text(&archive), "."]);
        Self { server: Server::with(|config| config.policy = hasty()).await, folder }
    }

    pub(crate) fn config(&self) -> Config {
        let place = self.folder.join("place");
        let mut config = Config::new(&self.server.url, place, Sandbox::Process);
        config.images = Images::Runc(Runc {
            program: part("runc").join("bin/runc"),
            from: self.folder.join("images"),
            store: self.folder.join("unpacked"),
            bytes_max: 100 << 20,
        });
        config.grace = Duration::from_millis(500);
        config.one_shot = true;
        config
    }

    pub(crate) async fn submit(&self, image: &str, steps: &[&str], more: Value) -> String {
        let mut order = json!({ "name": "a", "max_runtime_seconds": 60, "job_spec": {
            "name": "a", "image": image, "steps": steps, "workdir": "sub",
            "env": { "MINE": "job's", "API_TOKEN": "not-to-be-seen" },
            "artifacts": [{ "type": "out", "path_glob": "*.out" }] } });
        let fields = more.as_object().expect("fields").clone();
        order.as_object_mut().expect("an order").extend(fields);
        let run = self.server.ok("/runs", json!({ "jobs": [order] })).await;
        run["run_id"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn seen(&self, run: &str) -> (Value, String) {
        let job = self.server.get(&format!("/runs/{run}")).await.1["jobs"][0].clone();
        let id = job["job_id"].as_str().expect("an id");
        let log = format!("{}/api/v1/jobs/{id}/log", self.server.url);
        // A run's view leaves artifacts out.
        let job = self.server.get(&format!("/jobs/{id}")).await.1;
        let log = self.server.http.get(log).send().await.expect("sent").text().await.expect("text");
        (job, log)
    }

    /// Does one job; what became of it, and its log.
    async fn job(&self, image: &str, steps: &[&str], more: Value) -> (Value, String) {
        let run = self.submit(image, steps, more).await;
        worker::run(self.config(), std::future::pending()).await.expect("worked");
        self.seen(&run).await
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Processes on the whole machine whose command has this in it.
fn alive(word: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let mut commands = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    commands.any(|line| String::from_utf8_lossy(&line).contains(word))
}

#[tokio::test]
async fn a_job_sees_its_image_and_its_own_folder_and_nothing_else() {
    let bench = Bench::new().await;
    let (job, log) = bench
        .job("oci:busybox:latest", &[
            "cat /etc/release; ls /etc/old 2>/dev/null || echo gone",
            "echo $FROM_IMAGE $MINE $HOME; echo $API_TOKEN",
            "id -u; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status",
            "! touch /etc/x 2>/dev/null && echo no writing; touch /tmp/x $HOME/x",
            "grep -c : /proc/net/dev; ls /; ls /proc | grep -c '^[0-9]'",
            "echo kept > a.out; cat /job/work/sub/a.out",
            "! mount -t tmpfs none /tmp 2>/dev/null && ! unshare -r true 2>/dev/null && echo no way out",
        ], json!({}))
        .await;
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    let lines: Vec<_> = log.lines().collect();
    assert_eq!(lines[..3], ["upper", "gone", "yes job's /job/home"], "{log}");
    assert!(!log.contains("not-to-be-seen"), "{log}");
    assert_eq!(lines[4], "0", "{log}");
    assert_eq!(lines[5].split_whitespace().last(), Some("0000000000000000"), "{log}");
    assert_eq!(lines[6].split_whitespace().last(), Some("1"), "{log}");
    assert_eq!(lines[7..9], ["no writing", "1"], "loopback is all of its network: {log}");
    assert!(log.contains("\nbin\ndev\netc\njob\nproc\nroot\nrun\ntmp\n"), "{log}");
    assert!(log.ends_with("kept\nno way out\n"), "{log}");
    assert_eq!(job["artifacts"][1]["type"], "out", "{job}");
    let left = fs::read_dir(bench.folder.join("place/runc")).expect("a folder").count();
    assert_eq!(left, 0, "no container is left");
}

#[tokio::test]
async fn no_process_outside_the_container_holds_its_variables_or_script() {
    let bench = Bench::new().await;
    let mark = format!("remuda-told-{}", std::process::id());
    let step = format!(": {mark}; echo begun; sleep 1.97{}", std::process::id());
    let run = bench.submit("oci:busybox", &[&step], json!({})).await;
    let working = tokio::spawn(worker::run(bench.config(), std::future::pending()));
    let mut begun = false;
    while !working.is_finished() {
        for told in crate::parts::bwrap::told() {
            begun |= told.arguments.contains(&format!("sleep\01.97{}", std::process::id()));
            assert!(!told.arguments.contains(&mark), "{}", told.arguments);
            assert!(
                !told.outside || !told.variables.contains("not-to-be-seen"),
                "{}",
                told.arguments
            );
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    working.await.expect("ended").expect("worked");
    let (job, log) = bench.seen(&run).await;
    assert_eq!((&job["state"], &*log), (&json!("SUCCEEDED"), "begun\n"), "{job}");
    assert!(begun, "the test means something");
}

#[tokio::test]
async fn a_step_that_fails_in_a_container_fails_with_its_own_code() {
    let bench = Bench::new().await;
    let (job, log) = bench
        .job(
            "oci-archive:busybox.tar",
            &["echo before; exit 7; echo never", "echo never"],
            json!({}),
        )
        .await;
    assert_eq!((&job["state"], &job["exit_code"]), (&json!("FAILED"), &json!(7)), "{job} {log}");
    assert_eq!(log, "before\n");
}

#[tokio::test]
async fn an_image_that_cannot_be_had_is_said_to_be_missing() {
    let bench = Bench::new().await;
    for image in ["oci:nothing", "ghcr.io/somebody/something:9", "oci:../../etc"] {
        let (job, log) = bench.job(image, &["true"], json!({})).await;
        assert_eq!(
            (&job["state"], &job["failure"]),
            (&json!("FAILED"), &json!("IMAGE_UNAVAILABLE")),
            "{job} {log}"
        );
    }
}

/// Fault 11 in a container.
#[tokio::test]
async fn nothing_outlives_its_container_and_a_job_has_its_grace() {
    let bench = Bench::new().await;
    let mark = format!("96{:06}", std::process::id() % 1_000_000);
    let step = format!(
        "trap 'echo cleaned; exit 0' TERM; (trap '' TERM; sleep {mark}.1; sleep {mark}.2) & sleep {mark}.3 & wait"
    );
    let (job, log) = bench.job("oci:busybox", &[&step], json!({ "max_runtime_seconds": 2 })).await;
    assert_eq!(job["state"], "TIMED_OUT", "{job} {log}");
    assert_eq!(log, "cleaned\n");
    assert!(!alive(&mark), "a process of the job is left");
}

#[tokio::test]
async fn a_cancellation_ends_a_container() {
    let bench = Bench::new().await;
    let mark = format!("95{:06}", std::process::id() % 1_000_000);
    let run = bench.submit("oci:busybox", &[&format!("echo begun; sleep {mark}")], json!({})).await;
    let working = worker::run(bench.config(), std::future::pending());
    let cancel = async {
        while !alive(&format!("sleep\0{mark}")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bench.server.ok(&format!("/runs/{run}/cancel"), json!({})).await;
    };
    let (worked, ()) = tokio::join!(working, cancel);
    worked.expect("worked");
    let (job, log) = bench.seen(&run).await;
    assert_eq!(job["state"], "CANCELED", "{job} {log}");
    assert!(!alive(&format!("sleep\0{mark}")));
}

/// Only a worker that is root can bound memory in the kernel; what it cannot, it watches.
#[tokio::test]
async fn a_container_has_no_more_memory_than_it_may() {
    let bench = Bench::new().await;
    let run = bench
        .submit("oci:busybox", &["dd if=/dev/zero of=/dev/null bs=200M count=20"], json!({}))
        .await;
    let mut config = bench.config();
    config.memory_bytes_max = Some(50 << 20);
    worker::run(config, std::future::pending()).await.expect("worked");
    let (job, log) = bench.seen(&run).await;
    assert_eq!(
        (&job["state"], &job["failure"]),
        (&json!("FAILED"), &json!("OUT_OF_MEMORY")),
        "{job} {log}"
    );
}
