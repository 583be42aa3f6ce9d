//! Operators on small numbers and steps of ranges, for the loop: what is not one of these goes the long way.

use crate::code::{BinOp, CmpOp};
use crate::heap::Heap;
use crate::heap::object::{Iter, Obj};
use crate::heap::value::{Value, float};

#[inline(always)]
pub(super) fn quick_binary(op: BinOp, left: Value, right: Value) -> Option<Value> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => match op {
            BinOp::Add => a.checked_add(b).map(Value::Int),
            BinOp::Sub => a.checked_sub(b).map(Value::Int),
            BinOp::Mul => a.checked_mul(b).map(Value::Int),
            BinOp::Mod if b > 0 => Some(Value::Int(a.rem_euclid(b))),
            BinOp::FloorDiv if b > 0 => Some(Value::Int(a.div_euclid(b))),
            BinOp::And => Some(Value::Int(a & b)),
            BinOp::Or => Some(Value::Int(a | b)),
            BinOp::Xor => Some(Value::Int(a ^ b)),
            _ => None,
        },
        (Value::Float(a), Value::Float(b)) => match op {
            BinOp::Add => Some(float(a + b)),
            BinOp::Sub => Some(float(a - b)),
            BinOp::Mul => Some(float(a * b)),
            _ => None,
        },
        _ => None,
    }
}

#[inline(always)]
pub(super) fn quick_compare(op: CmpOp, left: Value, right: Value) -> Option<bool> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(op.holds(a.cmp(&b))),
        (Value::Float(a), Value::Float(b)) => {
            Some(a.partial_cmp(&b).map_or(op == CmpOp::Ne, |ordering| op.holds(ordering)))
        }
        _ => None,
    }
}

/// The next number of a range; Unbound at its end.
#[inline(always)]
pub(super) fn quick_step(heap: &mut Heap, iterator: Value) -> Option<Value> {
    let Value::Ref(handle) = iterator else { return None };
    let Obj::Iter(iter) = heap.get_mut(handle) else { return None };
    let Iter::Range { next, left, step } = &mut **iter else { return None };
    if *left == 0 {
        return Some(Value::Unbound);
    }
    let value = *next;
    *left -= 1;
    *next = next.wrapping_add(*step);
    Some(Value::Int(value))
}
