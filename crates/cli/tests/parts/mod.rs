//! With programs of others: the module of a test is named after the part that it needs.

#[allow(dead_code, reason = "it has more than the one part here needs")]
#[path = "../../../runner/tests/parts/support.rs"]
mod started;
use crate::support;

mod sdk;
mod spec;
