//! Places of objects. Those of the image are shared by all machines, those of a program's constants by
//! all that run it; a machine that changes one has a copy of its own from then on. So a new machine costs
//! next to nothing.

use std::sync::Arc;

use super::object::Obj;

#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) obj: Obj,
    pub(super) size: u32,
    /// A str that is known by its text.
    pub(super) named: bool,
    /// It has been asked for its identity.
    pub(super) identified: bool,
}

/// Slots that a machine has copies of, by their place in the page.
type Page = [Option<Box<Slot>>; PAGE];
/// Few machines change more than a handful of the image's objects.
const PAGE: usize = 128;

#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    image: Arc<Vec<Slot>>,
    /// The program's constants, which follow the image: shared by all machines that run it.
    program: Arc<[Slot]>,
    /// How many are the image's, and how many these are together.
    image_len: usize,
    shared: usize,
    /// Pages of the shared ones in which something was changed; empty as long as nothing was.
    changed: Vec<Option<Box<Page>>>,
    own: Vec<Slot>,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.shared + self.own.len()
    }

    /// Places below are the image's and the program's.
    pub(super) fn shared(&self) -> usize {
        self.shared
    }

    /// Everything that is here now becomes the image.
    pub(super) fn share(&mut self) {
        self.image = Arc::new(std::mem::take(&mut self.own));
        self.image_len = self.image.len();
        self.shared = self.image_len;
    }

    /// Everything that is here beyond the image, for other machines to take over.
    pub(super) fn take_own(&mut self) -> Arc<[Slot]> {
        std::mem::take(&mut self.own).into()
    }

    /// Takes over the constants of a program; there is nothing beyond the image yet.
    pub(super) fn set_program(&mut self, program: &Arc<[Slot]>) {
        self.program = Arc::clone(program);
        self.shared = self.image_len + self.program.len();
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> &Slot {
        match place.checked_sub(self.shared) {
            Some(own) => &self.own[own],
            None => self.get_shared(place),
        }
    }

    #[inline]
    fn get_shared(&self, place: usize) -> &Slot {
        // Constants are immutable: a copy would be the same.
        match place.checked_sub(self.image_len) {
            Some(constant) => &self.program[constant],
            None => self.copy(place).unwrap_or(&self.image[place]),
        }
    }

    #[inline]
    fn copy(&self, place: usize) -> Option<&Slot> {
        self.changed.get(place / PAGE)?.as_ref()?[place % PAGE].as_deref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, place: usize) -> &mut Slot {
        match place.checked_sub(self.shared) {
            Some(own) => &mut self.own[own],
            None => self.change(place),
        }
    }

    #[cold]
    fn change(&mut self, place: usize) -> &mut Slot {
        if self.changed.is_empty() {
            self.changed.resize(self.shared / PAGE + 1, None);
        }
        let unchanged = match place.checked_sub(self.image_len) {
            Some(constant) => &self.program[constant],
            None => &self.image[place],
        };
        let page =
            self.changed[place / PAGE].get_or_insert_with(|| Box::new([const { None }; PAGE]));
        page[place % PAGE].get_or_insert_with(|| Box::new(unchanged.clone()))
    }

    pub(super) fn push(&mut self, slot: Slot) {
        self.own.push(slot);
    }

    /// Shared places that were changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = usize> {
        let pages = self.changed.iter().enumerate();
        let pages = pages.filter_map(|(number, page)| Some((number * PAGE, page.as_ref()?)));
        pages.flat_map(|(first, page)| {
            let slots = page.iter().enumerate();
            slots.filter(|(_, slot)| slot.is_some()).map(move |(at, _)| first + at)
        })
    }
}
