//! Builtin functions of numbers and of many values.

use crate::code::{BinOp, CmpOp};
use crate::cost;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Value, float};
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome, tail};
use crate::run::native::{Args, Table};
use crate::run::number::{Number, limbs};

pub(crate) const TABLE: Table = &[
    ("", "abs", abs, ""),
    ("", "divmod", divmod, "_divmod"),
    ("", "pow", pow, ""),
    ("", "round", round, ""),
    ("", "sum", sum, "_sum"),
    ("", "min", min, "_min"),
    ("", "max", max, "_max"),
    ("", "any", any, "_any"),
    ("", "all", all, "_all"),
    ("", "ord", ord, ""),
    ("", "chr", chr, ""),
    ("", "bin", bin, ""),
    ("", "oct", oct, ""),
    ("", "hex", hex, ""),
];

/// Decimal digits that can be cut off an integer of 4,096 bits so that something may be left.
const DIGITS_MAX: i64 = 1_233;

fn abs(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "abs", ["x"], 1)?;
    if let Some(method) = vm.user_method(value, name::ABS) {
        return Err(tail(method, vec![value]));
    }
    match vm.number(value) {
        Some(Number::Float(value)) => Ok(float(value.abs())),
        Some(Number::Int(int)) if int >= 0 => Ok(Value::Int(int)),
        Some(Number::Big(big)) if big.sign() == num_bigint::Sign::Plus => vm.int(big),
        Some(_) => vm.negative(vm.inner(value)),
        None => {
            let kind = vm.type_name(value);
            Err(vm.type_error(format!("bad operand type for abs(): '{kind}'")))
        }
    }
}

fn divmod(vm: &mut Vm, args: Args) -> Outcome {
    let [a, b] = vm.take(args, "divmod", ["a", "b"], 2)?;
    let by_zero = match (vm.number(a), vm.number(b)) {
        (Some(_), Some(Number::Float(divisor))) => divisor == 0.0,
        (Some(Number::Float(_)), Some(Number::Int(divisor))) => divisor == 0,
        _ => false,
    };
    if by_zero {
        return Err(vm.raise(Type::ZeroDivisionError, "float divmod()"));
    }
    let quotient = match vm.arithmetic(BinOp::FloorDiv, a, b) {
        Some(quotient) => quotient?,
        None => return Err(Fault::Fallback),
    };
    let Some(rest) = vm.arithmetic(BinOp::Mod, a, b) else { return Err(Fault::Fallback) };
    let rest = rest?;
    vm.tuple(vec![quotient, rest])
}

fn pow(vm: &mut Vm, args: Args) -> Outcome {
    let [base, exponent, modulus] = vm.take(args, "pow", ["base", "exp", "mod"], 2)?;
    if modulus.is_unbound() || modulus.is_none() {
        return vm.binary(BinOp::Pow, base, exponent);
    }
    if let Some(method) = vm.user_method(base, name::POW) {
        return Err(tail(method, vec![base, exponent, modulus]));
    }
    let (Some(base), Some(exponent), Some(modulus)) =
        (vm.big(base), vm.big(exponent), vm.big(modulus))
    else {
        return Err(
            vm.type_error("pow() 3rd argument not allowed unless all arguments are integers")
        );
    };
    if modulus.sign() == num_bigint::Sign::NoSign {
        return Err(vm.value_error("pow() 3rd argument cannot be 0"));
    }
    // Two products of the modulus's size for each bit of the exponent.
    let size = limbs(&modulus);
    let inverse = if exponent.sign() == num_bigint::Sign::Minus { 48 } else { 0 };
    let steps = 3 * exponent.bits() + 8 + inverse;
    vm.charge(crate::cost::product(size, size).saturating_mul(steps))?;
    let (base, exponent) = if exponent.sign() == num_bigint::Sign::Minus {
        match base.modinv(&modulus) {
            Some(inverse) => (inverse, -exponent),
            None => return Err(vm.value_error("base is not invertible for the given modulus")),
        }
    } else {
        (base, exponent)
    };
    let result = base.modpow(&exponent, &modulus);
    vm.int(result)
}

fn round(vm: &mut Vm, args: Args) -> Outcome {
    let [value, digits] = vm.take(args, "round", ["number", "ndigits"], 1)?;
    if let Some(method) = vm.user_method(value, name::ROUND) {
        let mut arguments = vec![value];
        if !digits.is_unbound() {
            arguments.push(digits);
        }
        return Err(tail(method, arguments));
    }
    let places =
        if digits.is_unbound() || digits.is_none() { None } else { Some(vm.want_int(digits)?) };
    match (vm.number(value), places) {
        (Some(Number::Float(value)), None) => {
            if !value.is_finite() {
                return Err(if value.is_nan() {
                    vm.value_error("cannot convert float NaN to integer")
                } else {
                    vm.raise(Type::OverflowError, "cannot convert float infinity to integer")
                });
            }
            let big = crate::run::number::big_from_float(libm::rint(value));
            vm.int(big)
        }
        (Some(Number::Float(value)), Some(places)) => {
            // All digits are written out, above the point and below it.
            let above = (value.abs().to_bits() >> 52).saturating_sub(1_023) as usize / 3;
            let below = places.clamp(0, 330) as usize;
            vm.charge(cost::many(above + below) * 4)?;
            Ok(float(super::format::round_to(value, places)))
        }
        (Some(Number::Int(int)), places) if places.is_none_or(|places| places >= 0) => {
            Ok(Value::Int(int))
        }
        (Some(Number::Big(big)), places) if places.is_none_or(|places| places >= 0) => vm.int(big),
        (Some(_), Some(places)) => {
            if places < -DIGITS_MAX {
                return Ok(Value::Int(0));
            }
            Err(vm.prelude_tail("_round_int", vec![value, Value::Int(-places)]))
        }
        _ => {
            let kind = vm.type_name(value);
            Err(vm.type_error(format!("type {kind} doesn't define __round__ method")))
        }
    }
}

