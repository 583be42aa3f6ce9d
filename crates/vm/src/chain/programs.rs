//! Compiled programs, by the hash of their source: a call does not compile again. What is kept decides
//! about nothing but time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remuda_protocol::primitives::{B256, keccak256};

use crate::{CompileError, Program, compile};

/// Bytes of compiled programs that are kept.
const BYTES_KEPT: usize = 256 * 1024 * 1024;
/// The name that tracebacks show.
const FILE: &str = "actor.py";

#[derive(Debug, Default)]
struct Kept {
    programs: BTreeMap<B256, (Arc<Program>, u64, usize)>,
    /// Hashes by when they were last asked for.
    order: BTreeMap<u64, B256>,
    clock: u64,
    bytes: usize,
}

/// The programs of a process.
#[derive(Debug)]
pub(super) struct Programs(Mutex<Option<Kept>>);

impl Programs {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compiles a program and keeps it.
    pub(super) fn check(&self, source: &str) -> Result<(), CompileError> {
        let hash = keccak256(source);
        if self.find(hash).is_none() {
            self.keep(hash, Arc::new(compile(source, FILE)?));
        }
        Ok(())
    }

    /// The program of this hash; its source is asked for only if need be.
    pub(super) fn get(
        &self,
        hash: B256,
        source: impl FnOnce() -> Option<String>,
    ) -> Option<Arc<Program>> {
        if let Some(program) = self.find(hash) {
            return Some(program);
        }
        let source = source()?;
        let program = Arc::new(compile(&source, FILE).ok()?);
        self.keep(hash, Arc::clone(&program));
        Some(program)
    }

    fn find(&self, hash: B256) -> Option<Arc<Program>> {
        let mut kept = self.kept();
        let kept = kept.get_or_insert_default();
        kept.clock += 1;
        let now = kept.clock;
        let (program, asked, _) = kept.programs.get_mut(&hash)?;
        let before = core::mem::replace(asked, now);
        let program = Arc::clone(program);
        kept.order.remove(&before);
        kept.order.insert(now, hash);
        Some(program)
    }

    fn keep(&self, hash: B256, program: Arc<Program>) {
        let bytes = program.size();
        let mut kept = self.kept();
        let kept = kept.get_or_insert_default();
        kept.clock += 1;
        let now = kept.clock;
        if let Some((_, before, bytes)) = kept.programs.insert(hash, (program, now, bytes)) {
            kept.order.remove(&before);
            kept.bytes -= bytes;
        }
        kept.order.insert(now, hash);
        kept.bytes += bytes;
        while kept.bytes > BYTES_KEPT {
            let Some((_, oldest)) = kept.order.pop_first() else { return };
            if let Some((_, _, bytes)) = kept.programs.remove(&oldest) {
                kept.bytes -= bytes;
            }
        }
    }
}
