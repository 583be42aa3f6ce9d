//! Values: small, copied freely; what is larger lives in the heap.

/// A place in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Handle(pub(crate) u32);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// No value: an unassigned variable, a deleted entry, a missing argument.
    Unbound,
    None,
    NotImplemented,
    Ellipsis,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A function of ours, by its number in the table.
    Native(u16),
    Ref(Handle),
}

impl Value {
    /// Python's `is`.
    pub(crate) fn is(self, other: Value) -> bool {
        match (self, other) {
            (Value::Unbound, Value::Unbound)
            | (Value::None, Value::None)
            | (Value::NotImplemented, Value::NotImplemented)
            | (Value::Ellipsis, Value::Ellipsis) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Native(a), Value::Native(b)) => a == b,
            (Value::Ref(a), Value::Ref(b)) => a == b,
            _ => false,
        }
    }

    #[inline]
    pub(crate) fn is_ref(self, handle: Handle) -> bool {
        matches!(self, Value::Ref(own) if own == handle)
    }

    pub(crate) fn is_unbound(self) -> bool {
        matches!(self, Value::Unbound)
    }

    pub(crate) fn is_none(self) -> bool {
        matches!(self, Value::None)
    }

    pub(crate) fn handle(self) -> Option<Handle> {
        match self {
            Value::Ref(handle) => Some(handle),
            _ => None,
        }
    }
}

impl From<Handle> for Value {
    fn from(handle: Handle) -> Self {
        Value::Ref(handle)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

/// The bits of a NaN; those below can tell one from another.
const NAN: u64 = 0x7ff8_0000_0000_0000;
const NAN_NUMBERS: u64 = 0xffff_ffff_ffff;

/// A NaN that is none of the others: one that a program made by name is the same as itself only.
pub(crate) fn own_nan(number: u64) -> Value {
    Value::Float(f64::from_bits(NAN | number & NAN_NUMBERS))
}

/// A float as it was written down.
pub(crate) fn kept_float(bits: u64) -> Value {
    if bits & !NAN_NUMBERS == NAN { own_nan(bits) } else { float(f64::from_bits(bits)) }
}

/// One NaN: whatever an operation made, programs see these bits.
pub(crate) fn float(value: f64) -> Value {
    Value::Float(if value.is_nan() { f64::from_bits(0x7ff8_0000_0000_0000) } else { value })
}
