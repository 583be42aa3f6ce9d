//! Builtin functions: text, attributes, iteration.

use crate::cost;
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault, Outcome, tail_after};
use crate::run::frame::{After, Wanted};
use crate::run::native::{Args, Table};
use crate::unicode;

pub(crate) const TABLE: Table = &[
    ("", "print", print, "_print"),
    ("", "len", len, ""),
    ("", "repr", repr, "_repr"),
    ("", "ascii", ascii, "_ascii"),
    ("", "callable", callable, ""),
    ("", "getattr", getattr, "_getattr_default"),
    ("", "hasattr", hasattr, "_hasattr"),
    ("", "setattr", setattr, ""),
    ("", "delattr", delattr, ""),
    ("", "hash", hash, "_hash"),
    ("", "iter", iter, ""),
    ("", "next", next, ""),
    ("", "vars", vars, ""),
    ("", "globals", globals, ""),
    ("", "locals", locals, ""),
];
impl Vm {
    pub(crate) fn print_text(&mut self, text: &str) -> Result<(), Fault> {
        self.room_for_output(text)?;
        self.output.push_str(text);
        Ok(())
    }

    pub(super) fn is_callable(&mut self, value: Value) -> bool {
        let class = self.class_of(value);
        match self.obj(value) {
            Some(Obj::Function(_) | Obj::Method { .. } | Obj::Class(_) | Obj::StaticMethod(_)) => {
                true
            }
            None => matches!(value, Value::Native(_)),
            Some(_) => self.class_attr(class, name::CALL).is_some(),
        }
    }

    /// Both streams have one bound.
    pub(crate) fn room_for_output(&mut self, text: &str) -> Result<(), Fault> {
        self.charge(crate::cost::bytes(text.len()))?;
        let written = self.output.len() + self.errors.len();
        if written + text.len() > self.limits.output_bytes {
            return Err(Fatal::Memory.into());
        }
        if let Some(echo) = &self.echo {
            echo(text);
        }
        Ok(())
    }
}

fn print(vm: &mut Vm, args: Args) -> Outcome {
    if args.keywords.is_some() || vm.redirected().is_some() {
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
        return Err(tail_after(method, vec![value], After::Checked(Wanted::Len)));
    }
    vm.length_value(value)
}

fn repr(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "repr", ["obj"], 1)?;
    if let Some(method) = vm.user_method(value, name::REPR) {
        return Err(tail_after(method, vec![value], After::Checked(Wanted::Repr)));
    }
    let text = vm.repr(value)?;
    vm.string(text)
}

fn ascii(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "ascii", ["obj"], 1)?;
    let text = vm.repr(value)?;
    if text.is_ascii() {
        return vm.string(text);
    }
    // A non-ASCII character becomes an escape of up to ten characters.
    vm.charge(cost::long(text.len()) * 32)?;
    vm.reserve(text.len() * 3)?;
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

fn callable(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "callable", ["obj"], 1)?;
    Ok(Value::Bool(vm.is_callable(value)))
}

/// An attribute's name: interned, so that look-ups by identity find it.
pub(super) fn attr_name(vm: &mut Vm, value: Value) -> Result<Value, Fault> {
    match vm.text(value) {
        Some(text) => {
            let name = vm.interned.get(text).map_or(value, |handle| (*handle).into());
            let length = text.len();
            vm.charge(cost::NAME_LOOKUP + cost::long(length))?;
            Ok(name)
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
        return Err(tail_after(method, vec![value], After::Checked(Wanted::Hash)));
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

fn vars(vm: &mut Vm, args: Args) -> Outcome {
    let [object] = vm.take(args, "vars", ["object"], 0)?;
    if object.is_unbound() {
        return locals(vm, args);
    }
    vm.get_attr(object, name::DICT.into())
}

fn globals(vm: &mut Vm, args: Args) -> Outcome {
    let [] = vm.take(args, "globals", [], 0)?;
    Ok(vm.frames.last().map_or(Value::None, |frame| frame.globals.into()))
}

/// The names of the caller: a copy in a function, the names themselves in a module or a class.
fn locals(vm: &mut Vm, args: Args) -> Outcome {
    let [] = vm.take(args, "locals", [], 0)?;
    let Some(frame) = vm.frames.last() else { return Ok(Value::None) };
    let (base, globals) = (frame.base as usize, frame.globals);
    if !frame.namespace.is_unbound() {
        return Ok(frame.namespace);
    }
    let codes = std::sync::Arc::clone(&vm.codes);
    let loaded = &codes[frame.code as usize];
    let code = &loaded.code;
    if code.name == "<module>" {
        return Ok(globals.into());
    }
    vm.charge(cost::entries(code.slot_names.len()))?;
    let dict = vm.new_dict()?;
    let Value::Ref(handle) = dict else { return Err(Fatal::Internal.into()) };
    for (place, text) in code.slot_names.iter().enumerate() {
        let mut value = vm.stack.get(base + place).copied().unwrap_or(Value::Unbound);
        if let Some(Obj::Cell(inner)) = vm.obj(value) {
            value = *inner;
        }
        // Names that a program cannot write are the compiler's own.
        let own = text.starts_with(|char: char| char == '_' || unicode::is_alphabetic(char));
        if !value.is_unbound() && own {
            vm.dict_insert(handle, loaded.slot_names[place], value)?;
        }
    }
    Ok(dict)
}

impl Vm {
    pub(crate) fn new_dict(&mut self) -> Outcome {
        self.alloc(Obj::Dict(Dict::default()))
    }
}
