//! bytes and bytearray.

use crate::cost;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome, tail};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("bytes", "__new__", new, "_bytes_new"),
    ("bytearray", "__new__", new_array, "_bytearray_new"),
    ("bytearray", "__init__", init_array, "_bytearray_init"),
    ("bytes", "decode", decode, ""),
    ("bytearray", "decode", decode, ""),
    ("bytes", "hex", hex, ""),
    ("bytearray", "hex", hex, ""),
    ("_", "_fromhex", fromhex, ""),
    ("bytes", "startswith", startswith, ""),
    ("bytearray", "startswith", startswith, ""),
    ("bytes", "endswith", endswith, ""),
    ("bytearray", "endswith", endswith, ""),
    ("bytes", "join", join, ""),
    ("bytearray", "join", join, ""),
    ("bytes", "upper", upper, ""),
    ("bytearray", "upper", upper, ""),
    ("bytes", "lower", lower, ""),
    ("bytearray", "lower", lower, ""),
    ("bytes", "ljust", ljust, ""),
    ("bytearray", "ljust", ljust, ""),
    ("bytes", "rjust", rjust, ""),
    ("bytearray", "rjust", rjust, ""),
    ("bytearray", "append", append, ""),
    ("bytearray", "extend", extend, "_bytearray_extend"),
    ("bytearray", "pop", pop, ""),
    ("bytearray", "clear", clear, ""),
    ("bytes", "__len__", super::tuple::len, ""),
    ("bytearray", "__len__", super::tuple::len, ""),
    ("bytes", "__iter__", super::tuple::iter, ""),
    ("bytearray", "__iter__", super::tuple::iter, ""),
    ("bytes", "__getitem__", super::tuple::getitem, ""),
    ("bytearray", "__getitem__", super::tuple::getitem, ""),
    ("bytearray", "__setitem__", super::list::setitem, ""),
    ("bytearray", "__delitem__", super::list::delitem, ""),
];

