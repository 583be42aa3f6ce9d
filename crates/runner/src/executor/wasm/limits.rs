//! What a program may use.

use thiserror::Error;
use wasmtime::ResourceLimiter;

/// Bytes of an element of a table, more or less.
const ELEMENT_BYTES: usize = 16;

#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub fuel: u64,
    /// Bytes of memory and tables together.
    pub memory_bytes: usize,
    /// Bytes of the result.
    pub result_bytes: usize,
}

/// Counts memory and tables of one run.
pub(super) struct Meter {
    limit: usize,
    used: usize,
}

/// Why a program gets no more memory. It ends with this.
#[derive(Clone, Copy, Debug, Error)]
pub(super) enum MemoryError {
    /// It has had what it may have.
    #[error("more than {0} bytes of memory and tables")]
    Exceeded(usize),
    /// This machine has no more.
    #[error("out of memory")]
    Exhausted,
}

impl Meter {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, used: 0 }
    }

    /// Adds what something grows by. Beyond its own maximum it does not grow, on any machine.
    fn add(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
        unit: usize,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let more = desired.saturating_sub(current).saturating_mul(unit);
        if more > self.limit - self.used {
            return Err(MemoryError::Exceeded(self.limit).into());
        }
        self.used += more;
        Ok(true)
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.add(current, desired, maximum, 1)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.add(current, desired, maximum, ELEMENT_BYTES)
    }

    // Returning -1 for lack of memory would make the result depend on the machine.
    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        Err(MemoryError::Exhausted.into())
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        Err(MemoryError::Exhausted.into())
    }

    fn instances(&self) -> usize {
        1
    }
}
