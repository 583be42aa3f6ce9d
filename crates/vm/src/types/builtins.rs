//! Builtin functions.

use crate::front::code::{BinOp, CmpOp};
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value, float};
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault, Outcome, Tail, tail, tail_after};
use crate::run::frame::After;
use crate::run::native::{Args, Table};
use crate::run::number::{Number, limbs};

pub(crate) const TABLE: Table = &[
    ("", "print", print, "_print"),
    ("", "len", len, ""),
    ("", "repr", repr, "_repr"),
    ("", "ascii", ascii, "_ascii"),
    ("", "isinstance", isinstance, ""),
    ("", "issubclass", issubclass, ""),
    ("", "callable", callable, ""),
    ("", "getattr", getattr, "_getattr_default"),
    ("", "hasattr", hasattr, "_hasattr"),
    ("", "setattr", setattr, ""),
    ("", "delattr", delattr, ""),
    ("", "hash", hash, "_hash"),
    ("", "iter", iter, ""),
    ("", "next", next, ""),
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
    ("", "vars", vars, ""),
    ("", "globals", globals, ""),
    ("_", "_identity", identity, ""),
    ("_", "_tokens", tokens, ""),
    ("_", "_wait_any", wait_any, ""),
    ("_", "_write", write, ""),
    ("_", "_make_class", make_class, ""),
    ("_", "_run_body", run_body, ""),
    ("_", "_set_cell", set_cell, ""),
    ("_", "_wrap", wrap, ""),
    ("_", "_layout", layout, ""),
    ("_", "_iterates_natively", iterates_natively, ""),
    ("_", "_candidates", candidates, ""),
    ("_", "_insert_hashed", insert_hashed, ""),
    ("_", "_remove_place", remove_place, ""),
    ("_", "_value_at", value_at, ""),
    ("_", "_set_value_at", set_value_at, ""),
    ("_", "_user_method", user_method, ""),
    ("_", "_own_names", own_names, ""),
    ("cowboy", "_call", host_call, ""),
];

fn write(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "_write", ["text"], 1)?;
    let text = vm.want_text(text, "text")?;
    vm.print_text(&text)?;
    Ok(Value::None)
}

impl Vm {
    pub(crate) fn print_text(&mut self, text: &str) -> Result<(), Fault> {
        self.charge(crate::cost::bytes(text.len()))?;
        if self.output.len() + text.len() > self.limits.output_bytes {
            return Err(Fatal::Memory.into());
        }
        self.output.push_str(text);
        Ok(())
    }
}

fn print(vm: &mut Vm, args: Args) -> Outcome {
    if args.keywords.is_some() {
        return Err(Fault::Fallback);
    }
    let mut line = String::new();
    for index in 0..args.count {
        if index > 0 {
            line.push(' ');
        }
        let value = vm.stack[args.base + index];
        let text = match vm.text_of(value) {
            Ok(text) => text,
            Err(Fault::Tail(_)) => return Err(Fault::Fallback),
            Err(fault) => return Err(fault),
        };
        line.push_str(vm.text(text).unwrap_or(""));
        vm.heap.check(line.len())?;
    }
    line.push('\n');
    vm.print_text(&line)?;
    Ok(Value::None)
}

fn len(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "len", ["obj"], 1)?;
    if let Some(method) = vm.user_method(value, name::LEN) {
        return Err(tail(method, vec![value]));
    }
    vm.length(value).map(|length| Value::Int(length as i64))
}

fn repr(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "repr", ["obj"], 1)?;
    if let Some(method) = vm.user_method(value, name::REPR) {
        return Err(tail(method, vec![value]));
    }
    let text = vm.repr(value)?;
    vm.string(text)
}

