//! What one actor has waiting.
//!
//! Local: a change here needs no agreement among validators. `tests/timer_index.rs` compares the
//! results with the plain rules in `order` and `fairness`.

use super::tree::{Entry, Place};
use crate::base::sorted::{Item, Sorted};

/// Where an actor's waiting timers are in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// Its only one is among the group's timers.
    One(Place),
    /// It is among the group's actors.
    Several(Place),
}

#[derive(Clone, Debug, Default)]
pub(super) enum Waiting {
    #[default]
    Nothing,
    One(Entry),
    Several(Sorted<Entry>),
}

/// Timers to be put in or taken out, ascending by their places.
pub(super) type OwnEdits<'e> = [(Place, Option<&'e Entry>)];

impl Waiting {
    pub(super) fn has(&self, place: &Place) -> bool {
        match self {
            Self::Nothing => false,
            Self::One(entry) => entry.key() == *place,
            Self::Several(timers) => timers.get(place).is_some(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::One(_) => 1,
            Self::Several(timers) => timers.len(),
        }
    }

    /// Timers put in and taken out. `leaf` is a place to work in.
    pub(super) fn edit(self, edits: &OwnEdits<'_>, leaf: &mut Vec<Entry>) -> Self {
        let mut timers: Sorted<Entry> = match (self, edits) {
            (waiting, []) => return waiting,
            // What most timers do: they come alone and go alone.
            (Self::Nothing, [(_, only)]) => return only.copied().map_or(Self::Nothing, Self::One),
            (Self::One(entry), [(place, only)]) if entry.key() == *place => {
                return only.copied().map_or(Self::Nothing, Self::One);
            }
            (Self::Nothing, _) => Sorted::default(),
            (Self::One(entry), _) => [entry].into_iter().collect(),
            (Self::Several(timers), _) => timers,
        };
        timers.edit_in(edits.iter().map(|(place, entry)| (*place, entry.copied())), leaf);
        match timers.len() {
            0 => Self::Nothing,
            1 => timers.iter().next().map_or(Self::Nothing, |entry| Self::One(*entry)),
            _ => Self::Several(timers),
        }
    }
}
