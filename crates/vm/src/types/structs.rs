//! The bits of floats, for the module struct.

use crate::heap::types::Type;
use crate::heap::value::{Value, float};
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table =
    &[("struct", "_float_bits", float_bits, ""), ("struct", "_bits_float", bits_float, "")];

fn real(vm: &mut Vm, value: Value) -> Result<f64, Fault> {
    match vm.inner(value) {
        Value::Float(value) => Ok(value),
        Value::Int(value) => Ok(value as f64),
        Value::Bool(value) => Ok(f64::from(u8::from(value))),
        _ => Err(vm.type_error("required argument is not a float")),
    }
}

/// The bits of a float of 4 or 8 bytes, as an integer.
fn float_bits(vm: &mut Vm, args: Args) -> Outcome {
    let [value, size] = vm.take(args, "pack", ["value", "size"], 2)?;
    let value = real(vm, value)?;
    if vm.want_int(size)? == 8 {
        let bits = if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
        return vm.int(bits.into());
    }
    if vm.want_int(size)? == 2 {
        return match half_bits(value) {
            Some(bits) => Ok(Value::Int(bits)),
            None => Err(vm.raise(Type::OverflowError, "float too large to pack with e format")),
        };
    }
    // Rounded to nearest, ties to even, on every machine.
    let single = value as f32;
    if single.is_infinite() && value.is_finite() {
        return Err(vm.raise(Type::OverflowError, "float too large to pack with f format"));
    }
    let bits = if single.is_nan() { 0x7fc0_0000 } else { single.to_bits() };
    Ok(Value::Int(i64::from(bits)))
}

/// A float in two bytes: five of the bits are the exponent's.
fn half_bits(value: f64) -> Option<i64> {
    let sign = i64::from(value.is_sign_negative()) << 15;
    let size = value.abs();
    if value.is_nan() {
        return Some(0x7e00);
    }
    if value.is_infinite() {
        return Some(sign | 0x7c00);
    }
    // The unit of the last of eleven digits; the smallest numbers have fewer.
    let exponent = if size < 6.103_515_625e-5 { -14 } else { libm::frexp(size).1 - 1 };
    let digits = libm::rint(libm::ldexp(size, 10 - exponent)) as i64;
    let bits = match digits {
        0..=1_023 => digits,
        _ => ((i64::from(exponent) + 15) << 10) + digits - 1_024,
    };
    (bits < 0x7c00).then_some(sign | bits)
}

fn half_float(bits: u64) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, digits) = ((bits >> 10 & 31) as i32, (bits & 1_023) as f64);
    sign * match exponent {
        0 => libm::ldexp(digits, -24),
        31 if digits == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => libm::ldexp(digits + 1_024.0, exponent - 25),
    }
}

fn bits_float(vm: &mut Vm, args: Args) -> Outcome {
    let [bits, size] = vm.take(args, "unpack", ["bits", "size"], 2)?;
    let bits = match vm.obj(bits) {
        Some(crate::heap::object::Obj::Big(big)) => u64::try_from(big).unwrap_or(0),
        _ => vm.want_int(bits)? as u64,
    };
    Ok(match vm.want_int(size)? {
        8 => float(f64::from_bits(bits)),
        2 => float(half_float(bits)),
        _ => float(f64::from(f32::from_bits(bits as u32))),
    })
}
