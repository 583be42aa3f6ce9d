//! The Runner Registry (0x01): who runs, with what stake, and how well.

pub mod pool;
pub mod register;
pub mod reputation;
pub mod runner;
pub mod stake;
pub mod standing;
pub mod unbonding;
pub mod versioned;
