//! Where rows live. Each store runs [`crate::lease::handle`] in a transaction of its own kind; none
//! has a rule of its own, and all are put under the same tests.

mod tables;

pub use tables::Tables;
