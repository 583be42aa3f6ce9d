//! Whole networks in one process: from one seed on a simulated network, or on this machine's own.

pub mod consensus;
pub mod machine;
