//! Prices, in cycles. One cycle is about what the cheapest instruction takes on a slow validator, some
//! five nanoseconds. Work that grows with its data is charged before it is done, by the functions below.
//!
//! Consensus: a change here forks the chain.

use crate::code::Op;
use crate::heap::value::Value;

/// Base price of an instruction; what depends on sizes comes on top when it runs.
pub(crate) const fn base(op: Op) -> u8 {
    match op {
        // Moves of a value between stack and slots.
        Op::Pop
        | Op::DropIter
        | Op::Copy
        | Op::Swap
        | Op::Rot3
        | Op::LoadConst
        | Op::LoadNone
        | Op::LoadInt
        | Op::LoadLocal
        | Op::StoreLocal
        | Op::DeleteLocal
        | Op::Jump
        | Op::Is
        | Op::IsNot
        | Op::JumpIfNone => 1,
        // Two moves, or a move and a test.
        Op::LoadLocal2
        | Op::LoadCell
        | Op::StoreCell
        | Op::DeleteCell
        | Op::LoadClosure
        | Op::LoadPrelude
        | Op::JumpIfFalse
        | Op::JumpIfTrue
        | Op::JumpIfFalseKeep
        | Op::JumpIfTrueKeep
        | Op::Not
        | Op::ListAppend
        | Op::GetLen
        | Op::MatchSequence
        | Op::MatchMapping => 2,
        // Arithmetic on small numbers, an index.
        Op::Binary
        | Op::InPlace
        | Op::BinaryLocal
        | Op::BinaryInt
        | Op::Compare
        | Op::CompareJump
        | Op::Negative
        | Op::Positive
        | Op::Invert
        | Op::ForIter
        | Op::LoadIndex => 3,
        // One look-up in a table.
        Op::LoadGlobal
        | Op::StoreGlobal
        | Op::DeleteGlobal
        | Op::LoadName
        | Op::StoreName
        | Op::DeleteName
        | Op::LoadClassCell
        | Op::StoreIndex
        | Op::DeleteIndex
        | Op::In
        | Op::NotIn
        | Op::SetAdd
        | Op::MapAdd
        | Op::Return
        | Op::Yield
        | Op::Send => 4,
        // Look-ups along classes.
        Op::LoadAttr | Op::StoreAttr | Op::DeleteAttr | Op::LoadMethod | Op::MatchException => 6,
        // An object, or a frame.
        Op::MakeCell
        | Op::BuildList
        | Op::BuildTuple
        | Op::BuildMap
        | Op::BuildSet
        | Op::BuildString
        | Op::BuildSlice
        | Op::ListExtend
        | Op::SetUpdate
        | Op::DictUpdate
        | Op::DictMerge
        | Op::ListToTuple
        | Op::FormatValue
        | Op::MakeFunction
        | Op::GetIter
        | Op::YieldFromIter
        | Op::GetAwaitable
        | Op::UnpackSequence
        | Op::UnpackEx
        | Op::EnterHandler
        | Op::LeaveHandler
        | Op::Call
        | Op::CallMethod => 8,
        // A frame with its arguments sorted by name, a module, an exception.
        Op::CallKw
        | Op::CallEx
        | Op::EnterWith
        | Op::WithFailed
        | Op::ImportName
        | Op::ImportFrom => 16,
        Op::Raise | Op::Reraise => 24,
    }
}

/// Bytes that are copied, compared, searched or hashed: eight for a cycle.
pub(crate) const fn bytes(count: usize) -> u64 {
    count as u64 / 8
}

/// Bytes of an operand that the price of its operation covers.
const COVERED_BYTES: usize = 64;
/// Entries with other keys that a look-up passes for its price: more are rare where keys are spread well.
const COVERED_PROBES: usize = 16;
/// Bases of a class that a look-up goes along for its price: few programs have more.
pub(crate) const COVERED_BASES: usize = 8;
/// Each further one is a look-up in its table.
pub(crate) const BASE: u64 = 3;
/// Values that the price of an operation covers.
const COVERED_VALUES: usize = 16;

/// Bytes of an operand beyond those that are usual.
pub(crate) const fn long(count: usize) -> u64 {
    bytes(count.saturating_sub(COVERED_BYTES))
}

