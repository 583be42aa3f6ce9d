//! A proxy in front of an orchestrator that remembers which leases went through it.
//!
//! A lease's id is known to its worker and to nobody else, and a worker that was killed cannot say
//! anything late. This can, in its place: that is what the demonstration has it for.

use remuda_fleet::id::{Fence, JobId};
use remuda_fleet::message::LeaseGranted;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How every grant begins.
const BEGINNING: &[u8] = b"{\"type\":\"LeaseGranted\"";
/// What is kept while the rest of a grant is not there; no message is longer.
const KEPT_MAX: usize = 2 * 1024 * 1024;

type Leases = Arc<Mutex<Vec<LeaseGranted>>>;

/// See the module. It ends when it is dropped.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    leases: Leases,
    accepting: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Proxy {
    pub(super) async fn start(to: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((to.ip(), 0)).await?;
        let address = listener.local_addr()?;
        let leases = Leases::default();
        let known = leases.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                if let Ok(far) = TcpStream::connect(to).await {
                    let _ = (near.set_nodelay(true), far.set_nodelay(true));
                    let ((near_in, near_out), (far_in, far_out)) =
                        (near.into_split(), far.into_split());
                    tokio::spawn(carry(near_in, far_out, None));
                    tokio::spawn(carry(far_in, near_out, Some(known.clone())));
                }
            }
        });
        Ok(Self { address, leases, accepting })
    }

    /// The lease of a grant.
    pub(super) fn lease(&self, job: &JobId, fence: Fence) -> Option<LeaseGranted> {
        let leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        leases.iter().find(|lease| lease.job_id == *job && lease.fence == fence).cloned()
    }
}

/// One direction of a connection.
async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, leases: Option<Leases>) {
    let (mut piece, mut kept) = (vec![0; 16 * 1024], Vec::new());
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        if let Some(leases) = &leases {
            kept.extend_from_slice(&piece[..length]);
            let found = find(&mut kept);
            leases.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
        }
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

/// Takes whole grants out of what was read. What may be the beginning of one stays.
fn find(kept: &mut Vec<u8>) -> Vec<LeaseGranted> {
    let mut found = Vec::new();
    loop {
        let begin = kept.windows(BEGINNING.len()).position(|window| window == BEGINNING);
        let Some(begin) = begin else {
            let tail = kept.len().saturating_sub(BEGINNING.len());
            kept.drain(..tail);
            return found;
        };
        kept.drain(..begin);
        let mut json = serde_json::Deserializer::from_slice(kept).into_iter();
        let next = json.next();
        let read = json.byte_offset();
        match next {
            Some(Ok(lease)) => {
                found.push(lease);
                kept.drain(..read);
            }
            Some(Err(error)) if error.is_eof() && kept.len() < KEPT_MAX => return found,
            _ => drop(kept.drain(..BEGINNING.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_found_however_it_is_cut() {
        let grant = r#"{"type":"LeaseGranted","job_id":"job_1","run_id":"run_1","lease_id":"lease_1",
            "fence":2,"lease_ttl_seconds":3,"heartbeat_interval_seconds":1,"max_runtime_seconds":9}"#;
        let stream = format!("HTTP/1.1 200 OK\r\n\r\n{grant}HTTP/1.1 200 OK\r\n\r\n{grant}");
        for size in [1, 7, 1_000] {
            let (mut kept, mut found) = (Vec::new(), Vec::new());
            for piece in stream.as_bytes().chunks(size) {
                kept.extend_from_slice(piece);
                found.extend(find(&mut kept));
            }
            let fences: Vec<u64> = found.iter().map(|lease| lease.fence.0).collect();
            assert_eq!(fences, [2, 2], "pieces of {size}");
        }
    }
}
