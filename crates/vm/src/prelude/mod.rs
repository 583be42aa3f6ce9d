//! What is written in Python: the slow ways of operations that need a program's own methods, and the
//! modules that are no faster in Rust. Compiled once; charged like any code.

/// Module names and sources, in the order in which they are loaded.
pub(crate) const MODULES: &[(&str, &str)] = &[("prelude", include_str!("core.py"))];
