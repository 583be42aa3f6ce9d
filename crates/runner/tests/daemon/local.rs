//! Jobs that are executed in the runner's own process.

use crate::daemon::network::{folder, settings};
use crate::daemon::web::Web;
use crate::executors::job::get;
use remuda_protocol::primitives::B256;
use remuda_runner::backend::{Backend as _, BackendError, Job, LocalBackend};
use remuda_runner::executor::{ExecuteError, NoProgress, Progress};
use std::sync::Mutex;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

fn job(url: &str, time_limit: u64, expires_in: u64) -> Job {
    Job {
        job_id: B256::repeat_byte(1),
        spec: get(url),
        time_limit: Duration::from_secs(time_limit),
        expires_in: Duration::from_secs(expires_in),
        pinned: false,
    }
}

/// A backend with one slot.
fn backend(name: &str) -> LocalBackend {
    let sections = "[http.addresses]\nallow = ['127.0.0.0/8']";
    let settings = settings(&folder(name), &["http://127.0.0.1:9".to_owned()], sections);
    LocalBackend::new(&settings.executors(), 1).unwrap()
}

async fn asked(web: &Web, times: usize) {
    while web.asked() < times {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_job_leads_to_a_result_or_to_the_reason_why_there_is_none() {
    let web = Web::start().await;
    let backend = backend("local");
    let found = backend.execute(&job(&web.url, 5, 10), &NoProgress).await.unwrap();
    assert!(String::from_utf8(found.unwrap()).unwrap().contains("42"));
    let nobody = backend.execute(&job("http://127.0.0.1:9/", 5, 10), &NoProgress).await.unwrap();
    assert!(matches!(nobody, Err(ExecuteError::Unreachable(_))), "{nobody:?}");
    web.slow(Duration::from_secs(60));
    let slow = backend.execute(&job(&web.url, 1, 10), &NoProgress).await.unwrap();
    assert!(matches!(slow, Err(ExecuteError::TimedOut(_))), "{slow:?}");
}

#[tokio::test]
async fn a_dropped_job_frees_its_slot() {
    let web = Web::start().await;
    let backend = backend("dropped");
    web.slow(Duration::from_secs(60));
    let dropped = job(&web.url, 30, 30);
    tokio::select! {
        done = backend.execute(&dropped, &NoProgress) => panic!("{done:?}"),
        () = asked(&web, 1) => {}
    }
    web.slow(Duration::ZERO);
    // There is one slot, and the first job would have it for half a minute.
    let found = backend.execute(&job(&web.url, 5, 15), &NoProgress).await;
    assert!(found.unwrap().is_ok());
}

#[tokio::test]
async fn a_dropped_job_closes_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let job = job(&format!("http://{}/", listener.local_addr().unwrap()), 30, 30);
    let backend = backend("closed");
    let mut connection = tokio::select! {
        done = backend.execute(&job, &NoProgress) => panic!("{done:?}"),
        connection = async {
            let (mut connection, _) = listener.accept().await.unwrap();
            connection.read_u8().await.unwrap();
            connection
        } => connection,
    };
    let mut rest = Vec::new();
    let closed = connection.read_to_end(&mut rest);
    let closed = tokio::time::timeout(Duration::from_secs(20), closed).await;
    assert!(closed.is_ok(), "the executor still waits for an answer");
}

#[tokio::test]
async fn a_job_that_expires_before_a_slot_is_free_is_not_begun() {
    let web = Web::start().await;
    let backend = backend("expired");
    web.slow(Duration::from_secs(60));
    let (long, short) = (job(&web.url, 20, 20), job(&web.url, 1, 1));
    let expired = tokio::select! {
        done = backend.execute(&long, &NoProgress) => panic!("{done:?}"),
        expired = async {
            asked(&web, 1).await;
            backend.execute(&short, &NoProgress).await
        } => expired,
    };
    assert!(matches!(expired, Err(BackendError::NoSlot)), "{expired:?}");
    assert_eq!(web.asked(), 1, "it was not begun");
}

struct Reports(Mutex<Vec<String>>);

impl Progress for Reports {
    fn report(&self, _: u8, detail: &str) {
        self.0.lock().unwrap().push(detail.to_owned());
    }
}

#[tokio::test]
async fn progress_is_reported_by_the_executor_itself() {
    let web = Web::start().await;
    let reports = Reports(Mutex::default());
    backend("progress").execute(&job(&web.url, 5, 10), &reports).await.unwrap().unwrap();
    let reports = reports.0.into_inner().unwrap();
    assert_eq!(reports.first().unwrap(), "the server answers 200", "{reports:?}");
}

struct Panics;

impl Progress for Panics {
    fn report(&self, _: u8, _: &str) {
        panic!("a bug");
    }
}

#[tokio::test]
async fn a_job_that_panics_frees_its_slot() {
    let web = Web::start().await;
    let backend = backend("panicked");
    let job = job(&web.url, 5, 10);
    let panicked = backend.execute(&job, &Panics).await;
    assert!(matches!(panicked, Err(BackendError::Panicked)), "{panicked:?}");
    assert!(backend.execute(&job, &NoProgress).await.unwrap().is_ok());
}
