//! math: exact on integers; on floats `precise`, and `libm` for what is rare.

use crate::cost;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Value, float};
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};
use crate::run::number::{Number, big_from_float};
use crate::types::precise;

pub(crate) const TABLE: Table = &[
    ("math", "sqrt", sqrt, ""),
    ("math", "floor", floor, ""),
    ("math", "ceil", ceil, ""),
    ("math", "trunc", trunc, ""),
    ("math", "fabs", |vm, args| one(vm, args, "fabs", libm::fabs), ""),
    ("math", "exp", |vm, args| one(vm, args, "exp", precise::exp), ""),
    ("math", "expm1", |vm, args| one(vm, args, "expm1", libm::expm1), ""),
    ("math", "log", log, ""),
    ("math", "log2", |vm, args| logarithm(vm, args, "log2", libm::log2), ""),
    ("math", "log10", |vm, args| logarithm(vm, args, "log10", libm::log10), ""),
    ("math", "log1p", |vm, args| one(vm, args, "log1p", libm::log1p), ""),
    ("math", "sin", |vm, args| one(vm, args, "sin", precise::sin), ""),
    ("math", "cos", |vm, args| one(vm, args, "cos", precise::cos), ""),
    ("math", "tan", |vm, args| one(vm, args, "tan", precise::tan), ""),
    ("math", "asin", |vm, args| one(vm, args, "asin", precise::asin), ""),
    ("math", "acos", |vm, args| one(vm, args, "acos", precise::acos), ""),
    ("math", "atan", |vm, args| one(vm, args, "atan", precise::atan), ""),
    ("math", "sinh", |vm, args| one(vm, args, "sinh", libm::sinh), ""),
    ("math", "cosh", |vm, args| one(vm, args, "cosh", precise::cosh), ""),
    ("math", "tanh", |vm, args| one(vm, args, "tanh", precise::tanh), ""),
    ("math", "asinh", |vm, args| one(vm, args, "asinh", libm::asinh), ""),
    ("math", "acosh", |vm, args| one(vm, args, "acosh", libm::acosh), ""),
    ("math", "atanh", |vm, args| one(vm, args, "atanh", libm::atanh), ""),
    ("math", "exp2", |vm, args| one(vm, args, "exp2", libm::exp2), ""),
    ("math", "erf", |vm, args| one(vm, args, "erf", libm::erf), ""),
    ("math", "erfc", |vm, args| one(vm, args, "erfc", libm::erfc), ""),
    ("math", "gamma", |vm, args| one(vm, args, "gamma", libm::tgamma), ""),
    ("math", "lgamma", |vm, args| one(vm, args, "lgamma", libm::lgamma), ""),
    ("math", "cbrt", |vm, args| one(vm, args, "cbrt", libm::cbrt), ""),
    (
        "math",
        "degrees",
        |vm, args| one(vm, args, "degrees", |x| x * (180.0 / std::f64::consts::PI)),
        "",
    ),
    (
        "math",
        "radians",
        |vm, args| one(vm, args, "radians", |x| x * (std::f64::consts::PI / 180.0)),
        "",
    ),
    ("math", "atan2", |vm, args| two(vm, args, "atan2", precise::atan2), ""),
    ("math", "pow", |vm, args| two(vm, args, "pow", precise::pow), ""),
    ("math", "fmod", |vm, args| two(vm, args, "fmod", libm::fmod), ""),
    ("math", "nextafter", |vm, args| two(vm, args, "nextafter", libm::nextafter), ""),
    ("math", "remainder", |vm, args| remainder(vm, args), ""),
    ("math", "copysign", |vm, args| two(vm, args, "copysign", libm::copysign), ""),
    ("math", "hypot", hypot, ""),
    ("math", "isnan", |vm, args| test(vm, args, "isnan", f64::is_nan), ""),
    ("math", "isinf", |vm, args| test(vm, args, "isinf", f64::is_infinite), ""),
    ("math", "isfinite", |vm, args| test(vm, args, "isfinite", f64::is_finite), ""),
    ("math", "isclose", isclose, ""),
    ("math", "prod", prod, "_prod"),
    ("math", "fsum", fsum, ""),
    ("math", "modf", modf, ""),
    ("math", "frexp", frexp, ""),
    ("math", "ldexp", ldexp, ""),
];

fn real(vm: &mut Vm, value: Value) -> Result<f64, Fault> {
    if vm.user_method(value, name::FLOAT).is_some() {
        return Err(Fault::Fallback);
    }
    match vm.as_float(value) {
        Some(number) if number.is_infinite() && !matches!(vm.inner(value), Value::Float(_)) => {
            Err(vm.raise(Type::OverflowError, "int too large to convert to float"))
        }
        Some(number) => Ok(number),
        None => {
            let kind = vm.type_name(value);
            Err(vm.type_error(format!("must be real number, not {kind}")))
        }
    }
}

fn checked(vm: &mut Vm, result: f64, finite: bool) -> Outcome {
    if finite && result.is_nan() {
        return Err(vm.value_error("math domain error"));
    }
    if finite && result.is_infinite() {
        return Err(vm.raise(Type::OverflowError, "math range error"));
    }
    Ok(float(result))
}

