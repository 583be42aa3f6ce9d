//! Bytes that are read from a server, whatever is in them.

use crate::executor::ExecuteError;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::{io, mem};
use tokio::io::{AsyncRead, ReadBuf};

/// What may still be read, and why nothing more is read. Shared by all that read.
#[derive(Clone)]
pub(super) struct Budget(Arc<Mutex<Left>>);

struct Left {
    limit: usize,
    bytes: usize,
    failure: Option<ExecuteError>,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self(Arc::new(Mutex::new(Left { limit, bytes: limit, failure: None })))
    }

    /// Takes bytes that were read.
    pub(super) fn take(&self, count: usize) -> Result<(), ExecuteError> {
        let mut left = self.0.lock().expect("nobody panics with it");
        match left.bytes.checked_sub(count) {
            Some(bytes) => left.bytes = bytes,
            None => {
                let error = ExecuteError::TooLarge { limit: left.limit };
                left.failure = Some(error.clone());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Remembers why reading failed. What passes through the hands of others comes back as their
    /// error, in their words.
    pub(super) fn fail(&self, error: ExecuteError) {
        self.0.lock().expect("nobody panics with it").failure = Some(error);
    }

    /// Why reading failed, since this was asked last.
    pub(super) fn failure(&self) -> Option<ExecuteError> {
        mem::take(&mut self.0.lock().expect("nobody panics with it").failure)
    }
}

pub(super) struct Bounded<R> {
    pub inner: R,
    pub budget: Budget,
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        if polled.is_ready() {
            let count = buffer.filled().len() - before;
            if let Err(error) = self.budget.take(count) {
                return Poll::Ready(Err(io::Error::other(error)));
            }
        }
        polled
    }
}
