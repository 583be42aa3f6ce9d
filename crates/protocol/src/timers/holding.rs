//! What one actor has waiting.

use super::tree::{Entry, Place};
use crate::sorted::{Item, Sorted};
use std::collections::BTreeMap;

/// An actor's waiting timers.
#[derive(Clone, Debug, Default)]
pub(super) enum Waiting {
    #[default]
    Nothing,
    One(Entry),
    Several(Sorted<Entry>),
}

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

    /// Timers put in and taken out.
    pub(super) fn edit(self, edits: BTreeMap<Place, Option<Entry>>) -> Self {
        let mut timers: Sorted<Entry> = match self {
            // What most timers do: they come alone and go alone.
            Self::Nothing if edits.len() == 1 => {
                return edits.into_values().next().flatten().map_or(Self::Nothing, Self::One);
            }
            Self::One(entry) if edits.len() == 1 && edits.contains_key(&entry.key()) => {
                return edits.into_values().next().flatten().map_or(Self::Nothing, Self::One);
            }
            Self::Nothing => Sorted::default(),
            Self::One(entry) => [entry].into_iter().collect(),
            Self::Several(timers) => timers,
        };
        timers.edit(edits);
        match timers.len() {
            0 => Self::Nothing,
            1 => timers.iter().next().map_or(Self::Nothing, |entry| Self::One(*entry)),
            _ => Self::Several(timers),
        }
    }
}
