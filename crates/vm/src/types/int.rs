//! int, bool and float.

use num_bigint::{BigInt, Sign};

use crate::cost;
use crate::heap::types::{Type, name};
use crate::heap::value::{Value, float, own_nan};
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome, tail};
use crate::run::native::{Args, Table};
use crate::run::number::{Number, big_from_float, limbs};
use crate::unicode;

pub(crate) const TABLE: Table = &[
    ("int", "__new__", int_new, ""),
    ("bool", "__new__", bool_new, ""),
    ("float", "__new__", float_new, ""),
    ("int", "bit_length", bit_length, ""),
    ("int", "bit_count", bit_count, ""),
    ("int", "to_bytes", to_bytes, "_to_bytes"),
    ("_", "_from_bytes", from_bytes, "_from_bytes_of"),
    ("int", "conjugate", identity, ""),
    ("int", "__index__", identity, ""),
    ("int", "__int__", identity, ""),
    ("int", "as_integer_ratio", int_ratio, ""),
    ("float", "is_integer", is_integer, ""),
    ("float", "as_integer_ratio", float_ratio, ""),
    ("float", "hex", float_hex, ""),
    ("float", "__float__", identity, ""),
    ("float", "conjugate", float_self, ""),
    ("int", "__float__", float_self, ""),
    ("float", "__int__", float_int, ""),
];

fn identity(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__index__", ["self"], 1)?;
    Ok(match vm.inner(value) {
        Value::Bool(truth) => Value::Int(truth.into()),
        number => number,
    })
}

/// The number as a float.
fn float_self(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__float__", ["self"], 1)?;
    match vm.as_float(value) {
        Some(number) if number.is_infinite() && !matches!(vm.inner(value), Value::Float(_)) => {
            Err(vm.raise(Type::OverflowError, "int too large to convert to float"))
        }
        Some(number) => Ok(float(number)),
        None => Err(vm.type_error("a number is required")),
    }
}

fn float_int(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__int__", ["self"], 1)?;
    let Some(value) = vm.as_float(value) else { return Ok(Value::None) };
    truncate(vm, value)
}

fn truncate(vm: &mut Vm, value: f64) -> Outcome {
    if value.is_nan() {
        return Err(vm.value_error("cannot convert float NaN to integer"));
    }
    if value.is_infinite() {
        return Err(vm.raise(Type::OverflowError, "cannot convert float infinity to integer"));
    }
    vm.int(big_from_float(libm::trunc(value)))
}

fn int_new(vm: &mut Vm, args: Args) -> Outcome {
    let made = int_made(vm, args)?;
    vm.of_class(args, made)
}

fn int_made(vm: &mut Vm, args: Args) -> Outcome {
    let [_, value, base] = vm.take(args, "int", ["cls", "x", "base"], 1)?;
    if value.is_unbound() {
        return Ok(Value::Int(0));
    }
    if base.is_unbound() {
        for method in [name::INT, name::INDEX] {
            if let Some(method) = vm.user_method(value, method) {
                return Err(tail(method, vec![value]));
            }
        }
        match vm.number(value) {
            Some(Number::Float(value)) => return truncate(vm, value),
            Some(Number::Int(int)) => return Ok(Value::Int(int)),
            Some(Number::Big(big)) => return vm.int(big),
            None => {}
        }
    }
    let radix = if base.is_unbound() { 10 } else { vm.want_int(base)? };
    let length = match vm.obj(vm.inner(value)) {
        Some(crate::heap::object::Obj::Str(text)) => text.text.len(),
        Some(obj) => crate::run::compare::byte_slice(obj).len(),
        None => 0,
    };
    // Trimmed, folded and filtered: a few copies.
    vm.charge(cost::long(length) * 4)?;
    let text = match vm.text(value) {
        Some(text) => text.to_owned(),
        None => match vm.byte_vec(value) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None if !base.is_unbound() => {
                return Err(vm.type_error("int() can't convert non-string with explicit base"));
            }
            None => {
                let kind = vm.type_name(value);
                let message = format!(
                    "int() argument must be a string, a bytes-like object or a real number, not '{kind}'"
                );
                return Err(vm.type_error(message));
            }
        },
    };
    if radix != 0 && !(2..=36).contains(&radix) {
        return Err(vm.value_error("int() base must be >= 2 and <= 36, or 0"));
    }
    match parse_int(vm, &text, radix as u32)? {
        Some(big) => vm.int(big),
        None => {
            let shown = vm.repr(value)?;
            let message = format!("invalid literal for int() with base {radix}: {shown}");
            Err(vm.value_error(message))
        }
    }
}

