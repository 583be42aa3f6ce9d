//! The API on threads of its own.
//!
//! What people ask of a node can be a lot of work. It is done beside consensus and never on its threads,
//! and where processors are short, consensus goes first.

use super::{App, serve};
use std::io;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{oneshot, watch};

const WORKERS: usize = 2;
/// Threads for disk reads and for large answers.
const BLOCKING_THREADS: usize = 8;
/// How much later than consensus they get a processor: at 5 about a third of its share.
const NICENESS: i32 = 5;
/// How long reads on their way may take when the API ends.
const STOP: Duration = Duration::from_secs(1);

/// An API that answers. It ends when this is dropped.
#[derive(Debug)]
pub struct Answering {
    stop: watch::Sender<bool>,
    ended: oneshot::Receiver<()>,
}

impl Answering {
    /// Ends it: open requests get [`Limits::drain`](super::Limits::drain).
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Resolves when it has ended, for whatever reason.
    pub async fn ended(&mut self) {
        let _ = (&mut self.ended).await;
    }
}

/// Answers on a listener, on threads of its own.
pub fn answer(listener: std::net::TcpListener, app: App) -> io::Result<Answering> {
    listener.set_nonblocking(true)?;
    let runtime = runtime()?;
    let (stop, mut stopped) = watch::channel(false);
    let (end, ended) = oneshot::channel();
    std::thread::Builder::new().name("api".to_owned()).spawn(move || {
        give_way();
        let result = runtime.block_on(async {
            let listener = TcpListener::from_std(listener)?;
            serve(listener, app, async {
                // A sender that is gone wants nothing answered either.
                let _ = stopped.wait_for(|stop| *stop).await;
            })
            .await;
            io::Result::Ok(())
        });
        if let Err(error) = result {
            tracing::error!(%error, "API failed to listen");
        }
        runtime.shutdown_timeout(STOP);
        let _ = end.send(());
    })?;
    Ok(Answering { stop, ended })
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("api")
        .on_thread_start(give_way)
        .enable_all()
        .build()
}

/// Lowers the calling thread's priority. Where the system refuses that, the API still has threads of
/// its own.
fn give_way() {
    let _ = rustix::process::nice(NICENESS);
}
