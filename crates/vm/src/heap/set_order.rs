//! The order of whole numbers in sets.
//!
//! Where a program can know in which order CPython walks over a set, it is the same here: numbers hash
//! to themselves, so their places in its table follow from how it was filled. Everything else that can be
//! in a set has hashes there that change from run to run, or addresses; such sets keep the order of
//! insertion.

/// Places that are tried one after the other before the search jumps.
const LINEAR_PROBES: usize = 9;
const LEAST_ROOM: usize = 8;
/// Places that are looked at for a number among others without being counted.
const USUAL_PROBES: usize = 16;

/// A table of places, as CPython fills it.
struct Slots {
    slots: Vec<Option<u32>>,
    fill: usize,
}

impl Slots {
    fn new(room: usize) -> Self {
        Self { slots: vec![None; room.max(LEAST_ROOM)], fill: 0 }
    }

    /// Returns how many places were looked at beyond those that are usual.
    fn insert(&mut self, number: i64, place: u32) -> usize {
        // Minus one is the sign of an error there, and hashes to minus two.
        let hash = if number == -1 { -2 } else { number } as u64;
        let mask = self.slots.len() - 1;
        let (mut at, mut perturb) = (hash as usize & mask, hash);
        let mut looked = 0usize;
        loop {
            let probes = if at + LINEAR_PROBES <= mask { LINEAR_PROBES } else { 0 };
            if let Some(free) = (at..=at + probes).find(|slot| self.slots[*slot].is_none()) {
                self.slots[free] = Some(place);
                self.fill += 1;
                return looked.saturating_sub(USUAL_PROBES);
            }
            looked += probes + 1;
            perturb >>= 5;
            at = at.wrapping_mul(5).wrapping_add(1).wrapping_add(perturb as usize) & mask;
        }
    }

    /// The places in their order.
    fn order(&self) -> Vec<u32> {
        self.slots.iter().copied().flatten().collect()
    }

    fn crowded(&self) -> bool {
        self.fill * 5 >= (self.slots.len() - 1) * 3
    }
}

fn room_above(count: usize) -> usize {
    (count + 1).next_power_of_two().max(LEAST_ROOM)
}

/// The room of a set that takes the elements of another one at once.
pub(crate) fn merged_room(count: usize) -> usize {
    if count * 5 >= (LEAST_ROOM - 1) * 3 { room_above(count * 2) } else { LEAST_ROOM }
}

/// The order of numbers that were added one by one, the first `known` of them to a table that had this
/// room; the room that it has then; and the steps that numbers in each other's way took.
pub(crate) fn order(numbers: &[i64], known: usize, room: usize) -> (Vec<u32>, usize, usize) {
    let mut slots = Slots::new(room);
    let mut steps = 0;
    for (place, number) in numbers.iter().enumerate() {
        steps += slots.insert(*number, place as u32);
        if place >= known && slots.crowded() {
            let factor = if slots.fill > 50_000 { 2 } else { 4 };
            let mut larger = Slots::new(room_above(slots.fill * factor));
            for place in slots.order() {
                steps += larger.insert(numbers[place as usize], place);
            }
            slots = larger;
        }
    }
    (slots.order(), slots.slots.len(), steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(numbers: &[i64]) -> Vec<i64> {
        order(numbers, 0, 0).0.into_iter().map(|place| numbers[place as usize]).collect()
    }

    #[test]
    fn small_numbers_ascend_and_others_lie_by_their_remainders() {
        assert_eq!(ordered(&[3, 1, 2]), [1, 2, 3]);
        assert_eq!(ordered(&[10, 20, 30, 40, 50]), [40, 10, 50, 20, 30]);
        assert_eq!(ordered(&[8, 0]), [8, 0]);
        assert_eq!(ordered(&[-1, -2, 5]), [5, -1, -2]);
        assert_eq!(merged_room(4), 8);
        assert_eq!(merged_room(5), 16);
    }
}
