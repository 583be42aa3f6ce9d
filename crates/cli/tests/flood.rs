//! What strangers ask of the nodes, beside the blocks that these make.

use crate::support;

use remuda_client::Client;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::Network;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;

/// Each call leaves some 600 KB in its block's receipts.
const LOUD: &str = "\
import cowboy

def shout():
    for _ in range(40):
        cowboy.emit('noise', bytes(15_000))
";
const CALLS: usize = 24;
/// Strangers, each with an address and so with an allowance of its own.
const STRANGERS: u8 = 12;
const WATCHED: Duration = Duration::from_secs(8);

/// Asks for an actor's whole history, again and again.
async fn flood(
    from: u8,
    api: SocketAddr,
    path: String,
    stop: Arc<AtomicBool>,
    read: Arc<AtomicUsize>,
) {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    while !stop.load(Ordering::Relaxed) {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(([127, 0, 0, from], 0).into()).expect("an address of the loopback");
        let Ok(mut stream) = socket.connect(api).await else { continue };
        let mut answer = Vec::new();
        if stream.write_all(request.as_bytes()).await.is_ok()
            && stream.read_to_end(&mut answer).await.is_ok()
        {
            read.fetch_add(answer.len(), Ordering::Relaxed);
        }
    }
}

/// Seconds that a block takes, over some time.
async fn block_time(client: &Client) -> f64 {
    let height = async || client.status().await.expect("a status").height.0;
    let (first, started) = (height().await, Instant::now());
    tokio::time::sleep(WATCHED).await;
    let blocks = height().await - first;
    started.elapsed().as_secs_f64() / blocks.max(1) as f64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_the_dearest_requests_leaves_the_block_time_as_it_is() {
    let network = Network::of("flood", 4, "500ms");
    let (key, _) = network.account("owner.key", "1000000cby");
    let file = network.folder.write("loud.py", LOUD);
    let deployed = network.json(&["actor", "deploy", &file, "--key", &key]);
    let events = deployed["events"].as_array().expect("events");
    let actor = events.iter().find_map(|event| event["ActorDeployed"]["actor"].as_str());
    let actor = actor.expect("it is deployed").to_owned();
    for _ in 0..CALLS {
        let args = ["actor", "call", &actor, "shout", "--cells", "900000", "--key", &key];
        network.run(&args).ok();
    }
    let client = Client::new(network.api.clone()).expect("a URL");
    let quiet = block_time(&client).await;
    let (stop, read) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut flooding = tokio::task::JoinSet::new();
    for api in &network.apis {
        let at: SocketAddr = api.trim_start_matches("http://").parse().expect("an address");
        for from in 0..STRANGERS {
            let path = format!("/actor/{actor}/logs");
            flooding.spawn(flood(from + 2, at, path, stop.clone(), read.clone()));
        }
    }
    let loud = block_time(&client).await;
    stop.store(true, Ordering::Relaxed);
    flooding.abort_all();
    let read = read.load(Ordering::Relaxed) >> 20;
    println!("a block takes {quiet:.3} s, and {loud:.3} s while {read} MiB are read");
    assert!(read > 20, "{read} MiB are no flood");
    assert!(loud < 1.5 * quiet, "{quiet:.3} s became {loud:.3} s while {read} MiB were read");
}
