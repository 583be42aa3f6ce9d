//! A fleet as its users run it: the real program, as orchestrator, as worker and as client.

use crate::support;

use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use support::process::{Running, new_orchestrator, orchestrator};
use support::{Folder, Run, remuda};

/// How long anything may take that should take seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// One fleet at a time, so that heartbeats come on time on two cores.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    // A test that failed has stopped its fleet like any other.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An orchestrator, and workers beside it.
struct Fleet {
    url: String,
    // In the order in which they go: who uses a folder goes before it.
    workers: Vec<Running>,
    orchestrator: Running,
    folder: Folder,
    _alone: MutexGuard<'static, ()>,
}

impl Fleet {
    fn start(name: &str) -> Self {
        let alone = alone();
        let folder = Folder::new(name);
        let home = folder.file("fleet");
        let (orchestrator, url) = new_orchestrator(&home);
        Self { folder, url, workers: Vec::new(), orchestrator, _alone: alone }
    }

    fn token(&self, scope: &str) -> String {
        self.folder.file(&format!("fleet/{scope}.token"))
    }

    fn init_worker(&self, name: &str, args: &[&str]) -> String {
        let home = self.folder.file(name);
        let init = ["worker", "init", &home, "--orchestrator", &self.url, "--sandbox", "plain"];
        let token = self.token("worker");
        Run::of(remuda().args(init).args(["--token-file", &token]).args(args)).ok();
        home
    }

    fn worker(&mut self, name: &str, args: &[&str]) {
        let home = self.init_worker(name, args);
        self.workers.push(work(&home, &[]));
    }

    /// A command of somebody who may submit.
    fn run(&self, args: &[&str]) -> Run {
        self.run_as("submitter", args)
    }

    fn run_as(&self, scope: &str, args: &[&str]) -> Run {
        let mut command = remuda();
        command.env("REMUDA_ORCHESTRATOR", &self.url);
        command.env("REMUDA_TOKEN_FILE", self.token(scope));
        Run::of(command.arg("run").args(args))
    }

    /// A file with a run of one job.
    fn file(&self, name: &str, job: &str) -> String {
        self.folder.write(name, &format!("[[jobs]]\nname = \"job\"\n{job}\n"))
    }
}

fn work(home: &str, args: &[&str]) -> Running {
    let mut command = remuda();
    command.args(["worker", "run", home]).args(args).stdout(Stdio::null()).stderr(Stdio::null());
    Running(command.spawn().expect("it starts"))
}

/// Waits for something.
fn wait<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{what} did not come");
}

