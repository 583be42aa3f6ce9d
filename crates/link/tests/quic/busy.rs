//! A session with a lot to do.

use crate::quic::{anywhere, assignment, connect, event, key, server, until};
use remuda_link::frame::{AckStatus, CancelReason};
use remuda_link::quic::client::{Command, Connector, Link};
use remuda_link::quic::server::Server;
use remuda_link::session::runner;
use remuda_link::session::validator::{Assignment, Event, Head, Outcome, Place};
use remuda_protocol::primitives::{B256, JobId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

const PER_SECOND: usize = 500;
const SECONDS: usize = 4;
const JOBS: usize = PER_SECOND * SECONDS;
/// Every job is committed to and then revealed.
const TRANSACTIONS: usize = 2;
const PATIENCE: Duration = Duration::from_secs(60);

fn id(number: usize) -> JobId {
    let mut id = B256::ZERO;
    id[..8].copy_from_slice(&(number as u64).to_be_bytes());
    id
}

/// An honest runner that does every job at once.
async fn work(mut link: Link) -> Link {
    let mut done = 0;
    while done < JOBS {
        match event(&mut link.events).await {
            runner::Event::Assigned(assigned) => {
                let job = assigned.job_id;
                let mut words = vec![Command::Ack(job, AckStatus::Accepted, None)];
                words.push(Command::Progress(job, 50, Some("half way".to_owned())));
                words.extend((0..TRANSACTIONS).map(|_| Command::Result(job, vec![7; 300])));
                // Beside the events: a runner that speaks before it listens on waits for itself.
                let commands = link.commands.clone();
                tokio::spawn(async move {
                    for word in words {
                        commands.send(word).await.expect("the session is open");
                    }
                });
                done += 1;
            }
            runner::Event::Goodbye(word) => panic!("the validator left after {done} jobs: {word}"),
            _ => {}
        }
    }
    link
}

/// Pushes jobs by the clock, and a block every second.
async fn push(server: Server) {
    let (started, mut pushed, mut height) = (Instant::now(), 0, 100);
    while pushed < JOBS {
        sleep(Duration::from_millis(20)).await;
        let elapsed = started.elapsed();
        let due = JOBS.min(elapsed.as_millis() as usize * PER_SECOND / 1_000);
        for number in pushed..due {
            let job = Assignment { job_id: id(number), job_spec: vec![7; 1_000], ..assignment() };
            assert!(server.push(&key(0).address(), job), "job {number} finds its session");
        }
        pushed = due;
        let now = 100 + elapsed.as_secs();
        if now > height {
            height = now;
            server.head(Head { height, subset_epoch: 0 });
        }
    }
}

/// What the validator heard, until every job is done.
async fn listen(server: Server, mut events: mpsc::Receiver<(Place, Event)>) {
    let mut transactions = BTreeMap::<JobId, usize>::new();
    let (mut accepted, mut over) = (0, 0);
    while over < JOBS {
        match event(&mut events).await.1 {
            Event::Outcome(_, Outcome::Success) => accepted += 1,
            Event::Transaction(job, _) => {
                let count = transactions.entry(job).or_default();
                *count += 1;
                if *count == TRANSACTIONS {
                    over += 1;
                    server.cancel(&key(0).address(), job, CancelReason::Failed);
                }
            }
            Event::Progress(_) => {}
            other => panic!("after {over} jobs: {other:?}"),
        }
    }
    assert_eq!(accepted, JOBS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_session_carries_500_jobs_per_second() {
    let (server, mut events) = server(1);
    let connector = Connector::new(anywhere()).unwrap();
    let mut link = connect(&connector, &server, 0).await;
    assert_eq!(event(&mut link.events).await, runner::Event::Opened);
    until(&mut events, |(_, event)| *event == Event::Presence(true)).await;
    let started = Instant::now();
    let all =
        async { tokio::join!(push(server.clone()), listen(server.clone(), events), work(link)).2 };
    let link = timeout(PATIENCE, all).await.expect("all jobs are done in time");
    let rate = JOBS as f64 / started.elapsed().as_secs_f64();
    println!("{rate:.0} jobs/s through one session");
    assert!(!link.ended.is_finished() && server.sessions() == 1, "the session goes on");
}
