//! Builtin types, functions and native parts of modules: one file for each, each with its table.
//!
//! Consensus: a change here forks the chain.

mod builtins;
mod bytes;
mod codec;
mod dict;
mod encoding;
mod exceptions;
mod format;
mod format_spec;
mod generators;
#[cfg(test)]
mod grid;
mod hashlib;
mod int;
mod iterators;
mod kinds;
#[cfg(test)]
mod large;
mod list;
mod machinery;
mod math;
mod math_whole;
mod object;
pub(crate) mod operators;
pub(crate) mod precise;
mod reduce;
mod reflect;
mod regex;
mod set;
mod sort;
mod str;
mod str_search;
mod str_shape;
mod structs;
mod tuple;

use crate::run::native::Table;

/// All tables; the place of a native in their concatenation is its number.
pub(crate) const TABLES: &[Table] = &[
    builtins::TABLE,
    bytes::TABLE,
    dict::TABLE,
    format::TABLE,
    hashlib::TABLE,
    int::TABLE,
    iterators::TABLE,
    list::TABLE,
    machinery::TABLE,
    math::TABLE,
    math_whole::TABLE,
    object::TABLE,
    operators::TABLE,
    reduce::TABLE,
    regex::TABLE,
    set::TABLE,
    sort::TABLE,
    str::TABLE,
    str_search::TABLE,
    str_shape::TABLE,
    structs::TABLE,
    tuple::TABLE,
    codec::TABLE,
    reflect::TABLE,
    kinds::TABLE,
];
