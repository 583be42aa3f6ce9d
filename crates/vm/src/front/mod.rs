//! From source text to bytecode: bounds, grammar, names, instructions.
//!
//! Consensus: a change here forks the chain.

use std::fmt;
use std::sync::{Arc, OnceLock};

mod call;
mod compiler;
mod comprehension;
mod digest;
mod display;
mod emit;
mod expr;
mod function;
mod modules;
mod names;
mod pattern;
mod prescan;
mod protect;
pub(crate) mod scope;
mod stars;
mod stmt;
mod target;
mod waiting;

use crate::code::Code;
use crate::contain::contained;
use crate::limits::COMPILE_STACK_BYTES;
use crate::run::load::Prepared;

/// Why a source is refused, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub message: String,
    /// What to do; empty if the message says it.
    pub advice: String,
}

impl CompileError {
    fn at(file: &str, source: &str, offset: usize, message: &str, advice: &str) -> Self {
        let before = source.get(..offset).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            file: file.to_owned(),
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.to_owned(),
            advice: advice.to_owned(),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if self.advice.is_empty() { Ok(()) } else { write!(f, " ({})", self.advice) }
    }
}

impl std::error::Error for CompileError {}

/// A constant or a name in the heap and among the interned ones, beside its text.
const NAME_BYTES: usize = 128;

/// A compiled program: its first code object is the module.
#[derive(Clone, Debug)]
pub struct Program {
    /// Shared by the machines that load it.
    pub(crate) codes: Vec<Arc<Code>>,
    pub(crate) hash: [u8; 32],
    open_handlers: Vec<String>,
    /// Made by the first machine that loads it.
    pub(crate) prepared: OnceLock<Prepared>,
}

impl Program {
    pub(crate) fn new(codes: Vec<Code>, open_handlers: Vec<String>) -> Self {
        let hash = digest::digest(&codes);
        let codes = codes.into_iter().map(Arc::new).collect();
        Self { codes, hash, open_handlers, prepared: OnceLock::new() }
    }

    /// Names of functions and methods under `@callback(anyone=True)`, ascending. Chains refuse a job of
    /// another submitter whose callback has a different name; the mark that the decorator leaves
    /// decides when the handler is called.
    pub fn open_handlers(&self) -> &[String] {
        &self.open_handlers
    }

    /// Bytes that it takes in memory, about, with what machines that run it share.
    pub(crate) fn size(&self) -> usize {
        self.codes.iter().map(|code| 2 * code.size() + code.mentioned() * NAME_BYTES).sum()
    }

    /// What identifies the code: equal for sources that compile to the same instructions, constants,
    /// names and lines. Frames that wait carry it.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }
}

/// Compiles a module.
///
/// Parser, compiler and destructor follow the tree by calling themselves. How deep it is has a bound; the
/// stack is always the same, so that no thread refuses, or dies of, what another one compiles.
pub fn compile(source: &str, file: &str) -> Result<Program, CompileError> {
    compile_as(source, file, false)
}

/// Compiles a plain script, which may import what means nothing to an actor.
pub(crate) fn compile_script(source: &str, file: &str) -> Result<Program, CompileError> {
    compile_as(source, file, true)
}

fn compile_as(source: &str, file: &str, script: bool) -> Result<Program, CompileError> {
    let compile = || contained(|| compile_here(source, file, script));
    let compiled = stacker::grow(COMPILE_STACK_BYTES, compile);
    compiled.unwrap_or_else(|| {
        let message = "the compiler stopped at a rule of its own";
        Err(CompileError::at(file, source, 0, message, "write it differently, and report it"))
    })
}

fn compile_here(source: &str, file: &str, script: bool) -> Result<Program, CompileError> {
    prescan::prescan(source, file)?;
    let parsed = ruff_python_parser::parse_module(source).map_err(|error| {
        let offset = error.location.start().to_usize();
        CompileError::at(file, source, offset, &error.error.to_string(), "")
    })?;
    prescan::names(source, file, parsed.tokens())?;
    let body = parsed.suite();
    let scopes = scope::analyse(body, source, file)?;
    compiler::Compiler::new(source, file, scopes, script).module(body)
}