fn sum(vm: &mut Vm, args: Args) -> Outcome {
    let [items, start] = vm.take(args, "sum", ["iterable", "start"], 1)?;
    if !vm.iterates_natively(items) || matches!(vm.obj(items), Some(Obj::Iter(_))) {
        return Err(Fault::Fallback);
    }
    let items = vm.items(items)?;
    let mut total = if start.is_unbound() { Value::Int(0) } else { start };
    vm.charge(items.len() as u64 * 2)?;
    for item in items {
        total = match vm.arithmetic(BinOp::Add, total, item) {
            Some(sum) if !matches!(vm.obj(item), Some(Obj::Instance(_))) => sum?,
            _ => return Err(Fault::Fallback),
        };
    }
    Ok(total)
}

fn extreme(vm: &mut Vm, args: Args, op: CmpOp, word: &str) -> Outcome {
    if args.keywords.is_some() || args.count == 0 {
        return Err(Fault::Fallback);
    }
    let items = if args.count == 1 {
        let source = vm.stack[args.base];
        if matches!(vm.obj(source), Some(Obj::Iter(_))) {
            return Err(Fault::Fallback);
        }
        vm.items(source)?
    } else {
        vm.stack[args.base..args.base + args.count].to_vec()
    };
    let Some((first, rest)) = items.split_first() else {
        return Err(vm.value_error(format!("{word}() arg is an empty sequence")));
    };
    let mut best = *first;
    vm.charge(rest.len() as u64 * 3)?;
    for item in rest {
        if vm.order(op, *item, best, 0)? {
            best = *item;
        }
    }
    Ok(best)
}

fn min(vm: &mut Vm, args: Args) -> Outcome {
    extreme(vm, args, CmpOp::Lt, "min")
}

fn max(vm: &mut Vm, args: Args) -> Outcome {
    extreme(vm, args, CmpOp::Gt, "max")
}

fn any_all(vm: &mut Vm, args: Args, word: &str, wanted: bool) -> Outcome {
    let [items] = vm.take(args, word, ["iterable"], 1)?;
    if matches!(vm.obj(items), Some(Obj::Iter(_))) {
        return Err(Fault::Fallback);
    }
    for item in vm.items(items)? {
        match vm.truth(item) {
            Ok(truth) if truth == wanted => return Ok(Value::Bool(wanted)),
            Ok(_) => vm.charge(1)?,
            Err(Fault::Tail(_)) => return Err(Fault::Fallback),
            Err(fault) => return Err(fault),
        }
    }
    Ok(Value::Bool(!wanted))
}

fn any(vm: &mut Vm, args: Args) -> Outcome {
    any_all(vm, args, "any", true)
}

fn all(vm: &mut Vm, args: Args) -> Outcome {
    any_all(vm, args, "all", false)
}

fn ord(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "ord", ["c"], 1)?;
    if let Some(obj @ (Obj::Bytes(_) | Obj::ByteArray(_))) = vm.obj(vm.inner(value))
        && let [byte] = crate::run::compare::byte_slice(obj)
    {
        return Ok(Value::Int(i64::from(*byte)));
    }
    let Some(text) = vm.text(value) else {
        let kind = vm.type_name(value);
        return Err(vm.type_error(format!("ord() expected string of length 1, but {kind} found")));
    };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) => Ok(Value::Int(i64::from(char as u32))),
        _ => {
            let length = vm.length(value)?;
            let message =
                format!("ord() expected a character, but string of length {length} found");
            Err(vm.type_error(message))
        }
    }
}

fn chr(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "chr", ["i"], 1)?;
    let code = vm.want_int(value)?;
    match u32::try_from(code).ok().and_then(char::from_u32) {
        Some(char) => vm.char(char),
        None => Err(vm.value_error("chr() arg not in range(0x110000)")),
    }
}

fn radix(vm: &mut Vm, args: Args, word: &str, prefix: &str, radix: u32) -> Outcome {
    let [value] = vm.take(args, word, ["number"], 1)?;
    if let Some(method) = vm.user_method(value, name::INDEX) {
        let function = vm.intern(word)?;
        let function = vm.dict_get_name(vm.builtins, function).unwrap_or(Value::None);
        return Err(vm.prelude_tail("_compose", vec![function, method, value]));
    }
    let Some(big) = vm.big(value) else {
        let kind = vm.type_name(value);
        return Err(vm.type_error(format!("'{kind}' object cannot be interpreted as an integer")));
    };
    vm.charge(limbs(&big) * 8)?;
    let sign = if big.sign() == num_bigint::Sign::Minus { "-" } else { "" };
    let text = format!("{sign}{prefix}{}", big.magnitude().to_str_radix(radix));
    vm.string(text)
}

fn bin(vm: &mut Vm, args: Args) -> Outcome {
    radix(vm, args, "bin", "0b", 2)
}

fn oct(vm: &mut Vm, args: Args) -> Outcome {
    radix(vm, args, "oct", "0o", 8)
}

fn hex(vm: &mut Vm, args: Args) -> Outcome {
    radix(vm, args, "hex", "0x", 16)
}
