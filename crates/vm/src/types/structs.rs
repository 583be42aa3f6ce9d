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
        return vm.int(value.to_bits().into());
    }
    // Rounded to nearest, ties to even, on every machine.
    let single = value as f32;
    if single.is_infinite() && value.is_finite() {
        return Err(vm.raise(Type::OverflowError, "float too large to pack with f format"));
    }
    let bits = if single.is_nan() { 0x7fc0_0000 } else { single.to_bits() };
    Ok(Value::Int(i64::from(bits)))
}

fn bits_float(vm: &mut Vm, args: Args) -> Outcome {
    let [bits, size] = vm.take(args, "unpack", ["bits", "size"], 2)?;
    let bits = match vm.obj(bits) {
        Some(crate::heap::object::Obj::Big(big)) => u64::try_from(big).unwrap_or(0),
        _ => vm.want_int(bits)? as u64,
    };
    Ok(match vm.want_int(size)? {
        8 => float(f64::from_bits(bits)),
        _ => float(f64::from(f32::from_bits(bits as u32))),
    })
}
