//! Numbers: 64-bit integers that grow into big ones, up to 4,096 bits, and IEEE doubles.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use super::Vm;
use super::fault::{Fault, Outcome};
use crate::heap::object::Obj;
use crate::heap::types::Type;
use crate::heap::value::Value;
use crate::limits::INT_BITS_MAX;

#[derive(Clone, Debug)]
pub(crate) enum Number {
    Int(i64),
    Big(BigInt),
    Float(f64),
}

pub(crate) fn big_from_float(value: f64) -> BigInt {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64;
    let mantissa = if exponent == 0 {
        (bits & ((1 << 52) - 1)) << 1
    } else {
        bits & ((1 << 52) - 1) | 1 << 52
    };
    let shift = exponent - 1075;
    let big = BigInt::from(mantissa);
    let big = if shift >= 0 { big << shift as usize } else { big >> (-shift).min(2_000) as usize };
    if value < 0.0 { -big } else { big }
}

/// The nearest double, ties to even; infinite if too large.
pub(crate) fn big_to_float(value: &BigInt) -> f64 {
    let magnitude = value.magnitude();
    let bits = magnitude.bits();
    let result = if bits <= 64 {
        magnitude.to_u64_digits().first().copied().unwrap_or(0) as f64
    } else {
        let shift = bits - 64;
        let top = (magnitude >> shift).to_u64_digits().first().copied().unwrap_or(0);
        let lost = magnitude.trailing_zeros().unwrap_or(0) < shift;
        // The lowest bit stands for all that was cut off.
        let rounded = (top | u64::from(lost)) as f64;
        libm::scalbn(rounded, shift as i32)
    };
    if value.sign() == Sign::Minus { -result } else { result }
}

pub(crate) fn limbs(value: &BigInt) -> u64 {
    value.bits() / 64 + 1
}