/// Digits of other scripts as those of ASCII.
fn plain_digits(text: &str) -> std::borrow::Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let plain = |char| crate::regex::digit(char).map_or(char, |worth| (b'0' + worth) as char);
    text.chars().map(plain).collect::<String>().into()
}

/// Python's integers in text: sign, prefix, single underscores between digits.
fn parse_int(vm: &mut Vm, text: &str, radix: u32) -> Result<Option<BigInt>, Fault> {
    let text = plain_digits(text);
    let trimmed = unicode::trim(&text);
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find(|(prefix, of)| lower.starts_with(prefix) && (radix == 0 || radix == *of));
    let plain = radix == 0 && prefixed.is_none();
    let (digits, radix) = match prefixed {
        Some((_, of)) => (lower[2..].strip_prefix('_').unwrap_or(&lower[2..]).to_owned(), of),
        None if radix == 0 => (lower, 10),
        None => (lower, radix),
    };
    let bad = digits.is_empty()
        || digits.starts_with('_')
        || digits.ends_with('_')
        || digits.contains("__");
    // Without a base a leading zero is neither octal nor decimal.
    let octal = plain
        && digits.starts_with('0')
        && digits.bytes().any(|digit| digit != b'0' && digit != b'_');
    if bad || octal || digits.starts_with(['+', '-']) {
        return Ok(None);
    }
    let digits: String = digits.chars().filter(|char| *char != '_').collect();
    if digits.len() > 4_300 {
        let message = format!(
            "Exceeds the limit (4300 digits) for integer string conversion: value has {} digits; use sys.set_int_max_str_digits() to increase the limit",
            digits.len()
        );
        return Err(vm.value_error(message));
    }
    vm.charge(cost::decimal(digits.len() as u64 / 16 + 1))?;
    let big = BigInt::parse_bytes(digits.as_bytes(), radix);
    Ok(big.map(|big| if negative { -big } else { big }))
}

fn bool_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, value] = vm.take(args, "bool", ["cls", "x"], 1)?;
    if value.is_unbound() {
        return Ok(Value::Bool(false));
    }
    match vm.truth(value) {
        Ok(truth) => Ok(Value::Bool(truth)),
        Err(Fault::Tail(_)) => Err(vm.prelude_tail("_bool", vec![value])),
        Err(fault) => Err(fault),
    }
}

fn float_new(vm: &mut Vm, args: Args) -> Outcome {
    let made = float_made(vm, args)?;
    vm.of_class(args, made)
}

fn float_made(vm: &mut Vm, args: Args) -> Outcome {
    let [_, value] = vm.take(args, "float", ["cls", "x"], 1)?;
    if value.is_unbound() {
        return Ok(Value::Float(0.0));
    }
    for method in [name::FLOAT, name::INDEX] {
        if let Some(method) = vm.user_method(value, method) {
            return Err(tail(method, vec![value]));
        }
    }
    if let Some(number) = vm.as_float(value) {
        if number.is_infinite() && !matches!(vm.inner(value), Value::Float(_)) {
            return Err(vm.raise(Type::OverflowError, "int too large to convert to float"));
        }
        // A float is itself, also one that is not equal to itself.
        return Ok(Value::Float(number));
    }
    let Some(text) = vm.text(value) else {
        let kind = vm.type_name(value);
        let message = format!("float() argument must be a string or a real number, not '{kind}'");
        return Err(vm.type_error(message));
    };
    let (trimmed, length) = (plain_digits(unicode::trim(text)).into_owned(), text.len());
    vm.charge(cost::long(length) * 4 + cost::bytes(trimmed.len()) + 8)?;
    let mantissa = trimmed.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let precise = mantissa.filter(u8::is_ascii_digit).count();
    vm.charge(cost::digits(precise))?;
    let plain = !trimmed.starts_with('_') && !trimmed.ends_with('_') && !trimmed.contains("__");
    let digits: String = trimmed.chars().filter(|char| *char != '_').collect();
    let good = digits.chars().all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char));
    match digits.parse::<f64>() {
        Ok(number) if plain && good && number.is_nan() => Ok(own_nan(vm.heap.next_serial())),
        Ok(number) if plain && good => Ok(float(number)),
        _ => {
            let shown = vm.repr(value)?;
            Err(vm.value_error(format!("could not convert string to float: {shown}")))
        }
    }
}

fn this(vm: &mut Vm, value: Value) -> Result<BigInt, Fault> {
    match vm.big(value) {
        Some(big) => {
            vm.charge(limbs(&big))?;
            Ok(big)
        }
        None => Err(vm.type_error("an integer is required")),
    }
}

fn bit_length(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "bit_length", ["self"], 1)?;
    Ok(Value::Int(this(vm, value)?.bits() as i64))
}

fn bit_count(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "bit_count", ["self"], 1)?;
    Ok(Value::Int(this(vm, value)?.magnitude().count_ones() as i64))
}

