//! Regular expressions in linear time: Python's syntax without what needs backtracking, compiled to a
//! small program of its own, run by following all ways at once in order of preference. What matches is
//! what Python's matcher would find first; what it costs is at most text times program, charged step by
//! step before each is made.
//!
//! Consensus: a change here forks the chain.
//!
//! Looking ahead and behind is answered for every place before the search (`look`).
//!
//! Not supported, and said so when a pattern is compiled: backreferences, conditional, atomic and
//! possessive groups.
//!
//! A compiled program is a string of bytes, so that it lives in the heap like any value and is written
//! down with a suspended call. It is checked each time it is used: programs can make bytes, too.

mod emit;
mod escape;
mod look;
mod matcher;
mod parse;
mod program;

pub(crate) use look::Looks;
pub(crate) use matcher::{Fuel, Search, Text, all_matches, search};
pub(crate) use parse::compile;
pub(crate) use program::{Program, digit, is_digit};

pub(crate) mod flag {
    pub(crate) const IGNORECASE: u32 = 2;
    pub(crate) const MULTILINE: u32 = 8;
    pub(crate) const DOTALL: u32 = 16;
    pub(crate) const UNICODE: u32 = 32;
    pub(crate) const VERBOSE: u32 = 64;
    pub(crate) const ASCII: u32 = 256;
}

const PATTERN_BYTES_MAX: usize = 8 * 1024;
/// Instructions of a program; counted repetitions are copies.
const INSTRUCTIONS_MAX: usize = 8 * 1024;
const GROUPS_MAX: usize = 64;
const LOOKS_MAX: usize = 16;
/// Groups inside groups; the parser calls itself.
const NESTING_MAX: usize = 60;