#[test]
fn the_example_runs_from_submission_to_its_logs_and_again_once_for_each_key() {
    let mut fleet = Fleet::start("fleet-example");
    fleet.worker("ada", &["--concurrency", "2"]);
    for format in ["toml", "json"] {
        let mut example = remuda();
        example.args(["run", "example"]).args((format == "json").then_some("--json"));
        let file = fleet.folder.write(&format!("run.{format}"), &Run::of(&mut example).ok().stdout);
        let watched = fleet.run(&["submit", &file, "--watch"]).ok();
        assert!(watched.stdout.contains("publish"), "{watched:?}");
        assert!(watched.stdout.contains("SUCCEEDED"), "{watched:?}");
    }
    let listed = fleet.run_as("viewer", &["list", "--json"]).ok().json();
    let run = listed["runs"][0]["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(2), "{listed}");
    let shown = fleet.run(&["show", &run, "--json"]).ok().json();
    assert_eq!(shown["status"], "SUCCEEDED");
    let logs = fleet.run(&["logs", &run]).ok().stdout;
    assert!(
        logs.lines().any(|line| line.starts_with("test") && line.ends_with("all well")),
        "{logs}"
    );
    let one = fleet.run(&["logs", &run, "--job", "lint", "--follow"]).ok().stdout;
    assert_eq!(one, "linting\n");
    let out = fleet.folder.file("out");
    let fetched = fleet.run(&["artifacts", &run, "--to", &out, "--json"]).ok().json();
    let files = fetched["artifacts"].as_array().expect("a list");
    assert!(!files.is_empty(), "{fetched}");
    for file in files {
        let at = file["file"].as_str().expect("a file");
        assert!(
            at.starts_with(&out) && std::fs::metadata(at).expect("it is there").len() > 0,
            "{at}"
        );
    }
    // What is there is not fetched again, and nothing else is written over.
    let first = files[0]["file"].as_str().expect("a file");
    let modified = || fs::metadata(first).expect("a file").modified().expect("a time");
    let before = modified();
    fleet.run(&["artifacts", &run, "--to", &out]).ok();
    assert_eq!(modified(), before);
    fs::write(first, "mine").expect("written");
    let differs = fleet.run(&["artifacts", &run, "--to", &out]).failed(1);
    assert!(differs.stderr.contains(first), "{differs:?}");
    assert_eq!(fs::read_to_string(first).expect("a file"), "mine");
    fs::remove_file(first).expect("removed");
    fleet.run(&["artifacts", &run, "--to", &out]).ok();
    assert!(Path::new(first).exists());
    let nobody = fleet.run(&["logs", &run, "--job", "tset"]).failed(1);
    assert!(nobody.stderr.contains("build, test, lint, publish"), "{nobody:?}");

    let again = fleet.run(&["rerun", &run, "--key", "again", "--watch", "--json"]).ok().lines();
    let last = again.last().expect("a line");
    assert_eq!((&last["status"], &last["rerun_of"]), (&"SUCCEEDED".into(), &run.as_str().into()));
    let same = fleet.run(&["rerun", &run, "--key", "again"]).ok();
    assert_eq!(same.stdout.trim(), last["run_id"], "{same:?}");
    assert!(same.stderr.contains("before"), "{same:?}");
}

/// Two would each take the other's jobs for leftovers.
#[test]
fn directory_is_locked_and_mode_0700() {
    use std::os::unix::fs::MetadataExt as _;
    let mut fleet = Fleet::start("fleet-alone");
    let home = fleet.init_worker("ada", &[]);
    fleet.workers.push(work(&home, &[]));
    let place = Path::new(&home).join("place-1");
    wait("the worker", || place.exists().then_some(()));
    let second = Run::of(remuda().args(["worker", "run", &home])).failed(1);
    assert!(second.stderr.contains("already"), "{second:?}");
    let own = fleet.folder.file("fleet");
    let second = Run::of(remuda().args(["orchestrator", "run", &own])).failed(1);
    assert!(second.stderr.contains("already"), "{second:?}");
    for (at, mode) in
        [("", 0o700), ("fleet.db", 0o600), ("fleet.db-wal", 0o600), ("objects", 0o700)]
    {
        let found = Path::new(&own).join(at).metadata().expect("it is there").mode() & 0o777;
        assert_eq!(found, mode, "{at}: {found:o}");
    }
}

#[test]
fn how_a_run_ended_is_in_the_exit_status() {
    let mut fleet = Fleet::start("fleet-ends");
    fleet.worker("ada", &[]);
    let bad = fleet.file("bad.toml", "steps = [\"echo no; exit 7\"]");
    let ended = fleet.run(&["submit", &bad, "--watch"]).failed(1);
    assert!(ended.stdout.contains("exit code 7"), "{ended:?}");
    assert!(ended.stderr.contains("remuda run logs job_"), "{ended:?}");
    // It was to be tried once only, so nobody has to look why it was given up.
    assert!(!ended.stdout.contains("dead letter"), "{ended:?}");
    let long = fleet.file("long.toml", "steps = [\"sleep 600\"]");
    let run = fleet.run(&["submit", &long]).ok().stdout.trim().to_owned();
    wait("the job", || {
        let run = fleet.run(&["show", &run, "--json"]).ok().json();
        (run["jobs"][0]["state"] != "QUEUED").then_some(())
    });
    fleet.run(&["cancel", &run]).ok();
    let ended = fleet.run(&["watch", &run]).failed(3);
    assert!(ended.stderr.contains("CANCELED"), "{ended:?}");
    assert!(ended.stderr.contains(&run), "{ended:?}");
}

#[test]
fn a_job_that_was_given_up_is_called_a_dead_letter() {
    let mut fleet = Fleet::start("fleet-dead");
    fleet.worker("ada", &[]);
    let retry = "retry = { max_attempts = 2, backoff_seconds = 0 }";
    let file =
        fleet.file("dead.toml", &format!("steps = [\"echo try $REMUDA_FENCE; exit 7\"]\n{retry}"));
    let run = fleet.run(&["submit", &file]).ok().stdout.trim().to_owned();
    let watched = fleet.run(&["watch", &run]).failed(1);
    let line = watched.stdout.lines().find(|line| line.contains("dead letter: exit code 7"));
    assert!(line.is_some_and(|line| line.contains("FAILED")), "{watched:?}");
    let shown = fleet.run(&["show", &run]).ok();
    assert!(shown.stdout.contains("dead letter: exit code 7"), "{shown:?}");
    let log = |fence: &str| fleet.run(&["logs", &run, "--fence", fence]);
    assert_eq!(log("1").ok().stdout, "try 1\n");
    assert_eq!(log("2").ok().stdout, "try 2\n");
    assert!(log("3").failed(1).stderr.contains("nothing was granted under fence 3"));
    log("0").failed(2);
    let listed = fleet.run(&["list"]).ok();
    assert!(listed.stdout.contains("1 dead letter"), "{listed:?}");
    let listed = fleet.run(&["list", "--json"]).ok().json();
    assert_eq!(listed["runs"][0]["dead_letters"], 1, "{listed}");
    let job = &fleet.run(&["show", &run, "--json"]).ok().json()["jobs"][0];
    assert_eq!((&job["dead_letter"], &job["attempt"]), (&true.into(), &2.into()), "{job}");
}

#[test]
fn whatever_goes_wrong_is_said_with_what_to_do() {
    let fleet = Fleet::start("fleet-errors");
    let file = fleet.file("run.toml", "steps = [\"true\"]\ntags = [\"gpu\", \"huge\"]");
    let at = |args: &[&str]| Run::of(remuda().arg("run").args(args));
    let gone = at(&["list", "--orchestrator", "http://127.0.0.1:9"]).failed(1);
    assert!(
        gone.stderr.contains("cannot reach the orchestrator at http://127.0.0.1:9"),
        "{gone:?}"
    );
    assert!(gone.stderr.contains("remuda orchestrator run"), "{gone:?}");
    at(&["list", "--orchestrator", "ftp://127.0.0.1"]).failed(2);
    // No token goes to another machine in the clear.
    let clear = at(&["list", "--orchestrator", "http://192.0.2.1:4400"]).failed(2);
    assert!(clear.stderr.contains("--insecure"), "{clear:?}");
    let bare = at(&["list", "--orchestrator", &fleet.url]).failed(1);
    assert!(bare.stderr.contains("--token-file"), "{bare:?}");
    let wrong = fleet.folder.write("wrong.token", "fleet_0000\n");
    let wrong = at(&["list", "--orchestrator", &fleet.url, "--token-file", &wrong, "--json"]);
    let wrong = wrong.failed(1);
    assert_eq!(wrong.json()["error"], "wrong_token", "{wrong:?}");
    let viewer = fleet.run_as("viewer", &["submit", &file]).failed(1);
    assert!(viewer.stderr.contains("this request needs submitter"), "{viewer:?}");
    let enrol = fleet.run_as("worker", &["list"]).failed(1);
    assert!(enrol.stderr.contains("this request needs viewer"), "{enrol:?}");
    fleet.run(&["show", "nonsense"]).failed(2);
    let unknown = fleet.run(&["show", "run_nobody"]).failed(1);
    assert!(unknown.stderr.contains("no such run"), "{unknown:?}");
    let misspelt = fleet.file("misspelt.toml", "stesp = [\"true\"]");
    let misspelt = fleet.run(&["submit", &misspelt]).failed(1);
    assert!(
        misspelt.stderr.contains("stesp") && misspelt.stderr.contains("line 3"),
        "{misspelt:?}"
    );
    // Nobody is there who could do it.
    let lonely = fleet.run(&["submit", &file]).ok();
    assert!(lonely.stderr.contains("--tag gpu --tag huge"), "{lonely:?}");
    let home = fleet.folder.file("no-worker");
    let init = ["worker", "init", &home, "--orchestrator", &fleet.url, "--sandbox", "plain"];
    let refused = Run::of(remuda().args(init)).failed(1);
    assert!(refused.stderr.contains("worker.token"), "{refused:?}");
    assert!(!Path::new(&home).join("worker.toml").exists(), "it is not taken for a worker");
    let none = Run::of(remuda().args(["worker", "run", &home])).failed(1);
    assert!(none.stderr.contains("remuda worker init"), "{none:?}");
}

/// Nobody is asked: it is said at once what is wrong, and what is meant.
#[test]
fn what_cannot_be_meant_is_said_with_what_can() {
    let job = "job_0123456789abcdef0123456789abcdef-0";
    for command in ["show", "watch", "rerun"] {
        let refused = Run::of(remuda().args(["run", command, job])).failed(2);
        assert!(
            refused.stderr.contains("take run_0123456789abcdef0123456789abcdef"),
            "{refused:?}"
        );
    }
    let folder = Folder::new("fleet-meant");
    let file = folder.file("run.toml");
    fs::write(&file, "[[jobs]]\nname = \"a\"\nsteps = [\"true\"]\n").expect("a file");
    let submit = ["run", "submit", &file, "--key", "a\nb", "--orchestrator", "http://127.0.0.1:9"];
    let refused = Run::of(remuda().args(submit)).failed(1);
    assert!(refused.stderr.contains("visible characters"), "{refused:?}");
}

/// Jobs that were to be in a sandbox are never without one by accident.
#[test]
fn a_worker_without_its_sandbox_is_not_made_and_says_what_to_do() {
    let fleet = Fleet::start("fleet-no-sandbox");
    let (home, empty) = (fleet.folder.file("no-worker"), fleet.folder.file("empty"));
    fs::create_dir(&empty).expect("a folder");
    let init = |args: &[&str]| {
        let mut command = remuda();
        command.env("PATH", &empty).args(["worker", "init", &home, "--orchestrator", &fleet.url]);
        Run::of(command.args(["--token-file", &fleet.token("worker")]).args(args))
    };
    let refused = init(&[]).failed(1);
    assert!(refused.stderr.contains("bubblewrap"), "{refused:?}");
    assert!(refused.stderr.contains("Choose --sandbox plain"), "{refused:?}");
    assert_eq!(init(&["--json"]).failed(1).json()["error"], "no_sandbox");
    assert!(!Path::new(&home).exists(), "nothing is made, and no key is enrolled");
    init(&["--sandbox", "plain"]).ok();
}

#[test]
fn a_worker_that_has_other_tags_is_no_help_and_one_that_has_them_is() {
    let mut fleet = Fleet::start("fleet-tags");
    fleet.worker("plain", &[]);
    let status = |fleet: &Fleet| {
        let mut command = remuda();
        command.env("REMUDA_ORCHESTRATOR", &fleet.url);
        command.env("REMUDA_TOKEN_FILE", fleet.token("viewer"));
        Run::of(command.args(["fleet", "status", "--json"])).ok().json()
    };
    wait("the worker", || (status(&fleet)["workers"]["total"] == 1).then_some(()));
    let file = fleet.file("run.toml", "steps = [\"true\"]\ntags = [\"gpu\"]");
    let submitted = fleet.run(&["submit", &file]).ok();
    assert!(submitted.stderr.contains("no worker seen recently"), "{submitted:?}");
    assert_eq!(status(&fleet)["queue"]["desired_workers"], 1);
    fleet.worker("able", &["--tag", "gpu"]);
    fleet.run(&["watch", submitted.stdout.trim()]).ok();
}

#[test]
fn tokens_are_files_of_their_owner_and_end_when_they_are_revoked() {
    let fleet = Fleet::start("fleet-tokens");
    let home = fleet.folder.file("fleet");
    for name in ["operator.token", "worker.token", "tokens.json", "orchestrator.toml"] {
        let mode = fs::metadata(Path::new(&home).join(name)).expect(name).permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
    let again = Run::of(remuda().args(["orchestrator", "init", &home])).failed(1);
    assert!(again.stderr.contains("never overwritten"), "{again:?}");
    let token = |args: &[&str]| Run::of(remuda().args(["orchestrator", "token"]).args(args));
    token(&["new", &home, "--name", "ci", "--scope", "submitter"]).ok();
    token(&["new", &home, "--name", "ci", "--scope", "viewer"]).failed(2);
    let secret = fs::read_to_string(fleet.token("ci")).expect("a token");
    let hashes = fs::read_to_string(Path::new(&home).join("tokens.json")).expect("hashes");
    assert!(!hashes.contains(secret.trim()), "only hashes are kept");
    let listed = token(&["list", &home]).ok().stdout;
    assert!(listed.contains("ci\tsubmitter"), "{listed}");
    wait("the new token", || (fleet.run_as("ci", &["list"]).status == 0).then_some(()));
    token(&["revoke", &home, "--name", "ci"]).ok();
    wait("its end", || (fleet.run_as("ci", &["list"]).status == 1).then_some(()));
    fleet.run(&["list"]).ok();
    let unknown = token(&["revoke", &home, "--name", "ci"]).failed(1);
    assert!(unknown.stderr.contains("no token called"), "{unknown:?}");
}

#[test]
fn operators_limit_labels_and_expel_machines() {
    let mut fleet = Fleet::start("fleet-operators");
    fleet.worker("ada", &[]);
    let as_who = |fleet: &Fleet, scope: &str, args: &[&str]| {
        let mut command = remuda();
        command.env("REMUDA_ORCHESTRATOR", &fleet.url);
        command.env("REMUDA_TOKEN_FILE", fleet.token(scope));
        Run::of(command.arg("fleet").args(args))
    };
    as_who(&fleet, "submitter", &["limits", "set", "deploy", "0"]).failed(1);
    as_who(&fleet, "operator", &["limits", "set", "deploy", "0"]).ok();
    let file = fleet.file("run.toml", "steps = [\"true\"]\nlabels = [\"deploy\"]");
    let run = fleet.run(&["submit", &file]).ok().stdout.trim().to_owned();
    let limits = as_who(&fleet, "viewer", &["limits", "--json"]).ok().json();
    assert_eq!(limits["limits"][0]["limit"], 0, "{limits}");
    assert_eq!(fleet.run(&["show", &run, "--json"]).ok().json()["jobs"][0]["state"], "QUEUED");
    for look in [&["show", run.as_str()][..], &["list"]] {
        let why = "held back by the label deploy: 0 at work, 0 allowed";
        let shown = fleet.run(look).ok();
        assert!(shown.stdout.contains(why), "{shown:?}");
    }
    let status = as_who(&fleet, "viewer", &["status", "--json"]).ok().json();
    assert_eq!(status["queue"]["desired_workers"], 0, "{status}");
    as_who(&fleet, "operator", &["limits", "clear", "deploy"]).ok();
    fleet.run(&["watch", &run]).ok();
    let machines = as_who(&fleet, "viewer", &["workers", "--json"]).ok().json();
    let key = machines["machines"]["machines"][0]["key_id"].as_str().expect("a key").to_owned();
    as_who(&fleet, "operator", &["expel", "nobody"]).failed(2);
    as_who(&fleet, "operator", &["expel", &key]).ok();
    assert_eq!(fleet.workers[0].end(), 1, "it is not let in any more");
    let again = Run::of(remuda().args(["worker", "run", &fleet.folder.file("ada")])).failed(1);
    assert!(again.stderr.contains("remuda worker init NEWDIR --token-file FILE"), "{again:?}");
    let audit = fs::read_to_string(fleet.folder.file("fleet/audit.jsonl")).expect("a log");
    assert!(audit.contains("\"expel\"") && audit.contains(&key), "{audit}");
}

#[test]
fn broker_and_bucket_are_settings_and_their_secrets_no_arguments() {
    let folder = Folder::new("fleet-settings");
    let home = folder.file("fleet");
    let init = |args: &[&str]| Run::of(remuda().args(["orchestrator", "init", &home]).args(args));
    let secret = init(&["--nats", "nats://name:password@127.0.0.1:4222"]).failed(2);
    assert!(secret.stderr.contains("command line"), "{secret:?}");
    init(&["--s3-bucket", "ci"]).failed(2);
    let args =
        ["--listen", "127.0.0.1:0", "--nats", "nats://127.0.0.1:9", "--objects-mib-max", "5"];
    let made = init(&args).ok();
    assert!(made.stdout.contains("it prints its URL"), "{made:?}");
    let settings = fs::read_to_string(folder.file("fleet/orchestrator.toml")).expect("settings");
    assert!(settings.contains("objects_mib_max = 5\n"), "{settings}");
    let bucket = "\n[bucket]\nendpoint = \"http://127.0.0.1:9\"\nbucket = \"ci\"\n";
    fs::write(folder.file("fleet/orchestrator.toml"), settings + bucket).expect("written");
    let mut run = remuda();
    run.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    let keyless = Run::of(run.args(["orchestrator", "run", &home])).failed(1);
    assert!(keyless.stderr.contains("AWS_SECRET_ACCESS_KEY"), "{keyless:?}");
}

#[test]
fn a_worker_ends_after_one_job_if_it_is_told_to_and_in_order_when_it_is_asked_to() {
    let mut fleet = Fleet::start("fleet-drain");
    let once = fleet.init_worker("once", &[]);
    let mut once = work(&once, &["--one-shot"]);
    let file = fleet.file("run.toml", "steps = [\"echo once\"]");
    fleet.run(&["submit", &file, "--watch"]).ok();
    assert_eq!(once.end(), 0);
    let mut status = remuda();
    status.args(["fleet", "status", "--json", "--orchestrator", &fleet.url, "--token-file"]);
    let status = Run::of(status.arg(fleet.token("viewer"))).ok().json();
    assert_eq!(status["workers"]["total"], 0, "it said goodbye: {status}");
    let run = fleet.run(&["submit", &fleet.file("long.toml", "steps = [\"sleep 2\"]")]).ok();
    fleet.worker("ada", &[]);
    wait("the job", || {
        let run = fleet.run(&["show", run.stdout.trim(), "--json"]).ok().json();
        (run["jobs"][0]["state"] != "QUEUED").then_some(())
    });
    fleet.workers[0].signal("-TERM");
    assert_eq!(fleet.workers[0].end(), 0);
    // What it had, it has finished: it was granted once.
    let ended = fleet.run(&["watch", run.stdout.trim(), "--json"]).ok();
    let last = ended.lines().pop().expect("a line");
    assert_eq!(last["jobs"][0]["fence"], 1, "{last}");
}

#[test]
fn runs_and_watchers_survive_an_orchestrator_restart() {
    let mut fleet = Fleet::start("fleet-restart");
    // The same port again: workers know no other.
    let settings = fleet.folder.file("fleet/orchestrator.toml");
    let text = fs::read_to_string(&settings).expect("settings");
    let address = fleet.url.trim_start_matches("http://").to_owned();
    fs::write(&settings, text.replace("127.0.0.1:0", &address)).expect("written");
    fleet.worker("ada", &[]);
    let file = fleet.file("run.toml", "steps = [\"sleep 3\", \"echo survived\"]");
    let run = fleet.run(&["submit", &file]).ok().stdout.trim().to_owned();
    wait("the job", || {
        let run = fleet.run(&["show", &run, "--json"]).ok().json();
        (run["jobs"][0]["state"] != "QUEUED").then_some(())
    });
    let mut watching = remuda();
    watching.env("REMUDA_ORCHESTRATOR", &fleet.url);
    watching.env("REMUDA_TOKEN_FILE", fleet.token("viewer"));
    watching.args(["run", "watch", &run]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut watching = Running(watching.spawn().expect("it starts"));
    // It has seen the run by the time that it prints.
    let out = BufReader::new(watching.0.stdout.take().expect("output"));
    let mut lines = out.lines();
    lines.next().expect("a line").expect("text");
    let _ = fleet.orchestrator.0.kill();
    let _ = fleet.orchestrator.0.wait();
    fleet.orchestrator = orchestrator(&fleet.folder.file("fleet")).0;
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(watching.end(), 0, "{rest:#?}");
    let logs = fleet.run(&["logs", &run]).ok().stdout;
    assert!(logs.contains("survived"), "{logs}");
}

#[test]
fn the_demonstration_comes_out_as_it_should_and_leaves_nothing() {
    let _alone = alone();
    let mut command = remuda();
    command.args(["fleet", "demo", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    let place = std::env::temp_dir().join(format!("remuda-fleet-demo-{}", child.id()));
    let output = child.wait_with_output().expect("it ends");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(report["late_answer"], "Superseded", "{report}");
    // The demo has to finish within a minute.
    assert!(report["millis"].as_u64().is_some_and(|millis| millis < 60_000), "{report}");
    let job = report["jobs"].as_array().into_iter().flatten().find(|job| job["name"] == "test-b");
    let job = job.expect("the job of the worker that was killed");
    assert!(job["fence"].as_u64() > Some(1) && job["worker"] != report["killed"], "{report}");
    assert!(!place.exists(), "{} is left", place.display());
    // Every process of it had its place on its command line.
    let left = fs::read_dir("/proc").expect("Linux").flatten().find(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(place.to_str().expect("text"))
    });
    assert!(left.is_none(), "{left:?} is left");
}
