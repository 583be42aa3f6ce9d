//! What a job may take.

use crate::jobs::{Worker, ended, job, log, submit};
use crate::server::Server;

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
