//! Indexes: what follows from the state and is not state.
//!
//! Local: a change here needs no agreement among validators, except in modules that say
//! `Consensus`.
//!
//! Building an index costs a walk over all runners or all timers, so each view carries its own along:
//! a block takes those of its parent and leaves those that follow from it in its
//! [`Outcome`](crate::chain::execute::Outcome).

pub(crate) mod roster;
pub(crate) mod subsets;
mod timers;

use crate::base::state::View;
use crate::chain::index::subsets::Subsets;
use crate::rules::dispatcher::roster::Roster;
use crate::rules::timers::index::TimerIndex;

/// A view that carries the indexes along. A block is applied to one.
pub trait Indexed: View {
    /// The runners, arranged for selection ([`Roster::load`]).
    fn roster(&self) -> Roster;

    /// The validators' lists of runners ([`Subsets::load`]).
    fn subsets(&self) -> Subsets;

    fn timers(&self) -> TimerIndex;
}