impl Vm {
    pub(crate) fn number(&self, value: Value) -> Option<Number> {
        match value {
            Value::Int(int) => Some(Number::Int(int)),
            Value::Bool(bool) => Some(Number::Int(i64::from(bool))),
            Value::Float(float) => Some(Number::Float(float)),
            Value::Ref(handle) => match self.heap.get(handle) {
                Obj::Big(big) => Some(Number::Big(big.clone())),
                Obj::Instance(instance) if !instance.payload.is_unbound() => {
                    match self.obj(instance.payload) {
                        Some(Obj::Big(big)) => Some(Number::Big(big.clone())),
                        Some(_) => None,
                        None => self.number(instance.payload),
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// An int of any size.
    pub(crate) fn big(&self, value: Value) -> Option<BigInt> {
        match self.number(value)? {
            Number::Int(int) => Some(BigInt::from(int)),
            Number::Big(big) => Some(big),
            Number::Float(_) => None,
        }
    }

    /// A small int: an index, a count. None for anything else, and for ints beyond 64 bits.
    pub(crate) fn as_index(&self, value: Value) -> Option<i64> {
        match self.number(value)? {
            Number::Int(int) => Some(int),
            _ => None,
        }
    }

    pub(crate) fn as_float(&self, value: Value) -> Option<f64> {
        Some(match self.number(value)? {
            Number::Int(int) => int as f64,
            Number::Big(big) => big_to_float(&big),
            Number::Float(float) => float,
        })
    }

    /// A big integer as a value: small if it fits, refused if too large.
    pub(crate) fn int(&mut self, big: BigInt) -> Outcome {
        if big.bits() <= 63 {
            let digit = big.magnitude().to_u64_digits().first().copied().unwrap_or(0) as i64;
            return Ok(Value::Int(if big.sign() == Sign::Minus { -digit } else { digit }));
        }
        if big == BigInt::from(i64::MIN) {
            return Ok(Value::Int(i64::MIN));
        }
        if big.bits() > INT_BITS_MAX {
            return Err(self.too_large());
        }
        self.alloc(Obj::Big(big))
    }

    pub(crate) fn too_large(&mut self) -> Fault {
        self.raise(Type::OverflowError, "integer exceeds 4096 bits")
    }

    /// How two numbers compare; None if one is no number, Some(None) with NaN.
    pub(crate) fn number_order(
        &mut self,
        left: Value,
        right: Value,
    ) -> Result<Option<Option<Ordering>>, Fault> {
        match (left, right) {
            (Value::Int(a), Value::Int(b)) => return Ok(Some(Some(a.cmp(&b)))),
            (Value::Float(a), Value::Float(b)) => return Ok(Some(a.partial_cmp(&b))),
            (Value::None | Value::Unbound, _) | (_, Value::None | Value::Unbound) => {
                return Ok(None);
            }
            _ => {}
        }
        let (Some(a), Some(b)) = (self.seen(left), self.seen(right)) else { return Ok(None) };
        // At most 4,096 bits are looked at before they are paid for.
        let (ordering, limbs) = match (a, b) {
            (Seen::Int(a), Seen::Int(b)) => (Some(a.cmp(&b)), 0),
            (Seen::Float(a), Seen::Float(b)) => (a.partial_cmp(&b), 0),
            (Seen::Big(a), Seen::Big(b)) => (Some(a.cmp(b)), limbs(a).min(limbs(b))),
            (Seen::Int(_), Seen::Big(b)) => (Some(from_zero(b).reverse()), 0),
            (Seen::Big(a), Seen::Int(_)) => (Some(from_zero(a)), 0),
            (Seen::Float(a), Seen::Int(b)) => (compare_float_int(a, b), 0),
            (Seen::Int(a), Seen::Float(b)) => (compare_float_int(b, a).map(Ordering::reverse), 0),
            (Seen::Float(a), Seen::Big(b)) => (compare_float_big(a, b), limbs(b)),
            (Seen::Big(a), Seen::Float(b)) => {
                (compare_float_big(b, a).map(Ordering::reverse), limbs(a))
            }
        };
        self.charge(crate::cost::limbs(limbs))?;
        Ok(Some(ordering))
    }

    /// A number as it lies in the heap; instances of programs' classes are none.
    fn seen(&self, value: Value) -> Option<Seen<'_>> {
        match value {
            Value::Int(int) => Some(Seen::Int(int)),
            Value::Bool(bool) => Some(Seen::Int(i64::from(bool))),
            Value::Float(float) => Some(Seen::Float(float)),
            Value::Ref(handle) => match self.heap.get(handle) {
                Obj::Big(big) => Some(Seen::Big(big)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A number that is only looked at.
enum Seen<'a> {
    Int(i64),
    Big(&'a BigInt),
    Float(f64),
}

/// How an integer beyond 64 bits compares to all within them.
fn from_zero(big: &BigInt) -> Ordering {
    if big.sign() == Sign::Minus { Ordering::Less } else { Ordering::Greater }
}

pub(super) fn to_big(number: Number) -> BigInt {
    match number {
        Number::Int(int) => BigInt::from(int),
        Number::Big(big) => big,
        Number::Float(float) => big_from_float(float),
    }
}

pub(super) fn to_float(number: &Number) -> f64 {
    match number {
        Number::Int(int) => *int as f64,
        Number::Big(big) => big_to_float(big),
        Number::Float(float) => *float,
    }
}

fn compare_float_int(a: f64, b: i64) -> Option<Ordering> {
    // The first float that no integer of 64 bits reaches.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if a.is_nan() {
        return None;
    }
    if a >= BEYOND {
        return Some(Ordering::Greater);
    }
    if a < -BEYOND {
        return Some(Ordering::Less);
    }
    let whole = libm::trunc(a);
    let rest = a.partial_cmp(&whole).unwrap_or(Ordering::Equal);
    Some((whole as i64).cmp(&b).then(rest))
}

fn compare_float_big(a: f64, b: &BigInt) -> Option<Ordering> {
    if a.is_nan() {
        return None;
    }
    if a.is_infinite() {
        return Some(if a > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    let whole = libm::trunc(a);
    Some(
        big_from_float(whole).cmp(b).then_with(|| a.partial_cmp(&whole).unwrap_or(Ordering::Equal)),
    )
}