fn ascii(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "ascii", ["obj"], 1)?;
    let text = vm.repr(value)?;
    let mut out = String::new();
    for char in text.chars() {
        match char as u32 {
            0..0x80 => out.push(char),
            code @ 0x80..=0xff => out.push_str(&format!("\\x{code:02x}")),
            code @ 0x100..=0xffff => out.push_str(&format!("\\u{code:04x}")),
            code => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    vm.string(out)
}

impl Vm {
    /// Whether a class is one of `kinds`: a class, a tuple of them, or a class with a protocol.
    pub(crate) fn class_is(
        &mut self,
        class: Handle,
        kinds: Value,
        depth: usize,
    ) -> Result<bool, Fault> {
        self.charge(2)?;
        match self.obj(kinds) {
            Some(Obj::Tuple(items)) if depth < 20 => {
                let items = items.clone();
                for kind in items {
                    if self.class_is(class, kind, depth + 1)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Some(Obj::Class(_)) => {
                let Value::Ref(kind) = kinds else { return Err(Fatal::Internal.into()) };
                if self.is_subclass(class, kind) {
                    return Ok(true);
                }
                self.has_protocol(class, kind)
            }
            _ if kinds.is_none() => Ok(class == Type::NoneType.handle()),
            _ => {
                Err(self
                    .type_error("isinstance() arg 2 must be a type, a tuple of types, or a union"))
            }
        }
    }

    /// Classes like Iterable: whoever has their methods is one of them.
    fn has_protocol(&mut self, class: Handle, kind: Handle) -> Result<bool, Fault> {
        let Some(protocol) = self.interned.get("_protocol").copied() else { return Ok(false) };
        let Some(info) = self.class_info(kind) else { return Ok(false) };
        let Some(methods) = self.dict_get_name(info.dict, protocol) else { return Ok(false) };
        for method in self.plain_items(methods)?.unwrap_or_default() {
            let Value::Ref(method) = method else { return Ok(false) };
            if self.class_attr(class, method).is_none_or(|found| found.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn isinstance(vm: &mut Vm, args: Args) -> Outcome {
    let [value, kinds] = vm.take(args, "isinstance", ["obj", "class"], 2)?;
    let class = vm.class_of(value);
    vm.class_is(class, kinds, 0).map(Value::Bool)
}

fn issubclass(vm: &mut Vm, args: Args) -> Outcome {
    let [class, kinds] = vm.take(args, "issubclass", ["cls", "class"], 2)?;
    match (class, vm.obj(class)) {
        (Value::Ref(class), Some(Obj::Class(_))) => vm.class_is(class, kinds, 0).map(Value::Bool),
        _ => Err(vm.type_error("issubclass() arg 1 must be a class")),
    }
}

fn callable(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "callable", ["obj"], 1)?;
    let class = vm.class_of(value);
    Ok(Value::Bool(match vm.obj(value) {
        Some(Obj::Function(_) | Obj::Method { .. } | Obj::Class(_) | Obj::StaticMethod(_)) => true,
        None => matches!(value, Value::Native(_)),
        Some(_) => vm.class_attr(class, name::CALL).is_some(),
    }))
}

/// An attribute's name: interned, so that look-ups by identity find it.
fn attr_name(vm: &mut Vm, value: Value) -> Result<Value, Fault> {
    match vm.text(value) {
        Some(text) => {
            let text = text.to_owned();
            match vm.interned.get(&text) {
                Some(handle) => Ok((*handle).into()),
                None => Ok(value),
            }
        }
        None => Err(vm.type_error("attribute name must be string")),
    }
}

fn getattr(vm: &mut Vm, args: Args) -> Outcome {
    let [object, name, default] = vm.take(args, "getattr", ["object", "name", "default"], 2)?;
    let name = attr_name(vm, name)?;
    match vm.get_attr(object, name) {
        Err(Fault::Raise(exception))
            if !default.is_unbound() && vm.is_exception_of(exception, Type::AttributeError) =>
        {
            Ok(default)
        }
        Err(Fault::Tail(_)) if !default.is_unbound() => Err(Fault::Fallback),
        other => other,
    }
}

fn hasattr(vm: &mut Vm, args: Args) -> Outcome {
    let [object, name] = vm.take(args, "hasattr", ["object", "name"], 2)?;
    let name = attr_name(vm, name)?;
    match vm.get_attr(object, name) {
        Ok(_) => Ok(Value::Bool(true)),
        Err(Fault::Raise(exception)) if vm.is_exception_of(exception, Type::AttributeError) => {
            Ok(Value::Bool(false))
        }
        Err(Fault::Tail(_)) => Err(Fault::Fallback),
        Err(fault) => Err(fault),
    }
}

fn setattr(vm: &mut Vm, args: Args) -> Outcome {
    let [object, name, value] = vm.take(args, "setattr", ["object", "name", "value"], 3)?;
    let name = attr_name(vm, name)?;
    done(vm.set_attr(object, name, value))
}

/// None for an operation without a result; its call, if it needs one, gives None, too.
pub(crate) fn done(result: Result<(), Fault>) -> Outcome {
    match result {
        Ok(()) => Ok(Value::None),
        Err(Fault::Tail(mut call)) => {
            if matches!(call.after, After::Discard) {
                call.after = After::Push;
            }
            Err(Fault::Tail(call))
        }
        Err(fault) => Err(fault),
    }
}

fn delattr(vm: &mut Vm, args: Args) -> Outcome {
    let [object, name] = vm.take(args, "delattr", ["object", "name"], 2)?;
    let name = attr_name(vm, name)?;
    done(vm.delete_attr(object, name))
}

fn hash(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "hash", ["obj"], 1)?;
    if let Some(method) = vm.user_method(value, name::HASH)
        && !method.is_none()
        && !matches!(vm.obj(value), Some(Obj::Class(_)))
    {
        return Err(tail(method, vec![value]));
    }
    vm.hash(value, 0).map(|hash| Value::Int(hash as i64))
}

fn iter(vm: &mut Vm, args: Args) -> Outcome {
    let [value, sentinel] = vm.take(args, "iter", ["iterable", "sentinel"], 1)?;
    if !sentinel.is_unbound() {
        return Err(vm.prelude_tail("_iter_until", vec![value, sentinel]));
    }
    vm.iter(value)
}

fn next(vm: &mut Vm, args: Args) -> Outcome {
    let [iterator, default] = vm.take(args, "next", ["iterator", "default"], 1)?;
    match vm.native_next(iterator)? {
        Some(Value::Unbound) if default.is_unbound() => {
            let args = vm.tuple(Vec::new())?;
            let stop = vm.new_exception(Type::StopIteration.handle(), args)?;
            Err(Fault::Raise(stop))
        }
        Some(Value::Unbound) => Ok(default),
        Some(value) => Ok(value),
        None => {
            if let Some(Obj::Generator(_)) = vm.obj(iterator) {
                let send = vm.prelude_function("_generator_next")?;
                return Err(tail_after(send, vec![iterator], After::Next(default)));
            }
            let class = vm.class_of(iterator);
            match vm.class_attr(class, name::NEXT) {
                Some(method) => Err(tail_after(method, vec![iterator], After::Next(default))),
                None => {
                    let kind = vm.class_name(class);
                    Err(vm.type_error(format!("'{kind}' object is not an iterator")))
                }
            }
        }
    }
}

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
    vm.charge(crate::cost::product(size, size).saturating_mul(3 * exponent.bits() + 8))?;
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
            Ok(float(super::format::round_to(value, places)))
        }
        (Some(Number::Int(int)), places) if places.is_none_or(|places| places >= 0) => {
            Ok(Value::Int(int))
        }
        (Some(Number::Big(big)), places) if places.is_none_or(|places| places >= 0) => vm.int(big),
        (Some(_), Some(places)) => {
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
    if args.keywords.is_some() {
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
    if let Some(bytes) = vm.byte_vec(value)
        && let [byte] = bytes.as_slice()
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

fn vars(vm: &mut Vm, args: Args) -> Outcome {
    let [object] = vm.take(args, "vars", ["object"], 1)?;
    vm.get_attr(object, name::DICT.into())
}

fn globals(vm: &mut Vm, args: Args) -> Outcome {
    let [] = vm.take(args, "globals", [], 0)?;
    Ok(vm.frames.last().map_or(Value::None, |frame| frame.globals.into()))
}

/// For the prelude only: tells two objects apart, and shows nothing of where they are.
fn identity(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_identity", ["value"], 1)?;
    Ok(match value {
        Value::Ref(handle) => Value::Int((vm.heap.identity(handle) & 0x7fff_ffff_ffff) as i64),
        _ => Value::None,
    })
}

/// What a suspended coroutine waits for, as a list of tokens.
fn tokens(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_tokens", ["value"], 1)?;
    let tokens = match vm.obj(value) {
        Some(Obj::Pending(token)) => vec![*token],
        Some(Obj::PendingAny(tokens)) => tokens.to_vec(),
        _ => return Err(vm.raise(Type::RuntimeError, "only the host can be waited for")),
    };
    vm.charge(crate::cost::values(tokens.len()))?;
    let mut numbers = Vec::with_capacity(tokens.len());
    for token in tokens {
        numbers.push(vm.int(token.into())?);
    }
    vm.list(numbers)
}

/// To be awaited: the first answer to one of a list of tokens.
fn wait_any(vm: &mut Vm, args: Args) -> Outcome {
    let [tokens] = vm.take(args, "_wait_any", ["tokens"], 1)?;
    let numbers = vm.items(tokens)?;
    vm.reserve(numbers.len() * 8)?;
    let mut tokens = Vec::with_capacity(numbers.len());
    for number in numbers {
        let token = match number {
            Value::Int(int) => u64::try_from(int).ok(),
            number => match vm.obj(number) {
                Some(Obj::Big(big)) => u64::try_from(big).ok(),
                _ => None,
            },
        };
        let Some(token) = token else { return Err(vm.type_error("a token is needed")) };
        tokens.push(token);
    }
    vm.alloc(Obj::PendingAny(tokens.into_boxed_slice()))
}

fn make_class(vm: &mut Vm, args: Args) -> Outcome {
    let [name, bases, namespace, meta] =
        vm.take(args, "type", ["name", "bases", "dict", "meta"], 4)?;
    let items = vm.items(bases)?;
    let mut handles = Vec::new();
    for item in items {
        match (item, vm.obj(item)) {
            (Value::Ref(handle), Some(Obj::Class(_))) => handles.push(handle),
            _ => return Err(vm.type_error("bases must be types")),
        }
    }
    let (Value::Ref(namespace), Value::Ref(meta)) = (namespace, meta) else {
        return Err(vm.type_error("a class needs a dict"));
    };
    let Value::Ref(dict) = vm.copy_dict(namespace)? else { return Err(Fatal::Internal.into()) };
    // __new__ and the like are what their kind says even without a decorator.
    for (key, class_method) in
        [("__new__", false), ("__init_subclass__", true), ("__class_getitem__", true)]
    {
        let key = vm.intern(key)?;
        if let Some(function) = vm.dict_get_name(dict, key)
            && matches!(vm.obj(function), Some(Obj::Function(_)))
        {
            let wrapped =
                if class_method { Obj::ClassMethod(function) } else { Obj::StaticMethod(function) };
            let wrapped = vm.alloc(wrapped)?;
            vm.dict_set_name(dict, key, wrapped)?;
        }
    }
    vm.make_class(name, handles, dict, meta)
}

fn run_body(vm: &mut Vm, args: Args) -> Outcome {
    let [function, namespace] = vm.take(args, "_run_body", ["function", "namespace"], 2)?;
    Err(Fault::Tail(Box::new(Tail {
        callee: function,
        args: Vec::new(),
        after: After::Push,
        namespace,
    })))
}

fn set_cell(vm: &mut Vm, args: Args) -> Outcome {
    let [cell, value] = vm.take(args, "_set_cell", ["cell", "value"], 2)?;
    vm.set_cell(cell, value)?;
    Ok(Value::None)
}

/// An instance of a subclass of a builtin type, around a value of that type.
fn wrap(vm: &mut Vm, args: Args) -> Outcome {
    let [class, payload] = vm.take(args, "_wrap", ["class", "payload"], 2)?;
    let Value::Ref(class) = class else { return Err(Fatal::Internal.into()) };
    let payload = vm.inner(payload);
    vm.new_instance(class, payload)
}

/// The builtin type that a class is built on.
fn layout(vm: &mut Vm, args: Args) -> Outcome {
    let [class] = vm.take(args, "_layout", ["class"], 1)?;
    let layout = class.handle().and_then(|class| vm.class_info(class)).map(|info| info.layout);
    Ok(layout.map_or(Value::None, |layout| layout.handle().into()))
}

fn iterates_natively(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_iterates_natively", ["value"], 1)?;
    let needs_python = match vm.obj(value) {
        Some(Obj::Generator(_)) => true,
        Some(Obj::Instance(_) | Obj::Class(_)) => {
            !vm.iterates_natively(value)
                && (vm.user_method(value, name::ITER).is_some()
                    || vm.user_method(value, name::GETITEM).is_some())
        }
        _ => false,
    };
    let iterable = !needs_python;
    Ok(Value::Bool(iterable))
}

/// Keys of a table with this hash, each with its place.
fn candidates(vm: &mut Vm, args: Args) -> Outcome {
    let [table, hash] = vm.take(args, "_candidates", ["table", "hash"], 2)?;
    let (Value::Ref(handle), Some(hash)) = (vm.inner(table), vm.as_index(hash)) else {
        return Err(vm.type_error("__hash__ method should return an integer"));
    };
    let mut keys = Vec::new();
    let Some(dict) = vm.table(handle) else { return Err(Fatal::Internal.into()) };
    let _ = dict.find(hash as u64, |entry| {
        keys.push(entry.key);
        Ok::<bool, ()>(false)
    });
    let mut pairs = Vec::new();
    for key in keys {
        let place = vm.table(handle).and_then(|dict| dict.find_identical(hash as u64, key));
        if let Some(place) = place {
            pairs.push(Value::Int(place as i64));
            pairs.push(key);
        }
    }
    vm.list(pairs)
}

fn insert_hashed(vm: &mut Vm, args: Args) -> Outcome {
    let [table, hash, key, value] =
        vm.take(args, "_insert", ["table", "hash", "key", "value"], 4)?;
    let (Value::Ref(handle), Some(hash)) = (vm.inner(table), vm.as_index(hash)) else {
        return Err(Fatal::Internal.into());
    };
    vm.dict_put(handle, None, hash as u64, key, value)?;
    Ok(Value::None)
}

fn place_of(vm: &mut Vm, table: Value, place: Value) -> Result<(Handle, usize), Fault> {
    match (vm.inner(table), vm.as_index(place)) {
        (Value::Ref(handle), Some(place)) => Ok((handle, place as usize)),
        _ => Err(Fatal::Internal.into()),
    }
}

fn remove_place(vm: &mut Vm, args: Args) -> Outcome {
    let [table, place] = vm.take(args, "_remove", ["table", "place"], 2)?;
    let (handle, place) = place_of(vm, table, place)?;
    let Some(dict) = vm.table_mut(handle) else { return Err(Fatal::Internal.into()) };
    let value = dict.remove_at(place);
    vm.heap.resized(handle)?;
    Ok(if value.is_unbound() { Value::None } else { value })
}

fn value_at(vm: &mut Vm, args: Args) -> Outcome {
    let [table, place] = vm.take(args, "_value_at", ["table", "place"], 2)?;
    let (handle, place) = place_of(vm, table, place)?;
    Ok(vm.table(handle).map_or(Value::None, |dict| dict.value_at(place)))
}

fn set_value_at(vm: &mut Vm, args: Args) -> Outcome {
    let [table, place, value] = vm.take(args, "_set_value_at", ["table", "place", "value"], 3)?;
    let (handle, place) = place_of(vm, table, place)?;
    if let Some(dict) = vm.table_mut(handle) {
        dict.set_value_at(place, value);
    }
    Ok(Value::None)
}

/// A special method written in Python, or None.
fn user_method(vm: &mut Vm, args: Args) -> Outcome {
    let [value, name] = vm.take(args, "_user_method", ["value", "name"], 2)?;
    let name = attr_name(vm, name)?;
    let Value::Ref(name) = name else { return Err(Fatal::Internal.into()) };
    Ok(vm.user_method(value, name).unwrap_or(Value::None))
}

/// Names in a class's own namespace and those of its bases, or in an object's dict.
fn own_names(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_own_names", ["value"], 1)?;
    let class = match (value, vm.obj(value)) {
        (Value::Ref(handle), Some(Obj::Class(_))) => handle,
        _ => vm.class_of(value),
    };
    let mut names = Vec::new();
    let mut tables: Vec<Handle> = Vec::new();
    if let Some(info) = vm.class_info(class) {
        let mro = info.mro.clone();
        tables.extend(mro.iter().filter_map(|base| vm.class_info(*base)).map(|base| base.dict));
    }
    if !matches!(vm.obj(value), Some(Obj::Class(_)))
        && let Some(dict) = vm.make_own_dict(value)?
    {
        tables.push(dict);
    }
    for table in tables {
        names.extend(
            vm.table(table).into_iter().flat_map(|dict| dict.iter().map(|entry| entry.key)),
        );
    }
    vm.list(names)
}

fn host_call(vm: &mut Vm, args: Args) -> Outcome {
    let values = vm.positional(args, "host call")?;
    let Some((name, rest)) = values.split_first() else {
        return Err(vm.type_error("a host call needs a name"));
    };
    let name = vm.want_text(*name, "name")?;
    vm.call_host(&name, rest)
}

impl Vm {
    pub(crate) fn new_dict(&mut self) -> Outcome {
        self.alloc(Obj::Dict(Dict::default()))
    }
}
