//! Room that objects hold beyond their contents. The account goes by contents alone, so that it is the
//! same in every machine; hence no object may hold much more than it accounts for.

use super::object::Obj;

/// Values and bytes of room beside twice the contents. Little, as there may be very many such objects.
const SPARE_VALUES: usize = 8;
const SPARE_BYTES: usize = 64;

/// Gives back what is not used. To come here again a vector must lose or gain half of its contents, so
/// that copying is paid for by what changed it.
pub(super) fn trim<T>(items: &mut Vec<T>, spare: usize) {
    if items.capacity() > 2 * items.len() + spare {
        items.shrink_to_fit();
    }
}

impl Obj {
    /// Gives back room that its contents do not explain.
    #[inline]
    pub(super) fn trim(&mut self) {
        match self {
            Obj::List(items) => trim(items, SPARE_VALUES),
            Obj::ByteArray(bytes) => trim(bytes, SPARE_BYTES),
            Obj::Dict(table) => table.trim(SPARE_VALUES),
            Obj::Set(set) | Obj::FrozenSet(set) => set.trim(SPARE_VALUES),
            _ => {}
        }
    }

    /// Bytes that it really holds beside its place.
    pub(super) fn held(&self) -> usize {
        match self {
            Obj::List(items) => items.capacity() * size_of::<super::value::Value>(),
            Obj::ByteArray(bytes) => bytes.capacity(),
            Obj::Dict(table) => table.held(),
            Obj::Set(set) | Obj::FrozenSet(set) => set.held(),
            other => other.size(),
        }
    }
}
