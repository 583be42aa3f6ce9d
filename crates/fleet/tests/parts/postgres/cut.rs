//! A network between orchestrator and database that is cut while the database answers, and heals when it has given up:
//! then nobody says anything any more, and who waits would wait for ever.

use super::Server;
use super::time::{ask, submit, take};
use crate::parts::suite::common::{complete, job, runner_id};
use remuda_fleet::lease::{Event, Policy, Reply};
use remuda_fleet::message::CompleteStatus;
use remuda_fleet::store::{Postgres, Store as _, Time};
use remuda_fleet::time::Millis;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::time::timeout;

/// Longer than anybody waits for an answer that does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// What goes through, one way. Where it is cut, bytes are swallowed, and those connections stay silent for good.
async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    cut: Arc<AtomicBool>,
) {
    let (mut bytes, mut silent) = (vec![0; 65_536], false);
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        silent |= cut.load(Ordering::SeqCst);
        if !silent && to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
    if silent {
        std::future::pending::<()>().await;
    }
}

/// A way to the database by which its answers can be cut off; its address.
async fn wire(socket: PathBuf, cut: Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = UnixStream::connect(&socket).await.expect("a database");
            let (cut, open) = (cut.clone(), Arc::new(AtomicBool::new(false)));
            let (near_read, near_write) = TcpStream::into_split(near);
            let (far_read, far_write) = far.into_split();
            tokio::spawn(pass(near_read, far_write, open));
            tokio::spawn(pass(far_read, near_write, cut));
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_cut_off_mid_answer_is_replaced() {
    let server = Server::start("pg-cut");
    let cut = Arc::new(AtomicBool::new(false));
    let port = wire(server.folder.path().join(".s.PGSQL.5432"), cut.clone()).await;
    let url = format!("postgres://fleet@127.0.0.1:{port}/postgres?sslmode=disable");
    let store = Postgres::open(&url, Policy::default(), Time::Database, Millis(0)).await;
    let store = store.expect("a store");
    submit(&store, Millis(0), job("a")).await;
    let granted = take(&store, Millis(0), "a").await;
    let done = complete(&granted.lease_id, &runner_id("a"), CompleteStatus::Succeeded);
    let done = Event::Complete(done);

    cut.store(true, Ordering::SeqCst);
    let asked = [done.clone(), Event::Sweep, done.clone()];
    let asked = asked.map(|event| timeout(PATIENCE, store.handle(Millis(0), event)));
    for told in futures::future::join_all(asked).await {
        let told = told.expect("it does not wait for ever");
        assert!(told.is_err(), "nobody knows whether it was done: {told:?}");
    }
    cut.store(false, Ordering::SeqCst);
    // Whatever became of it, the same is answered as if it came for the first time.
    let reply = loop {
        match timeout(PATIENCE, store.handle(Millis(0), done.clone())).await.expect("an answer") {
            Ok(handled) => break handled.reply.expect("not refused"),
            Err(error) => assert!(error.to_string().contains("database"), "{error}"),
        }
    };
    assert!(matches!(reply, Reply::Completed(_)), "{reply:?}");
    submit(&store, Millis(0), job("b")).await;
    let swept = timeout(PATIENCE, ask(&store, Millis(0), Event::Sweep)).await.expect("an answer");
    assert!(matches!(swept, Reply::Swept { .. }), "{swept:?}");
    timeout(PATIENCE, store.close()).await.expect("it ends");
}
