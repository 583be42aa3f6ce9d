//! Compiled programs, by the hash of their source: a call does not compile again. What is kept decides
//! about nothing but time.
//!
//! Local: a change here needs no agreement among validators. The tests compare machines with and
//! without room.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remuda_protocol::primitives::{B256, keccak256};

use crate::{CompileError, Program, compile};

/// Bytes of compiled programs that are kept: far more than a block can pay to compile, so what its first
/// calls compiled is there for the others.
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
pub(super) struct Programs {
    room: usize,
    kept: Mutex<Option<Kept>>,
}

impl Programs {
    pub(super) const fn new() -> Self {
        Self::with_room(BYTES_KEPT)
    }

    /// Keeps this many bytes of programs.
    pub(super) const fn with_room(room: usize) -> Self {
        Self { room, kept: Mutex::new(None) }
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compiles a program and keeps it. The handlers that it opens to others' jobs.
    pub(super) fn check(&self, source: &str) -> Result<Vec<String>, CompileError> {
        let hash = keccak256(source);
        if let Some(program) = self.find(hash) {
            return Ok(program.open_handlers().to_vec());
        }
        let program = Arc::new(compile(source, FILE)?);
        let open = program.open_handlers().to_vec();
        self.keep(hash, program);
        Ok(open)
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
        while kept.bytes > self.room {
            let Some((_, oldest)) = kept.order.pop_first() else { return };
            if let Some((_, _, bytes)) = kept.programs.remove(&oldest) {
                kept.bytes -= bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(number: usize) -> String {
        format!("def f():\n    return {number}\n")
    }

    #[test]
    fn program_cache_is_lru_and_reloads() {
        let size = compile(&source(0), FILE).unwrap().size();
        let programs = Programs::with_room(3 * size);
        for number in 0..3 {
            programs.check(&source(number)).unwrap();
        }
        let hash = |number| keccak256(source(number));
        assert!(programs.find(hash(0)).is_some());
        programs.check(&source(3)).unwrap();
        let kept: Vec<bool> = (0..4).map(|number| programs.find(hash(number)).is_some()).collect();
        assert_eq!(kept, [true, false, true, true]);
        assert!(programs.get(hash(1), || Some(source(1))).is_some());
        assert!(programs.find(hash(0)).is_none());
        assert_eq!(programs.kept().as_ref().map(|kept| kept.bytes), Some(3 * size));
    }

    #[test]
    fn program_cache_without_room_still_answers() {
        let programs = Programs::with_room(0);
        let hash = keccak256(source(7));
        for _ in 0..2 {
            assert!(programs.get(hash, || Some(source(7))).is_some());
            assert!(programs.find(hash).is_none());
        }
    }
}
