//! Programs of jobs, in WebAssembly, named by the BLAKE3 hash of their module.
//!
//! A job chooses among programs that somebody vouches for: the operator by a list, or governance by
//! a pin that the chain knows. The operator puts the modules into a folder; what is loaded from it
//! has the hash that it was asked for, whatever the file is called.
//!
//! # For authors of programs
//!
//! A module imports nothing and exports three things:
//!
//! - `memory`: its memory
//! - `alloc(len: i32) -> i32`: where in that memory there is room for `len` bytes. Called once, for
//!   the job's params, also if there are none.
//! - `run(ptr: i32, len: i32) -> i64`: the work. The params are at `ptr`. Returns where the result
//!   is: its address in the upper 32 bits, its length in the lower ones.
//!
//! A program that cannot do its work traps, with `unreachable` for example. One asked for JSON
//! returns a document as SPEC §1 accepts it, and its canonical form is the result; one asked for
//! text returns UTF-8. A start function is run first, if there is one.
//!
//! WebAssembly 2.0 is spoken, without `externref`; no threads, no relaxed SIMD, no WASI, no clock and
//! no randomness. NaNs have one form. So a result is a function of module and params.
//!
//! # Limits
//!
//! An instruction costs one unit of fuel, and so does a byte that `memory.copy` and its like move; a
//! page of memory costs [`PAGE_FUEL`]. A job has [`FUEL_PER_SECOND`] for each second that it may
//! take, the same on every runner, unless an operator gives less. Memory and tables together have
//! what the job allows, or less if the operator does. To ask for more is to fail, not to get -1: so
//! an operator's limits decide whether there is a result, never which. Calls nest as deep as 512 KiB
//! of stack reach, which depends on the processor; deeper is a failure too. The clock is only there
//! for machines that are too slow. Nothing is tried again: it would end the same way.

mod engine;
mod limits;
mod modules;
mod program;

pub use engine::PAGE_FUEL;
pub use modules::ModuleError;

use super::document::{finish, within};
use super::{ExecuteError, Work};
use limits::Limits;
use modules::Modules;
use program::{Run, Stop};
use remuda_protocol::dispatcher::spec::{DataFormat, JobType};
use remuda_protocol::primitives::B256;
use remuda_protocol::verifier::json::parse;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use thiserror::Error;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use wasmtime::Engine;

/// Fuel for each second of `max_wall_time_seconds`. Machines of today burn several times as much, so
/// it is fuel that ends a program, on all runners alike, and not the clock.
pub const FUEL_PER_SECOND: u64 = 100_000_000;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WasmConfig {
    /// Folder with the modules: `<BLAKE3 in hex>.wasm`.
    pub folder: PathBuf,
    /// Programs that jobs may use, by their hash in hex. Their modules must be there.
    pub allow: Vec<String>,
    /// Also run programs that governance pins, if their modules are installed.
    pub allow_pinned: bool,
    /// Bytes of a module. Compiling it takes many times as much memory, and cannot be interrupted.
    pub module_bytes_max: usize,
    /// Bytes of memory and tables for a program. A job with less has less.
    pub memory_bytes_max: usize,
    /// Fuel for a program. A job with less has less.
    pub fuel_max: u64,
    /// Compiled modules that are kept for the next job.
    pub kept_max: usize,
}

impl Default for WasmConfig {
    fn default() -> Self {
        Self {
            folder: "modules".into(),
            allow: vec![],
            allow_pinned: true,
            module_bytes_max: 4 * 1024 * 1024,
            memory_bytes_max: 512 * 1024 * 1024,
            fuel_max: 300 * FUEL_PER_SECOND,
            kept_max: 16,
        }
    }
}

impl WasmConfig {
    /// Programs that are in the folder, by their names, and that may be run if governance vouches for
    /// them. Whether they are what they are called is seen when one is loaded.
    pub fn pinnable(&self) -> Vec<B256> {
        if !self.allow_pinned {
            return Vec::new();
        }
        let Ok(files) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let hash = |file: std::fs::DirEntry| {
            let name = file.file_name();
            name.to_str()?.strip_suffix(".wasm")?.parse().ok()
        };
        files.filter_map(Result::ok).filter_map(hash).collect()
    }
}