fn make(vm: &mut Vm, source: Value, encoding: Value, errors: Value) -> Result<Vec<u8>, Fault> {
    if source.is_unbound() {
        return Ok(Vec::new());
    }
    if let Some(text) = vm.text(source) {
        let text = text.to_owned();
        if encoding.is_unbound() {
            return Err(vm.type_error("string argument without an encoding"));
        }
        return super::encoding::encode(vm, text, encoding, errors);
    }
    if !encoding.is_unbound() {
        return Err(vm.type_error("encoding without a string argument"));
    }
    if let Some(bytes) = vm.byte_vec(source) {
        vm.reserve(bytes.len())?;
        return Ok(bytes);
    }
    if let Some(count) = vm.as_index(source) {
        let Ok(count) = usize::try_from(count) else {
            return Err(vm.value_error("negative count"));
        };
        vm.reserve(count)?;
        return Ok(vec![0; count]);
    }
    if matches!(source, Value::Float(_) | Value::None) {
        let kind = vm.type_name(source);
        return Err(vm.type_error(format!("cannot convert '{kind}' object to bytes")));
    }
    let items = vm.items(source)?;
    vm.reserve(items.len())?;
    let mut bytes = Vec::with_capacity(items.len());
    for item in &items {
        match vm.byte_value(*item) {
            Ok(byte) => bytes.push(byte),
            Err(Fault::Fallback) => {
                vm.put_back(source, items)?;
                return Err(Fault::Fallback);
            }
            Err(Fault::Raise(error)) if vm.is_exception_of(error, Type::ValueError) => {
                return Err(vm.value_error("bytes must be in range(0, 256)"));
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(bytes)
}

fn new(vm: &mut Vm, args: Args) -> Outcome {
    let made = made(vm, args)?;
    vm.of_class(args, made)
}

fn made(vm: &mut Vm, args: Args) -> Outcome {
    let [_, source, encoding, errors] =
        vm.take(args, "bytes", ["cls", "source", "encoding", "errors"], 1)?;
    if let Some(method) = vm.user_method(source, name::BYTES) {
        return Err(tail(method, vec![source]));
    }
    let bytes = make(vm, source, encoding, errors)?;
    vm.bytes(bytes)
}

fn new_array(vm: &mut Vm, args: Args) -> Outcome {
    let [_, source, encoding, errors] =
        vm.take(args, "bytearray", ["cls", "source", "encoding", "errors"], 1)?;
    let bytes = make(vm, source, encoding, errors)?;
    vm.alloc(Obj::ByteArray(bytes))
}

fn init_array(vm: &mut Vm, args: Args) -> Outcome {
    let [array, source, encoding, errors] =
        vm.take(args, "bytearray", ["self", "source", "encoding", "errors"], 1)?;
    let made = make(vm, source, encoding, errors)?;
    change(vm, array, |bytes| *bytes = made)
}

fn change(vm: &mut Vm, array: Value, change: impl FnOnce(&mut Vec<u8>)) -> Outcome {
    let Value::Ref(handle) = vm.inner(array) else {
        return Err(vm.type_error("a bytearray is needed"));
    };
    match vm.heap.get_mut(handle) {
        Obj::ByteArray(bytes) => change(bytes),
        _ => return Err(vm.type_error("a bytearray is needed")),
    }
    vm.heap.resized(handle)?;
    Ok(Value::None)
}

fn this(vm: &mut Vm, value: Value) -> Result<Vec<u8>, Fault> {
    match vm.byte_vec(value) {
        Some(bytes) => {
            vm.charge(cost::bytes(bytes.len()))?;
            Ok(bytes)
        }
        None => {
            let kind = vm.type_name(value);
            Err(vm.type_error(format!("a bytes-like object is required, not '{kind}'")))
        }
    }
}

/// The result in the receiver's own type.
fn like(vm: &mut Vm, receiver: Value, bytes: Vec<u8>) -> Outcome {
    if matches!(vm.obj(vm.inner(receiver)), Some(Obj::ByteArray(_))) {
        vm.reserve(bytes.len())?;
        return vm.alloc(Obj::ByteArray(bytes));
    }
    vm.bytes(bytes)
}

fn decode(vm: &mut Vm, args: Args) -> Outcome {
    let [bytes, encoding, errors] = vm.take(args, "decode", ["self", "encoding", "errors"], 1)?;
    let bytes = this(vm, bytes)?;
    super::encoding::decode(vm, bytes, encoding, errors)
}

fn hex(vm: &mut Vm, args: Args) -> Outcome {
    let [bytes, sep, group] = vm.take(args, "hex", ["self", "sep", "bytes_per_sep"], 1)?;
    let bytes = this(vm, bytes)?;
    let group = if group.is_unbound() { 1 } else { vm.want_int(group)? };
    let size = usize::try_from(group.unsigned_abs()).unwrap_or(usize::MAX);
    let sep = if sep.is_unbound() { String::new() } else { vm.want_text(sep, "sep")? };
    if sep.chars().count() > 1 {
        return Err(vm.value_error("sep must be length 1."));
    }
    vm.reserve(bytes.len() * 3)?;
    let mut out = String::with_capacity(bytes.len() * 3);
    for (index, byte) in bytes.iter().enumerate() {
        // Groups are counted from the right, those of a negative size from the left.
        let place = if group < 0 { index } else { bytes.len() - index };
        if index > 0 && size > 0 && place.is_multiple_of(size) {
            out.push_str(&sep);
        }
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
        }
    }
    vm.string(out)
}

fn fromhex(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "fromhex", ["string"], 1)?;
    let text = vm.want_text(text, "fromhex() argument")?;
    vm.charge(cost::long(text.len()) * 3)?;
    let mut bytes = Vec::new();
    // The first half of a byte, while the second is awaited.
    let mut half = None;
    let mut places = text.chars().enumerate().peekable();
    while let Some((place, char)) = places.next() {
        if half.is_none() && char.is_ascii_whitespace() {
            continue;
        }
        let Some(digit) = char.to_digit(16) else { return Err(not_hex(vm, place)) };
        match half.take() {
            Some(high) => bytes.push((high * 16 + digit) as u8),
            None if places.peek().is_none() => return Err(not_hex(vm, place + 1)),
            None => half = Some(digit),
        }
    }
    vm.bytes(bytes)
}

fn not_hex(vm: &mut Vm, place: usize) -> Fault {
    vm.value_error(format!("non-hexadecimal number found in fromhex() arg at position {place}"))
}

fn affix(vm: &mut Vm, args: Args, end: bool) -> Outcome {
    let [bytes, parts] = vm.take(args, "startswith", ["self", "prefix"], 2)?;
    let bytes = this(vm, bytes)?;
    let parts = super::str_search::affixes(vm, parts)?;
    for part in parts {
        let part = this(vm, part)?;
        if if end { bytes.ends_with(&part) } else { bytes.starts_with(&part) } {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn startswith(vm: &mut Vm, args: Args) -> Outcome {
    affix(vm, args, false)
}

fn endswith(vm: &mut Vm, args: Args) -> Outcome {
    affix(vm, args, true)
}

fn join(vm: &mut Vm, args: Args) -> Outcome {
    let [receiver, source] = vm.take(args, "join", ["self", "iterable"], 2)?;
    let items = vm.items(source)?;
    let sep = this(vm, receiver)?;
    let mut parts = Vec::new();
    let mut length = 0usize;
    for (index, item) in items.into_iter().enumerate() {
        if !matches!(vm.obj(vm.inner(item)), Some(Obj::Bytes(_) | Obj::ByteArray(_))) {
            let kind = vm.type_name(item);
            return Err(vm.type_error(format!(
                "sequence item {index}: expected a bytes-like object, {kind} found"
            )));
        }
        let part = this(vm, item)?;
        length += part.len() + sep.len();
        vm.heap.check(length)?;
        parts.push(part);
    }
    vm.reserve(length)?;
    like(vm, receiver, parts.join(sep.as_slice()))
}

fn upper(vm: &mut Vm, args: Args) -> Outcome {
    let [bytes] = vm.take(args, "upper", ["self"], 1)?;
    let upper = this(vm, bytes)?.to_ascii_uppercase();
    like(vm, bytes, upper)
}

fn lower(vm: &mut Vm, args: Args) -> Outcome {
    let [bytes] = vm.take(args, "lower", ["self"], 1)?;
    let lower = this(vm, bytes)?.to_ascii_lowercase();
    like(vm, bytes, lower)
}

fn pad(vm: &mut Vm, args: Args, left: bool) -> Outcome {
    let [receiver, width, fill] = vm.take(args, "ljust", ["self", "width", "fill"], 2)?;
    let bytes = this(vm, receiver)?;
    let width = usize::try_from(vm.want_int(width)?).unwrap_or(0);
    let fill =
        if fill.is_unbound() { b' ' } else { this(vm, fill)?.first().copied().unwrap_or(b' ') };
    let missing = width.saturating_sub(bytes.len());
    vm.reserve(missing)?;
    let padding = vec![fill; missing];
    let out = if left { [padding, bytes].concat() } else { [bytes, padding].concat() };
    like(vm, receiver, out)
}

fn ljust(vm: &mut Vm, args: Args) -> Outcome {
    pad(vm, args, false)
}

fn rjust(vm: &mut Vm, args: Args) -> Outcome {
    pad(vm, args, true)
}

fn append(vm: &mut Vm, args: Args) -> Outcome {
    let [array, item] = vm.take(args, "append", ["self", "item"], 2)?;
    let byte = vm.byte_value(item)?;
    change(vm, array, |bytes| bytes.push(byte))
}

fn extend(vm: &mut Vm, args: Args) -> Outcome {
    let [array, source] = vm.take(args, "extend", ["self", "source"], 2)?;
    if vm.text(source).is_some() {
        return Err(vm.type_error("expected iterable of integers; got: 'str'"));
    }
    let more = make(vm, source, Value::Unbound, Value::Unbound)?;
    change(vm, array, |bytes| bytes.extend(more))
}

fn pop(vm: &mut Vm, args: Args) -> Outcome {
    let [array, place] = vm.take(args, "pop", ["self", "index"], 1)?;
    let length = i64::try_from(vm.length(array)?).unwrap_or(i64::MAX);
    let place = if place.is_unbound() { -1 } else { vm.want_int(place)? };
    let place = if place < 0 { place + length } else { place };
    if place < 0 || place >= length {
        let message =
            if length == 0 { "pop from empty bytearray" } else { "pop index out of range" };
        return Err(vm.raise(Type::IndexError, message));
    }
    vm.charge(cost::bytes((length - place) as usize))?;
    let mut byte = 0;
    change(vm, array, |bytes| byte = bytes.remove(place as usize))?;
    Ok(Value::Int(i64::from(byte)))
}

fn clear(vm: &mut Vm, args: Args) -> Outcome {
    let [array] = vm.take(args, "clear", ["self"], 1)?;
    change(vm, array, Vec::clear)
}