fn one(vm: &mut Vm, args: Args, word: &str, function: fn(f64) -> f64) -> Outcome {
    let [x] = vm.take(args, word, ["x"], 1)?;
    vm.charge(cost::LIBM)?;
    let x = real(vm, x)?;
    // Where it has a pole there is no value; elsewhere it is too large.
    if word == "gamma" && (x == 0.0 || x == f64::NEG_INFINITY) {
        return Err(vm.value_error("math domain error"));
    }
    if word == "lgamma" && x <= 0.0 && libm::floor(x) == x && x.is_finite() {
        return Err(vm.value_error("math domain error"));
    }
    checked(vm, function(x), x.is_finite())
}

fn two(vm: &mut Vm, args: Args, word: &str, function: fn(f64, f64) -> f64) -> Outcome {
    let [x, y] = vm.take(args, word, ["x", "y"], 2)?;
    vm.charge(cost::LIBM)?;
    let (x, y) = (real(vm, x)?, real(vm, y)?);
    let pole = word == "pow" && x == 0.0 && y < 0.0 && y.is_finite();
    let endless = matches!(word, "fmod" | "remainder") && x.is_infinite() && !y.is_nan();
    if pole || endless {
        return Err(vm.value_error("math domain error"));
    }
    checked(vm, function(x, y), x.is_finite() && y.is_finite())
}

/// Bit by bit, as far as the exponents are apart.
fn remainder(vm: &mut Vm, args: Args) -> Outcome {
    let [x, y] = vm.take(args, "remainder", ["x", "y"], 2)?;
    let exponent = |value: f64| (value.to_bits() >> 52) & 0x7ff;
    let (a, b) = (vm.as_float(x).unwrap_or(0.0), vm.as_float(y).unwrap_or(0.0));
    vm.charge(exponent(a).saturating_sub(exponent(b)) / 4)?;
    two(vm, args, "remainder", libm::remainder)
}

fn test(vm: &mut Vm, args: Args, word: &str, function: fn(f64) -> bool) -> Outcome {
    let [x] = vm.take(args, word, ["x"], 1)?;
    real(vm, x).map(|x| Value::Bool(function(x)))
}

fn sqrt(vm: &mut Vm, args: Args) -> Outcome {
    let [x] = vm.take(args, "sqrt", ["x"], 1)?;
    let x = real(vm, x)?;
    if x < 0.0 {
        return Err(vm.value_error("math domain error"));
    }
    Ok(float(libm::sqrt(x)))
}

fn natural(vm: &mut Vm, value: Value) -> Result<f64, Fault> {
    let x = match vm.big(value) {
        // Beyond a double: the logarithm of the top bits, and of the rest's power of two.
        Some(big) if big.bits() > 1_000 => {
            let shift = big.bits() - 64;
            let top = crate::run::number::big_to_float(&(big >> shift));
            return Ok(precise::log(top) + shift as f64 * std::f64::consts::LN_2);
        }
        _ => real(vm, value)?,
    };
    if x <= 0.0 {
        return Err(vm.value_error("math domain error"));
    }
    Ok(precise::log(x))
}

fn log(vm: &mut Vm, args: Args) -> Outcome {
    let [x, base] = vm.take(args, "log", ["x", "base"], 1)?;
    vm.charge(2 * cost::LIBM)?;
    let top = natural(vm, x)?;
    if base.is_unbound() {
        return Ok(float(top));
    }
    let bottom = natural(vm, base)?;
    if bottom == 0.0 {
        return Err(vm.raise(Type::ZeroDivisionError, "float division by zero"));
    }
    Ok(float(top / bottom))
}

fn logarithm(vm: &mut Vm, args: Args, word: &str, function: fn(f64) -> f64) -> Outcome {
    let [x] = vm.take(args, word, ["x"], 1)?;
    vm.charge(cost::LIBM)?;
    let x = real(vm, x)?;
    if x <= 0.0 {
        return Err(vm.value_error("math domain error"));
    }
    Ok(float(function(x)))
}

fn whole(vm: &mut Vm, args: Args, word: &str, method: &str, function: fn(f64) -> f64) -> Outcome {
    let [x] = vm.take(args, word, ["x"], 1)?;
    let method = vm.intern(method)?;
    if let Some(method) = vm.user_method(x, method) {
        return Err(crate::run::fault::tail(method, vec![x]));
    }
    match vm.number(x) {
        Some(Number::Float(value)) => {
            if value.is_nan() {
                return Err(vm.value_error("cannot convert float NaN to integer"));
            }
            if value.is_infinite() {
                return Err(
                    vm.raise(Type::OverflowError, "cannot convert float infinity to integer")
                );
            }
            vm.int(big_from_float(function(value)))
        }
        Some(Number::Int(int)) => Ok(Value::Int(int)),
        Some(Number::Big(big)) => vm.int(big),
        None => {
            let kind = vm.type_name(x);
            Err(vm.type_error(format!("must be real number, not {kind}")))
        }
    }
}

