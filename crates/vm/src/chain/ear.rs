//! What actors print, for those who test them. On a chain nobody reads it: it is no part of any receipt.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remuda_protocol::primitives::Address;

/// What is kept until somebody asks for it; more than a test may print itself.
const BYTES_MAX: usize = 2 * 1024 * 1024;

/// Hears what actors print, in the order in which they do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ear(Arc<Mutex<Heard>>);

#[derive(Debug, Default)]
struct Heard {
    said: Vec<(Address, String)>,
    bytes: usize,
}

impl Ear {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a machine that runs this actor's code tells of each print.
    pub(super) fn of(&self, actor: Address) -> Box<dyn Fn(&str) + Send> {
        let ear = self.clone();
        Box::new(move |text| ear.heard().hear(actor, text))
    }

    /// All that was printed since somebody asked last.
    pub(crate) fn take(&self) -> Vec<(Address, String)> {
        core::mem::take(&mut *self.heard()).said
    }
}

impl Heard {
    fn hear(&mut self, actor: Address, text: &str) {
        if self.bytes + text.len() > BYTES_MAX {
            return;
        }
        self.bytes += text.len();
        match self.said.last_mut() {
            Some((last, said)) if *last == actor => said.push_str(text),
            _ => self.said.push((actor, text.to_owned())),
        }
    }
}
