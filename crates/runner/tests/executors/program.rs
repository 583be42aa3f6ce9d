//! Programs to execute, written as text, in a folder of their own.

use crate::executors::job::job;
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_protocol::primitives::B256;
use remuda_runner::executor::wasm::{Wasm, WasmConfig};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns its params.
pub(crate) const ECHO: &str = "(i64.or
    (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32))
    (i64.extend_i32_u (local.get $length)))";

/// A module with a memory of one page, room for params at 1024, and some work.
pub(crate) fn module(run: &str) -> String {
    module_with("(memory (export \"memory\") 1)", run)
}

/// A module with some other memory, or more than that.
pub(crate) fn module_with(more: &str, run: &str) -> String {
    format!(
        "(module {more}
            (func (export \"alloc\") (param i32) (result i32) (i32.const 1024))
            (func (export \"run\") (param $at i32) (param $length i32) (result i64) {run}))"
    )
}

/// A folder of modules, that goes when this does.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// An empty one.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("remuda-modules-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Adds a module by its text.
    pub(crate) fn add(&self, text: &str) -> B256 {
        self.add_bytes(&wat::parse_str(text).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Adds any file under the name of its hash.
    pub(crate) fn add_bytes(&self, bytes: &[u8]) -> B256 {
        let hash = B256::from(*blake3::hash(bytes).as_bytes());
        std::fs::write(self.file(hash), bytes).unwrap();
        hash
    }

    /// Where a module is.
    pub(crate) fn file(&self, hash: B256) -> PathBuf {
        self.0.join(format!("{hash:x}.wasm").trim_start_matches("0x"))
    }

    /// Settings that allow some programs, with generous limits.
    pub(crate) fn config(&self, allow: &[B256]) -> WasmConfig {
        let allow = allow.iter().map(B256::to_string).collect();
        WasmConfig { folder: self.0.clone(), allow, ..Default::default() }
    }

    /// An executor for some programs.
    pub(crate) fn allowing(&self, allow: &[B256]) -> Wasm {
        Wasm::new(&self.config(allow)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A job of a program, for its bytes as they are.
pub(crate) fn custom(executor_hash: B256, params: &[u8]) -> JobSpec {
    job(JobType::Custom { executor_hash, params: params.into() }, DataFormat::Bytes)
}