/// Why an operator's programs cannot be used.
#[derive(Debug, Error)]
pub enum WasmError {
    #[error("{0:?} is not a BLAKE3 hash: write 64 hexadecimal digits")]
    BadHash(String),
    #[error("folder {} does not exist: create it with the modules, or remove [wasm]", .0.display())]
    NoFolder(PathBuf),
    /// A program that is allowed, and is not there.
    #[error("program {hash}: {reason}")]
    Module {
        hash: B256,
        /// What is wrong with it.
        reason: ModuleError,
    },
}

pub struct Wasm {
    engine: Engine,
    modules: Modules,
    allow: BTreeSet<B256>,
    allow_pinned: bool,
    memory_bytes_max: usize,
    fuel_max: u64,
}

impl Wasm {
    /// With an operator's programs. Reads each of them once, to say early if one is missing.
    pub fn new(config: &WasmConfig) -> Result<Self, WasmError> {
        if !config.folder.is_dir() {
            return Err(WasmError::NoFolder(config.folder.clone()));
        }
        let read = |text: &String| text.parse().map_err(|_| WasmError::BadHash(text.clone()));
        let allow = config.allow.iter().map(read).collect::<Result<BTreeSet<B256>, _>>()?;
        let engine = engine::new();
        let modules = Modules::new(&engine, config);
        for hash in &allow {
            let found = modules.check(*hash);
            found.map_err(|reason| WasmError::Module { hash: *hash, reason })?;
        }
        Ok(Self {
            engine,
            modules,
            allow,
            allow_pinned: config.allow_pinned,
            memory_bytes_max: config.memory_bytes_max,
            fuel_max: config.fuel_max,
        })
    }

    /// The operator's programs, for the runner to advertise.
    pub fn programs(&self) -> impl Iterator<Item = B256> {
        self.allow.iter().copied()
    }

    /// `pinned`: governance vouches for the program.
    pub async fn execute(&self, work: &Work<'_>, pinned: bool) -> Result<Vec<u8>, ExecuteError> {
        let JobType::Custom { executor_hash, params } = &work.spec.job_type else {
            return Err(ExecuteError::BadJob("no program to run".into()));
        };
        let vouched = self.allow.contains(executor_hash) || (pinned && self.allow_pinned);
        if !vouched {
            let reason = format!("the program {executor_hash} is on no list here");
            return Err(ExecuteError::NotAllowed(reason));
        }
        let result = timeout(work.time_limit, self.run(work, *executor_hash, params))
            .await
            .map_err(|_| ExecuteError::TimedOut(work.time_limit))??;
        shape(work, result)
    }

    async fn run(
        &self,
        work: &Work<'_>,
        hash: B256,
        params: &[u8],
    ) -> Result<Vec<u8>, ExecuteError> {
        let module = self.modules.get(hash).await?;
        // Dropping the future stops the program.
        let stop = Stop::new(&self.engine);
        let run = Run {
            module,
            params: params.to_vec(),
            limits: self.limits(work),
            stopped: stop.flag(),
        };
        spawn_blocking(move || run.finish())
            .await
            .unwrap_or_else(|_| Err(ExecuteError::Program("it broke the engine".into())))
    }

    fn limits(&self, work: &Work<'_>) -> Limits {
        let bounds = &work.spec.bounds;
        let seconds = u64::from(bounds.max_wall_time_seconds);
        let memory = (bounds.max_memory_mb as usize).saturating_mul(1024 * 1024);
        Limits {
            fuel: self.fuel_max.min(seconds * FUEL_PER_SECOND),
            memory_bytes: self.memory_bytes_max.min(memory),
            result_bytes: work.max_bytes(),
        }
    }
}

/// The result in the job's form.
fn shape(work: &Work<'_>, result: Vec<u8>) -> Result<Vec<u8>, ExecuteError> {
    let bad = |reason: String| ExecuteError::Program(reason);
    match work.spec.result_schema.data_format {
        DataFormat::Bytes => within(work, result),
        DataFormat::Text => match String::from_utf8(result) {
            Ok(text) => within(work, text.into_bytes()),
            Err(_) => Err(bad("its result is not UTF-8".into())),
        },
        DataFormat::Json => {
            let document = parse(&result);
            let document =
                document.map_err(|error| bad(format!("its result is no JSON: {error}")))?;
            finish(work, &document)
        }
    }
}
