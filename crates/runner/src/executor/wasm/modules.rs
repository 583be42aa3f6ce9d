//! Modules from the operator's folder, compiled, the latest ones kept.

use super::WasmConfig;
use crate::executor::ExecuteError;
use data_encoding::HEXLOWER;
use remuda_protocol::primitives::B256;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use thiserror::Error;
use tokio::task::spawn_blocking;
use wasmtime::{Engine, Module};

/// Characters of the engine's own words that are passed on: they quote names of the module.
const WORDS_MAX: usize = 200;

/// Why a module cannot be used.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// There is no such file.
    #[error("file {0} does not exist")]
    Missing(PathBuf),
    /// The file cannot be read.
    #[error("cannot read its file: {0}")]
    Unreadable(#[from] io::Error),
    /// More bytes than a module may have.
    #[error("module too large: more than {0} bytes")]
    TooLarge(usize),
    /// Not what it is called.
    #[error("its file has another hash: {0}")]
    OtherHash(B256),
    /// Nothing that can be run.
    #[error("invalid module: {0}")]
    Malformed(String),
    /// It wants more than its params.
    #[error("imports are not allowed, and it imports {0}")]
    Imports(String),
}

impl From<ModuleError> for ExecuteError {
    /// Published errors do not name the operator's folders.
    fn from(error: ModuleError) -> Self {
        match error {
            ModuleError::Missing(_) => Self::NotAllowed("the program is not here".into()),
            ModuleError::Unreadable(_) => Self::Unreachable("the program's file".into()),
            ModuleError::OtherHash(_) => {
                Self::NotAllowed("the program's file holds another one".into())
            }
            ModuleError::TooLarge(_) => Self::NotAllowed(format!("the program has {error}")),
            error => Self::Program(error.to_string()),
        }
    }
}

#[derive(Clone)]
pub(super) struct Modules {
    engine: Engine,
    folder: PathBuf,
    bytes_max: usize,
    kept_max: usize,
    /// The latest last.
    kept: Arc<Mutex<Vec<(B256, Module)>>>,
    /// Compiling takes long and a lot of memory: one at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Modules {
    /// Those of an operator; nothing is compiled yet.
    pub(super) fn new(engine: &Engine, config: &WasmConfig) -> Self {
        Self {
            engine: engine.clone(),
            folder: config.folder.clone(),
            bytes_max: config.module_bytes_max,
            kept_max: config.kept_max.max(1),
            kept: Arc::default(),
            turn: Arc::default(),
        }
    }

    /// Whether the module is installed.
    pub(super) fn check(&self, hash: B256) -> Result<(), ModuleError> {
        self.read(hash).map(|_| ())
    }

    /// Compiles a module, or takes it from the cache. A cancelled compilation completes for the next job.
    pub(super) async fn get(&self, hash: B256) -> Result<Module, ExecuteError> {
        if let Some(module) = self.kept(hash) {
            return Ok(module);
        }
        let turn = self.turn.clone().lock_owned().await;
        if let Some(module) = self.kept(hash) {
            return Ok(module);
        }
        let modules = self.clone();
        let compiling = spawn_blocking(move || {
            let _turn = turn;
            let module = modules.compile(hash)?;
            modules.keep(hash, module.clone());
            Ok(module)
        });
        match compiling.await {
            Ok(end) => end.map_err(ModuleError::into),
            Err(_) => Err(ExecuteError::Program("it broke the compiler".into())),
        }
    }

    fn kept(&self, hash: B256) -> Option<Module> {
        let mut kept = self.kept.lock().expect("nobody panics with it");
        let at = kept.iter().position(|(known, _)| *known == hash)?;
        kept[at..].rotate_left(1);
        kept.last().map(|(_, module)| module.clone())
    }

    fn keep(&self, hash: B256, module: Module) {
        let mut kept = self.kept.lock().expect("nobody panics with it");
        if kept.len() == self.kept_max {
            kept.remove(0);
        }
        kept.push((hash, module));
    }

    fn compile(&self, hash: B256) -> Result<Module, ModuleError> {
        let bytes = self.read(hash)?;
        let module = Module::from_binary(&self.engine, &bytes)
            .map_err(|error| ModuleError::Malformed(words(&error.root_cause().to_string())))?;
        let import = module.imports().next();
        match import.map(|import| words(&format!("{}.{}", import.module(), import.name()))) {
            None => Ok(module),
            Some(name) => Err(ModuleError::Imports(name)),
        }
    }

    fn read(&self, hash: B256) -> Result<Vec<u8>, ModuleError> {
        let path = self.folder.join(format!("{}.wasm", HEXLOWER.encode(&hash[..])));
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ModuleError::Missing(path),
            _ => error.into(),
        })?;
        let mut bytes = Vec::new();
        file.take(self.bytes_max as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > self.bytes_max {
            return Err(ModuleError::TooLarge(self.bytes_max));
        }
        match B256::from(*blake3::hash(&bytes).as_bytes()) {
            found if found == hash => Ok(bytes),
            found => Err(ModuleError::OtherHash(found)),
        }
    }
}

/// Words for strangers: not many, and none that move a cursor.
fn words(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(WORDS_MAX).collect()
}
