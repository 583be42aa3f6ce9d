//! Whole networks in one process, from one seed: the same seed gives the same run, byte for byte.

pub mod consensus;
