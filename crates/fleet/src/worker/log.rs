//! Uploads a job's log: read, masked, sent in chunks, resumed after an interruption.

use super::link::Link;
use super::mask::Mask;
use super::outbox::Outbox;
use super::retry::RetryBudget;
use super::status::Status;
use crate::id::{LeaseId, RunnerId};
use crate::message::{LogAck, LogChunk};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::sleep;

/// Output of this time is sent as one chunk.
const GATHER: Duration = Duration::from_millis(200);
const READ_BYTES: usize = 64 * 1024;

pub(super) struct Log {
    pub(super) link: Link,
    pub(super) lease_id: LeaseId,
    pub(super) runner_id: RunnerId,
    pub(super) mask: Mask,
    /// Reports the uploaded bytes.
    pub(super) status: watch::Sender<Status>,
    /// How long errors that may be permanent are tolerated. Then the rest is dropped.
    pub(super) tolerance: Duration,
}

impl Log {
    /// Returns when all writers are gone and the log is sent or refused.
    pub(super) async fn run(mut self, mut input: pipe::Receiver) {
        let mut outbox = Outbox::default();
        let mut buffer = vec![0; READ_BYTES];
        let (mut open, mut wanted) = (true, true);
        let mut retry = RetryBudget::new(self.tolerance);
        while open || outbox.next().is_some() {
            if open && !outbox.full() {
                open = self.gather(&mut input, &mut buffer, &mut outbox).await;
            }
            let Some(piece) = outbox.next() else { continue };
            if !wanted {
                // The job must not block on a refused log.
                outbox.discard();
                continue;
            }
            let chunk = LogChunk {
                lease_id: self.lease_id.clone(),
                runner_id: self.runner_id.clone(),
                number: piece.number,
                offset: piece.offset,
                data: piece.data.to_vec(),
            };
            match self.link.send::<_, LogAck>("log", &chunk).await {
                Ok(ack) => {
                    retry.reset();
                    wanted = outbox.acknowledge(&ack);
                    self.status.send_modify(|status| status.log_bytes = outbox.sent());
                }
                Err(error) => {
                    if let Err(error) = retry.wait(error).await {
                        tracing::warn!(%error, "log upload stopped, rest dropped");
                        wanted = false;
                    }
                }
            }
        }
    }

    /// Reads output for a short time. False: end of the log.
    async fn gather(
        &mut self,
        input: &mut pipe::Receiver,
        buffer: &mut [u8],
        outbox: &mut Outbox,
    ) -> bool {
        let until = sleep(GATHER);
        tokio::pin!(until);
        loop {
            tokio::select! {
                read = input.read(buffer) => match read {
                    Ok(bytes @ 1..) => outbox.push(&self.mask.push(&buffer[..bytes])),
                    _ => {
                        outbox.push(&self.mask.finish());
                        return false;
                    }
                },
                () = &mut until => return true,
            }
            if outbox.full() {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::outbox::WAITING_BYTES_MAX;
    use super::*;
    use crate::auth::KeyPair;
    use crate::http::{Endpoint, Trust};
    use crate::time::Clock;
    use axum::Router;
    use axum::http::StatusCode;
    use std::io::Write as _;
    use std::sync::Arc;
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    /// A proxy that refuses everything.
    async fn proxy() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let refuse = || std::future::ready((StatusCode::FORBIDDEN, "<h1>403</h1>"));
        let router = Router::new().fallback(refuse);
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    #[tokio::test]
    async fn a_job_does_not_wait_for_a_log_that_is_not_let_through() {
        let (input, mut output) = std::io::pipe().expect("a pipe");
        let input = pipe::Receiver::from_owned_fd(input.into()).expect("a pipe");
        // A job that writes more than the buffer holds.
        let job = std::thread::spawn(move || output.write_all(&vec![b'x'; 3 * WAITING_BYTES_MAX]));
        let endpoint = Endpoint::new(&proxy().await, &Trust::default()).expect("an address");
        let log = Log {
            link: Link::new(endpoint, Arc::new(KeyPair::generate()), Clock::default()),
            lease_id: LeaseId::new("lease_1").expect("an id"),
            runner_id: RunnerId::new("runner_1").expect("an id"),
            mask: Mask::default(),
            status: watch::channel(Status::default()).0,
            tolerance: Duration::from_millis(300),
        };
        let status = log.status.subscribe();
        timeout(Duration::from_secs(60), log.run(input)).await.expect("it has an end");
        job.join().expect("joined").expect("all was read");
        assert_eq!(status.borrow().log_bytes, 0);
    }
}