fn int_ratio(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "as_integer_ratio", ["self"], 1)?;
    vm.tuple(vec![vm.inner(value), Value::Int(1)])
}

fn big_endian(vm: &mut Vm, order: Value) -> Result<bool, Fault> {
    if order.is_unbound() {
        return Ok(true);
    }
    match vm.text(order) {
        Some("big") => Ok(true),
        Some("little") => Ok(false),
        _ => Err(vm.value_error("byteorder must be either 'little' or 'big'")),
    }
}

fn to_bytes(vm: &mut Vm, args: Args) -> Outcome {
    let [value, length, order, signed] =
        vm.take(args, "to_bytes", ["self", "length", "byteorder", "signed"], 1)?;
    let big = this(vm, value)?;
    let length = if length.is_unbound() { 1 } else { vm.want_int(length)? };
    let Ok(length) = usize::try_from(length) else {
        return Err(vm.value_error("length argument must be non-negative"));
    };
    let big_first = big_endian(vm, order)?;
    let signed = !signed.is_unbound() && vm.plain_truth(signed)?;
    if big.sign() == Sign::Minus && !signed {
        return Err(vm.raise(Type::OverflowError, "can't convert negative int to unsigned"));
    }
    vm.reserve(length)?;
    let raw = if signed { big.to_signed_bytes_be() } else { big.to_bytes_be().1 };
    let raw = if big.sign() == Sign::NoSign { Vec::new() } else { raw };
    if raw.len() > length {
        return Err(vm.raise(Type::OverflowError, "int too big to convert"));
    }
    let filler = if big.sign() == Sign::Minus { 0xff } else { 0 };
    let mut bytes = vec![filler; length - raw.len()];
    bytes.extend(raw);
    if !big_first {
        bytes.reverse();
    }
    vm.bytes(bytes)
}

fn from_bytes(vm: &mut Vm, args: Args) -> Outcome {
    let [bytes, order, signed] =
        vm.take(args, "from_bytes", ["bytes", "byteorder", "signed"], 1)?;
    let mut bytes = match vm.byte_vec(bytes) {
        Some(bytes) => bytes,
        None => {
            let items = vm.items(bytes)?;
            let mut bytes = Vec::new();
            for item in items {
                bytes.push(vm.byte_value(item)?);
            }
            bytes
        }
    };
    vm.charge(cost::bytes(bytes.len()) + 1)?;
    if !big_endian(vm, order)? {
        bytes.reverse();
    }
    let signed = !signed.is_unbound() && vm.plain_truth(signed)?;
    let significant =
        bytes.iter().skip_while(|byte| **byte == 0 || signed && **byte == 0xff).count();
    if significant > 513 {
        return Err(vm.too_large());
    }
    let big = if signed {
        BigInt::from_signed_bytes_be(&bytes)
    } else {
        BigInt::from_bytes_be(Sign::Plus, &bytes)
    };
    vm.int(big)
}

fn is_integer(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "is_integer", ["self"], 1)?;
    let value = vm.as_float(value).unwrap_or(0.0);
    Ok(Value::Bool(value.is_finite() && libm::trunc(value) == value))
}

fn float_ratio(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "as_integer_ratio", ["self"], 1)?;
    let value = vm.as_float(value).unwrap_or(0.0);
    if !value.is_finite() {
        return truncate(vm, value);
    }
    let (mut scaled, mut shift) = (value, 0u32);
    let exponent = (value.to_bits() >> 52) as i64 & 0x7ff;
    // As many steps as there are places behind the point, and integers of as many bits.
    vm.charge((exponent - 1023).unsigned_abs().saturating_sub(64) / 2)?;
    while libm::trunc(scaled) != scaled {
        scaled *= 2.0;
        shift += 1;
    }
    let numerator = vm.int(big_from_float(scaled))?;
    let denominator = vm.int(BigInt::from(1) << shift)?;
    vm.tuple(vec![numerator, denominator])
}

fn float_hex(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "hex", ["self"], 1)?;
    let value = vm.as_float(value).unwrap_or(0.0);
    if !value.is_finite() {
        let text = crate::run::float_text::float_repr(value);
        return vm.string(text);
    }
    let bits = value.to_bits();
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let exponent = ((bits >> 52) & 0x7ff) as i64;
    let mantissa = bits & ((1 << 52) - 1);
    let text = match (exponent, mantissa) {
        (0, 0) => format!("{sign}0x0.0p+0"),
        (0, _) => format!("{sign}0x0.{mantissa:013x}p-1022"),
        _ => format!("{sign}0x1.{mantissa:013x}p{:+}", exponent - 1023),
    };
    vm.string(text)
}
