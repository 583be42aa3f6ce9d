//! With programs of others: the module of a test is named after the part that it needs.

#[path = "../support/mod.rs"]
mod support;

mod sdk;
