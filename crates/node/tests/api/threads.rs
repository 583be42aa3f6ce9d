//! The API's threads, and those of consensus beside them.

use crate::api::chain::{Chain, calm};
use crate::api::world::{PEOPLE, any_port, roomy, unserved};
use remuda_node::api::{App, thread};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What reading a block takes of the thread that reads it.
const WORK: Duration = Duration::from_millis(40);
const TICK: Duration = Duration::from_millis(5);

/// Asks for a block until it is told to stop; how often it was answered.
fn flood(at: SocketAddr, stop: &AtomicBool) -> usize {
    let mut answers = 0;
    while !stop.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(at) else { continue };
        let request = b"GET /block/0 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let mut answer = Vec::new();
        let read = stream.write_all(request).and_then(|()| stream.read_to_end(&mut answer));
        answers += usize::from(read.is_ok() && answer.starts_with(b"HTTP/1.1 200"));
    }
    answers
}

/// This test's runtime has one thread, as consensus might: it ticks while others ask for much.
#[tokio::test]
async fn requests_that_take_long_do_not_hold_up_the_threads_of_consensus() {
    let chain = Chain::start(calm(), &PEOPLE);
    chain.dear.store(WORK.as_millis() as u64, Ordering::Relaxed);
    let listener = TcpListener::bind(any_port()).unwrap();
    let at = listener.local_addr().unwrap();
    let mut api = thread::answer(listener, App::new(chain, unserved(), roomy())).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flooding: Vec<_> = (0..4)
        .map(|_| {
            let stop = stop.clone();
            std::thread::spawn(move || flood(at, &stop))
        })
        .collect();
    let mut ticks: Vec<Duration> = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        tokio::time::sleep(TICK).await;
        ticks.push(started.elapsed());
    }
    stop.store(true, Ordering::Relaxed);
    let answers: usize = flooding.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(answers >= 10, "{answers} answers are no flood");
    ticks.sort_unstable();
    let median = ticks[ticks.len() / 2];
    assert!(median < WORK / 2, "p50 of a {TICK:?} tick: {median:?}");
    api.stop();
    tokio::time::timeout(Duration::from_secs(20), api.ended()).await.expect("it ends");
}
