//! Collects what actors print, for tests of actors.
//!
//! Local: a change here needs no agreement among validators. No receipt depends on it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remuda_protocol::primitives::Address;

/// Bytes kept until `take`: more than a test may print itself.
const BYTES_MAX: usize = 2 * 1024 * 1024;

#[derive(Clone, Debug, Default)]
pub(crate) struct PrintSink(Arc<Mutex<Printed>>);

#[derive(Debug, Default)]
struct Printed {
    texts: Vec<(Address, String)>,
    bytes: usize,
}

impl PrintSink {
    fn printed(&self) -> MutexGuard<'_, Printed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes each print of a machine that runs this actor's code.
    pub(super) fn printer(&self, actor: Address) -> Box<dyn Fn(&str) + Send> {
        let sink = self.clone();
        Box::new(move |text| sink.printed().add(actor, text))
    }

    /// Everything printed since the last call.
    pub(crate) fn take(&self) -> Vec<(Address, String)> {
        core::mem::take(&mut *self.printed()).texts
    }
}

impl Printed {
    fn add(&mut self, actor: Address, text: &str) {
        if self.bytes + text.len() > BYTES_MAX {
            return;
        }
        self.bytes += text.len();
        match self.texts.last_mut() {
            Some((last, before)) if *last == actor => before.push_str(text),
            _ => self.texts.push((actor, text.to_owned())),
        }
    }
}
