//! A set of places, one bit each: 64 of them are looked at in one step.

#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Room for this many places, none of them in it.
    pub(super) fn with_room(places: usize) -> Self {
        Self { words: vec![0; places.div_ceil(64)] }
    }

    /// Says whether it was not there.
    #[inline]
    pub(super) fn insert(&mut self, place: usize) -> bool {
        if place / 64 >= self.words.len() {
            self.words.resize(place / 64 + 1, 0);
        }
        let (word, bit) = (&mut self.words[place / 64], 1 << (place % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Takes all out that are not in the other one, from the back.
    pub(super) fn retain(&mut self, other: &Self, mut gone: impl FnMut(usize)) {
        for (number, word) in self.words.iter_mut().enumerate().rev() {
            let kept = other.words.get(number).copied().unwrap_or(0);
            let mut dead = *word & !kept;
            *word &= kept;
            while dead != 0 {
                let bit = 63 - dead.leading_zeros();
                dead ^= 1 << bit;
                gone(number * 64 + bit as usize);
            }
        }
    }

    /// In order.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut places = Vec::new();
        for (number, word) in self.words.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                places.push(number * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn what_is_not_retained_goes_from_the_back() {
        let mut all = Bits::default();
        let mut kept = Bits::with_room(10);
        for place in [3, 64, 0, 700, 65, 127] {
            assert!(all.insert(place));
            assert!(!all.insert(place));
        }
        kept.insert(64);
        kept.insert(3);
        assert_eq!(all.places(), [0, 3, 64, 65, 127, 700]);
        let mut gone = Vec::new();
        all.retain(&kept, |place| gone.push(place));
        assert_eq!(gone, [700, 127, 65, 0]);
        assert_eq!(all.places(), [3, 64]);
    }

    #[test]
    fn places_that_are_free_are_passed_over_64_at_a_time() {
        let mut taken = Bits::default();
        taken.insert(60_000);
        assert_eq!(taken.words.len(), 60_000 / 64 + 1);
        let mut gone = Vec::new();
        taken.retain(&Bits::default(), |place| gone.push(place));
        assert_eq!(gone, [60_000]);
    }
}