/// Values of an operand beyond those that are usual, each visited.
pub(crate) const fn many(count: usize) -> u64 {
    count.saturating_sub(COVERED_VALUES) as u64
}

/// Values that are copied or visited: two for a cycle.
pub(crate) const fn values(count: usize) -> u64 {
    count as u64 / 2
}

/// Slots of a set that are walked over, most of them empty: four for a cycle.
pub(crate) const fn slots(count: usize) -> u64 {
    count as u64 / 4
}

/// Slots of a set that are looked at for a key, beyond those that a look-up covers: they are next to each other
/// mostly, and some are often in the way.
pub(crate) const fn looks(count: usize) -> u64 {
    count.saturating_sub(8) as u64
}

/// Entries of a table that are made or looked up: four cycles each.
pub(crate) const fn entries(count: usize) -> u64 {
    count as u64 * 4
}

/// Entries with other keys that a look-up of a name passes beyond those: two cycles each.
pub(crate) const fn probes(count: usize) -> u64 {
    count.saturating_sub(COVERED_PROBES) as u64 * 2
}

/// An item that is compared with what is looked for: itself and numbers at once, all else by kind and class.
pub(crate) fn comparison(item: Value, wanted: Value) -> u64 {
    match (item, wanted) {
        (Value::Int(_), Value::Int(_)) => 1,
        _ if item.is(wanted) => 1,
        _ => 3,
    }
}

/// Comparisons of a sort of `count` values: at most n · ceil(log2 n), three cycles each.
pub(crate) const fn sort(count: usize) -> u64 {
    let count = count as u64;
    count * (64 - count.leading_zeros() as u64) * 3
}

/// Product or quotient of integers of this many 64-bit limbs.
pub(crate) const fn product(left: u64, right: u64) -> u64 {
    left * right + left + right
}

/// Conversion of an integer of this many limbs to or from decimal digits.
pub(crate) const fn decimal(limbs: u64) -> u64 {
    4 + limbs * limbs * 4
}

/// An integer of this many limbs that is looked through once: those of some 500 bits are usual.
pub(crate) const fn limbs(count: u64) -> u64 {
    count.saturating_sub(8) / 2
}

/// Digits of a float beyond those that are read in one go.
pub(crate) const fn digits(count: usize) -> u64 {
    if count > 19 { 200 + 4 * count as u64 } else { 0 }
}

/// A float that is written: its shortest digits; all there are, or the way to a far exponent, take longer.
pub(crate) fn float_text(float: f64, length: usize) -> u64 {
    let far = !(1e-5..1e16).contains(&float.abs()) && float != 0.0;
    if far || length > 15 { LIBM } else { 8 }
}

/// Euclid's way to the common divisor of numbers, the smaller one of this many bits: three divisions for two
/// bits at most. Those of two limbs are the processor's.
pub(crate) const fn divisor(bits: u64) -> u64 {
    match bits {
        0..=64 => bits,
        65..=128 => 4 * bits,
        _ => bits * (16 + bits / 64),
    }
}

/// A new object: zeroing, accounting and its later collection.
pub(crate) const OBJECT: u64 = 4;
/// A part that is cut out of a text: where it ends is looked for, it is copied and hashed, and has an object of
/// its own.
pub(crate) const PART: u64 = 8;
/// A function of floats beyond the basic operations.
pub(crate) const LIBM: u64 = 40;
/// An unwound frame: its handlers are searched, its line is written into the traceback.
pub(crate) const UNWIND: u64 = 8;
/// Handlers that are searched, four for a cycle.
pub(crate) const fn handlers(count: usize) -> u64 {
    many(count) / 4
}
/// A look-up along a class's bases inside an operation.
pub(crate) const CLASS_LOOKUP: u64 = 8;
/// A text is looked for among the names that are known.
pub(crate) const NAME_LOOKUP: u64 = 8;
pub(crate) const fn objects(count: usize) -> u64 {
    count as u64
}
/// A collection: a bit for each place of the heap, the objects that it visits, the values in them. What
/// it frees was paid when it was made.
pub(crate) const fn collect(visited: usize, seen: usize) -> u64 {
    256 + objects(visited) + values(seen)
}
/// A step of a hash over 64 bytes.
pub(crate) const HASH_BLOCK: u64 = 60;
/// The same for SHA-3, whose code is the slower one.
pub(crate) const SHA3_BLOCK: u64 = 200;