fn floor(vm: &mut Vm, args: Args) -> Outcome {
    whole(vm, args, "floor", "__floor__", libm::floor)
}

fn ceil(vm: &mut Vm, args: Args) -> Outcome {
    whole(vm, args, "ceil", "__ceil__", libm::ceil)
}

fn trunc(vm: &mut Vm, args: Args) -> Outcome {
    whole(vm, args, "trunc", "__trunc__", libm::trunc)
}

fn hypot(vm: &mut Vm, args: Args) -> Outcome {
    let values = vm.positional(args, "hypot")?;
    let mut parts = Vec::with_capacity(values.len());
    for value in values {
        vm.charge(cost::LIBM)?;
        parts.push(real(vm, value)?);
    }
    Ok(float(precise::norm(&parts)))
}

fn isclose(vm: &mut Vm, args: Args) -> Outcome {
    let [a, b, relative, absolute] =
        vm.take(args, "isclose", ["a", "b", "rel_tol", "abs_tol"], 2)?;
    let (a, b) = (real(vm, a)?, real(vm, b)?);
    let relative = if relative.is_unbound() { 1e-9 } else { real(vm, relative)? };
    let absolute = if absolute.is_unbound() { 0.0 } else { real(vm, absolute)? };
    if a == b {
        return Ok(Value::Bool(true));
    }
    if a.is_infinite() || b.is_infinite() {
        return Ok(Value::Bool(false));
    }
    let difference = (a - b).abs();
    let close = difference <= (relative * a).abs() || difference <= (relative * b).abs();
    Ok(Value::Bool(close || difference <= absolute))
}

fn prod(vm: &mut Vm, args: Args) -> Outcome {
    let [items, start] = vm.take(args, "prod", ["iterable", "start"], 1)?;
    if matches!(vm.obj(items), Some(Obj::Iter(_))) {
        return Err(Fault::Fallback);
    }
    let mut all = if start.is_unbound() { Value::Int(1) } else { start };
    for item in vm.items(items)? {
        vm.charge(3)?;
        all = match vm.binary(crate::code::BinOp::Mul, all, item) {
            Err(Fault::Tail(_)) => return Err(Fault::Fallback),
            other => other?,
        };
    }
    Ok(all)
}

/// The exact sum, rounded once: partial sums that do not overlap.
fn fsum(vm: &mut Vm, args: Args) -> Outcome {
    let [items] = vm.take(args, "fsum", ["iterable"], 1)?;
    let mut partials: Vec<f64> = Vec::new();
    // What is not finite is added apart: it would spoil the partial sums.
    let (mut special, mut infinite) = (0.0, 0.0);
    for item in vm.items(items)? {
        let given = real(vm, item)?;
        let mut x = given;
        vm.charge(partials.len() as u64 * 2 + 2)?;
        if !given.is_finite() {
            special += given;
            infinite += if given.is_nan() { 0.0 } else { given };
            continue;
        }
        let mut kept = Vec::with_capacity(partials.len() + 1);
        for mut y in partials {
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                kept.push(low);
            }
            x = high;
        }
        if !x.is_finite() {
            return Err(vm.raise(Type::OverflowError, "intermediate overflow in fsum"));
        }
        kept.push(x);
        partials = kept;
    }
    if f64::is_nan(infinite) {
        return Err(vm.value_error("-inf + inf in fsum"));
    }
    if special != 0.0 {
        return Ok(float(special));
    }
    let mut total = 0.0;
    let mut rest = partials.into_iter().rev().peekable();
    while let Some(part) = rest.next() {
        let before = total;
        total = before + part;
        let low = part - (total - before);
        if low != 0.0 {
            // Half-way cases look at the sign of what is left.
            if let Some(next) = rest.peek()
                && (low < 0.0) == (*next < 0.0)
            {
                let twice = low * 2.0;
                let candidate = total + twice;
                if twice == candidate - total {
                    total = candidate;
                }
            }
            break;
        }
    }
    Ok(float(total))
}

fn modf(vm: &mut Vm, args: Args) -> Outcome {
    let [x] = vm.take(args, "modf", ["x"], 1)?;
    let (fraction, whole) = libm::modf(real(vm, x)?);
    vm.tuple(vec![float(fraction), float(whole)])
}

fn frexp(vm: &mut Vm, args: Args) -> Outcome {
    let [x] = vm.take(args, "frexp", ["x"], 1)?;
    let x = real(vm, x)?;
    let (mantissa, exponent) = if x == 0.0 || !x.is_finite() { (x, 0) } else { libm::frexp(x) };
    vm.tuple(vec![float(mantissa), Value::Int(i64::from(exponent))])
}

fn ldexp(vm: &mut Vm, args: Args) -> Outcome {
    let [x, exponent] = vm.take(args, "ldexp", ["x", "i"], 2)?;
    let x = real(vm, x)?;
    let exponent = vm.want_int(exponent)?.clamp(-5_000, 5_000) as i32;
    checked(vm, libm::ldexp(x, exponent), x.is_finite())
}
