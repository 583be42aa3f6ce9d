//! What a job may take.

use crate::worker::jobs::{Worker, ended, job, log, submit};
use crate::worker::server::Server;
use serde_json::json;

#[tokio::test]
async fn a_process_of_a_job_has_so_many_files_open_and_no_more() {
    let server = Server::open().await;
    let _worker = Worker::start(&server, |_| {});
    let run = submit(&server, job(&["ulimit -Hn; ulimit -Sn"])).await;
    let job = ended(&server, &run).await;
    let log = log(&server, &job).await;
    let limits: Vec<u64> = log.lines().map(|line| line.parse().expect("a number")).collect();
    assert!(limits.len() == 2 && limits.iter().all(|most| *most <= 4_096), "{log}");
}

/// Its jobs may have 32 MiB and 500 files.
fn narrow(server: &Server) -> Worker {
    Worker::start(server, |config| {
        config.disk_bytes_max = 32 << 20;
        config.files_max = 500;
    })
}

#[tokio::test]
async fn a_job_that_fills_the_disk_fails_as_out_of_disk_and_the_worker_lives_on() {
    let server = Server::open().await;
    let _worker = narrow(&server);
    for step in [
        "while :; do head -c 1M /dev/zero >> file; done",
        // A deleted file.
        "exec 9> file; rm file; while :; do head -c 1M /dev/zero >&9; done",
        "i=0; while :; do i=$((i+1)); : > $i; done",
        "mkdir shut; cd shut; i=0; while test $i -lt 600; do i=$((i+1)); : > $i; done; chmod 0 .; sleep 100",
        "while mkdir d && cd d; do :; done 2>/dev/null; sleep 100",
        // Over before the first count.
        "head -c 40M /dev/zero > file",
    ] {
        let run = submit(&server, job(&[step, "echo next"])).await;
        let ended = ended(&server, &run).await;
        let wanted = (&json!("FAILED"), &json!("OUT_OF_DISK"));
        assert_eq!((&ended["state"], &ended["failure"]), wanted, "{step}: {ended}");
        assert_eq!(log(&server, &ended).await, "", "no further step: {step}");
    }
    let run =
        submit(&server, job(&["head -c 20M /dev/zero > a; ln a b; ln a c; rm a; echo fits"])).await;
    let ended = ended(&server, &run).await;
    assert_eq!(
        ended["state"], "SUCCEEDED",
        "the worker lives on, and hard links count once: {ended}"
    );
}
