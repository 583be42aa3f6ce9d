//! With programs of others: the module of a test is named after the part that it needs, so that what cannot be
//! installed is counted as skipped.

mod sdk;
use crate::world;
