//! A validator.

pub mod api;
pub mod backend;
